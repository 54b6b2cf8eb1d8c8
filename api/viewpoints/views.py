"""The ledger from a viewpoint: the same views and questions for every viewer.

For an auditor they are the ledger's own. For anybody else each view is restricted in SQL to what he
may see (`masks.py`), over the same stored tables: so a question of the public costs what
an auditor's does, and no page, filter or statistic needs to know who asks.

Hands are also read one after the other, each as its viewer sees it (`leaves`, `events`). Everybody
but an auditor gets leaves made from what he sees and from nothing else, each bid that a settlement
told to all in its place: so no count can tell more than the record shows him.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import json
from msgspec.structs import replace

from analytics.projections.facts import ruleset_projections
from analytics.sql import FactSource, HandFilters, currencies, hand_terms, quoted, where
from analytics.statistics.compute import SECONDS, snapshot_query
from api.viewpoints.redaction import RedactedEvents, Redactor, revealed, withheld_sentence
from api.viewpoints.selection import Absent, Places, Selection, among, groups, standing
from api.viewpoints.selection import leaves as recorded
from api.viewpoints.viewer import ShowProgress, Viewer, without_progress
from engine.policies import money
from events.types import HandStarted
from store.columns.codec import encoded_table
from store.folder.manifest import Segment
from store.log.streams import Leaf, split_stream
from store.reader import Snapshot
from store.segments.reading import files_of
from store.sql.query import Query
from store.sql.untrusted_query import UntrustedQuery
from store.sql.views import OWN_NAME, DisplayNames, tags_by_player, tags_table
from store.tables.projection import STANDARD

UNCLOSED = -1  # the `hand_seq` of a hand that is not over


class Viewed:
    """One snapshot for one viewer; threads may share it.

    With `only`, of the hands alone whose amounts count in one of these units; with `by_tag`,
    players are called by what these tags say of them.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        viewer: Viewer,
        only: frozenset[str] | None = None,
        by_tag: tuple[str, ...] = (),
    ) -> None:
        self.snapshot = snapshot
        self.viewer = viewer
        self.only = only
        self.by_tag = by_tag
        self._turn = threading.RLock()
        self._query: Query | None = None
        self._strangers: UntrustedQuery | None = None
        self._opened: frozenset[str] | None = None
        self._units: set[str] | None = None
        self._others: dict[tuple[str | None, tuple[str, ...]], Viewed] = {}
        self.facts_by: Callable[[Viewed], FactSource] | None = None

    @cached_property
    def redactor(self) -> Redactor:
        """Who redacts leaves for this viewer, one after the other."""
        return Redactor(self.snapshot, self.viewer)

    @property
    def query(self) -> Query:
        """Our own questions, over hands, events, players, bids, swaps, pots and facts."""
        with self._turn:
            if self._query is None:
                self._query = self._ours()
            return self._query

    @property
    def facts(self) -> FactSource:
        """Where questions about facts are answered: by our own views, unless others do it."""
        return self.query if self.facts_by is None else self.facts_by(self)

    @cached_property
    def tags(self) -> pa.Table:
        """What matches say of their players beside their names."""
        return tags_table(self.snapshot)

    @cached_property
    def tagged(self) -> Mapping[tuple[str, str], dict[str, str]]:
        """What the tags that are asked for say of a player of a match, if he has one of them."""
        return tags_by_player(self.tags, self.by_tag)

    @cached_property
    def called(self) -> DisplayNames:
        """What they call him."""
        return {who: " ".join(tags.values()) for who, tags in self.tagged.items()}

    def name_of(self, match: str, player: str) -> str:
        """What a player of a match goes by here."""
        return self.called.get((match, player), player)

    @cached_property
    def untagged(self) -> frozenset[str]:
        """Who goes by his own name in some match."""
        sql = f"SELECT DISTINCT match, player FROM players WHERE player = {OWN_NAME}"
        rows = self.rows(sql) if self.by_tag else ()
        found = ((row["match"], row["player"]) for row in rows)
        return frozenset(who[1] for who in found if who not in self.called)

    @property
    def units(self) -> set[str]:
        """What the amounts of these hands may count, as far as the viewer may know."""
        if self._units is None:
            self._units = self.query.units
        return self._units

    def of(self, unit: str | None, by_tag: str | None = None) -> "Viewed":
        """The same, but of the hands alone that are played for this: chips, dollars, euros, pounds;
        of all without. Players are split `by_tag`, if one is named, or several with commas.
        It is let go with this one."""
        known = currencies(self.units) if unit is not None else []
        if unit is not None and unit not in known:
            here = f"those here are for {' and '.join(known)}" if known else "there is none here"
            raise Absent(f"no hand is played for {unit}: {here}", unit=known)
        unit = None if known == [unit] else unit
        tags = tuple(by_tag.split(",")) if by_tag is not None else ()
        if unit is None and not tags:
            return self
        offered = sorted(set(self.tags["tag"].to_pylist())) if tags else []
        for tag in tags:
            if tag not in offered:
                listed = ", ".join(offered)
                here = f"tags here are {listed}" if offered else "there are no tags here"
                raise Absent(f"no player has a tag {tag}: {here}", by_tag=offered)
        with self._turn:
            if (unit, tags) not in self._others:
                only = None
                if unit is not None:
                    only = frozenset(counted for counted in self.units if money(counted) == unit)
                self._others[unit, tags] = Viewed(self.snapshot, self.viewer, only, tags)
                self._others[unit, tags].facts_by = self.facts_by
            return self._others[unit, tags]

    @property
    def is_there(self) -> bool:
        """Whether the viewer, if he is a player, has been dealt a hand of this ledger."""
        name = self.viewer.player
        sql = f"SELECT 1 FROM players WHERE player = {quoted(name or '')} LIMIT 1"
        return name is None or bool(self.rows(sql))

    @property
    def opened(self) -> frozenset[str]:
        """The matches whose hands all may see."""
        with self._turn:
            if self._opened is None:
                from api.viewpoints.disclosure import opening

                self._opened = opening(self.snapshot).hands
            return self._opened

    def ask(self, sql: str) -> pa.Table:
        """The answer to a question of our own as an Arrow table."""
        return self.query.ask(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The same as JSON takes it."""
        return self.query.rows(sql)

    def stranger(self, sql: str, rows_max: int | None = None, seconds: float = 30.0) -> pa.Table:
        """The answer to somebody else's SELECT over the same views but facts; or `Refused`."""
        with self._turn:
            if self._strangers is None:
                self._strangers = UntrustedQuery(self.query)
            strangers = self._strangers
        return strangers.ask(sql, rows_max, seconds)

    def ruleset(self, fingerprint: str) -> bytes | None:
        """The text of a ruleset that the ledger keeps, if the viewer may know of it."""
        fingerprints = self.query.rulesets()
        return self.snapshot.ruleset(fingerprint) if fingerprint in fingerprints else None

    def redacted_hand(self, hand: str) -> RedactedEvents:
        """A hand's events as they are seen, as far as it has come; `Absent` if there is none."""
        named = re.fullmatch(r"[^/]+/(?:0|[1-9][0-9]{0,17})", hand)
        if named and not self.redactor.may_know(hand):
            raise Absent(withheld_sentence(split_stream(hand)[0]))
        record = self.snapshot.read(hand) if named else ()
        if not record:
            raise Absent(f"there is no hand {hand}: muckrake hands lists those there are")
        place = self.snapshot.hand_seq(hand)
        return self.redactor.see(Leaf(UNCLOSED if place is None else place, record))

    def close(self) -> None:
        """Let go of files and memory."""
        with self._turn:
            if self._query is not None:
                self._query.close()
            self._query = self._strangers = None
            for one in self._others.values():
                one.close()
            self._others.clear()

    def _ours(self) -> Query:
        if self.viewer.auditor:
            return snapshot_query(self.snapshot, self.only, self.called)
        from api.viewpoints.masks import Redacted  # an auditor needs it not, nor what it brings

        known = (*STANDARD, *ruleset_projections(self.snapshot.ruleset))
        return Redacted(
            self.snapshot,
            self.viewer,
            known,
            seconds=SECONDS,
            only=self.only,
            called=self.called,
        )


AT_ONCE = 4_096  # hands
GROUPS = 8  # row groups
EVERY = HandFilters()


def leaves(
    viewed: Viewed, chosen: HandFilters = EVERY, watch: ShowProgress = without_progress
) -> Iterator[Leaf]:
    """Those that the filters of hands leave, in the order they ended in; of a player, and of his
    rival, no others are read than those in which they were dealt in."""
    places = _places(viewed, chosen)
    every = recorded(viewed.snapshot, Selection(chosen.match), places=places)
    for leaf in viewed.redactor.among(watch(every, "reading hands", len(places))):
        seen = leaf if viewed.viewer.auditor else revealed(viewed.redactor.see(leaf))
        if viewed.by_tag:  # players are called by their tags
            first, *rest = seen.recorded
            assert isinstance(first.event, HandStarted)
            match, _ = split_stream(seen.stream)
            names = tuple(_names(viewed, match, first.event.players))
            started = replace(first, event=replace(first.event, players=names))
            seen = Leaf(seen.hand_seq, (started, *rest))
        yield seen


def _names(viewed: Viewed, match: str, players: Iterable[str]) -> list[str]:
    return [viewed.name_of(match, player) for player in players]


def events(
    viewed: Viewed, chosen: HandFilters = EVERY, watch: ShowProgress = without_progress
) -> Iterator[pa.Table]:
    """The same as tables of events, each of some thousand whole hands.

    An auditor's are as they are stored, and no event is made of any row.
    """
    if not viewed.viewer.auditor:
        every = leaves(viewed, chosen, watch)
        while some := list(islice(every, AT_ONCE)):
            yield encoded_table(some)
        return
    parts = list(_parts(viewed, chosen))
    for part in watch(parts, "reading thousands of hands", len(parts)):
        rows = part()
        if viewed.by_tag:  # players, a list in JSON, are called by their tags
            called: dict[tuple[str, str | None], str | None] = {}
            seats = list(zip(rows["match"].to_pylist(), rows["players"].to_pylist(), strict=True))
            for match, players in set(seats):
                names = _names(viewed, match, json.decode(players)) if players else None
                called[match, players] = json.encode(names).decode() if names else players
            column = pa.array([called[seat] for seat in seats], pa.string())
            rows = rows.set_column(rows.schema.get_field_index("players"), "players", column)
        yield rows


def _places(viewed: Viewed, chosen: HandFilters) -> Places:
    """Where the hands stand that are asked for: a player's are those that he was dealt in, and his
    rival too."""
    names = [quoted(one) for one in (chosen.player, chosen.vs) if one is not None]
    terms = [
        *hand_terms(replace(chosen, vs=None)),
        *(f"hand_seq IN (SELECT hand_seq FROM players WHERE player = {name})" for name in names),
    ]
    rows = viewed.ask(f"SELECT hand_seq FROM hands{where(terms)} ORDER BY hand_seq")
    return np.asarray(rows["hand_seq"].to_numpy(), dtype=np.int64)


def _parts(viewed: Viewed, chosen: HandFilters) -> Iterator[Callable[[], pa.Table]]:
    """What is sealed, some row groups at a time, and what is hot, each read when it is called."""
    files, (segments, closed) = files_of(viewed.snapshot.live.disk), viewed.snapshot.parts()
    places, wanted = _places(viewed, chosen), Selection(chosen.match)

    def sealed(segment: Segment, some: Sequence[int]) -> pa.Table:
        rows = [standing(files.events(segment, group), places) for group in some]
        return pa.concat_tables(rows).unify_dictionaries()

    for segment in segments:
        every = groups(files, segment, wanted, (0, viewed.snapshot.next_seq), places)
        while some := list(islice(every, GROUPS)):
            yield partial(sealed, segment, some)
    hot = [it for it in closed if len(among(places, it.hand_seq, it.hand_seq))]
    if hot:
        yield partial(encoded_table, [Leaf(one.hand_seq, one.recorded()) for one in hot])

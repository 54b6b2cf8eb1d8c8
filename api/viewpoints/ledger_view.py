"""A ledger as one viewpoint sees it: the same SQL views and questions for every viewer.

For an auditor they are the ledger's own. For anybody else each view is restricted in SQL to what he
may see (`masks.py`), over the same stored tables: so a question of the public costs what
an auditor's does, and no page, filter or statistic needs to know who asks.

Hands are also read one after the other, each as its viewer sees it (`filtered_leaves`,
`event_tables`). Everybody but an auditor gets leaves made from what he sees and from nothing else,
each bid that a settlement told to all in its place: so no count can tell more than the record shows
him.
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
from api.viewpoints.hand_selection import (
    HandSeqs,
    NotInLedger,
    Selection,
    hand_seqs_between,
    matching_row_groups,
    rows_of_hands,
)
from api.viewpoints.hand_selection import leaves as recorded
from api.viewpoints.redaction import RedactedEvents, Redactor, with_settled_bids, withheld_sentence
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


class LedgerView:
    """A snapshot of a ledger for one viewer; threads may share it.

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
        self._others: dict[tuple[str | None, tuple[str, ...]], LedgerView] = {}
        self.facts_by: Callable[[LedgerView], FactSource] | None = None

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor of leaves for this viewer."""
        return Redactor(self.snapshot, self.viewer)

    @property
    def query(self) -> Query:
        """The SQL views of hands, events, players, bids, swaps, pots and facts."""
        with self._turn:
            if self._query is None:
                self._query = self._make_query()
            return self._query

    @property
    def facts(self) -> FactSource:
        """The query that answers questions about facts: our own views, unless a cluster does it."""
        return self.query if self.facts_by is None else self.facts_by(self)

    @cached_property
    def tags(self) -> pa.Table:
        """The tags of players as matches state them."""
        return tags_table(self.snapshot)

    @cached_property
    def tag_values(self) -> Mapping[tuple[str, str], dict[str, str]]:
        """The values of the tags asked for, of each player of a match who has one of them."""
        return tags_by_player(self.tags, self.by_tag)

    @cached_property
    def display_names(self) -> DisplayNames:
        """The names that these tags give to players of matches."""
        return {who: " ".join(tags.values()) for who, tags in self.tag_values.items()}

    def name_of(self, match: str, player: str) -> str:
        """The name of a match's player in this view."""
        return self.display_names.get((match, player), player)

    @cached_property
    def untagged_players(self) -> frozenset[str]:
        """The players who go by their own name in some match."""
        sql = f"SELECT DISTINCT match, player FROM players WHERE player = {OWN_NAME}"
        rows = self.rows(sql) if self.by_tag else ()
        found = ((row["match"], row["player"]) for row in rows)
        return frozenset(who[1] for who in found if who not in self.display_names)

    @property
    def units(self) -> set[str]:
        """The units that amounts of these hands may count, as far as the viewer may know."""
        if self._units is None:
            self._units = self.query.units
        return self._units

    def narrowed(self, unit: str | None, by_tag: str | None = None) -> "LedgerView":
        """A view of the hands alone that are played for this unit: chips, dollars, euros,
        pounds; of all without. Players are split `by_tag`, if one is named, or several with
        commas. It is closed with this one."""
        known = currencies(self.units) if unit is not None else []
        if unit is not None and unit not in known:
            here = f"those here are for {' and '.join(known)}" if known else "there is none here"
            raise NotInLedger(f"no hand is played for {unit}: {here}", unit=known)
        unit = None if known == [unit] else unit
        tags = tuple(by_tag.split(",")) if by_tag is not None else ()
        if unit is None and not tags:
            return self
        offered = sorted(set(self.tags["tag"].to_pylist())) if tags else []
        for tag in tags:
            if tag not in offered:
                listed = ", ".join(offered)
                here = f"tags here are {listed}" if offered else "there are no tags here"
                raise NotInLedger(f"no player has a tag {tag}: {here}", by_tag=offered)
        with self._turn:
            if (unit, tags) not in self._others:
                only = None
                if unit is not None:
                    only = frozenset(counted for counted in self.units if money(counted) == unit)
                self._others[unit, tags] = LedgerView(self.snapshot, self.viewer, only, tags)
                self._others[unit, tags].facts_by = self.facts_by
            return self._others[unit, tags]

    @property
    def has_hands(self) -> bool:
        """Whether the viewer, if he is a player, has been dealt a hand of this ledger."""
        name = self.viewer.player
        sql = f"SELECT 1 FROM players WHERE player = {quoted(name or '')} LIMIT 1"
        return name is None or bool(self.rows(sql))

    @property
    def open_matches(self) -> frozenset[str]:
        """The matches whose hands everybody may see."""
        with self._turn:
            if self._opened is None:
                from api.viewpoints.withheld_events import open_matches

                self._opened = open_matches(self.snapshot).hands
            return self._opened

    def ask(self, sql: str) -> pa.Table:
        """Run our own SQL; the answer as an Arrow table."""
        return self.query.ask(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Run our own SQL; the answer as rows for JSON."""
        return self.query.rows(sql)

    def ask_untrusted(
        self, sql: str, rows_max: int | None = None, seconds: float = 30.0
    ) -> pa.Table:
        """Run somebody else's SELECT over the same views but facts, or raise `Refused`."""
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
        """A hand's visible events so far; `NotInLedger` if there is no such hand."""
        named = re.fullmatch(r"[^/]+/(?:0|[1-9][0-9]{0,17})", hand)
        if named and not self.redactor.may_know(hand):
            raise NotInLedger(withheld_sentence(split_stream(hand)[0]))
        record = self.snapshot.read(hand) if named else ()
        if not record:
            raise NotInLedger(f"there is no hand {hand}: muckrake hands lists those there are")
        place = self.snapshot.hand_seq(hand)
        return self.redactor.redact(Leaf(UNCLOSED if place is None else place, record))

    def close(self) -> None:
        """Close files and free memory."""
        with self._turn:
            if self._query is not None:
                self._query.close()
            self._query = self._strangers = None
            for one in self._others.values():
                one.close()
            self._others.clear()

    def _make_query(self) -> Query:
        if self.viewer.auditor:
            return snapshot_query(self.snapshot, self.only, self.display_names)
        from api.viewpoints.masks import MaskedQuery  # an auditor needs it not, nor what it brings

        known = (*STANDARD, *ruleset_projections(self.snapshot.ruleset))
        return MaskedQuery(
            self.snapshot,
            self.viewer,
            known,
            seconds=SECONDS,
            only=self.only,
            called=self.display_names,
        )


HANDS_AT_ONCE = 4_096  # hands
ROW_GROUPS_AT_ONCE = 8  # row groups
ALL_HANDS = HandFilters()


def filtered_leaves(
    viewed: LedgerView, chosen: HandFilters = ALL_HANDS, watch: ShowProgress = without_progress
) -> Iterator[Leaf]:
    """The hands that pass the filters, in the order they ended in; of a player, and of his
    rival, only those in which they were dealt in are read."""
    hand_seqs = _filtered_hand_seqs(viewed, chosen)
    every = recorded(viewed.snapshot, Selection(chosen.match), hand_seqs=hand_seqs)
    for leaf in viewed.redactor.visible_leaves(watch(every, "reading hands", len(hand_seqs))):
        seen = leaf if viewed.viewer.auditor else with_settled_bids(viewed.redactor.redact(leaf))
        if viewed.by_tag:  # players are called by their tags
            first, *rest = seen.recorded
            assert isinstance(first.event, HandStarted)
            match, _ = split_stream(seen.stream)
            names = tuple(_display_names(viewed, match, first.event.players))
            started = replace(first, event=replace(first.event, players=names))
            seen = Leaf(seen.hand_seq, (started, *rest))
        yield seen


def _display_names(viewed: LedgerView, match: str, players: Iterable[str]) -> list[str]:
    return [viewed.name_of(match, player) for player in players]


def event_tables(
    viewed: LedgerView, chosen: HandFilters = ALL_HANDS, watch: ShowProgress = without_progress
) -> Iterator[pa.Table]:
    """The events of the hands that pass the filters, as tables of some thousand whole hands.

    An auditor's are as they are stored, and no event is made of any row.
    """
    if not viewed.viewer.auditor:
        every = filtered_leaves(viewed, chosen, watch)
        while some := list(islice(every, HANDS_AT_ONCE)):
            yield encoded_table(some)
        return
    parts = list(_event_readers(viewed, chosen))
    for part in watch(parts, "reading thousands of hands", len(parts)):
        rows = part()
        if viewed.by_tag:  # players, a list in JSON, are called by their tags
            called: dict[tuple[str, str | None], str | None] = {}
            seats = list(zip(rows["match"].to_pylist(), rows["players"].to_pylist(), strict=True))
            for match, players in set(seats):
                names = _display_names(viewed, match, json.decode(players)) if players else None
                called[match, players] = json.encode(names).decode() if names else players
            column = pa.array([called[seat] for seat in seats], pa.string())
            rows = rows.set_column(rows.schema.get_field_index("players"), "players", column)
        yield rows


def _filtered_hand_seqs(viewed: LedgerView, chosen: HandFilters) -> HandSeqs:
    """The hand_seqs of the hands that pass the filters: a player's are those he was dealt in,
    and his rival too."""
    names = [quoted(one) for one in (chosen.player, chosen.vs) if one is not None]
    terms = [
        *hand_terms(replace(chosen, vs=None)),
        *(f"hand_seq IN (SELECT hand_seq FROM players WHERE player = {name})" for name in names),
    ]
    rows = viewed.ask(f"SELECT hand_seq FROM hands{where(terms)} ORDER BY hand_seq")
    return np.asarray(rows["hand_seq"].to_numpy(), dtype=np.int64)


def _event_readers(viewed: LedgerView, chosen: HandFilters) -> Iterator[Callable[[], pa.Table]]:
    """Functions that read sealed events, some row groups at a time, and those of the log."""
    files, (segments, closed) = files_of(viewed.snapshot.live.disk), viewed.snapshot.parts()
    hand_seqs, wanted = _filtered_hand_seqs(viewed, chosen), Selection(chosen.match)

    def sealed(segment: Segment, some: Sequence[int]) -> pa.Table:
        rows = [rows_of_hands(files.events(segment, group), hand_seqs) for group in some]
        return pa.concat_tables(rows).unify_dictionaries()

    for segment in segments:
        every = matching_row_groups(
            files, segment, wanted, (0, viewed.snapshot.next_seq), hand_seqs
        )
        while some := list(islice(every, ROW_GROUPS_AT_ONCE)):
            yield partial(sealed, segment, some)
    hot = [it for it in closed if len(hand_seqs_between(hand_seqs, it.hand_seq, it.hand_seq))]
    if hot:
        yield partial(encoded_table, [Leaf(one.hand_seq, one.recorded()) for one in hot])

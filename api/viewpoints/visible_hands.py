"""The hands that a viewer may read, one after the other, each as he sees it.

Everybody but an auditor gets leaves made from what he sees and from nothing else, each bid that a
settlement told to all in its place: so no count can tell more than the record shows him.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa
from msgspec import json
from msgspec.structs import replace

from analytics.sql.chosen import Chosen, hands_of, quoted, where
from api.viewpoints.redaction import revealed
from api.viewpoints.selection import Places, Selection, among, groups, standing
from api.viewpoints.selection import leaves as recorded
from api.viewpoints.viewer import ShowProgress, without_progress
from api.viewpoints.views import Viewed
from events.types import HandStarted
from store.columns.codec import encoded
from store.folder.manifest import Segment
from store.log.leaf import Leaf, split
from store.segments.reading import files_of

AT_ONCE = 4_096  # hands
GROUPS = 8  # row groups
EVERY = Chosen()


def leaves(
    viewed: Viewed, chosen: Chosen = EVERY, watch: ShowProgress = without_progress
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
            match, _ = split(seen.stream)
            names = tuple(_names(viewed, match, first.event.players))
            started = replace(first, event=replace(first.event, players=names))
            seen = Leaf(seen.hand_seq, (started, *rest))
        yield seen


def _names(viewed: Viewed, match: str, players: Iterable[str]) -> list[str]:
    return [viewed.name_of(match, player) for player in players]


def events(
    viewed: Viewed, chosen: Chosen = EVERY, watch: ShowProgress = without_progress
) -> Iterator[pa.Table]:
    """The same as tables of events, each of some thousand whole hands.

    An auditor's are as they are stored, and no event is made of any row.
    """
    if not viewed.viewer.auditor:
        every = leaves(viewed, chosen, watch)
        while some := list(islice(every, AT_ONCE)):
            yield encoded(some)
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


def _places(viewed: Viewed, chosen: Chosen) -> Places:
    """Where the hands stand that are asked for: a player's are those that he was dealt in, and his
    rival too."""
    names = [quoted(one) for one in (chosen.player, chosen.vs) if one is not None]
    terms = [
        *hands_of(replace(chosen, vs=None)),
        *(f"hand_seq IN (SELECT hand_seq FROM players WHERE player = {name})" for name in names),
    ]
    rows = viewed.ask(f"SELECT hand_seq FROM hands{where(terms)} ORDER BY hand_seq")
    return np.asarray(rows["hand_seq"].to_numpy(), dtype=np.int64)


def _parts(viewed: Viewed, chosen: Chosen) -> Iterator[Callable[[], pa.Table]]:
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
        yield partial(encoded, [Leaf(one.hand_seq, one.recorded()) for one in hot])

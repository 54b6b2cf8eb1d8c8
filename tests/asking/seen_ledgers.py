"""Ledgers for questions about who may see what: matches of every disclosure, sealed and hot."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from api.playing.recording import ledger_projections
from api.viewpoints.viewer import Viewer
from engine.game import Game
from events import types as t
from events.ledger import Append, Record
from events.match import Disclosure, MatchEnded, MatchStarted, NonceGiven, SourceNoted, Tagged
from events.types import Events
from events.views import Public, Seated, Viewpoint
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader, Snapshot
from tests.exports import AT, start_of
from tests.hands import NAMES, seeded
from tests.hidden_fields import is_open
from tests.profiles import sized
from tests.worlds import other_world

HANDS = 5
SEALED_EVERY = sized(2, 2, 1)  # each segment is one more part of every question
NEVER = 10**9
TAGS = ((NAMES[0], "bot", "bear"), (NAMES[1], "version", "3"))  # in each match that is announced


class Kept(NamedTuple):
    """A match as the ledger gets it; `kind` says what is open of it."""

    kind: str
    name: str
    disclosure: Disclosure | None
    ended: bool
    hands: tuple[Events, ...]


def matches(games: Iterable[Game]) -> tuple[Kept, ...]:
    """Each disclosure, before and after the end; other players in one; one never announced."""
    kinds: tuple[tuple[str, Disclosure | None, bool, str], ...] = (
        ("closed", "sealed", True, ""),
        ("open", "open", False, ""),
        ("before", "open-after-match", False, "o'"),
        ("after", "open-after-match", True, ""),
        ("bare", None, False, ""),
    )
    return tuple(
        Kept(kind, f"{kind}-{game.name}", how, ended, _hands(game, f"{kind}-{game.name}", prefix))
        for game in games
        for kind, how, ended, prefix in kinds
    )


def viewers(played: Sequence[Kept]) -> tuple[Viewer, ...]:
    """The public, seats that see much or little, some in a few matches only, and the auditor."""
    first, second = NAMES[:2]

    def only(*kinds: str) -> tuple[str, ...]:
        return tuple(one.name for one in played if one.kind in kinds)

    one = (Viewer(f"seat:o'{first}"),)  # a name that SQL has to quote
    more = (
        *one,
        *(Viewer(f"seat:{name}") for name in (first, second, NAMES[-1])),
        Viewer(f"seat:{first}", only("before")),
    )
    return (
        Viewer("public"),
        Viewer(f"seat:{second}", only("closed", "after")),
        *sized(quick=(), ci=one, slow=more),
        Viewer("auditor"),
    )


def ledger_of(folder: Path, played: Sequence[Kept], seed: str = "s3cr3t") -> Snapshot:
    """A ledger of several segments and a hot tail, the matches dealt in turn."""
    ledger = FileLedger(RealDisk(folder), ledger_projections(folder), seal_hands=NEVER)
    versions: dict[str, int] = {}

    def add(stream: str, *events: Record) -> None:
        version = versions.get(stream, 0)
        ledger.append(Append(stream, version, events, AT + 1_000 * len(versions)))
        versions[stream] = version + len(events)

    for one in played:
        if one.disclosure is not None:
            add(one.name, _started(one, seed))
            nonces = (NonceGiven(NAMES[0], "n0"), NonceGiven(NAMES[1], "n1"))
            add(one.name, *nonces, *(Tagged(*tag) for tag in TAGS))
    add(played[0].name, SourceNoted("acpc", "dealer", f"# seed {seed}\n", f"SCORE {seed}"))
    for number in range(HANDS):
        for one in played:
            add(start_of(one.hands[number]).hand, *one.hands[number])
        if number % SEALED_EVERY == 0:
            ledger.seal()
    for one in played:
        if one.ended:
            add(one.name, MatchEnded((0, 0), "over"))
    for number in range(2):  # these stay in the log
        for one in played[:9]:
            start, *rest = one.hands[number]
            assert isinstance(start, t.HandStarted)
            again = f"{one.name}/{number + 10}"
            add(again, replace(start, hand=again), *rest)
    ledger.close()
    snapshot = Reader(folder).snapshot()
    segments, hot = snapshot.parts()
    assert len(segments) > 2
    assert hot
    return snapshot


def worlds(played: Sequence[Kept], viewer: Viewer, chance: random.Random) -> tuple[Kept, ...]:
    """The same matches to this viewer: what is open to all is as it was."""
    return tuple(
        one
        if is_open(one.disclosure, over=one.ended)[0]
        else one._replace(hands=tuple(_other(hand, viewer, one.name, chance) for hand in one.hands))
        for one in played
    )


def who(record: Events, viewer: Viewer, match: str) -> Viewpoint:
    """Whose eyes these are in a hand, said without `Redactor`."""
    players = start_of(record).players
    mine = viewer.player in players and (not viewer.matches or match in viewer.matches)
    return Seated(players.index(viewer.player or "")) if mine else Public()


def in_order(rows: pa.Table, types: pa.Schema) -> pa.Table:
    """Rows in the order of hands and what is in them, their times as precise as in `types`."""
    keys = [name for name in ("hand_seq", "idx", "pot", "seat", "share") if name in types.names]
    return rows.cast(types).sort_by([(name, "ascending") for name in keys])


def sorted_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows in an order of their own."""
    return sorted(rows.to_pylist(), key=lambda row: [(it is None, str(it)) for it in row.values()])


def _started(one: Kept, seed: str) -> MatchStarted:
    start = start_of(one.hands[0])
    assert one.disclosure is not None
    kept = seed if one.kind != "after" else "told"
    players = tuple(dict.fromkeys(name for hand in one.hands for name in start_of(hand).players))
    return MatchStarted(
        one.name, start.game, start.ruleset, players, "seeded", one.disclosure, True, kept
    )


def _hands(game: Game, match: str, prefix: str = "") -> tuple[Events, ...]:
    """Hands walked through every corner; some bids failed first, some hands end in the middle."""
    found = []
    for number in range(1, HANDS + 1):
        record = tuple(_faulted(seeded(game, f"{match} {number}").record, number))
        if number == HANDS:
            record = _cut(record)
        start = start_of(record)
        named = tuple(f"{prefix}{name}" for name in start.players)
        if match.startswith("bare") and number == 2:
            named = (named[0], named[0], *named[2:])  # no rule forbids it
        found.append((replace(start, hand=f"{match}/{number}", players=named), *record[1:]))
    return tuple(found)


def _faulted(record: Events, number: int) -> Iterator[t.Event]:
    """In every other hand the replies to the first two bids were no bids."""
    left = 2 if number % 2 else 0
    for event in record:
        if isinstance(event, t.BidPlaced) and left:
            yield t.Faulted(event.seat, "A1.6", "malformed", "bid")
            left -= 1
        yield event


def _cut(record: Events) -> Events:
    """Void after the first bid, or in the middle where nobody bids."""
    bids = [place for place, event in enumerate(record) if isinstance(event, t.BidPlaced)]
    place = bids[0] + 1 if bids else max(1, len(record) // 2)
    return (*record[:place], t.HandVoided("the lights went out"))


def _other(record: Events, viewer: Viewer, match: str, chance: random.Random) -> Events:
    """Another world, in which other replies of others were no bids."""
    seen_by = who(record, viewer, match)
    seat = seen_by.seat if isinstance(seen_by, Seated) else None
    world: list[t.Event] = []
    for event in other_world(record, seen_by, chance):
        if isinstance(event, t.BidPlaced) and event.seat != seat:
            for _ in range(chance.randrange(3)):
                world.append(t.Faulted(event.seat, "A1.6", "malformed", "bid"))
        world.append(event)
    return tuple(world)

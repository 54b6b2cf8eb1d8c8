"""Hands as they are sealed: random ones of every game, with match records between them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from dealer.play import play
from engine.games import GAMES
from events import types as t
from events.ledger import Append, Record, Recorded
from events.match import DeckCommitted, MatchEnded, MatchStarted, SourceNoted
from store.columns.codec import rows_of, used_columns
from store.columns.event_columns import columns_of_leaves
from store.log.streams import HotLeaf, Leaf, LogEntry
from store.segments.parquet_files import leaf_groups, write_file
from tests.store.simulated_disk import SimulatedDisk

START = 1_732_200_000_000


@cache
def hands(game: str, count: int = 12, seed: str = "sealed") -> tuple[t.Events, ...]:
    """Random hands of one game, in the match `GAME`."""
    return tuple(play(GAMES[game], game, count, seed))


def closed(
    streams: Iterable[tuple[str, Sequence[Record]]], seq: int = 0, pos: int = 0
) -> tuple[HotLeaf, ...]:
    """Each closed by one append, one after the other."""
    found = []
    versions: dict[str, int] = {}
    for stream, events in streams:
        before = versions.get(stream, 0)
        append = Append(stream, before, tuple(events), START + 7 * seq)
        found.append(HotLeaf(seq, stream, before, (LogEntry(pos, append),)))
        versions[stream] = before + len(events)
        seq, pos = seq + 1, pos + len(events)
    return tuple(found)


def leaves(closed: Iterable[HotLeaf]) -> list[Leaf]:
    return [Leaf(one.hand_seq, one.recorded()) for one in closed]


def of_games(*games: str, count: int = 12) -> tuple[HotLeaf, ...]:
    """A match of each game: its start, its hands, its end."""
    return closed(stream for game in games for stream in _match(game, count))


def _match(game: str, count: int) -> Iterator[tuple[str, Sequence[Record]]]:
    first = hands(game, count)[0][0]
    assert isinstance(first, t.HandStarted)
    yield (
        game,
        (
            MatchStarted(
                game, game, first.ruleset, first.players, "seeded", "sealed", True, seed=None
            ),
            DeckCommitted("c0ffee", count),
        ),
    )
    for events in hands(game, count):
        start = events[0]
        assert isinstance(start, t.HandStarted)
        yield start.hand, events
    yield (
        game,
        (
            SourceNoted("mit-gamelog", "A3", "first\nline", 'a "quoted" end'),
            MatchEnded((-5, 5), "all hands played"),
        ),
    )


def flat(leaves: Iterable[Leaf]) -> tuple[Recorded, ...]:
    return tuple(one for leaf in leaves for one in leaf.recorded)


def to_parquet(leaves: Sequence[Leaf]) -> bytes:
    """The bytes of a segment's events."""
    parts = [columns_of_leaves(group) for group in leaf_groups(leaves)]
    wanted = used_columns(parts)
    disk = SimulatedDisk("a segment")
    disk.make_folder("segments")
    return disk.read(write_file(disk, "events", 0, 0, (rows_of(one, wanted) for one in parts)).path)

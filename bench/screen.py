"""The batch audit: hands replayed in columns, every event held against what the rules make of it.

A hand is legal actions, turn order, pots, odd chips, cards, showing, award, and every other reading
of its rules. Three ways: from columns that are made already, from tables of events in memory, and
from the Parquet files of a ledger, whose digests are compared. Beside it the engine's own judgement
of the same hands, and pokerkit, which replays the same actions and cards and pays, but compares
nothing.

An audit takes some sixteen thousand hands at a time, however large the ledger is, so a hand costs
there what it costs here; what it costs among fewer is told too.
"""

from collections.abc import Callable
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from analytics.batch_audit.batches import BatchAuditor, row_groups
from analytics.batch_audit.event_arrays import EventArrays, WordIds
from bench import auction, play
from bench.peers import installed
from bench.runner import Bench, Contender, Target
from engine.game import Game, fingerprint
from engine.games import GAMES
from engine.verdict import judge
from events import types as t
from events.ledger import Append, Recorded
from events.types import Events
from store.columns.codec import encoded_table
from store.ledger import open_ledger
from store.log.streams import Leaf
from store.reader import Reader
from store.tables.projection import STANDARD

SAMPLE = 1_500  # distinct hands, about a row group
GOAL = 1_000_000  # hands a second, from columns that are made already
COPIES = 11  # of them, audited together: as many as an audit takes at once
MARKED = {fingerprint(game): game for game in GAMES.values()}


def benches() -> list[Bench]:
    """Heads-up auction, and six-handed no-limit."""
    return [
        _bench("Heads-up auction", auction.sample(SAMPLE), GAMES["auction-2024"], peer=False),
        _bench("Six-handed no-limit", tuple(play.hands(6, SAMPLE)), play.GAME, peer=True),
    ]


class _Hands(NamedTuple):
    """The same hands in every form that a contender wants."""

    records: tuple[Events, ...]
    tables: list[pa.Table]
    columns: EventArrays
    auditor: BatchAuditor


def _bench(title: str, records: tuple[Events, ...], game: Game, *, peer: bool) -> Bench:
    some, few = _prepared(records, COPIES), _prepared(records, 1)
    contenders = [
        Contender("screen, from columns", _columns(some)),
        Contender(f"screen, {SAMPLE:,} hands at once", _columns(few)),
        Contender("screen, from tables of events", _tables(some)),
        Contender("screen, from Parquet on disk", _parquet(some)),
        Contender("engine: judge", _judged(some, game)),
    ]
    targets: tuple[Target, ...] = ()
    if peer:
        targets = (Target("pokerkit", 1000.0),)
        if installed("pokerkit"):
            contenders.append(Contender("pokerkit", pokerkit(records), "pokerkit"))
    return Bench(f"{title}, screened", "call", "hand", tuple(contenders), targets, goal=GOAL)


@cache
def _prepared(records: tuple[Events, ...], copies: int) -> _Hands:
    leaves = [_leaf(number, record) for number, record in enumerate(records)]
    words = WordIds()
    tables = [encoded_table(leaves)] * copies
    auditor = BatchAuditor(MARKED.get, words)
    return _Hands(records, tables, EventArrays(tables, words), auditor)


def _leaf(number: int, record: Events) -> Leaf:
    events = enumerate(_named(number, record))
    return Leaf(number, tuple(Recorded(0, f"bench/{number}", at, 0, one) for at, one in events))


def _named(number: int, record: Events) -> Events:
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return (replace(start, hand=f"bench/{number}"), *record[1:])


def _columns(some: _Hands) -> Callable[[int], int]:
    def run(count: int) -> int:
        return _again(count, some.columns.count, lambda: some.auditor.judge(some.columns))

    return run


def _tables(some: _Hands) -> Callable[[int], int]:
    def audit() -> None:
        some.auditor.judge(EventArrays(some.tables, some.auditor.words))

    return lambda count: _again(count, some.columns.count, audit)


def _parquet(some: _Hands) -> Callable[[int], int]:
    """A sealed ledger as `audit --all` reads it: opened anew, digests compared, all that closed."""
    folder = Path(_kept().name) / str(id(some))
    ledger, lock = open_ledger(folder, "bench", STANDARD)
    for copy in range(some.columns.count // SAMPLE):
        numbers = range(copy * SAMPLE, (copy + 1) * SAMPLE)
        ledger.append(
            *(
                Append(f"bench/{number}", 0, _named(number, record), 0)
                for number, record in zip(numbers, some.records, strict=True)
            )
        )
    ledger.seal()
    ledger.close()
    lock.release()

    def audit() -> None:
        tables = [part.rows for part in row_groups(Reader(folder).snapshot())]
        found = some.auditor.judge(EventArrays(tables, some.auditor.words))
        assert len(found.why) == some.columns.count

    return lambda count: _again(count, some.columns.count, audit)


@cache
def _kept() -> TemporaryDirectory[str]:
    """A folder for ledgers, as long as this process lives."""
    return TemporaryDirectory(prefix="muckrake-bench-")


def _again(count: int, each: int, audit: Callable[[], object]) -> int:
    """So many calls, each for many hands."""
    for _ in range(count):
        audit()
    return count * each


def _judged(some: _Hands, game: Game) -> Callable[[int], int]:
    partner = GAMES[game.partner or ""]

    def run(count: int) -> int:
        for record in islice(cycle(some.records), count):
            assert judge(game, record, partner).divergence is None
        return count

    return run


def pokerkit(records: tuple[Events, ...]) -> Callable[[int], int]:
    """The same cards and actions put to pokerkit, whose own automation posts, shows and pays."""
    from pokerkit import Automation, NoLimitTexasHoldem

    dealing = (Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.CARD_BURNING)
    automated = tuple(one for one in Automation if one not in dealing)
    game = NoLimitTexasHoldem(automated, True, 0, (play.SMALL, play.BIG), play.BIG)

    def run(count: int) -> int:
        for record in islice(cycle(records), count):
            state = game(play.STACK, 6)
            for event in record:
                match event:
                    case t.HoleDealt(cards=cards):
                        state.deal_hole("".join(cards))
                    case t.BoardDealt(cards=cards):
                        state.burn_card("??")
                        state.deal_board("".join(cards))
                    case t.Folded():
                        state.fold()
                    case t.Checked() | t.Called():
                        state.check_or_call()
                    case t.Bet(amount=to) | t.Raised(to=to):
                        state.complete_bet_or_raise_to(to)
                    case _:
                        pass
            assert not state.status
        return count

    return run

"""The screen: hands replayed in columns, every event held against what the rules make of it.

A hand is legal actions, turn order, pots, odd chips, cards, showing, award, and every other reading
of its rules. Three ways: from columns that are laid out already, from rows of events as numbers,
and from Parquet as a ledger has it. Beside it the engine's own judgement of the same hands, and
pokerkit, which replays the same actions and cards and pays, but compares nothing.

An audit takes some sixteen thousand hands at a time, however large the ledger is, so a hand costs
there what it costs here; what it costs among fewer is told too.
"""

import io
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from analytics.screen.laid import Laid
from analytics.screen.rows import Rows, Words, gathered
from analytics.screen.screen import Screen
from bench import auction, play
from bench.peers import installed
from bench.runner import Bench, Contender, Target
from engine.game import Game, fingerprint
from engine.games import GAMES
from engine.verdict import judge
from events import types as t
from events.ledger import Recorded
from events.types import Events
from store.columns.codec import encoded
from store.log.leaf import Leaf
from store.segments.segment import to_parquet

SAMPLE = 1_500  # distinct hands, about a row group
GOAL = 1_000_000  # hands a second, from columns that are laid out
COPIES = 11  # of them, screened together: as many as an audit takes at once
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
    parquet: bytes
    rows: Rows
    laid: Laid
    screen: Screen


def _bench(title: str, records: tuple[Events, ...], game: Game, *, peer: bool) -> Bench:
    some, few = _prepared(records, COPIES), _prepared(records, 1)
    contenders = [
        Contender("screen, from laid columns", _laid(some)),
        Contender(f"screen, {SAMPLE:,} hands at once", _laid(few)),
        Contender("screen, from rows of numbers", _rows(some)),
        Contender("screen, from Parquet", _parquet(some)),
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
    words = Words()
    rows = gathered([encoded(leaves)] * copies, words)
    screen = Screen(MARKED.get, words)
    return _Hands(records, to_parquet(leaves), rows, Laid(rows, words), screen)


def _leaf(number: int, record: Events) -> Leaf:
    stream, start = f"bench/{number}", record[0]
    assert isinstance(start, t.HandStarted)
    told = (replace(start, hand=stream), *record[1:])
    return Leaf(number, tuple(Recorded(0, stream, at, 0, one) for at, one in enumerate(told)))


def _laid(some: _Hands) -> Callable[[int], int]:
    def run(count: int) -> int:
        return _again(count, some.rows.hands, lambda: some.screen.judge_laid(some.laid))

    return run


def _rows(some: _Hands) -> Callable[[int], int]:
    def run(count: int) -> int:
        return _again(count, some.rows.hands, lambda: some.screen.judge(some.rows))

    return run


def _parquet(some: _Hands) -> Callable[[int], int]:
    """Row groups decoded, gathered as `audit --all` gathers them, and screened."""

    def run(count: int) -> int:
        return _again(count, some.rows.hands, lambda: some.screen.judge(_decoded(some)))

    return run


def _decoded(some: _Hands) -> Rows:
    """The bytes of a segment again and again: every row group is decoded each time."""
    return gathered([part for _ in range(COPIES) for part in _groups(some)], some.screen.words)


def _groups(some: _Hands) -> list[pa.Table]:
    there = pq.read_schema(io.BytesIO(some.parquet)).names
    words = [name for name in _WORDS if name in there]
    with pq.ParquetFile(io.BytesIO(some.parquet), read_dictionary=words) as file:
        groups = range(file.num_row_groups)
        return [file.read_row_group(group, use_threads=False) for group in groups]


_WORDS = ["type", "match", "game", "ruleset", "street", "origin", "kind", "players", "stacks"]
_WORDS += ["seats", "shares", "card1", "card2", "card3", "card4", "card5", "old", "new"]


def _again(count: int, each: int, screen: Callable[[], object]) -> int:
    """So many calls, each for many hands."""
    for _ in range(count):
        screen()
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

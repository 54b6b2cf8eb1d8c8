"""Random legal play of no-limit hold'em: every decision asked for, decided and written down.

The same play on every side: blinds 5 and 10, stacks of 1000 in every hand, a whole deck shuffled,
and one chooser that takes fold (only when it costs something to stay), check or call, and raise
(to any legal total) with equal chance. Ours goes through begin, turn and step and keeps every
event. Chance and showing are answered too, but only choices of betting count as decisions, and
hands differ in length between peers whose menus differ: decisions per second is the fair unit.
"""

from collections.abc import Callable
from random import random, seed, shuffle

from bench.peers import installed
from bench.runner import SEED, Bench, Contender, Target
from engine.games import named
from engine.hand import begin, step, turn
from engine.turn import (
    Call,
    Check,
    Command,
    Deal,
    Fold,
    Muck,
    Over,
    Raise,
    ToAct,
    ToDeal,
    ToShow,
    Turn,
)
from events.cards import DECK
from events.types import Event, Events

SMALL, BIG, STACK = 5, 10, 1000
GAME = named("probability-standard")
FOLD, PASS = -1, 0
Chooser = Callable[[bool, int | None, int | None], int]
"""Whether chips are owed, and between which totals it may raise: what a player does then."""


def benches() -> list[Bench]:
    """Heads-up and six-handed."""
    two = (
        Target("pokerkit", 2.0),
        Target("texasholdem", 1.0, "aim"),
        Target("texasholdem", 1.5, "aim"),
    )
    six = (Target("pokerkit", 4.0), Target("texasholdem", 1.0, "aim"))
    return [
        _bench("Random legal play, heads-up no-limit", 2, two),
        _bench("Random legal play, six-handed no-limit", 6, six),
    ]


def hands(seats: int, count: int) -> list[Events]:
    """Records of random play for the other benches."""
    seed(SEED)
    return [play_hand(seats, number)[0] for number in range(count)]


def _bench(title: str, seats: int, targets: tuple[Target, ...]) -> Bench:
    contenders = [Contender("muckrake", muckrake(seats))]
    if installed("pokerkit"):
        contenders.append(Contender("pokerkit", pokerkit(seats), "pokerkit"))
    if installed("texasholdem"):
        contenders.append(Contender("texasholdem", texasholdem(seats), "texasholdem"))
    return Bench(title, "hand", "decision", tuple(contenders), targets)


def choose(owes: bool, low: int | None, high: int | None) -> int:
    """FOLD, PASS (a check or a call), or the total to raise to: each kind with equal chance."""
    first = 0 if owes else 1
    kind = first + int(random() * ((2 if low is None else 3) - first))
    if kind < 2:
        return FOLD if kind == 0 else PASS
    assert low is not None
    assert high is not None
    return low + int(random() * (high - low + 1))


def muckrake(seats: int) -> Callable[[int], int]:
    """Our own engine, through its front door."""

    def run(hands: int) -> int:
        decisions = 0
        for number in range(hands):
            decisions += play_hand(seats, number)[1]
        return decisions

    return run


def play_hand(seats: int, number: int) -> tuple[Events, int]:
    """One random hand: its whole record, and how many decisions it took."""
    players, stacks = _PLAYERS[:seats], (STACK,) * seats
    deck = list(DECK)
    shuffle(deck)
    record: list[Event] = []
    decisions = 0
    events, hand = begin(GAME, f"bench/{number + 1}", number % seats, players, stacks)
    record += events
    while not isinstance(asked := turn(GAME, hand), Over):
        decisions += isinstance(asked, ToAct)
        events, hand = step(GAME, hand, _answer(asked, deck))
        record += events
    return tuple(record), decisions


_PLAYERS = ("ann", "ben", "cat", "dan", "eve", "fox")


def _answer(asked: Turn, deck: list[str]) -> Command:
    """Whoever may muck does, as pokerkit's own dealer has it."""
    match asked:
        case ToAct(seat=seat, check=check):
            to = choose(not check, asked.raise_min, asked.raise_max)
            if to > 0:
                return Raise(seat, to)
            if to == FOLD:
                return Fold(seat)
            return Check(seat) if check else Call(seat)
        case ToDeal(count=count):
            cards = tuple(deck[-count:])
            del deck[-count:]
            return Deal(cards)
        case ToShow(seat=seat):
            return Muck(seat)
        case _:
            raise AssertionError(f"hold'em asks no {type(asked).__name__}")


def pokerkit(seats: int, choose: Chooser = choose) -> Callable[[int], int]:
    """pokerkit with everything automated that is no decision of a player."""
    from pokerkit import Automation, NoLimitTexasHoldem

    game = NoLimitTexasHoldem(tuple(Automation), True, 0, (SMALL, BIG), BIG)

    def run(hands: int) -> int:
        decisions = 0
        for _ in range(hands):
            state = game(STACK, seats)
            while state.actor_index is not None:
                decisions += 1
                low = state.min_completion_betting_or_raising_to_amount
                high = state.max_completion_betting_or_raising_to_amount
                to = choose(bool(state.checking_or_calling_amount), low, high)
                if to > 0:
                    state.complete_bet_or_raise_to(to)
                elif to == FOLD:
                    state.fold()
                else:
                    state.check_or_call()
            assert not state.status
        return decisions

    return run


def texasholdem(seats: int, choose: Chooser = choose) -> Callable[[int], int]:
    """texasholdem with its own menu of moves, as ours; stacks are filled up before every hand."""
    from texasholdem.game.action_type import ActionType
    from texasholdem.game.game import TexasHoldEm

    table = TexasHoldEm(STACK, BIG, SMALL, seats)

    def run(hands: int) -> int:
        decisions = 0
        for _ in range(hands):
            for player in table.players:
                player.chips = STACK
            table.start_hand()
            while table.is_hand_running():
                decisions += 1
                moves = table.get_available_moves()
                kinds, sizes = moves.action_types, moves.raise_range
                low, high = (sizes[0], sizes[-1]) if sizes else (None, None)
                to = choose(ActionType.CALL in kinds, low, high)
                if to > 0:
                    table.take_action(ActionType.RAISE, total=to)
                elif to == FOLD:
                    table.take_action(ActionType.FOLD)
                else:
                    kind = ActionType.CALL if ActionType.CALL in kinds else ActionType.CHECK
                    table.take_action(kind)
        return decisions

    return run

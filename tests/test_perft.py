"""How many ways there are to play the first answers of a hand: one number per depth says whether
any menu anywhere has changed.

From a fixed start, with a fixed deck, every question is answered in every way that makes a
difference: fold, check, call, the smallest and the largest raise, a bid of nothing or everything,
every card swapped or none, a hand shown or mucked. A deal is no answer. Depth n counts the
positions after n answers; hands that are over stay counted.
"""

from collections.abc import Iterator
from pathlib import Path

from engine.game import Game
from engine.games import GAMES
from engine.hand import begin, step, turn
from engine.turn import (
    Bid,
    Check,
    Command,
    Deal,
    Fold,
    IllegalCommand,
    Over,
    Raise,
    ToAct,
    ToBid,
    ToDeal,
    ToDraw,
    ToSwap,
)
from events.cards import DECK
from events.state import Hand
from tests.hands import NAMES, answered, every_game, offered

TABLE = Path(__file__).parent / "golden" / "perft.txt"
DEPTH = 6
STACKS = (120, 70, 200)


def test_the_table_has_every_ruleset_and_no_other() -> None:
    assert list(GAMES) == list(dict.fromkeys(line.split()[0] for line in _stored()))


@every_game
def test_as_many_ways_to_play_as_before(game: Game, accept: bool) -> None:
    counted = [_row(game, seats) for seats in (2, 3) if game.seats_min <= seats <= game.seats_max]
    if accept:
        others = [line for line in _stored() if line.split()[0] != game.name]
        known = [line for line in (*others, *counted) if line.split()[0] in GAMES]
        known.sort(key=lambda line: list(GAMES).index(line.split()[0]))
        TABLE.write_text("".join(f"{line}\n" for line in known))
    assert [line for line in _stored() if line.split()[0] == game.name] == counted


def _stored() -> list[str]:
    return TABLE.read_text().splitlines() if TABLE.exists() else []


def _row(game: Game, seats: int) -> str:
    """`auction-2024  2 seats  3 7 19 ...`."""
    _, hand = begin(game, "perft/1", 0, NAMES[:seats], STACKS[:seats])
    counts = []
    line = [(hand, DECK[::-1])]
    for _ in range(DEPTH):
        line = [after for hand, pack in line for after in _answered(game, hand, pack)]
        counts.append(len(line))
    return f"{game.name:24} {seats} seats {''.join(f'{count:7}' for count in counts)}"


def _answered(
    game: Game, hand: Hand, pack: tuple[str, ...]
) -> Iterator[tuple[Hand, tuple[str, ...]]]:
    """The positions after one more answer; what is dealt before it is dealt from the top."""
    if hand.voided:
        yield hand, pack
        return
    while isinstance(asked := turn(game, hand), ToDeal):
        hand = step(game, hand, Deal(pack[: asked.count]))[1]
        pack = pack[asked.count :]
    if isinstance(asked, ToDraw):
        drawn = offered(game, hand, asked, pack)[0]
        yield from _answered(game, step(game, hand, drawn)[1], pack)
        return
    if isinstance(asked, Over):
        yield hand, pack
        return
    used = len(asked.at_risk) if isinstance(asked, ToSwap) else 0
    for command in _menu(game, hand, pack):
        yield answered(game, hand, command)[1], pack[used:]


def _menu(game: Game, hand: Hand, pack: tuple[str, ...]) -> tuple[Command, ...]:
    """What is offered, without middle sizes and without defaults that do the same."""
    asked = turn(game, hand)
    menu = tuple(c for c in offered(game, hand, asked, pack) if _is_chosen(c))
    if isinstance(asked, ToAct):
        edges = (asked.raise_min, asked.raise_max)
        return tuple(c for c in menu if not isinstance(c, Raise) or c.to in edges)
    if isinstance(asked, ToBid):
        return tuple(c for c in menu if isinstance(c, Bid) and c.sealed and _is_edge(c, asked))
    return menu


def _is_chosen(command: Command) -> bool:
    return getattr(command, "origin", "chosen") == "chosen"


def _is_edge(bid: Bid, asked: ToBid) -> bool:
    return bid.amount in (0, asked.bid_max)


def test_a_count_is_what_a_reader_can_check_by_hand() -> None:
    """Seat 0 may fold, call, raise to 4 or to 70: four ways, and no other answer is taken."""
    game = GAMES["auction-2024"]
    _, hand = begin(game, "perft/1", 0, NAMES[:2], STACKS[:2])
    hand = step(game, hand, Deal(DECK[:4]))[1]
    menu = _menu(game, hand, ())
    assert {"Fold", "Call", "Raise"} == {type(command).__name__ for command in menu}
    assert 4 == len(menu)
    for refused in (Check(0), Raise(0, 3), Raise(0, 71), Fold(1)):
        try:
            step(game, hand, refused)
        except IllegalCommand:
            continue
        raise AssertionError(f"{refused} was taken")

"""Whole hands, from the first blind to the last chip, between bots and a deck."""

from collections.abc import Iterator

from dealer.bots import Bot, RandomBot
from dealer.deck import Deck
from engine.game import Game
from engine.hand import begin, step, turn
from engine.table import Table, deal_in, moved, settled, sit, winner
from engine.turn import Command, Over, ToDeal, ToSwap, Turn
from events.state import Hand
from events.types import Event, Events


def play_hand(
    game: Game,
    hand_id: str,
    button: int,
    players: tuple[str, ...],
    stacks: tuple[int, ...],
    deck: Deck,
    bots: tuple[Bot, ...],
) -> tuple[Events, Hand]:
    """One hand: the record it leaves, and the hand it adds up to."""
    new, hand = begin(game, hand_id, button, players, stacks)
    events: list[Event] = list(new)
    while not isinstance(asked := turn(game, hand), Over):
        new, hand = step(game, hand, _answer(asked, game, hand, deck, bots))
        events.extend(new)
    return tuple(events), hand


def play(
    game: Game, match: str, hands: int, seed: str, seats: int | None = None
) -> Iterator[Events]:
    """Seeded hands between random bots at one table; when one has won it all, a new one is set."""
    count = seats or min(game.seats_max, 6)
    table = fresh = _table(game, count)
    for number in range(1, hands + 1):
        table = moved(game, table)
        seating = deal_in(game, table)
        bots = tuple(RandomBot(f"{seed}/{number}/{player}") for player in seating.players)
        record, hand = play_hand(
            game,
            f"{match}/{number}",
            seating.button,
            seating.players,
            seating.stacks,
            Deck(f"{seed}/{number}"),
            bots,
        )
        yield record
        table = settled(game, table, seating, hand)
        if winner(table):
            table = fresh


def _table(game: Game, count: int) -> Table:
    table = Table((None,) * count)
    for chair in range(count):
        table = sit(table, chair, f"random-{chair}", game.stack, posts=False)
    return table


def _answer(asked: Turn, game: Game, hand: Hand, deck: Deck, bots: tuple[Bot, ...]) -> Command:
    """Chance answers for the deck, a bot for its seat."""
    match asked:
        case ToDeal():
            return deck.deal(asked)
        case ToSwap():
            return deck.swap(asked)
        case Over():
            raise AssertionError("nobody is asked")
        case _:
            return bots[asked.seat].answer(asked, game, hand)

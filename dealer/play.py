"""Whole hands, from the first blind to the last chip, between bots and a deck."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from dealer.bots import BOTS, Bot, Histories, look
from dealer.deck import Deck, Decks, SeededDecks
from engine.game import Game
from engine.hand import begin, step, turn
from engine.table import (
    Seating,
    Table,
    deal_in,
    has_all,
    is_freeze_out,
    moved,
    set_anew,
    settled,
    sit,
)
from engine.turn import Command, Over, ToDeal, ToSwap
from events.state import Hand
from events.types import Event, Events


class Plan(Struct, frozen=True):
    """A match to be played: by which rules, by which bots, how many hands at most.

    `deals`: how often each deck is dealt, the players a seat further each time (G21).
    """

    game: Game
    match: str
    hands: int
    seed: str
    bots: tuple[str, ...]
    deals: int = 1

    @property
    def players(self) -> tuple[str, ...]:
        """The players by chair: each bot's name, and its chair."""
        return tuple(player_name(bot, chair) for chair, bot in enumerate(self.bots))


def player_name(bot: str, chair: int) -> str:
    """A player: the name of his bot, and his chair."""
    return f"{bot}-{chair}"


def plan(
    game: Game,
    match: str,
    hands: int,
    seed: str,
    bots: tuple[str, ...],
    *,
    mirrored: bool = False,
) -> Plan:
    """A match; mirrored, every player holds every seat's cards once, from fixed places (G21)."""
    if mirrored:
        game = replace(game, deck_slots="fixed")
    return Plan(game, match, hands, seed, bots, len(bots) if mirrored else 1)


def play(
    game: Game, match: str, hands: int, seed: str, seats: int | None = None
) -> Iterator[Events]:
    """Seeded hands between random bots at one table, one freeze-out after the other."""
    plan = Plan(game, match, hands, seed, ("random",) * (seats or usual_seats(game)))
    decks, played = SeededDecks(seed), 0
    while played < hands:
        for record in dealt(plan, decks, played + 1):
            played += 1
            yield record


def dealt(match: Plan, decks: Decks, first: int = 1) -> Iterator[Events]:
    """The hands of a match, one after another; a freeze-out ends when one player has it all."""
    game = match.game
    table = Table((None,) * len(match.bots))
    for chair, player in enumerate(match.players):
        table = sit(table, chair, player, match.game.stack, posts=False)
    for number in range(first, match.hands + 1):
        again = (number - 1) % match.deals
        table = table if again else moved(game, table)
        seating = deal_in(game, table)
        if again:  # the same seats and stacks, every player so many seats further
            players = seating.players
            seating = replace(seating, players=(*players[-again:], *players[:-again]))
        bots = tuple(  # which depend on nothing but the seed, the hand and their names
            BOTS[match.bots[int(player.rpartition("-")[2])]](f"{match.seed}/{number}/{player}")
            for player in seating.players
        )
        hand_id = f"{match.match}/{number}"
        record, hand = play_hand(game, hand_id, seating, decks.deck(number), bots)
        yield record
        if match.deals > 1:  # stacks are made anew, and nobody leaves
            continue
        table = settled(game, table, seating, hand)
        if has_all(table):
            if is_freeze_out(game):
                return
            table = set_anew(game, table)


def play_hand(
    game: Game, hand_id: str, seating: Seating, deck: Deck, bots: tuple[Bot, ...]
) -> tuple[Events, Hand]:
    """Play one hand; return its record, and the hand that the record adds up to."""
    new, hand = begin(
        game,
        hand_id,
        seating.button,
        seating.players,
        seating.stacks,
        seating.posts,
        seating.dead_small,
    )
    events: list[Event] = list(new)
    histories = Histories(events)
    while not isinstance(asked := turn(game, hand), Over):
        command: Command
        match asked:
            case ToDeal():
                command = deck.deal(asked)
            case ToSwap():
                command = deck.swap(asked)
            case _:
                seen = look(game, hand, asked, histories.of(asked.seat))
                command = bots[asked.seat].choose(seen)
        new, hand = step(game, hand, command)
        events.extend(new)
    return tuple(events), hand


def usual_seats(game: Game) -> int:
    """As many as the game seats, up to six if that is enough."""
    return max(game.seats_min, min(game.seats_max, 6))


def last_standing(hand: Hand) -> str | None:
    """The player who holds every chip after a hand, if one does."""
    left = [seat for seat, stack in enumerate(hand.stacks) if stack]
    return hand.start.players[left[0]] if len(left) == 1 else None

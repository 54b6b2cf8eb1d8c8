"""What a match over the wire is to be, and in which order its hands are played."""

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game


class Plan(Struct, frozen=True):
    """A match to be played: by which rules, under which name, by whom, how many hands.

    Each deck is dealt once, or twice with the seats exchanged (G21): then hands 2n - 1 and 2n have
    one deck, and no player meets a deck twice, because each copy is played in another leg.
    """

    game: Game
    match: str
    players: tuple[str, str]
    hands: int
    mirrored: bool = False
    open_bids: bool = False

    @property
    def deals(self) -> int:
        """How many hands have the same deck."""
        return 2 if self.mirrored else 1

    @property
    def legs(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the hands in the order of play; the bots begin every leg anew.

        In odd hands the first player deals, and in either leg they take turns: 1 4 5 8, 2 3 6 7.
        """
        numbers = range(1, self.hands + 1)
        if not self.mirrored:
            return (tuple(numbers),)
        first = tuple(number for number in numbers if number % 4 < 2)
        return first, tuple(number for number in numbers if number % 4 > 1)


def plan(
    game: Game,
    match: str,
    players: tuple[str, str],
    hands: int,
    *,
    mirrored: bool = False,
    open_bids: bool = False,
) -> Plan:
    """A match; mirrored, its cards come from fixed places in the deck, and its hands in pairs."""
    if mirrored and hands % 2:
        raise ValueError(f"each deck is dealt twice: {hands} hands are no pairs")
    rules = replace(game, deck_slots="fixed") if mirrored else game
    return Plan(rules, match, players, hands, mirrored, open_bids)

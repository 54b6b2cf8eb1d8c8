"""What a match over the wire is to be, and in which order its hands are played."""

from msgspec import Struct
from msgspec.structs import replace

from dealer.wire.words import SPOKEN
from engine.catalogue import CATALOGUE
from engine.game import Game
from engine.parameters import first
from engine.steps import Auction


class WirePlan(Struct, frozen=True):
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
) -> WirePlan:
    """A match; mirrored, its cards come from fixed places in the deck, and its hands in pairs."""
    if sentence := unspoken(game):
        raise ValueError(sentence)
    if open_bids and game.bids == "sealed" and first(game, Auction) is not None:
        raise ValueError(f"{game.name} has sealed bids: none of them is shown early")
    if mirrored and game.burn:
        raise ValueError(f"{game.name} burns cards: in a mirrored deck every card has its place")
    if mirrored and hands % 2:
        raise ValueError(f"each deck is dealt twice: {hands} hands are no pairs")
    rules = replace(game, deck_slots="fixed") if mirrored else game
    return WirePlan(rules, match, players, hands, mirrored, open_bids)


# What the protocol never says: amounts, who is paid, which card comes from where.
_FREE = {"name", "document", "script", "stack", "hands", "partner", "readings", "bids"} | {
    name
    for name, policy in CATALOGUE.items()
    if policy.kind in ("pay", "rank", "deal") and name != "announce"
}


def unspoken(game: Game) -> str | None:
    """Why bots of the MIT protocol cannot play by these rules; None if they can."""
    kinds = list(map(type, game.script))
    for spoken in SPOKEN:
        if kinds == list(map(type, spoken.script)):
            for name in Game.__struct_fields__:
                if name not in _FREE and getattr(game, name) != getattr(spoken, name):
                    must = f"its {name} must be as in {spoken.name}"
                    return f"{game.name} is not played over the wire: {must}"
            return None
    names = " or ".join(spoken.name for spoken in SPOKEN)
    return f"{game.name} is not played over the wire: its script is not that of {names}"

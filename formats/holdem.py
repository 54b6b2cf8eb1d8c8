"""What a hand must be so that a format of plain hold'em can tell it; the sentence if it is not."""

from engine.game import Game
from engine.steps import Betting, Blinds, DealBoard, DealHole, Posts, Showdown
from events.types import (
    BlindPosted,
    Claimed,
    Disconnected,
    Events,
    Faulted,
    HandEnded,
    HandVoided,
    Reconnected,
    TimedOut,
)

_PLAIN = {
    "first_to_act": "left_of_button",
    "heads_up_blinds": "button_small",
    "ranking": "standard",
    "straights": "standard",
    "hole_min": 0,
    "announce": "cards_speak",
    "split": "side_pots",
    "showdown_tie": "split",
    "uncalled": "returned",
}
_STREETS = (DealHole, Betting, DealBoard, Betting, DealBoard, Betting, DealBoard, Betting, Showdown)


class Inexpressible(ValueError):
    """What a format has no words for; in one sentence."""


def check(game: Game, record: Events, name: str, *, site: bool = False) -> None:
    """The hand is hold'em between ordinary rules, whole, and played without mishap; formats of
    sites also know a pot limit, and dead blinds."""
    forced, *streets = game.script
    if not isinstance(forced, Blinds | Posts) or tuple(map(type, streets)) != _STREETS:
        raise Inexpressible(f"{name} has no code for {game.name}: its sequence of play is its own")
    for policy, value in _PLAIN.items():
        if getattr(game, policy) != value:
            policy_value = f"{policy} {getattr(game, policy)}"
            raise Inexpressible(f"{name} has no code for {game.name}: it plays with {policy_value}")
    if game.sizing == "pot_limit" and not site:
        raise Inexpressible(f"{name} has no code for pot-limit hold'em")
    if not isinstance(record[-1], HandEnded | Faulted):
        raise Inexpressible(f"{name} tells whole hands: this one is not over")
    for event in record:
        match event:
            case HandVoided():
                raise Inexpressible(f"{name} has no word for a hand that was called off")
            case Claimed():
                raise Inexpressible(f"{name} has no form for a claim that its own chips refute")
            case TimedOut(all_in=True):
                raise Inexpressible(
                    f"{name} has no word for a seat all-in because its time ran out"
                )
            case TimedOut() | Disconnected() | Reconnected() | Faulted():
                kind = type(event).__name__
                raise Inexpressible(
                    f"{name} has no word for clocks, connections and errors: {kind}"
                )
            case BlindPosted(kind="dead") if not (site or isinstance(game.script[0], Posts)):
                raise Inexpressible(f"{name} has no word for a dead blind")


def bet_sizes(game: Game, name: str) -> tuple[int, int]:
    """The least bet of the first two rounds, and of the last two."""
    low, also_low, high, also_high = [s.size for s in game.script if isinstance(s, Betting)]
    if (low, high) != (also_low, also_high):
        raise Inexpressible(f"{name} knows one bet size for two rounds, one for the last two")
    return low, high

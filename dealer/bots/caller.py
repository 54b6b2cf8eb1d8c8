"""Never folds and never raises: the yardstick that every other bot has to beat."""

from dealer.bots.bot import BuiltIn, stay
from dealer.bots.seen import Seen
from engine.turn import Command, ToAct


class CallerBot(BuiltIn):
    """Checks or calls whatever comes, and bids nothing."""

    def __init__(self, seed: str) -> None:
        """It leaves nothing to chance, and needs no seed."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        return stay(asked)

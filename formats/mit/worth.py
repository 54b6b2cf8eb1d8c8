"""The footer of the newest engines: what the bets of each street were worth to each player.

Their own odd count, kept as it is. A player's stake is divided at certain moments into the parts
"preflop", "flop" and "turn"; a hand that he won adds each part to his total, a lost one takes it
away. The engine of 2022 divides when a street is dealt. That of 2024 divides whenever it asks
somebody, so there "preflop" holds the flop's bets too, and "turn", if no turn came, earlier ones.
Players of one name share one count.
"""

from events.state import Hand
from events.types import (
    Bet,
    BidPlaced,
    BoardDealt,
    Called,
    Checked,
    Event,
    Folded,
    Raised,
)

_PARTS = ("preflop", "flop", "turn")
_ASKED = (Folded, Checked, Called, Bet, Raised, BidPlaced)


class Worth:
    """Totals by name over a whole log; the parts of the hand at work, by seat."""

    def __init__(self, when_asked: bool) -> None:
        self._when_asked = when_asked
        self._totals: dict[str, list[int]] = {}
        self._parts = [[0, 0, 0], [0, 0, 0]]

    def event(self, before: Hand, event: Event) -> None:
        """A moment at which stakes are divided, or none."""
        board = len(before.board)
        if self._when_asked and isinstance(event, _ASKED):
            self._divide(before, {3: 0, 4: 1}.get(board, 2))
        if not self._when_asked and isinstance(event, BoardDealt):
            self._divide(before, {0: 0, 3: 1, 4: 2}[board])

    def _divide(self, hand: Hand, part: int) -> None:
        for seat, parts in enumerate(self._parts):
            stake = hand.start.stacks[seat] - hand.stacks[seat]
            parts[part] = stake - sum(parts[:part])

    def ended(self, names: tuple[str, ...], nets: list[int]) -> None:
        """The hand is over: what was won or lost counts."""
        for name, net, parts in zip(names, nets, self._parts, strict=True):
            sign = (net > 0) - (net < 0)
            total = self._totals.setdefault(name, [0, 0, 0])
            for part, stake in enumerate(parts):
                total[part] += sign * stake
        self._parts = [[0, 0, 0], [0, 0, 0]]

    def footer(self, names: tuple[str, ...]) -> str:
        """Three lines a player."""
        return "".join(
            f"\n{name} {part} bets EV: {total}"
            for name in names
            for part, total in zip(_PARTS, self._totals.get(name, (0, 0, 0)), strict=True)
        )

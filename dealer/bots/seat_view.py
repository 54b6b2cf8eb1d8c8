"""A seat's view of a hand when it must act: nothing but what that seat may see.

A `Seen` holds no `Hand` and no stored event, so a bot cannot reach a hidden card or a sealed bid:
what happened passes `events.views` first, and the rest is on the table for everybody.
"""

from collections.abc import Sequence

from msgspec import Struct

from engine.game import Game
from engine.turn import ToAct, ToBid, ToShow, ToStraddle, ToToss
from events import views
from events.cards import Cards
from events.state import Hand, Standing
from events.types import Event

SeatTurn = ToAct | ToBid | ToToss | ToShow | ToStraddle
"""Every question that is not chance's."""


class Seen(Struct, frozen=True):
    """One seat's view of the moment at which it is asked.

    `bets` are those of this round and `raises` how many bets and raises made them; `shown` are
    the hands turned up so far, seat by seat; `history` is the record as this seat may see it.
    """

    game: Game
    asked: SeatTurn
    hand: str
    seat: int
    button: int
    players: tuple[str, ...]
    street: str
    hole: Cards
    board: Cards
    shown: tuple[Cards, ...]
    pot: int
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    paid: tuple[int, ...]
    standing: tuple[Standing, ...]
    raises: int
    history: tuple[views.Seen, ...]

    @property
    def rivals(self) -> tuple[int, ...]:
        """The other seats that have not folded."""
        seats = enumerate(self.standing)
        return tuple(seat for seat, standing in seats if standing != "folded" and seat != self.seat)


class SeatHistories:
    """Each seat's view of a growing record; no event is viewed twice for one seat."""

    def __init__(self, record: Sequence[Event]) -> None:
        self._record = record
        self._seen: dict[int, tuple[int, tuple[views.Seen, ...]]] = {}

    def of(self, seat: int) -> tuple[views.Seen, ...]:
        """The events so far, as this seat may see them."""
        known, seen = self._seen.get(seat, (0, ()))
        if known < len(self._record):
            seen = (*seen, *views.see(self._record[known:], views.Seated(seat)))
            self._seen[seat] = len(self._record), seen
        return seen


def seat_view(game: Game, hand: Hand, question: SeatTurn, history: tuple[views.Seen, ...]) -> Seen:
    """The view of the seat that is asked: its cards, the board, pot, stacks and history."""
    seat, betting = question.seat, hand.round
    seats = range(len(hand.stacks))
    return Seen(
        game=game,
        asked=question,
        hand=hand.start.hand,
        seat=seat,
        button=hand.start.button,
        players=hand.start.players,
        street=hand.street,
        hole=hand.hole[seat],
        board=hand.board,
        shown=tuple(hand.hole[s] if s in hand.showing.shown else () for s in seats),
        pot=hand.pot,
        stacks=hand.stacks,
        bets=betting.bets if betting else (0,) * len(seats),
        paid=hand.paid,
        standing=hand.standing,
        raises=len(betting.raisers) if betting else 0,
        history=history,
    )

"""What seats put in before anybody chooses: antes and blinds."""

from collections.abc import Iterator

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise
from engine.turn import Command, IllegalCommand, Turn
from events.state import Hand
from events.types import AntePosted, BlindPosted, Event, Events, StepEntered
from events.values import BlindKind


class Unasked(Struct, frozen=True):
    """A step that happens by itself, on entering: nobody is asked, so nobody can answer."""

    def done(self, game: Policies, hand: Hand) -> bool:
        return True

    def turn(self, game: Policies, hand: Hand) -> Turn:
        raise AssertionError("this step asks nobody")

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        raise IllegalCommand("nobody is asked here: what is forced is put in by itself")

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


class Antes(Unasked, frozen=True, tag=True):
    """Every seat puts in its ante, or what it has (U7)."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return _antes(hand, self.amount)


class Blinds(Unasked, frozen=True, tag=True):
    """Antes of every seat, then a small and a big blind; a short seat posts what it has."""

    small: int
    big: int
    ante: int = 0

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Antes from the left of the button, then the two blinds."""
        antes = _antes(hand, self.ante) if self.ante else ()
        left = list(hand.stacks)
        for ante in antes:
            left[ante.seat] -= ante.amount
        small, big = _posters(game, hand)
        blinds = []
        if small is not None and self.small and left[small]:
            blinds.append(posted(game, small, self.small, left[small], "small"))
        if self.big and (left[big] or game.short_blind == "full"):  # owed even to an empty seat
            blinds.append(posted(game, big, self.big, left[big], "big"))
        return (*antes, *blinds)


class Posts(Unasked, frozen=True, tag=True):
    """What a foreign file lists for each position, first the seat left of the button.

    Antes, then blinds, then straddles; below nothing: a newcomer's post. Dead antes are nobody's
    stake: a big blind that antes for the whole table gets none of it back (G6).
    """

    antes: tuple[int, ...]
    blinds: tuple[int, ...]
    dead: bool

    @property
    def small(self) -> int:
        """The smaller of the two blinds; nothing, if only one is posted."""
        return max((0, *sorted(blind for blind in self.blinds if blind > 0)[:2][:-1]))

    @property
    def big(self) -> int:
        """The larger of the two blinds, not the straddles above it."""
        return max((0, *sorted(blind for blind in self.blinds if blind > 0)[:2]))

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """The step announces itself, so that nothing here is taken for the post of a seat."""
        seats = clockwise(hand, hand.start.button)
        for listed in (self.antes, self.blinds):
            if len(listed) != len(seats):
                raise IllegalCommand(f"forced bets of {len(listed)} seats, and {len(seats)} play")
        left = list(hand.stacks)
        events: list[Event] = [StepEntered(at, "posts")]
        for seat, amount, kind in self._owed(seats):
            owed = game.short_blind == "full" and kind in ("big", "straddle")
            if amount and (left[seat] or owed):
                event = self._event(game, seat, amount, left[seat], kind)
                left[seat] -= event.amount
                events.append(event)
        return tuple(events)

    def _event(
        self, game: Policies, seat: int, amount: int, stack: int, kind: BlindKind | None
    ) -> AntePosted | BlindPosted:
        if kind is not None:
            return posted(game, seat, amount, stack, kind)
        paid = min(amount, stack)
        return BlindPosted(seat, paid, paid, "dead") if self.dead else AntePosted(seat, paid)

    def _owed(self, seats: tuple[int, ...]) -> Iterator[tuple[int, int, BlindKind | None]]:
        """Who owes how much of what, in order; an ante has no kind."""
        for seat, ante in zip(seats, self.antes, strict=True):
            yield seat, ante, None
        blinds = sorted((b, at) for at, b in enumerate(self.blinds) if b > 0)
        kinds: tuple[BlindKind, ...] = ("small", "big") if len(blinds) > 1 else ("big",)
        for place, (blind, at) in enumerate(blinds):
            yield seats[at], blind, kinds[place] if place < len(kinds) else "straddle"
        for at, blind in enumerate(self.blinds):
            if blind < 0:
                yield seats[at], -blind, "post"


def posted(game: Policies, seat: int, blind: int, stack: int, kind: BlindKind) -> BlindPosted:
    """A blind cut by the stack; the others owe it in full, or what was really posted (G13)."""
    amount = min(blind, stack)
    return BlindPosted(seat, amount, blind if game.short_blind == "full" else amount, kind)


def _antes(hand: Hand, ante: int) -> tuple[AntePosted, ...]:
    """From the left of the button, each as much of the ante as it has."""
    order = clockwise(hand, hand.start.button)
    return tuple(AntePosted(seat, min(ante, hand.stacks[seat])) for seat in order)


def _posters(game: Policies, hand: Hand) -> tuple[int | None, int]:
    """Left of the button and the next; of two players the button posts the small one (G14)."""
    order = clockwise(hand, hand.start.button)
    if hand.start.dead_small:
        return None, order[0]
    if len(order) == 2 and game.heads_up_blinds == "button_small":
        return order[1], order[0]
    return order[0], order[1]

"""The cards of a rule page: what chance answers when nobody shuffles."""

import msgspec

from engine import turn as t
from events.cards import DECK, cards


class Chance:
    """Cards as the page has them: by seat and for the board, or in the order of the deck."""

    def __init__(self) -> None:
        self.named: dict[str, list[str]] = {}
        self.deck = list(DECK)
        self.order = list(DECK)
        self.swaps: list[list[str]] = []
        self.bounties = ["2", "2"]

    def told(self, kind: str, rest: str) -> None:
        if kind == "bounties":
            self.bounties = rest.split()
        elif kind == "swaps":
            self.swaps = [group.split() for group in rest.split(" / ")]
        elif kind == "deal":
            for part in rest.split(", "):
                whose, held = part.split(": ")
                self.named[whose] = self._taken(held)
        else:
            top, _, bottom = rest.partition("...")
            self.deck = [*self._taken(top), *self._without(bottom), *cards(bottom)]
        self.order = list(self.deck)

    def answer(self, asked: t.ToDeal | t.ToSwap | t.ToDraw) -> t.Deal | t.Swap | t.Draw:
        if isinstance(asked, t.ToDraw):
            return msgspec.convert({"ranks": self.bounties}, t.Draw)
        if isinstance(asked, t.ToSwap):
            group = self.swaps.pop(0) if self.swaps else ["-"] * len(asked.at_risk)
            new = (self._new(word, asked.slots[at:]) for at, word in enumerate(group))
            return t.Swap(tuple(new))
        del self.deck[: asked.burn]
        to = [str(seat) for seat in asked.to] or ["board"] * asked.count
        end = 0 if asked.place == "top" else -1
        given = (self._next(whose, asked.slots[at:], end) for at, whose in enumerate(to))
        return t.Deal(tuple(given))

    def _new(self, word: str, slots: tuple[int, ...]) -> str | None:
        if word == "new":
            return self._draw(slots, 0)
        return None if word == "-" else word

    def _next(self, whose: str, slots: tuple[int, ...], end: int) -> str:
        return self.named[whose].pop(0) if self.named.get(whose) else self._draw(slots, end)

    def _draw(self, slots: tuple[int, ...], end: int) -> str:
        return self.order[slots[0]] if slots else self.deck.pop(end)

    def _taken(self, text: str) -> list[str]:
        self.deck = self._without(text)
        return list(cards(text))

    def _without(self, text: str) -> list[str]:
        return [card for card in self.deck if card not in cards(text)]

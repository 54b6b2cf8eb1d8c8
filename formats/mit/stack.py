"""With how many chips the hands of a log begin: no line says it, so most hands decide."""

from msgspec import Struct, field

_USUAL = (200, 400, 800)  # stacks that engines of these games are set to
_SURE = 10  # hands that stop at a smaller stack, to each that goes over it
_NAMED = 3  # outliers that are named one by one


class Reached(Struct):
    """How many hands came to each largest total of a seat, and which of them was the first."""

    hands: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)

    def add(self, most: int, number: int, hands: int = 1) -> None:
        """Some more hands in which a seat put in so much at most."""
        self.hands[most] = self.hands.get(most, 0) + hands
        self.first.setdefault(most, number)

    def at(self, stack: int) -> int:
        """The hands that stop at exactly so much."""
        return self.hands.get(stack, 0)

    def over(self, stack: int) -> int:
        """The hands that need more."""
        return sum(hands for most, hands in self.hands.items() if most > stack)

    def stack(self, usual: int) -> tuple[int, str]:
        """The stack that most hands speak for, and why it is that one.

        It is the usual one unless two hands or more, and more than stop at it, go over it, or
        unless they stop at a smaller one that engines use, ten for each that goes on.
        """
        for stack in _USUAL:
            if stack < usual and self.at(stack) >= _SURE * max(1, self.over(stack)):
                return stack, f"where {_hands(self.at(stack))} stop, less than the usual {usual}"
        if self._holds(usual):
            return usual, "the usual one of that engine"
        often = sorted(most for most, hands in self.hands.items() if hands > 1)
        larger = [stack for stack in (*_USUAL, *often, max(self.hands)) if stack > usual]
        stack = next(filter(self._holds, larger))
        return stack, f"because {_hands(self.over(usual))} put in more than the usual {usual}"

    def _holds(self, stack: int) -> bool:
        return self.over(stack) <= max(1, self.at(stack))

    def outliers(self, stack: int) -> str:
        """The hands that put in more than this stack, in one sentence; empty if there are none."""
        over = sorted(most for most in self.hands if most > stack)
        if not over:
            return ""
        first = ", ".join(f"{most} in round #{self.first[most]}" for most in over[:_NAMED])
        more = ", ..." if len(over) > _NAMED else ""
        return f"{_hands(self.over(stack))} put in more than that: {first}{more}"


def _hands(count: int) -> str:
    return f"{count} hand{'s' * (count != 1)}"

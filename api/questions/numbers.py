"""How numbers about players are spelled for people: a value, its interval, its opportunities."""

from typing import Protocol

from api.questions.question import plain, share

FEW = 30  # opportunities below which a number is grey


class Kind(Protocol):
    """A statistic or a measure."""

    @property
    def kind(self) -> str: ...


def value_of(it: Kind, value: float | None) -> str:
    """61.3 %, 2.33, -7.09; nothing without an opportunity."""
    return share(value) if it.kind == "share" else plain(value)


def between(
    it: Kind, low: float | None, high: float | None, to: str = " - ", sign: str = ""
) -> str:
    """58.2 - 64.3"""
    if low is None or high is None:
        return ""
    scale, digits = (100, 1) if it.kind == "share" else (1, 2)
    return to.join(f"{scale * end:{sign},.{digits}f}" for end in (low, high))


def counts(k: int | None, n: int) -> str:
    """613/1000, or how often there was a number."""
    return f"{n}" if k is None else f"{k}/{n}"

"""How much a run of the tests tries: `quick` as one works, `ci` for a change, `slow` for all.

`./mr test --profile ci` names one. Whatever has a size asks here for it: tests that draw at random,
tests beside another implementation, tests that spoil, mutate or read whole corpora, Hypothesis.
`quick` holds every behaviour on a few cases, and the others on more of them. A test marked `ci` or
`slow` runs from that profile on, and something cheaper holds what it holds before.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

PROFILES = ("quick", "ci", "slow")
VARIABLE = "MUCKRAKE_TESTS_PROFILE"  # the processes that a run starts read it
MARKED = {"quick": "not ci and not slow", "ci": "not slow", "slow": ""}  # what `-m` is otherwise

Size = TypeVar("Size")
Other = TypeVar("Other")


def chosen() -> str:
    """The profile of this run."""
    name = os.environ.get(VARIABLE) or PROFILES[0]
    if name not in PROFILES:
        raise ValueError(f"{VARIABLE} is {name!r}: the profiles are {', '.join(PROFILES)}")
    return name


def sized(quick: Size, ci: Size, slow: Size | None = None) -> Size:
    """What this profile tries; `slow` tries what `ci` does, unless it is given more."""
    return {"quick": quick, "ci": ci, "slow": ci if slow is None else slow}[chosen()]


def in_turn(every: Iterable[Size], others: Sequence[Other]) -> list[tuple[Size, Other]]:
    """Each with one of the others, in turn; in `ci` with the one after it, in `slow` with all."""
    count = len(others)
    return [
        (one, other)
        for number, one in enumerate(every)
        for other in sized([others[number % count]], [others[(number + 1) % count]], [*others])
    ]


def examples(quick: int, ci: int | None = None) -> settings:
    """Hypothesis with so many examples; `ci` tries twice as many, unless told, and `slow` eight."""
    return settings(max_examples=sized(quick, ci or 2 * quick, 8 * quick))


def tell_hypothesis() -> None:
    """A machine that says it is one (`CI`) draws the same examples every time."""
    settings.register_profile(
        "muckrake",
        deadline=None,
        max_examples=sized(10, 15, 100),
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        derandomize=bool(os.environ.get("CI")),
    )
    settings.load_profile("muckrake")

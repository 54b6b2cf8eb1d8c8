"""A report on an opponent in JSON."""

from typing import NotRequired, TypedDict

from api.questions.numbers import Again, Drawn, Numbers
from events.types import FaultKind


class Strength(TypedDict):
    """Where cards are weak and strong, and of how many acts their strength was counted."""

    weak: float
    strong: float
    acts: int
    counted: int


class LeadTold(TypedDict):
    """A tendency: his share, the field's, by how much they differ, and hands to look at."""

    title: str
    look: str
    value: float
    k: int
    n: int
    field_value: float
    field_k: int
    field_n: int
    difference: float
    low: float
    high: float
    weight: float
    hands: list[str]


class LeadsTold(TypedDict):
    """The tendencies, the heaviest first, and how many looks were compared for them."""

    compared: int
    found: list[LeadTold]


class First(TypedDict):
    """What he does first with a tenth of all cards, 1 the weakest."""

    tenth: int
    hands: int
    folds: int
    checks: int
    calls: int
    raises: int


class Sized(TypedDict):
    """Bets of up to so many hundredths of the pot; null: more than any that is named."""

    street: str
    up_to: int | None
    bets: int


class Ended(TypedDict):
    """What hands came to that ended so."""

    ending: str
    hands: int
    net: float | None
    net_mean: float | None
    bet_min: float | None
    bet_max: float | None
    low: float | None
    high: float | None
    drawn_low: float | None
    drawn_high: float | None
    unit: str | None


class Replies(TypedDict):
    """Replies of one kind that could not be used, and since which hand."""

    kind: FaultKind
    step: str
    suggested: str | None
    faults: int
    hands: int
    since: str


class PartTold(TypedDict):
    """Looks, numbers and statistics by name, and tables, of all hands or of a part of them."""

    hands: int
    known: int
    looks: dict[str, Numbers]
    numbers: dict[str, Drawn]
    statistics: dict[str, Numbers]
    mix: list[First]
    sizes: list[Sized]
    ends: list[Ended]
    faults: list[Replies]
    position: NotRequired[str]
    window: NotRequired[str]
    match: NotRequired[str]
    game: NotRequired[str]
    locked: NotRequired[str]


class Lock(TypedDict):
    """A match that somebody had won before its end: since when, and when he only folded."""

    match: str
    player: str
    number: int
    lead: float
    cost: float
    folds_from: int | None
    unit: str | None


class FaultTold(TypedDict):
    """A reply that could not be used, what was asked, and what was played instead."""

    hand: str
    match: str
    number: int
    game: str
    player: str
    step: str
    asked: str | None
    reply: str | None
    kind: FaultKind
    played: str | None
    suggested: str | None
    cause: str | None
    put_in: float
    net: float
    unit: str | None


Opponent = TypedDict(
    "Opponent",
    {
        "schema": str,
        "as": str,
        "unit": str | None,
        "player": str,
        "vs": str | None,
        "again": Again,
        "hands": int,
        "known": int,
        "strength": Strength,
        "leads": LeadsTold,
        "parts": list[PartTold],
        "locks": list[Lock],
        "faults": list[FaultTold],
    },
)

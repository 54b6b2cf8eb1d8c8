"""Matches, rulesets and the signed tree in JSON, and whether what was dealt was chance."""

from typing import Any, Literal, TypedDict

from analytics.fairness.dealing import Test
from api.questions.shapes.hands import Page
from engine.game import Reading
from engine.steps import AnyStep
from events.types import Dealing, Disclosure
from events.views import Hidden


class MatchRow(TypedDict):
    """A match of a list; nulls where it was never announced.

    `nets` count what `unit` says, and are null over several moneys. `leader` is ahead in a match
    that nobody has won; `places` are those of `players`, in order.
    """

    match: str
    game: str | None
    ruleset: str | None
    players: list[str] | None
    dealing: Dealing | None
    disclosure: Disclosure | None
    hands: int
    left_out: int
    first: str | None
    last: str | None
    nets: list[int] | None
    unit: str | None
    status: str
    ended: bool
    winner: str | None
    leader: str | None
    draw: bool
    places: list[int] | None


class Matches(Page):
    """The matches."""

    data: list[MatchRow]


class Commitment(TypedDict):
    """What the dealer was bound to before so many hands."""

    commitment: str
    hands: int


class Nonce(TypedDict):
    """What a player gave to the shuffle, and who drew it: of old matches nobody knows."""

    player: str
    nonce: str
    drawn_by: Literal["player", "dealer"] | None


class Source(TypedDict):
    """What file a match was imported from."""

    format: str
    dialect: str


class Announced(TypedDict):
    """What a match's own records tell of it; `withheld`: its hands are told to auditors alone."""

    sealed_bids: bool | None
    deals: int | None
    seed: str | Hidden | None
    commitments: list[Commitment]
    nonces: list[Nonce]
    decks_opened: int | None
    source: Source | None
    open: bool
    withheld: bool
    announced: str | None


class MatchTold(MatchRow, Announced):
    """One match; `last_seq` is where its last hand stands in the tree."""

    last_seq: int | None


class Before(TypedDict):
    """The checkpoint that was signed before the first card of the decks from this hand on."""

    first: int
    checkpoint: str


class Root(TypedDict):
    """The newest checkpoint, whether it covers a match's last hand, and those from before it."""

    match: str
    hand_seq: int
    covered: bool
    origin: str
    size: int
    root: str
    keys: list[str]
    checkpoint: str
    before: list[Before]


class Complaint(TypedDict):
    """One thing that is not as it should be, and where; a note is nothing wrong."""

    where: str
    sentence: str
    note: bool


class MatchVerified(TypedDict):
    """Every leaf of a match made again: how many were as signed for, and what was not."""

    match: str
    ok: bool
    hands: int
    leaves: int
    events: int
    digests: int
    proved: int
    balanced: int
    decks: int
    size: int
    root: str
    signed_by: list[str]
    wrong: list[Complaint]


class Size(TypedDict):
    """A size of the tree, and its root then."""

    size: int
    root: str


Consistency = TypedDict("Consistency", {"from": Size, "to": Size, "proof": list[str]})


class GameRow(TypedDict):
    """A ruleset of a list."""

    name: str
    fingerprint: str
    dealt: bool
    seats_min: int
    seats_max: int
    stack: int
    hands: int | None
    partner: str | None
    document: str


class Games(Page):
    """The rulesets."""

    data: list[GameRow]


Policy = TypedDict(
    "Policy",
    {"policy": str, "value": Any, "meaning": str, "class": str, "entries": list[str]},
)


class ParameterTold(TypedDict):
    """A parameter that may be set: its value as it is typed, and what it may be, in words."""

    parameter: str
    value: str
    may: str
    about: str


class GameTold(GameRow):
    """A ruleset in full: its script, what each of its policies means, and how else it is read."""

    script: list[AnyStep]
    policies: list[Policy]
    parameters: list[ParameterTold]
    readings: list[Reading]


class Tested(Test, frozen=True, kw_only=True):
    """A test of chance: `counted` is p among all tests made; null where there was too little."""

    verdict: str


class Decks(TypedDict):
    """Hands beside the decks that were committed to."""

    checked: int
    wrong: list[str]


class Fairness(TypedDict):
    """Whether cards, swaps and bids are as chance alone would have them."""

    schema: str
    hands: int
    dealing: dict[str, int]
    left_out: dict[str, int]
    repeated: list[str]
    decks: Decks
    tests: list[Tested]

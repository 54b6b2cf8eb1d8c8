"""JSON types of the answers about a ledger; `docs/openapi.json` is made of them.

Hands in a list, in short, event by event, frame by frame, judged, proved; matches, rulesets and the
signed tree.
"""

from typing import Any, Literal, TypedDict

from msgspec import Struct, field

from api.questions.question import Listed
from engine.game import Reading
from engine.steps import AnyStep
from engine.verdict import Reread, Verdict
from events.cards import Card
from events.views import Hidden


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


class Games(Listed, frozen=True):
    """The rulesets."""

    data: list[GameRow]


class Policy(Struct, frozen=True):
    """A policy of a ruleset: its value, what that means, and the entries that it cites."""

    policy: str
    value: Any
    meaning: str
    kind: str = field(name="class")
    entries: tuple[str, ...]


class ParameterDocument(Struct, frozen=True):
    """A parameter that may be set: its value as it is typed, and what it may be, in words."""

    parameter: str
    value: str
    may: str
    about: str


class GameDocument(Struct, frozen=True):
    """A ruleset in full: its script, what each of its policies means, and how else it is read."""

    name: str
    fingerprint: str
    dealt: bool
    document: str
    script: tuple[AnyStep, ...]
    seats_min: int
    seats_max: int
    stack: int
    hands: int | None
    partner: str | None
    readings: tuple[Reading, ...]
    policies: list[Policy]
    parameters: list[ParameterDocument]


Nets = list[int]


class Outcome(TypedDict):
    """What a hand came to so far; nulls where a record does not add up, no net before its end."""

    street: str | None
    board: list[Card] | None
    cards: list[list[Card | Hidden]] | None
    pot: int | None
    rake: int | None
    net: Nets | None
    showdown: bool | None
    void: bool | None
    winners: list[str] | None


class Summary(Outcome):
    """One hand in short. `view` is whose eyes it was seen with, `seat` where the viewer sits;
    amounts count in `unit`; `played` when it was played, as its source says it; `first` and `at`
    when it was recorded."""

    hand: str
    match: str
    number: int | None
    hand_seq: int | None
    game: str | None
    ruleset: str | None
    view: str
    seat: int | None
    open: bool
    closed: bool
    events: int
    players: list[str] | None
    button: int | None
    stacks: list[int] | None
    unit: str | None
    played: str | None
    first: str
    at: str
    line: str


class Envelope(TypedDict):
    """Where an event stands; `idx` counts those that are seen."""

    hand: str
    match: str
    number: int | None
    hand_seq: int | None
    idx: int
    at: str


class Mark(TypedDict):
    """Where something begins: a street, an auction, a swap, the showdown, the end."""

    idx: int
    mark: str
    name: str


class Pot(TypedDict):
    """Chips, and the seats that may win them."""

    amount: int
    seats: list[int]


class Award(TypedDict):
    """A pot that was paid: to whom, and how much to each."""

    pot: int
    seats: list[int]
    shares: list[int]


class BidDocument(TypedDict):
    """A bid of an auction."""

    seat: int
    amount: int | Hidden


class AuctionDocument(TypedDict):
    """The auction that is or was, with its bids in the order in which they were placed."""

    bids: list[BidDocument]
    sealed: bool
    settled: bool
    winners: list[int]
    price: int | None


class SwapDocument(TypedDict):
    """A card that was at risk."""

    slot: int
    old: Card | Hidden
    new: Card | Hidden
    changed: bool | Hidden
    street: str


class OddsDocument(TypedDict):
    """How much of a pot a hand wins on average if chance alone is left, and how often alone.

    `error` is one standard error where deals were sampled, and 0 where all were counted.
    """

    share: float
    alone: float
    error: float


class SeatDocument(TypedDict):
    """What lies before a seat; `made` is the best five in words, as far as its cards are seen.

    `odds` are by the ruleset, from cards that this viewpoint sees here or sees shown later; null
    where a hand that is in is not known.
    """

    stack: int
    bet: int
    cards: list[Card | Hidden]
    dealt: list[int]
    swaps: list[SwapDocument]
    standing: Literal["live", "all_in", "folded"]
    away: bool
    shown: bool
    mucked: bool
    made: str | None
    net: int | None
    odds: OddsDocument | None


class Facing(TypedDict):
    """What the next seat has to call: it needs a share of `call` in `of` to lose nothing by it."""

    seat: int
    call: int
    of: int


class TableDocument(TypedDict):
    """Everything that lies on the table; no pots where nobody has the hand's rules."""

    street: str
    board: list[Card]
    pot: int
    middle: int
    rake: int
    pots: list[Pot] | None
    awards: list[Award]
    next: int | None
    facing: Facing | None
    over: bool
    void: bool
    auction: AuctionDocument | None
    seats: list[SeatDocument]


class Frame(TableDocument):
    """The table after an event."""

    idx: int
    type: str
    seat: int | None
    at: str
    line: str


class Frames(TypedDict):
    """A hand ready to be drawn; `broken` says why there are fewer frames than events."""

    hand: str
    view: str
    game: str | None
    button: int | None
    big_blind: int | None
    players: list[str]
    stacks: list[int]
    marks: list[Mark]
    broken: str | None
    frames: list[Frame]


class Opening(TypedDict):
    """A field of a line, opened: its commitment is SHA-256 of nonce and value."""

    line: int
    field: str
    nonce: str
    value: Any


class Proof(TypedDict):
    """What proves a hand: its public lines, its leaf, the receipt, and openings."""

    hand: str
    view: str
    index: int
    size: int
    root: str
    keys: list[str]
    leaf: str
    receipt: str
    lines: list[str]
    openings: list[Opening]


class AuditedShare(TypedDict):
    """What a seat is paid of a pot: by the record, by the rules, before any chip is rounded
    ("375/2"), and how many odd chips are in it."""

    seat: int
    recorded: int
    decided: int
    exact: str
    odd: int


class AuditedPot(TypedDict):
    """A pot as the rules cut it. From `low` to `high` of each stake, dead chips and what hands that
    folded put in; null where a pot is no layer. `odd_chips` names the rule, if there are any."""

    pot: int
    low: int | None
    high: int | None
    amount: int
    dead: int
    folded: int | None
    eligible: list[int] | None
    rake: int
    recorded_rake: int
    odd_chips: str | None
    shares: list[AuditedShare]


class AuditedHand(TypedDict):
    """The five cards that count of a seat at the showdown, and what they are worth."""

    seat: int
    value: int
    made: str
    five: list[Card]
    announced: bool


class Audit(TypedDict):
    """A hand decided again. `basis` is the record, or what the asker sees of it."""

    hand: str
    ruleset: str
    verdict: Verdict
    assumed: list[str]
    moves: int | None
    at: int | None
    recorded: Nets | None
    decided: Nets | None
    readings: list[Reread]
    pots: list[AuditedPot] | None
    showdown: list[AuditedHand]
    basis: Literal["record", "sight"]
    view: str
    text: str

"""Hands in JSON: in a list, in short, event by event, frame by frame, judged, proved."""

from typing import Any, Literal, NotRequired, TypedDict

from engine.verdict import Reread, Verdict
from events.cards import Card
from events.views import Hidden

Nets = list[int]


class Page(TypedDict):
    """Where a list goes on: `next_cursor` is handed back as it is."""

    next_cursor: str | None
    has_more: bool


class HandRow(TypedDict):
    """A hand of a list. The line tells all of it; a verdict is null where none may be told.

    `pot` and `net` count in `unit`; `played` is when it was, as its source says it, `at` when it
    was recorded.
    """

    hand: str
    match: str
    number: int
    game: str | None
    players: list[str] | None
    board: list[Card] | None
    street: Literal["preflop", "flop", "turn", "river"] | None
    pot: int | None
    net: Nets | None
    unit: str | None
    showdown: bool | None
    void: bool | None
    winners: list[str]
    verdict: Verdict | None
    at: str
    played: str | None
    line: str


class Count(TypedDict):
    """How many hands have this value, and the filter that finds them."""

    value: str
    hands: int
    filter: str


class Facets(TypedDict):
    """How many hands pass a filter, and how they are spread; of matches and players the first."""

    hands: int
    game: list[Count]
    match: list[Count]
    player: list[Count]
    street: list[Count]
    showdown: list[Count]
    auction: list[Count]
    verdict: list[Count]


class Hands(Page):
    """The hands that a filter finds."""

    data: list[HandRow]
    facets: NotRequired[Facets]


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


class BidTold(TypedDict):
    """A bid of an auction."""

    seat: int
    amount: int | Hidden


class AuctionTold(TypedDict):
    """The auction that is or was, with its bids in the order in which they were placed."""

    bids: list[BidTold]
    sealed: bool
    settled: bool
    winners: list[int]
    price: int | None


class SwapTold(TypedDict):
    """A card that was at risk."""

    slot: int
    old: Card | Hidden
    new: Card | Hidden
    changed: bool | Hidden
    street: str


class SeatTold(TypedDict):
    """What lies before a seat; `made` is the best five in words, as far as its cards are seen."""

    stack: int
    bet: int
    cards: list[Card | Hidden]
    dealt: list[int]
    swaps: list[SwapTold]
    standing: Literal["live", "all_in", "folded"]
    away: bool
    shown: bool
    mucked: bool
    made: str | None
    net: int | None


class Table(TypedDict):
    """Everything that lies on the table; no pots where nobody has the hand's rules."""

    street: str
    board: list[Card]
    pot: int
    middle: int
    rake: int
    pots: list[Pot] | None
    awards: list[Award]
    next: int | None
    over: bool
    void: bool
    auction: AuctionTold | None
    seats: list[SeatTold]


class Frame(Table):
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

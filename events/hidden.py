"""Which field of which event is hidden, from whom, and until when.

Views, public lines and their openings, masks of SQL, files, feeds and bots take it from here; in
words it stands in docs/events.md. A field that is not declared here is an error at import, so
nothing new is shown to anybody before somebody has said who may see it.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from events import types as t
from events.ledger import Record
from events.match import (
    DeckCommitted,
    DeckOpened,
    Disclosure,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
    Tagged,
)


class Secret(NamedTuple):
    """A value that its holder sees: the player at the event's `seat`, or nobody but an auditor.

    Where the flag `sealed_by` is false every seat sees it, too; where the flag `revealed_by` is
    true everybody does. With `differ` the value is whether these two fields differ.
    """

    field: str
    holder: Literal["seat", "auditor"] = "seat"
    sealed_by: str | None = None
    revealed_by: str | None = None
    differ: tuple[str, str] | None = None

    def of(self, event: Record) -> Any:
        """The secret's value in an event."""
        if self.differ is None:
            return getattr(event, self.field)
        one, other = self.differ
        return getattr(event, one) != getattr(event, other)


class Fields(NamedTuple):
    """The fields of one kind of event that everybody sees, and those that are secrets.

    `flags` decide over secrets and are in public lines, but not shown beside them. Where a field
    has the value of `withheld`, only the event's seat may know that it happened.
    """

    clear: str
    secrets: tuple[Secret, ...] = ()
    flags: str = ""
    withheld: tuple[str, str] | None = None

    def is_withheld(self, event: Record) -> bool:
        """Whether only the event's seat may know that it happened."""
        return self.withheld is not None and getattr(event, self.withheld[0]) == self.withheld[1]

    def secret(self, field: str) -> Secret:
        """The secret of this name."""
        return next(one for one in self.secrets if one.field == field)


FIELDS: dict[type[Record], Fields] = {
    t.HandStarted: Fields("hand game ruleset button players stacks dead_small assumed played"),
    t.StepEntered: Fields("step name"),
    t.AntePosted: Fields("seat amount"),
    t.BlindPosted: Fields("seat amount to kind origin"),
    t.HoleDealt: Fields("seat", (Secret("cards"),)),
    t.BoardDealt: Fields("cards"),
    t.BountyDrawn: Fields("seat", (Secret("rank"),)),
    t.BettingOpened: Fields("step street bet size next"),
    t.Folded: Fields("seat next origin"),
    t.Checked: Fields("seat next origin"),
    t.Called: Fields("seat amount next origin"),
    t.Bet: Fields("seat amount full next origin"),
    t.Raised: Fields("seat amount to full next origin"),
    # Why a bid was made would tell its size; a bid that is open is open at the table alone (A1).
    t.BidPlaced: Fields(
        "seat sealed", (Secret("amount", sealed_by="sealed"), Secret("origin", sealed_by="sealed"))
    ),
    t.Tossed: Fields("seat slot cards origin"),
    t.AuctionSettled: Fields("seats price bids sealed"),
    t.CardSwapped: Fields(
        "seat slot",
        (
            Secret("old"),
            Secret("new"),
            Secret("changed", revealed_by="told", differ=("old", "new")),
        ),
        flags="told",
    ),
    t.UncalledReturned: Fields("seat amount"),
    t.Announced: Fields("seat cards"),
    t.Shown: Fields("seat cards"),
    t.Mucked: Fields("seat"),
    t.PotSplit: Fields("pot seats shares"),
    t.BountySettled: Fields("seat payer hit amount"),
    t.RakeTaken: Fields("pot amount"),
    t.TimedOut: Fields("seat all_in next"),
    t.Disconnected: Fields("seat"),
    t.Reconnected: Fields("seat"),
    # That a sealed bid failed would tell that it counts as 0.
    t.Faulted: Fields("seat kind where", (Secret("raw"),), withheld=("where", "bid")),
    t.Claimed: Fields("nets rake"),
    t.HandVoided: Fields("reason"),
    t.HandEnded: Fields(""),
    # A seed would tell every card to come.
    MatchStarted: Fields(
        "match game ruleset players dealing disclosure sealed_bids deals",
        (Secret("seed", "auditor"),),
    ),
    Tagged: Fields("player tag value"),
    DeckCommitted: Fields("commitment hands"),
    NonceGiven: Fields("player nonce drawn_by"),
    DeckOpened: Fields("number secret"),
    # A foreign file's own words may name a seed, a card or a reply to a bid.
    SourceNoted: Fields(
        "format dialect", (Secret("header", "auditor"), Secret("footer", "auditor"))
    ),
    MatchEnded: Fields("nets reason"),
}


def check(table: Mapping[type[Record], Fields]) -> None:
    """Refuse a table that does not say of every field of every event who sees it."""
    for kind in get_args(Record):
        declared: list[str] = []
        if kind in table:
            hidden = table[kind]
            secrets = [secret.field for secret in hidden.secrets if secret.differ is None]
            declared = [*hidden.clear.split(), *hidden.flags.split(), *secrets]
        if kind not in table or sorted(declared) != sorted(kind.__struct_fields__):
            raise TypeError(
                f"of {kind.__name__} events/hidden.py declares {', '.join(declared) or 'nothing'}:"
                f" its fields are {', '.join(kind.__struct_fields__)}"
            )


check(FIELDS)
FLAGS = tuple(dict.fromkeys(flag for hidden in FIELDS.values() for flag in hidden.flags.split()))


class Opened(NamedTuple):
    """Whether everybody sees a match's hands, and its own secrets, as an auditor does; whether its
    hands are withheld from everybody else as long as they are not open."""

    hands: bool
    secrets: bool
    withheld: bool


def opened(disclosure: Disclosure | None, *, mirrored: bool, over: bool) -> Opened:
    """What is open of a match that announced this; nothing of one that announced nothing.

    A seed tells the cards of hands to come, so not even an open match shows it before it is over.
    A mirrored match deals each deck again, and who sees one leg knows cards of the others: it is
    disclosed whole, when it is over, and until then nobody sees anything of its hands.
    """
    secrets = over and disclosure in ("open", "open-after-match")
    hands = secrets or (disclosure == "open" and not mirrored)
    return Opened(hands, secrets, mirrored and not hands)

"""Which field of which event a viewpoint sees, and until when: from docs/events.md, by hand.

Nothing here is taken from the table of `events`, nor made from it: tests hold the two against each
other. Events and fields are named as texts, a viewer is a seat's number or None for the public, and
an auditor is nobody's concern here: he sees everything.
"""

from typing import Any

from events.match import Match
from events.types import Event

EVERYBODY = "everybody"
SEAT = "its seat"
OPEN_BID = "its seat; every seat if `sealed` is false"
TOLD_SWAP = "its seat; everybody if `told` is true"
NOBODY = "nobody"


def _everybody(fields: str) -> dict[str, str]:
    return dict.fromkeys(fields.split(), EVERYBODY)


WHO_SEES: dict[str, dict[str, str]] = {
    "HandStarted": _everybody("hand game ruleset button players stacks dead_small assumed played"),
    "StepEntered": _everybody("step name"),
    "AntePosted": _everybody("seat amount"),
    "BlindPosted": _everybody("seat amount to kind origin"),
    "HoleDealt": _everybody("seat") | {"cards": SEAT},
    "BoardDealt": _everybody("cards"),
    "BountyDrawn": _everybody("seat") | {"rank": SEAT},
    "BettingOpened": _everybody("step street bet size next"),
    "Folded": _everybody("seat next origin"),
    "Checked": _everybody("seat next origin"),
    "Called": _everybody("seat amount next origin"),
    "Bet": _everybody("seat amount full next origin"),
    "Raised": _everybody("seat amount to full next origin"),
    "BidPlaced": _everybody("seat sealed") | {"amount": OPEN_BID, "origin": OPEN_BID},
    "Tossed": _everybody("seat slot cards origin"),
    "AuctionSettled": _everybody("seats price bids sealed"),
    "CardSwapped": _everybody("seat slot") | {"old": SEAT, "new": SEAT, "changed": TOLD_SWAP},
    "UncalledReturned": _everybody("seat amount"),
    "Announced": _everybody("seat cards"),
    "Shown": _everybody("seat cards"),
    "Mucked": _everybody("seat"),
    "PotSplit": _everybody("pot seats shares"),
    "BountySettled": _everybody("seat payer hit amount"),
    "RakeTaken": _everybody("pot amount"),
    "TimedOut": _everybody("seat all_in next"),
    "Disconnected": _everybody("seat"),
    "Reconnected": _everybody("seat"),
    "Faulted": _everybody("seat kind where") | {"raw": SEAT},
    "Claimed": _everybody("nets rake"),
    "HandVoided": _everybody("reason"),
    "HandEnded": {},
    "MatchStarted": _everybody("match game ruleset players dealing disclosure sealed_bids deals")
    | {"seed": NOBODY},
    "Tagged": _everybody("player tag value"),
    "DeckCommitted": _everybody("commitment hands"),
    "NonceGiven": _everybody("player nonce drawn_by"),
    "DeckOpened": _everybody("number secret"),
    "SourceNoted": _everybody("format dialect") | {"header": NOBODY, "footer": NOBODY},
    "MatchEnded": _everybody("nets reason"),
}
"""Every field of every event; `changed` stands for `told` of a `CardSwapped`."""

# Which of the hands, and of a match's own secrets, everybody sees: while it is played, once over.
UNTIL: dict[str, tuple[tuple[bool, bool], tuple[bool, bool]]] = {
    "sealed": ((False, False), (False, False)),
    "open-after-match": ((False, True), (False, True)),
    "open": ((True, True), (False, True)),
}


def is_there(event: Event | Match, viewer: int | None) -> bool:
    """Whether a viewer is told that the event happened: that a bid failed, only its bidder."""
    name, fields = type(event).__name__, values(event)
    return not (name == "Faulted" and fields["where"] == "bid" and fields["seat"] != viewer)


def sees(event: Event | Match, field: str, viewer: int | None) -> bool:
    """Whether a viewer sees a field of an event that he is told of, while nothing is open."""
    rule, fields = WHO_SEES[type(event).__name__][field], values(event)
    if fields[field] is None or rule == EVERYBODY:
        return True  # a seed that is not there is nobody's secret
    if rule == NOBODY:
        return False
    if viewer is not None and viewer == fields["seat"]:
        return True
    if rule == OPEN_BID:
        return viewer is not None and not fields["sealed"]
    return rule == TOLD_SWAP and bool(fields["told"])


def hidden(event: Event | Match, viewer: int | None) -> list[str]:
    """The fields of an event that a viewer does not see, in the order of the event."""
    return [field for field in WHO_SEES[type(event).__name__] if not sees(event, field, viewer)]


def is_open(disclosure: str | None, *, over: bool, mirrored: bool = False) -> tuple[bool, bool]:
    """Whether everybody sees the hands of a match, and its own secrets, as an auditor does."""
    hands, own = UNTIL[disclosure or "sealed"]
    return hands[over] and (over or not mirrored), own[over]


def values(event: Event | Match) -> dict[str, Any]:
    """An event as plain values, a swap with whether the card is another."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    if type(event).__name__ == "CardSwapped":
        fields["changed"] = fields["old"] != fields["new"]
    return fields

"""What stands in an event's public line where something is hidden, and what opens it to a viewer.

Everybody may have these lines: it is over them that the digest of a hand is taken.
"""

from typing import NamedTuple

import msgspec

from api.questions.proof import proof
from api.questions.tree import NoSecrets, Unsigned
from api.viewpoints.sight import One, Sight
from api.viewpoints.views import Viewed
from api.viewpoints.wanted import Unfinished
from events.hidden import FIELDS
from events.types import HandEnded, HandVoided
from store.proof.tree import Refuted


class Committed(NamedTuple):
    """A hidden field, its commitment, and the nonce if the viewer may open it."""

    field: str
    commitment: str
    nonce: str | None


def committed(viewed: Viewed, sight: Sight) -> list[tuple[Committed, ...]]:
    """The commitments of each event as seen; none where nothing was signed for yet."""
    try:
        told = proof(viewed, sight)
    except (NoSecrets, Refuted, Unfinished, Unsigned):
        return [() for _ in sight.ones]
    nonces = {(one["line"], one["field"]): one["nonce"] for one in told["openings"]}
    lines = [
        tuple(
            Committed(field, value["commitment"], nonces.get((number, field)))
            for field, value in msgspec.json.decode(line).items()
            if isinstance(value, dict) and "commitment" in value
        )
        for number, line in enumerate(told["lines"])
    ]
    return _beside(sight.ones, lines)


def _beside(
    ones: tuple[One, ...], lines: list[tuple[Committed, ...]]
) -> list[tuple[Committed, ...]]:
    """Lines beside their events; a reply that a bid failed with is in the line of the bid."""
    left = iter(lines)
    found: list[tuple[Committed, ...]] = []
    over = False
    for one in ones:
        over = over or isinstance(one.seen, HandEnded | HandVoided)
        event = one.stored.event
        waits = FIELDS[type(event)].is_withheld(event) and not over
        found.append(() if waits else next(left, ()))
    return found

"""What the bytes of a hand prove by themselves, found out as its reader would: from his bundle."""

from typing import NamedTuple

from api.evidence.make import Unproved
from api.evidence.verify import judged, unpacked
from api.questions.proof import bundle
from api.questions.tree import NoSecrets, Unsigned
from api.viewpoints.sight import Sight
from api.viewpoints.views import Viewed
from store.proof.tree import Refuted


class Proof(NamedTuple):
    """Sentences that are proved, or problems; or why there is no bundle to check."""

    proved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    lacking: str | None = None


def integrity(viewed: Viewed, sight: Sight) -> Proof:
    """The evidence of this hand for this viewer, made and checked as `verify.py` does."""
    try:
        made = bundle(viewed, sight)
    except (NoSecrets, Refuted, Unproved, Unsigned) as reason:
        return Proof(lacking=str(reason))
    found = judged(lambda: unpacked(made))
    return Proof(found.proved, found.problems)

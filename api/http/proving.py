"""Why something cannot be proved now, as problems: for routes that answer with proofs."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.evidence.make import Unproved
from api.problem import Problem
from api.questions.tree import NoSecrets, Unsigned
from store.proof.tree import Refuted

SOON_S = 1  # a writer signs for what is new this often


@contextmanager
def proving() -> Iterator[None]:
    """What closed a moment ago is signed for in the next; without secrets nothing is proved."""
    try:
        yield
    except (Unsigned, Refuted) as reason:
        raise Problem("unavailable", str(reason)).after(SOON_S) from None
    except (NoSecrets, Unproved) as reason:
        raise Problem("unavailable", str(reason)) from None

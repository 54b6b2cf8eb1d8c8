"""Bundles that were made before the verifiers became stricter: they hold, for both of them."""

from pathlib import Path

import pytest

from api.evidence.verify import Verdict, check_bundle, read_bundle, read_key
from tests.trust.in_node import judged_in_node

FROZEN = Path(__file__).parent / "frozen"
KEY = "muckrake.local/02fb7a6f+0a082206+ARmStNo8c4jivAMKupS3OwcbbfgaO7nexR7oLckxh2Ql"
SAID = {
    "auction": "Hand auction/3 of auction-2024",
    "swap": "Hand swap/5 of swap-2022",
}


def _judged(name: str) -> Verdict:
    known = [read_key("known", f"{KEY}\n".encode())]
    return check_bundle(lambda: read_bundle(str(FROZEN / f"{name}.zip")), known)


@pytest.mark.parametrize("name", SAID)
def test_a_bundle_of_an_older_program_holds(name: str) -> None:
    found = _judged(name)
    assert ((), 0) == (found.problems, found.code)
    assert found.proved[0].startswith(SAID[name])
    assert ("The deck is opened" in " ".join(found.proved)) == (name == "swap")


@pytest.mark.parametrize("name", SAID)
def test_and_it_does_in_javascript(name: str) -> None:
    known = (read_key("known", f"{KEY}\n".encode()),)
    assert _judged(name) == judged_in_node((FROZEN / f"{name}.zip").read_bytes(), known)

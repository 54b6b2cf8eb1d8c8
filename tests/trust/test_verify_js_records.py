"""What verify.js and verify.py say of a match's own records, and of the witnesses of a policy."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from api.evidence.verify import Verdict, check_bundle
from store.proof.checkpoint import cosign
from tests.trust.in_node import judged_in_node, node, same
from tests.trust.own_bundles import Files, Log
from tests.trust.test_verify_py_changed import _draft, _files
from tests.trust.test_verify_py_hostile import values
from tests.trust.test_verify_py_match import Told
from tests.trust.test_witness_policy import LOG, TWO_LEVELS, WITNESS_LINES, W


@pytest.fixture(autouse=True, scope="module")
def _node_is_there() -> None:
    node()


@pytest.fixture(autouse=True)
def _signatures_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "is_signed", cache(script.is_signed))


# The match's own records.


@pytest.mark.parametrize("other", [{"deals": 2}, {"deals": True}, {"first": 2}, {"nonces": []}])
def test_a_deck_beside_other_records_is_told_alike(other: dict[str, Any]) -> None:
    draft = Told(opened=True)
    deck = json.loads(draft.more["deck.json"]) | other
    draft.more["deck.json"] = json.dumps(deck, sort_keys=True, separators=(",", ":")).encode()
    assert 3 == same(draft.files()).code


@given(
    place=st.integers(0, 2),
    field=st.sampled_from(["dealing", "deals", "hands", "commitment", "player", "nonce", "at"]),
    value=values,
)
def test_anything_that_a_match_says_is_told_alike(place: int, field: str, value: Any) -> None:
    draft = Told(opened=True)
    draft.appends[place][1][0][field] = value
    same(draft.files())


# Policies.


def _cosigned(*numbers: int) -> Files:
    """The bundle, its checkpoint cosigned by these witnesses."""
    files = _files()
    above = files["receipt.tlog-proof"].partition(b"\n\n")[0] + b"\n\n"
    note = files["checkpoint"]
    for number in numbers:
        note = cosign(note, W[number], 1_700_000_000)
    changed = {**files, "checkpoint": note, "receipt.tlog-proof": above + note}
    del changed["contents"]
    return _draft().sealed(changed)


def _asked_for(lines: str, files: Files) -> Verdict:
    """What both say of a bundle under a policy."""
    try:
        policy = script.read_policy("policy", lines.encode())
    except script.Refusal as wrong:
        found = Verdict((str(wrong),), (), 2)
    else:
        found = check_bundle(lambda: files, (), policy)
    assert found == judged_in_node(files, (), lines.encode())
    return found


MANY = TWO_LEVELS.replace(LOG.key.text(), Log().key)


@pytest.mark.parametrize(
    ("numbers", "code"), [((0, 1, 3), 0), ((0, 1, 2, 3, 4), 0), ((), 3), ((0, 1), 3), ((3, 4), 3)]
)
def test_a_quorum_is_asked_for_alike(numbers: tuple[int, ...], code: int) -> None:
    assert code == _asked_for(MANY, _cosigned(*numbers)).code


def test_a_policy_names_the_log_or_does_not() -> None:
    assert 3 == _asked_for(TWO_LEVELS, _cosigned(0, 1, 3)).code
    assert 7 == _asked_for("quorum none\n", _cosigned()).code
    assert 0 == _asked_for(f"log {Log().key}\nquorum none\n", _cosigned()).code


@pytest.mark.parametrize("numbers", [(0,), (0, 0), (0, 1, 3, 0)])
def test_a_cosignature_that_does_not_hold_is_told_alike(numbers: tuple[int, ...]) -> None:
    files = _cosigned(*numbers)
    for at in range(-90, -2, 7):
        note = bytearray(files["checkpoint"])
        note[at] = ord("A") if note[at] != ord("A") else ord("B")
        above = files["receipt.tlog-proof"].partition(b"\n\n")[0] + b"\n\n"
        changed = {**files, "checkpoint": bytes(note), "receipt.tlog-proof": above + bytes(note)}
        del changed["contents"]
        assert 3 == _asked_for(MANY, _draft().sealed(changed)).code


NONSENSE = (
    "", "quorum none\nquorum none\n", "quorum w9\n", "log nonsense\nquorum none\n",
    f"log {W[0].key.text()}\nquorum none\n", f"witness a {LOG.key.text()}\nquorum none\n",
    f"{WITNESS_LINES}witness w0 {LOG.key.text()}\n",
    f"{WITNESS_LINES}witness w9 {W[0].key.text()}\n",
    f"{WITNESS_LINES}group none any w0\nquorum none\n",
    f"{WITNESS_LINES}group g any none\nquorum g\n",
    f"{WITNESS_LINES}group g any w0 w0\nquorum g\n", f"{WITNESS_LINES}group g 3 w0 w1\nquorum g\n",
    f"{WITNESS_LINES}group g any w0\ngroup h any w0\nquorum h\n", "witnesses 3\nquorum none\n",
    f"{WITNESS_LINES}group g 0 w0 w1\nquorum g\n", "log\nquorum none\n", "group g\n", "quorum\n",
)  # fmt: skip


@pytest.mark.parametrize("lines", NONSENSE)
def test_policies_that_say_nonsense_are_told_alike(lines: str) -> None:
    assert 2 == _asked_for(lines, _files()).code

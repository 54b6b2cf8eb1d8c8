"""A log that lies, and signs: what cannot have happened is refused all the same."""

from collections.abc import Callable
from typing import Any

import pytest

from events.types import BidPlaced, CardSwapped, Shown
from tests.trust.own_bundles import (
    Draft,
    commitment,
    hands,
    problem,
    spelled,
    verdict,
    with_kinds,
)


def _draft(view: str = "auditor") -> Draft:
    return Draft(with_kinds("auction-2024", BidPlaced, Shown), view)


def _swap() -> Draft:
    return Draft(with_kinds("swap-2022", CardSwapped, Shown), "auditor")


def _at(draft: Draft, kind: str, nth: int = 0) -> int:
    """The place of a line of this kind."""
    return [n for n, line in enumerate(draft.lines) if line["type"] == kind][nth]


def _line(draft: Draft, kind: str, nth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = draft.lines[_at(draft, kind, nth)]
    return found


def _lied(change: Callable[[Draft], None], draft: Draft | None = None) -> str:
    draft = draft or _draft()
    change(draft)
    return problem(draft.files())


def _set(kind: str, nth: int = 0, **fields: Any) -> Callable[[Draft], None]:
    return lambda draft: _line(draft, kind, nth).update(fields)


def _put(at: int, line: dict[str, Any]) -> Callable[[Draft], None]:
    """One more line; it stands after what is opened, so no opening moves."""
    return lambda draft: draft.lines.insert(at if at >= 0 else len(draft.lines) + at, line)


LIES = {
    "a raise of one chip more": (_set("Raised", amount=65), "1 chips are left in the pot"),
    "a share too small": (_set("PotSplit", shares=[690]), "1 chips are left in the pot"),
    "a share too large": (_set("PotSplit", shares=[692]), "1 chips more are paid out than are in"),
    "a bet beyond the stack": (_set("Bet", amount=400), "pays 155 chips more than it has"),
    "a price beyond the stack": (_set("AuctionSettled", price=300), "chips more than it has"),
    "two shares for a seat": (_set("PotSplit", shares=[691, 0]), "1 seats are paid 2 shares"),
    "a seat that is not there": (_set("Bet", seat=2), "there is no seat 2"),
    "a winner who is not there": (_set("PotSplit", seats=[5]), "there is no seat 5"),
    "a card twice on the board": (_set("BoardDealt", 1, cards=["2d"]), "2d is in two places"),
    "another hand shown": (_set("Shown", cards=["As", "Ad"]), "which is not what it was dealt"),
    "too few cards shown": (_set("Shown", cards=["5s"]), "which is not what it was dealt"),
    "stacks for nobody": (_set("HandStarted", stacks=[400]), "not every player has a stack"),
    "another game": (_set("HandStarted", game="swap-2022"), "is called"),
    "other rules": (_set("HandStarted", ruleset="0" * 16), "ruleset.json is not the ruleset"),
    "another hand": (_set("HandStarted", hand="scrim/9"), "the leaf of another hand"),
    "chips taken back": (
        _put(-1, {"amount": 500, "at": 1, "seat": 0, "type": "UncalledReturned"}),
        "takes back more than it paid",
    ),
    "rake from nothing": (
        _put(-1, {"amount": 5, "at": 1, "pot": 0, "type": "RakeTaken"}),
        "5 chips more are paid out than are in the pot",
    ),
    "a bet after the end": (
        lambda draft: draft.lines.append(
            {"at": 1, "next": None, "origin": "chosen", "seat": 0, "type": "Folded"}
        ),
        "Folded comes after the end of the hand",
    ),
    "no end": (lambda draft: draft.lines.pop(), "has one HandEnded or HandVoided"),
    "two ends": (lambda draft: draft.lines.append(draft.lines[-1]), "has one HandEnded"),
    "two starts": (lambda draft: draft.lines.append(draft.lines[0]), "begins more than once"),
    "no start": (lambda draft: draft.lines.pop(0), "does not begin with HandStarted"),
    "more cards than a deck": (
        lambda draft: [
            _put(-1, {"at": 1, "cards": ["??"] * 50, "type": "BoardDealt"})(draft) for _ in "ab"
        ],
        "more cards are dealt than a deck has",
    ),
    "a fault that tells a bid": (
        _put(
            -1,
            {"at": 1, "kind": "late", "raw": {"commitment": "0" * 64}, "seat": 0}
            | {"type": "Faulted", "where": "bid"},
        ),
        "a fault at a bid has no line of its own",
    ),
}


@pytest.mark.parametrize(("change", "expected"), LIES.values(), ids=list(LIES))
def test_what_cannot_have_happened_is_refused(
    change: Callable[[Draft], None], expected: str
) -> None:
    draft = _draft("public")
    if "not what it was dealt" in expected:
        draft = _draft()
    assert expected in _lied(change, draft)


def test_a_lying_leaf_is_refused() -> None:
    for change, expected in (
        ({"lines": 36}, "events.jsonl has 37 lines, and the leaf says 36"),
        ({"stream": "scrim/9"}, 'the record is of "scrim/2", the leaf of another hand'),
        ({"hand_seq": 6}, "the receipt is for leaf 7, not for leaf 6"),
        ({"v": 2}, "leaf.json: 2 cannot be its v"),
        ({"first": 1}, "leaf.json: 1 cannot be its first"),
        ({"v": True}, "leaf.json: true cannot be its v"),
        ({"record_sha256": "0" * 64}, "its digest is another"),
        ({"more": 1}, "leaf.json has not exactly the fields first, hand_seq, lines"),
    ):
        assert expected in _lied(lambda draft, change=change: draft.leaf.update(change))  # type: ignore[misc]


def test_another_ruleset_is_refused() -> None:
    def other(draft: Draft) -> None:
        draft.ruleset = draft.ruleset.replace(b'"burn":0', b'"burn":1')

    assert 'ruleset.json is not the ruleset "5b97ece4fdf354c9" of this hand' == _lied(other)


# Swaps, which the log may open as it likes, but only as it wrote them.


def _reopened(draft: Draft, nth: int, **values: str) -> None:
    """A lie from the beginning: the line commits to what will be opened."""
    place = _at(draft, "CardSwapped", nth)
    for one in draft.openings:
        if one["line"] == place and one["field"] in values:
            one["value"] = values[one["field"]]
            commits = commitment(bytes.fromhex(one["nonce"]), one["value"])
            draft.lines[place][one["field"]] = {"commitment": commits}


def test_a_swap_of_a_card_that_is_not_held_is_refused() -> None:
    draft = _swap()
    _reopened(draft, 0, old="As")
    assert "in slot 0, not As" in problem(draft.files())


def test_a_swap_for_a_card_in_play_is_refused() -> None:
    draft = _swap()
    _reopened(draft, 0, new="2d")
    assert "2d is in two places" in problem(draft.files())


def test_what_is_told_of_a_swap_must_be_what_happened() -> None:
    draft = _swap()
    line = _line(draft, "CardSwapped")
    line.update(told=True, changed=True)
    old = draft.openings[[one["line"] for one in draft.openings].index(_at(draft, "CardSwapped"))]
    _reopened(draft, 0, old=old["value"], new=old["value"])
    assert "is not what happened to" in problem(draft.files())


def test_whether_a_card_changed_is_written_only_where_it_is_told() -> None:
    draft = _swap()
    _line(draft, "CardSwapped")["changed"] = True
    assert "has not exactly the fields" in problem(draft.files())


def test_a_void_hand_gives_everything_back() -> None:
    draft = Draft(hands("auction-2024")[0], "public")
    del draft.lines[4:]
    empty = commitment(bytes(32), [])
    void = {"at": 1, "faults": {"commitment": empty}, "reason": "crash", "type": "HandVoided"}
    draft.lines.append(void)
    assert () == verdict(draft).problems


def test_a_lie_that_adds_up_is_for_the_audit() -> None:
    """Who won is a matter of rules: the pot to the other seat adds up just as well."""
    draft = _draft()
    _line(draft, "PotSplit")["seats"] = [0]
    assert () == verdict(draft).problems
    assert "This does not check the payout: run muckrake audit." in verdict(draft).proved[1]


def test_spelled_is_what_the_page_says() -> None:
    assert b'{"a":1,"b":"\xc3\xa9"}' == spelled({"b": "é", "a": 1})

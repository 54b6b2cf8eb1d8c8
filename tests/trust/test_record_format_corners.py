"""The corners of docs/record-format.md and docs/deals.md: what each sentence of them refuses."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.evidence import verify as script
from engine.games import GAMES
from events import types as t
from events.deck import CHAIN_MAX, Committed, hand_key, unfit
from events.ledger import Recorded
from events.lines import lines, nonces_of
from events.match import DeckOpened, MatchEnded, NonceGiven
from store.proof.note import Key, parse
from store.proof.tree import Refuted
from tests.trust.in_node import judged_in_node
from tests.trust.own_bundles import Draft, Log, b64, hands, problem, verdict, with_kinds
from tests.trust.test_verify_py_deck import _draft as deck_draft
from tests.trust.test_verify_py_lies import _set

PAGES = Path(__file__).parents[2] / "docs"
RECORD = " ".join((PAGES / "record-format.md").read_text("utf-8").split())
DEALS = " ".join((PAGES / "deals.md").read_text("utf-8").split())


def _draft(view: str = "public") -> Draft:
    return Draft(with_kinds("auction-2024", t.BidPlaced, t.Shown), view)


# Numbers and texts.


def test_nets_may_be_less_than_nothing() -> None:
    assert "the `nets` of `MatchEnded`, down to -(2^53 - 1), with a minus before them" in RECORD
    ended = Recorded(0, "m", 0, 5, MatchEnded((-(2**53 - 1), 0, 2**53 - 1), "over"))
    (line,) = lines([ended], nonces_of(bytes(32), "m"))
    assert b'"nets":[-9007199254740991,0,9007199254740991]' in line
    assert [-9007199254740991, 0, 9007199254740991] == script.read_json("", line, 4)["nets"]


@pytest.mark.parametrize("text", [b"-0", b"-9007199254740992", b"9007199254740992", b"01", b"+1"])
def test_a_number_in_another_spelling_or_out_of_bounds_is_refused(text: bytes) -> None:
    with pytest.raises(script.Refusal):
        script.read_json("", b'{"a":%b}' % text, 4)


def test_u_007f_is_written_as_itself_in_a_line_and_stands_in_no_note() -> None:
    assert "U+007F is written as itself" in RECORD
    started = t.HandStarted("m/1", "g", "r", 0, ("a\x7f", "b"), (1, 1))
    (line,) = lines([Recorded(0, "m/1", 0, 5, started)], nonces_of(bytes(32), "m"))
    assert b'"players":["a\x7f","b"]' in line
    assert ["a\x7f", "b"] == script.read_json("", line, 4)["players"]
    with pytest.raises(script.Refusal):
        script.read_json("", line.replace(b"\x7f", b"\\u007f"), 4)
    with pytest.raises(Refuted, match="no control characters"):
        parse(Log().note("a\x7f\n"))
    assert "control character" in problem(
        {**_draft().files(), "contents": Log().note("muckrake evidence v1\n\x7f\n")}
    )


@pytest.mark.parametrize("half", [b"\xed\xa0\x80", b"\\ud800", b"\\udc00", b"\xed\xbf\xbf"])
def test_half_of_a_surrogate_pair_has_no_spelling(half: bytes) -> None:
    assert "a surrogate has no spelling" in RECORD
    with pytest.raises(script.Refusal):
        script.read_json("", b'{"a":"%b"}' % half, 4)
    started = t.HandStarted("m/1", "g", "r", 0, ("\ud800", "b"), (1, 1))
    with pytest.raises(UnicodeEncodeError):
        lines([Recorded(0, "m/1", 0, 5, started)], nonces_of(bytes(32), "m"))


def test_keys_are_of_ascii() -> None:
    assert "Keys are of ASCII" in RECORD
    assert script.read_json("", '{"a":"é"}'.encode(), 4)
    with pytest.raises(script.Refusal):
        script.read_json("", '{"é":1}'.encode(), 4)


DEPTHS = {"leaf.json": 1, "deck.json": 3, "line": 4, "openings.json": 6, "ruleset": 8}


def test_the_page_says_how_deep_each_is() -> None:
    said = "one level; `deck.json` has 3 at most, a line 4, `openings.json` 6, a ruleset 8"
    assert said in RECORD
    assert DEPTHS["ruleset"] == script.DEPTH_MAX


@pytest.mark.parametrize("deep", sorted(DEPTHS.values()))
def test_what_is_deeper_is_refused(deep: int) -> None:
    fine = b'{"a":' + b"[" * (deep - 1) + b"1" + b"]" * (deep - 1) + b"}"
    assert script.read_json("", fine, deep)
    with pytest.raises(script.Refusal):
        script.read_json("", fine.replace(b"1", b"[1]"), deep)


@pytest.mark.parametrize("size", ["9223372036854775808", "9999999999999999999"])
def test_no_tree_has_more_leaves_than_eight_bytes_can_say(size: str) -> None:
    draft = _draft()
    files = draft.files()
    above = files["receipt.tlog-proof"].partition(b"\n\n")[0] + b"\n\n"
    text = files["checkpoint"].decode().partition("\n\n")[0] + "\n"
    note = Log().note(text.replace("\n12\n", f"\n{size}\n"))
    del files["contents"]
    changed = {**files, "checkpoint": note, "receipt.tlog-proof": above + note}
    assert f"{size} is more than 9223372036854775807" in problem(draft.sealed(changed))


@pytest.mark.parametrize("short", [b"", b"\x00", bytes(3), "mark"])
def test_a_signature_of_under_five_bytes_spoils_a_note(short: bytes | str) -> None:
    """Whoever it is of: four bytes are an id and no signature."""
    assert "or fewer than five bytes" in RECORD
    data = Log().mark if isinstance(short, str) else short
    for name in (Log().name, "somebody.else"):
        note = Log().note("muckrake evidence v1\n") + f"\u2014 {name} {b64(data)}\n".encode()
        assert "contents" in problem({**_draft().files(), "contents": note})
        with pytest.raises(Refuted):
            parse(note)


# Seats.

NOBODY: dict[str, tuple[Callable[[Draft], None], str]] = {
    "button": (_set("HandStarted", button=2), "there is no seat 2 for the button"),
    "next": (_set("BettingOpened", next=2), "there is no seat 2"),
    "next after an action": (_set("Checked", next=7), "there is no seat 7"),
    "seats of an auction": (_set("AuctionSettled", seats=[2]), "there is no seat 2"),
    "a winner twice": (_set("AuctionSettled", seats=[1, 1]), "a seat is named twice"),
    "paid twice": (_set("PotSplit", seats=[1, 1], shares=[345, 346]), "a seat is named twice"),
    "no players": (_set("HandStarted", players=[], stacks=[]), "or nobody plays"),
}


@pytest.mark.parametrize(("change", "expected"), NOBODY.values(), ids=list(NOBODY))
def test_a_seat_of_a_hand_is_one_of_its_seats(
    change: Callable[[Draft], None], expected: str
) -> None:
    assert "in `seats` none stands twice" in RECORD
    draft = _draft()
    change(draft)
    assert expected in problem(draft.files())


# Chips and cards.


def test_what_comes_back_is_counted_against_bets_and_not_against_the_price() -> None:
    assert "dead blinds and antes included, the price of an auction not" in RECORD
    start = {"players": ["a", "b"], "stacks": [100, 100], "button": 0}
    for kind in ("AntePosted", "BlindPosted", "Called", "Bet", "Raised"):
        table = script.TableState(start)
        table.count({"type": kind, "seat": 0, "amount": 7})
        table.count({"type": "UncalledReturned", "seat": 0, "amount": 4})
        with pytest.raises(script.Refusal, match="takes back more than it paid"):
            table.count({"type": "UncalledReturned", "seat": 0, "amount": 4})
    table = script.TableState(start)
    table.count({"type": "AuctionSettled", "seats": [0], "price": 7})
    with pytest.raises(script.Refusal, match="takes back more than it paid"):
        table.count({"type": "UncalledReturned", "seat": 0, "amount": 1})


def test_a_hand_is_shown_in_any_order() -> None:
    assert "the same cards may be shown in any order" in RECORD
    draft = _draft("auditor")
    for line in draft.lines:
        if line["type"] == "Shown":
            line["cards"] = line["cards"][::-1]
    assert () == verdict(draft).problems


def _shown(before: list[str], shown: list[str]) -> list[str]:
    table = script.TableState({"players": ["a"], "stacks": [1], "button": 0})
    table.count({"type": "HoleDealt", "seat": 0, "cards": before})
    table.count({"type": "Shown", "seat": 0, "cards": shown})
    return table.hole[0]


def test_from_then_on_the_hand_is_in_the_order_shown() -> None:
    assert ["Kd", "As"] == _shown(["As", "Kd"], ["Kd", "As"])
    assert ["Kd", "As"] == _shown(["??", "??"], ["Kd", "As"])
    assert ["As", "Kd"] == _shown(["Kd", "??"], ["As", "??"])


def test_where_a_card_is_that_was_swapped_away() -> None:
    """Dead, it comes nowhere again; returned to the deck, it may."""
    assert (
        "`dead`: it counts, and it is in no other place again; else it is back in the deck"
        in RECORD
    )
    swapped = {"type": "CardSwapped", "seat": 0, "slot": 0, "old": "As", "new": "Kd", "told": False}
    for dies in (True, False):
        table = script.TableState({"players": ["a"], "stacks": [1], "button": 0}, dies)
        table.count({"type": "HoleDealt", "seat": 0, "cards": ["As", "2c"]})
        table.count(swapped)
        again = {"type": "BoardDealt", "cards": ["As"]}
        if dies:
            with pytest.raises(script.Refusal, match="As is in two places"):
                table.count(again)
        else:
            table.count(again)


def test_a_bundle_in_which_a_dead_card_comes_back_is_refused() -> None:
    drafts = (Draft(record, "auditor") for record in hands("swap-2022", 60))
    draft, old = next((draft, old) for draft in drafts for old in _dead(draft))
    assert () == verdict(draft).problems
    board = max(n for n, line in enumerate(draft.lines) if line["type"] == "BoardDealt")
    draft.lines[board]["cards"] = [old]
    assert f"{old} is in two places" in problem(draft.files())


def _dead(draft: Draft) -> list[str]:
    """The cards that were swapped away before the last one of the board."""
    kinds = [line["type"] for line in draft.lines]
    held = {(one["line"], one["field"]): one["value"] for one in draft.openings}
    last = max((n for n, kind in enumerate(kinds) if kind == "BoardDealt"), default=0)
    swaps = [n for n in range(last) if kinds[n] == "CardSwapped"]
    return [held[n, "old"] for n in swaps if held[n, "old"] != held[n, "new"]]


def test_openings_may_stand_in_any_order() -> None:
    assert "Openings may stand in any order" in RECORD
    draft = _draft("auditor")
    draft.openings.reverse()
    assert () == verdict(draft).problems


# Decks.


def test_a_chain_is_bounded() -> None:
    assert "at most 2^22 (4,194,304) hands" in DEALS
    assert 2**22 == CHAIN_MAX == script.CHAIN_MAX
    made = Committed(1, CHAIN_MAX + 1, "0" * 64)
    opened = DeckOpened(CHAIN_MAX + 1, "0" * 64)
    assert "a chain of 4194305 hands" in (unfit(made, opened) or "")
    sentence = problem(deck_draft("auction-2024", 2, number=CHAIN_MAX + 1).files())
    assert "deck.json opens the decks 1..4194305, and this hand's is 3" == sentence


def test_a_text_of_more_than_two_bytes_can_count_makes_no_deck() -> None:
    assert "A text of more than 65,535 bytes cannot be counted" in DEALS
    long = "x" * 65_535
    assert hand_key(bytes(32), [NonceGiven("a", long)], "m", 1)
    with pytest.raises(ValueError, match="65536 bytes"):
        hand_key(bytes(32), [NonceGiven("a", long + "x")], "m", 1)
    nonces = [["a", "x" * 65_536]]
    assert "a name or a nonce is too long" in problem(
        deck_draft("auction-2024", 2, nonces=nonces).files()
    )


def test_the_seed_of_derby_is_on_the_page() -> None:
    nonce = re.findall(r'the text `"7"` under the nonce `([0-9a-f]{64})`', RECORD)[0]
    tagged = b"muckrake/commitment/v1\x00" + bytes.fromhex(nonce) + b'"7"'
    assert hashlib.sha256(tagged).hexdigest() in RECORD


def test_no_card_is_burnt_where_every_card_has_its_place() -> None:
    assert "no card is burnt, whatever `burn` says" in DEALS
    game = replace(GAMES["swap-2022"], burn=1)
    rules: dict[str, Any] = {
        "deck_slots": "fixed",
        "burn": game.burn,
        "hole_order": game.hole_order,
    }
    start = {"button": 0, "stacks": [1, 1]}
    draws = script.RandomStream(b"", b"")
    dealer = script.Dealer(rules, start, list(script.DECK), draws, 0, lambda hands: draws)
    assert list(script.DECK[4:7]) == dealer.to_board(3)


# Names of keys.

WHITE = [9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029]
WHITE += [0x202F, 0x205F, 0x3000]
NO_NAMES = [*WHITE, 0, 8, 0x1B, 0x1C, 0x1F, 0x7F, ord("+")]


def _is_name(name: str) -> tuple[bool, bool, bool]:
    """Whether verify.py, verify.js and the ledger read a key of this name."""
    line = Log(1, name).key
    try:
        script.read_key("key", f"{line}\n".encode())
        alone = True
    except script.Refusal:
        alone = False
    try:
        ledgers = Key.read(line).name == name
    except Refuted:
        ledgers = False
    verdict = judged_in_node({**_draft().files(), "key": f"{line}\n".encode()})
    return alone, not verdict.problems[0].startswith("key is not one line"), ledgers


@pytest.mark.parametrize("sign", NO_NAMES, ids=hex)
def test_no_name_of_a_key_has_whitespace_a_control_character_or_a_plus(sign: int) -> None:
    assert "U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000" in RECORD
    assert (False, False, False) == _is_name(f"a{chr(sign)}b")


@pytest.mark.parametrize("sign", [0x80, 0x200B, 0xFEFF, 0x2060, 0xE9, 0x1F0A1], ids=hex)
def test_every_other_character_may_stand_in_a_name(sign: int) -> None:
    assert (True, True, True) == _is_name(f"a{chr(sign)}b")

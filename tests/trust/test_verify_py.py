"""The verifier of a bundle: what it accepts, what it says of it, and its own arithmetic."""

import ast
from pathlib import Path
from typing import cast, get_args

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from api.main import main
from engine.game import Game
from events import types as t
from events.ledger import is_match
from events.types import Events
from store.log.streams import Leaf
from store.reader import Reader
from tests.hands import some_games
from tests.profiles import sized
from tests.trust.own_bundles import (
    ORIGIN,
    Draft,
    Log,
    hands,
    spelled,
    told,
    verdict,
    views,
    with_kinds,
)


@some_games
def test_every_hand_is_proved_to_everybody(game: Game) -> None:
    for record in hands(game.name, sized(quick=2, ci=6, slow=12)):
        start = record[0]
        assert isinstance(start, t.HandStarted)
        for view in views(start.players):
            found = verdict(Draft(record, view))
            assert () == found.problems, (start.hand, view)
            assert f"Hand {start.hand} of {game.name}" in found.proved[0]


def test_it_says_what_is_proved_and_whose_key_to_compare() -> None:
    (record, *_) = hands("auction-2024")
    found = verdict(Draft(record, "public"))
    assert f"leaf 7 of the log {ORIGIN} of 12 leaves" in found.proved[0]
    assert "for public: 0 of " in found.proved[2]
    assert f"Signed by {Log().key}: compare it with the key you know." == found.proved[-1]


def test_another_key_proves_the_same_under_its_own_name() -> None:
    """Whoever signs anew can prove anything of his own log: the key is what tells them apart."""
    draft = Draft(hands("auction-2024")[0], "public")
    draft.log = Log(2, "muckrake.local/ffffffff")
    found = verdict(draft)
    assert f"Signed by {draft.log.key}: compare it with the key you know." == found.proved[-1]


def test_a_log_of_one_leaf_needs_no_path() -> None:
    assert verdict(Draft(hands("auction-2024")[0], "auditor", 0, 1)).proved


@pytest.mark.parametrize("size", range(1, 18))
def test_every_place_in_every_small_tree_is_proved(size: int) -> None:
    record = hands("auction-2024")[0]
    for place in range(size):
        assert verdict(Draft(record, "public", place, size)).proved


def test_the_table_of_events_is_that_of_the_program() -> None:
    """The script may not import the types, so they are held against each other here."""
    for kind in get_args(t.Event):
        name = kind.__name__
        fields = {
            *script.EVENTS[name],
            *script.HIDDEN_FIELDS.get(name, {}),
            *script.LATER_FIELDS.get(name, {}),
        }
        assert {*kind.__struct_fields__} == fields - {"faults"}, name
    assert {kind.__name__ for kind in get_args(t.Event)} == set(script.EVENTS)
    assert set(script.HIDDEN_FIELDS) < set(script.EVENTS)


# Ed25519, RFC 8032 section 7.1: secret key, public key, message, signature (in two lines).
VECTORS = """
9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60
d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a

e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb
3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c
72
92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7
fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025
af82
6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
""".strip("\n").split("\n")


@pytest.mark.parametrize("at", range(0, len(VECTORS), 5))
def test_signatures_of_rfc_8032_hold(at: int) -> None:
    secret, public, message, *halves = map(bytes.fromhex, VECTORS[at : at + 5])
    signature = b"".join(halves)
    private = Ed25519PrivateKey.from_private_bytes(secret)
    assert public == private.public_key().public_bytes_raw()
    assert signature == private.sign(message)
    assert script.is_signed(public, signature, message)


@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(max_size=80), at=st.integers(0))
def test_signatures_hold_as_others_made_them_and_no_changed_one_does(
    seed: bytes, message: bytes, at: int
) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = private.public_key().public_bytes_raw(), private.sign(message)
    assert script.is_signed(public, signature, message)
    whole = bytearray(public + signature + message)
    whole[at // 8 % len(whole)] ^= 1 << at % 8
    changed = bytes(whole)
    assert not script.is_signed(changed[:32], changed[32:96], changed[96:])


def test_a_signature_has_one_spelling() -> None:
    """S + L is the same number on the curve: RFC 8032 refuses it, and so nobody can vary a note."""
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public, signature = private.public_key().public_bytes_raw(), private.sign(b"x")
    number = int.from_bytes(signature[32:], "little") + script.ORDER
    assert not script.is_signed(public, signature[:32] + number.to_bytes(32, "little"), b"x")
    assert not script.is_signed(public, signature + b"\x00", b"x")
    assert not script.is_signed(public, signature[:63], b"x")


NO_POINTS = {
    "one more than the prime: the y of the neutral point, spelled otherwise": script.PRIME + 1,
    "a y that no point has": 2,
    "the neutral point with a sign: its x is 0, which has none": 2**255 + 1,
}


@pytest.mark.parametrize("number", NO_POINTS.values(), ids=list(NO_POINTS))
def test_a_point_has_one_spelling(number: int) -> None:
    assert script._decoded_point((1).to_bytes(32, "little")) is not None
    assert script._decoded_point(number.to_bytes(32, "little")) is None


def test_a_hand_of_a_three_card_auction_says_how_much_is_opened() -> None:
    record = with_kinds("auction-2024", t.BidPlaced, t.Shown)
    draft = Draft(record, "auditor")
    hidden = len(draft.hidden)
    assert f"for auditor: {hidden} of {hidden} hidden values" in verdict(draft).proved[2]


def test_it_is_python_3_8_and_imports_nothing_but_the_standard_library() -> None:
    text = Path(script.__file__).read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported == {
        "base64", "binascii", "functools", "hashlib", "hmac", "json", "os", "re", "stat",
        "struct", "sys", "typing", "zlib",
    }  # fmt: skip


def test_it_never_runs_what_it_reads() -> None:
    tree = ast.parse(Path(script.__file__).read_text("utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert set() == called & {"exec", "eval", "compile", "__import__", "input"}


TABLES = Path(__file__).parents[3] / "shared/data/pokerstars/hhsmithy/CashGame/Tables"


@pytest.mark.skipif(not TABLES.exists(), reason="the hand histories of shared/data are not here")
def test_imported_hands_are_proved_with_their_unknown_cards(tmp_path: Path) -> None:
    """A foreign hand with cards that nobody recorded is no worse than ours."""
    assert main(["import", "--no-audit", str(TABLES), "--ledger", str(tmp_path)]) in (0, 1)
    unknown = count = 0
    for leaf in Reader(tmp_path).snapshot().leaves():
        if not is_match(leaf.stream):
            lines, hidden = told(_record(leaf), leaf.stream)
            parsed = [script.read_line(at, spelled(line)) for at, line in enumerate(lines, 1)]
            opened = {(one["line"], one["field"]): one["value"] for one in hidden}
            script.check_hand({}, script.with_openings(parsed, opened))
            unknown += any(one["value"] == ("??", "??") for one in hidden)
            count += 1
    assert count >= unknown > 3


def _record(leaf: Leaf) -> Events:
    return cast(Events, tuple(one.event for one in leaf.recorded))

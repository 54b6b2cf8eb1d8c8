"""docs/record-format.md recomputed from its own words: no line of ours is used to do it."""

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from api.evidence import verify as script
from events.codec import decode_record
from events.ledger import Recorded
from events.lines import Nonces, nonces_of
from events.lines import lines as project_lines
from events.match import MatchStarted
from tests.fences import fences

PAGE = Path(__file__).parents[2] / "docs" / "record-format.md"
TEXT = PAGE.read_text("utf-8")
SHOWN = {fence.told: fence.text for fence in fences(PAGE) if fence.told}


def _bytes(name: str) -> bytes:
    """A block as bytes; the page's blocks end in a newline of their own."""
    return SHOWN[name].encode()[:-1]


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


SECRET = bytes.fromhex(SHOWN["nonce-secret"])
KEY = _mac(SECRET, b"muckrake/nonces/v1\x00" + b"derby")


def _commitment(stream: str, index: int, field: str, value: str) -> str:
    """`value` is canonical JSON."""
    nonce = _mac(KEY, f"{stream}\n{index}\n{field}".encode())
    return _hash(b"muckrake/commitment/v1\x00", nonce, value.encode()).hex()


def test_the_key_of_the_match_is_what_the_page_says() -> None:
    assert SHOWN["match-key"].strip() == KEY.hex()


def test_every_commitment_is_what_the_page_says() -> None:
    told = [
        _commitment("derby", 0, "seed", '"7"'),
        _commitment("derby/1", 4, "cards", '["As","Kd"]'),
        _commitment("derby/1", 5, "cards", '["7c","2h"]'),
        _commitment("derby/1", 10, "faults", "[]"),
    ]
    shown = re.findall(
        r'"commitment":"([0-9a-f]{64})"', SHOWN["match-record"] + SHOWN["events.jsonl"]
    )
    assert told == shown


def test_openings_hold_the_nonces_of_what_they_open() -> None:
    (opening,) = json.loads(SHOWN["openings.json"])["openings"]
    assert opening["nonce"] == _mac(KEY, b"derby/1\n5\ncards").hex()
    assert _mac(KEY, b"derby/1\n4\ncards").hex() in TEXT


def test_version_two_of_the_nonces_is_what_the_page_says() -> None:
    told = [line.split() for line in SHOWN["v2"].splitlines() if line]
    shown = {name: bytes.fromhex(text) for text, name in ((it[0], " ".join(it[1:])) for it in told)}
    key = _mac(SECRET, b"muckrake/nonces/v2\x00" + shown["salt"] + b"derby")
    nonce = _mac(key, b'derby/1\n5\ncards\n["7c","2h"]')
    made = _hash(b"muckrake/commitment/v1\x00", nonce, b'["7c","2h"]')
    assert (shown["match key"], shown["nonce"], shown["commitment"]) == (key, nonce, made)
    ours = nonces_of(SECRET, "derby", shown["salt"])
    assert nonce == ours.of("derby/1", 5, "cards", ("7c", "2h"))


def test_digests_leaves_and_root_are_what_the_page_says() -> None:
    hashes: list[bytes] = []
    for leaf, record in (("match-leaf", "match-record"), ("leaf.json", "events.jsonl")):
        told = json.loads(SHOWN[leaf])
        assert told["record_sha256"] == _hash(_bytes(record)).hex()
        assert told["lines"] == len(_bytes(record).split(b"\n"))
        assert told["hand_seq"] == len(hashes)
        hashes.append(_hash(b"\x00", _bytes(leaf)))
    root = _hash(b"\x01", *hashes)
    assert [one.hex() for one in (*hashes, root)] == re.findall(r"[0-9a-f]{64}", SHOWN["hashes"])
    assert base64.b64encode(root).decode() == SHOWN["checkpoint"].split("\n")[2]
    assert base64.b64encode(hashes[0]).decode() == SHOWN["receipt.tlog-proof"].split("\n")[2]


def test_key_and_signatures_are_those_of_the_seed() -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SHOWN["seed"]))
    name, mark, encoded = SHOWN["key"].strip().split("+", 2)
    kind_and_key = b"\x01" + private.public_key().public_bytes_raw()
    assert base64.b64decode(encoded) == kind_and_key
    assert mark == _hash(name.encode(), b"\n", kind_and_key)[:4].hex()
    for note in ("checkpoint", "contents"):
        text, _, line = SHOWN[note].rpartition("\n\n")
        signature = bytes.fromhex(mark) + private.sign(f"{text}\n".encode())
        assert f"\u2014 {name} {base64.b64encode(signature).decode()}\n" == line


def test_contents_name_the_digest_of_every_file_on_the_page() -> None:
    without_newline = ("leaf.json", "openings.json")
    rows = SHOWN["contents"].split("\n\n")[0].split("\n")[1:]
    names = [row.split("  ")[1] for row in rows]
    assert names == sorted(names)
    for row in rows:
        digest, name = row.split("  ")
        text = _bytes(name) if name in without_newline else SHOWN[name].encode()
        assert digest == _hash(text).hex()


def test_the_verifier_reads_the_page_as_far_as_it_goes() -> None:
    """The example has no ruleset: that is the first thing that the script misses."""
    files = {name: SHOWN[name].encode() for name in ("events.jsonl", "receipt.tlog-proof")}
    files |= {name: SHOWN[name].encode() for name in ("checkpoint", "contents", "key")}
    files |= {name: _bytes(name) for name in ("leaf.json", "openings.json")}
    key = script.read_key("key", files["key"])
    script.check_contents(files, key)
    leaf = script.read_leaf(files, script.read_checkpoint(files, key))
    lines = script.read_lines(files["events.jsonl"], leaf)
    view, opened = script.read_openings(files["openings.json"], lines)
    assert ("seat:lynx", {(5, "cards"): ["7c", "2h"]}) == (view, opened)
    script.check_view(view, lines, opened)
    script.check_hand(files, script.with_openings(lines, opened))


def test_the_announcement_is_as_the_program_writes_it() -> None:
    """A field that is added to MatchStarted must be added to the page."""
    told = json.loads(SHOWN["match-record"])
    at = told.pop("at")
    text = json.dumps({**told, "seed": "7"}, sort_keys=True, separators=(",", ":"))
    event = decode_record(text.encode())
    assert isinstance(event, MatchStarted)
    recorded = Recorded(0, "derby", 0, at, event)
    assert (_bytes("match-record"),) == project_lines([recorded], Nonces(KEY))


def test_the_fingerprint_on_the_page_is_right() -> None:
    rules, name = re.findall(r'`(\{"burn":1,"name":"tiny"\})`, `([0-9a-f]{16})`', TEXT)[0]
    assert name == _hash(rules.encode()).hex()[:16]


def test_every_hidden_field_of_the_program_is_on_the_page() -> None:
    table = re.findall(r"^\| (`[A-Z].*?) \| (.*?) \|", TEXT, re.MULTILINE)
    hidden = {
        kind: tuple(sorted(re.findall(r"`([a-z]+)`", fields)))
        for kinds, fields in table
        for kind in re.findall(r"`([A-Za-z]+)`", kinds)
    }
    for one in ("MatchStarted", "SourceNoted"):
        hidden.pop(one)
    assert hidden == {kind: tuple(sorted(fields)) for kind, fields in script.HIDDEN_FIELDS.items()}


# The tree of decimal numbers.


def _head(hashes: list[bytes]) -> bytes:
    if len(hashes) < 2:
        return hashes[0] if hashes else _hash()
    half = 1
    while 2 * half < len(hashes):
        half *= 2
    return _hash(b"\x01", _head(hashes[:half]), _head(hashes[half:]))


def _numbers(count: int) -> list[bytes]:
    return [_hash(b"\x00", str(number).encode()) for number in range(count)]


def test_heads_of_numbers_are_what_the_page_says() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| `([0-9a-f]{64})` \|$", TEXT, re.MULTILINE)
    assert 7 == len(rows)
    for count, told in rows:
        assert told == _head(_numbers(int(count.replace(",", "")))).hex()


def test_the_leaf_hash_of_the_sample_is_what_the_page_says() -> None:
    digest, hashed = re.findall(r"`([0-9a-f]{64})`", TEXT)[:2]
    sample = re.findall(r'^    (\{"first":0,"hand_seq":13.*\})$', TEXT, re.MULTILINE)[0]
    leaf = sample.replace("<64 hex>", digest).encode()
    assert (144, hashed) == (len(leaf), _hash(b"\x00", leaf).hex())


def _grown(old: int, new: int, first: bytes, last: bytes, proof: list[bytes]) -> bool:
    """The page's own steps, word for word."""
    if old & (old - 1) == 0:
        proof = [first, *proof]
    a, b = old - 1, new - 1
    while a % 2:
        a, b = a // 2, b // 2
    if not proof:
        return False
    r = s = proof[0]
    for p in proof[1:]:
        if b == 0:
            return False
        if a % 2 or a == b:
            r, s = _hash(b"\x01", p, r), _hash(b"\x01", p, s)
            while a % 2 == 0 and a != 0:
                a, b = a // 2, b // 2
        else:
            s = _hash(b"\x01", s, p)
        a, b = a // 2, b // 2
    return b == 0 and (r, s) == (first, last)


def test_the_proof_that_a_tree_grew_holds_by_the_steps_of_the_page() -> None:
    shown = [bytes.fromhex(one) for one in re.findall(r"^    ([0-9a-f]{64})$", TEXT, re.MULTILINE)]
    assert 6 == len(shown)
    numbers = _numbers(20)
    assert _grown(13, 20, _head(numbers[:13]), _head(numbers), shown)
    assert _grown(16, 20, _head(numbers[:16]), _head(numbers), shown[-1:])
    assert not _grown(13, 20, _head(numbers[:12]), _head(numbers), shown)
    assert not _grown(13, 20, _head(numbers[:13]), _head(numbers), shown[1:])


def test_the_receipt_and_the_witness_of_numbers_hold() -> None:
    block = re.findall(r"^    c2sp.*?^(?=\S)", TEXT, re.MULTILINE | re.DOTALL)[-1]
    rows = [row[4:] for row in block.rstrip().split("\n")]
    gap = rows.index("")
    path = [base64.b64decode(row) for row in rows[2:gap]]
    text = "".join(f"{row}\n" for row in rows[gap + 1 : gap + 4])
    root = base64.b64decode(rows[gap + 3])
    assert ("index 13", "20") == (rows[1], rows[gap + 2])
    assert root == _head(_numbers(20)) == script.root_of(_numbers(20)[13], 13, 20, path)
    assert _holds("muckrake.local/log", rows[gap + 5], text.encode(), b"\x01")
    seen = re.findall(r"^    (\u2014 witness\.local\S* \S+)$", TEXT, re.MULTILINE)[0]
    assert _holds("witness.local/w", seen, text.encode(), b"\x04")


def _holds(name: str, line: str, text: bytes, kind: bytes) -> bool:
    """A signature line under the key of this name that is on the page."""
    mark, encoded = re.findall(rf"`{re.escape(name)}\+([0-9a-f]{{8}})\+(\S+?)`", TEXT)[0]
    public = base64.b64decode(encoded)
    assert (kind, mark) == (public[:1], _hash(name.encode(), b"\n", public)[:4].hex())
    signature = base64.b64decode(line.split(" ")[2])
    assert signature[:4].hex() == mark
    if kind == b"\x04":
        seconds = int.from_bytes(signature[4:12], "big")
        text = f"cosignature/v1\ntime {seconds}\n".encode() + text
    try:
        Ed25519PublicKey.from_public_bytes(public[1:]).verify(signature[-64:], text)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("name", [*script.REQUIRED_FILES, *script.OPTIONAL_FILES])
def test_every_file_of_a_bundle_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in TEXT

"""The evidence bundle: a zip of flat files, written from given values.

The same values make the same bytes: nothing is compressed, no file has a time. What may be opened
to whom is decided before; here it is only put in its place. `verify.py` reads and checks it.
"""

import io
import stat
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from api.evidence.verify import CONTENTS
from api.printable import page
from api.seen import OF_A_SEED
from events.commitments import Opening
from events.types import Dealing
from store.proof.note import to_base64
from store.proof.tree import Proof

SCRIPT = Path(__file__).with_name("verify.py")

_canonical = msgspec.json.Encoder(order="sorted").encode


class OpenDeck(Struct, frozen=True):
    """What makes a hand's deck, once it is opened: docs/deals.md says how.

    `secret` is that of deck `number`, this hand's or a later one of the chain that was committed
    to with `commitment` and begins with deck `first`; each deck is dealt to `deals` hands.
    """

    commitment: str
    first: int
    number: int
    secret: str
    nonces: tuple[tuple[str, str], ...]
    deals: int = 1


class Announcement(Struct, frozen=True):
    """One append of the match's own records that the hand rests on: its leaf, its public lines, and
    the hashes that lead from it to the root of the checkpoint."""

    leaf: bytes
    proof: Proof
    lines: tuple[bytes, ...]


class Evidence(Struct, frozen=True):
    """All that a bundle says of a hand.

    `record` are its public lines with a newline between, `leaf` the bytes that the tree has of it,
    `receipt` leads from there to a signed checkpoint, `key` is the public key of the log. The
    report names every card: text and JSON, and only for an auditor. `match` is what was announced
    and committed to before the hand, `dealing` how its deck was made.
    """

    hand: str
    view: str
    record: bytes
    openings: tuple[Opening, ...]
    leaf: bytes
    receipt: bytes
    ruleset: bytes
    key: str
    report: tuple[str, bytes] | None = None
    deck: OpenDeck | None = None
    match: tuple[Announcement, ...] = ()
    dealing: Dealing | None = None


def write(evidence: Evidence, sign: Callable[[str], bytes]) -> bytes:
    """The zip; `sign` makes a note of a text with the log's key."""
    files = texts(evidence)
    files["contents"] = sign(contents(files))
    return packed(files)


def texts(evidence: Evidence) -> dict[str, bytes]:
    """Every file but the contents."""
    files = {
        "README.txt": _readme(evidence),
        "checkpoint": evidence.receipt.partition(b"\n\n")[2],
        "events.jsonl": evidence.record + b"\n",
        "key": evidence.key.encode() + b"\n",
        "leaf.json": evidence.leaf,
        "openings.json": _openings(evidence),
        "receipt.tlog-proof": evidence.receipt,
        "ruleset.json": evidence.ruleset,
        "verify.py": SCRIPT.read_bytes(),
    }
    if evidence.report is not None:
        assert evidence.view == "auditor", "a report names every card"
        files["report.txt"], files["report.json"] = evidence.report[0].encode(), evidence.report[1]
    if evidence.match:
        files["match.json"] = _announced(evidence.match)
    if evidence.deck is not None:
        files["deck.json"] = _canonical({"v": 1, **msgspec.to_builtins(evidence.deck)})
    return files


def contents(files: dict[str, bytes]) -> str:
    """The text that the log signs: the digest of every file, sorted by name."""
    rows = [f"{sha256(text).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return "".join((f"{CONTENTS}\n", *rows))


def packed(files: dict[str, bytes]) -> bytes:
    """The files as a zip: stored as they are, so that no packer's version shows in it."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same wherever it is written
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, text)
    return output.getvalue()


def _openings(evidence: Evidence) -> bytes:
    """Each hidden value with its nonce, in the order of the lines."""
    rows: list[dict[str, Any]] = [
        {"field": one.field, "line": one.line, "nonce": one.nonce.hex(), "value": one.value}
        for one in sorted(evidence.openings, key=lambda one: (one.line, one.field))
    ]
    return _canonical({"openings": rows, "v": 1, "view": evidence.view})


def _announced(match: tuple[Announcement, ...]) -> bytes:
    """Leaves and lines are canonical JSON already, and stand there as the objects that they are."""
    rows = [
        {
            "leaf": msgspec.Raw(one.leaf),
            "lines": [msgspec.Raw(line) for line in one.lines],
            "proof": [to_base64(each) for each in one.proof],
        }
        for one in match
    ]
    return _canonical({"records": rows, "v": 1})


def _readme(evidence: Evidence) -> bytes:
    seeded = OF_A_SEED.split("\n") if evidence.dealing == "seeded" else ()
    return page(
        [
            f"This is the evidence of the hand {evidence.hand}, as {evidence.view} may see it.",
            "Run `python3 verify.py --key KEY` in this folder, or take a verify.py that you trust.",
            "KEY is the log's public key as you know it from somewhere else.",
            *seeded,
        ]
    ).encode()

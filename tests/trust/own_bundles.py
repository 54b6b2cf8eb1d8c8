"""Bundles made from docs/record-format.md alone: lines, commitments, tree and notes written anew.

Nothing of `store/`, `events/lines.py` or `api/evidence/` is used, so what they make can be held
against it. A `Draft` can be forged at any stage, and is then signed as if it were honest.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.evidence import verify as verify_py
from api.evidence.verify import Verdict, verify
from dealer.play import play
from engine.game import to_json
from engine.games import GAMES
from events.types import Events, Faulted, HandStarted
from tests.trust.naive_tree import head, path

ORIGIN = "muckrake.local/0a1b2c3d"
SECRET = bytes(range(32))
AT = 1_790_000_000_000
VERIFY = Path(verify_py.__file__)

Line = dict[str, Any]
Files = dict[str, bytes]


class Log:
    """A log's key, from a seed."""

    def __init__(self, seed: int = 1, name: str = ORIGIN) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.name = name
        kind_and_key = b"\x01" + self._private.public_key().public_bytes_raw()
        self.mark = hashlib.sha256(name.encode() + b"\n" + kind_and_key).digest()[:4]
        self.key = f"{name}+{self.mark.hex()}+{b64(kind_and_key)}"

    def note(self, text: str) -> bytes:
        """The text, signed."""
        signature = b64(self.mark + self._private.sign(text.encode()))
        return f"{text}\n\u2014 {self.name} {signature}\n".encode()


class Draft:
    """A bundle that is not signed yet: everything in it may be changed."""

    def __init__(self, record: Events, view: str, place: int = 7, size: int = 12) -> None:
        start = record[0]
        assert isinstance(start, HandStarted)
        self.lines: list[Any]  # objects; or bytes, where they are forged
        self.lines, self.hidden = told(record, start.hand)
        self.players = start.players
        self.view, self.place = view, place
        self.openings = [one for one in self.hidden if may_open(view, self.players, one)]
        self.leaf: Line = {"first": 0, "hand_seq": place, "stream": start.hand, "v": 1}
        self.others = [f"leaf {number}".encode() for number in range(size)]
        self.ruleset = to_json(GAMES[start.game])
        self.more: Files = {}
        self.log = Log()

    def files(self) -> Files:
        """Signed: record, leaf, tree, checkpoint and contents follow from what the draft says."""
        record = b"\n".join(spelled(one) if isinstance(one, dict) else one for one in self.lines)
        digest = hashlib.sha256(record).hexdigest()
        leaf = spelled({"lines": len(self.lines), "record_sha256": digest, **self.leaf})
        leaves = [*self.others[: self.place], leaf, *self.others[self.place + 1 :]]
        return self.signed(record + b"\n", leaf, leaves, path(self.place, leaves))

    def signed(self, record: bytes, leaf: bytes, leaves: list[bytes], proof: list[bytes]) -> Files:
        """The files around a record and a tree, whether they fit or not."""
        checkpoint = self.log.note(f"{self.log.name}\n{len(leaves)}\n{b64(head(leaves))}\n")
        above = ["c2sp.org/tlog-proof@v1", f"index {self.place}", *map(b64, proof), "", ""]
        opened = [{key: one[key] for key in _OPENING} for one in self.openings]
        files = {
            "README.txt": b"three sentences\n",
            "checkpoint": checkpoint,
            "events.jsonl": record,
            "key": f"{self.log.key}\n".encode(),
            "leaf.json": leaf,
            "openings.json": spelled({"openings": opened, "v": 1, "view": self.view}),
            "receipt.tlog-proof": "\n".join(above).encode() + checkpoint,
            "ruleset.json": self.ruleset,
            "verify.py": VERIFY.read_bytes(),
            **self.more,
        }
        return self.sealed(files)

    def sealed(self, files: Files) -> Files:
        """Any files, with contents that name them."""
        rows = [f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in files.items()]
        rows.sort(key=lambda row: row[66:])
        return {**files, "contents": self.log.note("muckrake evidence v1\n" + "".join(rows))}


_OPENING = ("field", "line", "nonce", "value")


def told(record: Events, stream: str) -> tuple[list[Line], list[Line]]:
    """The public lines as objects, and every hidden value: line, field, nonce, value, seat."""
    lines: list[Line] = []
    hidden: list[Line] = []
    faults: dict[int, list[list[Any]]] = {}
    over = False
    for index, event in enumerate(record):
        at = AT + index * 250
        if isinstance(event, Faulted) and event.where == "bid" and not over:
            faults.setdefault(event.seat, []).append([at, event.raw, event.kind])
            continue
        line: Line = {**msgspec.to_builtins(event), "at": at}
        hides: dict[str, Any] = {}
        match line["type"]:
            case "HoleDealt":
                hides = {"cards": line["cards"]}
            case "BidPlaced":
                hides = {"amount": line["amount"], "origin": line["origin"]}
                hides["faults"] = faults.pop(line["seat"], [])
            case "CardSwapped":
                hides = {"old": line["old"], "new": line["new"]}
                if line["told"]:
                    line["changed"] = line["old"] != line["new"]
            case "BountyDrawn":
                hides = {"rank": line["rank"]}
            case "Faulted":
                hides = {"raw": line["raw"]}
            case "HandEnded" | "HandVoided":
                over = True
                hides = {
                    "faults": [[seat, *one] for seat in sorted(faults) for one in faults[seat]]
                }
        for field, value in hides.items():
            nonce = nonce_of(stream, index, field)
            line[field] = {"commitment": commitment(nonce, value)}
            if field == "cards":
                line[field]["count"] = len(value)
            opening = {"field": field, "line": len(lines), "nonce": nonce.hex(), "value": value}
            hidden.append({**opening, "seat": line.get("seat"), "sealed": line.get("sealed")})
        lines.append(line)
    return lines, hidden


def may_open(view: str, players: tuple[str, ...], one: Line) -> bool:
    """An auditor opens all, a seat its own and open bids, the public nothing."""
    if view == "auditor":
        return True
    if view == "public":
        return False
    is_open = one["sealed"] is False and one["field"] != "faults"
    mine: bool = one["seat"] == players.index(view.removeprefix("seat:"))
    return is_open or mine


def nonce_of(stream: str, index: int, field: str) -> bytes:
    match = stream.rpartition("/")[0]
    key = hmac.new(SECRET, b"muckrake/nonces/v1\x00" + match.encode(), "sha256").digest()
    return hmac.new(key, f"{stream}\n{index}\n{field}".encode(), "sha256").digest()


def commitment(nonce: bytes, value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"muckrake/commitment/v1\x00" + nonce + text.encode()).hexdigest()


def spelled(value: Any) -> bytes:
    """Canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def hands(
    game: str, count: int = 20, seed: str = "7", seats: int | None = None
) -> tuple[Events, ...]:
    """Hands that random bots have played."""
    return tuple(play(GAMES[game], "scrim", count, seed, seats))


def with_kinds(game: str, *kinds: type[Any]) -> Events:
    """The first hand in which all of these happened."""
    for record in hands(game, 60):
        if set(kinds) <= {type(event) for event in record}:
            return record
    raise AssertionError(f"no hand of {game} has them all")


def verdict(draft: Draft, change: Callable[[Files], Files] = lambda files: files) -> Verdict:
    """What the verifier says of a draft as it is signed, or of its files changed afterwards."""
    return verify(change(draft.files()))


def problem(files: Files) -> str:
    """The one sentence by which these files are refused."""
    found = verify(files)
    assert found.proved == ()
    (sentence,) = found.problems
    return sentence


def views(players: Iterable[str]) -> tuple[str, ...]:
    """Everybody for whom there is a bundle."""
    return ("public", *(f"seat:{player}" for player in players), "auditor")

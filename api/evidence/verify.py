#!/usr/bin/env python3
"""Check the evidence of a hand: who signed it, that nothing was changed, that it adds up.

    python3 verify.py [PATH] [--key KEY]... [--policy FILE]

PATH is a bundle: a zip, or a folder into which one was unpacked; without it, the folder in which
this file lies. KEY is a public key of the log as you know it from elsewhere, or a file with such
keys, one a line. FILE is a c2sp.org/tlog-policy: which logs are believed, which witnesses are
known, and which of them must have cosigned the checkpoint. Any Python from 3.8 on will do; nothing
else is needed and nothing of a bundle is
executed. If you do not trust who gave you the bundle, do not run the copy that came with it: take
this file from somewhere else and name the bundle, or write your own: docs/record-format.md says
every byte.

It says what is proved and ends with 0; with 7 if all holds, but you named no key, so that nothing
tells whose signature it is; with 3 and one sentence for each problem if something is wrong; with 1
if the bundle cannot be read or is of a later version; with 2 if the command line makes no sense.

It goes from the outside in, and each step rests on those before it:

1. The bundle holds the files of a bundle and no others, and none is too large to be one.
2. `contents` names the digest of every file and is signed by the key in `key`.
3. `checkpoint` is signed by the same key; `receipt.tlog-proof` leads from the leaf to its root;
   the leaf names the digest of `events.jsonl`.
4. Every line of `events.jsonl` is one event, spelled in the one way in which it can be.
5. Every opening fits the commitment that stands in its line, so it was fixed before it was shown.
6. The rules are those that the hand names; chips are neither made nor lost; no card is in two
   places; and if the secret of the deck was opened, the cards are those of that deck.

It does not check whether the pot was paid by the rules. That is what an audit is for.
"""

import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]  # this folder: a json.py that lies here is read like any file, and never run

import base64
import binascii
import functools
import hashlib
import hmac
import json
import os
import re
import stat
import struct
import zlib
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

REQUIRED_FILES = (
    "README.txt",
    "checkpoint",
    "contents",
    "events.jsonl",
    "key",
    "leaf.json",
    "openings.json",
    "receipt.tlog-proof",
    "ruleset.json",
    "verify.py",
)
OPTIONAL_FILES = ("deck.json", "match.json", "report.json", "report.txt")
FILE_MAX = 8 * 1024 * 1024  # bytes; a hand has some ten thousand
FILES_MAX = 32
BUNDLE_MAX = 4 * FILE_MAX  # bytes of a bundle, packed or unpacked
INTEGER_MAX = 2**53 - 1  # the largest number that every reader of JSON reads alike
DECIMAL_MAX = 2**63 - 1
DEPTH_MAX = 8
SIGNATURES_MAX = 100
PROBLEMS_MAX = 20
COMMITMENT = b"muckrake/commitment/v1\x00"
VERSION = 1
CONTENTS = f"muckrake evidence v{VERSION}"
PROOF = "c2sp.org/tlog-proof@v1"
UNKNOWN_CARD = "??"  # a card never recorded, or not opened here: counted, not compared
RANKS = tuple("23456789TJQKA")
DECK = tuple(rank + suit for rank in RANKS for suit in "cdhs")
PROVED, UNREAD, MISUSED, WRONG, OWN_KEY = 0, 1, 2, 3, 7  # how the program ends
WARNING = (
    "WARNING: nothing says whose key this is but the bundle itself, and anybody can sign a bundle"
    " with a key of his own: say --key and the key you know."
)


class Refusal(Exception):
    """A bundle is wrong: one sentence or several."""


class UnreadableBundle(Exception):
    """A bundle cannot be checked: it does not exist, or is of a later version."""


class Verdict(NamedTuple):
    """The result: sentences on problems, or else on what is proved, and an exit code."""

    problems: Tuple[str, ...]
    proved: Tuple[str, ...]
    code: int = PROVED


def verify(
    files: Dict[str, bytes], known: Sequence["Key"] = (), policy: Optional["Policy"] = None
) -> Verdict:
    """Check a bundle, its files by name; where keys are known, one of them must have signed."""
    return check_bundle(lambda: files, known, policy)


def check_bundle(
    read: Callable[[], Dict[str, bytes]],
    known: Sequence["Key"] = (),
    policy: Optional["Policy"] = None,
) -> Verdict:
    """Check the bundle that the function `read` returns."""
    is_known = bool(known or (policy and policy.logs))
    try:
        proved = tuple(ascii_line(sentence) for sentence in proved_sentences(read(), known, policy))
        return Verdict((), proved, PROVED if is_known else OWN_KEY)
    except Refusal as refusal:
        return Verdict(refusal_sentences(refusal), (), WRONG)
    except UnreadableBundle as reason:
        return Verdict((ascii_line(str(reason)),), (), UNREAD)


def refusal_sentences(refusal: Refusal) -> Tuple[str, ...]:
    """The sentences of a refusal; of very many, the first."""
    more = len(refusal.args) - PROBLEMS_MAX
    sentences = [
        *refusal.args[:PROBLEMS_MAX],
        *([f"{more} more things are wrong"] if more > 0 else []),
    ]
    return tuple(ascii_line(sentence) for sentence in sentences)


def proved_sentences(
    files: Dict[str, bytes], known: Sequence["Key"], policy: Optional["Policy"] = None
) -> Iterator[str]:
    """Take the steps in their order and yield what is proved; the first refusal ends them."""
    check_version(files)
    check_names(files)
    key = read_key("key", files["key"])
    check_known(key, known)
    check_known(key, policy.logs if policy else ())
    check_contents(files, key)
    head = read_checkpoint(files, key)
    seen = cosigners(files["checkpoint"], policy) if policy else []
    leaf = read_leaf(files, head)
    lines = read_lines(files["events.jsonl"], leaf)
    view, opened = read_openings(files["openings.json"], lines)
    announced = read_match(files, leaf, head)
    check_all(
        lambda: check_view(view, lines, opened),
        lambda: check_ruleset(files["ruleset.json"], lines[0]),
        lambda: check_hand(files, with_openings(lines, opened)),
    )
    hidden = sum(len(commitments(line)) for line in lines)
    yield (
        f"Hand {as_name(leaf['stream'])} of {as_name(lines[0]['game'])}, {len(lines)} lines, is"
        f" leaf {leaf['hand_seq']} of the log {key.name} of {head.size} leaves, and not a byte of"
        " it or of this bundle was changed since it was signed."
    )
    yield (
        "Its chips add up at every line, no card is in two places, and its rules are the ruleset"
        f" {lines[0]['ruleset']}. This does not check the payout: run muckrake audit."
    )
    yield f"This bundle is for {as_name(view)}: {len(opened)} of {hidden} hidden values are opened."
    if "deck.json" in files:
        yield (
            "The deck is opened: the cards known here are those that the commitment and nonces in"
            " deck.json make."
        )
    if announced:
        yield deck_sentence(announced, leaf)
    is_known = known or (policy and policy.logs)
    compare = ", a key that you know." if is_known else ": compare it with the key you know."
    yield f"Signed by {key.line}{compare}"
    if policy:
        names = ", ".join(map(as_name, seen)) or "no witness"
        yield f"Cosigned by {names}: what the policy asks for, {as_name(policy.quorum)}."


def check_all(*checks: Callable[[], object]) -> None:
    """Run independent checks, all of them, then refuse with the sentences of those that failed."""
    found: List[str] = []
    for check in checks:
        try:
            check()
        except Refusal as refusal:
            found.extend(one for one in refusal.args if one not in found)
    if found:
        raise Refusal(*found)


# 1. The files.


def check_version(files: Dict[str, bytes]) -> None:
    """A bundle of a later version may hold anything: it needs a later copy of this program."""
    version = re.match(rb"muckrake evidence v([1-9][0-9]{0,8})\n", files.get("contents", b""))
    if version and int(version.group(1)) > VERSION:
        raise UnreadableBundle(
            f"this bundle is of version {version.group(1).decode()}, and this verify.py knows no"
            f" version after {VERSION}: take a newer one from somebody whom you trust"
        )


def check_names(files: Dict[str, bytes]) -> None:
    """Check that a bundle has its files, no others, and none too large."""
    missing = [name for name in REQUIRED_FILES if name not in files]
    found = [f"the bundle is not whole: it lacks {', '.join(missing)}"] if missing else []
    found += [
        f"{quoted(name)} is no file of a bundle: take it out of the folder"
        for name in sorted(set(files) - {*REQUIRED_FILES, *OPTIONAL_FILES})
    ]
    found += [
        f"{quoted(name)} has {len(text)} bytes, and no file of a bundle more than {FILE_MAX}"
        for name, text in sorted(files.items())
        if len(text) > FILE_MAX
    ]
    if found:
        raise Refusal(*found)


# 2. Keys and signed notes, as c2sp.org/signed-note has them.


class Key(NamedTuple):
    """A public key: the log that signs with it, and four bytes that stand for it in a note."""

    line: str
    name: str
    mark: bytes
    public: bytes


NAME = "[^\\s+\x00-\x1f\x7f]+"  # of a key: no whitespace, no control character, no plus


LOGS, WITNESSES = 1, 4  # kinds of keys: one signs notes, one cosigns checkpoints with a time


def read_key(where: str, text: bytes, kind: int = LOGS) -> Key:
    """NAME+HASH+BASE64 and a newline: the hash is of the name and the key, the key of Ed25519."""
    line = read_text(where, text)[:-1]
    match = re.match(f"({NAME})\\+([0-9a-f]{{8}})\\+([A-Za-z0-9+/=]+)\\Z", line)
    if not text.endswith(b"\n") or not match:
        raise Refusal(f"{where} is not one line NAME+HASH+KEY")
    name, mark, encoded = match.groups()
    kind_and_key = read_base64(where, encoded)
    hashed = hashlib.sha256(name.encode() + b"\n" + kind_and_key).digest()[:4]
    if len(kind_and_key) != 33 or kind_and_key[0] != kind:
        does = "signs notes" if kind == LOGS else "cosigns checkpoints"
        raise Refusal(f"{where} is not an Ed25519 key that {does}")
    if hashed.hex() != mark:
        raise Refusal(f"{where} is damaged: its hash is not that of its name and key")
    if key_point(kind_and_key[1:]) is None:
        raise Refusal(f"{where} is no key that anybody can have drawn: no point of order L")
    return Key(line, name, hashed, kind_and_key[1:])


def read_known(where: str, text: bytes) -> List[Key]:
    """A file of keys, one a line; empty lines and those that begin with # say nothing."""
    found = [
        read_key(f"{where} line {number}", line.strip() + b"\n")
        for number, line in enumerate(text.split(b"\n"), 1)
        if line.strip() and not line.startswith(b"#")
    ]
    if not found:
        raise Refusal(f"{where} holds no key")
    return found


def check_known(key: Key, known: Sequence[Key]) -> None:
    """Check that the key is among the known ones, if there are any."""
    if not known or key in known:
        return
    same = ", ".join(one.line for one in known if one.name == key.name)
    of_it = f"; of that log you know {same}" if same else ""
    raise Refusal(f"this is signed by {key.line}, which is no key that you know{of_it}")


def read_note(name: str, note: bytes, key: Key) -> str:
    """The text of a note, if this key signed it; other keys' signatures prove nothing here."""
    text, signatures = read_signatures(name, note)
    found = [signed for who, mark, signed in signatures if (who, mark) == (key.name, key.mark)]
    if not all(is_signed(key.public, signed, text.encode()) for signed in found):
        raise Refusal(f"{name} was changed after {key.name} signed it, or another key signed it")
    if not found:
        raise Refusal(f"{name} is not signed by the key in key, {key.line}")
    return text


def read_signatures(name: str, note: bytes) -> Tuple[str, List[Tuple[str, bytes, bytes]]]:
    """The text of a note, and of each signature its key's name, its mark, and what it signed."""
    whole = read_text(name, note)
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", whole):
        raise Refusal(f"{name} holds a control character")
    text, blank, signed = whole.rpartition("\n\n")
    lines = signed.split("\n")
    if not blank or lines.pop() != "" or not 0 < len(lines) <= SIGNATURES_MAX:
        raise Refusal(f"{name} is not a signed note: a text, an empty line, signatures")
    found_all: List[Tuple[str, bytes, bytes]] = []
    for line in lines:
        match = re.match(f"\u2014 ({NAME}) ([A-Za-z0-9+/=]+)\\Z", line)
        if not match:
            raise Refusal(f"{name} is not a signed note: {quoted(line)} is no signature")
        signature = read_base64(name, match.group(2))
        if len(signature) < 5:
            raise Refusal(f"{name} is not a signed note: {quoted(line)} is too short a signature")
        found_all.append((match.group(1), signature[:4], signature[4:]))
    return text + "\n", found_all


def check_contents(files: Dict[str, bytes], key: Key) -> None:
    """`contents`: the digests of all other files, sorted by name, in a note of the log's key."""
    first, *rows = read_note("contents", files["contents"], key)[:-1].split("\n")
    if first != CONTENTS:
        raise Refusal(f"contents begins with {quoted(first)}, not with {CONTENTS}")
    pairs = [re.match(r"([0-9a-f]{64})  (\S+)\Z", row) for row in rows]
    digests = {pair.group(2): pair.group(1) for pair in pairs if pair}
    if len(digests) != len(rows) or list(digests) != sorted(digests):
        raise Refusal("contents is not one line with digest and name for each file, in order")
    present = set(files) - {"contents"}
    refusal = [
        f"{quoted(name)} is in contents, but missing" for name in sorted(set(digests) - present)
    ]
    refusal += [f"contents does not name {name}" for name in sorted(present - set(digests))]
    refusal += [
        f"{name} was changed: its digest is not the one that {key.name} signed"
        for name in sorted(present & set(digests))
        if hashlib.sha256(files[name]).hexdigest() != digests[name]
    ]
    if refusal:
        raise Refusal(*refusal)


# 3. The tree, as RFC 6962 hashes it and c2sp.org/tlog-checkpoint and tlog-proof write it down.


class TreeHead(NamedTuple):
    """A signed tree head: the number of leaves, and their root."""

    size: int
    root: bytes


def read_checkpoint(files: Dict[str, bytes], key: Key) -> TreeHead:
    """Three lines, signed by the log whose name is the first of them."""
    text = read_note("checkpoint", files["checkpoint"], key)
    match = re.match(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/=]+)\n\Z", text)
    if not match:
        raise Refusal("checkpoint is not three lines: the log, its size, its root")
    if match.group(1) != key.name:
        raise Refusal(f"checkpoint is of the log {quoted(match.group(1))}, not of {key.name}")
    size = read_decimal("checkpoint", match.group(2))
    return TreeHead(size, read_hash("checkpoint", match.group(3)))


class Policy(NamedTuple):
    """Trusted logs, known witnesses, and the quorum of these."""

    logs: List[Key]
    witnesses: Dict[str, Key]
    groups: List[Tuple[str, int, List[str]]]
    quorum: str


def cosigners(checkpoint: bytes, policy: Policy) -> List[str]:
    """The witnesses that have cosigned, by their names in the policy; they must be the quorum."""
    text, signatures = read_signatures("checkpoint", checkpoint)
    found = []
    for name, key in policy.witnesses.items():
        own = [signed for who, mark, signed in signatures if (who, mark) == (key.name, key.mark)]
        for signed in own:
            at = int.from_bytes(signed[:8], "big")
            message = f"cosignature/v1\ntime {at}\n{text}".encode()
            if at > DECIMAL_MAX or not is_signed(key.public, signed[8:], message):
                raise Refusal(f"checkpoint was changed after {key.name} cosigned it")
        if own:
            found.append(name)
    met = {*found, NOBODY}
    for name, needed, members in policy.groups:  # a group names only what stands above it
        if len(met.intersection(members)) >= needed:
            met.add(name)
    if policy.quorum not in met:
        by = ", ".join(map(as_name, found)) or "no witness of the policy"
        raise Refusal(
            f"checkpoint is cosigned by {by}, and the policy asks for {as_name(policy.quorum)}"
        )
    return found


NOBODY = "none"


def read_policy(where: str, text: bytes) -> Policy:
    """The lines of a c2sp.org/tlog-policy."""
    policy = Policy([], {}, [], "")
    quorums: List[str] = []
    members: Set[str] = set()
    keys: Set[bytes] = set()
    for number, line in enumerate(read_text(where, text).split("\n"), 1):
        words = [word for word in re.split("[ \t]+", line) if word]
        at = f"{where} line {number}"
        if not words or words[0].startswith("#"):
            continue
        names = {NOBODY, *policy.witnesses, *(name for name, _, _ in policy.groups)}
        if words[0] == "log" and 2 <= len(words) <= 3:
            key = read_key(at, words[1].encode() + b"\n")
            policy.logs.append(key)
        elif words[0] == "witness" and 3 <= len(words) <= 4 and words[1] not in names:
            key = read_key(at, words[2].encode() + b"\n", WITNESSES)
            policy.witnesses[words[1]] = key
        elif words[0] == "group" and len(words) > 3 and words[1] not in names:
            of = words[3:]
            counts = {"all": len(of), "any": 1, **{str(n): n for n in range(1, len(of) + 1)}}
            is_new = len(of) == len(set(of)) and not members.intersection(of)
            if words[2] not in counts or not is_new or not set(of) <= names - {NOBODY}:
                raise Refusal(f"{at} is no group of witnesses and groups above it, each once")
            policy.groups.append((words[1], counts[words[2]], of))
            members.update(of)
            continue
        elif words[0] == "quorum" and len(words) == 2 and words[1] in names and not quorums:
            quorums.append(words[1])
            continue
        else:
            raise Refusal(f"{at} is no line of a policy, or names what is not above it, or twice")
        if key.public in keys:
            raise Refusal(f"{at}: this key stands above already")
        keys.add(key.public)
    if not quorums:
        raise Refusal(f"{where} has no line `quorum NAME`, or `quorum none`")
    return policy._replace(quorum=quorums[0])


def read_leaf(files: Dict[str, bytes], head: TreeHead) -> Dict[str, Any]:
    """The leaf, if the receipt leads from it to the root, and it names the digest of the record."""
    leaf = read_json("leaf.json", files["leaf.json"], 1)
    check_leaf("leaf.json", leaf, is_whole(0))
    receipt = read_text("receipt.tlog-proof", files["receipt.tlog-proof"])
    proof, _, note = receipt.partition("\n\n")
    if note.encode() != files["checkpoint"]:
        raise Refusal("the receipt ends with another checkpoint than the one in checkpoint")
    match = re.match(r"([^\n]*)\nindex (0|[1-9][0-9]{0,18})((?:\n[^\n]+)*)\Z", proof)
    if not match or match.group(1) != PROOF:
        raise Refusal(f"receipt.tlog-proof does not begin with {PROOF} and an index")
    place = read_decimal("receipt.tlog-proof", match.group(2))
    if place != leaf["hand_seq"]:
        raise Refusal(f"the receipt is for leaf {place}, not for leaf {leaf['hand_seq']}")
    path = [read_hash("receipt.tlog-proof", one) for one in match.group(3).split("\n")[1:]]
    root = root_of(hashlib.sha256(b"\x00" + files["leaf.json"]).digest(), place, head.size, path)
    if root != head.root:
        raise Refusal("the receipt does not lead from this leaf to the root in checkpoint")
    record = files["events.jsonl"]
    if not record.endswith(b"\n"):
        raise Refusal("events.jsonl does not end with a newline")
    if hashlib.sha256(record[:-1]).hexdigest() != leaf["record_sha256"]:
        raise Refusal("events.jsonl is not the record that the leaf names: its digest is another")
    return leaf


def check_leaf(where: str, leaf: Any, first: "Check") -> None:
    """A leaf has these fields; a hand begins at event 0 of its stream."""
    kinds: Dict[str, Check] = {
        "first": first,
        "hand_seq": is_whole(INTEGER_MAX),
        "lines": is_whole(INTEGER_MAX),
        "record_sha256": is_hex,
        "stream": is_text,
        "v": is_one_of(1),
    }
    check_fields(where, leaf, kinds)


def root_of(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], where: str = "receipt.tlog-proof"
) -> bytes:
    """The root that a leaf's hash and the hashes beside its way up make (RFC 9162, 2.1.3.2)."""
    if index >= size:
        raise Refusal(f"the checkpoint is too old: leaf {index} is not among its {size} leaves")
    last, root = size - 1, leaf
    for sibling in path:
        if last == 0:
            raise Refusal(f"{where} has more hashes than the tree has levels")
        if index & 1 or index == last:
            root = hashlib.sha256(b"\x01" + sibling + root).digest()
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\x01" + root + sibling).digest()
        index, last = index >> 1, last >> 1
    if last:
        raise Refusal(f"{where} has fewer hashes than the tree has levels")
    return root


# 4. The lines: one event each, in canonical JSON.

Check = Callable[[Any], bool]


def is_whole(most: int) -> Check:
    """A whole number from 0; true and false are none."""
    return lambda value: type(value) is int and 0 <= value <= most


def is_net(value: Any) -> bool:
    return type(value) is int and abs(value) <= INTEGER_MAX


def is_one_of(*words: object) -> Check:
    return lambda value: any(type(value) is type(word) and value == word for word in words)


def is_list_of(check: Check) -> Check:
    return lambda value: type(value) is list and all(check(one) for one in value)


def is_full_list(check: Check) -> Check:
    """A row of at least one."""
    return lambda value: is_list_of(check)(value) and len(value) > 0


def is_rows(*checks: Check) -> Check:
    """A row of rows, each with a value for each of these."""
    return is_list_of(
        lambda value: (
            type(value) is list
            and len(value) == len(checks)
            and all(check(one) for check, one in zip(checks, value))
        )
    )


def is_text(value: Any) -> bool:
    return type(value) is str


def is_date(value: Any) -> bool:
    """A day, or a time of it, with an offset or without."""
    day, clock, zone = (
        r"[0-9]{4}(-[0-9]{2}){2}",
        r"[0-9]{2}(:[0-9]{2}){2}",
        r"Z|[+-][0-9]{2}:[0-9]{2}",
    )
    return is_text(value) and re.fullmatch(f"{day}(T{clock}({zone})?)?", value) is not None


def is_hex(value: Any) -> bool:
    return type(value) is str and re.match(r"[0-9a-f]{64}\Z", value) is not None


def is_next_seat(value: Any) -> bool:
    return value is None or SEAT(value)


SEAT, CHIPS, STEP, AT = is_whole(22), is_whole(INTEGER_MAX), is_whole(99), is_whole(INTEGER_MAX)
FLAG, CARD, RANK = is_one_of(True, False), is_one_of(*DECK, UNKNOWN_CARD), is_one_of(*RANKS)
CARDS, SEATS, STACKS = is_list_of(CARD), is_list_of(SEAT), is_list_of(CHIPS)
ORIGIN = is_one_of("chosen", "forced", "default", "recorded")
BLIND = is_one_of("small", "big", "straddle", "post", "dead")
FAULT = is_one_of("illegal", "malformed", "late", "disconnected")
PLACE = is_one_of("action", "acknowledgement", "bid")

EVENTS: Dict[str, Dict[str, Check]] = {
    "HandStarted": {
        "hand": is_text,
        "game": is_text,
        "ruleset": is_text,
        "button": SEAT,
        "players": is_list_of(is_text),
        "stacks": STACKS,
        "dead_small": FLAG,
    },
    "StepEntered": {"step": STEP, "name": is_text},
    "AntePosted": {"seat": SEAT, "amount": CHIPS},
    "BlindPosted": {"seat": SEAT, "amount": CHIPS, "to": CHIPS, "kind": BLIND, "origin": ORIGIN},
    "HoleDealt": {"seat": SEAT},
    "BoardDealt": {"cards": CARDS},
    "CardSwapped": {"seat": SEAT, "slot": is_whole(3), "told": FLAG},
    "BountyDrawn": {"seat": SEAT},
    "BettingOpened": {
        "step": STEP,
        "street": is_text,
        "bet": CHIPS,
        "size": CHIPS,
        "next": is_next_seat,
    },
    "Folded": {"seat": SEAT, "next": is_next_seat, "origin": ORIGIN},
    "Checked": {"seat": SEAT, "next": is_next_seat, "origin": ORIGIN},
    "Called": {"seat": SEAT, "amount": CHIPS, "next": is_next_seat, "origin": ORIGIN},
    "Bet": {"seat": SEAT, "amount": CHIPS, "full": FLAG, "next": is_next_seat, "origin": ORIGIN},
    "Raised": {
        "seat": SEAT,
        "amount": CHIPS,
        "to": CHIPS,
        "full": FLAG,
        "next": is_next_seat,
        "origin": ORIGIN,
    },
    "BidPlaced": {"seat": SEAT, "sealed": FLAG},
    "AuctionSettled": {"seats": SEATS, "price": CHIPS, "bids": STACKS, "sealed": FLAG},
    "Tossed": {"seat": SEAT, "slot": is_whole(3), "cards": CARDS, "origin": ORIGIN},
    "UncalledReturned": {"seat": SEAT, "amount": CHIPS},
    "Announced": {"seat": SEAT, "cards": CARDS},
    "Shown": {"seat": SEAT, "cards": CARDS},
    "Mucked": {"seat": SEAT},
    "RakeTaken": {"pot": STEP, "amount": CHIPS},
    "PotSplit": {"pot": STEP, "seats": SEATS, "shares": STACKS},
    "BountySettled": {"seat": SEAT, "payer": SEAT, "hit": FLAG, "amount": CHIPS},
    "TimedOut": {"seat": SEAT, "all_in": FLAG, "next": is_next_seat},
    "Disconnected": {"seat": SEAT},
    "Reconnected": {"seat": SEAT},
    "Faulted": {"seat": SEAT, "kind": FAULT, "where": PLACE},
    "Claimed": {"nets": is_list_of(is_net), "rake": CHIPS},
    "HandVoided": {"reason": is_text},
    "HandEnded": {},
}
LATER_FIELDS: Dict[str, Dict[str, Check]] = {
    "HandStarted": {"assumed": is_full_list(is_text), "played": is_date},
    "NonceGiven": {"drawn_by": is_one_of("player", "dealer")},
}
HIDDEN_FIELDS: Dict[str, Dict[str, Check]] = {
    "HoleDealt": {"cards": CARDS},
    "CardSwapped": {"old": CARD, "new": CARD},
    "BountyDrawn": {"rank": RANK},
    "BidPlaced": {"amount": CHIPS, "origin": ORIGIN, "faults": is_rows(AT, is_text, FAULT)},
    "Faulted": {"raw": is_text},
    "HandVoided": {"faults": is_rows(SEAT, AT, is_text, FAULT)},
    "HandEnded": {"faults": is_rows(SEAT, AT, is_text, FAULT)},
}

Line = Dict[str, Any]


def read_lines(record: bytes, leaf: Dict[str, Any]) -> List[Line]:
    """The events of the record, each with exactly the fields of its kind, from start to end."""
    texts = record[:-1].split(b"\n")
    if len(texts) != leaf["lines"]:
        raise Refusal(f"events.jsonl has {len(texts)} lines, and the leaf says {leaf['lines']}")
    lines = [read_line(number, text) for number, text in enumerate(texts, 1)]
    kinds = [line["type"] for line in lines]
    if kinds[0] != "HandStarted" or kinds.count("HandStarted") != 1:
        raise Refusal("events.jsonl does not begin with HandStarted, or begins more than once")
    if lines[0]["hand"] != leaf["stream"]:
        raise Refusal(f"the record is of {quoted(lines[0]['hand'])}, the leaf of another hand")
    if kinds.count("HandEnded") + kinds.count("HandVoided") != 1:
        raise Refusal("a closed hand has one HandEnded or HandVoided, and this one has not")
    return lines


def read_line(number: int, text: bytes) -> Line:
    where = f"events.jsonl line {number}"
    line = read_json(where, text, 4)
    kind = line.get("type")
    if type(kind) is not str or kind not in EVENTS:
        raise Refusal(f"{where}: {quoted(kind)} is no kind of event of a hand")
    kinds = {"type": is_text, "at": AT, **EVENTS[kind]}
    for field in HIDDEN_FIELDS.get(kind, ()):
        kinds[field] = is_hidden_cards if field == "cards" else is_commitment
    if kind == "CardSwapped" and line.get("told") is True:
        kinds["changed"] = FLAG
    kinds.update(later_fields(kind, line))
    check_fields(where, line, kinds)
    return line


def later_fields(kind: str, line: Line) -> Dict[str, Check]:
    """The checks of those fields of this line that were added to its kind later."""
    return {field: check for field, check in LATER_FIELDS.get(kind, {}).items() if field in line}


def is_commitment(value: Any) -> bool:
    return type(value) is dict and set(value) == {"commitment"} and is_hex(value["commitment"])


def is_hidden_cards(value: Any) -> bool:
    """Whether a value hides cards: their commitment and their number."""
    return (
        type(value) is dict
        and set(value) == {"commitment", "count"}
        and is_hex(value["commitment"])
        and is_whole(52)(value["count"])
    )


def check_fields(where: str, found: Any, kinds: Dict[str, Check]) -> None:
    """Each field once, of its kind, and no other."""
    if type(found) is not dict or set(found) != set(kinds):
        raise Refusal(f"{where} has not exactly the fields {', '.join(sorted(kinds))}")
    for field, check in sorted(kinds.items()):
        if not check(found[field]):
            raise Refusal(f"{where}: {quoted(found[field])} cannot be its {field}")


# 5. Commitments and openings.

Opened = Dict[Tuple[int, str], Any]


def commitments(line: Line) -> Tuple[str, ...]:
    """The fields of this line that are hidden."""
    return tuple(HIDDEN_FIELDS.get(line["type"], ()))


def read_openings(text: bytes, lines: List[Line]) -> Tuple[str, Opened]:
    """The viewpoint and the opened values; each must be the one that its line commits to."""
    document = read_json("openings.json", text, 6)
    kinds: Dict[str, Check] = {
        "openings": is_list_of(is_opening),
        "view": is_text,
        "v": is_one_of(1),
    }
    check_fields("openings.json", document, kinds)
    opened: Opened = {}
    refusal = []
    for one in document["openings"]:
        number, field, value = one["line"], one["field"], one["value"]
        what = f"the opening of {quoted(field)} in line {number + 1}"
        if number >= len(lines) or field not in commitments(lines[number]):
            refusal.append(f"{what} opens nothing: no such thing is hidden there")
        elif (number, field) in opened:
            refusal.append(f"{what} stands there twice")
        elif not HIDDEN_FIELDS[lines[number]["type"]][field](value):
            refusal.append(f"{what}: {quoted(value)} cannot be its value")
        elif not is_committed(one, lines[number][field]):
            refusal.append(f"{what} is wrong: the line commits to another value or nonce")
        else:
            opened[number, field] = value
    if refusal:
        raise Refusal(*refusal)
    return document["view"], opened


def is_opening(value: Any) -> bool:
    return (
        type(value) is dict
        and set(value) == {"field", "line", "nonce", "value"}
        and is_text(value["field"])
        and is_whole(INTEGER_MAX)(value["line"])
        and is_hex(value["nonce"])
    )


def is_committed(opening: Dict[str, Any], place: Dict[str, Any]) -> bool:
    """SHA-256 of a tag, the nonce and the value; of cards the count must be right, too."""
    nonce, value = bytes.fromhex(opening["nonce"]), opening["value"]
    digest = hashlib.sha256(COMMITMENT + nonce + canonical(value)).hexdigest()
    length = len(value) if type(value) is list else 1
    return digest == place["commitment"] and place.get("count") in (None, length)


def check_view(view: str, lines: List[Line], opened: Opened) -> None:
    """Check the viewpoint of the bundle; an auditor's bundle hides nothing."""
    players = lines[0]["players"]
    if view not in ("public", "auditor", *(f"seat:{player}" for player in players)):
        raise Refusal(
            f"openings.json is for {quoted(view)}, and nobody of that name is in this hand"
        )
    closed = sum(len(commitments(line)) for line in lines) - len(opened)
    if view == "auditor" and closed:
        raise Refusal(f"openings.json is for the auditor, and leaves {closed} hidden values closed")


def with_openings(lines: List[Line], opened: Opened) -> List[Line]:
    """The lines with opened values in their places; a card that is not opened is unknown."""
    whole = []
    for number, line in enumerate(lines):
        shown = dict(line)
        for field in commitments(line):
            closed: Any = None
            if field == "cards":
                closed = [UNKNOWN_CARD] * line["cards"]["count"]
            elif field in ("old", "new", "rank"):
                closed = UNKNOWN_CARD
            shown[field] = opened.get((number, field), closed)
        whole.append(shown)
    return whole


# 6. The rules' name, the chips and the cards.


def check_ruleset(text: bytes, start: Line) -> None:
    """Sixteen hex digits of a digest name the rules; what is merely said about them is left out."""
    rules = read_json("ruleset.json", text, DEPTH_MAX)
    digest = {k: v for k, v in rules.items() if k not in ("document", "partner", "readings")}
    if hashlib.sha256(canonical(digest)).hexdigest()[:16] != start["ruleset"]:
        raise Refusal(f"ruleset.json is not the ruleset {quoted(start['ruleset'])} of this hand")
    if rules.get("name") != start["game"]:
        raise Refusal(
            f"ruleset.json is called {quoted(rules.get('name'))}, not {quoted(start['game'])}"
        )


def check_hand(files: Dict[str, bytes], lines: List[Line]) -> None:
    """Add up the hand line by line, and compare its cards with the deck, if that is opened."""
    swapped = any(line["type"] == "CardSwapped" for line in lines)
    rules = read_json("ruleset.json", files["ruleset.json"], DEPTH_MAX) if swapped else {}
    table = TableState(lines[0], rules.get("swap_discard") == "dead")
    for number, line in enumerate(lines[1:], 2):
        try:
            table.count(line)
        except Refusal as refusal:
            raise Refusal(f"events.jsonl line {number}: {refusal}") from None
    if "deck.json" in files:
        check_deck(files, lines)


class TableState:
    """Chips in stacks, pot and rake, and cards in hands and on the board; counted, not judged.

    `dies` says that by the rules a card that was swapped away is out of play.
    """

    def __init__(self, start: Line, dies: bool = False) -> None:
        self.brought: List[int] = start["stacks"]
        self.stacks = list(self.brought)
        self.paid = [0] * len(self.stacks)
        self.hole: List[List[str]] = [[] for _ in self.stacks]
        self.board: List[str] = []
        self.dies, self.gone = dies, []  # type: bool, List[str]
        self.pot = self.rake = 0
        self.over = False
        self.owing: Set[int] = set()
        if len(start["players"]) != len(self.stacks) or not self.stacks:
            raise Refusal("events.jsonl line 1: not every player has a stack, or nobody plays")
        if start["button"] >= len(self.stacks):
            raise Refusal(f"events.jsonl line 1: there is no seat {start['button']} for the button")

    def count(self, line: Line) -> None:
        """Apply a line; chips and cards must add up after it."""
        kind = line["type"]
        seats = line.get("seats", [])
        for seat in (*seats, line.get("seat"), line.get("payer"), line.get("next")):
            if seat is not None and seat >= len(self.stacks):
                raise Refusal(f"there is no seat {seat}")
        if len(set(seats)) != len(seats):
            raise Refusal("a seat is named twice")
        if self.over and kind not in ("Faulted", "Disconnected", "Reconnected"):
            raise Refusal(f"{kind} comes after the end of the hand")
        if kind == "Faulted" and line["where"] == "bid" and not self.over:
            raise Refusal("a fault at a bid has no line of its own: it would tell the bid")
        if kind in MOVES:
            MOVES[kind](self, line)
        self._check()

    def pay(self, line: Line) -> None:
        """Into the pot, as a bet."""
        self._move(line["seat"], line["amount"])
        self.paid[line["seat"]] += line["amount"]

    def settle(self, line: Line) -> None:
        """Every winner of the auction pays the price."""
        for seat in line["seats"]:
            self._move(seat, line["price"])

    def give_back(self, line: Line) -> None:
        """Nobody takes back more than he paid."""
        self._move(line["seat"], -line["amount"])
        self.paid[line["seat"]] -= line["amount"]
        if self.paid[line["seat"]] < 0:
            raise Refusal(f"seat {line['seat']} takes back more than it paid")

    def take_rake(self, line: Line) -> None:
        self.pot -= line["amount"]
        self.rake += line["amount"]

    def split(self, line: Line) -> None:
        if len(line["seats"]) != len(line["shares"]):
            raise Refusal(f"{len(line['seats'])} seats are paid {len(line['shares'])} shares")
        for seat, share in zip(line["seats"], line["shares"]):
            self._move(seat, -share)

    def settle_bounty(self, line: Line) -> None:
        """From stack to stack; the payer may come to owe more than he has."""
        self.stacks[line["seat"]] += line["amount"]
        self.stacks[line["payer"]] -= line["amount"]
        self.owing.add(line["payer"])

    def void(self, line: Line) -> None:
        """Everything goes back."""
        self.stacks, self.pot, self.rake, self.over = list(self.brought), 0, 0, True

    def end(self, line: Line) -> None:
        self.over = True
        if self.pot:
            raise Refusal(f"the hand ends, and {self.pot} chips are left in the pot")

    def deal(self, line: Line) -> None:
        self.hole[line["seat"]].extend(line["cards"])

    def deal_board(self, line: Line) -> None:
        self.board.extend(line["cards"])

    def swap(self, line: Line) -> None:
        """One card takes the place of another; who may not know whether, knows neither after."""
        hole, slot, old, new = self.hole[line["seat"]], line["slot"], line["old"], line["new"]
        if slot >= len(hole):
            raise Refusal(f"seat {line['seat']} has no card in slot {slot}")
        if UNKNOWN_CARD not in (old, hole[slot]) and old != hole[slot]:
            raise Refusal(f"seat {line['seat']} holds {hole[slot]} in slot {slot}, not {old}")
        old, changed = hole[slot] if old == UNKNOWN_CARD else old, line.get("changed")
        if UNKNOWN_CARD not in (old, new):
            if changed not in (None, old != new):
                raise Refusal(f"what is told of slot {slot} is not what happened to {old}")
            changed = old != new
        if changed and self.dies:
            self.gone.append(old)
        if new != UNKNOWN_CARD or changed is not False:
            hole[slot] = new

    def toss(self, line: Line) -> None:
        """A card of a hand goes to the board."""
        hole, slot, cards = self.hole[line["seat"]], line["slot"], line["cards"]
        if slot >= len(hole) or len(cards) != 1 or hole[slot] not in (UNKNOWN_CARD, cards[0]):
            raise Refusal(f"seat {line['seat']} does not hold {' '.join(cards)} in slot {slot}")
        del hole[slot]
        self.board.extend(cards)

    def show(self, line: Line) -> None:
        """Shown cards are those that the seat was dealt; what was not known of them now is."""
        seat, shown = line["seat"], line["cards"]
        hole = self.hole[seat]
        new = [card for card in shown if card != UNKNOWN_CARD and card not in hole]
        if len(shown) != len(hole) or len(new) > hole.count(UNKNOWN_CARD):
            raise Refusal(f"seat {seat} shows {' '.join(shown)}, which is not what it was dealt")
        kept = [card for card in hole if card != UNKNOWN_CARD and card not in shown]
        self.hole[seat] = [kept.pop() if card == UNKNOWN_CARD and kept else card for card in shown]

    def _move(self, seat: int, amount: int) -> None:
        self.stacks[seat] -= amount
        self.pot += amount

    def _check(self) -> None:
        for seat, stack in enumerate(self.stacks):
            if stack < 0 and seat not in self.owing:
                raise Refusal(f"seat {seat} pays {-stack} chips more than it has")
        if self.pot < 0:
            raise Refusal(f"{-self.pot} chips more are paid out than are in the pot")
        if sum(self.stacks) + self.pot + self.rake != sum(self.brought):
            raise Refusal("chips are made or lost")
        if sum(map(len, self.hole)) + len(self.board) + len(self.gone) > len(DECK):
            raise Refusal("more cards are dealt than a deck has")
        seen: Set[str] = set()
        for card in (card for cards in (*self.hole, self.board, self.gone) for card in cards):
            if card in seen:
                raise Refusal(f"{card} is in two places")
            if card != UNKNOWN_CARD:
                seen.add(card)


MOVES: Dict[str, Callable[[TableState, Line], None]] = {
    "AntePosted": TableState.pay,
    "BlindPosted": TableState.pay,
    "Called": TableState.pay,
    "Bet": TableState.pay,
    "Raised": TableState.pay,
    "AuctionSettled": TableState.settle,
    "UncalledReturned": TableState.give_back,
    "RakeTaken": TableState.take_rake,
    "PotSplit": TableState.split,
    "BountySettled": TableState.settle_bounty,
    "HandVoided": TableState.void,
    "HandEnded": TableState.end,
    "HoleDealt": TableState.deal,
    "BoardDealt": TableState.deal_board,
    "CardSwapped": TableState.swap,
    "Tossed": TableState.toss,
    "Shown": TableState.show,
}


# The match's own records, as far as the hand rests on them: each is a leaf of the same tree.

RECORDS: Dict[str, Dict[str, Check]] = {
    "MatchStarted": {
        "match": is_text,
        "game": is_text,
        "ruleset": is_text,
        "players": is_list_of(is_text),
        "dealing": is_one_of("seeded", "committed", "recorded"),
        "disclosure": is_one_of("sealed", "open-after-match", "open"),
        "sealed_bids": FLAG,
        "seed": lambda value: value is None or is_commitment(value),
        "deals": is_one_of(*range(1, 24)),
    },
    "Tagged": {"player": is_text, "tag": is_text, "value": is_text},
    "DeckCommitted": {"commitment": is_hex, "hands": is_whole(2**31 - 1)},
    "NonceGiven": {"player": is_text, "nonce": is_text},
    "DeckOpened": {"number": is_whole(2**31 - 1), "secret": is_hex},
    "SourceNoted": {
        "format": is_text,
        "dialect": is_text,
        "header": lambda value: is_commitment(value),
        "footer": lambda value: is_commitment(value),
    },
    "MatchEnded": {
        "nets": is_list_of(is_net),
        "reason": is_text,
    },
}


class DeckAnnouncement(NamedTuple):
    """What the match's records say of a hand's deck; `committed` and `given` are leaves."""

    dealing: str
    deals: int
    first: int
    commitment: str
    committed: int
    nonces: List[List[str]]
    given: int


def read_match(files: Dict[str, bytes], hand: Dict[str, Any], head: TreeHead) -> Any:
    """What match.json proves, or None where there is none: no records vouch for the deck then."""
    if "match.json" not in files:
        return None
    document = read_json("match.json", files["match.json"], 6)
    check_fields(
        "match.json", document, {"records": lambda rows: type(rows) is list, "v": is_one_of(1)}
    )
    match, _, number = hand["stream"].rpartition("/")
    lines: List[Tuple[Dict[str, Any], Line]] = []
    place, event = -1, 0
    for row in document["records"]:
        leaf = read_record(row, match, head)
        if leaf["hand_seq"] <= place or leaf["first"] < event:
            raise Refusal("match.json: the records are not in the order in which they closed")
        place, event = leaf["hand_seq"], leaf["first"] + leaf["lines"]
        lines += [(leaf, line) for line in row["lines"]]
    starts = [line for _, line in lines if line["type"] == "MatchStarted"]
    if len(starts) != 1 or lines[0][1]["type"] != "MatchStarted" or starts[0]["match"] != match:
        raise Refusal("match.json does not begin with MatchStarted of this match, or not once")
    dealing, deals = starts[0]["dealing"], starts[0]["deals"]
    announced = DeckAnnouncement(dealing, deals, 0, "", -1, [], -1)
    if dealing == "committed":
        if not re.match(r"[1-9][0-9]{0,9}\Z", number):
            raise Refusal(f"match.json: {quoted(hand['stream'])} has no number")
        deck = int(number) - (int(number) - 1) % deals
        announced = read_commitment(lines, deck, announced)
        if announced.given >= hand["hand_seq"]:
            raise Refusal("match.json: the nonces were given after the hand was over")
    if "deck.json" in files:
        opened = read_json("deck.json", files["deck.json"], 3)
        mine = {
            "commitment": announced.commitment,
            "deals": announced.deals,
            "first": announced.first,
            "nonces": announced.nonces,
        }
        if any(canonical(opened.get(name)) != canonical(value) for name, value in mine.items()):
            raise Refusal("deck.json opens another deck than match.json has committed to")
    return announced


def read_record(row: Any, match: str, head: TreeHead) -> Dict[str, Any]:
    """One row of match.json: a leaf of the match, its lines, and that it is in the tree."""
    where = "match.json"
    kinds: Dict[str, Check] = {
        "leaf": lambda value: type(value) is dict,
        "lines": is_list_of(lambda value: type(value) is dict),
        "proof": is_list_of(is_text),
    }
    if type(row) is not dict:
        raise Refusal(f"{where}: a record is no object")
    check_fields(where, row, kinds)
    leaf: Dict[str, Any] = row["leaf"]
    check_leaf(where, leaf, is_whole(INTEGER_MAX))
    if leaf["stream"] != match:
        raise Refusal(f"{where} holds a record of {quoted(leaf['stream'])}, not of {quoted(match)}")
    for line in row["lines"]:
        kind = line.get("type")
        if type(kind) is not str or kind not in RECORDS:
            raise Refusal(f"{where}: {quoted(kind)} is no kind of record of a match")
        kinds = {"type": is_text, "at": AT, **RECORDS[kind]}
        kinds.update(later_fields(kind, line))
        check_fields(where, line, kinds)
    record = b"\n".join(canonical(line) for line in row["lines"])
    if leaf["lines"] != len(row["lines"]) or not row["lines"]:
        raise Refusal(f"{where}: leaf {leaf['hand_seq']} has {leaf['lines']} lines, and not these")
    if hashlib.sha256(record).hexdigest() != leaf["record_sha256"]:
        raise Refusal(f"{where}: the lines of leaf {leaf['hand_seq']} are not those it names")
    hashed = hashlib.sha256(b"\x00" + canonical(leaf)).digest()
    path = [read_hash(where, one) for one in row["proof"]]
    if root_of(hashed, leaf["hand_seq"], head.size, path, where) != head.root:
        raise Refusal(f"{where}: leaf {leaf['hand_seq']} does not lead to the root in checkpoint")
    return leaf


def read_commitment(
    lines: List[Tuple[Dict[str, Any], Line]], deck: int, announced: DeckAnnouncement
) -> DeckAnnouncement:
    """The commitment that covers this deck, and the nonces that follow it."""
    first, found = 1, announced
    for leaf, line in lines:
        if line["type"] == "DeckCommitted":
            if found.first:
                raise Refusal("match.json goes on after the commitment to this deck")
            if first <= deck < first + line["hands"]:
                found = found._replace(
                    first=first, commitment=line["commitment"], committed=leaf["hand_seq"]
                )
            first += line["hands"]
        elif line["type"] == "NonceGiven" and found.first:
            nonces = [*found.nonces, [line["player"], line["nonce"]]]
            found = found._replace(nonces=nonces, given=leaf["hand_seq"])
    if not found.first or not found.nonces:
        raise Refusal(
            f"match.json shows no commitment to deck {deck}, or no nonce that followed it"
        )
    return found


def deck_sentence(deck: DeckAnnouncement, hand: Dict[str, Any]) -> str:
    """A sentence on how the deck was made, and what was committed before the hand."""
    if deck.dealing == "committed":
        return (
            f"Its deck was committed to in leaf {deck.committed}, the nonces came in leaf"
            f" {deck.given} and the hand closed as leaf {hand['hand_seq']}: who was given a"
            f" checkpoint of more than {deck.given} leaves before its first card knows that the"
            " deck was fixed before."
        )
    if deck.dealing == "seeded":
        return (
            "Its deck was shuffled from a seed: hidden cards are only as hidden as the seed, and"
            " everybody who knows it knows the cards."
        )
    return "Its cards are those that somebody else wrote down."


# The deck, if its secret was opened: docs/deals.md says how it is made and dealt.

SHUFFLE = b"muckrake/shuffle/v1\x00"
LUCK = b"muckrake/swap/v1\x00"
BOUNTY = b"muckrake/bounty/v1\x00"
CHAIN_MAX = 2**22  # hands of one chain; walking back through more would take long


def check_deck(files: Dict[str, bytes], lines: List[Line]) -> None:
    """Compare each known card with the deck that the opened secret makes."""
    document = read_json("deck.json", files["deck.json"], 3)
    kinds: Dict[str, Check] = {
        "commitment": is_hex,
        "deals": is_one_of(*range(1, 24)),
        "first": is_whole(2**31 - 1),
        "nonces": is_rows(is_text, is_text),
        "number": is_whole(2**31 - 1),
        "secret": is_hex,
        "v": is_one_of(1),
    }
    check_fields("deck.json", document, kinds)
    match, _, hand = lines[0]["hand"].rpartition("/")
    if not re.match(r"[1-9][0-9]{0,9}\Z", hand):
        raise Refusal(f"deck.json: {quoted(lines[0]['hand'])} has no number")
    number = int(hand) - (int(hand) - 1) % document["deals"]
    rules = read_json("ruleset.json", files["ruleset.json"], DEPTH_MAX)
    key = hand_key(document, match, number)
    index = (int(hand) - 1) // document["deals"]

    def shared(hands: int) -> RandomStream:
        """The luck of so many decks in a row, of the first of them that this chain has."""
        first = (index - index % hands) * document["deals"] + 1
        return RandomStream(hand_key(document, match, max(first, document["first"])), BOUNTY)

    dealer = Dealer(rules, lines[0], shuffled(key), RandomStream(key, LUCK), index, shared)
    for place, line in enumerate(lines, 1):
        try:
            owed = dealer.give(line)
        except (LookupError, TypeError):
            raise Refusal(f"events.jsonl line {place} deals what the rules do not deal") from None
        recorded = line.get("cards", [line[one] for one in ("new", "rank") if one in line])
        if owed and not cards_fit(recorded, owed):
            cards = f"{' '.join(recorded)}, and the deck deals {' '.join(owed)}"
            raise Refusal(f"events.jsonl line {place}: {cards}")


def cards_fit(cards: List[str], expected: List[str]) -> bool:
    """Whether cards are the expected ones, as far as they are known."""
    return len(cards) == len(expected) and all(
        card in (UNKNOWN_CARD, other) for card, other in zip(cards, expected)
    )


def hand_key(document: Dict[str, Any], match: str, number: int) -> bytes:
    """The key of this hand's deck: from the dealer's secret and the players' nonces."""
    first, opened, secret = document["first"], document["number"], bytes.fromhex(document["secret"])
    if not 0 < first <= number <= opened < first + CHAIN_MAX:
        raise Refusal(f"deck.json opens the decks {first}..{opened}, and this hand's is {number}")
    mine = secret
    for place in range(opened, first - 1, -1):
        mine = secret if place == number else mine
        secret = hashlib.sha256(b"muckrake/chain/v1" + secret).digest()
    if secret.hex() != document["commitment"]:
        raise Refusal("deck.json: the secret does not lead back to the commitment")
    seats = b"".join(length_prefixed(text) for nonce in document["nonces"] for text in nonce)
    nonces = hashlib.sha256(b"muckrake/seat-nonces/v1\x00" + seats).digest()
    message = b"muckrake/deck/v1\x00" + length_prefixed(match) + number.to_bytes(4, "big") + nonces
    return hmac.new(mine, message, "sha256").digest()


def length_prefixed(text: str) -> bytes:
    """Text after its length, so that no byte can move between two texts."""
    encoded = text.encode("utf-8")
    if len(encoded) > 65535:
        raise Refusal("deck.json: a name or a nonce is too long")
    return len(encoded).to_bytes(2, "big") + encoded


class RandomStream:
    """Random bytes, HMAC-SHA256 of a label and a counter, and uniform numbers from them."""

    def __init__(self, key: bytes, label: bytes) -> None:
        self.key, self.label, self.block, self.left = key, label, 0, b""

    def below(self, many: int, width: int) -> int:
        """A number below `many`; those that would favour the small ones are thrown away."""
        numbers = 256**width
        while True:
            while len(self.left) < width:
                message = self.label + self.block.to_bytes(4, "big")
                self.left += hmac.new(self.key, message, "sha256").digest()
                self.block += 1
            drawn, self.left = int.from_bytes(self.left[:width], "big"), self.left[width:]
            if drawn < numbers - numbers % many:
                return drawn % many


def shuffled(key: bytes) -> List[str]:
    """Fisher and Yates, from the last card down."""
    order, draws = list(DECK), RandomStream(key, SHUFFLE)
    for last in range(51, 0, -1):
        chosen = draws.below(last + 1, 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


class Dealer:
    """The deck in the dealer's hand, and what it gives to each line, as this ruleset deals."""

    def __init__(
        self,
        rules: Dict[str, Any],
        start: Line,
        order: List[str],
        luck: RandomStream,
        index: int,
        shared: Callable[[int], RandomStream],
    ) -> None:
        self.rules, self.order, self.left, self.luck = rules, order, list(order), luck
        self.index, self.shared = index, shared
        self.ranks: List[str] = []
        self.button: int = start["button"]
        self.seats = len(start["stacks"])
        self.fixed = rules.get("deck_slots") == "fixed"
        self.hole: List[List[str]] = [[] for _ in range(self.seats)]
        self.board = self.step = 0
        self.held = 2
        self.settled = False

    def give(self, line: Line) -> List[str]:
        """The cards that this line should hold, if it is one that deals."""
        kind = line["type"]
        if kind == "StepEntered":
            self.step = line["step"]
        elif kind == "AuctionSettled":
            self.settled = True
        elif kind == "HoleDealt":
            return self.to_seat(line["seat"], len(line["cards"]))
        elif kind == "BoardDealt":
            return self.to_board(len(line["cards"]))
        elif kind == "CardSwapped":
            return [self.swap(line["seat"], line["slot"], line.get("changed"))]
        elif kind == "BountyDrawn":
            return [self.bounty(line["seat"])]
        return []

    def to_seat(self, seat: int, count: int) -> List[str]:
        """The hand that a seat is dealt first, or the card that it has won."""
        if self.settled:
            self.hole[seat].append(self.third_card(seat))
            return self.hole[seat][-1:]
        if not any(self.hole):
            self.deal(count)
        return list(self.hole[seat])

    def deal(self, count: int) -> None:
        """The first deal: the dealer's cards together, then the next seat's; or one at a time."""
        self.held = count
        order = [(self.button + 1 + place) % self.seats for place in range(self.seats)]
        to = [seat for seat in (order[-1], *order[:-1]) for _ in range(count)]
        if self.rules["hole_order"] == "one_each_from_left":
            to = order * count
        for seat, card in zip(to, self.take(len(to))):
            self.hole[seat].append(card)

    def third_card(self, seat: int) -> str:
        """A card won at auction: from the top, the bottom, or its own place at the end."""
        if self.fixed:
            return self.order[51 - (seat - self.button) % self.seats]
        return self.left.pop(-1 if self.rules["third_card"] == "bottom" else 0)

    def to_board(self, count: int) -> List[str]:
        """The next cards, after the burn; or those that lie after the hole cards."""
        first, self.board = self.held * self.seats + self.board, self.board + count
        if self.fixed:
            return self.order[first : first + count]
        burn = self.rules["burn"]
        if not is_whole(52)(burn):
            raise TypeError("so many cards cannot be burnt")
        return self.take(count + burn)[burn:]

    def swap(self, seat: int, slot: int, changed: Any) -> str:
        """Luck says whether the card goes; then the next card comes, or one of the last."""
        step = self.rules["script"][self.step]
        if not is_whole(2**31)(step["of"]) or not step["of"] or not is_whole(2**31)(step["chance"]):
            raise TypeError("chances are whole numbers, and out of one")
        lost = self.luck.below(step["of"], 4) < step["chance"]
        if changed not in (None, lost):
            raise Refusal(f"seat {seat}, slot {slot}: the deck's luck says otherwise")
        if lost:
            place = 2 * ((seat - self.button) % self.seats) + slot
            after = 3 if self.rules["swap_order"] == "after_board" else 0
            late = 2 * self.seats if self.board > after else 0
            self.hole[seat][slot] = self.order[51 - place - late] if self.fixed else self.take(1)[0]
        return self.hole[seat][slot]

    def bounty(self, seat: int) -> str:
        """The rank of a seat: drawn once for all, and moved on with the button."""
        if not self.ranks:
            hands = self.rules["script"][self.step]["hands"]
            if not is_whole(2**31)(hands) or not hands:
                raise TypeError("bounties are drawn for so many hands")
            draws = self.shared(hands)
            drawn = [RANKS[draws.below(len(RANKS), 4)] for _ in range(self.seats)]
            self.ranks = [
                drawn[((place - self.button) + self.index) % self.seats]
                for place in range(self.seats)
            ]
        return self.ranks[seat]

    def take(self, count: int) -> List[str]:
        taken, self.left = self.left[:count], self.left[count:]
        return taken


# How bytes are read: text, JSON, base64; each in the one spelling that it has.


def read_text(name: str, text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(f"{name} is not UTF-8") from None


def read_json(name: str, text: bytes, deep: int) -> Dict[str, Any]:
    """An object in canonical form: ASCII keys, sorted and once, no spaces, whole numbers only."""
    try:
        value: Dict[str, Any] = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_once,
            parse_int=_whole,
            parse_float=_refused,
            parse_constant=_refused,
        )
        if type(value) is not dict or not _is_flat(value, deep) or canonical(value) != text:
            raise ValueError
    except (ValueError, RecursionError):
        raise Refusal(f"{name} is not one object in canonical JSON") from None
    return value


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value (RFC 8785, for the values that are allowed here)."""
    spelled = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return spelled.encode("utf-8")


def _once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs) or not all(key.isascii() for key in found):
        raise ValueError("a key stands there twice, or is sorted in two ways")
    return found


def _whole(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > INTEGER_MAX:
        raise ValueError("no such number is written")
    return int(digits)


def _refused(text: str) -> Any:
    raise ValueError("only whole numbers are written")


def _is_flat(value: Any, deep: int) -> bool:
    """Whether nothing lies deeper than so many levels."""
    if type(value) not in (dict, list):
        return True
    inner = value.values() if type(value) is dict else value
    return deep > 0 and all(_is_flat(one, deep - 1) for one in inner)


def read_base64(name: str, text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if not found or base64.b64encode(found).decode() != text:
        raise Refusal(f"{name}: {quoted(text)} is not base64")
    return found


def read_hash(name: str, text: str) -> bytes:
    found = read_base64(name, text)
    if len(found) != 32:
        raise Refusal(f"{name}: {quoted(text)} is not a hash")
    return found


def read_decimal(name: str, digits: str) -> int:
    """A number that fits into eight bytes with a sign."""
    if int(digits) > DECIMAL_MAX:
        raise Refusal(f"{name}: {digits} is more than {DECIMAL_MAX}")
    return int(digits)


def quoted(value: Any) -> str:
    """A hostile value in a sentence: short, and without anything that a terminal obeys."""
    text = json.dumps(value)
    return text if len(text) <= 70 else text[:67] + "..."


def as_name(text: str) -> str:
    """A name in a sentence; one that could be taken for a part of it stands in quotes."""
    return text if re.match(r"[A-Za-z0-9._:/-]{1,80}\Z", text) else quoted(text)


def ascii_line(sentence: str) -> str:
    """ASCII on one line: nothing that a terminal obeys."""
    return "".join(one if " " <= one <= "~" else f"\\u{ord(one):04x}" for one in sentence)


# Ed25519, verification only (RFC 8032): clear, and fast enough for two signatures.

Point = Tuple[int, int, int, int]
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, PRIME - 2, PRIME) % PRIME
ROOT = pow(2, (PRIME - 1) // 4, PRIME)


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether this key signed this message: the point R of the signature is S*B - k*A.

    Both points must be of order L, as every honest one is: under others a signature may hold for
    many messages. Then no multiple of 8 is needed (RFC 8032, 5.1.7, without cofactor).
    """
    key = key_point(public)
    number = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or key is None or number >= ORDER:
        return False
    challenge = hashlib.sha512(signature[:32] + public + message).digest()
    factor = int.from_bytes(challenge, "little") % ORDER
    minus = (PRIME - key[0], key[1], 1, PRIME - key[3])
    point = _encoded_point(_sum(number, BASE, factor, minus))
    return point == signature[:32] and point != NEUTRAL


@functools.lru_cache(maxsize=64)
def key_point(public: bytes) -> Any:
    """The point of a public key in its one spelling, or None: it must be of the order L."""
    point = _decoded_point(public) if len(public) == 32 else None
    if point is None or public == NEUTRAL:
        return None
    none: Point = (0, 1, 1, 0)
    return point if _encoded_point(_sum(ORDER, point, 0, none)) == NEUTRAL else None


def _add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % PRIME
    b = (p[1] + p[0]) * (q[1] + q[0]) % PRIME
    c = 2 * p[3] * q[3] * CURVE % PRIME
    d = 2 * p[2] * q[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def _sum(a: int, p: Point, b: int, q: Point) -> Point:
    """a*p + b*q, both at once: doubled bit by bit, from the highest down."""
    total: Point = (0, 1, 1, 0)
    added = (total, p, q, _add(p, q))
    for bit in range(max(a, b).bit_length() - 1, -1, -1):
        total = _add(total, total)
        chosen = (a >> bit & 1) + 2 * (b >> bit & 1)
        if chosen:
            total = _add(total, added[chosen])
    return total


def _encoded_point(p: Point) -> bytes:
    inverse = pow(p[2], PRIME - 2, PRIME)
    x, y = p[0] * inverse % PRIME, p[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decoded_point(packed: bytes) -> Any:
    """The point that these 32 bytes stand for, or None; no point has two spellings."""
    number = int.from_bytes(packed, "little")
    y, sign = number & (2**255 - 1), number >> 255
    squared = (y * y - 1) * pow(CURVE * y * y + 1, PRIME - 2, PRIME) % PRIME
    x = pow(squared, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != squared:
        x = x * ROOT % PRIME
    if y >= PRIME or x * x % PRIME != squared or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else PRIME - x
    return x, y, 1, x * y % PRIME


NEUTRAL = b"\x01" + bytes(31)
BASE: Point = _decoded_point((4 * pow(5, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little"))


# The folder or zip.


def read_bundle(path: str) -> Dict[str, bytes]:
    """The files of a bundle: of a folder, or of a zip, which is unpacked in memory."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            return read_folder(path)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableBundle(f"{path} is neither a file nor a folder")
        if found.st_size > BUNDLE_MAX:
            raise Refusal(f"{path} is larger than {BUNDLE_MAX} bytes: that is no bundle")
        with open(path, "rb") as file:
            return unzipped(file.read(BUNDLE_MAX + 1))
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableBundle(f"there is no file or folder {path}") from None
    except (OSError, ValueError) as reason:
        raise UnreadableBundle(f"a file cannot be read: {reason}") from None


def read_folder(folder: str) -> Dict[str, bytes]:
    """The files of a folder; a bundle has no links, no folders, and nothing huge."""
    names = sorted(os.listdir(folder))
    if len(names) > FILES_MAX:
        raise Refusal(f"{len(names)} files are in this folder: a bundle has at most {FILES_MAX}")
    files = {}
    for name in names:
        path = os.path.join(folder, name)
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise Refusal(f"{quoted(name)} is not a plain file")
        if found.st_size > FILE_MAX:
            raise Refusal(
                f"{quoted(name)} has {found.st_size} bytes: no file of a bundle has so many"
            )
        with open(path, "rb") as file:
            files[name] = file.read(FILE_MAX + 1)
    return files


class Entry(NamedTuple):
    """An entry of the list of files at the end of a zip."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    begin: int


STORED, DEFLATED = 0, 8
ENCRYPTED, DESCRIBED = 1, 8  # flags: bit 0; bit 3: sizes and sum stand after the file
HARMLESS = 0x0806 | DESCRIBED  # bits 1 and 2: how hard it was packed; bit 11: names in UTF-8
RENAMES = {0x0001: "zip64", 0x7075: "a second name", 0x9901: "encryption"}  # fields that say more
NO_ZIP = "this is not a whole zip file"


def unzipped(whole: bytes) -> Dict[str, bytes]:
    """The files of a zip: every byte of it belongs to one of them, and nothing is there twice."""
    if len(whole) > BUNDLE_MAX:
        raise Refusal(f"this is larger than {BUNDLE_MAX} bytes: that is no bundle")
    end = len(whole) - 22
    if end < 0 or whole[end : end + 4] != b"PK\5\6":
        raise Refusal(f"{NO_ZIP}: its last 22 bytes are not the end of a zip")
    disks, here, count, size, begin, comment = struct.unpack("<IHHIIH", whole[end + 4 :])
    if disks or here != count or comment or begin + size != end:
        raise Refusal(f"{NO_ZIP}: its end does not say where its list is")
    if count > FILES_MAX:
        raise Refusal(f"{count} files are in this zip: no bundle has more than {FILES_MAX}")
    entries = list(read_entries(whole, begin, end, count))
    check_entries(entries)
    files, at, before = {}, 0, whole[:begin]
    for entry in entries:
        data, at = read_entry(before, entry, at)
        files[entry.name] = inflated(entry, data)
    if at != begin:
        raise Refusal(f"{NO_ZIP}: {begin - at} bytes before its list belong to no file")
    return files


def read_entries(whole: bytes, at: int, end: int, count: int) -> Iterator[Entry]:
    """The list of a zip, from its first byte to its last."""
    for _ in range(count):
        if at + 46 > end or whole[at : at + 4] != b"PK\1\2":
            raise Refusal(f"{NO_ZIP}: its list is not one of {count} files")
        fields = struct.unpack("<HHHHIIIIHHHHHII", whole[at + 4 : at + 46])
        flags, method, crc, packed, size, name, extra, comment = (*fields[2:4], *fields[5:11])
        at += 46 + name + extra + comment
        if at > end:
            raise Refusal(f"{NO_ZIP}: its list is cut short")
        begin = at - comment - extra
        file = read_name(whole[begin - name : begin])
        if stat.S_IFMT(fields[13] >> 16) not in (0, stat.S_IFREG):
            raise Refusal(f"{quoted(file)} is not a plain file")
        if comment or fields[11]:
            raise Refusal(f"{quoted(file)} has a comment or is on another disk: that is not read")
        check_extra(file, whole[begin : begin + extra])
        yield Entry(file, flags, method, crc, packed, size, fields[14])
    if at != end:
        raise Refusal(f"{NO_ZIP}: {end - at} bytes after its list belong to nothing")


def read_name(text: bytes) -> str:
    """A plain name in ASCII: no path, and nothing that is one to some other program."""
    name = text.decode("latin-1")
    if not re.match(r"[ -~]+\Z", name) or set(name) & set('/\\:"') or name in (".", ".."):
        raise Refusal(f"{quoted(name[:80])} is no name of a file: a bundle has no folders")
    return name


def check_extra(name: str, extra: bytes) -> None:
    """Times and owners are passed over; fields that change a file's name or size are not read."""
    at = 0
    while at < len(extra):
        kind, size = struct.unpack("<HH", extra[at : at + 4].ljust(4, b"\xff"))
        at += 4 + size
        if at > len(extra):
            raise Refusal(f"{NO_ZIP}: the fields of {quoted(name)} are cut short")
        if kind in RENAMES:
            raise Refusal(f"{quoted(name)} has a field for {RENAMES[kind]}: that is not read")


def check_entries(entries: List[Entry]) -> None:
    """Each name once, nothing encrypted or packed in another way, and nothing large."""
    names = [entry.name for entry in entries]
    for entry in entries:
        name = quoted(entry.name)
        if names.count(entry.name) > 1:
            raise Refusal(f"{name} is in this zip more than once")
        if entry.flags & ENCRYPTED:
            raise Refusal(f"{name} is encrypted: a bundle is for everybody who has it")
        if entry.flags & ~HARMLESS or entry.method not in (STORED, DEFLATED):
            raise Refusal(f"{name} is packed in a way that is not read: stored or deflated is")
        if entry.size > FILE_MAX:
            raise Refusal(f"{name} would have {entry.size} bytes, and may have {FILE_MAX}")
    if sum(entry.size for entry in entries) > BUNDLE_MAX:
        raise Refusal(f"this zip would unpack to more than {BUNDLE_MAX} bytes")


def read_entry(whole: bytes, entry: Entry, at: int) -> Tuple[bytes, int]:
    """A file as it is packed, and where it ends: it begins where the one before it ended."""
    name = quoted(entry.name)
    if entry.begin != at:
        raise Refusal(f"{NO_ZIP}: {name} does not begin where the file before it ends")
    if at + 30 > len(whole) or whole[at : at + 4] != b"PK\3\4":
        raise Refusal(f"{NO_ZIP}: {name} is not where its list says")
    fields = struct.unpack("<HHHHHIIIHH", whole[at + 4 : at + 30])
    begin = at + 30 + fields[8]
    data = begin + fields[9]
    end = data + entry.packed
    if whole[at + 30 : begin] != entry.name.encode() or end > len(whole):
        raise Refusal(f"{NO_ZIP}: {name} is not where its list says")
    check_extra(entry.name, whole[begin:data])
    sums = (entry.crc, entry.packed, entry.size)
    later = entry.flags & DESCRIBED and fields[5:8] == (0, 0, 0)
    if fields[1:3] != entry[1:3] or not (later or fields[5:8] == sums):
        raise Refusal(f"{NO_ZIP}: {name} says of itself what its list does not")
    if not entry.flags & DESCRIBED:
        return whole[data:end], end
    descriptor = struct.pack("<III", *sums)
    for described in (b"PK\7\x08" + descriptor, descriptor):
        if whole[end : end + len(described)] == described:
            return whole[data:end], end + len(described)
    raise Refusal(f"{NO_ZIP}: what stands after {name} is not its size and sum")


def inflated(entry: Entry, data: bytes) -> bytes:
    """Inflate a file, never beyond the size in its list, whatever is packed in it."""
    name, text, whole = quoted(entry.name), data, True
    if entry.method == DEFLATED:
        inflating = zlib.decompressobj(-15)
        try:
            text = inflating.decompress(data, entry.size + 1)
        except zlib.error:
            raise Refusal(f"{NO_ZIP}: {name} cannot be unpacked") from None
        whole = inflating.eof and not inflating.unused_data
    if len(text) != entry.size or not whole:
        raise Refusal(f"{NO_ZIP}: {name} has not the size that its list says")
    if zlib.crc32(text) != entry.crc:
        raise Refusal(f"{NO_ZIP}: {name} has not the sum that its list says")
    return text


# The command line.


class BadArguments(Exception):
    """Why a command line makes no sense."""


def read_arguments(words: Sequence[str]) -> Tuple[str, List[Key], Optional[Policy]]:
    """The bundle that is named, or this file's folder; the keys that are known; the policy."""
    paths: List[str] = []
    known: List[Key] = []
    policies: List[Policy] = []
    rest = list(words)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if option in ("--key", "--policy"):
            if not equals and not rest:
                what = "a public key, or a file of them" if option == "--key" else "a file"
                raise BadArguments(f"{option} needs {what}")
            value = value if equals else rest.pop(0)
            if option == "--key":
                known += keys_of_argument(value)
            else:
                policies.append(policy_in_file(value))
        elif option.startswith("-") and option != "-":
            known_ones = "--key KEY, --policy FILE and --help"
            raise BadArguments(f"there is no option {quoted(option)}: there are {known_ones}")
        else:
            paths.append(option + equals + value)
    if len(paths) > 1:
        raise BadArguments(f"one bundle is checked at a time, and {len(paths)} are named")
    if len(policies) > 1:
        raise BadArguments("one policy says whom to believe, and several are named")
    folder = os.path.dirname(os.path.abspath(__file__))
    return (paths or [folder])[0], known, policies[0] if policies else None


def policy_in_file(path: str) -> Policy:
    """The policy in the file of that name."""
    try:
        with open(path, "rb") as file:
            return read_policy(path, file.read(FILE_MAX))
    except Refusal as refusal:
        raise BadArguments(str(refusal)) from None
    except (OSError, ValueError):
        raise BadArguments(f"{quoted(path)} is no file that can be read") from None


def keys_of_argument(word: str) -> List[Key]:
    """The keys of an argument: a key itself, or the keys in a file."""
    try:
        if re.match(f"{NAME}\\+[0-9a-f]{{8}}\\+[A-Za-z0-9+/=]+\\Z", word):
            return [read_key("the key you know", word.encode() + b"\n")]
        with open(word, "rb") as file:
            return read_known(word, file.read(FILE_MAX))
    except Refusal as refusal:
        raise BadArguments(str(refusal)) from None
    except (OSError, ValueError):
        raise BadArguments(f"{quoted(word)} is neither a public key nor a file of them") from None


def main(words: Sequence[str]) -> int:
    """Check the bundle that is named, and say what came of it."""
    if "--help" in words or "-h" in words:
        print((__doc__ or "").strip())
        return PROVED
    try:
        path, known, policy = read_arguments(words)
    except BadArguments as reason:
        print(ascii_line(f"verify.py: {reason}"), file=sys.stderr)
        return MISUSED
    verdict = check_bundle(lambda: read_bundle(path), known, policy)
    for problem in verdict.problems:
        print(f"{'WRONG' if verdict.code == WRONG else 'NOT CHECKED'}: {problem}.")
    if verdict.proved:
        print(" ".join(verdict.proved))
    if verdict.code == OWN_KEY:
        print(WARNING)
    return verdict.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

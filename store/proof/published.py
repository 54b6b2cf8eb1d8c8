"""Which checkpoint anybody may be given: the newest, or the newest that enough witnesses cosigned.

    witnesses           a policy: which witnesses this ledger asks, and how many are enough
    published/SIZE      checkpoints of so many leaves as the policy asks for them, cosigned
    before/MATCH.FIRST  the checkpoint from before hand FIRST of a match, over the commitment to its
                        deck and the nonces: for the players, before the first card

Without the file `witnesses` every checkpoint is published as soon as it is signed.
"""

from urllib.parse import urlsplit

from store.folder.disk import Disk, put
from store.folder.frames import Damaged
from store.proof.checkpoint import Opened
from store.proof.notary import CHECKPOINT, last_checkpoint, public_keys
from store.proof.policy import Policy, read_policy
from store.proof.tree import Refuted

POLICY = "witnesses"
FOLDER = "published"
BEFORE = "before"
KEPT_MAX = 4_096  # older ones are for readers who are told of a match later than it is played


def policy_of(disk: Disk) -> Policy | None:
    """The witnesses that a ledger asks before it publishes; None if it asks nobody."""
    if POLICY not in disk.names(""):
        return None
    try:
        return read_policy(disk.read(POLICY))
    except Refuted as reason:
        raise Damaged(f"{POLICY} cannot be read: {reason}") from None


def keep_policy(disk: Disk, policy: Policy) -> None:
    """From now on nothing is published that this policy does not hold for."""
    if policy.logs and not set(public_keys(disk)).intersection(policy.logs):
        names = ", ".join(key.text() for key in policy.logs)
        raise Refuted(f"this policy is for another log: it names {names}")
    for one in policy.witnesses:
        if one.url and not _is_address(one.url):
            raise Refuted(f"{one.url} is no address of a witness: https:// or http://, and a host")
    askable = {one.key for one in policy.witnesses if one.url}
    if not policy.is_met(askable):
        raise Refuted(
            f"this policy asks for {policy.quorum}, and no address is given of enough witnesses:"
            " a line is `witness NAME KEY URL`"
        )
    put(disk, POLICY, policy.text.encode())


def published(disk: Disk, most: int | None = None) -> tuple[Opened, bytes] | None:
    """The newest checkpoint that may be shown, also as it was signed; of at most so many leaves."""
    policy = policy_of(disk)
    if policy is None:
        known = last_checkpoint(disk)
        return None if known is None else (known, disk.read(CHECKPOINT))
    for size in reversed(_sizes(disk)):
        if most is None or size <= most:
            note = disk.read(f"{FOLDER}/{size}")
            try:
                return policy.opened(note, public_keys(disk)), note
            except Refuted:
                continue  # published under another policy, or not what was published
    return None


def publish(disk: Disk, note: bytes) -> None:
    """A cosigned checkpoint is published; `Refuted` if the policy does not hold for it."""
    policy = policy_of(disk)
    assert policy is not None
    size = policy.opened(note, public_keys(disk)).checkpoint.size
    disk.make_folder(FOLDER)
    put(disk, f"{FOLDER}/{size}", note)
    for old in _sizes(disk)[:-KEPT_MAX]:
        disk.remove(f"{FOLDER}/{old}")


def keep_before(disk: Disk, match: str, first: int) -> bytes:
    """The newest checkpoint, kept as the one from before this hand; durable on return."""
    assert "/" not in match
    note = disk.read(CHECKPOINT)
    disk.make_folder(BEFORE)
    put(disk, f"{BEFORE}/{match}.{first}", note)
    return note


def before(disk: Disk, match: str) -> list[tuple[int, bytes]]:
    """The checkpoints from before the first card of each chain of decks, by its first hand."""
    names = disk.names(BEFORE) if BEFORE in disk.names("") else []
    told = (name.rpartition(".") for name in names)
    firsts = sorted(int(it) for of, _, it in told if of == match and it.isascii() and it.isdigit())
    return [(first, disk.read(f"{BEFORE}/{match}.{first}")) for first in firsts]


def _sizes(disk: Disk) -> list[int]:
    if FOLDER not in disk.names(""):
        return []
    return sorted(int(name) for name in disk.names(FOLDER) if name.isascii() and name.isdigit())


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False

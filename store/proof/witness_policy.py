"""Witness policies, as C2SP tlog-policy writes them: who must have signed a checkpoint.

A line `log KEY`, a line `witness NAME KEY [URL]` for each witness, lines `group NAME all|any|K
MEMBER...`, and one line `quorum NAME|none`. A checkpoint fits a policy if one of its logs has
signed it and the quorum has cosigned it.

A ledger's own policy says which checkpoint anybody may be given:

    witnesses           a policy: which witnesses this ledger asks, and how many are enough
    published/SIZE      checkpoints of so many leaves as the policy asks for them, cosigned
    before/MATCH.FIRST  the checkpoint from before hand FIRST of a match, over the commitment to its
                        deck and the nonces: for the players, before the first card

Without the file `witnesses` every checkpoint is published as soon as it is signed.
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from msgspec import Struct

from store.folder.disk import Disk, replace_file
from store.folder.frames import Damaged
from store.proof.checkpoint import SignedCheckpoint, open_checkpoint
from store.proof.notary import CHECKPOINT, last_checkpoint, public_keys
from store.proof.note import SIGNS, WITNESSES, Key
from store.proof.tree import Refuted

NONE = "none"
BYTES_MAX = 1_000_000
_COUNT = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)


class PolicyWitness(Struct, frozen=True):
    """A witness by its name in the policy, its key, and where it is asked (None: nowhere)."""

    name: str
    key: Key
    url: str | None


class WitnessGroup(Struct, frozen=True):
    """Has witnessed a checkpoint when so many of its members have."""

    name: str
    needed: int
    members: tuple[str, ...]


class WitnessPolicy(Struct, frozen=True):
    """Known logs, known witnesses, and which of these are enough; `text` is how it was written."""

    logs: tuple[Key, ...]
    witnesses: tuple[PolicyWitness, ...]
    groups: tuple[WitnessGroup, ...]
    quorum: str
    text: str

    def is_met(self, cosigners: Collection[Key]) -> bool:
        """Whether these witnesses together are the quorum."""
        met = {witness.name for witness in self.witnesses if witness.key in cosigners} | {NONE}
        for group in self.groups:  # a group names only what stands above it
            if len(met.intersection(group.members)) >= group.needed:
                met.add(group.name)
        return self.quorum in met

    def opened(self, note: bytes, logs: Collection[Key] = ()) -> SignedCheckpoint:
        """A checkpoint that fits the policy; a policy without logs takes them from the caller."""
        witnesses = [witness.key for witness in self.witnesses]
        opened = open_checkpoint(note, self.logs or logs, witnesses)
        cosigners = {signature.key for signature in opened.witnesses}
        if not self.is_met(cosigners):
            names = [witness.name for witness in self.witnesses if witness.key in cosigners]
            raise Refuted(
                f"the checkpoint of {opened.checkpoint.size} leaves is cosigned by"
                f" {', '.join(names) or 'no known witness'}: the policy asks for {self.quorum}"
            )
        return opened


def read_policy(data: bytes) -> WitnessPolicy:
    """The policy that these lines say; `Refuted` names the line that says none."""
    if len(data) > BYTES_MAX:
        raise Refuted(f"a policy of {len(data)} bytes: more than {BYTES_MAX} are not read")
    try:
        text = data.decode()
    except UnicodeDecodeError as reason:
        raise Refuted(f"a policy that is not UTF-8 at byte {reason.start}") from None
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), start=1):
        words = [word for word in re.split("[ \t]+", line) if word]
        if words and not words[0].startswith("#"):
            try:
                reader.take(words)
            except Refuted as reason:
                raise Refuted(f"line {number} of the policy: {reason}") from None
    if reader.quorum is None:
        raise Refuted("a policy without a line `quorum NAME`, or `quorum none`")
    return WitnessPolicy(
        tuple(reader.logs), tuple(reader.witnesses), tuple(reader.groups), reader.quorum, text
    )


class _Reader:
    """The parser of a policy: what its lines so far have declared."""

    def __init__(self) -> None:
        self.logs: list[Key] = []
        self.witnesses: list[PolicyWitness] = []
        self.groups: list[WitnessGroup] = []
        self.quorum: str | None = None
        self._names = {NONE}
        self._members: set[str] = set()

    def take(self, words: list[str]) -> None:
        match words:
            case ["log", key] | ["log", key, _]:
                self.logs.append(self._new_key(key, SIGNS))
            case ["witness", name, key]:
                self.witnesses.append(
                    PolicyWitness(self._new(name), self._new_key(key, WITNESSES), None)
                )
            case ["witness", name, key, url]:
                self.witnesses.append(
                    PolicyWitness(self._new(name), self._new_key(key, WITNESSES), url)
                )
            case ["group", name, needed, *members] if members:
                self._group(name, needed, tuple(members))
            case ["quorum", name]:
                if self.quorum is not None:
                    raise Refuted("a second quorum: there is one in a policy")
                self.quorum = self._known(name)
            case _:
                raise Refuted(
                    f"{' '.join(words)[:80]!r} is none of: log KEY [URL], witness NAME KEY [URL],"
                    " group NAME all|any|NUMBER MEMBER..., quorum NAME"
                )

    def _group(self, name: str, needed: str, members: tuple[str, ...]) -> None:
        for member in members:
            if member == NONE or self._known(member) in self._members:
                raise Refuted(f"{member} cannot be a member here: each name is one, once")
            self._members.add(member)
        count = {"all": len(members), "any": 1}.get(needed)
        if count is None:
            if not _COUNT.fullmatch(needed):
                what = f"not {needed[:80]!r}"
                raise Refuted(f"a group needs all, any or a number of its members, {what}")
            count = int(needed)
        if not 1 <= count <= len(members):
            raise Refuted(f"{count} of the {len(members)} members of {name}: 1..{len(members)}")
        self.groups.append(WitnessGroup(self._new(name), count, members))

    def _new(self, name: str) -> str:
        if name in self._names:
            raise Refuted(f"{name} names something else already")
        self._names.add(name)
        return name

    def _known(self, name: str) -> str:
        if name not in self._names:
            raise Refuted(f"no witness or group above is called {name}")
        return name

    def _new_key(self, text: str, kind: int) -> Key:
        key = Key.read(text)
        if key.kind != kind:
            what = "a log's, which signs" if kind == SIGNS else "a witness's, which cosigns"
            raise Refuted(f"the key of {key.name} is not {what}")
        if any(key.public == one.public for one in (*self.logs, *(w.key for w in self.witnesses))):
            raise Refuted(f"the key of {key.name} stands above already")
        return key


POLICY = "witnesses"
PUBLISHED = "published"
BEFORE = "before"
KEPT_MAX = 4_096  # older ones are for readers who are told of a match later than it is played


def policy_of(disk: Disk) -> WitnessPolicy | None:
    """The witnesses that a ledger asks before it publishes; None if it asks nobody."""
    if POLICY not in disk.names(""):
        return None
    try:
        return read_policy(disk.read(POLICY))
    except Refuted as reason:
        raise Damaged(f"{POLICY} cannot be read: {reason}") from None


def keep_policy(disk: Disk, policy: WitnessPolicy) -> None:
    """Keep the witness policy that published checkpoints must meet from now on."""
    if policy.logs and not set(public_keys(disk)).intersection(policy.logs):
        names = ", ".join(key.text() for key in policy.logs)
        raise Refuted(f"this policy is for another log: it names {names}")
    for one in policy.witnesses:
        if one.url:
            try:
                parts = urlsplit(one.url)
                web = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
            except ValueError:
                web = False
            if not web:
                reason = f"{one.url} is no address of a witness: https:// or http://, and a host"
                raise Refuted(reason)
    askable = {witness.key for witness in policy.witnesses if witness.url}
    if not policy.is_met(askable):
        raise Refuted(
            f"this policy asks for {policy.quorum}, and no address is given of enough witnesses:"
            " a line is `witness NAME KEY URL`"
        )
    replace_file(disk, POLICY, policy.text.encode())


def last_published(disk: Disk, most: int | None = None) -> tuple[SignedCheckpoint, bytes] | None:
    """The newest checkpoint that may be shown, also as it was signed; of at most so many leaves."""
    policy = policy_of(disk)
    if policy is None:
        known = last_checkpoint(disk)
        return None if known is None else (known, disk.read(CHECKPOINT))
    for size in reversed(_sizes(disk)):
        if most is None or size <= most:
            note = disk.read(f"{PUBLISHED}/{size}")
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
    disk.make_folder(PUBLISHED)
    replace_file(disk, f"{PUBLISHED}/{size}", note)
    for old in _sizes(disk)[:-KEPT_MAX]:
        disk.remove(f"{PUBLISHED}/{old}")


def keep_checkpoint_before(disk: Disk, match: str, first: int) -> bytes:
    """The newest checkpoint, kept as the one from before this hand; durable on return."""
    assert "/" not in match
    note = disk.read(CHECKPOINT)
    disk.make_folder(BEFORE)
    replace_file(disk, f"{BEFORE}/{match}.{first}", note)
    return note


def checkpoints_before(disk: Disk, match: str) -> list[tuple[int, bytes]]:
    """The checkpoints from before the first card of each chain of decks, by its first hand."""
    names = disk.names(BEFORE) if BEFORE in disk.names("") else []
    parts = (name.rpartition(".") for name in names)
    firsts = sorted(int(it) for of, _, it in parts if of == match and it.isascii() and it.isdigit())
    return [(first, disk.read(f"{BEFORE}/{match}.{first}")) for first in firsts]


def _sizes(disk: Disk) -> list[int]:
    if PUBLISHED not in disk.names(""):
        return []
    return sorted(int(name) for name in disk.names(PUBLISHED) if name.isascii() and name.isdigit())

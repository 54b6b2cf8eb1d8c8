"""Policies, as C2SP tlog-policy writes them: who must have signed a checkpoint.

A line `log KEY`, a line `witness NAME KEY [URL]` for each witness, lines `group NAME all|any|K
MEMBER...`, and one line `quorum NAME|none`. A checkpoint fits a policy if one of its logs has
signed it and the quorum has cosigned it.
"""

import re
from collections.abc import Collection

from msgspec import Struct

from store.proof.checkpoint import Opened, open_checkpoint
from store.proof.note import SIGNS, WITNESSES, Key
from store.proof.tree import Refuted

NONE = "none"
BYTES_MAX = 1_000_000
_COUNT = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)


class Witness(Struct, frozen=True):
    """A witness by its name in the policy, its key, and where it is asked (None: nowhere)."""

    name: str
    key: Key
    url: str | None


class Group(Struct, frozen=True):
    """Has witnessed a checkpoint when so many of its members have."""

    name: str
    needed: int
    members: tuple[str, ...]


class Policy(Struct, frozen=True):
    """Known logs, known witnesses, and which of these are enough; `text` is how it was written."""

    logs: tuple[Key, ...]
    witnesses: tuple[Witness, ...]
    groups: tuple[Group, ...]
    quorum: str
    text: str

    def is_met(self, cosigners: Collection[Key]) -> bool:
        """Whether these witnesses together are the quorum."""
        met = {one.name for one in self.witnesses if one.key in cosigners} | {NONE}
        for group in self.groups:  # a group names only what stands above it
            if len(met.intersection(group.members)) >= group.needed:
                met.add(group.name)
        return self.quorum in met

    def opened(self, note: bytes, logs: Collection[Key] = ()) -> Opened:
        """A checkpoint that fits the policy; a policy without logs takes them from the caller."""
        witnesses = [one.key for one in self.witnesses]
        opened = open_checkpoint(note, self.logs or logs, witnesses)
        cosigners = {one.key for one in opened.witnesses}
        if not self.is_met(cosigners):
            names = [one.name for one in self.witnesses if one.key in cosigners]
            raise Refuted(
                f"the checkpoint of {opened.checkpoint.size} leaves is cosigned by"
                f" {', '.join(names) or 'no known witness'}: the policy asks for {self.quorum}"
            )
        return opened


def read_policy(data: bytes) -> Policy:
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
    return Policy(
        tuple(reader.logs),
        tuple(reader.witnesses),
        tuple(reader.groups),
        reader.quorum,
        text,
    )


class _Reader:
    """What the lines so far have said."""

    def __init__(self) -> None:
        self.logs: list[Key] = []
        self.witnesses: list[Witness] = []
        self.groups: list[Group] = []
        self.quorum: str | None = None
        self._names = {NONE}
        self._members: set[str] = set()

    def take(self, words: list[str]) -> None:
        match words:
            case ["log", key] | ["log", key, _]:
                self.logs.append(self._new_key(key, SIGNS))
            case ["witness", name, key]:
                self.witnesses.append(Witness(self._new(name), self._new_key(key, WITNESSES), None))
            case ["witness", name, key, url]:
                self.witnesses.append(Witness(self._new(name), self._new_key(key, WITNESSES), url))
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
        self.groups.append(Group(self._new(name), count, members))

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

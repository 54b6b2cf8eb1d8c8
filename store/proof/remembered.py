"""The newest checkpoint of each log, kept outside its folder: so an older copy is noticed.

    $XDG_STATE_HOME/muckrake/checkpoints/NAME   else ~/.local/state; NAME is of a key of the log

Whoever can write a ledger's folder can put an older state of it there, whole in itself, with the
checkpoint it had then. The user's own state folder knows better. Who names a file (`--witness
FILE`) has the newest checkpoint there instead. A ledger that is behind what is remembered, or that
has another history, is refused until somebody accepts it; that is written down in `rollbacks`.
Each key that a log ever had has a file: an older copy may not know the newest one.
"""

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from store.folder.disk import Disk, put
from store.folder.frames import Damaged
from store.proof.checkpoint import Checkpoint, open_checkpoint, read_checkpoint
from store.proof.note import Key, parse
from store.proof.tree import Refuted

ROLLBACKS = "rollbacks"
WITNESS = "MUCKRAKE_WITNESS"
VARIABLE = "XDG_STATE_HOME"
_FOLDER = Path("muckrake/checkpoints")


class Rollback(msgspec.Struct, frozen=True):
    """Somebody went on with a ledger that was behind this checkpoint, or beside it."""

    at: int
    sentence: str
    checkpoint: str


class Remembered:
    """What is known of logs outside their folders: in one file, or in one for each key."""

    def __init__(self, file: Path | None = None, *, accepting: bool = False) -> None:
        """With `accepting`, what contradicts a ledger is put aside instead of refusing it."""
        named = os.environ.get(WITNESS, "")
        self.accepting = accepting
        self._file = file or (Path(named) if named else None)
        self._folder = None if self._file else state_folder()

    def of(self, keys: Iterable[Key]) -> list[tuple[Path, Checkpoint]]:
        """The checkpoints that are remembered of a log with these keys."""
        keys = tuple(keys)
        found = []
        for path in dict.fromkeys(filter(None, map(self._place, keys))):
            try:
                found.append((path, _opened(path.read_bytes(), keys)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (Refuted, OSError) as reason:
                raise Damaged(f"{path} cannot be believed: {reason}") from None
        return found

    def keep(self, keys: Iterable[Key], note: bytes) -> str | None:
        """This checkpoint of a log with these keys from now on, durable on return; why not, if it
        cannot be kept."""
        for path in dict.fromkeys(map(self._place, keys)):
            if path is None:
                return f"neither ${VARIABLE} nor a home folder says where"
            aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with aside.open("wb") as file:
                    file.write(note)
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(path)
            except OSError as failure:
                return f"{path}: {failure.strerror}"
        return None

    def _place(self, key: Key) -> Path | None:
        if self._file:
            return self._file
        name = sha256(key.text().encode()).hexdigest()
        return self._folder / name if self._folder else None


def _opened(note: bytes, keys: Sequence[Key]) -> Checkpoint:
    """What is remembered; a key that came after all of these may have signed it.

    Nobody can check that here, and nobody needs to: it can only make a ledger be refused.
    """
    parsed = parse(note)
    told = read_checkpoint(parsed.text)
    known = {(key.name, key.id) for key in keys}
    is_later = known.isdisjoint((one.name, one.id) for one in parsed.signatures)
    if is_later and told.origin in {key.name for key in keys}:
        return told
    return open_checkpoint(note, keys).checkpoint


def state_folder() -> Path | None:
    """Where this user's programs remember things; None in a container without any home."""
    named = os.environ.get(VARIABLE, "")
    if Path(named).is_absolute():
        return Path(named) / _FOLDER
    try:
        return Path.home() / ".local/state" / _FOLDER
    except RuntimeError:
        return None


def accept(disk: Disk, at: int, sentence: str, path: Path) -> None:
    """What is remembered in this file counts no more: written down, and put aside."""
    text = path.read_text()
    known = disk.read(ROLLBACKS) if ROLLBACKS in disk.names("") else b""
    put(disk, ROLLBACKS, known + msgspec.json.encode(Rollback(at, sentence, text)) + b"\n")
    path.replace(path.with_name(f"{path.name}.until-{at}"))


def rollbacks(disk: Disk) -> tuple[Rollback, ...]:
    """Every rollback that was accepted."""
    if ROLLBACKS not in disk.names(""):
        return ()
    try:
        lines = disk.read(ROLLBACKS).splitlines()
        return tuple(msgspec.json.decode(line, type=Rollback) for line in lines)
    except ValueError as reason:
        raise Damaged(f"{ROLLBACKS} cannot be read: {reason}") from None

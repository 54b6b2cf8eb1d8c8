"""The files of verdicts in the user's cache, and which program may believe them."""

import hashlib
import os
import secrets
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from events.codec import encode_lines

if TYPE_CHECKING:
    from store.reader import Live

ROOT = Path(__file__).resolve().parents[2]
DECIDING = (
    *("events", "odds", "engine", "store", "analytics/screen", "analytics/replay"),
    *("formats", "api/importing/screened.py", "api/importing/worker.py"),  # theirs are kept, too
    "api/rules.py",
    "api/questions/verdict_files.py",
    "api/questions/verdicts.py",
)


class SavedVerdicts(Struct, frozen=True):
    """Verdicts of hands next to each other: the first, a code for each, rulesets that nobody had;
    of hands in the log the digest of their events."""

    first_seq: int
    codes: bytes
    unknown: tuple[str, ...] = ()
    events: str = ""


@cache
def program(deciding: tuple[str, ...] = DECIDING) -> str:
    """The digest of everything that decides a verdict, or what else is kept; a word of chance where
    that is not here.

    Tables of equities are a part of the rules, and a page names its style sheet by its digest: so
    every file counts. A process without source files (they may be in an archive) keeps nothing
    beyond itself.
    """
    digest = hashlib.sha256()
    for name in deciding:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        files = [one for one in files if one.is_file() and one.suffix != ".pyc"]
        if not any(one.suffix == ".py" for one in files):
            return secrets.token_hex(8)
        for file in files:
            digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def log_of(live: "Live", first: int) -> str:
    """What the log of a ledger is called whose first hand has this place."""
    return hashlib.sha256(f"{live.folder.resolve()} {first}".encode()).hexdigest()


def events_digest(live: "Live", first: int, end: int) -> str:
    """The digest of all that closed from one place up to another."""
    digest = hashlib.sha256()
    for leaf in takewhile(lambda it: it.hand_seq < end, live.leaves(first - 1)):
        digest.update(f"{leaf.stream}\n".encode())
        digest.update(encode_lines([recorded.event for recorded in leaf.recorded]))
    return digest.hexdigest()


def load(folder: Path, name: str) -> SavedVerdicts | None:
    """What was kept under this name, if it is whole."""
    try:
        text = _file(folder, name).read_bytes()
        digest, body = text[:32], text[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        return msgspec.msgpack.decode(body, type=SavedVerdicts)
    except (OSError, msgspec.DecodeError):
        return None


def save(folder: Path, name: str, kept: SavedVerdicts) -> None:
    """Written aside and renamed; a folder that cannot be written costs time and nothing else."""
    file = _file(folder, name)
    aside = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    body = msgspec.msgpack.encode(kept)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(hashlib.sha256(body).digest() + body)
        os.replace(aside, file)
        for other in folder.glob(f"{file.name.partition('-')[0]}-*.bin"):
            if other != file:  # of a program that has been replaced
                other.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name[:32]}-{program()}.bin"

"""Verdicts of sealed hands in the user's cache: a file for each segment, a byte for each hand.

A file is named by what decides its content: the digest of the segment's events, and the program
that judged them. So a mended rule, another reading or another way to read events makes other files,
and no file is ever wrong, only missing. What was cut short or altered fails its digest and is
judged again; so is a segment with hands of rulesets that nobody had then and somebody has now.
"""

import hashlib
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from store.folder.manifest import Segment

ROOT = Path(__file__).resolve().parents[2]
DECIDING = (
    *("events", "odds", "engine", "store", "analytics/screen", "analytics/replay"),
    *("api/rules.py", "api/judging.py"),
    *("api/questions/verdicts.py", "api/questions/verdicts_kept.py"),
)
SUFFIXES = (".py", ".bin")  # a table of equities is a part of the rules, too


class Kept(Struct, frozen=True):
    """The verdicts of a segment: its first hand, a code for each, rulesets that nobody had."""

    first_seq: int
    codes: bytes
    unknown: tuple[str, ...] = ()


@cache
def program() -> str:
    """The digest of everything that decides a verdict, or a word of chance where that is not here.

    Whoever has no source files (they may be in an archive) keeps nothing beyond his own process.
    """
    whole = hashlib.sha256()
    for name in DECIDING:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        files = [one for one in files if one.suffix in SUFFIXES]
        if not files:
            return secrets.token_hex(8)
        for file in files:
            whole.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
            whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]


def load(folder: Path, segment: Segment) -> Kept | None:
    """What was kept of a segment, if it is whole and of this segment."""
    try:
        text = _file(folder, segment).read_bytes()
        digest, body = text[:32], text[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        kept = msgspec.msgpack.decode(body, type=Kept)
    except (OSError, msgspec.DecodeError):
        return None
    hands = segment.last_seq - segment.first_seq + 1
    return kept if (kept.first_seq, len(kept.codes)) == (segment.first_seq, hands) else None


def save(folder: Path, segment: Segment, kept: Kept) -> None:
    """Written aside and renamed; a folder that cannot be written costs time and nothing else."""
    file = _file(folder, segment)
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


def _file(folder: Path, segment: Segment) -> Path:
    return folder / f"{segment.sha256['events'][:32]}-{program()}.bin"

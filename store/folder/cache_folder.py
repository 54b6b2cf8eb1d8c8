"""The user's folder for what can be made or fetched again: values of cards, pieces of archives."""

import os
from hashlib import sha256
from pathlib import Path

VARIABLE = "MUCKRAKE_CACHE"
_ARCHIVES = "archives"
_ORIGIN = "archive.url"  # in a folder that stands for an archive: which


def cache_folder() -> Path:
    """`$MUCKRAKE_CACHE`, else a user's own."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "muckrake"


def folder_of(url: str) -> Path:
    """The folder that stands for an archive: readers take it in place of a ledger's."""
    folder = cache_folder() / _ARCHIVES / sha256(url.encode()).hexdigest()[:16]
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not (folder / _ORIGIN).exists():
        aside = folder / f"{_ORIGIN}.{os.getpid()}"
        aside.write_text(url, "utf-8")
        aside.rename(folder / _ORIGIN)
    return folder


def origin_of(folder: Path) -> str | None:
    """The URL of the archive that a folder stands for; None of a ledger's own folder."""
    if folder.absolute().parent != (cache_folder() / _ARCHIVES).absolute():
        return None
    try:
        return (folder / _ORIGIN).read_text("utf-8")
    except FileNotFoundError:
        return None

"""Rulesets as they stood when hands were dealt under them: each kept once, by its fingerprint.

A hand names its ruleset by fingerprint only. The text is the engine's; the ledger keeps it so that
an old hand can be judged by its own rules when newer ones have taken their name.
"""

from collections.abc import Iterator

from store.disk import Disk, put

FOLDER = "rulesets"


def keep(disk: Disk, fingerprint: str, text: bytes) -> None:
    """Durable before any hand names it; one that is kept already is left alone."""
    disk.make_folder(FOLDER)
    disk.sync_folder("")
    path = _path(fingerprint)
    if path.removeprefix(f"{FOLDER}/") not in disk.names(FOLDER):
        put(disk, path, text)


def kept(disk: Disk, fingerprint: str) -> bytes | None:
    """The text of a ruleset, or None if this ledger never had it."""
    try:
        return disk.read(_path(fingerprint))
    except FileNotFoundError:
        return None


def every(disk: Disk) -> Iterator[str]:
    """The fingerprint of each ruleset that is kept."""
    for name in disk.names(FOLDER):
        if name.endswith(".json"):
            yield name.removesuffix(".json")


def _path(fingerprint: str) -> str:
    return f"{FOLDER}/{fingerprint}.json"

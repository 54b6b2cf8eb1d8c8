"""Rulesets as they stood when hands were dealt under them: each kept once, by its fingerprint.

A hand names its ruleset by fingerprint only. The text is the engine's; the ledger keeps it so that
an old hand can be judged by its own rules when newer ones have taken their name.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec
import pyarrow as pa

from store.folder.disk import Disk, put

FOLDER = "rulesets"
VIEW = "rulesets"  # as SQL names them all
SCHEMA = pa.schema(
    {"ruleset": pa.string(), "game": pa.string(), "unit": pa.string(), "document": pa.string()}
)


class _Document(msgspec.Struct):
    """What is told of a ruleset beside its fingerprint; `unit` is what its amounts count."""

    name: str
    document: str = ""
    unit: str = "chip"


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
    """The fingerprint of each ruleset that is kept; none by a ledger that no hand is in yet."""
    try:
        names = disk.names(FOLDER)
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(".json"):
            yield name.removesuffix(".json")


def unit(text: bytes | None) -> str | None:
    """What the amounts of a ruleset's hands count; None if its text is damaged."""
    try:
        return msgspec.json.decode(text or b"", type=_Document).unit
    except msgspec.DecodeError:
        return None


def table(names: Iterable[str], text: Callable[[str], bytes | None]) -> pa.Table:
    """The rows of the view `rulesets`, one for each that is kept."""
    rows = []
    for name in names:
        document = msgspec.json.decode(text(name) or b"{}", type=_Document)
        rows.append((name, document.name, document.unit, document.document))
    columns = zip(*rows, strict=True) if rows else ((),) * len(SCHEMA)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)


def _path(fingerprint: str) -> str:
    return f"{FOLDER}/{fingerprint}.json"

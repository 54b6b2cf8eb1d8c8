"""`muckrake doctor`: what is installed, what is in the ledger, and whether every byte is sound."""

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from api.cli.ledger import json_option, ledger_option, plainly, remembered, witness_option
from api.cli.output import WRONG, document, say
from api.printable import page
from api.report import aligned
from api.version import VERSION

LIBRARIES = (
    *("msgspec", "click", "rich", "numpy", "pyarrow", "duckdb", "polars", "cryptography"),
    *("fastapi", "uvicorn", "jinja2"),
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOUND = "every file is sound"


@click.command()
@ledger_option
@witness_option
@json_option
def doctor(folder: Path, as_document: bool) -> None:
    """Tell versions and disk space, and check every file of the ledger, if there is one.

    The marks of its writer, rulesets and the end of the tree are compared. Whether each sealed hand
    is the one that its leaf was signed for, and adds up, is what `verify --all` looks at.
    """
    facts: dict[str, Any] = {
        "muckrake": VERSION,
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
        "cores": os.cpu_count(),
        "evaluator": "columns of hands in numpy; one hand in pure Python",
        "chromium": _browser() or "none here: only the browser tests need one",
        "folder": str(folder.absolute()),
        "disk_free": shutil.disk_usage(_nearest(folder)).free,
    }
    with plainly():
        ledger, findings = examined(folder)
        omitted = _omitted(folder) if ledger is not None else []
    if as_document:
        document(
            "muckrake.doctor/1", **facts, ledger=ledger, findings=findings, not_compared=omitted
        )
    else:
        every = facts | (ledger or {"ledger": "none here: muckrake play makes one"})
        checks = [[_sort(finding), finding["sentence"]] for finding in findings]
        sound = [] if ledger is None or findings else [["check", SOUND]]
        fact_rows = [[name, _in_words(value)] for name, value in every.items()]
        left = [["not compared", sentence] for sentence in omitted]
        say(page(aligned([*fact_rows, *checks, *sound, *left])))
    if not all(finding["note"] for finding in findings):
        raise click.exceptions.Exit(WRONG)


def _sort(finding: dict[str, Any]) -> str:
    return "note" if finding["note"] else "damage"


def examined(folder: Path) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """What is in the ledger, and everything found in its files; None where there is no ledger."""
    from engine.game import fingerprint_of
    from store.check import check, check_end
    from store.folder.disk import RealDisk
    from store.proof.private import Private

    if not (folder / "manifest.json").exists() and not _remains(folder):
        return None, []
    disk, private = RealDisk(folder), Private(folder)
    found = check(disk, private.marks(), fingerprint_of)
    if all(one.note for one in found):
        found += check_end(disk, private.nonces(), remembered())
    return _facts(folder), [finding._asdict() for finding in found]


def _omitted(folder: Path) -> list[str]:
    """What could not be compared, or takes too long: the whole ledger would have to be read."""
    from store.proof.private import Private

    private = Private(folder)
    omitted = []
    if (marks := private.marks()) is None or not marks.strict:
        omitted.append("marks of its writer: private/log.key is not there")
    if private.nonces() is None:
        omitted.append("the newest hands with the checkpoint: private/nonce.key is not there")
    return [*omitted, "each sealed hand with its leaf, chips and cards: muckrake verify --all does"]


def _facts(folder: Path) -> dict[str, Any]:
    """What the manifest tells, if it can be read; why it cannot, the check says."""
    from store.folder import manifest
    from store.folder.disk import RealDisk
    from store.folder.frames import Damaged
    from store.folder.lock import holder

    facts: dict[str, Any] = {"writer": holder(folder)}
    try:
        now = manifest.read(RealDisk(folder))
    except Damaged:
        now = None
    if now is None:
        return facts
    log = folder / now.log
    return facts | {
        "manifest": now.number,
        "segments": len(now.segments),
        "segment_bytes": sum(size for one in now.segments for size in one.sizes.values()),
        "retired": len(now.retired),
        "log": now.log,
        "log_bytes": log.stat().st_size if log.exists() else None,
    }


def _remains(folder: Path) -> bool:
    """Files that only a manifest could explain."""
    files = (file for room in ("segments", "log") for file in folder.glob(f"{room}/*"))
    return any(file.stat().st_size for file in files)


def _in_words(value: Any) -> str:
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _browser() -> str | None:
    """The Chromium that the browser tests would drive."""
    named = (os.environ.get("MUCKRAKE_CHROMIUM"), *map(shutil.which, BROWSERS))
    return next(filter(None, named), None)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that there is."""
    return next(one for one in (folder, *folder.absolute().parents) if one.exists())

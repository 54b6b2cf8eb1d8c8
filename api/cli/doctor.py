"""`muckrake doctor`: what is installed, what is in the ledger, and whether every byte is sound."""

import os
import platform
import shutil
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from api.cli.ledger import json_option, ledger_option, named, plainly, remembered, witness_option
from api.cli.output import WRONG, answer, say
from api.printable import Page, page
from api.report import aligned
from api.version import VERSION

if TYPE_CHECKING:
    from store.folder.disk import Disk

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOUND = "every file is sound"
_AFTER = ("ledger", "findings", "not_compared")  # what is shown after the facts


Version = Annotated[str | None, Meta(description="its version; null where it is not installed")]


class Complaint(Struct, frozen=True):
    """One thing in one file of a ledger: from which byte and in or after which hand."""

    file: str
    place: int | None
    hand: str
    sentence: str
    note: bool


class LedgerFacts(Struct, frozen=True):
    """What a ledger's manifest tells; without one that can be read, who writes it."""

    writer: str | None
    manifest: int | UnsetType = UNSET
    segments: int | UnsetType = UNSET
    segment_bytes: int | UnsetType = UNSET
    retired: int | UnsetType = UNSET
    log: str | UnsetType = UNSET
    log_bytes: int | UnsetType | None = UNSET


class Doctor(Struct, frozen=True, tag_field="schema", tag="muckrake.doctor/1"):
    """What is installed, what is in the ledger, and what was found in its files."""

    muckrake: Annotated[str, Meta(description="its version")]
    python: Annotated[str, Meta(description="its version")]
    msgspec: Version
    click: Version
    rich: Version
    numpy: Version
    pyarrow: Version
    duckdb: Version
    polars: Version
    cryptography: Version
    fastapi: Version
    uvicorn: Version
    jinja2: Version
    python_multipart: Version
    obstore: Version
    cores: Annotated[int | None, Meta(description="processors of this machine")]
    evaluator: Annotated[str, Meta(description="what evaluates hands")]
    chromium: Annotated[str, Meta(description="the browser of the tests, or that there is none")]
    folder: Annotated[str, Meta(description="where the ledger is looked for")]
    disk_free: Annotated[int, Meta(description="bytes that are free there")]
    ledger: Annotated[
        LedgerFacts | None,
        Meta(
            description="`writer`, `manifest`, `segments`, `segment_bytes`, `retired`, `log`, "
            "`log_bytes`; null if there is none"
        ),
    ]
    findings: Annotated[
        list[Complaint],
        Meta(description="`file`, `place`, `hand`, `sentence`, `note` (a remark, nothing wrong)"),
    ]
    not_compared: Annotated[list[str], Meta(description="a sentence for each check left out")]


LIBRARIES = tuple(name for name, kind in Doctor.__annotations__.items() if kind == Version)


@click.command()
@ledger_option
@witness_option
@json_option
def doctor(folder: Path, as_document: bool) -> None:
    """Tell versions and disk space, and check every file of the ledger, if there is one.

    The marks of its writer, rulesets and the end of the tree are compared. Whether each sealed hand
    is the one that its leaf was signed for, and adds up, is what `verify --all` looks at.
    """
    with plainly():
        ledger, findings = examined(folder)
        omitted = _omitted(folder) if ledger is not None else []
    versions = dict[str, str | None].fromkeys(LIBRARIES)
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    browsers = (os.environ.get("MUCKRAKE_CHROMIUM"), *map(shutil.which, BROWSERS))
    report = Doctor(
        muckrake=VERSION,
        python=platform.python_version(),
        **versions,
        cores=os.cpu_count(),
        evaluator="columns of hands in numpy; one hand in pure Python",
        chromium=next(filter(None, browsers), "none here: only the browser tests need one"),
        folder=named(folder.absolute()),
        disk_free=shutil.disk_usage(
            next(one for one in (folder, *folder.absolute().parents) if one.exists())
        ).free,
        ledger=ledger,
        findings=findings,
        not_compared=omitted,
    )
    if as_document:
        answer(report)
    else:
        say(as_text(report))
    if not all(finding.note for finding in findings):
        raise click.exceptions.Exit(WRONG)


def as_text(doctor: Doctor) -> Page:
    """Every fact on a line, then what was found."""
    facts = {name: value for name, value in asdict(doctor).items() if name not in _AFTER}
    none = {"ledger": "none here: muckrake play makes one"}
    facts |= none if doctor.ledger is None else asdict(doctor.ledger)
    facts |= {name: f"{value:,}" for name, value in facts.items() if isinstance(value, int)}
    rows = [
        [name, "none" if value is None else str(value)]
        for name, value in facts.items()
        if value is not UNSET
    ]
    rows += [
        ["note" if finding.note else "damage", finding.sentence] for finding in doctor.findings
    ]
    if doctor.ledger is not None and not doctor.findings:
        rows.append(["check", SOUND])
    return page(aligned([*rows, *(["not compared", one] for one in doctor.not_compared)]))


def examined(folder: Path) -> tuple[LedgerFacts | None, list[Complaint]]:
    """What is in the ledger, and everything found in its files; None where there is no ledger."""
    from engine.game import fingerprint_of
    from store.archive.disk import disk_of
    from store.folder.manifest import PATH
    from store.proof.private import Private
    from store.recovery import check, check_end

    disk, private = disk_of(folder), Private(folder)
    if not (folder.is_dir() and PATH in disk.names("")):
        files = (file for room in ("segments", "log") for file in folder.glob(f"{room}/*"))
        if not any(file.stat().st_size for file in files):  # else only a manifest explains them
            return None, []
    findings = check(disk, private.marks(), fingerprint_of)
    if all(one.note for one in findings):
        findings += check_end(disk, private.nonces(), remembered())
    return _facts(folder, disk), [Complaint(*one) for one in findings]


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


def _facts(folder: Path, disk: "Disk") -> LedgerFacts:
    """What the manifest tells, if it can be read; why it cannot, the check says."""
    from store.folder import manifest
    from store.folder.disk import holder
    from store.folder.frames import Damaged

    try:
        current = manifest.read(disk)
    except Damaged:
        current = None
    if current is None:
        return LedgerFacts(holder(folder))
    log = folder / current.log
    return LedgerFacts(
        writer=holder(folder),
        manifest=current.number,
        segments=len(current.segments),
        segment_bytes=sum(size for segment in current.segments for size in segment.sizes.values()),
        retired=len(current.retired),
        log=current.log,
        log_bytes=log.stat().st_size if log.exists() else None,
    )

"""Maintain a ledger as a whole: `muckrake init`, `compact` and `restored`; `push` and `pull` of its
sealed files to an archive and back; `doctor`, which checks what is installed and every file.
"""

import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins
from msgspec.structs import asdict

from api.cli.ledger import (
    archive_objects,
    json_option,
    ledger_errors,
    ledger_name,
    ledger_option,
    reading,
    refuse_archive,
    remembered,
    witness_option,
    writing,
)
from api.cli.options import Option, quiet_option
from api.cli.output import (
    WRONG,
    NotFound,
    errors_as,
    plural,
    print_json,
    print_struct,
    progress_bars,
    repeat_every,
    say,
)
from api.printable import PrintableText, aligned_lines, printable_lines
from api.version import VERSION
from engine.game import fingerprint_of
from store.folder.disk import RealDisk, make_durable_folder
from store.folder.frames import Damaged
from store.proof.ledger_secrets import SecretFolder
from store.proof.tree import Refuted

if TYPE_CHECKING:
    from store.archive.push import PushResult
    from store.folder.manifest import Manifest


@click.command()
@click.option(
    "--name",
    "origin",
    cls=Option,
    formerly=["--origin"],
    metavar="NAME",
    help="The name of its log: best the address it will be served at, without https://.",
)
@ledger_option
@json_option
def init(origin: str | None, folder: Path, as_document: bool) -> None:
    """Begin an empty ledger and print its public key, to be published before the first hand.

    A ledger that is written to before begins by itself, under a name that is drawn.
    """
    refuse_archive(folder)
    with ledger_errors():
        from store.folder.manifest import PATH
        from store.proof.notary import public_keys

        if (folder / PATH).exists():
            raise click.ClickException(f"there is a ledger in {folder} already")
        with errors_as(click.UsageError, Refuted):
            make_durable_folder(folder, 0o700)
            signer = SecretFolder(folder).secrets(origin).signer
        if origin is not None and signer.key.name != origin:
            raise click.ClickException(
                f"{folder}/private holds the key of {signer.key.name}, not of {origin}"
            )
        with writing(folder, "init"):
            pass
        keys = [key.text() for key in public_keys(RealDisk(folder))]
    if as_document:
        print_json("muckrake.init/1", ledger=str(folder), origin=signer.key.name, keys=keys)
    else:
        say(printable_lines(keys))


@click.command()
@ledger_option
@witness_option
@json_option
@quiet_option
def compact(folder: Path, as_document: bool) -> None:
    """Merge small segments into large ones, read back and compared event by event."""
    from api.questions.verdicts import Verdicts
    from store.reader import Reader

    verdicts = Verdicts()
    with reading(folder) as snapshot:  # only where there is a ledger: this makes none
        verdicts.save(snapshot)
    with writing(folder, "compact") as ledger:
        ledger.seal()
        before, after = ledger.compact(bar=progress_bars)
    verdicts.save(Reader(folder).snapshot())  # under the names of the new segments
    merged = {
        "manifest": after.number,
        "segments": {"before": len(before.segments), "after": len(after.segments)},
        "bytes": {"before": _segment_bytes(before), "after": _segment_bytes(after)},
        "events": sum(segment.events for segment in after.segments),
        "retired": len(after.retired),
    }
    if as_document:
        print_json("muckrake.compact/1", **merged)
        return
    was, now = len(before.segments), len(after.segments)
    size, events = _segment_bytes(after), merged["events"]
    if before.segments == after.segments:
        say(f"nothing to merge: {plural(now, 'segment')}, {events} events, {size} bytes")
    else:
        say(
            f"{was} segments are now {now}, {events} events and nothing else changed: "
            f"{_segment_bytes(before)} bytes are now {size}"
        )
    if after.retired:
        say(f"{len(after.retired)} old files are kept an hour for those who still read them")


def _segment_bytes(manifest: "Manifest") -> int:
    return sum(size for segment in manifest.segments for size in segment.sizes.values())


@click.command()
@ledger_option
@witness_option
@json_option
def restored(folder: Path, as_document: bool) -> None:
    """Go on with a ledger as it is, though it is older than its newest known checkpoint, or has
    another history: after a backup was restored. That it was done stays on record."""
    from store.proof.checkpoint import rollbacks

    with reading(folder, warned=False):
        pass  # only where there is a ledger: this makes none
    disk = RealDisk(folder)
    before = len(rollbacks(disk))
    with writing(folder, "restored", accepting=True):
        accepted = [one.sentence for one in rollbacks(disk)[before:]]
    if as_document:
        print_json("muckrake.restored/1", accepted=accepted)
    elif accepted:
        say(printable_lines(f"accepted: {sentence}" for sentence in accepted))
    else:
        say(f"nothing to accept: {folder} is all that is remembered of it")


@click.command()
@click.argument("url")
@click.option(
    "--watch",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Go on, and send what is newly sealed this often, until stopped.",
)
@ledger_option
@json_option
@quiet_option
def push(url: str, watch: float | None, folder: Path, as_document: bool) -> None:
    """Copy what is sealed of the ledger to URL: s3://BUCKET/PREFIX, gs://, az://, file:// or a
    folder. Only what is not there yet is sent; private/ never is."""
    with ledger_errors(), reading(folder) as ledger:
        from store.archive.push import push as sent

        objects = archive_objects(url)
        with errors_as(click.ClickException, Refuted):
            pushed = sent(ledger.live.disk, SecretFolder(folder), objects, progress_bars("sending"))
            _print_pushed(pushed, ledger.next_seq - pushed.closed, as_document)
            for _ in repeat_every(watch):
                pushed = sent(
                    ledger.live.disk, SecretFolder(folder), objects, progress_bars("sending")
                )
                if pushed.is_new:
                    _print_pushed(pushed, ledger.live.refresh()[1] - pushed.closed, as_document)


def _print_pushed(pushed: "PushResult", unsealed: int, as_document: bool) -> None:
    """s3://poker/league: 41,200 closed streams in 3 segments; 12 objects sent, 3,481,002 bytes."""
    if as_document:
        print_json("muckrake.push/1", **to_builtins(pushed), unsealed=unsealed)
        return
    sent = f"{plural(pushed.sent, 'object')} sent, {plural(pushed.sent_bytes, 'byte')}"
    sent = sent if pushed.is_new else "nothing is newer here"
    size = f"{plural(pushed.closed, 'closed stream')} in {plural(pushed.segments, 'segment')}"
    say(f"{pushed.url}: {size}; {sent}")
    if unsealed > 0:
        are = "is" if unsealed == 1 else "are"
        closed = plural(unsealed, "closed stream")
        say(f"{closed} {are} not sealed yet: muckrake compact seals them")


@click.command()
@click.argument("url")
@ledger_option
@json_option
@quiet_option
def pull(url: str, folder: Path, as_document: bool) -> None:
    """Make the ledger that was pushed to URL, in a new folder; or bring one up to date that was
    pulled before. It has no private/: it can be read, and not written."""
    with ledger_errors():
        from store.archive.index import NoArchive
        from store.archive.index import pull as fetched

        with errors_as(click.ClickException, Refuted), errors_as(NotFound, NoArchive):
            pulled = fetched(archive_objects(url), folder, progress_bars("fetching"))
        with reading(folder):
            pass  # says so if the archive is an older copy
    if as_document:
        print_json("muckrake.pull/1", **to_builtins(pulled))
        return
    got = f"{plural(pulled.fetched, 'object')} fetched, {plural(pulled.fetched_bytes, 'byte')}"
    size = f"{plural(pulled.closed, 'closed stream')} in {plural(pulled.segments, 'segment')}"
    say(f"{pulled.folder}: {size}; {got}")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOUND_SENTENCE = "every file is sound"
_AFTER = ("ledger", "findings", "not_compared")  # what is shown after the facts


Version = Annotated[str | None, Meta(description="its version; null where it is not installed")]


class FileFinding(Struct, frozen=True):
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
        list[FileFinding],
        Meta(description="`file`, `place`, `hand`, `sentence`, `note` (a remark, nothing wrong)"),
    ]
    not_compared: Annotated[list[str], Meta(description="a sentence for each check left out")]


LIBRARY_VERSIONS = tuple(name for name, kind in Doctor.__annotations__.items() if kind == Version)


@click.command()
@ledger_option
@witness_option
@json_option
def doctor(folder: Path, as_document: bool) -> None:
    """Tell versions and disk space, and check every file of the ledger, if there is one.

    The marks of its writer, rulesets and the end of the tree are compared. Whether each sealed hand
    is the one that its leaf was signed for, and adds up, is what `verify --all` looks at.
    """
    from importlib.metadata import PackageNotFoundError, version

    with ledger_errors():
        ledger, findings, omitted = examine_ledger(folder)
    versions = dict[str, str | None].fromkeys(LIBRARY_VERSIONS)
    for name in LIBRARY_VERSIONS:
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
        folder=ledger_name(folder.absolute()),
        disk_free=shutil.disk_usage(
            next(one for one in (folder, *folder.absolute().parents) if one.exists())
        ).free,
        ledger=ledger,
        findings=findings,
        not_compared=omitted,
    )
    if as_document:
        print_struct(report)
    else:
        say(as_text(report))
    if not all(finding.note for finding in findings):
        raise click.exceptions.Exit(WRONG)


def as_text(doctor: Doctor) -> PrintableText:
    """The report as lines: every fact, then the findings."""
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
        rows.append(["check", SOUND_SENTENCE])
    return printable_lines(
        aligned_lines([*rows, *(["not compared", one] for one in doctor.not_compared)])
    )


def examine_ledger(folder: Path) -> tuple[LedgerFacts | None, list[FileFinding], list[str]]:
    """Facts of a ledger (None without one), findings in its files, and checks left out."""
    from store.archive.cached_disk import disk_of
    from store.folder import manifest
    from store.folder.disk import lock_owner
    from store.recovery import check_end, check_files

    disk, private = disk_of(folder), SecretFolder(folder)
    if not (folder.is_dir() and manifest.PATH in disk.names("")):
        files = (file for room in ("segments", "log") for file in folder.glob(f"{room}/*"))
        if not any(file.stat().st_size for file in files):  # else only a manifest explains them
            return None, [], []
    marks, nonces = private.marks(), private.nonces()
    findings = check_files(disk, marks, fingerprint_of)
    if all(one.note for one in findings):
        findings += check_end(disk, nonces, remembered())
    omitted = []
    if marks is None or not marks.strict:
        omitted.append("marks of its writer: private/log.key is not there")
    if nonces is None:
        omitted.append("the newest hands with the checkpoint: private/nonce.key is not there")
    # Not looked at either, for the whole ledger would have to be read:
    omitted.append("each sealed hand with its leaf, chips and cards: muckrake verify --all does")
    facts = LedgerFacts(lock_owner(folder))
    with suppress(Damaged):  # why a manifest cannot be read, the check says
        if (current := manifest.read(disk)) is not None:
            log = folder / current.log
            facts = LedgerFacts(
                writer=facts.writer,
                manifest=current.number,
                segments=len(current.segments),
                segment_bytes=_segment_bytes(current),
                retired=len(current.retired),
                log=current.log,
                log_bytes=log.stat().st_size if log.exists() else None,
            )
    return facts, [FileFinding(*one) for one in findings], omitted

"""Open the ledger of a command for reading or writing, and the options --ledger, --as and --json.

Nothing heavy is imported before a ledger is really opened.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from api.auditing.record import start_of
from api.cli.output import NotFound, NotPermitted, errors_as, exit_wrong, note
from events.ledger import Conflict, Record, Recorded, closes, is_match
from events.match import Match
from events.types import Events
from events.views import Auditor, Viewpoint

if TYPE_CHECKING:
    from store.archive.object_storage import ObjectStorage
    from store.ledger import FileLedger
    from store.proof.checkpoint import CheckpointMemory
    from store.reader import Snapshot

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
LEDGER_VARIABLE = "MUCKRAKE_LEDGER"
_WITNESS = "api.cli.ledger.witness"


class LedgerPath(click.Path):
    """A path to a ledger's folder, or to the cache folder of an archive."""

    def convert(self, value: Any, *of: Any) -> Path:
        from store.archive.index import PATH
        from store.folder.disk import archive_folder
        from store.folder.manifest import PATH as MANIFEST

        if "://" in (url := os.fspath(value)):
            return archive_folder(archive_objects(url).url)
        folder = cast(Path, super().convert(value, *of))
        if (folder / PATH).exists() and not (folder / MANIFEST).exists():
            return archive_folder(folder.absolute().as_uri())
        return folder


def ledger_name(folder: Path) -> str:
    """A ledger's name in sentences: its folder, or the URL of its archive."""
    from store.folder.disk import archive_url

    return archive_url(folder) or str(folder)


ledger_option = click.option(
    "--ledger",
    "folder",
    type=LedgerPath(file_okay=False, path_type=Path),
    metavar="DIR",
    envvar=LEDGER_VARIABLE,
    default="ledger",
    help=f"The ledger's folder, or the URL of an archive; else ${LEDGER_VARIABLE}, else ./ledger.",
)


def refuse_archive(folder: Path) -> None:
    """Refuse an archive, which can only be read, for a command that writes."""
    from store.folder.disk import ReadOnly, archive_url

    if (url := archive_url(folder)) is not None:
        raise click.ClickException(str(ReadOnly(url)))


# For a command without a ledger, so that scripts may give the option to every command.
no_ledger_option = click.option(
    "--ledger",
    metavar="DIR",
    expose_value=False,
    help="Taken because every command takes it; this one reads no ledger.",
)


def listen_options(port: int) -> Decorator:
    """The options --host and --port of a server."""

    def options(command: Function) -> Function:
        at_port = click.option(
            "--port",
            metavar="N",
            type=click.IntRange(0, 65_535),
            default=port,
            show_default=True,
            help="At which port; 0 takes any that is free.",
        )
        at_host = click.option(
            "--host",
            metavar="HOST",
            default="127.0.0.1",
            show_default=True,
            help="Where to listen.",
        )
        return at_host(at_port(command))

    return options


json_option = click.option(
    "--json", "as_document", is_flag=True, help="One document instead of the text."
)


# Who can read the folder may see all, so all is the default.
view_option = click.option(
    "--as",
    "view",
    metavar="VIEW",
    default="auditor",
    show_default=True,
    help="Show what this viewpoint sees: public, seat:NAME, auditor.",
)


def witness_option(command: Function) -> Function:
    """The option --witness: a file outside the ledger that keeps its newest checkpoint."""

    def keep(ctx: click.Context, _: click.Parameter, file: Path | None) -> None:
        ctx.meta[_WITNESS] = file

    option = click.option(
        "--witness",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="MUCKRAKE_WITNESS",
        expose_value=False,
        callback=keep,
        help="A file outside the ledger that keeps its newest checkpoint; else one in your state"
        " folder. A ledger that is older than that is refused.",
    )
    return option(command)


def remembered(*, accepting: bool = False) -> "CheckpointMemory":
    """The checkpoints that are remembered outside the ledgers' folders, as `--witness` says."""
    from store.proof.checkpoint import CheckpointMemory

    context = click.get_current_context(silent=True)
    file = context.meta.get(_WITNESS) if context else None
    return CheckpointMemory(file, accepting=accepting)


def archive_objects(url: str) -> "ObjectStorage":
    """The object storage at a URL."""
    from store.archive.object_storage import InvalidUrl, storage_of

    with errors_as(click.UsageError, InvalidUrl):
        return storage_of(url)


@contextmanager
def reading(folder: Path, *, warned: bool = True) -> Iterator["Snapshot"]:
    """Open a snapshot of the ledger beside its writer, with a note if it is an older copy."""
    with ledger_errors():
        from store.folder.frames import Damaged
        from store.proof.notary import public_keys
        from store.reader import NoLedger, Reader

        try:
            reader = Reader(folder)
        except (NoLedger, FileNotFoundError):
            if ledger_name(folder) != str(folder):
                sentence = f"there is no archive at {ledger_name(folder)}: muckrake push makes one"
                raise NotFound(sentence) from None
            raise NotFound(f"there is no ledger in {folder}: muckrake play makes one") from None
        snapshot = reader.snapshot()
        size, file = 0, ""  # what somebody signed for, as far as is remembered, and where it is
        if warned:
            with suppress(Damaged):  # verify and doctor say so; what is read is compared on its own
                known = remembered().of(public_keys(snapshot.live.disk))
                size, file = max(((one.size, str(path)) for path, one in known), default=(0, ""))
        if size > snapshot.next_seq:
            has = f"{ledger_name(folder)} has {snapshot.next_seq:,} closed streams"
            signed = f"{file} was signed for {size:,}"
            note(f"{has}, and {signed}: its end is lost, or this is an older copy")
        yield snapshot


@contextmanager
def writing(folder: Path, doing: str, *, accepting: bool = False) -> Iterator["FileLedger"]:
    """Open the ledger for its one writer, with notes of its recovery.

    Only with `accepting` it may be older than its remembered checkpoints.
    """
    with ledger_errors():
        from api.evidence.cosigning import publish_newest
        from api.playing.recording import ledger_projections
        from store.ledger import LedgerBroken, open_ledger
        from store.proof.tree import Refuted

        with errors_as(click.ClickException, LedgerBroken):
            known = remembered(accepting=accepting)
            ledger, lock = open_ledger(folder, doing, ledger_projections(folder), known)
            for sentence in ledger.notes:
                note(sentence)
            try:
                yield ledger
            finally:
                try:
                    ledger.close()
                finally:
                    lock.release()
            try:  # send what was written to the ledger's witnesses, if it has any
                publication = publish_newest(folder)
            except Refuted as reason:
                note(f"nothing was published: {reason}")
            else:
                for sentence in publication.sentences if publication is not None else ():
                    note(sentence)


@contextmanager
def ledger_errors() -> Iterator[None]:
    """Turn any failure of a ledger into one sentence and an exit code."""
    from store.folder.disk import LedgerLocked
    from store.folder.frames import Damaged

    try:
        yield
    except Damaged as damage:
        exit_wrong(str(damage))
    except BrokenPipeError:  # the reader of our output has gone: click knows what to do
        raise
    except (LedgerLocked, Conflict, OSError) as refusal:
        raise click.ClickException(str(refusal)) from None


def hand_of(ledger: "Snapshot", hand: str) -> Events:
    """The record of a hand; `NotFound` if it was never played."""
    named = re.fullmatch(r".+/(?:0|[1-9][0-9]{0,17})", hand)
    record = tuple(recorded.event for recorded in ledger.read(hand)) if named else ()
    if not record:
        raise NotFound(f"there is no hand {hand}: muckrake hands lists those there are")
    return cast(Events, record)


def closed_hands(recorded: Iterable[Recorded]) -> Iterator[Events]:
    """The records of closed hands, in the order they ended, from events in order of position."""
    begun: dict[str, list[Record]] = {}
    over: str | None = None
    for one in recorded:
        if over is not None and one.stream != over:  # faults may follow the end of a hand
            yield cast(Events, tuple(begun.pop(over)))
            over = None
        if not is_match(one.stream):
            begun.setdefault(one.stream, []).append(one.event)
            over = one.stream if closes(one.stream, (one.event,)) else over
    if over is not None:
        yield cast(Events, tuple(begun.pop(over)))


def viewpoint_of(view: str, record: Events, ledger: "Snapshot") -> Viewpoint:
    """The viewpoint `view` in this hand; `NotPermitted` for a player without a seat in it."""
    from api.viewpoints.redaction import opened_by, withheld_sentence
    from api.viewpoints.redaction import viewpoint_of as of_viewer

    check_viewpoint(view)
    start = start_of(record)
    match = start.hand.rpartition("/")[0]
    records = cast(tuple[Match, ...], tuple(recorded.event for recorded in ledger.read(match)))
    with errors_as(NotPermitted, ValueError):
        who = of_viewer(view, start.players, opened_by(records).hands)
    if opened_by(records).withheld and not isinstance(who, Auditor):
        raise NotPermitted(withheld_sentence(match))
    return who


def auditor_only(view: str, doing: str) -> None:
    """Refuse other viewpoints for a command that reads whole records."""
    check_viewpoint(view)
    if view != "auditor":
        raise NotPermitted(f"{doing} reads whole records: only an auditor may, not {view}")


def check_viewpoint(view: str) -> None:
    """Refuse a misspelt viewpoint before anything is read."""
    if view not in ("public", "auditor") and not view.startswith("seat:"):
        raise click.UsageError(f"{view} is no viewpoint: there are public, seat:NAME and auditor")

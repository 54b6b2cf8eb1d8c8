"""What is done to a ledger as a whole: `muckrake init`, `compact` and `restored`; and `push` and
`pull`, its sealed files into an archive, and back.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from api.cli.ledger import (
    archived_at,
    json_option,
    ledger_option,
    plainly,
    reading,
    refuse_archive,
    witness_option,
    writing,
)
from api.cli.options import Option, quiet_option
from api.cli.output import NotFound, bar, document, every, say, several
from api.printable import page

if TYPE_CHECKING:
    from store.archive.push import Pushed
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
    with plainly():
        from store.folder.disk import RealDisk, make_whole
        from store.folder.manifest import PATH
        from store.proof.notary import public_keys
        from store.proof.private import Private
        from store.proof.tree import Refuted

        if (folder / PATH).exists():
            raise click.ClickException(f"there is a ledger in {folder} already")
        try:
            make_whole(folder, 0o700)
            signer = Private(folder).secrets(origin).signer
        except Refuted as reason:
            raise click.UsageError(str(reason)) from None
        if origin is not None and signer.key.name != origin:
            raise click.ClickException(
                f"{folder}/private holds the key of {signer.key.name}, not of {origin}"
            )
        with writing(folder, "init"):
            pass
        keys = [key.text() for key in public_keys(RealDisk(folder))]
    if as_document:
        document("muckrake.init/1", ledger=str(folder), origin=signer.key.name, keys=keys)
    else:
        say(page(keys))


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
        verdicts.keep(snapshot)
    with writing(folder, "compact") as ledger:
        ledger.seal()
        before, after = ledger.compact(bar=bar)
    verdicts.keep(Reader(folder).snapshot())  # under the names of the new segments
    answer = {
        "manifest": after.number,
        "segments": {"before": len(before.segments), "after": len(after.segments)},
        "bytes": {"before": _size(before), "after": _size(after)},
        "events": sum(segment.events for segment in after.segments),
        "retired": len(after.retired),
    }
    if as_document:
        document("muckrake.compact/1", **answer)
        return
    was, now = len(before.segments), len(after.segments)
    size, events = _size(after), answer["events"]
    if before.segments == after.segments:
        say(f"nothing to merge: {several(now, 'segment')}, {events} events, {size} bytes")
    else:
        say(
            f"{was} segments are now {now}, {events} events and nothing else changed: "
            f"{_size(before)} bytes are now {size}"
        )
    if after.retired:
        say(f"{len(after.retired)} old files are kept an hour for those who still read them")


def _size(manifest: "Manifest") -> int:
    return sum(size for segment in manifest.segments for size in segment.sizes.values())


@click.command()
@ledger_option
@witness_option
@json_option
def restored(folder: Path, as_document: bool) -> None:
    """Go on with a ledger as it is, though it is older than its newest known checkpoint, or has
    another history: after a backup was restored. That it was done stays on record."""
    from store.folder.disk import RealDisk
    from store.proof.checkpoint import rollbacks

    with reading(folder, warned=False):
        pass  # only where there is a ledger: this makes none
    disk = RealDisk(folder)
    before = len(rollbacks(disk))
    with writing(folder, "restored", accepting=True):
        accepted = [one.sentence for one in rollbacks(disk)[before:]]
    if as_document:
        document("muckrake.restored/1", accepted=accepted)
    elif accepted:
        say(page(f"accepted: {sentence}" for sentence in accepted))
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
    with plainly(), reading(folder) as ledger:
        from store.archive.push import push as sent
        from store.proof.private import Private
        from store.proof.tree import Refuted

        objects = archived_at(url)
        try:
            pushed = sent(ledger.live.disk, Private(folder), objects, bar("sending"))
            _say(pushed, ledger.next_seq - pushed.closed, as_document)
            for _ in every(watch):
                pushed = sent(ledger.live.disk, Private(folder), objects, bar("sending"))
                if pushed.is_new:
                    _say(pushed, ledger.live.refresh()[1] - pushed.closed, as_document)
        except Refuted as reason:
            raise click.ClickException(str(reason)) from None


def _say(pushed: "Pushed", unsealed: int, as_document: bool) -> None:
    """s3://poker/league: 41,200 closed streams in 3 segments; 12 objects sent, 3,481,002 bytes."""
    if as_document:
        document("muckrake.push/1", **msgspec.to_builtins(pushed), unsealed=unsealed)
        return
    sent = f"{several(pushed.sent, 'object')} sent, {several(pushed.sent_bytes, 'byte')}"
    sent = sent if pushed.is_new else "nothing is newer here"
    size = f"{several(pushed.closed, 'closed stream')} in {several(pushed.segments, 'segment')}"
    say(f"{pushed.url}: {size}; {sent}")
    if unsealed > 0:
        are = "is" if unsealed == 1 else "are"
        closed = several(unsealed, "closed stream")
        say(f"{closed} {are} not sealed yet: muckrake compact seals them")


@click.command()
@click.argument("url")
@ledger_option
@json_option
@quiet_option
def pull(url: str, folder: Path, as_document: bool) -> None:
    """Make the ledger that was pushed to URL, in a new folder; or bring one up to date that was
    pulled before. It has no private/: it can be read, and not written."""
    with plainly():
        from store.archive.index import NoArchive
        from store.archive.index import pull as fetched
        from store.proof.tree import Refuted

        try:
            pulled = fetched(archived_at(url), folder, bar("fetching"))
        except NoArchive as nothing:
            raise NotFound(str(nothing)) from None
        except Refuted as reason:
            raise click.ClickException(str(reason)) from None
        with reading(folder):
            pass  # says so if the archive is an older copy
    if as_document:
        document("muckrake.pull/1", **msgspec.to_builtins(pulled))
        return
    got = f"{several(pulled.fetched, 'object')} fetched, {several(pulled.fetched_bytes, 'byte')}"
    size = f"{several(pulled.closed, 'closed stream')} in {several(pulled.segments, 'segment')}"
    say(f"{pulled.folder}: {size}; {got}")

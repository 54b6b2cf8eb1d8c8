"""`muckrake push` and `muckrake pull`: sealed files of a ledger into an archive, and back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from api.cli.ledger import archived_at, json_option, ledger_option, plainly, reading
from api.cli.options import quiet_option
from api.cli.output import NotFound, bar, document, every, say, several

if TYPE_CHECKING:
    from store.archive.push import Pushed


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
        from store.archive.pull import NoArchive
        from store.archive.pull import pull as fetched
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

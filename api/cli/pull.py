"""`muckrake pull`: a ledger made of an archive."""

from pathlib import Path

import click
import msgspec

from api.cli.ledger import archived_at, json_option, ledger_option, plainly, reading
from api.cli.options import quiet_option
from api.cli.output import NotFound, bar, document, say, several


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
            found = fetched(archived_at(url), folder, bar("fetching"))
        except NoArchive as nothing:
            raise NotFound(str(nothing)) from None
        except Refuted as reason:
            raise click.ClickException(str(reason)) from None
        with reading(folder):
            pass  # says so if the archive is an older copy
    if as_document:
        document("muckrake.pull/1", **msgspec.to_builtins(found))
        return
    got = f"{several(found.fetched, 'object')} fetched, {several(found.fetched_bytes, 'byte')}"
    what = f"{several(found.closed, 'closed stream')} in {several(found.segments, 'segment')}"
    say(f"{found.folder}: {what}; {got}")

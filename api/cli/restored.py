"""`muckrake restored`: go on with a ledger that is behind what is remembered of it."""

from pathlib import Path

import click

from api.cli.ledger import json_option, ledger_option, reading, witness_option, writing
from api.cli.output import document, say
from api.printable import page


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

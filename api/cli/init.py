"""`muckrake init`: an empty ledger, and the key that it will sign with."""

from pathlib import Path

import click

from api.cli.ledger import json_option, ledger_option, plainly, refuse_archive, writing
from api.cli.options import Option
from api.cli.output import document, say
from api.printable import page


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

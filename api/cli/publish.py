"""`muckrake publish`: the newest checkpoint, once enough witnesses have cosigned it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from api.cli.ledger import json_option, ledger_option, plainly, reading, refuse_archive
from api.cli.output import document, every, note, say
from store.proof.tree import Refuted

if TYPE_CHECKING:
    from api.evidence.witnesses import Publication


@click.command()
@click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A C2SP tlog-policy with the addresses of witnesses; kept by the ledger from now on.",
)
@click.option(
    "--watch",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Go on, and look for a newer checkpoint this often, until stopped.",
)
@ledger_option
@json_option
def publish(policy: Path | None, watch: float | None, folder: Path, as_document: bool) -> None:
    """Ask the ledger's witnesses to cosign its newest checkpoint, and publish it if enough do.

    A ledger without witnesses publishes each checkpoint as soon as it is signed.
    """
    refuse_archive(folder)
    with plainly(), reading(folder) as ledger:
        from api.evidence.witnesses import publish_newest
        from store.proof.policy import keep_policy, policy_of, read_policy

        disk = ledger.live.disk
        try:
            if policy is not None:
                keep_policy(disk, read_policy(policy.read_bytes()))
            if policy_of(disk) is None:
                raise click.ClickException(
                    f"{folder} asks no witness: name some with --policy FILE"
                )
            found = publish_newest(folder)
            _say(found, as_document)
            for _ in every(watch):
                if (newer := publish_newest(folder)) is not None:
                    _say(found := newer, as_document)
        except Refuted as reason:
            raise click.ClickException(str(reason)) from None
    if found is not None and not found.is_published:
        raise click.exceptions.Exit(1)


def _say(found: "Publication | None", as_document: bool) -> None:
    """Print one line, and a note for each witness that did not cosign."""
    if found is None:
        if as_document:
            document("muckrake.publish/1", size=None, is_published=None, replies=[])
        else:
            say("nothing to publish: no checkpoint is newer than the one that is published")
        return
    if as_document:
        document("muckrake.publish/1", **msgspec.to_builtins(found))
    else:
        say(found.sentence)
    for one in found.replies:
        if one.refusal is not None:
            note(f"{one.witness}: {one.refusal}")

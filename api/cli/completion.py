"""`muckrake completion SHELL`: what teaches a shell to complete commands, games and hands."""

import click
from click.shell_completion import get_completion_class

from api.cli.ledger import json_option, no_ledger_option
from api.cli.output import document, say
from api.printable import Page

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MUCKRAKE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@no_ledger_option
@json_option
def completion(shell: str, as_document: bool) -> None:
    """Print what SHELL is to read when it starts: eval "$(muckrake completion bash)"."""
    kind = get_completion_class(shell)
    assert kind is not None
    muckrake = click.get_current_context().find_root().command
    script = kind(muckrake, {}, "muckrake", VARIABLE).source()
    if as_document:
        document("muckrake.completion/1", shell=shell, script=script)
    else:
        say(Page(f"{script}\n"))

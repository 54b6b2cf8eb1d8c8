"""`muckrake completion SHELL`: what teaches a shell to complete commands, games and hands."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from api.cli.ledger import json_option, no_ledger_option
from api.cli.output import document, note, say
from api.printable import Page

VARIABLE = "_MUCKRAKE_COMPLETE"
STARTS = {"bash": ".bashrc", "zsh": ".zshrc"}  # what a shell reads when it starts
COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n"


@click.command()
@click.argument("shell", type=click.Choice((*STARTS, "fish")))
@click.option("--install", is_flag=True, help="Write it where SHELL finds it, for good.")
@no_ledger_option
@json_option
def completion(shell: str, install: bool, as_document: bool) -> None:
    """Print what SHELL is to read when it starts: eval "$(muckrake completion bash)".

    With --install it is kept in a file that SHELL reads from now on: fish of itself, bash and zsh
    by a line in ~/.bashrc or ~/.zshrc, which is written once.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    muckrake = click.get_current_context().find_root().command
    script = kind(muckrake, {}, "muckrake", VARIABLE).source() + "\n"
    if shell == "zsh":
        script = COMPINIT + script
    kept = str(_installed(shell, script)) if install else None
    if as_document:
        document("muckrake.completion/1", shell=shell, script=script, file=kept)
    elif kept is None:
        say(Page(script))
    else:
        note(f"{shell} completes muckrake when it starts again, by {kept}")


def _installed(shell: str, script: str) -> Path:
    """The file that was written; bash and zsh are told to read it."""
    home = Path.home()
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        file = config / "fish" / "completions" / "muckrake.fish"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        file = data / "muckrake" / f"completion.{shell}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(script, "utf-8")
    if shell != "fish":
        line = f'source "{file}"  # muckrake completes its commands\n'
        start = (Path(os.environ.get("ZDOTDIR") or home) if shell == "zsh" else home) / STARTS[
            shell
        ]
        before = start.read_text("utf-8") if start.exists() else ""
        if line not in before:
            start.write_text(before + "\n" * (before[-1:] not in ("", "\n")) + line, "utf-8")
    return file

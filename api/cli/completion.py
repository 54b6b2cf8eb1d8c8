"""`muckrake completion SHELL`: what teaches a shell to complete commands, games and hands.

A completion that fails completes nothing: nobody wants an error while he types.
"""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from api.cli.ledger import json_option, no_ledger_option
from api.cli.output import document, note, say
from api.printable import Page, printable

if TYPE_CHECKING:
    from store.reader import Snapshot


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


MOST = 200  # hands that are offered at once


def games(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Rulesets that begin so."""
    from engine.games import RULESETS

    return [name for name in RULESETS if name.startswith(begun)]


def bots(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Bots by name; of a list the last one is completed."""
    from dealer.bots.built_in import BOTS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in BOTS if name.startswith(last)]


def matches(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Matches of the ledger that begin so."""
    found: list[str] = []
    with suppress(Exception):
        every = _ledger(context).matches()
        found = [name for name in every if name.startswith(begun) and name == printable(name)]
    return found


def hands(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Matches first, and once one is named, its hands."""
    match = begun.partition("/")[0]
    if match == begun:
        return [f"{name}/" for name in matches(context, parameter, begun)]
    found: list[str] = []
    with suppress(Exception):
        listed = (one.hand for one in _ledger(context).hands(match))
        found = list(islice((hand for hand in listed if hand.startswith(begun)), MOST))
    return found


def _ledger(context: click.Context) -> "Snapshot":
    """The ledger that the words typed so far mean."""
    from store.reader import Reader

    said: Any = context.params.get("folder")
    return Reader(Path(said or "ledger")).snapshot()

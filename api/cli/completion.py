"""`muckrake completion` and `muckrake man`: shell completion, and the manual page.

A completion that fails completes nothing: nobody wants an error while he types.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from api.cli.ledger import json_option, no_ledger_option
from api.cli.output import note, print_json, say
from api.printable import PrintableText, printable
from api.version import VERSION
from engine.games import RULESETS

if TYPE_CHECKING:
    from store.reader import Snapshot

SHELL_VARIABLE = "_MUCKRAKE_COMPLETE"
START_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}  # what a shell reads when it starts
COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n"


@click.command()
@click.argument("shell", type=click.Choice((*START_FILES, "fish")))
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
    script = kind(muckrake, {}, "muckrake", SHELL_VARIABLE).source() + "\n"
    if shell == "zsh":
        script = COMPINIT + script
    kept = None
    if install:
        home = Path.home()
        if shell == "fish":
            config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
            kept = config / "fish" / "completions" / "muckrake.fish"
        else:
            data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
            kept = data / "muckrake" / f"completion.{shell}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(script, "utf-8")
        if shell != "fish":  # bash and zsh are set to read it
            line = f'source "{kept}"  # muckrake completes its commands\n'
            starts = Path(os.environ.get("ZDOTDIR") or home) if shell == "zsh" else home
            start = starts / START_FILES[shell]
            before = start.read_text("utf-8") if start.exists() else ""
            if line not in before:
                start.write_text(before + "\n" * (before[-1:] not in ("", "\n")) + line, "utf-8")
    if as_document:
        print_json("muckrake.completion/1", shell=shell, script=script, file=kept and str(kept))
    elif kept is None:
        say(PrintableText(script))
    else:
        note(f"{shell} completes muckrake when it starts again, by {kept}")


COMPLETIONS_MAX = 200  # hands that are offered at once


def games(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the names of rulesets."""
    return [name for name in RULESETS if name.startswith(begun)]


def bots(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the names of bots; in a list the last one."""
    from dealer.bots.built_in import BOTS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in BOTS if name.startswith(last)]


def matches(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the names of matches in the ledger."""
    names: list[str] = []
    with suppress(Exception):
        every = _ledger(context).matches()
        names = [name for name in every if name.startswith(begun) and name == printable(name)]
    return names


def hands(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the names of matches, and after a match those of its hands."""
    match = begun.partition("/")[0]
    if match == begun:
        return [f"{name}/" for name in matches(context, parameter, begun)]
    names: list[str] = []
    with suppress(Exception):
        listed = (hand.hand for hand in _ledger(context).hands(match))
        names = list(islice((hand for hand in listed if hand.startswith(begun)), COMPLETIONS_MAX))
    return names


def _ledger(context: click.Context) -> "Snapshot":
    """The ledger that the words typed so far name."""
    from store.reader import Reader

    folder: Any = context.params.get("folder")
    return Reader(Path(folder or "ledger")).snapshot()


@click.command()
@click.option("--install", is_flag=True, help="Keep it where `man muckrake` finds it, for good.")
@no_ledger_option
@json_option
def man(install: bool, as_document: bool) -> None:
    """Print the manual page: every command and option, as their help says them.

    `muckrake man | man -l -` shows it once.
    """
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    lines = [f'.TH MUCKRAKE 1 "" "muckrake {VERSION}"', ".SH NAME"]
    lines += [r"muckrake \- the flight recorder and court of appeal for poker", ".SH SYNOPSIS"]
    lines += [".B muckrake", "COMMAND [OPTIONS] [ARGS]", ".SH COMMANDS"]
    for name in root.command.list_commands(root):
        lines += _command_roff(root, name)
    text = "\n".join(lines) + "\n"
    kept = None
    if install:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        kept = Path(data) / "man" / "man1" / "muckrake.1"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, "utf-8")
    if as_document:
        print_json("muckrake.man/1", page=text, file=kept and str(kept))
    elif kept is None:
        say(PrintableText(text))
    else:
        note(f"man muckrake shows it, from {kept}")


def _command_roff(parent: click.Context, name: str) -> Iterator[str]:
    """The manual of a command in roff, or of each of its subcommands."""
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent, name)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            yield from _command_roff(context, part)
        return
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f".SS {_escaped_roff(usage)}"
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_escaped_roff(" ".join(paragraph.split())), ".PP")
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            yield from (".TP", _escaped_roff(record[0]), _escaped_roff(record[1]))


def _escaped_roff(text: str) -> str:
    """Text escaped for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text

"""`muckrake man`: the manual page, made from the help of every command."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from api.cli.ledger import json_option, no_ledger_option
from api.cli.output import document, note, say
from api.printable import Page
from api.version import VERSION


@click.command()
@click.option("--install", is_flag=True, help="Keep it where `man muckrake` finds it, for good.")
@no_ledger_option
@json_option
def man(install: bool, as_document: bool) -> None:
    """Print the manual page: every command and option, as their help says them.

    `muckrake man | man -l -` shows it once.
    """
    text = "\n".join(_lines(click.get_current_context().find_root())) + "\n"
    kept = None
    if install:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        kept = Path(data) / "man" / "man1" / "muckrake.1"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, "utf-8")
    if as_document:
        document("muckrake.man/1", page=text, file=kept and str(kept))
    elif kept is None:
        say(Page(text))
    else:
        note(f"man muckrake shows it, from {kept}")


def _lines(root: click.Context) -> Iterator[str]:
    """The page in roff."""
    yield f'.TH MUCKRAKE 1 "" "muckrake {VERSION}"'
    yield from (".SH NAME", r"muckrake \- the flight recorder and court of appeal for poker")
    yield from (".SH SYNOPSIS", ".B muckrake", "COMMAND [OPTIONS] [ARGS]", ".SH COMMANDS")
    assert isinstance(root.command, click.Group)
    for name in root.command.list_commands(root):
        yield from _command(root, name)


def _command(parent: click.Context, name: str) -> Iterator[str]:
    """A command, or each of those that it has."""
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent, name)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            yield from _command(context, part)
        return
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f".SS {_roff(usage)}"
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_roff(" ".join(paragraph.split())), ".PP")
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            yield from (".TP", _roff(record[0]), _roff(record[1]))


def _roff(text: str) -> str:
    """Text that roff takes for text."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text

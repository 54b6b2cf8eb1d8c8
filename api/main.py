"""The command line: `muckrake COMMAND`; a command is imported when it is run.

Exit codes: 0 fine, 1 failed, 2 usage, 3 checked and found wrong, 4 not permitted, 5 not found,
6 contested under --strict, 130 interrupted.
"""

import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import click

from api.cli.output import say
from api.printable import PrintableText
from api.questions import declared
from api.version import VERSION

COMMANDS = {
    "demo": "Play every ruleset, keep, replay and judge every hand; show a contested one.",
    "games": "List the rulesets, or show one in full.",
    "init": "Make an empty ledger under a name of its own, with a new signing key.",
    "play": "Play matches between the built-in bots, and record them.",
    "match": "Play a match between two bots that speak the MIT protocol, and record it.",
    "hud": "Follow a match, and tell its players' statistics while it is played.",
    "league": "Play leagues of bots that speak the MIT protocol, and go on with them.",
    "import": "Judge foreign hand histories, and write them into the ledger.",
    "replay": "Show a recorded hand line by line, or its table at one moment.",
    "export": "Write matches and hands in other formats, as a viewpoint may see them.",
    "verify": "Check a bundle of evidence, or the whole ledger, from its bytes.",
    "audit": "Decide recorded hands again by the rules that they name.",
    "sql": "Ask the ledger a question in SQL; nothing is written.",
    "serve": "Serve the API and the web pages of this ledger.",
    "key": "Create, list and revoke keys to the API.",
    "get": "Send one request to the API, without a server.",
    "publish": "Publish the newest checkpoint, once enough witnesses have cosigned it.",
    "witness": "Cosign the checkpoints of other people's logs, if they only grow.",
    "monitor": "Read somebody's log leaf by leaf, and find forks, wrong leaves, repeated records.",
    "restored": "Go on with a ledger that is older than what is known of it.",
    "push": "Copy sealed files to object storage or a folder.",
    "pull": "Make a ledger of an archive that was pushed.",
    "compact": "Merge small segments, and prove that nothing changed.",
    "completion": "Print or install the completion of these commands for a shell.",
    "man": "Print the manual page.",
    "doctor": "Show what is installed and what is in the ledger, and check that it is sound.",
}

COMMAND_FILES = {  # files of commands that are called otherwise
    **dict.fromkeys(("init", "compact", "restored", "push", "pull", "doctor"), "upkeep"),
    "hud": "replay",
    "get": "serve",
    "man": "completion",
    **dict.fromkeys(("publish", "monitor"), "witness"),
}

HELP_GROUPS = {  # of the help; other commands and all declared questions are in Ask
    "Play": ("demo", "games", "init", "play", "match", "hud", "league", "import"),
    "Ask": (),
    "Prove": ("audit", "verify", "publish", "witness", "monitor"),
    "Serve": ("serve", "key", "get"),
    "Keep": ("export", "push", "pull", "compact", "restored", "doctor", "completion", "man"),
}


POSIX_MODULES = (
    "fcntl",
    "resource",
    "pwd",
    "grp",
    "termios",
)  # modules that Python has not on Windows

PYTHON_VERSION = sys.version.split()[0]


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`help` and `help COMMAND` are `--help` and `COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as missing:
            name = missing.command_name
            near = get_close_matches(name, [*self.list_commands(ctx), "help"])
            but = f", but {' and '.join(near)}" if near else ""
            raise click.UsageError(f"No such command {name!r}{but}", ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *declared.question_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in declared.question_names():
            from api.cli.questions import question_command as of_question

            return of_question(declared.question(cmd_name))
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        module = f"{__package__}.cli.{COMMAND_FILES.get(name, name)}"
        is_new = module not in sys.modules
        if is_new:  # what it needs stays, so no collection need look at it
            gc.disable()
        try:
            command = getattr(import_module(module), name)
        except ModuleNotFoundError as missing:
            if missing.name not in POSIX_MODULES:
                raise
            # It cannot be imported on this system: it has a help, and no more.
            lacking = missing

            def refuse() -> NoReturn:
                raise lacking

            takes_all = {"ignore_unknown_options": True, "allow_extra_args": True}
            return click.Command(cmd_name, takes_all, refuse, help=COMMANDS[cmd_name])
        finally:
            if is_new:
                gc.freeze()
                gc.enable()
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; one that needs what Windows has not says so in one sentence."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as missing:
            if missing.name not in POSIX_MODULES:
                raise
            raise click.ClickException(
                f"{ctx.invoked_subcommand} needs Linux or macOS: this system has no"
                f" {missing.name}; hands are read, audited and verified here"
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sentences = {
            **COMMANDS,
            **{name: declared.sentence(name) for name in declared.question_names()},
        }
        elsewhere = {name for names in HELP_GROUPS.values() for name in names}
        asking = tuple(name for name in self.list_commands(ctx) if name not in elsewhere)
        for group, names in HELP_GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, sentences[name]) for name in names or asking])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text("`muckrake help COMMAND` says all of one.")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message=f"muckrake, version {VERSION}, Python {PYTHON_VERSION}")
def muckrake() -> None:
    """The flight recorder and court of appeal for poker."""


def main(words: list[str] | None = None) -> int:
    """Run one command; every failure is one sentence on stderr and an exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: no file of ours may take its number
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    try:
        code = muckrake.main(words, prog_name="muckrake", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as no_words:
        say(PrintableText(f"{no_words.format_message()}\n"), err=True)
        return no_words.exit_code
    except click.UsageError as misuse:
        see = f": see {misuse.ctx.command_path} --help" if misuse.ctx else ""
        say(f"muckrake: {misuse.format_message().rstrip('.')}{see}", err=True)
        return misuse.exit_code
    except click.ClickException as failure:
        say(f"muckrake: {failure.format_message()}", err=True)
        return failure.exit_code
    except click.Abort:
        return 130
    except OSError as problem:  # a full disk, a folder that may not be read
        path = f": {problem.filename}" if problem.filename else ""
        say(f"muckrake: {problem.strerror or problem}{path}", err=True)
        # Give up what a full disk did not take: else Python tries at its end, and ends with 120.
        try:
            sys.stdout.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return 1
    return code if isinstance(code, int) else 0

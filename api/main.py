"""The command line: `muckrake COMMAND`; a command is imported when it is asked for.

Exit codes: 0 fine, 1 failed, 2 usage, 3 checked and found wrong, 4 not permitted, 5 not found,
6 contested under --strict, 130 interrupted.
"""

from importlib import import_module
from keyword import iskeyword

import click

from api.cli.output import say
from api.printable import Page
from api.questions import declared
from api.version import VERSION

COMMANDS = {
    "demo": "Play every ruleset, keep, replay and judge every hand; show a contested one.",
    "games": "The rulesets there are; one of them in full.",
    "init": "An empty ledger under a name of its own, and the key that it will sign with.",
    "play": "Matches between our own bots, written into the ledger.",
    "match": "Two bots that speak the MIT protocol, in processes of their own, on record.",
    "import": "Foreign hand histories, judged and written into the ledger.",
    "matches": "The matches in the ledger, and what they came to.",
    "hands": "The hands in the ledger, in the order they ended.",
    "replay": "A recorded hand line by line, or its table at one moment.",
    "export": "Matches and hands in the formats of others, as a viewpoint may see them.",
    "verify": "A bundle of evidence, or the whole ledger, checked from its bytes.",
    "audit": "Recorded hands decided again by the rules they name.",
    "grid": "How a player plays each class of hole cards.",
    "opponent": "How one player plays, and what of it stands out.",
    "results": "What winnings are made of: luck street by street, play, rake; and how they grew.",
    "fairness": "Whether cards, swaps and bids are as chance alone would have them.",
    "sql": "One question to the ledger in SQL, read-only.",
    "serve": "The API and the web pages over this ledger.",
    "key": "Keys to the API: create, list and revoke.",
    "get": "One request to the API, without a server.",
    "publish": "The newest checkpoint, once enough witnesses have cosigned it.",
    "witness": "Cosign the checkpoints of other people's logs, if they only grow.",
    "monitor": "Somebody's log read leaf by leaf: forks, wrong leaves, repeated records.",
    "restored": "Go on with a ledger that is older than what is known of it.",
    "compact": "Merge small segments, and prove that nothing changed.",
    "completion": "What teaches a shell to complete all of this.",
    "doctor": "What is installed, what is in the ledger, and whether it is sound.",
}


class Lazy(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *declared.names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in declared.names():
            from api.cli.questions import command as of_question

            return of_question(declared.question(cmd_name))
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = getattr(import_module(f"api.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Questions"):
            formatter.write_dl([(name, declared.sentence(name)) for name in declared.names()])


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="muckrake")
def muckrake() -> None:
    """The flight recorder and court of appeal for poker."""


def main(words: list[str] | None = None) -> int:
    """Run one command; every failure is one sentence on stderr and an exit code."""
    try:
        code = muckrake.main(words, prog_name="muckrake", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as asked:
        say(Page(f"{asked.format_message()}\n"), err=True)
        return asked.exit_code
    except click.UsageError as misuse:
        say(f"muckrake: {misuse.format_message().rstrip('.')}{_help_for(misuse)}", err=True)
        return misuse.exit_code
    except click.ClickException as failure:
        say(f"muckrake: {failure.format_message()}", err=True)
        return failure.exit_code
    except click.Abort:
        return 130
    return code if isinstance(code, int) else 0


def _help_for(misuse: click.UsageError) -> str:
    return f": see {misuse.ctx.command_path} --help" if misuse.ctx else ""

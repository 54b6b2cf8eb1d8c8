"""`muckrake replay`: a recorded hand line by line, or the table after some of its events."""

from pathlib import Path

import click
import msgspec

from api.cli import completion
from api.cli.ledger import hand_of, json_option, ledger_option, reading, view_option, viewpoint_of
from api.cli.output import document, say
from api.cli.serve import web_page
from api.viewpoints.rendering import lines, table_after, table_as_json, table_as_text
from events.views import see


@click.command()
@click.argument("hand", shell_complete=completion.hands)
@click.option(
    "--at", metavar="N", type=int, help="The table after this event, instead of every line."
)
@view_option
@ledger_option
@json_option
@web_page(lambda to, values: to.hand(values["hand"], event=values["at"]))
def replay(hand: str, at: int | None, view: str, folder: Path, as_document: bool) -> None:
    """Show a recorded HAND (MATCH/NUMBER): its events, numbered from 0, or its table after one."""
    with reading(folder) as reader:
        record = hand_of(reader, hand)
        who = viewpoint_of(view, record, reader)
    seen = see(record, who)
    if at is not None and not 0 <= at < len(seen):
        raise click.UsageError(f"--at {at}: {hand} has events 0 to {len(seen) - 1} for {view}")
    shown = seen if at is None else seen[: at + 1]
    if as_document:
        content = {"hand": hand, "view": view, "events": msgspec.to_builtins(shown)}
        table = None if at is None else table_as_json(table_after(shown))
        document("muckrake.replay/1", **content, at=at, table=table)
        return
    numbered = list(enumerate(lines(record, who)))
    for number, line in numbered if at is None else numbered[at : at + 1]:
        say(f"{number:3}  {line}")
    if at is not None:
        say("")
        say(table_as_text(table_after(shown)))

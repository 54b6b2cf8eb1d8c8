"""`muckrake hud`: how the players of a match play, as it stands while they play it.

Each look opens the ledger anew, and disturbs no writer. What it shows after 300 hands is what
`muckrake stats --match MATCH --numbers 1-300` says, whenever it is asked.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from api.cli import completion
from api.cli.ledger import ledger_option, view_option
from api.cli.options import quiet_option
from api.cli.output import drawn, every, line, note, progress, say
from api.cli.viewpoint import viewing
from store.folder.disk import holder

if TYPE_CHECKING:
    from api.questions.declared.stats import Stats

LOOK_S = 0.5  # between two looks: a match of quick bots plays some hundred hands meanwhile


class Look(NamedTuple):
    """The statistics after so many hands; nothing, as long as there are no new ones to tell."""

    hands: int
    over: bool
    gone: bool  # whether it has no end, and nobody writes the ledger
    stats: "Stats | None"


@click.command()
@click.argument("match", shell_complete=completion.hands)
@click.option(
    "--every",
    "step",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Tell after each so many hands, and at the end.",
)
@view_option
@ledger_option
@click.option("--json", "as_document", is_flag=True, help="A line of JSON each time.")
@quiet_option
def hud(match: str, step: int, view: str, folder: Path, as_document: bool) -> None:
    """Follow a match and tell its players' statistics until it is over, or until Ctrl-C."""
    look = _look(folder, view, match, step, 0)
    hands = _tell(match, look, as_document)
    for _ in every(None if look.over or look.gone else LOOK_S):
        look = _look(folder, view, match, step, hands)
        hands = _tell(match, look, as_document) or hands
        if look.over or look.gone:
            break
    if look.gone:
        why = "its writer is gone, and nobody goes on with it"
        raise click.ClickException(f"{match} has no end: {why}")
    if look.over and not hands:
        note(f"{match} is over, and {view} is told of none of its hands")


def _look(folder: Path, view: str, match: str, step: int, known: int) -> Look:
    """The ledger as it is now: the last full step that is played, or all of a match that is over.

    A match that nobody announced is one that nobody plays. Of an archive nobody knows who writes.
    """
    # Before the ledger is read: a writer who leaves in between has written the end.
    is_left = (folder / "lock").exists() and holder(folder) is None
    with viewing(folder, view) as viewed:
        from analytics.sql.chosen import quoted
        from api.questions.declared.matches import played_of
        from api.questions.declared.stats import StatsParams, stats
        from api.viewpoints.match_records import records
        from events.match import MatchEnded

        own = [record.event for record in records(viewed.snapshot, match)]
        over = not own or any(isinstance(one, MatchEnded) for one in own)
        played_of(viewed, match)  # `Absent` if there is no match
        sql = f"SELECT max(number) AS last FROM hands WHERE match = {quoted(match)}"
        last = next(iter(viewed.rows(sql)))["last"] or 0
        gone = is_left and not over
        hands = last if over or gone else last - last % step
        if hands <= known:
            return Look(hands, over, gone, None)
        params = StatsParams(match=match, hands=f"0-{hands}")
        return Look(hands, over, gone, stats(viewed, params, progress))


def _tell(match: str, look: Look, as_document: bool) -> int:
    """Write the statistics of now; return after how many hands."""
    if look.stats is None:
        return 0
    if as_document:
        content = msgspec.to_builtins(look.stats)
        kept = {name: content[name] for name in ("as", "players")}
        line("muckrake.hud/1", match=match, hands=look.hands, over=look.over, **kept)
        return look.hands
    from api.questions.declared.stats import StatsParams, sheets

    (sheet,) = sheets(look.stats, StatsParams(match=match))
    head = f"{match}   after hand {look.hands}{', the last' if look.over else ''}"
    drawn(sheet.columns, sheet.rows, sheet.right, f"{head}   viewpoint: {look.stats.viewpoint}")
    say("")
    return look.hands

"""`muckrake replay` shows a hand line by line, `muckrake hud` the statistics of a running match."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from api.cli import completion
from api.cli.ledger import hand_of, json_option, ledger_option, reading, view_option, viewpoint_of
from api.cli.options import quiet_option
from api.cli.output import (
    note,
    print_cells,
    print_json,
    print_json_line,
    progress,
    repeat_every,
    say,
)
from api.cli.questions import viewing
from api.cli.serve import web_page
from events.match import MatchEnded
from events.views import see
from store.folder.disk import lock_owner

if TYPE_CHECKING:
    from api.questions.declared.stats import Stats

POLL_S = 0.5  # between two readings: quick bots play some hundred hands meanwhile


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
    from api.viewpoints.redaction import record_lines, replay_seen, table_as_json, table_as_text

    with reading(folder) as reader:
        record = hand_of(reader, hand)
        who = viewpoint_of(view, record, reader)
    seen = see(record, who)
    if at is not None and not 0 <= at < len(seen):
        raise click.UsageError(f"--at {at}: {hand} has events 0 to {len(seen) - 1} for {view}")
    shown = seen if at is None else seen[: at + 1]
    if as_document:
        content = {"hand": hand, "view": view, "events": msgspec.to_builtins(shown)}
        after = None if at is None else table_as_json(replay_seen(shown))
        print_json("muckrake.replay/1", **content, at=at, table=after)
        return
    numbered = list(enumerate(record_lines(record, who)))
    for number, text in numbered if at is None else numbered[at : at + 1]:
        say(f"{number:3}  {text}")
    if at is not None:
        say("")
        say(table_as_text(replay_seen(shown)))


class LiveStatistics(NamedTuple):
    """The statistics of a match after so many hands; `stats` is None without new hands."""

    hands: int
    over: bool
    gone: bool  # whether it has no end, and the ledger has no writer
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
    # Each look opens the ledger anew, and disturbs no writer. What it shows after 300 hands is what
    # `muckrake stats --match MATCH --numbers 1-300` says, whenever it is asked.
    look = _live_statistics(folder, view, match, step, 0)
    hands = _print_statistics(match, look, as_document)
    for _ in repeat_every(None if look.over or look.gone else POLL_S):
        look = _live_statistics(folder, view, match, step, hands)
        hands = _print_statistics(match, look, as_document) or hands
        if look.over or look.gone:
            break
    if look.gone:
        why = "its writer is gone, and nobody goes on with it"
        raise click.ClickException(f"{match} has no end: {why}")
    if look.over and not hands:
        note(f"{match} is over, and {view} is told of none of its hands")


def _live_statistics(folder: Path, view: str, match: str, step: int, known: int) -> LiveStatistics:
    """The statistics as of now: after the last full step, or of all hands of a match that is over.

    A match without an announcement is over. An archive does not tell whether it has a writer.
    """
    # Before the ledger is read: a writer who leaves in between has written the end.
    is_left = (folder / "lock").exists() and lock_owner(folder) is None
    with viewing(folder, view) as viewed:
        from analytics.sql import quoted
        from api.questions.declared.matches import match_totals
        from api.questions.declared.stats import StatsParams, stats
        from api.viewpoints.hand_selection import match_records

        own = [record.event for record in match_records(viewed.snapshot, match)]
        over = not own or any(isinstance(one, MatchEnded) for one in own)
        match_totals(viewed, match)  # `NotInLedger` if there is no match
        sql = f"SELECT max(number) AS last FROM hands WHERE match = {quoted(match)}"
        last = next(iter(viewed.rows(sql)))["last"] or 0
        gone = is_left and not over
        hands = last if over or gone else last - last % step
        if hands <= known:
            return LiveStatistics(hands, over, gone, None)
        params = StatsParams(match=match, hands=f"0-{hands}")
        return LiveStatistics(hands, over, gone, stats(viewed, params, progress))


def _print_statistics(match: str, look: LiveStatistics, as_document: bool) -> int:
    """Print the statistics, and return the number of their hands."""
    if look.stats is None:
        return 0
    if as_document:
        content = msgspec.to_builtins(look.stats)
        kept = {name: content[name] for name in ("as", "players")}
        print_json_line("muckrake.hud/1", match=match, hands=look.hands, over=look.over, **kept)
        return look.hands
    from api.questions.declared.stats import StatsParams, sheets

    (sheet,) = sheets(look.stats, StatsParams(match=match))
    head = f"{match}   after hand {look.hands}{', the last' if look.over else ''}"
    print_cells(
        sheet.columns, sheet.rows, sheet.right, f"{head}   viewpoint: {look.stats.viewpoint}"
    )
    say("")
    return look.hands

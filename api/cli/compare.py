"""`muckrake compare`: two players, or two versions of a bot, and by how much they differ."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, note, progress
from api.cli.players import files_option, game_option, questions, unit_option, vs_option, written
from api.cli.stats import STREETS, said
from api.cli.tables import Cell, drawn, headed

if TYPE_CHECKING:
    from analytics.comparing.players import Compared
    from api.questions.compare import About, Beside


@click.command()
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@vs_option
@click.option(
    "--match",
    "matches",
    multiple=True,
    metavar="MATCH",
    help="Only this match's hands; given twice, the first is A's and the second is B's.",
)
@game_option
@click.option("--street", type=click.Choice(STREETS), help="Only statistics of this street.")
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
def compare(
    one: str,
    other: str,
    vs: str | None,
    matches: tuple[str, ...],
    game: str | None,
    street: str | None,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """By how much A differs from B, and how sure that is; rows are told in docs/statistics.md."""
    if len(matches) > 2:
        raise click.UsageError("--match is given once for both, or twice, for A and for B")
    first, second = (*matches, *matches, None, None)[:2] if matches else (None, None)
    with questions(folder, view, unit) as viewed:
        from api.questions import compare as asking

        about = asking.About(one, other, vs, (first, second), game, street)
        told = asking.beside(viewed, about, progress)
    if csv or parquet:
        written(asking.rows_told(told), csv, parquet)
    elif as_document:
        document("muckrake.compare/1", **asking.document(told, about, view))
    else:
        _drawn(told, about, view)


def _drawn(told: "Beside", about: "About", view: str) -> None:
    """A line for each statistic that both had a chance of, winnings first."""
    lines = [_line(one) for one in told.found if one.difference is not None]
    names = (about.one, about.other)
    if names[0] == names[1]:
        names = (f"{names[0]} in {about.matches[0]}", f"{names[1]} in {about.matches[1]}")
    hands = " and ".join(f"{count} hands" for count in told.hands)
    pairs = max((one.shared for one in told.found), default=0)
    head = [
        " less ".join(names),
        hands,
        f"{pairs} deals pair them" if pairs else "no deal pairs them",
    ]
    tested = sum(one.p is not None for one in told.found)
    foot = f"{tested} compared: one in twenty differs by chance; p of all is Holm's over them"
    columns = ("", *names, "difference", "95 % interval", "k/n", "k/n", "p", "p of all", "")
    about_all = headed("   ".join(head), told.unit)
    drawn(columns, lines, (1, 2, 3, 4, 5, 6, 7, 8), head=about_all, foot=foot)
    if len(told.moneys) > 1:
        several = " and ".join(f"{one}s" for one in told.moneys)
        note(f"amounts are left out: these hands are played for {several}; --unit names one")


def _line(one: "Compared") -> tuple[Cell, ...]:
    from analytics.statistics.catalogue import STATISTICS

    it = STATISTICS[one.statistic]
    scale, digits = (100, 1) if it.kind == "share" else (1, 2)
    between = ""
    if one.low is not None and one.high is not None:
        between = f"{scale * one.low:+,.{digits}f} to {scale * one.high:+,.{digits}f}"
    counts = (
        f"{n}" if k is None else f"{k}/{n}"
        for k, n in ((one.one_k, one.one_n), (one.other_k, one.other_n))
    )
    cells = (
        it.title,
        said(it, one.one),
        said(it, one.other),
        f"{scale * (one.difference or 0):+,.{digits}f}",
        between,
        *counts,
        "" if one.p is None else f"{one.p:.2g}",
        "" if one.counted is None else f"{one.counted:.2g}",
        "too few" if one.few else "",
    )
    return tuple(Cell(text, one.few) for text in cells)

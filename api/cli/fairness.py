"""`muckrake fairness`: cards, swaps, bids and decks beside what chance alone would do."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.cli.ledger import auditor_only, json_option, ledger_option, view_option
from api.cli.output import document, note, progress, wrong
from api.cli.players import files_option, match_option
from api.cli.tables import Cell, drawn
from api.cli.viewing import viewing
from api.cli.web import web_page

if TYPE_CHECKING:
    from api.questions.fairness import Fair


@click.command()
@match_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(lambda to, asked: to.fairness())
def fairness(
    match: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Test what was dealt; one test a row, judged together. Exit code 3 if one fails."""
    auditor_only(view, "fairness")
    with viewing(folder, view) as viewed:
        from api.questions import fairness as asking

        found = asking.dealt_fairly(viewed.snapshot, folder, match, progress)
    if csv or parquet:
        from api.cli.players import written

        written(asking.rows(found), csv, parquet)
    elif as_document:
        document("muckrake.fairness/1", **asking.document(found))
    else:
        _drawn(found)
    if found.failed or found.decks["wrong"]:
        names = ", ".join(f"{one.name} ({one.about})" for one in found.failed)
        decks_told = ", ".join(found.decks["wrong"][:3])
        wrong(f"not as chance would have it: {', '.join(filter(None, (names, decks_told)))}")


def _drawn(found: "Fair") -> None:
    """A line a test, and what may not be concluded."""
    lines = []
    for one in found.tests:
        freedom = "" if one.freedom is None else f" ({one.freedom})"
        cells = (
            one.name,
            one.about,
            f"{one.n:,}",
            "" if one.statistic is None else f"{one.statistic:.3g}{freedom}",
            "" if one.p is None else f"{one.p:.3g}",
            "" if one.counted is None else f"{one.counted:.3g}",
            "" if one.effect is None else f"{one.effect:.3g} {one.unit}",
            one.verdict,
        )
        lines.append(tuple(Cell(text, few=one.p is None) for text in cells))
    how = ", ".join(f"{count:,} {kind}" for kind, count in found.dealing.items())
    columns = ("test", "of", "n", "statistic", "p", "p of all", "would see", "")
    made = sum(one.p is not None for one in found.tests)
    foot = f"{made} tests judged together (Holm, 1 %); seen four times in five: `would see`"
    drawn(columns, lines, right=(2, 3, 4, 5), head=f"{found.hands:,} hands: {how}", foot=foot)
    if found.decks["checked"]:
        right = found.decks["checked"] - len(found.decks["wrong"])
        note(
            f"committed decks: {right} of {found.decks['checked']} hands are what was committed to"
        )
    for kind, count in found.left_out.items():
        note(f"{count} matches without all {kind} cards: left out of tests of those")
    if found.repeated:
        note(f"left out, dealt from a seed that another match had: {', '.join(found.repeated)}")
    if found.dealing.get("seeded"):
        note("seeded decks are a simulation: whatever stands here, it is no claim of fairness")

"""`muckrake stats`: how players play, each number with its opportunities and how sure it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analytics.replay.positions import POSITIONS
from analytics.sql.chosen import BYS, By, Chosen
from analytics.statistics.catalogue import STATISTICS, Statistic
from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document
from api.cli.players import (
    files_option,
    game_option,
    match_option,
    questions,
    unit_option,
    vs_option,
    written,
)
from api.cli.tables import Cell, drawn, headed
from api.cli.web import player_page, web_page

if TYPE_CHECKING:
    from analytics.statistics.answers import Answer

FEW = 30  # opportunities below which a number is grey
OVERVIEW = ("vpip", "pfr", "three_bet", "fold_to_3bet", "cbet_flop", "af", "wtsd", "wsd", "bb_100")
STREETS = ("preflop", "flop", "turn", "river")


@click.command()
@click.argument("player", required=False)
@vs_option
@click.option(
    "--position", "positions", multiple=True, type=click.Choice(POSITIONS), help="Only there."
)
@click.option("--street", type=click.Choice(STREETS), help="Only statistics of this street.")
@game_option
@match_option
@click.option("--hands", metavar="A-B", help="Only these numbers within a match.")
@click.option("--before", metavar="HAND", help="As it stood when this hand ended.")
@click.option("--by", type=click.Choice(BYS), help="Split; a window is a hundred hands.")
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(player_page("", "vs", "match", "game", "unit"))
def stats(
    player: str | None,
    vs: str | None,
    positions: tuple[str, ...],
    street: str | None,
    game: str | None,
    match: str | None,
    hands: str | None,
    before: str | None,
    by: By | None,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Statistics of a player, or of all; what a row means is in docs/statistics.md."""
    with questions(folder, view, unit) as viewed:
        from api.questions import stats as asking

        chosen = asking.chosen_of(
            viewed, player, vs=vs, positions=positions, game=game, match=match, hands=hands,
            as_of=before, by=by,
        )  # fmt: skip
        counted = asking.statistics(viewed, chosen, asking.of_street(street))
    found, dealt = counted.found, counted.dealt
    if csv or parquet:
        written(found, csv, parquet)
    elif as_document:
        document("muckrake.stats/1", **asking.document(counted, chosen, view))
    elif player is None:
        _overview(found, dealt, chosen)
    else:
        _one(player, found, dealt, chosen, view)


def _one(
    player: str,
    found: "Sequence[Answer]",
    dealt: dict[tuple[str, str], Any],
    chosen: Chosen,
    view: str,
) -> None:
    """One player: a line for each statistic that had an opportunity, part after part."""
    hands, known, shown = (
        sum(row[name] for row in dealt.values()) for name in ("hands", "known", "shown")
    )
    each = " (once for each opponent)" if chosen.by == "opponent" else ""
    counted = f"{hands} hands{each}"
    about = [player, f"vs {chosen.vs}" if chosen.vs else "", counted, f"viewpoint: {view}"]
    part = [chosen.by] if chosen.by else []
    lines = [
        (*(Cell(one.part) for _ in part), *_line(STATISTICS[one.statistic], one))
        for one in found
        if one.n
    ]
    foot = f"hole cards known in {known} of {hands} hands"
    if known == shown < hands:
        foot += " (shown ones only: strong-hand bias)"
    columns = (*part, "", "value", "95 % interval", "k/n", "")
    right = tuple(len(part) + place for place in (1, 2, 3))
    drawn(columns, lines, right, head="   ".join(filter(None, about)), foot=foot)


def _line(statistic: Statistic, one: "Answer") -> tuple[Cell, ...]:
    """VPIP   61.3 %   58.2 - 64.3   613/1000"""
    few = one.n < FEW
    count = f"{one.k}/{one.n}" if one.k is not None else f"{one.n}"
    title = headed(statistic.title, one.unit)
    cells = (title, said(statistic, one.value), _interval(statistic, one), count)
    word = "too few" if few else ""
    if statistic.amount and one.value is None:
        word = "of several units, which have no sum: --unit names one"
    return tuple(Cell(text, few) for text in (*cells, word))


def said(statistic: Statistic, value: float | None) -> str:
    """A value as people say it: 61.3 %, 2.33, -7.09; nothing without an opportunity."""
    if value is None:
        return ""
    if statistic.kind == "share":
        return f"{100 * value:.1f} %"
    return f"{value:,.10g}" if statistic.kind == "sum" else f"{value:,.2f}"


def _interval(statistic: Statistic, one: "Answer") -> str:
    if one.low is None or one.high is None:
        return ""
    scale, digits = (100, 1) if statistic.kind == "share" else (1, 2)
    return f"{scale * one.low:,.{digits}f} - {scale * one.high:,.{digits}f}"


def _overview(found: "Sequence[Answer]", dealt: dict[tuple[str, str], Any], chosen: Chosen) -> None:
    """All players, those with most hands first, a few statistics each."""
    by_name: dict[tuple[str, str], dict[str, Answer]] = {}
    for one in found:
        by_name.setdefault((one.player, one.part), {})[one.statistic] = one
    shown = [name for name in OVERVIEW if any(name in it for it in by_name.values())]
    shown = shown or list(next(iter(by_name.values()), {}))[:9]
    lines = []
    for (player, part), mine in sorted(
        by_name.items(), key=lambda item: -dealt[item[0]]["hands"] if not chosen.by else 0
    ):
        cells = [Cell(player)] + ([Cell(part)] if chosen.by else [])
        cells.append(Cell(str(dealt[player, part]["hands"])))
        for name in shown:
            cells.append(Cell(said(STATISTICS[name], mine[name].value), mine[name].n < FEW))
        lines.append(tuple(cells))
    titles = [STATISTICS[name].title for name in shown]
    columns = ["player", *([chosen.by] if chosen.by else []), "hands", *titles]
    drawn(columns, lines, right=tuple(range(1 + bool(chosen.by), len(columns))))

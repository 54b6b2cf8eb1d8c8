"""`muckrake bids`: how well players bid, and whether their bids depend on each other."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analytics.auctions.measures import MEASURES
from analytics.statistics.measure import Measure
from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, note, progress
from api.cli.players import files_option, game_option, match_option, unit_option
from api.cli.spots import spots_option
from api.cli.tables import Cell, drawn, headed
from api.cli.viewing import viewing
from api.cli.web import player_page, web_page

if TYPE_CHECKING:
    from analytics.auctions.bidding import Bids, By
    from analytics.auctions.sniffing import Pair
    from analytics.statistics.measured import Measured

FEW = 30
SPOTS = 200
BYS = ("seat", "pot", "board", "strength", "rival", "match", "game")
OVERVIEW = (
    *("regret_known", "efficiency_known", "won", "tied", "bid_median", "bid_pot", "paid"),
    *("net_won", "value_own", "overpaid_own", "underbid_own"),
)


@click.command()
@click.argument("player", required=False)
@match_option
@game_option
@click.option("--by", type=click.Choice(BYS), help="Split; strength is the bidder's equity.")
@spots_option(SPOTS, "In how many auctions, evenly spread, the card's value is counted.")
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(player_page("bids", "match", "game", "unit"))
def bids(
    player: str | None,
    match: str | None,
    game: str | None,
    by: "By | None",
    spots: int | None,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Auctions of a player, or of all; what a row means is in docs/auctions.md."""
    with viewing(folder, view, unit) as viewed:
        from api.questions import bids as asking

        again = bool(csv or parquet or as_document or player)
        asked = asking.Asked(player, match, game, by, spots, again)
        told = asking.bidding(viewed, asked, progress)
        if csv or parquet:
            from api.cli.players import written

            written(told.found, csv, parquet)
        elif as_document:
            document("muckrake.bids/1", **asking.document(told, view))
        elif player is None:
            _overview(told.found, by, headed(f"viewpoint: {view}", told.unit), told.told)
            _beside(told.beside)
        else:
            _one(
                told.auctions,
                player,
                told.found,
                by,
                headed(f"viewpoint: {view}", told.unit),
                told.told,
            )
            _beside(told.beside)


def _one(
    asked: "Bids",
    player: str,
    found: "Sequence[Measured]",
    by: "By | None",
    viewpoint: str,
    told: dict[str, int],
) -> None:
    """One player: a line for each measure that has something behind it, parts one after another."""
    ranks, common = asked.ranks(player, by), asked.common(player, by)
    for part in dict.fromkeys(one.part for one in found):
        head = [player, part, _heard(part, ranks, common), viewpoint]
        lines = [_line(one) for one in found if one.part == part and one.n]
        columns = ("", "value", "95 % interval", "k/n", "")
        drawn(columns, lines, (1, 2, 3), head="   ".join(filter(None, head)), foot=_valued(told))


def _heard(part: str, ranks: Sequence[dict[str, Any]], common: Sequence[dict[str, Any]]) -> str:
    """Bids in tenths and the most frequent ones: `tenths 0 4 8 ...   most common 31 (41x)`."""
    tenths = " ".join(str(row["bid"]) for row in ranks if row["part"] == part)
    often = ", ".join(f"{row['bid']} ({row['times']}x)" for row in common if row["part"] == part)
    return f"tenths {tenths}   most common {often}" if tenths else ""


def _valued(told: dict[str, int]) -> str:
    said = f"values of {told['valued']} of {told['auctions']} auctions with known cards, swing/1"
    return said if told["valued"] == told["auctions"] else f"{said}; --spots all counts all"


def _line(one: "Measured") -> tuple[Cell, ...]:
    measure = MEASURES[one.statistic]
    few = one.n < FEW
    count = f"{one.k}/{one.n}" if one.k is not None else f"{one.n}"
    cells = (measure.title, said(measure, one.value), interval(measure, one), count)
    return tuple(Cell(text, few) for text in (*cells, "too few" if few else drawn_again(one)))


def said(measure: Measure, value: float | None) -> str:
    if value is None:
        return ""
    if measure.kind == "share":
        return f"{100 * value:.1f} %"
    return f"{value:,.10g}" if float(value).is_integer() else f"{value:,.2f}"


def interval(measure: Measure, one: "Measured") -> str:
    if one.low is None or one.high is None:
        return ""
    scale, digits = (100, 1) if measure.kind == "share" else (1, 2)
    return f"{scale * one.low:,.{digits}f} - {scale * one.high:,.{digits}f}"


def drawn_again(one: "Measured") -> str:
    """The interval of a mean with its deals drawn again, where that says something else."""
    if one.drawn is None:
        return ""
    low, high = one.drawn
    return f"drawn again {low:,.2f} - {high:,.2f}"


def _overview(
    found: "Sequence[Measured]", by: "By | None", head: str, told: dict[str, int]
) -> None:
    """All players, a few measures each."""
    by_name: dict[tuple[str, str], dict[str, Measured]] = {}
    for one in found:
        by_name.setdefault((one.player, one.part), {})[one.statistic] = one
    lines = []
    for (player, part), mine in by_name.items():
        cells = [Cell(player), *([Cell(part)] if by else []), Cell(str(mine["held"].n))]
        cells += [Cell(said(MEASURES[it], mine[it].value), mine[it].n < FEW) for it in OVERVIEW]
        lines.append(tuple(cells))
    columns = ["player", *([by] if by else []), "held", *(MEASURES[it].title for it in OVERVIEW)]
    right = tuple(range(1 + bool(by), len(columns)))
    drawn(columns, lines, right, head=head, foot=_valued(told))


def _beside(beside: "Sequence[Pair]") -> None:
    """Dealer against first bidder: do their bids depend on each other?"""
    from analytics.auctions.sniffing import DRAWN_N, DRAWS, FLAG_N, FLAG_P, SEED

    for one in beside:
        sign = "no sign of bid sniffing"
        if one.n < FLAG_N:
            sign = f"too few to tell, {FLAG_N} are needed"
        elif one.flagged:
            sign = (
                "HIS BIDS GO WITH THEIRS" if one.leaked else "ALARM: sealed, yet they go together"
            )
        tells = "   ".join(
            f"{name} {count} ({mean:.1f})" for name, (count, mean, _) in one.tells.items()
        )
        said = "none" if one.correlation is None else f"{one.correlation:.2f}"
        if one.low is not None and one.high is not None:
            said += f" [{one.low:.2f}, {one.high:.2f}]"
        who = f"{one.dealer} as dealer vs {one.rival}: {one.n} auctions"
        how = f"{one.sealed} sealed, {one.leaked} leaked"
        note("   ".join((f"{who}, {how}", f"correlation {said}", tells, sign)))
    if beside:
        drawn = f"of {DRAWN_N} auctions and fewer up to {DRAWS} matchings are drawn, seed {SEED}"
        note(f"in brackets what chance would give; flagged below p {FLAG_P:g}; {drawn}")

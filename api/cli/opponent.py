"""`muckrake opponent`: how one player plays, and what of it stands out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, note, progress
from api.cli.players import files_option, game_option, match_option, questions, unit_option, written
from api.cli.spots import spots_option
from api.cli.tables import Cell, drawn
from api.cli.web import player_page, web_page
from api.questions.numbers import between, drawn_again, value_of

if TYPE_CHECKING:
    from analytics.opponents.report import By, Opponent
    from analytics.statistics.measured import Measured

BYS = ("position", "window", "match", "game", "locked")
SPOTS = 500
FEW = 30
TOP = 12  # tendencies that a terminal shows
TABLES = ("measures", "leads", "mix", "sizes", "ends", "locks", "faults")


@click.command()
@click.argument("player")
@click.option("--vs", metavar="ME", help="Only hands in which this player was dealt in, too.")
@match_option
@game_option
@click.option("--by", type=click.Choice(BYS), help="Split; locked: before and after a won match.")
@spots_option(
    SPOTS, "Of how many bets and checks shown down, evenly spread, the strength is counted."
)
@click.option(
    "--table",
    "which",
    type=click.Choice(TABLES),
    default="measures",
    show_default=True,
    help="What a file gets: measures, what stands out, one of the tables, or every fault.",
)
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(player_page("opponent", "vs", "match", "game", "unit"))
def opponent(
    player: str,
    vs: str | None,
    match: str | None,
    game: str | None,
    by: "By | None",
    spots: int | None,
    which: str,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """What a player does, and what of it stands out; a row's meaning is in docs/opponents.md."""
    with questions(folder, view, unit) as viewed:
        from api.questions import opponents as asking

        about = asking.About(player, vs, match, game, spots)
        asked = asking.opponent(viewed, about, progress)
        try:
            if csv or parquet:
                written(_rows(asked, which, by), csv, parquet)
            elif as_document:
                told = {"as": view, "player": player, "vs": vs}
                document("muckrake.opponent/1", **told, **asking.document(asked, by))
            elif by is not None:
                _by_part(asked, by, view)
            else:
                _whole(asked, vs, view)
        finally:
            asked.close()


def _rows(asked: "Opponent", which: str, by: "By | None") -> list[Any]:
    """What a file gets, a row each; tendencies, wins and faults are told of the whole alone."""
    if which == "measures":
        return [*asked.looks(by), *asked.numbers(by, again=True), *asked.statistics(by)]
    if which in ("leads", "locks", "faults"):
        from api.questions.opponents import whole

        return whole(asked, which)
    return asked.ends(by) if which == "ends" else asked.table(which, by)


def _whole(asked: "Opponent", vs: str | None, view: str) -> None:
    """One table after the other; empty ones are left out."""
    numbers = tuple(asked.numbers(again=True))
    _leads(asked, vs, view)
    _time(numbers)
    _measures(asked, numbers)
    _mix(asked)
    _sizes(asked)
    _ends(asked, vs)
    _locks(asked)
    _faults(asked)


def _leads(asked: "Opponent", vs: str | None, view: str) -> None:
    """What stands out, and where to look."""
    from analytics.opponents.leads import leads
    from analytics.opponents.measures import ALL_LOOKS

    (dealt,) = asked.dealt()
    found, compared = leads(asked)
    lines = [
        tuple(
            map(
                Cell,
                (
                    ALL_LOOKS[one.look].title,
                    f"{100 * one.value:.1f} %",
                    f"{100 * one.field_value:.1f} %",
                    f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
                    f"{one.k}/{one.n}",
                    one.hands[0] if one.hands else "",
                ),
            )
        )
        for one in found[:TOP]
    ]
    head = [asked.player, f"vs {vs}" if vs else "", f"{dealt['hands']} hands"]
    head += [f"cards known in {int(dealt['known'])}", f"viewpoint: {view}"]
    columns = ("stands out", "his", vs or "others", "difference", "k/n", "look at")
    foot = f"{len(found)} of {compared} compared; searched for: one in twenty stands out by chance"
    drawn(columns, lines, (1, 2, 3, 4), head="   ".join(filter(None, head)), foot=foot)


def _time(numbers: "Sequence[Measured]") -> None:
    """A word on who is slower, or quicker, with strong cards than with weak ones."""
    leak = next(one for one in numbers if one.statistic == "think_leak")
    if leak.low is not None and leak.high is not None and (leak.low > 0 or leak.high < 0):
        what = "longer" if leak.low > 0 else "shorter"
        reach = " to ".join(f"{abs(end):.0f}" for end in sorted((leak.low, leak.high), key=abs))
        note(f"time tells: {what} with strong cards than with weak ones, by {reach} ms")


def _measures(asked: "Opponent", numbers: "Sequence[Measured]") -> None:
    """Every look and number with something behind it."""
    lines = [_line(one) for one in (*asked.looks(), *numbers) if one.n]
    told = asked.told
    foot = f"strength of {told.counted} of {told.spots} bets and checks shown down with known cards"
    if told.counted < told.spots:
        foot += "; --spots all counts all"
    drawn(("what", "value", "95 % interval", "k/n", ""), lines, (1, 2, 3), foot=foot)


def _line(one: "Measured") -> tuple[Cell, ...]:
    title, value, interval, few = _told(one)
    count = f"{one.k}/{one.n}" if one.k is not None else f"{one.n}"
    cells = (title, value, interval, count, "too few" if few else drawn_again(one))
    return tuple(Cell(text, few) for text in cells)


def _told(one: "Measured") -> tuple[str, str, str, bool]:
    """Title, value and interval in words, and whether there is too little behind them."""
    from analytics.opponents.measures import LOOKS, NUMBERS

    if one.statistic in NUMBERS:
        measure = NUMBERS[one.statistic]
        few = one.n < FEW and measure.kind != "number"
        return measure.title, value_of(measure, one.value), between(measure, one.low, one.high), few
    look = LOOKS[one.statistic]
    value = "" if one.value is None else f"{100 * one.value:.1f} %"
    interval = "" if one.low is None else f"{100 * one.low:.1f} - {100 * (one.high or 0):.1f}"
    return look.title, value, interval, one.n < look.few


def _mix(asked: "Opponent") -> None:
    """The first choice before the flop, the strongest cards at the top."""
    from analytics.opponents.measures import TENTHS

    rows = asked.table("mix")[::-1]
    names = ("folds", "checks", "calls", "raises")
    lines = [
        tuple(
            Cell(text, row["hands"] < FEW)
            for text in (
                TENTHS[row["tenth"]],
                *(f"{100 * row[name] / row['hands']:.0f} %" for name in names),
                str(row["hands"]),
            )
        )
        for row in rows
    ]
    if lines:
        drawn(("cards before the flop", *names, "hands"), lines, (1, 2, 3, 4, 5))


def _sizes(asked: "Opponent") -> None:
    """How many bets of which size, street by street."""
    rows = asked.table("sizes")
    if not rows:
        return
    found = {(row["street"], row["up_to"]): row["bets"] for row in rows}
    steps: Sequence[int | None] = (25, 50, 80, 125, 200, None)
    streets = ("flop", "turn", "river")
    lines = [
        (
            Cell(f"up to {step} %" if step else "more"),
            *(Cell(str(found.get((at, step), 0))) for at in streets),
        )
        for step in steps
    ]
    drawn(("bets of the pot", *streets), lines, (1, 2, 3))


def _ends(asked: "Opponent", vs: str | None) -> None:
    """What hands came to."""
    lines = []
    for row in asked.ends():
        last = vs is not None and row["ending"] == "others_fold"
        ending = f"{vs} folds" if last else row["ending"].replace("_", " ")
        numbers = (row["net"], row["net_mean"], row["bet_min"], row["bet_max"])
        cells = (ending, str(row["hands"]), *(_chips(value) for value in numbers))
        lines.append(tuple(Cell(text, row["hands"] < FEW) for text in cells))
    columns = ("hands that end", "hands", "net", "a hand", "least bet", "largest bet")
    drawn(columns, lines, (1, 2, 3, 4, 5))


def _locks(asked: "Opponent") -> None:
    """Matches won before their end."""
    lines = [
        tuple(
            map(
                Cell,
                (
                    row["match"],
                    row["player"],
                    str(row["number"]),
                    _chips(row["lead"]),
                    _chips(row["cost"]),
                    "" if row["folds_from"] is None else str(row["folds_from"]),
                ),
            )
        )
        for row in asked.locks()
    ]
    if lines:
        columns = ("match", "won by", "from hand", "lead", "folding costs", "only folds from")
        drawn(columns, lines, (2, 3, 4, 5))


def _faults(asked: "Opponent") -> None:
    """Replies that could not be used, the most frequent first."""
    lines = [
        tuple(
            map(
                Cell,
                (
                    row["kind"],
                    row["step"],
                    row["suggested"] or "not told",
                    str(row["faults"]),
                    row["since"],
                ),
            )
        )
        for row in asked.table("faults")
    ]
    if lines:
        drawn(("fault", "step", "perhaps", "times", "first"), lines, (3,))


def _chips(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}" if value == int(value) else f"{value:,.2f}"


def _by_part(asked: "Opponent", by: "By", view: str) -> None:
    """Looks and numbers as rows, parts as columns; grey where there is too little."""
    dealt = asked.dealt(by)
    parts = [row["part"] for row in dealt]
    rows: dict[str, dict[str, Cell]] = {}
    for one in (*asked.looks(by), *asked.numbers(by)):
        title, value, _, few = _told(one)
        if one.n:
            rows.setdefault(title, {})[one.part] = Cell(value, few)
    lines = [
        (Cell(title), *(cells.get(part, Cell("")) for part in parts))
        for title, cells in (("hands", _hands(dealt)), *rows.items())
    ]
    head = f"{asked.player}   by {by}   viewpoint: {view}"
    drawn(("what", *parts), lines, tuple(range(1, len(parts) + 1)), head=head)


def _hands(dealt: Sequence[dict[str, Any]]) -> dict[str, Cell]:
    return {row["part"]: Cell(str(row["hands"])) for row in dealt}

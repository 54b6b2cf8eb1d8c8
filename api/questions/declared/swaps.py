"""The luck of swaps and all-ins: winnings without it, and how sure they are.

docs/auctions.md says what a row means. Equities take their time, so of swaps and of hands that
closed some are counted, evenly spread over the record, and kept for the next who asks. A hand that
closed and was not counted stands at its net, as one does whose cards are not known.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from analytics.luck.luck_queries import MEASURES
from analytics.projections.equity import DRAWS, MODEL, SEED
from api.questions.luck import LuckParams, luck, uncounted_sentence
from api.questions.player_measures import (
    Again,
    Drawn,
    MeasureRow,
    OfPlayer,
    check_hand_count,
    counts_text,
    drawn_measure,
    interval_text,
    measure_rows_of,
    measure_sheets,
    p_text,
    part_name,
    player_sheet,
)
from api.questions.question import FILTER_NAMES, Cell, Question, Sheet, Table, share_text, unit_head
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

OVERVIEW = (
    *("hands", "net", "net_ev", "luck", "net_hand", "net_ev_hand", "blue", "red"),
    *("mirrored", "mirrored_variance", "swap", "swap_luck_sum"),
)
HANDS_MAX = 50_000  # a curve has a row a hand, and is sent whole
_BARS = "▁▂▃▄▅▆▇█"


class LuckOf(OfPlayer, frozen=True, kw_only=True):
    """Measures of luck by name."""

    seat: str | UnsetType = UNSET
    match: str | UnsetType = UNSET
    game: str | UnsetType = UNSET


class Rate(Struct, frozen=True):
    """How often a card changed, beside the chance that the rules state."""

    player: str
    game: str
    street: str
    slot: int
    k: Annotated[int, Meta(description="how often it changed")]
    n: Annotated[int, Meta(description="how often it was at risk")]
    stated: Annotated[float | None, Meta(description="the chance that the rules state")]
    low: Annotated[float | None, Meta(description="where the 95 % interval begins")]
    high: Annotated[float | None, Meta(description="where that ends")]
    p: Annotated[float | None, Meta(description="how likely chance is so far off")]


class Independence(Struct, frozen=True, rename={"expected": "owed", "p_adjusted": "counted"}):
    """Whether swaps depend on what they must not: `counted` is p among all such tests."""

    player: str
    question: str
    game: str | None
    street: str | None
    cells: Annotated[
        tuple[int, int, int, int], Meta(description="hands with both, one, the other, neither")
    ]
    n: int
    expected: Annotated[float, Meta(description="what chance owes the first of them")]
    p: Annotated[float, Meta(description="of this test alone")]
    p_adjusted: Annotated[float, Meta(description="p among all these tests")]
    verdict: str


class Step(Struct, frozen=True):
    """Winnings so far, after a hand."""

    match: str
    player: str
    number: int
    net: float | None
    showdown: Annotated[float | None, Meta(description="of hands that came to a showdown")]
    without: Annotated[float | None, Meta(description="of the others")]
    net_ev: Annotated[float | None, Meta(description="the net without the luck of run-outs")]
    auctions: Annotated[float | None, Meta(description="what was paid in auctions")]
    band: Annotated[float | None, Meta(description="how far chance alone may lead, at 95 %")]
    unit: str | None


class Swaps(Struct, frozen=True, tag_field="schema", tag="muckrake.swaps/1"):
    """Players, how often cards changed, and whether that depends on anything; of how many swaps
    and run-outs luck was counted, and of which games it never is."""

    viewpoint: str = field(name="as")
    unit: str | None
    model: str
    seed: int
    draws: int
    again: Again
    players: list[LuckOf]
    rates: list[Rate]
    independence: list[Independence]
    swaps: int
    valued: int
    closed: int
    run_out: int
    uncounted: list[str]
    curve: list[Step] | UnsetType = UNSET


def swaps(viewed: LedgerView, params: LuckParams, watch: ShowProgress) -> Swaps:
    """Players in order, then how often cards changed, and whether that depends on anything;
    every number of chance with its seed."""
    one = params.player is not None
    answer = luck(viewed, params, watch, with_bootstrap=one or not params.people)
    parts: dict[tuple[str, str], dict[str, Drawn]] = {}
    for it in answer.found:
        parts.setdefault((it.player, it.part), {})[it.statistic] = drawn_measure(it)
    players = [
        LuckOf(player=player, measures=measures, **({params.by: part} if params.by else {}))
        for (player, part), measures in parts.items()
    ]
    wanted = params.table == "curve" or (one and params.people)
    return Swaps(
        viewpoint=viewed.viewer.view,
        unit=answer.unit,
        model=MODEL,
        seed=SEED,
        draws=DRAWS,
        again=Again(),
        players=players,
        rates=[Rate(**row) for row in answer.queries.swap_rates(params.player)],
        independence=[
            Independence(**it._asdict(), verdict=it.verdict)
            for it in answer.queries.independence(params.player)
        ],
        uncounted=list(answer.uncounted),
        curve=[Step(**row, unit=answer.unit) for row in answer.queries.curve(params.player)]
        if wanted
        else UNSET,
        **answer.counted,
    )


def check_size(viewed: LedgerView, params: LuckParams) -> None:
    """Refuse a curve of more hands than a request may ask for."""
    if params.table == "curve":
        otherwise = (
            f"a curve of {HANDS_MAX} is sent here: name a match, or ask"
            " muckrake swaps --table curve --csv FILE"
        )
        check_hand_count(viewed, params, HANDS_MAX, otherwise)


def sheets(answer: Swaps, params: LuckParams) -> Iterator[Sheet]:
    """All players with a few measures each, those that nobody has left out; or one player with
    every measure, how often his cards changed, and on what that depends."""
    head = unit_head(f"viewpoint: {answer.viewpoint}", answer.unit)
    counted = []  # and how to count it all
    if answer.swaps:
        counted.append(f"equity of {answer.valued} of {answer.swaps} swaps between known hands")
        counted += ["--spots all counts all"] if answer.valued < answer.swaps else []
    if answer.run_out < answer.closed:
        counted.append(
            f"luck of {answer.run_out} of {answer.closed} hands closed with cards to come"
        )
        counted.append("--runouts all counts all")
    if answer.uncounted:
        counted.append(uncounted_sentence(answer.uncounted))
    foot = "; ".join(counted)
    if params.player is None:
        there = {row.statistic for row in measure_rows_of(answer) if row.n}
        shown = [it for it in OVERVIEW if it in there]
        yield player_sheet(
            measure_rows_of(answer), MEASURES, shown, params.by, head=head, foot=foot
        )
        return
    curve = "" if answer.curve is UNSET else sparkline([it.net or 0 for it in answer.curve])
    heads = {}
    for player in answer.players:
        part = part_name(player)
        heads[part] = (player.player, part, head, "" if part else curve)
    yield from measure_sheets(measure_rows_of(answer), MEASURES, heads, foot)
    if answer.rates:
        kind = MEASURES["swap"]
        columns = ("game", "street", "slot", "swapped", "95 % interval", "k/n", "stated", "p")
        lines = []
        for row in answer.rates:
            stated = "" if row.stated is None else f"{100 * row.stated:g} %"
            how = (
                share_text(row.k / row.n),
                interval_text(kind, row.low, row.high),
                counts_text(row.k, row.n),
            )
            texts = (row.game, row.street, str(row.slot), *how, stated, p_text(row.p))
            lines.append(list(map(Cell, texts)))
        yield Sheet(columns, lines, range(3, 8))
    if answer.independence:
        many = f"p of all is Holm's over these {len(answer.independence)} tables, judged at 1 %"
        names = ("independent", "game", "street", "both/one/other/neither")
        lines = []
        for test in answer.independence:
            cells = "/".join(map(str, test.cells))
            about = (test.question, test.game or "", test.street or "", cells)
            p = (f"{test.expected:.1f}", p_text(test.p), p_text(test.p_adjusted), test.verdict)
            lines.append(list(map(Cell, (*about, *p))))
        yield Sheet((*names, "owed", "p", "p of all", ""), lines, range(3, 7), foot=many)


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """A curve in one line of text: its lowest point low, its highest high."""
    if not values:
        return ""
    points = [values[at * (len(values) - 1) // (width - 1)] for at in range(width)]
    low, high = min(points), max(points)
    reach = (high - low) or 1
    return "".join(_BARS[int((point - low) / reach * (len(_BARS) - 1))] for point in points)


QUESTION = Question(
    name="swaps",
    text=__doc__,
    path="/players/{player}/swaps",
    operation="player_swaps",
    params=LuckParams,
    answer=Swaps,
    ask=swaps,
    tables=(
        Table("measures", MeasureRow, measure_rows_of),
        Table("rates", Rate),
        Table("curve", Step),
        Table("independence", Independence),
    ),
    sheets=sheets,
    check_size=check_size,
    page="/players/{player}/swaps",
    page_parameters=FILTER_NAMES,
    facts=False,
)

"""How one player plays, and what of it stands out.

docs/opponents.md says what a row means. Everything is counted from hands as the viewpoint sees
them, each of which is read: of more than 50,000 hands HTTP asks for a match or a game.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from analytics.intervals import FEW
from analytics.opponents.leads import Difference, Lead
from analytics.opponents.report_measures import LOOKS, NUMBERS, TENTHS
from api.questions.opponent_report import (
    HANDS_MAX,
    Ended,
    Fault,
    First,
    Lock,
    OpponentParams,
    Replies,
    Report,
    Sized,
    report,
)
from api.questions.player_measures import (
    Drawn,
    Kind,
    MeasureRow,
    check_hand_count,
    measure_rows,
    measure_sheets,
    part_name,
    part_sheet,
)
from api.questions.question import (
    FILTER_NAMES,
    Cell,
    Question,
    Sheet,
    Table,
    owner_struct,
    share_text,
    table_sheet,
)

T = TypeVar("T")
TOP_LINES = 12  # tendencies that a terminal shows
SIZES = (25, 50, 80, 125, 200, None)


class LeadLine(Lead, frozen=True):
    """A lead with its hands in one cell."""

    hands: str  # type: ignore[assignment]


class DifferenceLine(Difference, frozen=True):
    """A difference with its hands in one cell."""

    hands: str  # type: ignore[assignment]


def report_rows(answer: Report) -> list[MeasureRow]:
    """A row for each measure of the report."""
    return [
        line
        for part in answer.parts
        for line in measure_rows(answer.player, part_name(part), part.measures)
    ]


def sheets(answer: Report, params: OpponentParams) -> Iterator[Sheet | str]:
    """What stands out, then one table after the other; of parts, looks and numbers side by side."""
    kinds: dict[str, Kind] = {**LOOKS, **NUMBERS}
    shown = [row for row in report_rows(answer) if row.statistic in kinds]
    if params.by is not None:
        head = f"{answer.player}   by {params.by}   viewpoint: {answer.viewpoint}"
        hands = {part_name(part): part.hands for part in answer.parts}
        yield part_sheet(shown, kinds, hands, head)
        return
    (whole,) = answer.parts
    yield _leads_sheet(answer)
    yield _differences_sheet(answer)
    yield from _timing_sentences(whole.numbers["think_leak"])
    strength = answer.strength
    foot = (
        f"strength of {strength.counted} of {strength.acts} bets and checks shown down with known"
        " cards"
    )
    if strength.counted < strength.acts:
        foot += "; --spots all counts all"
    yield from measure_sheets(shown, kinds, {"": ()}, foot)
    if whole.mix:
        # The first choice before the flop, the strongest cards at the top.
        names = ("folds", "checks", "calls", "raises")
        lines = []
        for row in reversed(whole.mix):
            shares = (f"{100 * getattr(row, name) / row.hands:.0f} %" for name in names)
            texts = (TENTHS[row.tenth], *shares, str(row.hands))
            lines.append([Cell(text, row.hands < FEW) for text in texts])
        yield Sheet(("cards before the flop", *names, "hands"), lines, range(1, 6))
    if whole.sizes:
        # How many bets of which size, street by street.
        bets = {(row.street, row.up_to): row.bets for row in whole.sizes}
        streets = ("flop", "turn", "river")
        lines = [
            [
                Cell(f"up to {size} %" if size else "more"),
                *(Cell(str(bets.get((street, size), 0))) for street in streets),
            ]
            for size in SIZES
        ]
        yield Sheet(("bets of the pot", *streets), lines, range(1, 4))
    yield table_sheet(ENDS, answer)
    if answer.locks:
        yield table_sheet(LOCKS, answer)
    if whole.faults:
        yield table_sheet(REPLIES, answer)


def _leads_sheet(answer: Report) -> Sheet:
    """What pays against him, what is sure to be worth most first."""
    lines = []
    for lead in answer.leads.found:
        even = "" if lead.breaks_even is None else share_text(lead.breaks_even)
        ends = f"{lead.low:+.1f} to {lead.high:+.1f}"
        shares = (share_text(lead.value), even, f"{lead.worth:+.1f}", ends, f"{lead.k}/{lead.n}")
        texts = (lead.title, *shares, lead.do, lead.filter)
        lines.append([Cell(text) for text in texts])
    columns = ("pays", "his", "breaks even", "a 100 hands", "95 %", "k/n", "do", "hands")
    head = [answer.player, f"vs {answer.vs}" if answer.vs else "", f"{answer.hands} hands"]
    head += [f"cards known in {answer.known}", f"viewpoint: {answer.viewpoint}"]
    foot = f"amounts in {answer.unit or 'chip'}s" if lines else "nothing is sure to pay against him"
    if left_out := answer.leads.left_out:
        foot += f"; hands after a match was won: {left_out} left out"
    return Sheet(columns, lines, range(1, 6), "   ".join(filter(None, head)), foot)


def _differences_sheet(answer: Report) -> Sheet:
    """The largest differences, and where to look."""
    found, compared = answer.differences.found, answer.differences.compared
    lines = []
    for difference in found[:TOP_LINES]:
        off = f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
        shares = (share_text(difference.value), share_text(difference.field_value), off)
        hand = difference.hands[0] if difference.hands else ""
        texts = (difference.title, *shares, f"{difference.k}/{difference.n}", hand)
        lines.append([Cell(text) for text in texts])
    columns = ("stands out", "his", answer.vs or "others", "difference", "k/n", "look at")
    foot = f"{len(found)} of {compared} compared; searched for: one in twenty stands out by chance"
    return Sheet(columns, lines, range(1, 5), foot=foot)


def _endings(answer: Report) -> list[Ended]:
    """Endings as people read them: a rival's name, words with spaces."""
    named = {"others_fold": f"{answer.vs} folds"} if answer.vs else {}
    return [
        replace(end, ending=named.get(end.ending, end.ending.replace("_", " ")))
        for end in answer.parts[0].ends
    ]


def _with_hands_cell(row: type[T], found: Iterable[Struct]) -> list[T]:
    """Rows with their hands in one cell."""
    return [
        row(**{**members, "hands": " ".join(members["hands"])}) for members in map(asdict, found)
    ]


def _part_table(name: str, row: type[Struct]) -> Table:
    """A table of every part."""
    made = owner_struct(row, part=str)
    return Table(
        name,
        made,
        lambda answer: [
            made(part_name(part), *astuple(it))
            for part in answer.parts
            for it in getattr(part, name)
        ],
    )


ENDS = Table("ends", Ended, _endings)
REPLIES = Table("replies", Replies, lambda answer: answer.parts[0].faults)
LOCKS = Table("locks", Lock)


def _timing_sentences(leak: Drawn) -> Iterator[str]:
    """Whether he is slower, or quicker, with strong cards than with weak ones."""
    if leak.low is not None and leak.high is not None and (leak.low > 0 or leak.high < 0):
        what = "longer" if leak.low > 0 else "shorter"
        reach = " to ".join(f"{abs(end):.0f}" for end in sorted((leak.low, leak.high), key=abs))
        yield f"time tells: {what} with strong cards than with weak ones, by {reach} ms"


QUESTION = Question(
    name="opponent",
    text=__doc__,
    path="/players/{player}/opponent",
    operation="player_opponent",
    params=OpponentParams,
    answer=Report,
    ask=report,
    tables=(
        Table("measures", MeasureRow, report_rows),
        Table("leads", LeadLine, lambda answer: _with_hands_cell(LeadLine, answer.leads.found)),
        Table(
            "differences",
            DifferenceLine,
            lambda answer: _with_hands_cell(DifferenceLine, answer.differences.found),
        ),
        *(
            _part_table(name, row)
            for name, row in (("mix", First), ("sizes", Sized), ("ends", Ended))
        ),
        LOCKS,
        Table("faults", Fault),
    ),
    sheets=sheets,
    check_size=lambda viewed, params: check_hand_count(
        viewed, params, HANDS_MAX, f"{HANDS_MAX} are read here: name a match"
    ),
    page="/players/{player}/opponent",
    page_parameters=FILTER_NAMES,
)

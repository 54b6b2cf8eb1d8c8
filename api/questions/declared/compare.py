"""Two players, or two versions of a bot: what differs, and how sure that is.

docs/statistics.md says what a row means.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from analytics.intervals import DRAWS, SEED
from analytics.player_comparison import (
    COMPARABLE,
    METHODS,
    Compared,
    DealGroup,
    Method,
    comparisons,
)
from analytics.sql import currencies_of, facts_sql
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import sql_file_rows
from api.questions.filters_values import PlayerFilter, player_filter
from api.questions.player_measures import (
    Unanswerable,
    counts_text,
    interval_text,
    measure_text,
    p_text,
    player_filters,
)
from api.questions.question import (
    ByTag,
    Cell,
    GameName,
    Param,
    Question,
    Rival,
    Sheet,
    Street,
    Table,
    Unit,
    unit_head,
)
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

COUNT_COLUMNS = (5, 6)  # the columns of k/n, the one's and the other's
COLUMNS = ("difference", "95 % interval", "k/n", "k/n", "p", "p of all", "")


class CompareParams(Struct, frozen=True, kw_only=True):
    """Parameters of `compare`: who is compared with whom; against whom, if not anybody; each in
    the hands of one match, if named."""

    player: Annotated[str, Param("A player's name, percent-encoded.", "A", argument=True)]
    other: Annotated[str, Param("Whom he is compared with.", "B", argument=True)]
    vs: Rival = None
    match: Annotated[
        tuple[str, ...],
        Param(
            "Only this match's hands; given twice, the first is A's and the second is B's.", "MATCH"
        ),
    ] = ()
    game: GameName = None
    street: Street = None
    unit: Unit = None
    by_tag: ByTag = None
    fail_if: Annotated[
        Literal["worse"] | None,
        Param("Exit code 1 if A surely won less a hand than B, at this one look.", people=True),
    ] = None

    @property
    def matches(self) -> tuple[str | None, ...]:
        """The match of each side."""
        return (*self.match, *self.match, None, None)[:2] if self.match else (None, None)


class Side(Struct, frozen=True):
    """A player of the comparison, and in how many hands he was dealt in."""

    player: str
    match: str | None
    hands: int


class Comparison(Struct, frozen=True, tag_field="schema", tag="muckrake.compare/1"):
    """Every statistic of both by its name; of how many of them there is a p. Hands of several
    `moneys` have no amounts that could be compared."""

    viewpoint: str = field(name="as")
    unit: str | None
    moneys: list[str]
    sides: list[Side]
    vs: str | None
    game: str | None
    seed: int
    draws: int
    methods: dict[Method, str]
    compared: int
    statistics: dict[str, Compared]


def comparison(viewed: LedgerView, params: CompareParams, watch: ShowProgress) -> Comparison:
    """Compare two players; a side without hands is an error."""
    names = (params.player, params.other)
    if len(params.match) > 2:
        raise Unanswerable("a match is named once for both, or twice, for A and for B")
    if params.player == params.other and len(set(params.matches)) == 1:
        raise Unanswerable(
            f"{params.player} is himself: name a match of each, the one's and the other's"
        )
    first, second = (
        player_filters(viewed, player, vs=params.vs, match=match, game=params.game)
        for player, match in zip(names, params.matches, strict=True)
    )
    sides = []
    for player, match, chosen in zip(names, params.matches, (first, second), strict=True):
        hands = sum(int(row["hands"]) for row in sql_file_rows("dealt", viewed, chosen))
        if not hands:
            where = f" in {match}" if match else ""
            raise NotInLedger(
                f"{player} was dealt no such hand{where}: muckrake stats lists who was"
            )
        sides.append(Side(player, match, hands))
    both = " UNION ALL ".join(
        f"SELECT unit FROM ({facts_sql(it, 'NULL')})" for it in (first, second)
    )
    moneys = currencies_of(viewed, both)
    unit = moneys[0] if len(moneys) == 1 else None
    statistics = [
        statistic
        for statistic in COMPARABLE
        if params.street in (None, statistic.street) and not (statistic.amount and len(moneys) > 1)
    ]
    if params.fail_if and all(statistic.name != "net_hand" for statistic in statistics):
        raise Unanswerable(
            "--fail-if worse is about winnings, which are not compared here: leave --street out,"
            " and name one --unit"
        )
    files = tuple(dict.fromkeys(statistic.file for statistic in statistics))
    watched = watch(files, "comparing", len(files))
    rows = {}
    for row in comparisons(viewed, (first, second), deck_groups(viewed), statistics, watched):
        is_amount = STATISTICS[row.statistic].amount
        rows[row.statistic] = replace(row, unit=unit) if is_amount else row
    return Comparison(
        viewpoint=viewed.viewer.view,
        unit=unit,
        moneys=moneys,
        sides=sides,
        vs=params.vs,
        game=params.game,
        seed=SEED,
        draws=DRAWS,
        methods=METHODS,
        compared=sum(row.p is not None for row in rows.values()),
        statistics=rows,
    )


def deck_groups(viewed: LedgerView) -> dict[str, DealGroup]:
    """The matches that deal a deck more than once, alone or with others of the same cards."""
    rows = viewed.rows(
        "SELECT match, ruleset, dealing, seed, deals FROM events"
        " WHERE number IS NULL AND type = 'MatchStarted' ORDER BY hand_seq, match"
    )
    keys: dict[str, tuple[Any, ...]] = {}  # what decides the cards of a match; else only itself
    for row in rows:
        known = row["dealing"] == "seeded" and row["seed"] != "hidden"
        seeded = (row["seed"] or row["match"], row["ruleset"], row["deals"])
        keys[row["match"]] = seeded if known else (row["match"],)
    counts = Counter(keys.values())
    groups = {key: group for group, key in enumerate(counts)}
    deals = {row["match"]: row["deals"] for row in rows}
    return {
        match: DealGroup(groups[key], deals[match])
        for match, key in keys.items()
        if deals[match] > 1 or counts[key] > 1
    }


def filters_of(viewed: LedgerView, params: CompareParams) -> list[PlayerFilter]:
    """The filter of the hands of each side."""
    sides = zip((params.player, params.other), params.matches, strict=True)
    return [
        player_filter(viewed, player, vs=params.vs, match=match, game=params.game, unit=params.unit)
        for player, match in sides
    ]


def sheets(
    answer: Comparison, params: CompareParams, finds: Sequence[PlayerFilter] = ()
) -> Iterator[Sheet | str]:
    """A line for each statistic that both had a chance of, winnings first; its k and its n lead to
    what finds their hands."""
    every = answer.statistics.values()
    one, other = answer.sides
    names = [one.player, other.player]
    if one.player == other.player:
        names = [f"{side.player} in {side.match}" for side in answer.sides]
    pairs = max((it.shared for it in every), default=0)
    head = [
        "difference: " + " less ".join(names),
        f"{one.hands} hands and {other.hands} hands",
        f"{pairs} deals pair them" if pairs else "no deal pairs them",
    ]
    lines = []
    for it in every:
        if it.difference is None:
            continue
        about = STATISTICS[it.statistic]
        ends = ("did", "could") if about.kind in ("share", "ratio") else ("could",)
        led = [tuple(side(f"{end}={about.name}") for end in ends) for side in finds]
        leads = dict(zip(COUNT_COLUMNS, led, strict=False))
        scale, digits = (100, 1) if about.kind == "share" else (1, 2)
        texts = (
            about.title,
            *(measure_text(about, value) for value in (it.one, it.other)),
            f"{scale * it.difference:+,.{digits}f}",
            interval_text(about, it.low, it.high, " to ", "+"),
            *(counts_text(it.one_k, it.one_n), counts_text(it.other_k, it.other_n)),
            *(p_text(it.p), p_text(it.p_adjusted)),
            "too few" if it.few else "",
        )
        lines.append(
            [Cell(text, it.few, leads=leads.get(place, ())) for place, text in enumerate(texts)]
        )
    yield Sheet(
        ("", *names, *COLUMNS),
        lines,
        range(1, len(COLUMNS) + 2),
        unit_head("   ".join(head), answer.unit),
        f"{answer.compared} compared: one in twenty differs by chance, and p of all allows for it",
    )
    if len(answer.moneys) > 1:
        several = " and ".join(f"{money}s" for money in answer.moneys)
        yield f"amounts are left out: these hands are played for {several}; choose a unit"


def exit_code(answer: Comparison, params: CompareParams) -> int:
    """The command's exit code: 1 if A won less a hand than B for sure (the whole interval is
    below 0) and that was to fail."""
    won = answer.statistics.get("net_hand")
    return int(params.fail_if == "worse" and won is not None and (won.high or 0.0) < 0)


QUESTION = Question(
    name="compare",
    text=__doc__,
    path="/players/{player}/compare",
    operation="player_compare",
    params=CompareParams,
    answer=Comparison,
    ask=comparison,
    tables=(Table("compared", Compared, lambda answer: list(answer.statistics.values())),),
    sheets=sheets,
    code=exit_code,
    page="/players/{player}/compare",
    page_parameters=("other", "vs", "match", "game", "street", "unit", "by_tag"),
)

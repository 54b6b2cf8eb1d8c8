"""The report on an opponent, made of the hands that a viewpoint sees.

Everything is made from leaves as they are seen, so no share tells more than the record shows.
"""

from collections.abc import Iterable
from contextlib import closing
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from analytics.intervals import FEW
from analytics.opponents.faults import CAUSES
from analytics.opponents.leads import Differences, Leads, differences, leads
from analytics.opponents.opponent_tables import STRONG, WEAK, OpponentScope, opponent_tables
from analytics.opponents.report_sections import By, OpponentSections
from analytics.replay.rules import Rulebook
from analytics.sql import facts_sql
from analytics.statistics.catalogue import MeasureValue
from api.auditing.record import RulesetLookup
from api.playing.recording import STOPPED
from api.questions.filters_values import player_filter
from api.questions.player_measures import Again, Drawn, drawn_measure, filters_of_params, money_of
from api.questions.question import HIDDEN, Filters, Name, Param
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView, event_tables
from api.viewpoints.viewer import ShowProgress, without_progress
from events.match import MatchEnded, MatchStarted
from events.types import FaultKind

T = TypeVar("T")
HANDS_MAX = 50_000  # that are read while somebody waits


class OpponentParams(Filters, frozen=True):
    """Parameters of `opponent`: about whom, against whom (anybody, if nobody is named), in which
    hands, split by what."""

    player: Name
    by: Annotated[
        By | None, Param("Split; locked: before and after a won match.", query="split")
    ] = None
    spots: Annotated[
        int | None,
        Param(
            "Of how many bets and checks shown down, evenly spread, the strength is counted.",
            most=100,
            http_default=100,
        ),
    ] = 500


class Strength(Struct, frozen=True):
    """The limits of weak and strong cards, and of how many acts their strength was counted."""

    weak: float
    strong: float
    acts: int
    counted: int


class First(Struct, frozen=True):
    """A player's first actions with a tenth of all cards, 1 the weakest."""

    tenth: int
    hands: int
    folds: int
    checks: int
    calls: int
    raises: int


class Sized(Struct, frozen=True):
    """Bets of up to so many hundredths of the pot; null: more than any that is named."""

    street: str
    up_to: int | None
    bets: int


class Ended(Struct, frozen=True):
    """The result of the hands that ended in one way."""

    ending: Annotated[str, Meta(title="hands that end")]
    hands: int
    net: float | None
    net_mean: Annotated[float | None, Meta(title="a hand")]
    bet_min: Annotated[float | None, Meta(title="least bet")]
    bet_max: Annotated[float | None, Meta(title="largest bet")]
    low: Annotated[float | None, Meta(description="where its mean's interval begins", extra=HIDDEN)]
    high: Annotated[float | None, Meta(description="where that ends", extra=HIDDEN)]
    drawn_low: Annotated[float | None, Meta(description="the same, drawn again", extra=HIDDEN)]
    drawn_high: Annotated[float | None, Meta(extra=HIDDEN)]
    unit: Annotated[str | None, Meta(description="what amounts count", extra=HIDDEN)]

    @property
    def few(self) -> bool:
        return self.hands < FEW


class Replies(Struct, frozen=True):
    """Replies of one kind that could not be used, and since which hand."""

    kind: Annotated[FaultKind, Meta(title="fault")]
    step: str
    suggested: Annotated[
        str | None, Meta(title="perhaps", extra={"spelled": lambda it: it or "not told"})
    ]
    faults: Annotated[int, Meta(title="times")]
    hands: Annotated[int, Meta(extra=HIDDEN)]
    since: Annotated[str, Meta(title="first")]


class ReportPart(Struct, frozen=True, kw_only=True):
    """Looks, numbers and statistics by name, and tables, of all hands or of a part of them, which
    one of the members names that may be left out."""

    hands: int
    known: int
    looks: dict[str, Drawn]
    numbers: dict[str, Drawn]
    statistics: dict[str, Drawn]
    mix: list[First]
    sizes: list[Sized]
    ends: list[Ended]
    faults: list[Replies]
    position: str | UnsetType = UNSET
    window: str | UnsetType = UNSET
    match: str | UnsetType = UNSET
    game: str | UnsetType = UNSET
    locked: str | UnsetType = UNSET

    @property
    def measures(self) -> dict[str, Drawn]:
        """All that is counted by name."""
        return {**self.looks, **self.numbers, **self.statistics}


class Lock(Struct, frozen=True):
    """A match that somebody had won before its end: since when, and when he only folded."""

    match: str
    player: Annotated[str, Meta(title="won by")]
    number: Annotated[int, Meta(title="from hand")]
    lead: float
    cost: Annotated[float, Meta(title="folding costs")]
    unit: Annotated[str | None, Meta(description="what amounts count", extra=HIDDEN)]
    folds_from: Annotated[int | None, Meta(title="only folds from")]


class Fault(Struct, frozen=True):
    """A reply that could not be used, what was asked, and what was played instead."""

    hand: str
    match: str
    number: int
    game: str
    player: str
    step: str
    asked: str | None
    reply: str | None
    kind: FaultKind
    played: str | None
    suggested: str | None
    put_in: float
    net: float
    unit: Annotated[str | None, Meta(description="what amounts count")]
    cause: Annotated[str | None, Meta(description="what may have caused it")]


class Report(Struct, frozen=True, tag_field="schema", tag="muckrake.opponent/1"):
    """What pays against a player, and by what he differs; one part, or several; matches won
    early; every fault."""

    viewpoint: str = field(name="as")
    player: str
    vs: str | None
    unit: str | None
    again: Again
    hands: int
    known: int
    strength: Strength
    leads: Leads
    differences: Differences
    parts: list[ReportPart]
    locks: list[Lock]
    faults: list[Fault]


def report(
    viewed: LedgerView, params: OpponentParams, watch: ShowProgress = without_progress
) -> Report:
    """The report on an opponent in the hands of a question."""
    with closing(opponent_sections(viewed, params, watch)) as found:
        return report_of_sections(viewed, params, found)


def report_of_sections(
    viewed: LedgerView, params: OpponentParams, sections: OpponentSections
) -> Report:
    """Put the report together from its sections."""
    (dealt,) = sections.hand_counts()
    source, paying = sections.source, leads(sections)
    # Each lead's filter asks for this player's hands and for no others than the report's.
    names = ("vs", "match", "game", "hands", "before", "unit")
    finds = player_filter(viewed, params.player, **{name: getattr(params, name) for name in names})
    filtered = [replace(lead, filter=finds.of_player(lead.filter)) for lead in paying.found]
    by, parts = params.by, []
    counted: dict[str, dict[str, Any]] = {
        "looks": _numbers_by_part(sections.look_values(by)),
        "numbers": _numbers_by_part(sections.numbers(by, with_bootstrap=True)),
        "statistics": _numbers_by_part(sections.statistics(by)),
    }
    tables: dict[str, dict[str, Any]] = {
        "mix": _rows_by_part(First, sections.section("mix", by)),
        "sizes": _rows_by_part(Sized, sections.section("sizes", by)),
        "ends": _rows_by_part(Ended, sections.ends(by)),
        "faults": _rows_by_part(Replies, sections.section("faults", by)),
    }
    for of_part in sections.hand_counts(by):
        part = of_part["part"]
        members: dict[str, Any] = {by: part} if by else {}
        members |= {name: every.get(part, {}) for name, every in counted.items()}
        members |= {name: rows.get(part, []) for name, rows in tables.items()}
        known = int(of_part["known"])
        parts.append(ReportPart(hands=int(of_part["hands"]), known=known, **members))
    return Report(
        viewpoint=viewed.viewer.view,
        player=params.player,
        vs=params.vs,
        unit=sections.unit,
        again=Again(),
        hands=int(dealt["hands"]),
        known=int(dealt["known"]),
        strength=Strength(WEAK, STRONG, source.spots, source.counted),
        leads=replace(paying, found=filtered),
        differences=differences(sections),
        parts=parts,
        locks=[Lock(**row) for row in sections.locks()],
        faults=[
            Fault(**row, cause=CAUSES.get(row["suggested"] or "")) for row in sections.faults()
        ],
    )


def opponent_sections(
    viewed: LedgerView, params: OpponentParams, watch: ShowProgress = without_progress
) -> OpponentSections:
    """The sections of a report, from the tables of an opponent; the caller closes them."""
    player, vs = params.player, params.vs
    chosen = filters_of_params(viewed, params)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    ledger = viewed.snapshot
    found = OpponentSections(
        player,
        opponent_tables(
            event_tables(viewed, replace(chosen, hands=None), watch),
            Rulebook(ledger.ruleset),
            OpponentScope(
                player, vs, params.spots, match_lengths(viewed, chosen.before), chosen.hands
            ),
            lambda rows, total: watch(rows, "counting strength", total),
        ),
        unit,
    )
    if not found.hand_counts():
        found.close()
        who = f"{player} and {vs} were" if vs else f"{player} was"
        raise NotInLedger(f"{who} dealt no hand here: muckrake stats lists who was")
    return found


def match_lengths(viewed: LedgerView, before: int | None = None) -> dict[str, int]:
    """How many hands each match has: its last one if it went to its end, else its ruleset's.

    As it was known `before` the hand of that place.
    """
    ledger = viewed.snapshot
    end = ledger.next_seq if before is None else before
    sql = f"SELECT match, max(number) AS last FROM hands WHERE hand_seq < {end} GROUP BY match"
    last = {row["match"]: int(row["last"]) for row in viewed.rows(sql)}
    hands_of = {}
    rules = RulesetLookup(ledger, None)
    for match in ledger.matches():
        known = [leaf for leaf in ledger.records(match) if leaf.hand_seq < end]
        records = [recorded.event for leaf in known for recorded in leaf.recorded]
        started = next((record for record in records if isinstance(record, MatchStarted)), None)
        ended = any(
            isinstance(record, MatchEnded) and record.reason != STOPPED for record in records
        )
        if ended and match in last:
            hands_of[match] = last[match]
        elif started is not None and (game := rules.by_fingerprint(started.ruleset)) and game.hands:
            hands_of[match] = game.hands
    return hands_of


def _numbers_by_part(found: Iterable[MeasureValue]) -> dict[str, dict[str, Drawn]]:
    """Numbers by part and name."""
    parts: dict[str, dict[str, Drawn]] = {}
    for row in found:
        parts.setdefault(row.part, {})[row.statistic] = drawn_measure(row)
    return parts


def _rows_by_part(kind: type[T], rows: list[dict[str, Any]]) -> dict[str, list[T]]:
    """The rows of a table by part."""
    parts: dict[str, list[T]] = {}
    for row in rows:
        parts.setdefault(row.pop("part"), []).append(kind(**row))
    return parts

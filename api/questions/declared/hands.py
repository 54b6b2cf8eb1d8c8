"""The hands that a filter finds, in the order they ended.

FILTER is in the language of docs/filters.md: "pot>=40bb & showdown". Other parameters are common
terms of it, and all of them must hold. A filter sees what you see and nothing else.
"""

import json
import time
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple, replace

from analytics.replay.flags import STREETS
from api.questions.filters_hands import (
    FACETS,
    FIRST_WINDOW,
    SECONDS,
    Facets,
    ListPosition,
    Order,
    facets,
    ordered_hands,
    span_of_hands,
    windows,
)
from api.questions.filters_parser import parse_filter
from api.questions.filters_sql import STREET_SQL, filter_sql, needs_verdicts
from api.questions.filters_tree import (
    EMPTY_FILTER,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    filter_text,
    join_filters,
)
from api.questions.filters_values import AMOUNT_MAX
from api.questions.judging import hands_to_judge, judge_hands, verdict_table, visible_verdicts_sql
from api.questions.one_line import hand_lines
from api.questions.question import (
    HIDDEN,
    GameName,
    Listed,
    Match,
    Newest,
    Page,
    Pages,
    Param,
    Question,
    Sheet,
    Table,
    table_sheet,
    ungrouped,
)
from api.questions.verdicts import Judged, Numbers, verdicts_of
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress
from engine.verdict import Verdict
from events.cards import Card
from store.sql.guard import Refused
from store.sql.result_values import json_rows

JUDGED_AT_ONCE = 20_000  # hands that are judged for a command that does not ask for it
SECONDS_MAX = 600.0  # that a page of a command may take

HANDS_SQL = f"""
WITH chosen AS MATERIALIZED (
    SELECT hand_seq FROM hands WHERE {{span}} AND {{where}}
    ORDER BY hand_seq {{order}} LIMIT {{limit}}
),
winning AS (
    SELECT hand_seq, list(player ORDER BY seat) AS winners
    FROM facts WHERE {{span}} AND won AND hand_seq IN (FROM chosen) GROUP BY hand_seq
)
SELECT
    hand_seq, hand, match, game, players, board, pot, nets AS net, showdown, voided AS void,
    last_at AS at, played, unit, number, {STREET_SQL} AS street, {{verdict}} AS verdict, winners
FROM hands LEFT JOIN winning USING (hand_seq) {{join}}
WHERE {{span}} AND hand_seq IN (FROM chosen) ORDER BY hand_seq {{order}}
"""


class HandsParams(Struct, frozen=True):
    """Parameters of `hands`: a filter, and which part of the list."""

    filter: Annotated[
        str,
        Param("A filter: `pot>=100 & showdown`.", "[FILTER]", argument=True, query="q", most=4_096),
    ] = ""
    match: Match = None
    player: Annotated[str | None, Param("Only those with this player at the table.", "P")] = None
    game: GameName = None
    showdown: Annotated[bool | None, Param("Only if cards were shown, or not.")] = None
    min_pot: Annotated[
        int | None, Param("Only with a pot of so much, or more.", "CHIPS", least=0, most=AMOUNT_MAX)
    ] = None
    bid_min: Annotated[
        int | None, Param("Only with a bid of so much, or more.", "CHIPS", least=0, most=AMOUNT_MAX)
    ] = None
    swapped: Annotated[bool | None, Param("Only if a card was swapped, or not.")] = None
    street: Annotated[
        Literal["preflop", "flop", "turn", "river"] | None,
        Param("Only those that came so far and no further."),
    ] = None
    newest: Newest = False
    order: Annotated[
        Order | None,
        Param("By what they came to: the largest pot, won or lost by the player named, price."),
    ] = None
    facets: Annotated[
        bool,
        Param("How many hands have what: with a page over HTTP, instead of hands in a command."),
    ] = False
    after: int | None = None  # hand_seq
    limit: int = 50
    online: bool = False

    @property
    def terms(self) -> Filter:
        """The filter of all other parameters."""
        terms: list[Filter] = []
        for name in ("match", "player", "game", "street"):
            if (text := getattr(self, name)) is not None:
                terms.append(Compare(name, "=", text))
        for name, least in (("pot", self.min_pot), ("bid", self.bid_min)):
            if least is not None:
                terms.append(parse_filter(f"{name}>={least}"))
        for name in ("showdown", "swapped"):
            if (wanted := getattr(self, name)) is not None:
                terms.append(Flag(name) if wanted else Not(Flag(name)))
        return join_filters(And, terms)


def _tick_text(value: bool | None) -> str:
    return "yes" if value else ""


def _spaced_text(values: list[Any] | None) -> str:
    """Cards and names with spaces, nets with their sign."""
    return " ".join(f"{one:+d}" if isinstance(one, int) else one for one in values or ())


class HandRow(Struct, frozen=True, kw_only=True):
    """A hand of a list. The line tells all of it; a verdict is null where none may be told.

    `pot` and `net` count in `unit`; `played` is when it was, as its source says it, `at` when it
    was recorded.
    """

    hand: str
    match: str
    number: Annotated[int, Meta(extra=HIDDEN)]
    game: str | None
    players: Annotated[list[str] | None, Meta(extra={"spelled": _spaced_text})]
    board: Annotated[list[Card] | None, Meta(extra={"spelled": _spaced_text})]
    street: Annotated[Literal["preflop", "flop", "turn", "river"] | None, Meta(extra=HIDDEN)]
    pot: Annotated[int | None, Meta(extra={"spelled": ungrouped})]
    net: Annotated[list[int] | None, Meta(extra={"spelled": _spaced_text})]
    unit: Annotated[str | None, Meta(description="what pot and net count")]
    showdown: Annotated[bool | None, Meta(extra={"spelled": _tick_text})]
    void: Annotated[bool | None, Meta(extra={"spelled": _tick_text})]
    winners: Annotated[list[str], Meta(extra=HIDDEN)]
    verdict: Annotated[
        Verdict | None,
        Meta(description="where the filter asks for it, and over HTTP", extra=HIDDEN),
    ]
    at: Annotated[str, Meta(description="when it was recorded")]
    played: Annotated[str | None, Meta(description="when it was, as its source says it")]
    line: Annotated[
        str | UnsetType | None, Meta(description="all of it; only over HTTP", extra=HIDDEN)
    ] = UNSET


class Hands(Listed, frozen=True, kw_only=True):
    """The hands that a filter finds."""

    data: list[HandRow]
    facets: Facets | UnsetType = UNSET
    unjudged: Annotated[
        int | UnsetType | None,
        Meta(
            description="null, of a filter by verdict: some hands that it may find have none yet;"
            " an auditor's request has them judged first"
        ),
    ] = UNSET


def hands(viewed: LedgerView, params: HandsParams, watch: ShowProgress) -> Page:
    """A page of the hands of a filter; over HTTP each with its line."""
    hand_filter = filter_of_params(viewed, params)
    known = judged_for_filter(viewed, hand_filter, params, watch)
    seconds = SECONDS if params.online else SECONDS_MAX
    lacks = params.online and needs_verdicts(hand_filter) and bool(known and known.left)
    lacks = lacks and len(unjudged_of_filter(viewed, hand_filter, params)) > 0
    where_from = (params.after, params.limit, params.newest)
    page = read_hands(viewed, hand_filter, *where_from, known, seconds, params.order)
    if not params.online:
        return page
    pairs = zip(page.rows, hand_lines(viewed, [row.hand for row in page.rows]), strict=True)
    return page._replace(rows=[replace(row, line=line) for row, line in pairs], unjudged=lacks)


def facets_of(viewed: LedgerView, params: HandsParams, watch: ShowProgress) -> Facets:
    """The facets of the hands of a filter; over HTTP with `unjudged` if there are any."""
    hand_filter = filter_of_params(viewed, params)
    known = judged_for_filter(viewed, hand_filter, params, watch)
    spread = facets(viewed, hand_filter, known, SECONDS if params.online else SECONDS_MAX)
    left = len(unjudged_of_filter(viewed, hand_filter, params)) if known and known.left else 0
    secret = params.online and not (left and viewed.viewer.auditor)
    return replace(spread, unjudged=UNSET if secret else left)


def filter_of_params(viewed: LedgerView, params: HandsParams) -> Filter:
    """The filter, joined with the other parameters; a match that is not there is an error."""
    if params.match is not None and params.match not in viewed.snapshot.matches():
        raise NotInLedger(
            f"there is no match {params.match}: muckrake matches lists those there are"
        )
    return join_filters(And, [params.terms, parse_filter(params.filter)])


def judged_for_filter(
    viewed: LedgerView, hand_filter: Filter, params: HandsParams, watch: ShowProgress
) -> Judged | None:
    """Verdicts as far as they are known; if the filter needs them, the hands that it may find
    are judged first. Over HTTP only if an auditor asks for it, and of others what is due."""
    needed, may_know = (
        needs_verdicts(hand_filter),
        viewed.viewer.auditor or bool(viewed.open_matches),
    )
    if not params.online:
        if not (may_know and (needed or params.facets)):
            return None
        known = verdicts_of(viewed.snapshot).known(viewed.snapshot, 0 if needed else JUDGED_AT_ONCE)
    elif needed and viewed.viewer.auditor:
        known = verdicts_of(viewed.snapshot).known(viewed.snapshot)
    else:
        return judge_hands(viewed, hands_to_judge(viewed), watch)
    if needed and known.left:
        return judge_hands(viewed, unjudged_of_filter(viewed, hand_filter, params), watch)
    return known


def unjudged_of_filter(viewed: LedgerView, hand_filter: Filter, params: HandsParams) -> Numbers:
    """The hands that may pass a filter, and have no verdict that this viewpoint could see."""
    order, visible = "DESC" if params.newest else "ASC", visible_verdicts_sql(viewed)
    sql = f"SELECT hand_seq FROM hands WHERE {filter_sql(hand_filter, None, None)} AND {visible}"
    seconds = SECONDS if params.online else SECONDS_MAX
    seqs = viewed.query.ask(f"{sql} ORDER BY hand_seq {order}", seconds)["hand_seq"].to_numpy()
    return verdicts_of(viewed.snapshot).unjudged_of(seqs)


def list_key(viewed: LedgerView, hand: str) -> int:
    """The `hand_seq` of a hand that has ended."""
    named = hand.rpartition("/")[2].isdecimal()
    found = viewed.snapshot.hand_seq(hand) if named else None
    if found is None:
        raise NotInLedger(f"there is no hand {hand} that has ended")
    return found


def read_hands(
    viewed: LedgerView,
    hand_filter: Filter = EMPTY_FILTER,
    after: int | None = None,
    limit: int = 50,
    newest_first: bool = False,
    judged: Judged | None = None,
    seconds: float = SECONDS,
    by: Order | None = None,
) -> Page:
    """The next `limit` hands after a `hand_seq`, or before it, in the order asked for; `by` an
    amount, then `newest_first` is the other way round.

    A page is found in windows of that order, each wider than the one before, so that the first
    hands of a million cost what those of a thousand do, and a filter that few hands pass looks at
    all of them once. Verdicts are given, and known to the filter, as far as `judged` has them and
    the viewer may. After so many seconds it is `Refused`.
    """
    end = time.monotonic() + seconds
    verdicts = verdict_table(viewed, judged) if judged or needs_verdicts(hand_filter) else ""
    parts = {
        "order": "DESC" if newest_first else "ASC",
        "verdict": "verdict" if verdicts else "NULL",
        "join": f"LEFT JOIN {verdicts} USING (hand_seq)" if verdicts else "",
    }
    rows: list[dict[str, Any]] = []
    if by is not None:
        at = ListPosition(after, limit + 1, backwards=newest_first)
        hand_seqs = ordered_hands(viewed, hand_filter, by, at, verdicts or None, seconds)
        if hand_seqs:
            span, condition = span_of_hands(hand_seqs)
            sql = HANDS_SQL.format(span=span, where=condition, limit=len(hand_seqs), **parts)
            rows = json_rows(viewed.query.ask(sql, seconds))
            rows.sort(key=lambda row: hand_seqs.index(row["hand_seq"]))
        return _page_of_rows(rows, limit)
    for span in windows(
        after, viewed.snapshot.next_seq, newest_first, max(FIRST_WINDOW, 2 * limit)
    ):
        lack = limit + 1 - len(rows)
        condition = filter_sql(hand_filter, span, verdicts)
        sql = HANDS_SQL.format(span=span, where=condition, limit=lack, **parts)
        left = end - time.monotonic()
        if left <= 0:
            raise Refused(f"stopped: no answer within {seconds:g} s")
        rows += json_rows(viewed.query.ask(sql, left))
        if len(rows) > limit:
            break
    return _page_of_rows(rows, limit)


def _page_of_rows(stored: list[dict[str, Any]], limit: int) -> Page:
    """A page of so many rows, and the key of the last, if there are more."""
    more = stored[limit - 1]["hand_seq"] if len(stored) > limit else None
    rows = []
    for row in stored[:limit]:  # stored text becomes values; a hand that does not add up has none
        board, net, street = row["board"], row["net"], row["street"]
        values = {
            "players": row["players"] and json.loads(row["players"]),
            "board": None if board is None else board.split(),
            "net": None if net is None else [int(chips) for chips in net.split()],
            "street": None if street is None else STREETS[street],
            "winners": row["winners"] or [],
        }
        members = {name: value for name, value in (row | values).items() if name != "hand_seq"}
        rows.append(HandRow(**members))
    return Page(rows, more)


def page_query(params: HandsParams) -> dict[str, str | None]:
    """The query of the page: it has one field for the filter, and no other way to name a match."""
    terms, text = filter_text(params.terms), params.filter
    return {
        "order": params.order,
        "q": " & ".join(filter(None, (terms, f"({text})" if text and terms else text))) or None,
    }


class FacetRow(Struct, frozen=True):
    """A value of a facet."""

    facet: str
    value: str
    hands: Annotated[int, Meta(extra={"spelled": ungrouped})]
    filter: Annotated[str, Meta(description="what finds them")]


def _sheets(facets: Facets, params: HandsParams) -> Iterator[Sheet | str]:
    yield table_sheet(FACETS_QUESTION.tables[0], facets)
    if facets.unjudged:
        yield f"{facets.unjudged} hands are not judged yet: muckrake hands contested judges them"


FACETS_QUESTION = Question(
    name="facets",
    text="How the hands that a filter finds are spread.",
    path="/hands",
    operation="facets",
    params=HandsParams,
    answer=Facets,
    ask=facets_of,
    tables=(
        Table(
            "facets",
            FacetRow,
            lambda facets: [
                FacetRow("hands", "", facets.hands, ""),
                *(FacetRow(name, *astuple(it)) for name in FACETS for it in getattr(facets, name)),
            ],
        ),
    ),
    sheets=_sheets,
    facts=False,
)
QUESTION = Question(
    name="hands",
    text=__doc__,
    path="/hands",
    operation="hands",
    params=HandsParams,
    answer=Hands,
    ask=hands,
    tables=(Table("hands", HandRow, lambda page: page.rows),),
    pages=Pages(limit=50, key=list_key, free=("facets",), counts=FACETS_QUESTION),
    page="/hands",
    page_query=page_query,
    facts=False,
)

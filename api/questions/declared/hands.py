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
from api.questions.filters import parsed
from api.questions.filters_hands import (
    FACETS,
    SECONDS,
    WINDOW,
    Facets,
    Order,
    Place,
    facets,
    in_order,
    spanned,
    windows,
)
from api.questions.filters_sql import STREET, asks_verdicts, where
from api.questions.filters_tree import EVERY, And, Compare, Filter, Flag, Not, joined, text_of
from api.questions.filters_values import AMOUNT_MAX
from api.questions.judging import due, judged, lent, visible_verdicts
from api.questions.one_line import lines
from api.questions.question import (
    HIDDEN,
    Listed,
    Match,
    Newest,
    OfGame,
    Page,
    Pages,
    Param,
    Question,
    Sheet,
    Table,
    sheet,
    ungrouped,
)
from api.questions.verdicts import Judged, Numbers, verdicts_of
from api.viewpoints.selection import Absent
from api.viewpoints.viewer import ShowProgress
from api.viewpoints.views import Viewed
from engine.verdict import Verdict
from events.cards import Card
from store.sql.guard import Refused
from store.sql.json_values import json_rows

AT_ONCE = 20_000  # hands that are judged for a command that does not ask for it
PATIENT_S = 600.0  # that a page of a command may take

FOUND = f"""
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
    last_at AS at, played, unit, number, {STREET} AS street, {{verdict}} AS verdict, winners
FROM hands LEFT JOIN winning USING (hand_seq) {{join}}
WHERE {{span}} AND hand_seq IN (FROM chosen) ORDER BY hand_seq {{order}}
"""


class HandsParams(Struct, frozen=True):
    """Which hands, and which part of the list."""

    filter: Annotated[
        str,
        Param("A filter: `pot>=100 & showdown`.", "[FILTER]", argument=True, query="q", most=4_096),
    ] = ""
    match: Match = None
    player: Annotated[str | None, Param("Only those with this player at the table.", "P")] = None
    game: OfGame = None
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
        """All that is said beside the filter."""
        terms: list[Filter] = []
        for name in ("match", "player", "game", "street"):
            if (text := getattr(self, name)) is not None:
                terms.append(Compare(name, "=", text))
        for name, least in (("pot", self.min_pot), ("bid", self.bid_min)):
            if least is not None:
                terms.append(parsed(f"{name}>={least}"))
        for name in ("showdown", "swapped"):
            if (wanted := getattr(self, name)) is not None:
                terms.append(Flag(name) if wanted else Not(Flag(name)))
        return joined(And, terms)


def _tick(value: bool | None) -> str:
    return "yes" if value else ""


def _spaced(values: list[Any] | None) -> str:
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
    players: Annotated[list[str] | None, Meta(extra={"spelled": _spaced})]
    board: Annotated[list[Card] | None, Meta(extra={"spelled": _spaced})]
    street: Annotated[Literal["preflop", "flop", "turn", "river"] | None, Meta(extra=HIDDEN)]
    pot: Annotated[int | None, Meta(extra={"spelled": ungrouped})]
    net: Annotated[list[int] | None, Meta(extra={"spelled": _spaced})]
    unit: Annotated[str | None, Meta(description="what pot and net count")]
    showdown: Annotated[bool | None, Meta(extra={"spelled": _tick})]
    void: Annotated[bool | None, Meta(extra={"spelled": _tick})]
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


def hands(viewed: Viewed, params: HandsParams, watch: ShowProgress) -> Page:
    """A page of them; over HTTP each with its line."""
    hand_filter = filter_of(viewed, params)
    known = judged_of(viewed, hand_filter, params, watch)
    seconds = SECONDS if params.online else PATIENT_S
    lacks = params.online and asks_verdicts(hand_filter) and bool(known and known.left)
    lacks = lacks and len(unjudged(viewed, hand_filter, params)) > 0
    where_from = (params.after, params.limit, params.newest)
    page = hands_by(viewed, hand_filter, *where_from, known, seconds, params.order)
    if not params.online:
        return page
    pairs = zip(page.rows, lines(viewed, [row.hand for row in page.rows]), strict=True)
    return page._replace(
        rows=[replace(row, line=line) for row, line in pairs],
        unjudged=lacks,
    )


def facets_of(viewed: Viewed, params: HandsParams, watch: ShowProgress) -> Facets:
    """How the same hands are spread; over HTTP `unjudged` is there if it says something."""
    hand_filter = filter_of(viewed, params)
    known = judged_of(viewed, hand_filter, params, watch)
    spread = facets(viewed, hand_filter, known, SECONDS if params.online else PATIENT_S)
    left = len(unjudged(viewed, hand_filter, params)) if known and known.left else 0
    secret = params.online and not (left and viewed.viewer.auditor)
    return replace(spread, unjudged=UNSET if secret else left)


def filter_of(viewed: Viewed, params: HandsParams) -> Filter:
    """What the filter says, and all that is said beside it; of a match that is there."""
    if params.match is not None and params.match not in viewed.snapshot.matches():
        raise Absent(f"there is no match {params.match}: muckrake matches lists those there are")
    return joined(And, [params.terms, parsed(params.filter)])


def judged_of(
    viewed: Viewed, hand_filter: Filter, params: HandsParams, watch: ShowProgress
) -> Judged | None:
    """Verdicts as far as they are known. If the filter asks for them, the hands that it may find
    are judged first; over HTTP by an auditor's wish alone, and of others what is due."""
    needed, may_know = asks_verdicts(hand_filter), viewed.viewer.auditor or bool(viewed.opened)
    if not params.online:
        if not (may_know and (needed or params.facets)):
            return None
        known = verdicts_of(viewed.snapshot).known(viewed.snapshot, 0 if needed else AT_ONCE)
    elif needed and viewed.viewer.auditor:
        known = verdicts_of(viewed.snapshot).known(viewed.snapshot)
    else:
        return judged(viewed, due(viewed), watch)
    if needed and known.left:
        return judged(viewed, unjudged(viewed, hand_filter, params), watch)
    return known


def unjudged(viewed: Viewed, hand_filter: Filter, params: HandsParams) -> Numbers:
    """The hands that may pass a filter, and have no verdict that this viewpoint could see."""
    order, visible = "DESC" if params.newest else "ASC", visible_verdicts(viewed)
    sql = f"SELECT hand_seq FROM hands WHERE {where(hand_filter, None, None)} AND {visible}"
    seconds = SECONDS if params.online else PATIENT_S
    seqs = viewed.query.ask(f"{sql} ORDER BY hand_seq {order}", seconds)["hand_seq"].to_numpy()
    return verdicts_of(viewed.snapshot).left_of(seqs)


def key(viewed: Viewed, hand: str) -> int:
    """The `hand_seq` of a hand that has ended."""
    named = hand.rpartition("/")[2].isdecimal()
    found = viewed.snapshot.hand_seq(hand) if named else None
    if found is None:
        raise Absent(f"there is no hand {hand} that has ended")
    return found


def hands_by(
    viewed: Viewed,
    hand_filter: Filter = EVERY,
    after: int | None = None,
    limit: int = 50,
    newest_first: bool = False,
    judged: Judged | None = None,
    seconds: float = SECONDS,
    by: Order | None = None,
) -> Page:
    """The next `limit` hands after a `hand_seq`, or before it, in the order asked for; `by` what
    they came to: then `newest_first` is the other way round.

    A page is found in windows of that order, each wider than the one before, so that the first
    hands of a million cost what those of a thousand do, and a filter that few hands pass looks at
    all of them once. Verdicts are given, and known to the filter, as far as `judged` has them and
    the viewer may. After so many seconds it is `Refused`.
    """
    end = time.monotonic() + seconds
    verdicts = lent(viewed, judged) if judged or asks_verdicts(hand_filter) else ""
    parts = {
        "order": "DESC" if newest_first else "ASC",
        "verdict": "verdict" if verdicts else "NULL",
        "join": f"LEFT JOIN {verdicts} USING (hand_seq)" if verdicts else "",
    }
    rows: list[dict[str, Any]] = []
    if by is not None:
        at = Place(after, limit + 1, backwards=newest_first)
        hand_seqs = in_order(viewed, hand_filter, by, at, verdicts or None, seconds)
        if hand_seqs:
            span, condition = spanned(hand_seqs)
            sql = FOUND.format(span=span, where=condition, limit=len(hand_seqs), **parts)
            rows = json_rows(viewed.query.ask(sql, seconds))
            rows.sort(key=lambda row: hand_seqs.index(row["hand_seq"]))
        return _page(rows, limit)
    for span in windows(after, viewed.snapshot.next_seq, newest_first, max(WINDOW, 2 * limit)):
        lack = limit + 1 - len(rows)
        condition = where(hand_filter, span, verdicts)
        sql = FOUND.format(span=span, where=condition, limit=lack, **parts)
        left = end - time.monotonic()
        if left <= 0:
            raise Refused(f"stopped: no answer within {seconds:g} s")
        rows += json_rows(viewed.query.ask(sql, left))
        if len(rows) > limit:
            break
    return _page(rows, limit)


def _page(stored: list[dict[str, Any]], limit: int) -> Page:
    """So many of these, and the key of the last, if there are more."""
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
    """What the page is asked: it has one field for the filter, and no other way to name a match."""
    terms, text = text_of(params.terms), params.filter
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
    yield sheet(COUNTS.tables[0], facets)
    if facets.unjudged:
        yield f"{facets.unjudged} hands are not judged yet: muckrake hands contested judges them"


COUNTS = Question(
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
    pages=Pages(limit=50, key=key, free=("facets",), counts=COUNTS),
    page="/hands",
    page_query=page_query,
    facts=False,
)

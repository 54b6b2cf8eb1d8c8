"""`/api/v1/hands`: the hands that a filter finds, in the order in which they ended."""

from typing import Annotated, Any, Literal

import pyarrow as pa
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.exporting.files import BINARY
from api.http.answer import MEDIA, format_of, listed
from api.http.ask import Ask
from api.http.streams import tabled
from api.questions.facets import facets
from api.questions.filters import Filter, parsed
from api.questions.filters_tree import And, Compare, Flag, Not, joined
from api.questions.lines import lines
from api.questions.listing import page

router = APIRouter(prefix="/api/v1/hands", tags=["hands"])
JUDGED_AT_ONCE = 2_000  # hands whose verdicts are waited for
_KINDS = ("json", "ndjson", "csv", "parquet", "arrow")
_MEDIA: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA[kind]: {} for kind in _KINDS}}}
_ROW = pa.schema(
    {
        "hand": pa.string(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "players": pa.list_(pa.string()),
        "board": pa.list_(pa.string()),
        "street": pa.string(),
        "pot": pa.int64(),
        "net": pa.list_(pa.int64()),
        "unit": pa.string(),
        "showdown": pa.bool_(),
        "void": pa.bool_(),
        "winners": pa.list_(pa.string()),
        "verdict": pa.string(),
        "at": pa.string(),
        "played": pa.string(),
        "line": pa.string(),
    }
)


@router.get(
    "",
    operation_id="hands",
    summary="The hands that a filter finds, each on one line",
    description="`q` is the filter language of docs/filters.md; the other parameters say common"
    " terms of it, and all of them must hold. A filter sees what you see and nothing else.",
    response_class=Response,
    responses=_MEDIA,
)
def hands(
    request: Request,
    ask: Ask,
    q: Annotated[str, Query(description="A filter: `pot>=100 & showdown`.")] = "",
    match: Annotated[str | None, Query(description="Of this match.")] = None,
    player: Annotated[str | None, Query(description="With this player at the table.")] = None,
    game: Annotated[str | None, Query(description="By this ruleset.")] = None,
    showdown: Annotated[bool | None, Query(description="That cards were shown, or not.")] = None,
    min_pot: Annotated[
        int | None, Query(ge=0, lt=2**53, description="With a pot of so much, or more.")
    ] = None,
    bid_min: Annotated[
        int | None, Query(ge=0, lt=2**53, description="With a bid of so much, or more.")
    ] = None,
    swapped: Annotated[bool | None, Query(description="That a card was swapped, or not.")] = None,
    street: Annotated[
        Literal["preflop", "flop", "turn", "river"] | None,
        Query(description="That came so far and no further."),
    ] = None,
    newest: Annotated[bool, Query(description="The last ones first.")] = False,
    with_facets: Annotated[
        bool, Query(alias="facets", description="Beside the page, how many hands have what.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=1000, description="So many at most.")] = 50,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
) -> Response:
    kind = format_of(request, _KINDS)
    texts = {"match": match, "player": player, "game": game, "street": street}
    amounts = {"pot": min_pot, "bid": bid_min}
    flags = {"showdown": showdown, "swapped": swapped}
    asked = _filter(q, texts, amounts, flags)
    about = (q, texts, amounts, flags, newest)
    after = ask.after(cursor, *about)
    with ask.viewed() as viewed:
        judged = ask.service.verdicts.known(viewed.snapshot, JUDGED_AT_ONCE)
        found = page(viewed, asked, after, limit, newest, judged)
        told = zip(found.rows, lines(viewed, [row["hand"] for row in found.rows]), strict=True)
        rows = [{**{name: row[name] for name in _ROW.names[:-1]}, "line": it} for row, it in told]
        counted = facets(viewed, asked, judged) if with_facets and kind == "json" else None
    following = ask.cursor(found.next, *about)
    if kind in BINARY:
        return _file(request, ask, rows, kind, following)
    members = {} if counted is None else {"facets": counted}
    return listed(request, rows, following, _KINDS[:3], **members)


def _filter(
    q: str,
    texts: dict[str, str | None],
    amounts: dict[str, int | None],
    flags: dict[str, bool | None],
) -> Filter:
    """What `q` says, and all that is said beside it."""
    terms: list[Filter] = [parsed(q)]
    terms += [Compare(name, "=", text) for name, text in texts.items() if text is not None]
    terms += [parsed(f"{name}>={least}") for name, least in amounts.items() if least is not None]
    for name, wanted in flags.items():
        if wanted is not None:
            terms.append(Flag(name) if wanted else Not(Flag(name)))
    return joined(And, terms)


def _file(
    request: Request, ask: Ask, rows: list[dict[str, Any]], kind: str, following: str | None
) -> Response:
    """The page as a table; its columns have their types even where there is no row."""
    tables = iter((pa.Table.from_pylist(rows, _ROW),))
    answer = tabled(request, tables, kind, ask.viewer.view, "hands")
    if following is not None:
        further = request.url.include_query_params(cursor=following)
        answer.headers["Link"] = f'<{further.path}?{further.query}>; rel="next"'
    return answer

"""`/api/v1/sql`: somebody's own SELECT over what he may see, in so much time and so many rows."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from api.http.answer import document, format_of, listed, media
from api.http.ask import Ask
from api.http.streams import tabled
from store.sql.answers import plain

router = APIRouter(prefix="/api/v1/sql", tags=["sql"])
ROWS_MAX = 100_000
SECONDS = 10.0
_KINDS = ("json", "ndjson", "csv", "arrow", "parquet")
_TOLD = (
    "One SELECT over the views hands, events, players, bids, swaps, pots, decisions and rulesets,"
    f" as your viewpoint has them: at most {ROWS_MAX:,} rows, within {SECONDS:g} s. What is refused"
    " says why."
)


class Question(BaseModel):
    """A SELECT."""

    q: Annotated[
        str,
        Field(min_length=1, max_length=20_000, examples=["SELECT count(*) AS hands FROM hands"]),
    ]


@router.post(
    "",
    operation_id="ask_sql",
    summary="The answer to a SELECT",
    description=_TOLD,
    response_class=Response,
    responses=media(*_KINDS),
)
def post(request: Request, ask: Ask, question: Question) -> Response:
    return _answer(request, ask, question.q)


@router.get(
    "",
    operation_id="sql",
    summary="The same, in the address",
    description=_TOLD,
    response_class=Response,
    responses=media(*_KINDS),
)
def get(
    request: Request,
    ask: Ask,
    q: Annotated[str, Query(min_length=1, max_length=4_000, description="A SELECT.")],
) -> Response:
    return _answer(request, ask, q)


def _answer(request: Request, ask: Ask, q: str) -> Response:
    kind = format_of(request, _KINDS)
    with ask.viewed() as viewed:
        found = viewed.stranger(q, ROWS_MAX, SECONDS)
    if kind in ("ndjson", "arrow", "parquet"):
        return tabled(request, iter([found]), kind, ask.viewer.view, "sql")
    rows = plain(found)
    if kind == "csv":
        return listed(request, rows, offered=("csv",))
    return document(request, {"schema": "muckrake.sql/1", "rows": rows})

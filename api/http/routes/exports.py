"""`/api/v1/exports`: whole views as files, for whoever counts elsewhere; made as they are sent."""

from collections.abc import Iterator
from typing import Annotated

import pyarrow as pa
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.http.answer import format_of
from api.http.ask import Ask, Asked
from api.http.routes.players import OfMatch, media
from api.http.streams import streamed, tabled
from api.questions.exports import Dataset, Span, event_lines, span, tables

router = APIRouter(prefix="/api/v1/exports", tags=["exports"])
_KINDS = ("parquet", "arrow", "csv", "ndjson")


@router.get(
    "/{dataset}",
    operation_id="export",
    summary="A whole view of the ledger, as you may see it",
    description="The views of `sql`: hands, events, players, bids, swaps, pots, decisions. Hidden"
    " numbers are null and hidden texts say `hidden`. A file is of one viewpoint, and nothing else"
    " is in it.",
    response_class=Response,
    responses=media(*_KINDS),
)
def export(
    request: Request,
    ask: Ask,
    dataset: Dataset,
    match: OfMatch = None,
    as_of: Annotated[
        str | None, Query(max_length=300, description="Up to this hand, MATCH/NUMBER, and with it.")
    ] = None,
) -> Response:
    kind = format_of(request, _KINDS)
    with ask.viewed() as viewed:
        wanted = span(viewed, match, as_of)  # what is not there is said now
    name = f"{dataset}.{kind}"
    if dataset == "events" and kind == "ndjson":
        return streamed(request, _lines(ask, wanted), kind, filename=name)
    rows = _tables(ask, dataset, wanted)
    return tabled(request, rows, kind, ask.viewer.view, dataset, filename=name)


def _tables(ask: Asked, dataset: Dataset, wanted: Span) -> Iterator[pa.Table]:
    """The views are held for as long as somebody takes from them."""
    with ask.viewed() as viewed:
        yield from tables(viewed, dataset, wanted)


def _lines(ask: Asked, wanted: Span) -> Iterator[bytes]:
    with ask.viewed() as viewed:
        yield from event_lines(viewed, wanted)

"""`/api/v1/exports`: whole views as files, for other programs to count; made as they are sent.

Views go out some thousand hands at a time, in the order in which hands closed. They are asked of
the views that the viewer has in SQL, so an export is what `sql` shows him and no more.
Each part holds whole hands; how many does not depend on what is in them. Stored rows lie in order,
and what DuckDB makes of them mostly does: to look is a tenth of the work of sorting all of it.

`/api/v1/sql` answers somebody's own SELECT over what he may see, in so much time and so many rows.
"""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, takewhile
from typing import Annotated, BinaryIO, Literal, NamedTuple, cast, get_args

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from analytics.sql import quoted
from api.exporting.redacted_tables import redacted_lines
from api.exporting.table_files import TableWriter, TextFilter, table_writer, without_formulas
from api.http.access import Access, Auth
from api.http.middleware import Sink
from api.http.responses import (
    close_chunks,
    content_types,
    format_of,
    is_for_spreadsheet,
    json_response,
    list_response,
    streaming_response,
)
from api.viewpoints.hand_selection import NotInLedger, Selection, leaves
from api.viewpoints.ledger_view import LedgerView
from store.sql.result_values import json_rows

Dataset = Literal["hands", "events", "players", "bids", "swaps", "pots", "decisions"]
DATASETS: tuple[Dataset, ...] = get_args(Dataset)
HANDS_AT_ONCE = {"events": 5_000}  # hands
HANDS_AT_ONCE_ELSE = 50_000
TABLES_AHEAD = 2  # that are read at once
_ORDER: dict[Dataset, tuple[str, ...]] = {
    "hands": ("hand_seq",),
    "events": ("hand_seq", "idx"),
    "players": ("hand_seq", "seat"),
    "bids": ("hand_seq", "idx"),
    "swaps": ("hand_seq", "idx"),
    "pots": ("hand_seq", "pot", "seat"),
    "decisions": ("hand_seq", "idx"),
}


class ExportRange(NamedTuple):
    """The closed hands to export: of a match or all, from `first` up to `end`."""

    match: str | None
    first: int
    end: int


router = APIRouter(default_response_class=Response)
_FORMATS = ("parquet", "arrow", "csv", "ndjson")


@router.get(
    "/api/v1/exports/{dataset}",
    tags=["exports"],
    operation_id="export",
    summary="A whole view of the ledger, as you may see it",
    description="The views of `sql`: hands, events, players, bids, swaps, pots, decisions. Hidden"
    " numbers are null and hidden texts say `hidden`. A file is of one viewpoint, and nothing else"
    " is in it.",
    responses=content_types(*_FORMATS),
)
def export(
    request: Request,
    ask: Auth,
    dataset: Dataset,
    match: Annotated[
        str | None, Query(max_length=200, description="Only this match's hands.")
    ] = None,
    as_of: Annotated[
        str | None, Query(max_length=300, description="Up to this hand, MATCH/NUMBER, and with it.")
    ] = None,
) -> Response:
    kind = format_of(request, _FORMATS)
    with ask.viewed() as viewed:
        hands = export_range(viewed, match, as_of)  # what is not there is said now
    name = f"{dataset}.{kind}"
    if dataset == "events" and kind == "ndjson":
        return streaming_response(request, event_lines(ask, hands), kind, filename=name)

    def rows() -> Iterator[pa.Table]:
        with ask.viewed() as viewed:  # held for as long as somebody takes from it
            yield from view_tables(viewed, dataset, hands)

    return table_response(request, rows(), kind, ask.viewer.view, dataset, filename=name)


def export_range(
    viewed: LedgerView, match: str | None = None, as_of: str | None = None
) -> ExportRange:
    """The range that `match` and `as_of` (its last hand) name; `NotInLedger` if there is none."""
    first, end = 0, viewed.snapshot.next_seq
    if as_of is not None:
        place = viewed.snapshot.hand_seq(as_of)
        if place is None:
            raise NotInLedger(f"there is no hand {as_of}: muckrake hands lists those there are")
        end = place + 1
    if match is not None:
        name = quoted(match)
        (row,) = viewed.rows(
            f"SELECT min(hand_seq) AS one, max(hand_seq) AS last FROM events WHERE match = {name}"
        )
        if row["one"] is None:
            raise NotInLedger(f"there is no match {match}: muckrake matches lists those there are")
        first, end = row["one"], min(end, row["last"] + 1)
    return ExportRange(match, first, end)


def view_tables(viewed: LedgerView, dataset: Dataset, span: ExportRange) -> Iterator[pa.Table]:
    """Tables of a dataset's rows, at least one, all of one schema.

    Several parts are read at once: a question opens whole row groups, and those at its ends would
    be read by the next one, too.
    """
    also = "" if span.match is None else f" AND match = {quoted(span.match)}"
    size = HANDS_AT_ONCE.get(dataset, HANDS_AT_ONCE_ELSE)
    for start in (*range(span.first, span.end, TABLES_AHEAD * size), span.end):
        upto = min(start + TABLES_AHEAD * size, span.end)
        rows = viewed.ask(
            f"SELECT * FROM {dataset} WHERE hand_seq >= {start} AND hand_seq < {upto}{also}"
        )
        rows = sorted_rows(rows, _ORDER[dataset])
        if start == span.end:
            yield rows
            return
        ends = np.searchsorted(rows["hand_seq"].to_numpy(), range(start, upto + size, size))
        for begin, end in pairwise(ends.tolist()):
            if end > begin:
                yield rows.slice(begin, end - begin)


def sorted_rows(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Rows sorted by columns of whole numbers; as they are, if they are sorted."""
    later = np.zeros(max(0, rows.num_rows - 1), dtype=bool)  # by a key before this one
    for key in keys:
        step = np.diff(rows[key].to_numpy())
        if (step[~later] < 0).any():
            return rows.sort_by([(name, "ascending") for name in keys])
        later |= step > 0
    return rows


def event_lines(ask: Access, span: ExportRange) -> Iterator[bytes]:
    """Lines of events as `muckrake export --to ndjson` writes them, some at a time."""
    with ask.viewed() as viewed:
        every = leaves(viewed.snapshot, Selection(span.match))
        upto = takewhile(lambda leaf: leaf.hand_seq < span.end, every)
        for _, data in redacted_lines(upto, viewed.redactor):
            yield data


ROWS_MAX = 100_000
SECONDS = 10.0
_SQL_FORMATS = ("json", "ndjson", "csv", "arrow", "parquet")
_DESCRIPTION = (
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
    "/api/v1/sql",
    tags=["sql"],
    operation_id="ask_sql",
    summary="The answer to a SELECT",
    description=_DESCRIPTION,
    responses=content_types(*_SQL_FORMATS),
)
def post_sql(request: Request, ask: Auth, question: Question) -> Response:
    return _sql_response(request, ask, question.q)


@router.get(
    "/api/v1/sql",
    tags=["sql"],
    operation_id="sql",
    summary="The same, in the address",
    description=_DESCRIPTION,
    responses=content_types(*_SQL_FORMATS),
)
def get_sql(
    request: Request,
    ask: Auth,
    q: Annotated[str, Query(min_length=1, max_length=4_000, description="A SELECT.")],
) -> Response:
    return _sql_response(request, ask, q)


def _sql_response(request: Request, ask: Auth, q: str) -> Response:
    kind = format_of(request, _SQL_FORMATS)
    with ask.viewed() as viewed:
        table = viewed.ask_untrusted(q, ROWS_MAX, SECONDS)
    if kind in ("ndjson", "arrow", "parquet"):
        return table_response(request, iter([table]), kind, ask.viewer.view, "sql")
    rows = json_rows(table)
    if kind == "csv":
        return list_response(request, rows, offered=("csv",))
    return json_response(request, {"schema": "muckrake.sql/1", "rows": rows})


def table_response(
    request: Request,
    tables: Iterator[pa.Table],
    kind: str,
    view: str,
    table: str,
    *,
    filename: str | None = None,
) -> Response:
    """Respond with tables one after another as one file: `csv`, `ndjson`, `parquet` or `arrow`.

    They are alike in their columns, and there is at least one. Nothing stands under a null.
    """
    texts = without_formulas if is_for_spreadsheet(request, filename is not None) else None
    chunks = _file_chunks(tables, kind, view, table, texts)
    return streaming_response(request, chunks, kind, filename=filename)


def _file_chunks(
    tables: Iterator[pa.Table], kind: str, view: str, table: str, texts: TextFilter | None = None
) -> Generator[bytes, None, None]:
    """The file chunk by chunk; each table is made while the one before is written."""
    sink = Sink()
    try:
        out: TableWriter | None = None
        with ThreadPoolExecutor(1) as maker:
            coming = maker.submit(next, tables, None)
            while (rows := coming.result()) is not None:
                coming = maker.submit(next, tables, None)
                if out is None:
                    metadata = {"muckrake.table": table, "muckrake.view": view}
                    schema = rows.schema.with_metadata(metadata)
                    out = table_writer(cast(BinaryIO, sink), kind, schema, texts)
                out.write(rows)
                if written := sink.taken():
                    yield written
        assert out is not None, "there is at least one table"
        out.close()
        yield sink.taken()
    finally:
        close_chunks(tables)

"""`/api/v1`: every question that is declared, at its own address and in every format."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import StringConstraints
from starlette.routing import Match
from starlette.types import Scope

from api.http.access import Access, Auth
from api.http.responses import (
    bytes_response,
    content_types,
    format_of,
    json_response,
    list_response,
    with_next_link,
)
from api.http.routes.exports import table_response
from api.problem import Problem
from api.questions import games as rulesets
from api.questions.declared import all_questions
from api.questions.question import (
    API,
    TEXT_MAX,
    Page,
    Pages,
    Question,
    arrow_table,
    json_rows,
    make_params,
    parameter_fields,
)
from api.viewpoints.ledger_view import LedgerView


class EncodedPathRoute(APIRoute):
    """A route that sees the path as it was sent, so that a name may hold an encoded slash."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the encoded path, and decode each parameter by itself."""
        raw = scope.get("raw_path")
        if not raw:
            return super().matches(scope)
        sent = raw.partition(b"?")[0].decode("latin-1")
        match, found = super().matches({**scope, "path": sent})
        values: dict[str, Any] = found.get("path_params", {})
        if values:
            found["path_params"] = {
                name: unquote(value) if isinstance(value, str) else value
                for name, value in values.items()
            }
        return match, found


WAIT_S = 2.0  # after which hands that are being judged are asked for again
FORMATS = ("json", "ndjson", "csv", "arrow", "parquet")


def routes_of(questions: list[Question]) -> APIRouter:
    """A router with a route for each question."""
    router = APIRouter(prefix=API, route_class=EncodedPathRoute, default_response_class=Response)
    for question in questions:
        for path, operation in question.routes:
            router.add_api_route(
                path,
                endpoint(question, path)
                if question.pages is None
                else list_endpoint(question, question.pages),
                operation_id=operation,
                tags=[question.path.split("/")[1]],
                summary=question.sentence.removesuffix("."),
                description=question.text.partition("\n\n")[2] or None,
                responses=content_types(*formats_of(question)),
            )
    return router


def formats_of(question: Question) -> tuple[str, ...]:
    """The formats that a question is answered in."""
    return FORMATS if question.tables else FORMATS[:1]


def endpoint(question: Question, path: str) -> Callable[..., Response]:
    """The endpoint function of a question."""

    def answered(request: Request, ask: Auth, table: str | None = None, **values: Any) -> Response:
        kind = format_of(request, formats_of(question))
        if table is None and kind != "json":
            table = question.tables[0].name
        if question.auditor:
            ask.require_auditor(f"{question.name} is for an auditor's eyes, not {ask.viewer.view}")
        params = make_params(question, values, table=table)
        with ask.viewed(values.get("unit"), values.get("by_tag")) as viewed:
            if question.check_size is not None:
                question.check_size(viewed, params)
            answer = question.ask(viewed, params, ask.watch)
        if kind == "json":
            return json_response(request, question.repeatable(answer))
        chosen = next(it for it in question.tables if it.name == table)
        if kind in ("csv", "ndjson"):
            return list_response(request, json_rows(chosen.rows(answer)), offered=(kind,))
        rows = iter([arrow_table(chosen, answer)])
        return table_response(request, rows, kind, ask.viewer.view, chosen.name)

    return with_signature(answered, [*FIXED_PARAMETERS, *query_parameters(question, path)])


def list_endpoint(question: Question, pages: Pages) -> Callable[..., Response]:
    """The endpoint function of a page of a list."""

    def answered(
        request: Request, ask: Auth, limit: int, cursor: str | None = None, **values: Any
    ) -> Response:
        kind = format_of(request, FORMATS)
        counts, members = pages.counts, dict[str, Any]()
        with ask.viewed(by_tag=values.get("by_tag")) as viewed:
            page, following = read_page(question, ask, viewed, limit, cursor, values)
            if counts is not None and values[counts.name] and kind == "json":
                params = make_params(question, values, online=True)
                counted = counts.ask(viewed, params, ask.watch)
                members = {counts.name: counts.repeatable(counted)}
        if page.unjudged:
            if kind != "json":  # rows alone cannot say what they lack
                sentence = "some hands that this filter may find are not judged yet"
                raise Problem("unavailable", f"{sentence}: ask again, or for JSON").after(WAIT_S)
            members |= {"unjudged": None}
        if kind in FORMATS[:3]:
            return list_response(request, json_rows(page.rows), following, (kind,), **members)
        (table,) = question.tables
        answer = table_response(
            request, iter([arrow_table(table, page)]), kind, ask.viewer.view, table.name
        )
        return with_next_link(request, answer, following)

    query = Query(ge=1, le=1000, description="So many at most.")
    going_on = Query(description="`next_cursor` of the page before.")
    limit = Parameter(
        "limit", Parameter.KEYWORD_ONLY, annotation=Annotated[int, query], default=pages.limit
    )
    cursor = Parameter(
        "cursor", Parameter.KEYWORD_ONLY, annotation=Annotated[str | None, going_on], default=None
    )
    return with_signature(
        answered, [*FIXED_PARAMETERS, *query_parameters(question, question.path), limit, cursor]
    )


def read_page(
    question: Question, ask: Access, viewed: LedgerView, limit: int, cursor: str | None, values: Any
) -> tuple[Page, str | None]:
    """Read the page that a cursor stands for, and make the cursor of the next one."""
    assert question.pages is not None
    about = [it for name, it in sorted(values.items()) if name not in question.pages.free]
    after = ask.cursor_key(cursor, *about)
    params = make_params(question, values, limit=limit, after=after, online=True)
    page = question.ask(viewed, params, ask.watch)
    return page, ask.next_cursor(page.next, *about)


def with_signature(
    answered: Callable[..., Response], parameters: list[Parameter]
) -> Callable[..., Response]:
    """An endpoint with these parameters as its signature, for FastAPI to read."""
    answered.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return answered


def query_parameters(question: Question, path: str, *, people: bool = False) -> list[Parameter]:
    """The path and query parameters of a question, as FastAPI reads them; `people` leaves out
    those of programs."""
    signature: list[Parameter] = []
    for field in parameter_fields(question):
        note = field.note
        if note.people and not people:
            continue
        kind: Any = field.type
        bounds: dict[str, Any] = {}
        if kind is str:
            bounds = {"max_length": note.most or TEXT_MAX}
        elif kind is int:
            bounds = {"ge": note.least or 0, "le": note.most}
        elif field.is_repeated:
            name = Literal[field.words] if field.words else _SHORT
            kind = list[name]  # type: ignore[valid-type]
        required: dict[str, Any] = {}
        if f"{{{field.name}}}" in path:
            place: Any = Path(description=note.about, min_length=1, **bounds)
        else:
            default = field.default if note.http_default is None else note.http_default
            if field.optional and default is None:
                kind = kind | None
            place = Query(alias=note.query, description=note.about, **bounds)
            if not field.required:
                required = {"default": list(default) if field.is_repeated else default}
        annotation: Any = Annotated[kind, place]
        signature.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=annotation, **required)
        )
    if not people and len(question.tables) > 1:
        names = tuple(table.name for table in question.tables)
        query = Query(description="Which table other formats than JSON have.")
        choice = Annotated[Literal[names], query]  # type: ignore[valid-type]
        signature.append(
            Parameter("table", Parameter.KEYWORD_ONLY, annotation=choice, default=names[0])
        )
    return signature


FIXED_PARAMETERS = [
    Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request),
    Parameter("ask", Parameter.KEYWORD_ONLY, annotation=Auth),
]
_SHORT = Annotated[str, StringConstraints(max_length=TEXT_MAX)]
router = routes_of(all_questions())


_LIST_FORMATS = ("json", "ndjson", "csv")
_GAME_FORMATS = ("json", "md")


@router.get(
    "/games",
    tags=["games"],
    operation_id="games",
    summary="Every ruleset, on a line each",
    responses=content_types(*_LIST_FORMATS),
)
def games(request: Request) -> Response:
    return list_response(request, rulesets.game_rows(), offered=_LIST_FORMATS)


@router.get(
    "/games/{game}",
    tags=["games"],
    operation_id="game",
    summary="One ruleset in full: script, parameters, policies with the entries they cite",
    responses=content_types(*_GAME_FORMATS),
)
def game(
    request: Request,
    ask: Auth,
    game: Annotated[
        str,
        Path(
            max_length=2_000,
            description="A ruleset's name, perhaps of one that was changed "
            "(`site-nl.big-20`), or its fingerprint.",
        ),
    ],
) -> Response:
    kind = format_of(request, _GAME_FORMATS)
    with ask.viewed() as viewed:
        ruleset = rulesets.visible_game(viewed, game)
    if kind == "md":
        return bytes_response(request, rulesets.game_markdown(ruleset).encode(), "md")
    return json_response(request, rulesets.game_document(ruleset))

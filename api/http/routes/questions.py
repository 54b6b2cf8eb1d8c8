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

from api.http.answer import content_types, document, format_of, goes_on, listed, sent
from api.http.ask import Access, Ask
from api.http.routes.exports import tabled
from api.problem import Problem
from api.questions import games as rulesets
from api.questions.declared import every
from api.questions.question import (
    API,
    TEXT_MAX,
    Page,
    Pages,
    Question,
    arrow,
    parameters,
    params_of,
    plain_rows,
)
from api.viewpoints.views import Viewed


class Named(APIRoute):
    """A route that sees the path as it was sent."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The same, but each parameter is decoded by itself."""
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


LATER_S = 2.0  # after which hands that are being judged are asked for again
FORMATS = ("json", "ndjson", "csv", "arrow", "parquet")


def routes(questions: list[Question]) -> APIRouter:
    """A route for each question."""
    router = APIRouter(prefix=API, route_class=Named, default_response_class=Response)
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
                responses=content_types(*formats(question)),
            )
    return router


def formats(question: Question) -> tuple[str, ...]:
    """In which formats it is answered."""
    return FORMATS if question.tables else FORMATS[:1]


def endpoint(question: Question, path: str) -> Callable[..., Response]:
    """What answers a request."""

    def answered(request: Request, ask: Ask, table: str | None = None, **values: Any) -> Response:
        kind = format_of(request, formats(question))
        if table is None and kind != "json":
            table = question.tables[0].name
        if question.auditor:
            ask.needs_auditor(f"{question.name} is for an auditor's eyes, not {ask.viewer.view}")
        params = params_of(question, values, table=table)
        with ask.viewed(values.get("unit"), values.get("by_tag")) as viewed:
            if question.bound is not None:
                question.bound(viewed, params)
            answer = question.ask(viewed, params, ask.watch)
        if kind == "json":
            return document(request, question.steady(answer))
        chosen = next(it for it in question.tables if it.name == table)
        if kind in ("csv", "ndjson"):
            return listed(request, plain_rows(chosen.rows(answer)), offered=(kind,))
        rows = iter([arrow(chosen, answer)])
        return tabled(request, rows, kind, ask.viewer.view, chosen.name)

    return signed(answered, [*FIXED, *query_parameters(question, path)])


def list_endpoint(question: Question, pages: Pages) -> Callable[..., Response]:
    """What answers a request for a page of a list."""

    def answered(
        request: Request, ask: Ask, limit: int, cursor: str | None = None, **values: Any
    ) -> Response:
        kind = format_of(request, FORMATS)
        counts, members = pages.counts, dict[str, Any]()
        with ask.viewed(by_tag=values.get("by_tag")) as viewed:
            page, following = page_of(question, ask, viewed, limit, cursor, values)
            if counts is not None and values[counts.name] and kind == "json":
                params = params_of(question, values, online=True)
                counted = counts.ask(viewed, params, ask.watch)
                members = {counts.name: counts.steady(counted)}
        if page.unjudged:
            if kind != "json":  # rows alone cannot say what they lack
                sentence = "some hands that this filter may find are not judged yet"
                raise Problem("unavailable", f"{sentence}: ask again, or for JSON").after(LATER_S)
            members |= {"unjudged": None}
        if kind in FORMATS[:3]:
            return listed(request, plain_rows(page.rows), following, (kind,), **members)
        (table,) = question.tables
        answer = tabled(request, iter([arrow(table, page)]), kind, ask.viewer.view, table.name)
        return goes_on(request, answer, following)

    query = Query(ge=1, le=1000, description="So many at most.")
    going_on = Query(description="`next_cursor` of the page before.")
    limit = Parameter(
        "limit", Parameter.KEYWORD_ONLY, annotation=Annotated[int, query], default=pages.limit
    )
    cursor = Parameter(
        "cursor", Parameter.KEYWORD_ONLY, annotation=Annotated[str | None, going_on], default=None
    )
    return signed(answered, [*FIXED, *query_parameters(question, question.path), limit, cursor])


def page_of(
    question: Question, ask: Access, viewed: Viewed, limit: int, cursor: str | None, values: Any
) -> tuple[Page, str | None]:
    """The page that a cursor stands for, and the cursor of the next one."""
    assert question.pages is not None
    about = [it for name, it in sorted(values.items()) if name not in question.pages.free]
    after = ask.after(cursor, *about)
    params = params_of(question, values, limit=limit, after=after, online=True)
    page = question.ask(viewed, params, ask.watch)
    return page, ask.cursor(page.next, *about)


def signed(
    answered: Callable[..., Response], parameters: list[Parameter]
) -> Callable[..., Response]:
    """The same, with a signature that FastAPI reads."""
    answered.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return answered


def query_parameters(question: Question, path: str, *, people: bool = False) -> list[Parameter]:
    """Those of a question's path and query, as FastAPI reads them: of a page, if `people` read
    the answer."""
    signature: list[Parameter] = []
    for field in parameters(question):
        note = field.note
        if note.people and not people:
            continue
        kind: Any = field.type
        bounds: dict[str, Any] = {}
        if kind is str:
            bounds = {"max_length": note.most or TEXT_MAX}
        elif kind is int:
            bounds = {"ge": note.least or 0, "le": note.most}
        elif field.many:
            name = Literal[field.choices] if field.choices else _SHORT
            kind = list[name]  # type: ignore[valid-type]
        required: dict[str, Any] = {}
        if f"{{{field.name}}}" in path:
            place: Any = Path(description=note.about, min_length=1, **bounds)
        else:
            default = field.default if note.waiting is None else note.waiting
            if field.optional and default is None:
                kind = kind | None
            place = Query(alias=note.query, description=note.about, **bounds)
            if not field.required:
                required = {"default": list(default) if field.many else default}
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


FIXED = [
    Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request),
    Parameter("ask", Parameter.KEYWORD_ONLY, annotation=Ask),
]
_SHORT = Annotated[str, StringConstraints(max_length=TEXT_MAX)]
router = routes(every())


_LIST = ("json", "ndjson", "csv")
_ONE = ("json", "md")


@router.get(
    "/games",
    tags=["games"],
    operation_id="games",
    summary="Every ruleset, on a line each",
    responses=content_types(*_LIST),
)
def games(request: Request) -> Response:
    return listed(request, rulesets.listed(), offered=_LIST)


@router.get(
    "/games/{game}",
    tags=["games"],
    operation_id="game",
    summary="One ruleset in full: script, parameters, policies with the entries they cite",
    responses=content_types(*_ONE),
)
def game(
    request: Request,
    ask: Ask,
    game: Annotated[
        str,
        Path(
            max_length=2_000,
            description="A ruleset's name, perhaps of one that was changed "
            "(`site-nl.big-20`), or its fingerprint.",
        ),
    ],
) -> Response:
    kind = format_of(request, _ONE)
    with ask.viewed() as viewed:
        ruleset = rulesets.seen_game(viewed, game)
    if kind == "md":
        return sent(request, rulesets.as_markdown(ruleset).encode(), "md")
    return document(request, rulesets.in_full(ruleset))

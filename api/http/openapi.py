"""The OpenAPI document: what FastAPI knows of the routes, answer schemas, problems and examples.

Every operation may answer with problems, which are all of one shape; which kinds, its tags tell.
The API is described for programs (`/openapi.json`) and for people (`/docs`), without any other
server.
"""

from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, Literal, TypedDict, get_args

import msgspec
from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response

from api.http.credentials import KeyDocument
from api.http.responses import json_response
from api.jobs.jobs import JobDocument
from api.problem import PROBLEM_JSON, PROBLEM_KINDS, URN
from api.questions import json_types
from api.questions.declared import all_questions
from api.questions.declared.matches import Match
from api.questions.question import Listed
from api.version import VERSION
from engine.steps import AnyStep
from events.views import Seen

SCHEMA_REF = "#/components/schemas/{name}"


class Viewpoint(TypedDict):
    """Through whose eyes you see this; in which matches, if not in all."""

    view: str
    matches: list[str]


class Welcome(TypedDict):
    """Version, viewpoint and where to go on."""

    version: str
    viewpoint: Viewpoint
    links: dict[str, str]


class Health(TypedDict):
    """That all is well."""

    status: Literal["ok", "ready"]


class Rows(TypedDict):
    """The rows of an answer in SQL, each a value by column."""

    schema: str
    rows: list[dict[str, Any]]


class EventRow(TypedDict):
    """An event of any type as it is seen, in its envelope."""


class Events(Listed, frozen=True, kw_only=True):
    """The events of a hand, in order."""

    data: list[EventRow]
    view: str


class JobList(Listed, frozen=True):
    """Your jobs, the newest first."""

    data: list[JobDocument]


class KeyList(Listed, frozen=True):
    """Every key, without its secret."""

    data: list[KeyDocument]


class NewKey(KeyDocument):
    """A key that was made just now, and how it is spelled: nobody is told that again."""

    key: str


ANSWERS: Mapping[str, Any] = {
    "root": Welcome,
    "keys": KeyList,
    "make_key": NewKey,
    "health": Health,
    "ready": Health,
    "match": Match,
    "match_root": json_types.Root,
    "verify_match": json_types.MatchVerified,
    "hand": json_types.Summary,
    "events": Events,
    "frames": json_types.Frames,
    "state": json_types.Frame,
    "proof": json_types.Proof,
    "audit": json_types.Audit,
    "consistency": json_types.Consistency,
    "play": JobDocument,
    "import": JobDocument,
    "verify": JobDocument,
    "jobs": JobList,
    "job": JobDocument,
    "cancel": JobDocument,
    "games": json_types.Games,
    "game": json_types.GameDocument,
    "sql": Rows,
    "ask_sql": Rows,
    **{operation: one.answer for one in all_questions() for _, operation in one.routes},
}


def answer_schemas() -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema for each operation, and the components that these name."""
    names = list(ANSWERS)
    schemas, parts = msgspec.json.schema_components(ANSWERS.values(), ref_template=SCHEMA_REF)
    _add_event_schemas(parts)
    kinds = (*get_args(Seen), *get_args(AnyStep))
    omitting = {kind.__name__ for kind in kinds if kind.__struct_config__.omit_defaults}
    for name, part in parts.items():
        if "description" in part:
            part["description"] = cleandoc(part["description"])
        members = part.get("properties", {})
        required = {*part.get("required", ())}
        if name not in omitting:  # a default is in the JSON all the same
            required |= {member for member, schema in members.items() if "default" in schema}
        if required:
            part["required"] = [member for member in members if member in required]
    return dict(zip(names, schemas, strict=True)), parts


def _add_event_schemas(parts: dict[str, Any]) -> None:
    """Make `EventRow` any type of event, with the members of its envelope beside its own."""
    (events, envelope), kinds = msgspec.json.schema_components(
        (Seen, json_types.Envelope), ref_template=SCHEMA_REF
    )
    around = kinds.pop(_schema_name(envelope))["properties"]
    events = events | {"description": EventRow.__doc__}
    for one in events["anyOf"]:
        event = kinds[_schema_name(one)]
        event["properties"] |= around
        event["required"] = [*event["required"], *around]
    parts |= {**kinds, EventRow.__name__: events}


def _schema_name(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]


OPENAPI_PATH = "/openapi.json"
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "What went wrong (RFC 9457); docs/http.md lists the types.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "enum": [f"{URN}{kind}" for kind in PROBLEM_KINDS]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "what"],
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
            },
        },
        "position": {"type": "integer", "description": "Where a filter cannot be read."},
        "choices": {
            "type": "object",
            "description": "What could be asked instead, by parameter.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "request_id": {"type": "string", "description": "What the server's log calls it."},
    },
    "examples": [
        {
            "type": f"{URN}not-found",
            "title": PROBLEM_KINDS["not-found"].title,
            "status": 404,
            "detail": "there is no hand scrim/412: muckrake hands lists those there are",
        }
    ],
}
DESCRIPTION = """\
Poker hands, event by event, as you may see them. Without a key you are the public; a key or a login
may be a seat's, or an auditor's, and `?as=VIEW` chooses among the viewpoints you have.

Every error is a problem document (RFC 9457). Lists have a cursor that you hand back as it is.
docs/http.md tells the rest.
"""
PROBLEMS_OF_ALL = (
    *("bad-request", "unauthenticated", "forbidden", "misdirected"),
    *("too-large", "uri-too-long", "headers-too-large", "too-many-requests", "unavailable"),
)
PROBLEMS_OF_NAMES = ("not-found",)
NAMING_OPERATIONS = ("play", "hands", "fairness")  # beside by_tag, something that may not be there
PROBLEMS_OF_VALUES = ("invalid",)
PROBLEMS_OF_FORMATS = ("not-acceptable",)
PROBLEMS_OF_WRITING = ("no-room",)
PROBLEMS_OF_BODIES = ("too-slow", "unsupported-media-type", "conflict")
PROBLEMS_OF_PARAMETERS = {"cursor": "wrong-cursor", "q": "wrong-filter"}
JSON_TYPE = "application/json"
TAGS_WITHOUT_ETAG = ("keys", "health")  # never kept by anybody, so without a validator
EXAMPLES: dict[str, Any] = {
    "as": "public",
    "match": "auction",
    "number": 3,
    "player": "lynx",
    "league": "night",
    "game": "auction-2024-mit",
    "q": "pot>=20 & showdown",
    "id": "3ca21f0a",
    "dataset": "hands",
    "vs": "ursa",
    "other": "ursa",
}
TAGS = {
    "root": "Who you are here, and where to go on.",
    "matches": "What was played, by whom, under which rules, and how it is vouched for.",
    "hands": "Found by a filter, told event by event, drawn, judged and proved.",
    "players": "How somebody plays, and how sure that is.",
    "fairness": "Whether cards, swaps and bids are as chance alone would have them.",
    "ratings": "Of players and pairs, and how sure they are.",
    "leagues": "Who stands where, each beside each, and every match.",
    "games": "The rulesets.",
    "exports": "Whole views as files.",
    "sql": "Your own question.",
    "stream": "Events as they happen.",
    "log": "The signed tree that all of it stands in.",
    "jobs": "Long work: matches and imports.",
    "keys": "Who may ask for more than the public.",
    "health": "How the server is.",
}
EXAMPLE_SQL = "SELECT game, count(*) AS hands, sum(pot) AS chips FROM hands GROUP BY game"


def install_openapi(app: FastAPI) -> None:
    """Give an application its OpenAPI document, made when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = get_openapi(
            title="muckrake", version=VERSION, summary="The flight recorder and court of appeal for"
            " poker.", description=DESCRIPTION, routes=app.routes,
        )  # fmt: skip
        document["tags"] = [{"name": name, "description": what} for name, what in TAGS.items()]
        parts = document.setdefault("components", {})
        schemas = parts.setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = PROBLEM_SCHEMA
        shapes, answers = answer_schemas()
        assert not schemas.keys() & answers.keys(), "an answer and a body have one name"
        schemas |= answers
        parts["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "description": "mr_ID_SECRET_CHECK"}
        }
        for path, methods in document.get("paths", {}).items():
            for method, operation in methods.items():
                _complete_operation(path, method, operation, shapes)
        app.openapi_schema = document
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend it


def _complete_operation(
    path: str, method: str, operation: dict[str, Any], shapes: Mapping[str, Any]
) -> None:
    """Add to an operation its security, examples, problems and the schema of its JSON answer."""
    operation["security"] = [{}, {"key": []}]
    for one in operation.get("parameters", ()):
        shown = {"example", "examples"} & {*one, *one["schema"]}
        if one["name"] in EXAMPLES and not shown:
            one["example"] = EXAMPLE_SQL if path.endswith("/sql") else EXAMPLES[one["name"]]
    responses = operation.setdefault("responses", {})
    responses.pop("422", None)
    for response in responses.values():
        content = response.get("content", {})
        response["content"] = {kind.partition(";")[0]: about for kind, about in content.items()}
    by_status: dict[int, list[str]] = {}
    for kind in problem_kinds(path, method, operation):
        by_status.setdefault(PROBLEM_KINDS[kind].status, []).append(kind)
    for status, kinds in by_status.items():
        about = "; ".join(f"{PROBLEM_KINDS[kind].title} (`{kind}`)" for kind in kinds)
        content = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        responses.setdefault(str(status), {"description": about, "content": content})
    if method == "get" and not {*TAGS_WITHOUT_ETAG} & {*operation.get("tags", ())}:
        unchanged = {"description": "What you have (`If-None-Match`) is what there is."}
        responses.setdefault("304", unchanged)
    name = operation["operationId"]
    for status, response in responses.items():
        if name in shapes and status.startswith("2"):
            formats = {JSON_TYPE: {}, **response.get("content", {})}
            response["content"] = formats | {JSON_TYPE: {"schema": shapes[name]}}
    operation["responses"] = dict(sorted(responses.items()))


def problem_kinds(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    """The kinds of problems that an operation may answer with, but for those that are our fault."""
    if "health" in operation.get("tags", ()):
        return ["bad-request", "misdirected", "headers-too-large", "uri-too-long", "unavailable"]
    kinds = list(PROBLEMS_OF_ALL)
    names = {one["name"] for one in operation.get("parameters", ())}
    is_naming = operation["operationId"] in NAMING_OPERATIONS or "by_tag" in names
    kinds += PROBLEMS_OF_NAMES if "{" in path or is_naming else ()
    kinds += PROBLEMS_OF_VALUES if names - {"as"} or "requestBody" in operation else ()
    kinds += PROBLEMS_OF_FORMATS if method == "get" else ()
    kinds += PROBLEMS_OF_BODIES if method == "post" else ()
    kinds += PROBLEMS_OF_WRITING if method in ("post", "delete") else ()
    kinds += ["conflict"] if method == "delete" and "jobs" in operation.get("tags", ()) else []
    kinds += ["conflict"] if method == "get" and "{number}" in path else []
    if path.endswith("/sql"):
        return [*kinds, "query-refused"]
    return kinds + [kind for name, kind in PROBLEMS_OF_PARAMETERS.items() if name in names]


router = APIRouter()
API_DOCS = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>muckrake: the HTTP API</title>
<link rel="icon" href="/static/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/vendor/swagger-ui.css">
<link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/api-docs.css">
</head>
<body>
<header class="bar">
<a class="mark" href="/">muckrake</a>
<nav class="nav" aria-label="Pages">
<a href="/matches">Matches</a> <a href="/hands">Hands</a> <a href="/players">Players</a>
<a href="/fairness">Fairness</a> <a href="/live">Live</a> <a href="/games">Rulesets</a>
<a href="/docs" aria-current="page">HTTP API</a>
</nav>
</header>
<main id="swagger-ui"><noscript>
Without a script there is <a href="/openapi.json">openapi.json</a>.
</noscript></main>
<script src="/static/vendor/swagger-ui-bundle.js"></script>
<script src="/static/api-docs.js"></script>
</body>
</html>
"""


@router.get(OPENAPI_PATH, include_in_schema=False, operation_id="openapi")
async def openapi(request: Request) -> Response:
    """The API for programs: paths, shapes and examples."""
    return json_response(request, request.app.openapi())


@router.get("/docs", include_in_schema=False, operation_id="docs")
async def docs() -> HTMLResponse:
    """The API for people, without any other server."""
    return HTMLResponse(API_DOCS, headers={"Cache-Control": "no-cache"})

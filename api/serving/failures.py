"""Whatever goes wrong, as an answer: a problem document, or for who reads pages a page.

What nobody foresaw is told without a word of its own: no exception's text leaves the server, and
its log has only the places in our code, because a text may quote a card.
"""

from collections.abc import Callable

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.http import log
from api.http.answer import VARY
from api.http.ask import Asked, Caller
from api.http.connections import NO_FILES
from api.http.formats import ranges_of, weight
from api.http.headers import put
from api.http.layer import Layer
from api.http.ledger_service import NO_LEDGER
from api.http.limits import family
from api.jobs.jobs import FULL
from api.problem import JSON, Problem
from api.questions.filters import WrongFilter
from api.questions.players import Nonsense
from api.viewpoints.sight import Absence
from api.viewpoints.viewer import Viewer
from api.viewpoints.wanted import Absent, Unfinished
from events.ledger import Conflict
from store.folder.frames import Damaged
from store.folder.lock import Held
from store.reader import Unreachable
from store.snapshot import NoLedger
from store.sql.guard import Refused

OURS = "this is our fault: the server's log has more of it"


def problem_of(failure: Exception) -> Problem:
    """What a failure is called here; `internal` if nobody expected it."""
    for kind, told in _TOLD.items():
        if isinstance(failure, kind):
            return told(failure)
    return Problem("internal", OURS)


def _of_http(failure: Exception) -> Problem:
    """What FastAPI and Starlette refuse by themselves."""
    assert isinstance(failure, HTTPException)
    kind, sentence = _STATUSES.get(failure.status_code, ("bad-request", str(failure.detail)))
    problem = Problem(kind, sentence)
    problem.headers.update(failure.headers or {})
    return problem


_STATUSES = {
    404: ("not-found", "nothing is at this address: /docs lists what there is"),
    405: ("method-not-allowed", "this address is there for other methods: Allow names them"),
    408: ("too-slow", "the body came too slowly"),
    413: ("too-large", "the body is longer than this address takes"),
    415: ("unsupported-media-type", "this kind of content is not read here"),
}


def _of_validation(failure: Exception) -> Problem:
    """Where each mistake is and what is wrong with it; never what was sent, which may be a key."""
    assert isinstance(failure, RequestValidationError)
    errors = failure.errors()
    if errors and errors[0]["type"] == "json_invalid":
        place, why = errors[0]["loc"][-1], errors[0]["ctx"]["error"]
        return Problem("bad-request", f"the body is no JSON: {why} at character {place}")
    told = [{"where": " ".join(map(str, one["loc"])), "what": one["msg"]} for one in errors]
    first = f"{told[0]['where']}: {told[0]['what']}" if told else "a value is not what it should be"
    return Problem("invalid", first, errors=told)


def _of_decoding(failure: Exception) -> Problem:
    return Problem("invalid", str(failure), errors=[{"where": "body", "what": str(failure)}])


def _of_filter(failure: Exception) -> Problem:
    """Where it cannot be read, and what could stand there."""
    assert isinstance(failure, WrongFilter)
    return Problem("wrong-filter", str(failure), position=failure.position)


def _of_held(failure: Exception) -> Problem:
    """Who writes, and not where: the folder is the server's own business."""
    holder = str(failure).partition(" is being written by ")[2] or "another process"
    return Problem("conflict", f"the ledger is being written by {holder}")


def _of_system(failure: Exception) -> Problem:
    """A full disk and too many open files pass; what else the system refuses is our fault."""
    assert isinstance(failure, OSError)
    if failure.errno in FULL:
        return Problem("no-room", "the disk is full: nothing of it was kept")
    if failure.errno in NO_FILES:
        return Problem("unavailable", "too many files are open here: try again").after(5)
    return Problem("internal", OURS)


def _as(kind: str, sentence: str | None = None) -> Callable[[Exception], Problem]:
    return lambda failure: Problem(kind, sentence or str(failure))


def _itself(failure: Exception) -> Problem:
    assert isinstance(failure, Problem)
    return failure


_TOLD: dict[type[Exception], Callable[[Exception], Problem]] = {
    Problem: _itself,
    RequestValidationError: _of_validation,
    HTTPException: _of_http,
    msgspec.ValidationError: _of_decoding,
    WrongFilter: _of_filter,
    Nonsense: _as("bad-request"),
    Refused: _as("query-refused"),
    NoLedger: _as("unavailable", NO_LEDGER),
    Held: _of_held,
    Conflict: _as("conflict"),
    Absence: _as("forbidden"),
    Absent: _as("not-found"),
    Unfinished: _as("conflict"),
    Unreachable: _as("wrong-cursor"),
    OSError: _of_system,
    Damaged: _as("damaged", "the ledger is damaged: muckrake doctor says where"),
}


async def answered(request: Request, failure: Exception) -> Response:
    """The answer to a request that failed."""
    problem = problem_of(failure)
    unread = isinstance(failure, RequestValidationError) and _is_unread(request)
    if unread and family(request.url.path).name != "upload":
        problem = Problem("unsupported-media-type", "send JSON, as Content-Type: application/json")
    if problem.status == 500:
        problem.members["request_id"] = log.failed(request, failure)
    headers = {"Cache-Control": "no-store", "Vary": VARY}
    if reads_pages(request):
        answer = _page(request, problem)
        answer.headers.update(headers | problem.headers)
        return answer
    told = headers | problem.headers
    return JSONResponse(problem.document(), problem.status, headers=told, media_type=JSON)


def _is_unread(request: Request) -> bool:
    """Whether a body was not looked at, because nobody said that it is one we read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    known = kind.endswith("json") or kind.startswith(("multipart/", "application/x-www-form"))
    return request.method in ("POST", "PUT", "PATCH") and not known


def reads_pages(request: Request) -> bool:
    """Whether it is a browser that asks for a page, not a program that asks for data."""
    if request.url.path.startswith("/api/"):
        return False
    ranges = tuple(ranges_of(request.headers.get("accept", "")))
    named = any(one.kind == "text/html" for one in ranges)
    return named and weight(ranges, "html") >= weight(ranges, "json")


def _page(request: Request, problem: Problem) -> Response:
    from api.pages.site import page

    caller = getattr(request.state, "caller", Caller())
    asked = Asked(caller, Viewer(), request.app.state.service)  # nothing on it is of the ledger
    answer = page(request, asked, "problem.html", problem=problem.document())
    answer.status_code = problem.status
    return answer


class ErrorAnswers(Layer):
    """Nothing passes this but answers; one that fails half-way is cut off, not ended."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def heard(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, heard)
        except ClientDisconnect:
            return
        except Exception as failure:
            request = Request(scope)
            if begun:
                put(scope, "cut", True)
                log.failed(request, failure)
                return  # the connection is closed without the end that a whole answer has
            answer = await answered(request, failure)
            await answer(scope, receive, send)

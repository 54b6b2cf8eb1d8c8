"""Whatever goes wrong, as an answer: a problem document, or for who reads pages a page.

An unforeseen failure is answered without a word of its own: no exception's text leaves the server,
and its log has only the places in our code, because a text may quote a card.
"""

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.evidence.make import Unproved
from api.http.answer import MEDIA, VARY, ranges_of, weight
from api.http.ask import Access, Caller
from api.http.connections import NO_FILES
from api.http.layers import Layer, put
from api.http.ledger_service import NO_LEDGER
from api.http.limits import family
from api.http.request_log import failed
from api.jobs.jobs import FULL
from api.pages.site import page
from api.problem import JSON, Problem
from api.questions.filters import WrongFilter
from api.questions.games import NoGame
from api.questions.players import Nonsense
from api.questions.proof import NoSecrets, Unsigned
from api.viewpoints.redaction import Absence
from api.viewpoints.selection import Absent, Unfinished
from api.viewpoints.viewer import Viewer
from events.ledger import Conflict
from store.archive.objects import NoAnswer
from store.folder.disk import Held, ReadOnly
from store.folder.frames import Damaged
from store.proof.tree import Refuted
from store.reader import NoLedger, Unreachable
from store.segments.reading import FromTheFuture
from store.sql.guard import Refused

STREAM = "/api/v1/stream"
COMES_BACK_S = 10  # after which an `EventSource` asks again
SIGNED_S = 1  # a writer signs for what is new this often
OURS = "this is our fault: the server's log has more of it"


def problem_of(failure: Exception) -> Problem:
    """What a failure is called here; `internal` if nobody expected it."""
    match failure:
        case Problem():
            return failure
        case RequestValidationError():
            return _of_validation(failure)
        case HTTPException():  # what FastAPI and Starlette refuse by themselves
            named = STATUSES.get(failure.status_code, ("bad-request", str(failure.detail)))
            problem = Problem(*named)
            problem.headers.update(failure.headers or {})
            return problem
        case msgspec.ValidationError():
            where = [{"where": "body", "what": str(failure)}]
            return Problem("invalid", str(failure), errors=where)
        case WrongFilter():
            return Problem("wrong-filter", str(failure), position=failure.position)
        case ReadOnly():  # which archive is the server's own business
            return Problem("conflict", "this server reads an archive: nothing is written there")
        case Held():  # who writes, and not where: the folder is the server's own business
            holder = str(failure).partition(" is being written by ")[2] or "another process"
            return Problem("conflict", f"the ledger is being written by {holder}")
        case OSError() if failure.errno in FULL:
            return Problem("no-room", "the disk is full: nothing of it was kept")
        case OSError() if failure.errno in NO_FILES:
            return Problem("unavailable", "too many files are open here: try again").after(5)
        case Unsigned() | Refuted():  # what closed a moment ago is signed for in the next
            return Problem("unavailable", str(failure)).after(SIGNED_S)
    for kinds, name, sentence in NAMED:
        if isinstance(failure, kinds):
            choices = (
                {"choices": possible} if (possible := getattr(failure, "choices", None)) else {}
            )
            return Problem(name, sentence or str(failure), **choices)
    return Problem("internal", OURS)


NAMED: tuple[tuple[tuple[type[Exception], ...], str, str | None], ...] = (
    ((Nonsense,), "bad-request", None),
    ((Refused,), "query-refused", None),
    ((NoLedger,), "unavailable", NO_LEDGER),
    ((NoSecrets, Unproved), "unavailable", None),
    ((Conflict, Unfinished), "conflict", None),
    ((Absence,), "forbidden", None),
    ((Absent, NoGame), "not-found", None),
    ((Unreachable,), "wrong-cursor", None),
    ((NoAnswer,), "unavailable", "the ledger's storage does not answer: try again"),
    ((FromTheFuture,), "unavailable", "a newer muckrake wrote this ledger, and reads it"),
    ((Damaged,), "damaged", "the ledger is damaged: muckrake doctor says where"),
)
STATUSES = {
    404: ("not-found", "nothing is at this address: /docs lists what there is"),
    405: ("method-not-allowed", "this address is there for other methods: Allow names them"),
    408: ("too-slow", "the body came too slowly"),
    413: ("too-large", "the body is longer than this address takes"),
    415: ("unsupported-media-type", "this kind of content is not read here"),
}


def _of_validation(failure: RequestValidationError) -> Problem:
    """Where each mistake is and what is wrong with it; never what was sent, which may be a key."""
    errors = failure.errors()
    if errors and errors[0]["type"] == "json_invalid":
        place, why = errors[0]["loc"][-1], errors[0]["ctx"]["error"]
        return Problem("bad-request", f"the body is no JSON: {why} at character {place}")
    problems = [
        {"where": " ".join(map(str, error["loc"])), "what": error["msg"]} for error in errors
    ]
    first = (
        f"{problems[0]['where']}: {problems[0]['what']}"
        if problems
        else "a value is not what it should be"
    )
    return Problem("invalid", first, errors=problems)


async def answered(request: Request, failure: Exception) -> Response:
    """The answer to a request that failed."""
    problem = problem_of(failure)
    if isinstance(failure, RequestValidationError) and request.method in ("POST", "PUT", "PATCH"):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        read = kind.endswith("json") or kind.startswith(("multipart/", "application/x-www-form"))
        if not read and family(request.url.path).name != "upload":
            sentence = "send JSON, as Content-Type: application/json"
            problem = Problem("unsupported-media-type", sentence)
    if problem.status == 500:
        problem.members["request_id"] = failed(request, failure)
    headers = {"Cache-Control": "no-store", "Vary": VARY}
    if request.url.path == STREAM and request.headers.get("accept") == MEDIA["sse"]:
        return refused(problem, headers)
    if not reads_pages(request):
        fields = headers | problem.headers
        return JSONResponse(problem.document(), problem.status, headers=fields, media_type=JSON)
    caller = getattr(request.state, "caller", Caller())
    access = Access(caller, Viewer(), request.app.state.service)  # nothing on it is of the ledger
    choices = problem.members.get("choices", {})
    answer = page(request, access, "problem.html", problem=problem.document(), choices=choices)
    answer.status_code = problem.status
    answer.headers.update(headers | problem.headers)
    return answer


def refused(problem: Problem, headers: dict[str, str]) -> Response:
    """A problem for an `EventSource`, which reads no body but of a 200: an event, and then nothing.

    It comes back by itself; when, is said, so that it does not ask again at once.
    """
    wait = int(problem.headers.get("Retry-After", COMES_BACK_S))
    document = msgspec.json.encode(problem.document()).decode()
    text = f"retry: {1000 * wait}\nevent: refused\ndata: {document}\n\n"
    return Response(text, headers=headers, media_type=MEDIA["sse"])


def reads_pages(request: Request) -> bool:
    """Whether it is a browser that asks for a page, not a program that asks for data."""
    if request.url.path.startswith("/api/"):
        return False
    ranges = tuple(ranges_of(request.headers.get("accept", "")))
    named = any(one.kind == "text/html" for one in ranges)
    return named and weight(ranges, "html") >= weight(ranges, "json")


class ErrorAnswers(Layer):
    """Nothing passes this but answers; one that fails half-way is cut off, not ended."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def forward(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, forward)
        except ClientDisconnect:
            return
        except Exception as failure:
            request = Request(scope)
            if begun:
                put(scope, "cut", True)
                failed(request, failure)
                return  # the connection is closed without the end that a whole answer has
            answer = await answered(request, failure)
            await answer(scope, receive, send)

"""Whether this process answers, whether its ledger can be read, and what it has answered so far."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from api.http.answer import NEVER, document
from api.problem import Problem
from store.folder.frames import Damaged

router = APIRouter(tags=["health"])


@router.get("/healthz", operation_id="health", summary="Whether this process answers")
async def health(request: Request) -> Response:
    return document(request, {"status": "ok"}, cache=NEVER)


@router.get("/readyz", operation_id="ready", summary="Whether the ledger can be read")
def ready(request: Request) -> Response:
    try:
        request.app.state.service.reader.snapshot()
    except (OSError, Damaged):
        raise Problem(
            "unavailable", "the ledger cannot be read: muckrake doctor says why"
        ) from None
    return document(request, {"status": "ready"}, cache=NEVER)


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Requests and latencies, for Prometheus",
    response_class=PlainTextResponse,
)
async def metrics(request: Request) -> Response:
    text = request.app.state.metrics.text()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse(text, media_type=kind, headers={"Cache-Control": NEVER})

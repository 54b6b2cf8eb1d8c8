"""`/api/v1/`: what there is here and through whose eyes you see it."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.answer import document
from api.http.ask import Ask
from api.version import VERSION

router = APIRouter(prefix="/api/v1", tags=["root"])


@router.get("/", operation_id="root", summary="Version, viewpoint and where to go on")
async def root(request: Request, ask: Ask) -> Response:
    lists = ("matches", "hands", "players", "games", "stream")
    links = {name: f"/api/v1/{name}" for name in lists} | {"docs": "/docs"}
    viewpoint = {"view": ask.viewer.view, "matches": list(ask.viewer.matches)}
    return document(request, {"version": VERSION, "viewpoint": viewpoint, "links": links})

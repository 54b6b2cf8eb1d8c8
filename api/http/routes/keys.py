"""Keys: who may ask for more than the public. A key's secret is told once, when it is made."""

import time
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from api.http.answer import NEVER, document
from api.http.ask import ADMIN, Ask
from api.http.keys import as_json
from api.http.scopes import NoScope, scope_of
from api.problem import Problem

router = APIRouter(prefix="/api/v1/keys", tags=["keys"])

DAY_S = 24 * 60 * 60


class Wanted(BaseModel):
    """A key to be made."""

    scopes: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(min_length=1, max_length=50, examples=[["hands:read", "seat:lynx@scrim"]]),
    ]
    name: Annotated[str, Field(max_length=100, description="Whose it is.")] = ""
    expires_days: Annotated[int | None, Field(ge=1, le=3650)] = None


@router.get("", operation_id="keys", summary="Every key, without its secret")
def keys(request: Request, ask: Ask) -> Response:
    ask.needs(ADMIN)
    told = [as_json(one) for one in request.app.state.keys.all()]
    return document(request, {"data": told, "next_cursor": None, "has_more": False}, cache=NEVER)


@router.post(
    "", operation_id="make_key", summary="A new key; only this answer shows it", status_code=201
)
def make(request: Request, ask: Ask, wanted: Wanted) -> Response:
    ask.needs(ADMIN)
    try:
        scopes = tuple(dict.fromkeys(map(scope_of, wanted.scopes)))
    except NoScope as reason:
        raise Problem("invalid", str(reason)) from None
    for scope in scopes:
        if not ask.caller.has(scope):
            raise Problem("forbidden", f"nobody gives what he has not: {scope}")
    days = wanted.expires_days
    expires = None if days is None else int(time.time()) + days * DAY_S
    key, spelled = request.app.state.keys.make(scopes, wanted.name, expires)
    return document(request, {**as_json(key), "key": spelled}, cache=NEVER, status=201)


@router.delete("/{id}", operation_id="revoke_key", summary="No more of a key", status_code=204)
def revoke(
    request: Request, ask: Ask, id: Annotated[str, Path(pattern="^[0-9a-f]{8}$")]
) -> Response:
    ask.needs(ADMIN)
    if not request.app.state.keys.revoke(id):
        raise Problem("not-found", f"there is no key {id}")
    return Response(status_code=204)

"""Into the pages as somebody: a link that works once, and the way out."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from api.http.answer import NEVER
from api.http.sessions import SESSION_S, Sessions
from api.problem import Problem

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login(
    request: Request,
    once: Annotated[str, Query(max_length=100)],
    to: Annotated[str, Query(max_length=500, description="A page of this server.")] = "/",
) -> Response:
    """The link's token becomes a cookie; asked for its head only, nothing is used up."""
    sessions: Sessions = request.app.state.sessions
    if getattr(request.state, "head", False):
        return Response(headers={"Cache-Control": NEVER})
    session = sessions.enter(once)
    if session is None:
        sentence = "this link was opened before, or is too old: muckrake serve prints another"
        raise Problem("unauthenticated", sentence)
    answer = RedirectResponse(_ours(to), 303, {"Cache-Control": NEVER})
    answer.set_cookie(
        sessions.cookie,
        session,
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout")
def logout(request: Request) -> Response:
    """The session is over for whoever has its cookie, not only in this browser."""
    sessions: Sessions = request.app.state.sessions
    token = request.cookies.get(sessions.cookie)
    if token is not None:
        sessions.leave(token)
    answer = RedirectResponse("/", 303, {"Cache-Control": NEVER})
    answer.delete_cookie(sessions.cookie)
    return answer


def _ours(to: str) -> str:
    """A page of this server, never another's."""
    there = urlsplit(to)
    ours = to.startswith("/") and not to.startswith(("//", "/\\")) and not there.netloc
    return to if ours else "/"

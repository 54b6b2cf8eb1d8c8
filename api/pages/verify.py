"""`/verify`: a bundle judged in the browser that it is dropped on, by a script that asks nobody."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.site import page

router = APIRouter(include_in_schema=False)
POLICY = (
    "default-src 'none'; connect-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


@router.get("/verify")
def verify(request: Request, ask: Ask) -> Response:
    """The page alone: what is dropped on it is never sent, and its policy would not let it."""
    answer = page(request, ask, "verify.html")
    answer.headers["Content-Security-Policy"] = POLICY
    return answer

"""The web pages: made on the server, readable without a script; `PAGES` is all of their routes."""

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse

from api.pages import (
    audit,
    frames,
    hands,
    home,
    leagues,
    live,
    matches,
    picture,
    players,
    questions,
    statistics,
    winnings,
)
from api.pages.site import STATIC, Files

PAGES: tuple[APIRouter, ...] = tuple(
    one.router
    for one in (
        *(home, matches, live, hands, audit, questions),
        *(players, statistics, leagues, winnings, frames, picture),
    )
)


def mounted(app: FastAPI) -> None:
    """Scripts, styles and whatever else never changes under its name."""
    app.mount("/static", Files(directory=STATIC), name="static")

    @app.get("/favicon.ico", include_in_schema=False)
    def mark() -> FileResponse:
        """For browsers that look for it where it always was."""
        return FileResponse(STATIC / "mark.svg", media_type="image/svg+xml")

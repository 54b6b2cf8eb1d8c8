"""The web pages: made on the server, readable without a script; `PAGES` is all of their routes."""

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse

from api.pages.addresses import STATIC, Files
from api.pages.audit import router as audit
from api.pages.bids import router as bids
from api.pages.compare import router as compare
from api.pages.events import router as events
from api.pages.fairness import router as fairness
from api.pages.find import router as find
from api.pages.frames import router as frames
from api.pages.games import router as games
from api.pages.grid import router as grid
from api.pages.hand import router as hand
from api.pages.hands import router as hands
from api.pages.home import router as home
from api.pages.live import router as live
from api.pages.matches import router as matches
from api.pages.opponent import router as opponent
from api.pages.players import router as players
from api.pages.questions import router as questions
from api.pages.swaps import router as swaps
from api.pages.verify import router as verify
from api.pages.winnings import router as winnings

PAGES: tuple[APIRouter, ...] = (
    home,
    find,
    matches,
    hands,
    hand,
    audit,
    events,
    games,
    questions,
    players,
    grid,
    winnings,
    bids,
    swaps,
    opponent,
    compare,
    fairness,
    live,
    frames,
    verify,
)


def mounted(app: FastAPI) -> None:
    """Scripts, styles and whatever else never changes under its name."""
    app.mount("/static", Files(directory=STATIC), name="static")

    @app.get("/favicon.ico", include_in_schema=False)
    def mark() -> FileResponse:
        """For browsers that look for it where it always was."""
        return FileResponse(STATIC / "mark.svg", media_type="image/svg+xml")

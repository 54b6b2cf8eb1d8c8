"""The routes of the API, a file for each family; `ROUTERS` is all of them."""

from fastapi import APIRouter

from api.http.routes.docs import router as docs
from api.http.routes.exports import router as exports
from api.http.routes.games import router as games
from api.http.routes.hand import router as hand
from api.http.routes.health import router as health
from api.http.routes.jobs import router as jobs
from api.http.routes.keys import router as keys
from api.http.routes.log import router as log
from api.http.routes.login import router as login
from api.http.routes.matches import router as matches
from api.http.routes.questions import router as questions
from api.http.routes.root import router as root
from api.http.routes.sql import router as sql
from api.http.routes.stream import router as stream

ROUTERS: tuple[APIRouter, ...] = (
    root,
    keys,
    health,
    docs,
    login,
    stream,
    matches,
    hand,
    log,
    jobs,
    questions,
    games,
    exports,
    sql,
)

"""The routes of the API, a file for each family; `ROUTERS` is all of them."""

from fastapi import APIRouter

from api.http.routes import exports, games, hands, jobs, log, questions, service, stream

ROUTERS: tuple[APIRouter, ...] = tuple(
    one.router for one in (service, stream, hands, log, jobs, questions, games, exports)
)

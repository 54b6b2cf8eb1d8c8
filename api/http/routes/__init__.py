"""The routes of the API, a file for each family; `ROUTERS` is all of them."""

from fastapi import APIRouter

from api.http.routes import exports, hands, jobs, questions, service, stream, transparency_log

ROUTERS: tuple[APIRouter, ...] = tuple(
    one.router for one in (service, stream, hands, transparency_log, jobs, questions, exports)
)

"""The routes of the API, a file for each family; `ROUTERS` is all of them, with those of the server
about itself: who may ask, how it is, and how it is described."""

from fastapi import APIRouter

from api.http import access, openapi, request_log
from api.http.routes import exports, hands, jobs, questions, stream

ROUTERS: tuple[APIRouter, ...] = tuple(
    one.router for one in (openapi, access, request_log, stream, hands, jobs, questions, exports)
)

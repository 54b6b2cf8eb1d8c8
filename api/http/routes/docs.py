"""The API for programs (`/openapi.json`) and for people (`/docs`), without any other server."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.http.answer import document
from api.http.openapi import PATH

router = APIRouter(include_in_schema=False)

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>muckrake: the HTTP API</title>
<link rel="stylesheet" href="/static/vendor/swagger-ui.css">
</head>
<body>
<main id="swagger-ui"><noscript>
Without a script there is <a href="/openapi.json">openapi.json</a>.
</noscript></main>
<script src="/static/vendor/swagger-ui-bundle.js"></script>
<script src="/static/api-docs.js"></script>
</body>
</html>
"""


@router.get(PATH, operation_id="openapi")
async def openapi(request: Request) -> Response:
    return document(request, request.app.openapi())


@router.get("/docs", operation_id="docs")
async def docs() -> HTMLResponse:
    return HTMLResponse(PAGE, headers={"Cache-Control": "no-cache"})

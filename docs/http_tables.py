"""The tables of docs/http.md: routes, pages, problems, scopes and limits, as the code has them."""

import inspect
import json
from importlib import import_module
from typing import Any

from fastapi.routing import APIRoute

from api.http.credentials import SCOPES, SEAT_SCOPES
from api.http.limits import FAMILIES, Limits
from api.http.responses import MEDIA_TYPES
from api.http.routes import ROUTERS
from api.problem import PROBLEM_KINDS, URN
from api.serving.app import PAGES
from docs.openapi import written


def endpoints() -> str:
    """Every route of the API, as it describes itself."""
    paths: dict[str, Any] = json.loads(written())["paths"]
    lines = ["| method | path | what | formats |", "|---|---|---|---|"]
    for path, operations in sorted(paths.items()):
        for method, operation in operations.items():
            row = f"| {method.upper()} | `{path}` | {operation['summary']} | {_sent(operation)} |"
            lines.append(row)
    return "\n".join(lines)


def _sent(operation: dict[str, Any]) -> str:
    """The formats of an answer that is one, by the names of `?format=`."""
    names = {media.partition(";")[0]: name for name, media in MEDIA_TYPES.items()}
    found: list[str] = []
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            found += (names.get(kind, kind) for kind in response.get("content", {}))
    return ", ".join(dict.fromkeys(found))


def pages() -> str:
    """Every page, in its own words; questions without a page made by hand, in their module's."""
    found: dict[str, list[str]] = {}
    for router in (*ROUTERS, *PAGES):
        for route in router.routes:
            if isinstance(route, APIRoute) and not route.include_in_schema:
                said = inspect.getdoc(route.endpoint) or inspect.getdoc(
                    import_module(route.endpoint.__module__)
                )
                what = (said or "").split("\n\n")[0].replace("\n", " ")
                found.setdefault(what, []).append(f"`{route.path}`")
    rows = [f"| {', '.join(paths)} | {what} |" for what, paths in found.items()]
    return "\n".join(["| address | page |", "|---|---|", *rows])


def problems() -> str:
    """Every kind of problem."""
    lines = ["| type | status | title |", "|---|---|---|"]
    for kind, (status, title) in PROBLEM_KINDS.items():
        lines.append(f"| `{URN}{kind}` | {status} | {title} |")
    return "\n".join(lines)


def scopes() -> str:
    """Everything that a key may be good for."""
    lines = ["| scope | what it opens |", "|---|---|"]
    every = {**SCOPES, **SEAT_SCOPES}
    return "\n".join(lines + [f"| `{scope}` | {does} |" for scope, does in every.items()])


def limits() -> str:
    """What is limited, and what each family of routes costs."""
    limits = Limits()
    imports, valued = limits.upload_bytes >> 30, limits.heavy_valued
    slow, processes = limits.min_bytes_per_second >> 10, limits.page_processes
    lines = ["| limit | unless set otherwise |", "|---|---|"]
    lines += [
        f"| cost of all requests of a caller in a minute | {limits.rate:,} |",
        f"| size of a body | {limits.body_bytes >> 20} MiB, imports {imports} GiB |",
        f"| size of the headers | {limits.header_bytes >> 10} KiB |",
        f"| size of a query | {limits.query_bytes >> 10} KiB |",
        f"| time until an answer begins | {limits.seconds:g} s |",
        f"| time that a client may read nothing | {limits.stall_s:g} s |",
        f"| time for the head of a request | within {limits.head_s:g} s |",
        f"| time for a body | within {limits.body_s:g} s, or {slow} KiB a second |",
        f"| connections of an address, requests of a caller, at once | {limits.at_once} |",
        f"| jobs of a key that are not over | {limits.key_jobs} |",
        f"| bytes that a key may send in a day | {limits.key_bytes >> 30} GiB |",
        f"| hands that a key may have played or imported in a day | {limits.key_hands:,} |",
        f"| room on the disk without which no job begins | {limits.keep_free >> 20} MiB |",
        f"| exports of a worker at once | {limits.exports_at_once} |",
        f"| hands about which a process makes an answer that values cards | {valued} |",
        f"| ... what judges hands that have no verdict | {limits.heavy_judged:,} |",
        f"| ... a page that counts | {limits.heavy_counted:,} |",
        f"| ... data that counts | {limits.heavy_data:,} |",
        f"| ... how the hands of a filter are spread | {limits.heavy_spread:,} |",
        f"| heavy answers of a worker at once | {processes}, {processes - 1} of a caller |",
        f"| questions in SQL of a worker at once | {limits.sql_at_once} |",
        "",
        "| a request for | costs |",
        "|---|---|",
    ]
    for one in FAMILIES:
        lines.append(f"| {one.what} | {one.cost} |")
    return "\n".join(lines)

"""Two ledgers that a viewpoint may not be able to tell apart, served side by side.

The second has the hands of `tests/http/ledgers.py` with everything that this viewpoint may not see
exchanged, and the keys of the first. What is open to all is the same in both.
"""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from fastapi.routing import APIRoute

from api.http.formats import MEDIA
from api.http.kept import cursor_key
from api.http.routes import ROUTERS
from api.pages import PAGES
from docs.openapi import written
from events.types import Events, HandStarted
from events.views import Public, Seated, Viewpoint
from store.private import Private
from tests.http import ledgers
from tests.http.clients import Site, site_of
from tests.worlds import other_world

NAMES = {media.partition(";")[0]: name for name, media in MEDIA.items()}
FILLED: dict[str, tuple[str, ...]] = {
    "match": ("auction", "swap"),
    "number": ("2",),
    "player": ("ursa",),
    "game": ("auction-2024-mit",),
    "dataset": ("events", "hands", "players", "bids", "swaps", "pots"),
    "path": ("0/000.p/3",),
    "job": ("none",),
    "id": ("00000000",),
    "name": ("none",),
}
ASKED = (
    "/api/v1/hands?q=hole=AA",
    "/api/v1/hands?q=bid>=10&facets=1",
    "/api/v1/hands?q=lynx:bid>3|ursa:bid>3",
    "/api/v1/hands?q=swapped&limit=2",
    "/api/v1/hands?q=verdict=differ",
    "/api/v1/hands?q=auction-won",
    "/api/v1/hands/auction/2/state?at=7",
    "/api/v1/hands/running/5",
    "/api/v1/hands/running/5/events",
    "/api/v1/hands/running/5/frames",
    "/api/v1/stream?until=now&format=ndjson",
    "/api/v1/stream?until=now&match=swap&format=ndjson",
    "/api/v1/sql?q=SELECT * FROM events&format=csv",
    "/api/v1/sql?q=SELECT * FROM players&format=csv",
    "/api/v1/sql?q=SELECT count(*) FROM bids WHERE amount > 10",
    "/api/v1/sql?q=SELECT * FROM swaps&format=arrow",
    "/api/v1/hands/holdem/2?format=phh",
    "/api/v1/matches/running",
    "/api/v1/log/consistency?from=1",
    "/hands/running/5",
    "/hands/running/5/events",
    "/hands?q=hole=AA",
    "/hands?q=bid>=10",
)
NOT_ALIKE = ("x-request-id", "date", "ratelimit", "ratelimit-policy", "server-timing")


def worlds(folder: Path, view: str) -> tuple[Site, Site]:
    """Both, for a viewpoint."""
    first = ledgers.made(folder / "one")
    cursor_key(first)
    private = Private(folder / "other").folder
    private.parent.mkdir()
    shutil.copytree(Private(first).folder, private)
    second = ledgers.made(folder / "other", lambda match, hand: _other(match, hand, view))
    return site_of(first, delay_s=0.0), site_of(second, delay_s=0.0)


def addresses() -> Iterator[str]:
    """Every address that answers to GET, in every format that it is said to have."""
    document: dict[str, Any] = msgspec.json.decode(written())
    for path, operations in document["paths"].items():
        if "get" not in operations or path.endswith(("/stream", "/sql", "/metrics", "/keys")):
            continue
        media = operations["get"]["responses"]["200"].get("content", {})
        for filled in _filled(path):
            yield filled
            names = [NAMES[one] for one in media if one in NAMES]
            yield from (f"{filled}?format={name}" for name in names if name != "json")
    for router in (*ROUTERS, *PAGES):
        for route in router.routes:
            if isinstance(route, APIRoute) and not route.include_in_schema:
                yield from _filled(route.path.replace(":path", ""))
    yield from ASKED


def answer(site: Site, address: str, view: str) -> tuple[int, dict[str, str], bytes]:
    """What an auditor is answered who asks as somebody else."""
    sign = "&" if "?" in address else "?"
    client = site.as_("auditor", follow_redirects=False)
    came = client.get(f"{address}{sign}as={view}")
    headers = {name: value for name, value in came.headers.items() if name not in NOT_ALIKE}
    return came.status_code, headers, came.content


def _filled(path: str) -> Iterator[str]:
    begin, brace, rest = path.partition("{")
    if not brace:
        yield path
        return
    name, _, end = rest.partition("}")
    for value in FILLED[name]:
        yield from _filled(f"{begin}{value}{end}")


def _other(match: str, hand: Events, view: str) -> Events:
    start = hand[0]
    assert isinstance(start, HandStarted)
    if match == "open":
        return hand
    seat = view.removeprefix("seat:")
    who: Viewpoint = Public() if view == "public" else Seated(start.players.index(seat))
    return other_world(hand, who, random.Random(start.hand))

"""Two ledgers that differ only in what a viewer may not see answer him alike, to the byte.

Every GET route, every format, every header. The table of what is asked is held to the application:
who adds a route has to say there how it is asked.
"""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from fastapi import FastAPI
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route

from api.http.access import Auth
from api.http.responses import MEDIA_TYPES
from docs.openapi import written
from events.types import Event, HoleDealt
from events.views import Auditor, Seen, Viewpoint, see_one
from tests.leaks.asked_routes import ROUTES, Depth, addresses
from tests.leaks.conftest import Pair
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import AUCTION, EYES, LYNX, RUNNING, SEALED_SEED, SWAP
from tests.profiles import in_turn, sized

DEPTHS: dict[str, Depth] = {"public": sized(quick="few", ci="few", slow="most")}
OTHERS: Depth = sized(quick="once", ci="once", slow="some")
PARTS = sized(quick=len(EYES) - len(DEPTHS), ci=1)


def routes(app: FastAPI) -> set[str]:
    """Templates of all routes that answer to GET, those of included routers too."""
    return set(_templates(app.routes))


def _templates(found: object) -> Iterator[str]:
    for one in found if isinstance(found, list) else ():
        if isinstance(one, Mount):
            yield one.path
        elif isinstance(one, Route | APIRoute):
            if "GET" in (one.methods or ()):
                yield one.path
        else:
            router = getattr(one, "original_router", None) or getattr(one, "router", None)
            assert router is not None, f"what kind of route is {one!r}?"
            yield from _templates(router.routes)


def test_every_route_has_its_line(public: Pair) -> None:
    assert routes(public.apps[0]) == set(ROUTES)


def test_a_route_without_a_line_is_noticed(public: Pair) -> None:
    app = door(public.folders[0])
    app.add_api_route("/api/v1/new/{match}", lambda match: match)
    assert {"/api/v1/new/{match}"} == routes(app) - set(ROUTES)


def test_every_format_is_asked_for() -> None:
    """Those that the description of the API promises; the first is what comes unasked."""
    names = {media.partition(";")[0]: name for name, media in MEDIA_TYPES.items()}
    lines = {route.replace(":path", ""): line for route, line in ROUTES.items()}
    lacking = {}
    for path, operations in msgspec.json.decode(written())["paths"].items():
        promised = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        kinds = [names[one] for one in (it.partition(";")[0] for it in promised) if one in names]
        if len(kinds) > 1:
            line = lines[path]
            told = {
                it.partition("format=")[2] for it in (*line.queries, *line.addresses("/", "all"))
            }
            lacking[path] = set(kinds[1:]) - told
    assert {"/api/v1/jobs/{job}": {"sse"}} == {path: it for path, it in lacking.items() if it}


@pytest.mark.parametrize("name", EYES)
def test_no_answer_tells_one_world_from_the_other(
    name: str, pair_of: Callable[[str], Pair]
) -> None:
    """In `quick` the public is asked at every route, and of three players one at each."""
    turn = [*EYES].index(name)
    asked = addresses(DEPTHS.get(name, OTHERS), turn)
    _alike(pair_of(name), asked if name in DEPTHS else asked[turn % PARTS :: PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("name", EYES)
def test_no_answer_to_anybody_about_anybody_does(name: str, pair_of: Callable[[str], Pair]) -> None:
    _alike(pair_of(name), addresses())


def test_heads_are_alike_and_so_is_what_is_kept(pair: Pair) -> None:
    """HEAD, and 304 to whoever holds the other world's validator."""
    asked = [
        f"/api/v1/hands/closed-{AUCTION}/1/events",
        f"/api/v1/hands/{RUNNING}/1",
        "/api/v1/exports/events?format=parquet",
        f"/hands/closed-{AUCTION}/1/audit",
    ]
    here, there = (answers(app, asked, pair.key, "HEAD") for app in pair.apps)
    assert here == there
    tags = [one.header("etag") or "" for one in answers(pair.apps[0], asked[:2], pair.key)]
    for address, tag in zip(asked, tags, strict=False):
        held = [("if-none-match", tag)]
        assert [304] == [
            one.status for one in answers(pair.apps[1], [address], pair.key, headers=held)
        ]


@pytest.mark.parametrize(
    ("name", "how"), sized(quick=[("a player", "zstd")], ci=in_turn(EYES, ("zstd", "gzip")))
)
def test_packed_answers_are_alike_and_as_long(
    how: str, name: str, pair_of: Callable[[str], Pair]
) -> None:
    """What is packed tells by its length what is in it: nothing hidden is."""
    pair = pair_of(name)
    asked = [
        f"/api/v1/hands/closed-{AUCTION}/1/events",
        f"/api/v1/hands/closed-{SWAP}/2/frames",
        "/api/v1/hands?facets=1",
        "/api/v1/exports/events?format=ndjson",
        "/api/v1/exports/players?format=csv",
        f"/hands/closed-{AUCTION}/1",
        "/matches",
    ]
    packed = [("accept-encoding", how)]
    here, there = (answers(app, asked, pair.key, headers=packed) for app in pair.apps)
    assert [how] * len(asked) == [one.header("content-encoding") for one in here]
    assert here == there


def test_an_auditor_tells_them_apart(public: Pair) -> None:
    """Else nothing here would prove anything."""
    asked = [
        f"/api/v1/hands/closed-{AUCTION}/1/events",
        f"/api/v1/hands/closed-{SWAP}/2/frames",
        f"/api/v1/hands/{RUNNING}/1/state",
        "/api/v1/hands",
        "/api/v1/exports/bids?format=parquet",
        "/api/v1/stream?after=start&until=now",
        "/api/v1/sql?q=SELECT hole, count(*) FROM players GROUP BY ALL ORDER BY ALL",
        f"/api/v1/players/{LYNX}/grid",
        f"/api/v1/players/{LYNX}/bids",
        f"/hands/closed-{AUCTION}/1",
    ]
    here, there = (answers(app, asked, public.auditor) for app in public.apps)
    assert [200] * len(asked) == [one.status for one in here]
    assert [] == [it for it, one, other in zip(asked, here, there, strict=True) if one == other]


def test_a_leaky_route_is_noticed(public: Pair) -> None:
    """One that counts what it should not, in a header."""
    apps = door(public.folders[0]), door(public.folders[1])

    def leaky(ask: Auth, response: Response) -> str:
        events = [one.event for one in ask.snapshot().read(f"closed-{AUCTION}/1")]
        dealt = next(one for one in events if isinstance(one, HoleDealt))
        response.headers["X-Cards"] = "".join(dealt.cards)
        return "nothing to see here"

    for app in apps:
        app.add_api_route("/leaky", leaky)
    assert ["/leaky"] == _differing(public._replace(apps=apps), ["/api/v1/hands", "/leaky"])


@pytest.mark.parametrize(
    ("event", "address"),
    [
        ("HoleDealt", f"/api/v1/hands/closed-{AUCTION}/1/events"),
        ("BidPlaced", f"/api/v1/hands/{RUNNING}/1/frames"),
        ("CardSwapped", f"/api/v1/hands/closed-{SWAP}/2?format=txt"),
        ("Faulted", f"/api/v1/hands/{RUNNING}/1"),
    ],
)
def test_a_hole_in_what_is_hidden_is_noticed(
    event: str, address: str, public: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of secret, told to everybody as to an auditor."""

    def leaky(one: Event, who: Viewpoint) -> Seen | None:
        return see_one(one, Auditor() if type(one).__name__ == event else who)

    assert [] == _differing(public, [address])
    monkeypatch.setattr("api.viewpoints.redaction.see_one", leaky)
    assert [address] == _differing(public, [address])


def test_what_an_auditor_had_judged_changes_nothing(public: Pair) -> None:
    """Else it would tell how many hands there are of which nobody else may know a verdict."""
    asked = ["/", f"/matches/closed-{AUCTION}", "/hands"]
    answers(public.apps[0], asked, public.auditor)
    assert [] == _differing(public, asked)


def _alike(pair: Pair, asked: list[str]) -> None:
    """Asked of new servers: what they count of requests is compared, too."""
    here, there = (answers(door(folder), asked, pair.key) for folder in pair.folders)
    statuses = [one.status for one in here]
    assert [] == [it for it, status in zip(asked, statuses, strict=True) if status >= 500]
    assert len(asked) // 2 < statuses.count(200)
    assert [] == [it for it, one, other in zip(asked, here, there, strict=True) if one != other]
    seed = SEALED_SEED.encode()  # worlds differ in it, and so would packed answers
    assert [] == [it for it, one in zip(asked, here, strict=True) if seed in one.body]


def _differing(pair: Pair, asked: list[str]) -> list[str]:
    """Addresses at which a viewer could tell his two worlds apart."""
    both = zip(asked, pair.both(asked), strict=True)
    return [address for address, (here, there) in both if here != there]

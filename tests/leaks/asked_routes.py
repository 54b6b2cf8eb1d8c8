"""Every GET route of the application, and what is asked of it; a route without a line fails a test.

Nothing of an answer is normalised, but for its date and the id of its request: commitments are
stubbed where they are made (`hidden_worlds.stubbed`), so that lines, leaves, roots, tiles, zips and
signatures are the same bytes in both worlds, or tell.
"""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Literal, NamedTuple

from tests.leaks.hidden_worlds import AUCTION, LYNX, RUNNING, SWAP, URSA

HANDS = (
    (f"closed-{AUCTION}", "1"),  # sealed bids that failed first, and a fold
    (f"closed-{AUCTION}", "2"),  # seen to its end
    (f"closed-{AUCTION}", "5"),  # void after a bid
    (f"closed-{SWAP}", "2"),  # eight swaps, and a fold
    (f"closed-{SWAP}", "3"),  # of others
    ("closed-site-nl", "3"),  # somebody mucked
    ("closed-site-fl", "2"),
    (f"before-{AUCTION}", "4"),  # to be opened when the match ends, and it has not
    (f"before-{SWAP}", "3"),
    (f"after-{AUCTION}", "1"),  # opened
    (f"open-{SWAP}", "3"),
    (f"after-{SWAP}", "3"),  # opened, and of the seed of others that are sealed
    (f"bare-{AUCTION}", "2"),  # never announced; one name in two seats
    (f"committed-{AUCTION}", "2"),  # from a deck that was committed to
    (f"mirrored-{AUCTION}", "2"),  # from the deck of the hand before
    (RUNNING, "1"),  # being played
    (RUNNING, "2"),  # not there
)
MATCHES = (*dict.fromkeys(match for match, _ in HANDS), "nowhere")
PLAYERS = (LYNX, f"o'{LYNX}", "nobody")
FILTERS = (
    "hole=AA",
    "!hole=AA",
    f"{URSA}:hole=A? | {LYNX}:hole=A?",
    "hole=????",
    "bid>=1",
    f"!{LYNX}:bid>3",
    f"{LYNX}:bid=0|{URSA}:bid=0",
    "player(hole=A? %26 net>0) | player(bid>3 %26 !auction-won)",
    f"!player(hole=A? | bid>3) | {LYNX}:(!hole=A? %26 bid<4)",
    "swapped",
    "!swapped",
    "player(tag=bot:cat %26 hole=A?)",
    "verdict=differ",
    "!verdict=agree",
    "auction-won",
    f"player(bid-with>=pair) | !{LYNX}:bid-with=high-card",
    "showdown %26 pot>10",
    "voided | all-in",
    f"hand>closed-{AUCTION}/2 %26 hand<={RUNNING}/1",
    f"!hand>={RUNNING}/1 | hand=closed-{AUCTION}/1",
)
QUESTIONS = (
    "SELECT * FROM hands ORDER BY ALL",
    "SELECT hole, count(*), sum(net) FROM players GROUP BY hole ORDER BY ALL",
    "SELECT count(*) FROM bids WHERE amount > 10",
    "SELECT street, changed, count(*) FROM swaps GROUP BY ALL ORDER BY ALL",
    "SELECT count(*), max(idx) FROM events WHERE type = 'Faulted'",
    "SELECT CAST(hole AS INTEGER) FROM players WHERE hole LIKE 'A%'",
    "SELECT pos FROM events",
    "SELECT * FROM tags JOIN players USING (match, player) ORDER BY ALL",
)


WATCHED = (
    *(f"match={one}" for one in MATCHES),
    f"match={RUNNING}&of=table",
    f"match={RUNNING}&of=HandEnded%20{RUNNING}/1&of=BidPlaced%20{RUNNING}/1",
    f"match=closed-{AUCTION}&of=HandEnded%20closed-{AUCTION}/1",
)


Depth = Literal["all", "most", "few", "some", "once"]


class Asked(NamedTuple):
    """What is asked of a route: why as it is, values of its path, what stands after it."""

    why: str
    paths: tuple[tuple[str, ...], ...] = ((),)
    formats: tuple[str, ...] = ("",)
    queries: tuple[str, ...] = ("",)
    first: int = 3  # so many paths are asked with each query
    dear: bool = False  # an answer takes a quarter of a second: few viewers ask, and as JSON

    def addresses(self, route: str, depth: Depth, turn: int = 0) -> Iterator[str]:
        """Paths in formats, and queries at the first paths that there are.

        But of `all`, a path has one format, the next path the next, and a query one path, the next
        query the next; of `most` each format comes, of more than 40 queries every second or third,
        and what is dear is JSON alone. Of `few` two formats come, other ones of another route, and
        what is dear is a page, if there is one. Who asks `some` begins with the format of his turn;
        who asks `once`, with the path of it, too.
        """
        has_page = route.removeprefix("/api/v1") in ROUTES and route.startswith("/api/v1")
        if self.dear and (depth in ("some", "once") or (depth == "few" and has_page)):
            return
        count = len(self.paths) if depth == "all" else self.first
        kinds = self.formats[:1] if self.dear and depth != "all" else self.formats
        begin = 0 if self.dear or depth in ("all", "some") else sum(route.encode())
        if depth == "most" and kinds:
            count = max(count, len(kinds))
        elif depth in ("few", "some"):
            count = min(count, 2 if depth == "few" else len(self.paths))
        elif depth == "once":
            count, begin = 1, turn
        turn = begin if depth == "few" else turn
        for number, values in enumerate(islice(cycle(self.paths), begin, begin + count), turn):
            in_turn = kinds[number % len(kinds) :][:1] if kinds else ()
            for kind in kinds if depth == "all" else in_turn:
                yield _filled(route, values) + (f"?format={kind}" if kind else "")
        for number, query in enumerate(self._queries(depth)):
            first = self.paths[: self.first]
            for values in first if depth == "all" else first[number % len(first) :][:1]:
                yield f"{_filled(route, values)}?{query}"

    def _queries(self, depth: Depth) -> tuple[str, ...]:
        asked = () if self.dear and depth != "all" else tuple(filter(None, self.queries))
        parts = {"all": 0, "most": len(asked) // 40, "few": len(asked) // 3}
        return asked[:: 1 + parts[depth]] if depth in parts else ()


def of_hands(why: str, *formats: str, queries: tuple[str, ...] = ("",)) -> Asked:
    return Asked(why, HANDS, formats or ("",), queries)


def of_matches(why: str, *formats: str) -> Asked:
    return Asked(why, tuple((one,) for one in MATCHES), formats or ("",))


def of_players(why: str, *formats: str, queries: tuple[str, ...] = ("",)) -> Asked:
    paths = tuple((one,) for one in PLAYERS)
    return Asked(why, paths, formats or ("",), queries, first=1, dear=True)


TABULAR = ("json", "ndjson", "csv", "arrow", "parquet")
FORBIDDEN = "as=auditor", f"as=seat:{LYNX}", "as=seat:nobody"
ROUTES: dict[str, Asked] = {
    "/metrics": Asked("asked first of a server, before it has a time to tell"),
    "/api/v1/": Asked("the viewpoint and links", queries=FORBIDDEN),
    "/api/v1/keys": Asked("refused to all of these"),
    "/api/v1/jobs": Asked("refused to all of these", formats=("json", "ndjson")),
    "/api/v1/jobs/{job}": Asked("refused to all of these", (("none",),)),
    "/healthz": Asked("says that it is alive"),
    "/readyz": Asked("says that the ledger is there"),
    "/openapi.json": Asked("made of the code"),
    "/docs": Asked("a page around it"),
    "/login": Asked("a link that is none", queries=("once=no-link",)),
    "/favicon.ico": Asked("a file"),
    "/static": Asked("a file", (("/mark.svg",), ("/style.css",), ("/nothing",))),
    "/api/v1/stream": Asked(
        "ids count what is seen, so these are compared as they are",
        formats=(),  # without `until` it has no end
        queries=(
            "after=start&until=now",
            "after=start&until=now&format=ndjson",
            f"after=start&until=now&match={RUNNING}",
            f"after=start&until=now&match=closed-{AUCTION}&types=Faulted,BidPlaced",
            f"after=closed-{AUCTION}/1:5p&until=now&match=closed-{AUCTION}",
            f"after=closed-{AUCTION}/1:11p&until=closed-{AUCTION}/2:9p&format=ndjson",
            f"after={RUNNING}/1:99p&until=now",
            f"after=start&until=end&match=closed-{SWAP}",
            "until=now",
            "until=now&after=start&format=csv",
        ),
    ),
    "/api/v1/matches": Asked(
        "nets, counts and times",
        formats=TABULAR,
        queries=("limit=2", "newest=true&limit=5", "cursor=none"),
    ),
    "/api/v1/matches/{match}": of_matches("one of them"),
    "/api/v1/matches/{match}/root": of_matches("signed over stubbed lines", "json", "txt"),
    "/api/v1/matches/{match}/verify": of_matches("refused to all of these"),
    "/api/v1/matches/{match}/fairness": of_matches("refused to all of these", *TABULAR),
    "/api/v1/fairness": Asked("refused to all of these", formats=TABULAR),
    "/api/v1/hands": Asked(
        "what a filter finds, and how many",
        formats=("json", "ndjson", "csv", "parquet", "arrow"),
        queries=(
            *(f"q={one}&facets=1&limit=5" for one in FILTERS),
            "q=bid>=1&limit=2&newest=true&format=csv",
            "q=swapped&limit=2&format=parquet",
            "bid_min=5&swapped=false",
            "order=pot&limit=3",
            "order=price&limit=3&q=auction-won",
            f"order=lost&limit=3&q=player={LYNX}",
            f"q={LYNX}:did=bid_nothing",
            "q=hole=",
            "cursor=none",
        ),
    ),
    "/api/v1/hands/{match}/{number}": of_hands(
        "one hand in every format", "json", "phh", "txt", "ohh", "pokerstars"
    ),
    "/api/v1/hands/{match}/{number}/events": of_hands("each as it is seen", "json", "ndjson"),
    "/api/v1/hands/{match}/{number}/frames": of_hands("what a replayer draws"),
    "/api/v1/hands/{match}/{number}/state": Asked(
        "after every event, and after more than there are; odds are of what is seen",
        HANDS,
        ("json", "txt"),
        queries=tuple(f"at={at}&format={kind}" for at in range(44) for kind in ("json", "txt")),
        first=2,
    ),
    "/api/v1/hands/{match}/{number}/proof": of_hands("lines with stubbed digests", "json", "zip"),
    "/api/v1/hands/{match}/{number}/audit": of_hands(
        "of what is seen", "json", "txt", "html", queries=("ruleset=swap-2022", "ruleset=none")
    ),
    "/api/v1/log/checkpoint": Asked("the signature of the second world is by the first's key"),
    "/api/v1/log/key": Asked("shared by the worlds"),
    "/api/v1/log/tile/entries/{path:path}": Asked(
        "names and digests of stubbed lines", (("000.p/9",), ("000.p/150",), ("none",))
    ),
    "/api/v1/log/tile/{path:path}": Asked(
        "hashes of stubbed lines", (("0/000.p/9",), ("0/000.p/150",), ("1/000.p/1",), ("none",))
    ),
    "/api/v1/log/consistency": Asked(
        "between any two sizes", queries=("from=1", "from=9&to=40", "from=1&format=txt", "from=999")
    ),
    "/api/v1/players": Asked(
        "nets and counts", formats=TABULAR, queries=("limit=2", "cursor=none")
    ),
    "/api/v1/players/{player}": of_players(
        "what he played and won", *TABULAR, queries=("by_tag=bot",)
    ),
    "/api/v1/players/{player}/stats": of_players(
        "k and n of each statistic",
        *TABULAR,
        queries=("split=street", f"vs={LYNX}&field=1", f"as_of=closed-{AUCTION}/3", "by_tag=bot"),
    ),
    "/api/v1/players/{player}/grid": of_players(
        "an opponent's from shown cards", *TABULAR, queries=("by_tag=bot",)
    ),
    "/api/v1/players/{player}/bids": of_players(
        "with the value of a card",
        *TABULAR,
        queries=(
            *(f"match=closed-{AUCTION}", f"vs={LYNX}&hands=1-2", f"as_of=closed-{AUCTION}/2"),
            "by_tag=bot",
        ),
    ),
    "/api/v1/players/{player}/swaps": of_players(
        "with luck", *TABULAR, queries=(f"as_of=closed-{SWAP}/3", "table=rates&format=csv")
    ),
    "/api/v1/players/{player}/winnings": of_players(
        "adjusted, too", *TABULAR, queries=("runouts=500&hands=1-3",)
    ),
    "/api/v1/players/{player}/results": of_players(
        "luck where all cards are known",
        *TABULAR,
        queries=("split=swap", f"vs={LYNX}&adjusted=1&hands=2-9", "by_tag=bot"),
    ),
    "/api/v1/players/{player}/opponent": of_players(
        "every hand is read",
        *TABULAR,
        queries=(
            *(f"vs={LYNX}", "table=faults&format=csv&hands=1-2", f"as_of=closed-{AUCTION}/3"),
            "by_tag=bot",
        ),
    ),
    "/api/v1/players/{player}/gate": of_players(
        "whose nets are public", *TABULAR, queries=(f"other={URSA}", f"other={URSA}&error=20")
    ),
    "/api/v1/players/{player}/compare": of_players(
        "beside another",
        *TABULAR,
        queries=(
            *(f"other={URSA}", f"other={URSA}&match=closed-{AUCTION}"),
            "other=cat&by_tag=bot",
        ),
    ),
    "/api/v1/players/{player}/history": of_players(
        "k and n as they grew", *TABULAR, queries=(f"vs={LYNX}&hands=1-3",)
    ),
    "/api/v1/players/{player}/counters": of_players(
        "as a log has them, swaps too", *TABULAR, queries=(f"match=closed-{SWAP}",)
    ),
    "/api/v1/ratings": Asked(
        "made of nets, which are public",
        formats=TABULAR,
        queries=("league=cup", "by_tag=bot"),
        dear=True,
    ),
    "/api/v1/leagues": Asked("of matches' own records, which are public", formats=TABULAR),
    "/api/v1/leagues/{league}": Asked(
        "results, and pairs of the hands that are seen",
        (("cup",), ("nowhere",)),
        TABULAR,
        queries=("table=pairs&format=csv", "table=matches&format=csv"),
        first=1,
    ),
    "/api/v1/leagues/{league}/{player}/{other}": Asked(
        "as the standing", (("cup", LYNX, URSA), ("cup", URSA, LYNX), ("cup", LYNX, "cat")), TABULAR
    ),
    "/api/v1/games": Asked("made of the code", formats=("json", "ndjson", "csv")),
    "/api/v1/games/{game}": Asked(
        "made of the code, or of the text that a hand which is seen names",
        ((AUCTION,), (f"{AUCTION}.stack-90",), ("none",)),
        ("json", "md"),
    ),
    "/api/v1/exports/{dataset}": Asked(
        "whole files to the byte, their statistics and dictionaries included",
        tuple(
            (one,) for one in ("events", "players", "bids", "swaps", "hands", "pots", "decisions")
        ),
        ("parquet", "arrow", "csv", "ndjson"),
        queries=(f"match={RUNNING}&format=csv", f"as_of=closed-{AUCTION}/2&format=ndjson"),
    ),
    "/api/v1/sql": Asked(
        "rows in an order, which alone is promised",
        formats=(),
        queries=(
            *(f"q={one}" for one in QUESTIONS),
            f"q={QUESTIONS[0]}&format=csv",
            f"q={QUESTIONS[1]}&format=arrow",
            f"q={QUESTIONS[1]}&format=ndjson",
            f"q={QUESTIONS[1]}&format=parquet",
        ),
    ),
    "/": Asked("the last matches and the disputed hands", queries=("judge=yes",)),
    "/matches": Asked("a page", queries=("sort=-hands", "sort=players")),
    "/matches/{match}": Asked(
        "a page", tuple((one,) for one in MATCHES), queries=("verify=true", "as=auditor")
    ),
    "/hands": Asked(
        "a page with its counts",
        queries=(
            *(f"q={one}" for one in ("", *FILTERS[:4], "bid>=1")),
            *(f"q={LYNX}:{one}" for one in ("could=fold_preflop", "did=won", "position=SB")),
            f"q={LYNX}:showdown&order=won",
        ),
    ),
    "/hands/{match}/{number}": of_hands("the page's source, frames included"),
    "/hands/{match}/{number}/audit": of_hands("a page", queries=("ruleset=swap-2022",)),
    "/hands/{match}/{number}/picture": Asked(
        "the felt after every event, and after more than there are",
        HANDS,
        queries=tuple(f"at={at}" for at in range(44)),
        first=2,
    ),
    "/hands/{match}/{number}/events": of_hands("a page with commitments and openings"),
    "/games": Asked("made of the code"),
    "/games/{game}": Asked("as the route has it", ((AUCTION,), ("none",))),
    "/players": Asked("a page", queries=("sort=-net", "by_tag=bot")),
    "/players/{player}": of_players(
        "a page", queries=("split=match&sort=-statistic", "split=tag:bot", "by_tag=bot")
    ),
    "/players/{player}/grid": of_players("a page"),
    "/players/{player}/winnings": of_players(
        "a page, a window of it, and luck",
        queries=("first=2&last=5", "luck=yes", "by_tag=bot&first=2&last=5"),
    ),
    "/players/{player}/bids": of_players("a page", queries=("sort=-value", "by_tag=bot")),
    "/players/{player}/swaps": of_players("a page", queries=("by_tag=bot",)),
    "/players/{player}/opponent": of_players("a page", queries=("hands=1-2", "by_tag=bot")),
    "/find": Asked(
        "goes to what is named, and lists what is called like it",
        queries=(
            *("q=nothing", "q=r", "q=pot>3", "q=/hands", f"q={LYNX}", f"q=closed-{AUCTION}"),
            *(f"q=closed-{AUCTION}/1", f"q={RUNNING}/1", f"q={RUNNING}/2", "as=auditor"),
        ),
    ),
    "/players/{player}/compare": of_players("a page", queries=(f"other={URSA}",)),
    "/players/{player}/gate": of_players("a page", queries=(f"other={URSA}",)),
    "/players/{player}/counters": of_players("a page"),
    "/players/{player}/history": of_players("a page"),
    "/players/{player}/results": of_players("a page", queries=("split=swap",)),
    "/ratings": Asked("a page", dear=True),
    "/leagues": Asked("a page"),
    "/leagues/{league}": Asked("a page", (("cup",), ("nowhere",))),
    "/leagues/{league}/{player}/{other}": Asked(
        "a page", (("cup", LYNX, URSA), ("cup", LYNX, "cat"))
    ),
    "/fairness": Asked("refused to all of these"),
    "/live": Asked("hands that ended; of one match its table and bankrolls", queries=WATCHED),
    "/embed/live": Asked("the same for a frame", queries=WATCHED),
    "/embed/players/{player}/winnings": of_players("a graph for a frame"),
    "/verify": Asked("made of the code"),
}


def addresses(depth: Depth = "all", turn: int = 0) -> list[str]:
    """All that is asked, in the order of the table; `most` and `few` ask each route of a few hands,
    other ones of another route; `some` and `once` leave out what is dear."""
    found = (list(asked.addresses(route, depth, turn)) for route, asked in ROUTES.items())
    return list(dict.fromkeys(address for each in found for address in each))


def _filled(route: str, values: tuple[str, ...]) -> str:
    """A path with these values in the place of its parameters, or behind it if it has none."""
    for value in values:
        begin, brace, rest = route.partition("{")
        route = begin + value + rest.partition("}")[2] if brace else route + value
    return route

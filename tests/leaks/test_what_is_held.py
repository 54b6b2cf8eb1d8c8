"""What the delay holds back is in no answer: a ledger in which more is played answers as one in
which nothing is, to the byte, and goes on to do so while it grows."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pytest
from fastapi import FastAPI
from msgspec.structs import replace

from api.playing.recording import ledger_projections
from engine.games import GAMES
from events.ledger import Append
from events.match import MatchStarted
from store.folder.disk import now_ms
from store.ledger import FileLedger, open_ledger
from tests.exports import start_of
from tests.hands import seeded
from tests.leaks.asked_routes import addresses
from tests.leaks.conftest import Pair
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import AUCTION, LYNX, stubbed
from tests.profiles import sized

DELAY_S = 3_600.0


ASKED = (
    "/",
    "/api/v1/",
    "/api/v1/matches",
    "/api/v1/matches/held",
    f"/api/v1/matches/closed-{AUCTION}/root",
    "/api/v1/hands?newest=true&limit=5&facets=1",
    "/api/v1/hands?q=hand>=held/1&facets=1",
    "/api/v1/hands?q=!hand<held/1 | !hand=held/1&facets=1",
    f"/api/v1/hands?q=hand>closed-{AUCTION}/1&limit=5&facets=1",
    "/api/v1/hands/held/1",
    "/api/v1/jobs",
    f"/api/v1/hands/closed-{AUCTION}/1/proof",
    f"/api/v1/hands/closed-{AUCTION}/1/proof?format=zip",
    "/api/v1/log/checkpoint",
    "/api/v1/log/consistency?from=1",
    "/api/v1/log/tile/entries/000.p/91",
    "/api/v1/log/tile/entries/000.p/92",
    "/api/v1/log/tile/0/000.p/91",
    "/api/v1/log/tile/0/000.p/92",
    "/api/v1/players",
    "/api/v1/players/boar",
    f"/api/v1/players/{LYNX}/stats",
    f"/players/{LYNX}/winnings?first=2&last=1000",
    "/matches/held",
    f"/matches/closed-{AUCTION}",
    "/api/v1/exports/hands?format=parquet",
    "/api/v1/sql?q=SELECT count(*) FROM events",
    "/api/v1/stream?after=start&until=now&match=held",
    "/api/v1/stream?after=held/1:3p&until=now",
    "/live",
)


class Worlds(NamedTuple):
    """A ledger, and its copy in which a match goes on between players of which one is LYNX."""

    quiet: FastAPI
    lively: FastAPI
    writer: FileLedger


def played(ledger: FileLedger, number: int) -> None:
    """One more hand of a match that is being played now."""
    hand = f"held/{number}"
    record = seeded(GAMES[AUCTION], hand).record
    start = start_of(record)
    if number == 1:
        players = ("boar", LYNX)
        told = MatchStarted(
            "held", start.game, start.ruleset, players, "seeded", "open", sealed_bids=True
        )
        ledger.append(Append("held", 0, (told,), now_ms()))
    names = ("boar", LYNX, *start.players[2:])
    first = replace(start, hand=hand, players=names)
    ledger.append(Append(hand, 0, (first, *record[1:]), now_ms()))


@pytest.fixture(scope="module")
def copies(
    pair_of: Callable[[str], Pair], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worlds]:
    """Both with the same secrets, and with a memory of their own: the writer of each time that they
    are copied goes another way."""
    with stubbed(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        folder = pair_of("public").folders[0]
        quiet, lively = (tmp_path_factory.mktemp("held") / name for name in ("quiet", "lively"))
        shutil.copytree(folder, quiet)
        writer, lock = open_ledger(quiet, "a test", ledger_projections(quiet))
        writer.close()  # the hand that was left open is void now, in both
        lock.release()
        shutil.copytree(quiet, lively)
        writer, lock = open_ledger(lively, "a test", ledger_projections(lively))
        played(writer, 1)
        yield Worlds(door(quiet, delay_s=DELAY_S), door(lively, delay_s=DELAY_S), writer)
        writer.close()
        lock.release()


@pytest.mark.parametrize(
    ("name", "asked"),
    sized(
        [("public", ASKED[::2])],
        [("public", ASKED[::2]), ("a player", ASKED[1::2])],
        [("public", ASKED), ("a player", ASKED)],
    ),
    ids=lambda it: it if isinstance(it, str) else len(it),
)
def test_nothing_tells_that_a_match_goes_on(
    name: str, asked: Sequence[str], copies: Worlds, pair_of: Callable[[str], Pair]
) -> None:
    _told_alike(asked, name, copies, pair_of(name).key)


@pytest.mark.slow
def test_no_route_does(copies: Worlds, public: Pair) -> None:
    every = [it for it in addresses("some") if it != "/metrics"]  # which counts who asks
    _told_alike(every, "slow", copies, public.key)


def _told_alike(addresses: Sequence[str], name: str, copies: Worlds, key: str | None) -> None:
    """Asked again after each hand, sealed or not: in all that is told there is only what was. One
    hand was played before the first time."""
    expected = answers(copies.quiet, addresses, key)
    for number in range(sized(1, 1, 2)):
        assert expected == answers(copies.lively, addresses, key)
        played(copies.writer, 10 * number + 100 * len(name))
        if not number:
            copies.writer.seal()
    assert expected == answers(copies.lively, addresses, key)


def test_an_auditor_is_told(copies: Worlds, public: Pair) -> None:
    """Else nothing here would prove anything."""
    played(copies.writer, 3)
    copies.writer.seal()
    asked = ["/api/v1/matches", "/api/v1/log/checkpoint", "/api/v1/hands/held/1", "/live"]
    here, there = (answers(app, asked, public.auditor) for app in copies[:2])
    assert [] == [it for it, one, other in zip(asked, here, there, strict=True) if one == other]

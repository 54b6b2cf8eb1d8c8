"""Two ledgers that differ only in what a viewer may not see: every route of a hand answers alike.

Commitments are of values that differ, and their nonces of places that differ where one world has a
fault that nobody sees: both are stubbed, and so is nothing else. Keys are the same in both.
"""

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.playing.recording import ledger_projections
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events import types as t
from events.ledger import Append
from events.lines import Nonces
from events.match import Disclosure
from events.types import Events
from events.views import Public, Seated, Viewpoint
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.proof.ledger_secrets import LOG
from tests.exports import start_of, started
from tests.hands import seeded
from tests.http.clients import Site, site_of
from tests.profiles import sized
from tests.worlds import other_world

AT = 1_790_000_000_000
HANDS: tuple[tuple[str, str, Disclosure], ...] = (
    ("auction-2024", "1", "sealed"),
    ("auction-2024", "4", "open-after-match"),
    ("swap-2022", "0", "sealed"),
    ("site-nl-standard", "2", "sealed"),
    ("urcs-1998", "0", "sealed"),
)
HAND = (
    *("", "?format=txt", "?format=phh", "/events", "/events?format=ndjson", "/frames"),
    *("/state", "/state?at=5", "/state?at=999", "/proof", "/proof?format=zip"),
    *("/audit", "/audit?format=txt", "/audit?ruleset=site-nl"),
)
PATHS = (
    *(f"/hands/m/1{path}" for path in HAND),
    "/hands",
    "/hands?format=csv&facets=1",
    "/hands?format=parquet",
    "/hands?format=arrow&newest=true",
    "/hands?showdown=true&min_pot=1",
    "/hands?q=hole=AA",
    "/hands?q=verdict=agree",
    "/hands?bid_min=3&swapped=true",
    "/matches",
    "/matches?format=csv",
    "/matches/m",
    "/matches/m/root",
    "/matches/m/verify",
    "/log/checkpoint",
    "/log/tile/0/000.p/2",
    "/log/tile/entries/000.p/2",
    "/log/consistency?from=1",
)


@pytest.fixture(autouse=True)
def stubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every commitment and nonce is the same."""
    monkeypatch.setattr("events.lines.commitment", lambda nonce, value: "0" * 64)
    monkeypatch.setattr(Nonces, "of", lambda self, stream, index, field, value: bytes(32))


@pytest.mark.parametrize(("game", "seed", "disclosure"), sized(HANDS[1:3], HANDS[2::2], HANDS))
def test_no_answer_tells_one_world_from_the_other(
    tmp_path: Path, game: str, seed: str, disclosure: Disclosure
) -> None:
    record = _renamed(seeded(GAMES[game], seed).record)
    both: tuple[Viewpoint, ...] = (Public(), Seated(0))
    for who in sized(both[:1] if disclosure == "sealed" else both[1:], both):
        view = "public" if isinstance(who, Public) else f"seat:{start_of(record).players[0]}"
        worlds = (record, other_world(record, who, random.Random(seed)))
        folder = tmp_path / view.partition(":")[0]
        sites = [_kept(folder / str(at), it, disclosure) for at, it in enumerate(worlds)]
        for path, one, other in _answers(sites, view):
            assert one == other, f"{path} as {view}"


def test_worlds_are_told_apart_by_who_may_see_them(tmp_path: Path) -> None:
    record = _renamed(seeded(GAMES["auction-2024"], "1").record)
    worlds = (record, other_world(record, Public(), random.Random(3)))
    sites = [_kept(tmp_path / str(at), it, "sealed") for at, it in enumerate(worlds)]
    paths = ("/hands/m/1", "/hands/m/1/events", "/hands/m/1/frames", "/hands/m/1/proof")
    for path, one, other in _answers(sites, "auditor", paths):
        assert one != other, path


def _answers(
    sites: list[Site], view: str, paths: Sequence[str] = PATHS
) -> Iterator[tuple[str, object, object]]:
    """What both are answered: status, headers and body."""
    clients = [site.as_("auditor") for site in sites]
    for path in paths:
        told: list[object] = []
        for client in clients:
            sign = "&" if "?" in path else "?"
            answer = client.get(f"/api/v1{path}{sign}as={view}")
            headers = {
                name: value for name, value in answer.headers.items() if name not in _OF_ITS_OWN
            }
            assert answer.status_code < 500, path
            told.append((answer.status_code, headers, answer.content))
        yield path, told[0], told[1]


_OF_ITS_OWN = ("x-request-id", "date", "ratelimit", "ratelimit-policy", "server-timing")


def _kept(folder: Path, record: Events, disclosure: Disclosure) -> Site:
    """A ledger of one hand of a match that goes on; the second one has the keys of the first."""
    first = folder.parent / "0" / "private"
    if first.exists():
        folder.mkdir(parents=True)
        no_marks = shutil.ignore_patterns(LOG)  # they are the other ledger's: this one begins anew
        shutil.copytree(first, folder / "private", ignore=no_marks)
    apart = CheckpointMemory(folder.with_name(f"{folder.name}.witness"))  # worlds have the same key
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder), apart)
    start = start_of(record)
    game = GAMES[start.game]
    ledger.keep_ruleset(fingerprint(game), to_json(game))
    ledger.append(Append("m", 0, (started(record, disclosure=disclosure),), AT))
    ledger.append(Append("m/1", 0, record, AT + 1000))
    ledger.close()
    lock.release()
    return site_of(folder, delay_s=0.0)


def _renamed(record: Events) -> Events:
    """The hand as the first of the match m, over if it is not."""
    start = replace(start_of(record), hand="m/1")
    over = any(isinstance(event, t.HandEnded | t.HandVoided) for event in record)
    return (start, *record[1:], *(() if over else (t.HandVoided("enough"),)))

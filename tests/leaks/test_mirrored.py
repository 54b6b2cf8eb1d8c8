"""Nobody deduces a card of a mirrored match that is sealed from its other leg.

The seats that hold a pair of cards in one leg hold it in every other. So who is told what was shown
in one, or what one player held there, knows what another folded here. The attack is made at every
door; of a match that is told whole or not at all it finds nothing before it is open.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI

from api.cli.output import FORBIDDEN
from api.evidence.bundle import NoEvidence, make_bundle
from api.http.credentials import Keys
from api.main import main
from api.playing.matches import MatchTerms, begin_match, play_here
from api.playing.recording import ledger_projections
from api.viewpoints.redaction import withheld_sentence
from dealer.play import Plan, plan
from engine.games import GAMES
from events.match import Disclosure
from events.types import HoleDealt
from events.views import MatchOpenness
from store.ledger import open_ledger
from store.log.streams import split_stream
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import as_they_are
from tests.profiles import sized

HANDS = 12


class Kind(NamedTuple):
    """A match: its game, players, disclosure, and whether it has ended."""

    game: str
    players: int
    disclosure: Disclosure
    ended: bool


WITHHELD = {
    "pair": Kind("auction-2024-mit", 2, "sealed", ended=True),
    "swaps": Kind("swap-2022-mit", 2, "sealed", ended=True),
    "round": Kind("site-nl", 3, "sealed", ended=True),
    "going": Kind("auction-2024-mit", 2, "open-after-match", ended=False),
    "early": Kind("auction-2024-mit", 2, "open", ended=False),
}
OPENED = Kind("auction-2024-mit", 2, "open-after-match", ended=True)
Held = dict[tuple[str, int], tuple[str, ...]]  # by hand and seat
VIEWS = ("public", "seat:random-0", "seat:random-1", "seat:random-2")
# A seat of each kind: the first two play in every match, the third in one.
ASKING = sized((VIEWS[0], VIEWS[3]), (VIEWS[0], VIEWS[2], VIEWS[3]), VIEWS)
EVERYWHERE = (
    "/api/v1/hands?facets=1&limit=1000",
    "/api/v1/stream?after=start&until=now&format=ndjson",
    *(
        f"/api/v1/exports/{name}?format=ndjson"
        for name in ("events", "hands", "players", "bids", "swaps", "pots", "decisions")
    ),
    "/api/v1/sql?q=SELECT * FROM events",
    "/api/v1/sql?q=SELECT * FROM players",
    "/api/v1/sql?q=SELECT * FROM hands",
    "/api/v1/players",
    "/api/v1/players/random-0/grid",
    "/api/v1/players/random-0/stats",
    "/api/v1/players/random-0/bids",
    "/api/v1/players/random-0/swaps",
    "/api/v1/players/random-0/winnings?runouts=500",
    "/hands",
    "/live",
    "/players/random-0/grid",
)
OF_A_HAND = (
    *(f"/api/v1/hands/{{}}{it}" for it in ("", "?format=txt", "?format=phh", "/events", "/frames")),
    "/api/v1/hands/{}/state?at=5",
    "/api/v1/hands/{}/audit",
    "/api/v1/hands/{}/proof",
    "/api/v1/hands/{}/proof?format=zip",
    "/hands/{}",
    "/hands/{}/audit",
    "/hands/{}/events",
)


class Played(NamedTuple):
    """The ledger, an application over it, and everybody's key by viewpoint."""

    folder: Path
    app: FastAPI
    keys: dict[str, str | None]


@pytest.fixture(autouse=True)
def real_commitments() -> Iterator[None]:
    """Nothing is compared with another world here."""
    with as_they_are():
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Matches in which decks are dealt to every player in turn; two are being played."""
    folder = tmp_path_factory.mktemp("mirrored") / "ledger"
    with as_they_are():
        ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
        for name, kind in {**WITHHELD, "opened": OPENED}.items():
            match = begin_match(
                ledger, SecretFolder(folder), _plan(name, kind), MatchTerms("seeded", *kind[2:3])
            )
            assert HANDS == sum(1 for _ in play_here(match, lambda: False))
            if kind.ended:
                match.end()
        ledger.close()
        lock.release()
    made = Keys(folder)
    keys = {view: made.make((view,), view)[1] for view in VIEWS[1:]}
    keys["auditor"] = made.make(("audit:read",), "auditor")[1]
    app = door(folder)
    yield Played(folder, app, {"public": None, **keys})
    app.state.service.close()


def _plan(name: str, kind: Kind) -> Plan:
    bots = ("random",) * kind.players
    return plan(GAMES[kind.game], name, HANDS, f"seed of {name}", bots, mirrored=True)


def told(played: Played, view: str, doors: Sequence[str] = EVERYWHERE) -> Held:
    """The hole cards that anybody finds in all that a viewpoint is answered, by hand and seat."""
    hands = [f"{match}/{number}" for match in WITHHELD for number in range(1, HANDS + 1)]
    asked = [
        *doors,
        *(it.format(hand) for hand in hands[:: sized(10, 10, 5)] for it in OF_A_HAND[:5]),
    ]
    found: Held = {}
    for address, answer in zip(asked, answers(played.app, asked, played.keys[view]), strict=True):
        assert answer.status in (200, 404, 406), (address, answer)
        for document in _documents(answer.body.decode(errors="replace")):
            _gather(document, "", found)
    return {place: cards for place, cards in found.items() if split_stream(place[0])[0] in WITHHELD}


def _documents(text: str) -> Iterator[Any]:
    """JSON, whole or line by line."""
    try:
        yield json.loads(text)
    except ValueError:
        for line in text.splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def _gather(said: Any, hand: str, found: Held) -> None:
    """Cards of a seat, wherever they stand: dealt, shown, in a column, in an opened commitment."""
    if isinstance(said, list):
        for one in said:
            _gather(one, hand, found)
    if not isinstance(said, dict):
        return
    named = said.get("hand")
    hand = named if isinstance(named, str) else hand
    cards = said.get("hole", said.get("cards"))
    words = re.findall(r"\b[2-9TJQKA][cdhs]\b", json.dumps(cards))
    if isinstance(said.get("seat"), int) and len(words) == 2:  # a third card was won, or swapped
        found[hand, said["seat"]] = tuple(words)
    for one in said.values():
        _gather(one, hand, found)


def deduced(known: Held) -> Held:
    """What was told of one leg, said of the other legs of its deck."""
    found: Held = {}
    for (hand, seat), cards in known.items():
        match, number = split_stream(hand)
        assert number is not None
        deals = WITHHELD[match].players
        first = number - (number - 1) % deals
        for leg in range(first, first + deals):
            if (f"{match}/{leg}", seat) not in known:
                found[f"{match}/{leg}", seat] = cards
    return found


def dealt(folder: Path) -> Held:
    """The truth."""
    snapshot, found = Reader(folder).snapshot(), Held()
    for match in WITHHELD:
        for number in range(1, HANDS + 1):
            hand = f"{match}/{number}"
            for one in snapshot.read(hand):
                if isinstance(one.event, HoleDealt) and len(one.event.cards) == 2:
                    found.setdefault((hand, one.event.seat), one.event.cards)
    return found


@pytest.mark.parametrize("view", ASKING)
def test_no_card_is_deduced_from_the_other_leg(view: str, played: Played) -> None:
    known = told(played, view)
    assert {} == deduced(known)
    assert {} == known


@pytest.mark.parametrize("view", sized(VIEWS[:1], VIEWS[1:2], VIEWS[:2]))
def test_legs_that_are_told_one_by_one_give_each_other_away(
    view: str, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack succeeds as soon as one door tells a leg; else nothing above would prove it."""
    told_at_once = MatchOpenness(hands=False, secrets=False, withheld=False)
    monkeypatch.setattr("api.viewpoints.redaction.opened_by", lambda records: told_at_once)
    app = door(played.folder)
    found = deduced(told(played._replace(app=app), view, sized(EVERYWHERE[:4], EVERYWHERE)))
    app.state.service.close()
    truth = dealt(played.folder)
    assert len(found) > 3
    assert found == {place: truth[place] for place in found}


@pytest.mark.parametrize("view", VIEWS[:2])
def test_a_hand_is_refused_with_the_reason(view: str, played: Played) -> None:
    """At every door to one hand, whether or not there is one of that number."""
    key = played.keys[view]
    for match in WITHHELD:
        asked = [it.format(f"{match}/{number}") for number in (1, 2, 999) for it in OF_A_HAND]
        for address, answer in zip(asked, answers(played.app, asked, key), strict=True):
            assert 404 == answer.status, address
            assert b"is a mirrored match" in answer.body, address
    assert (True, False) == tuple(_match(played, "early")[it] for it in ("withheld", "open"))
    assert (False, True) == tuple(_match(played, "opened")[it] for it in ("withheld", "open"))


def _match(played: Played, name: str) -> dict[str, Any]:
    (answer,) = answers(played.app, [f"/api/v1/matches/{name}"])
    said: dict[str, Any] = json.loads(answer.body)
    return said


@pytest.mark.parametrize("view", VIEWS[:2])
def test_no_bundle_is_made_and_no_command_tells(
    view: str, played: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = ("--ledger", str(played.folder), "--as", view)
    snapshot = Reader(played.folder).snapshot()
    for match in WITHHELD:
        hand = f"{match}/1"
        with pytest.raises(NoEvidence, match="is a mirrored match"):
            make_bundle(snapshot, hand, view if match != "round" else "public")
        for words in (
            ("replay", hand),
            ("export", hand, "--to", "phh"),
            ("audit", hand, "--evidence", str(tmp_path / "hand.zip")),
        ):
            assert FORBIDDEN == main([*words, *ledger]), words
            out, err = capsys.readouterr()
            assert "" == out
            assert withheld_sentence(match) in err
    assert [] == list(tmp_path.iterdir())
    assert 0 == main(["export", "pair", "--to", "csv", "--table", "players", *ledger])
    assert 1 == len(capsys.readouterr().out.splitlines())


def test_a_place_in_what_nobody_was_told_is_no_place(played: Played) -> None:
    asked = [f"/api/v1/stream?after={it}&until=now" for it in ("pair/1:3p", "pair/1:3s", "pair:1p")]
    seen = answers(played.app, asked, played.keys["seat:random-0"])
    assert [400, 400, 200] == [one.status for one in seen]


def test_when_it_is_over_and_open_it_is_told_whole(played: Played) -> None:
    """To the public, the auditor's view; and an auditor is told all of every match at any time."""
    asked = [f"/api/v1/hands/opened/{number}/events" for number in range(1, HANDS + 1)]
    public = answers(played.app, asked)
    assert [200] * HANDS == [one.status for one in public]
    cards: Held = {}
    for one in public:
        for document in _documents(one.body.decode()):
            _gather(document, "", cards)
    assert 2 * HANDS == len(cards)
    whole = told(played, "auditor", EVERYWHERE[:3])
    assert dealt(played.folder).keys() <= whole.keys()

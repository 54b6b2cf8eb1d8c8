"""What an answer is about: as long as its digest is the same, so is every byte of it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.playing.recording import ledger_projections
from api.serving.answer_cache import AnswerHands, hands_of_scope, scope_of_answer
from api.viewpoints.viewer import Viewer
from engine.game import fingerprint
from engine.games import GAMES
from events.ledger import Append
from events.match import MatchEnded, MatchStarted, Tagged
from events.types import HandStarted
from store.ledger import open_ledger
from tests.http import ledgers
from tests.http.clients import site_of
from tests.profiles import sized

LATER = ledgers.AT + 3_600_000
CUP = "cup.1.lynx.ursa"
OWN = (
    "/players/lynx/grid",
    "/players/lynx/winnings",
    "/players/lynx/winnings?match=auction&hands=1-5",
    "/players/lynx/counters",
    "/players/lynx/history",
    "/players/lynx/gate?other=ursa",
    "/players/lynx?split=position",
    "/api/v1/players/lynx",
    "/api/v1/players/lynx/stats",
    "/embed/players/lynx/winnings",
    *sized(
        (),
        (
            "/players/lynx/bids",
            "/players/lynx/swaps",
            "/players/lynx/opponent",
            "/players/lynx/results?spots=3",
            "/players/lynx/winnings?luck=yes",
        ),
    ),
)
WHOLE = (
    "/players/lynx",
    "/players/lynx?match=auction",
    "/players/lynx/compare",
    "/players/lynx/compare?other=ursa",
    "/players/lynx/grid?as_of=holdem/3",
    "/api/v1/players/lynx/stats?field=true",
    "/players",
    "/ratings",
    "/leagues",
    "/hands?counts=now",
    "/hands?q=pot%3E10&counts=now",
    "/api/v1/hands?facets=1",
)
LEAGUE = ("/leagues/cup", "/leagues/cup/lynx/ursa", "/api/v1/leagues/cup")
EYES = {None: "public", "lynx": "seat:lynx", "auditor": "auditor"}


STEPS = {  # what comes to be, one after the other, and whose answers are others then
    "a hand of others": ("whole",),
    "more of a hand that goes on": (),
    "the end of that hand": ("own", "whole"),
    "cards that are published": ("own", "whole"),
    "a tag in a match of others": ("own", "whole"),
    "a match of the league": ("own", "whole", "league"),
}


def grown(folder: Path) -> Iterator[str]:
    """The steps, each as it has been taken, by one writer; first there is nothing but him."""
    going_on = _hand("running", *ledgers.PLAYERS, number=6)
    begun = replace(going_on, events=going_on.events[:6])
    rest = replace(going_on, expected=6, events=going_on.events[6:])
    taken: tuple[tuple[Append, ...], ...] = (
        (),
        (_announced("theirs", "cat", "dog"), _hand("theirs", "cat", "dog")),
        (begun,),
        (rest,),
        (Append("running", 1, (MatchEnded((0, 0), "over"),), LATER),),
        (Append("theirs", 1, (Tagged("lynx", "version", "2"),), LATER),),
        (
            _announced(CUP, *ledgers.PLAYERS),
            _hand(CUP, *ledgers.PLAYERS),
            Append(CUP, 1, (MatchEnded((1, -1), "over"),), LATER),
        ),
    )
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    try:
        for name, appends in zip(("", *STEPS), taken, strict=True):
            ledger.append(*appends)
            yield name
    finally:
        ledger.close()
        lock.release()


def _announced(match: str, *players: str) -> Append:
    game = GAMES["auction-2024-mit"]
    start = MatchStarted(
        match, game.name, fingerprint(game), players, "recorded", "sealed", sealed_bids=True
    )
    return Append(match, 0, (start,), LATER)


def _hand(match: str, *players: str, number: int = 1) -> Append:
    start, *rest = ledgers.records("auction")[0]
    assert isinstance(start, HandStarted)
    hand = f"{match}/{number}"
    return Append(hand, 0, (replace(start, hand=hand, players=players), *rest), LATER)


def digests(folder: Path, view: str, addresses: Iterable[str]) -> dict[str, str]:
    """What each answer is about, as this viewer is told."""
    service, found = LedgerService(Settings(folder, delay_s=0)), {}
    try:
        with service.viewed(Viewer(view)) as viewed:
            for one in addresses:
                path, _, query = one.partition("?")
                of = scope_of_answer(path, query)
                assert of is not None
                found[one] = hands_of_scope(viewed, of).digest
    finally:
        service.close()
    return found


KINDS = {"own": OWN, "whole": WHOLE, "league": LEAGUE}
EVERY = slice(None)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("who", "part"),
    sized(
        [("lynx", slice(1, None, 5))],
        [("lynx", slice(1, None, 5))],
        [(who, EVERY) for who in EYES],
    ),
)
def test_an_answer_is_the_same_as_long_as_its_hands_are(
    who: str | None, part: slice, own: Path
) -> None:
    """To the byte; and it is made anew when something of its own comes, not for others' hands.

    What is another before a step and after it is compared with nothing, and not asked for."""
    view = EYES[who]
    of_kind = {kind: addresses[part] for kind, addresses in KINDS.items()}
    every = {one for addresses in of_kind.values() for one in addresses}
    steps = ({one for kind in kinds for one in of_kind[kind]} for kinds in STEPS.values())
    anew = [every, *steps, every]
    before: dict[str, str] = {}
    bodies: dict[str, str] = {}
    compared = 0
    for place, step in enumerate(grown(own)):
        now = digests(own, view, sorted(every))
        assert anew[place] == {one for one in now if now[one] != before.get(one)}, step
        after = asked(own, who, sorted(every - (anew[place] & anew[place + 1])))
        same = every - anew[place]
        assert [] == [one for one in same if after[one] != bodies[one]], step
        compared += len(same)
        before, bodies = now, after
    counts = {kind: len(addresses) for kind, addresses in of_kind.items()}
    assert 2 * counts["own"] + counts["whole"] + 5 * counts["league"] == compared


def asked(folder: Path, who: str | None, addresses: Iterable[str]) -> dict[str, str]:
    """What a server says that makes every answer itself."""
    site = site_of(folder, delay_s=0, limits=Limits(rate=0, page_processes=0))
    with site.as_(who) as client:
        return {one: client.get(one).text for one in addresses}


def test_hands_are_counted_by_whom_and_what_an_address_is_about(house: Path) -> None:
    service = LedgerService(Settings(house))
    try:
        with service.viewed(Viewer("auditor")) as viewed:
            counted = {
                one: hands_of_scope(viewed, scope_of_answer(*one.split("?"))).hands  # type: ignore[arg-type]
                for one in (
                    "/players/lynx/bids?",
                    "/players/lynx/bids?match=holdem",
                    "/players/nobody/bids?",
                    "/players?",
                    "/leagues/cup?",
                )
            }
    finally:
        service.close()
    assert [52, 12, 0, 52, 0] == list(counted.values())


def test_what_is_never_heavy_is_not_looked_up() -> None:
    for path in ("/matches", "/hands/holdem/1", "/games", "/live", "/static/style.css"):
        assert scope_of_answer(path, "") is None
    assert scope_of_answer("/hands", "q=pot>") is None  # no filter: the page says so


def test_what_is_light_is_heavy_for_hands_to_judge_and_for_counting_them() -> None:
    limits = Limits(heavy_judged=5, heavy_spread=10)
    for address, hands, judged, heavy in (
        ("/", 10**6, 4, False),
        ("/", 0, 5, True),
        ("/matches/a%2Fb", 10**6, 0, False),
        ("/matches/a%2Fb?verify=yes", 0, 0, True),
        ("/api/v1/matches/m/verify", 0, 0, True),
        ("/api/v1/fairness?match=m", 0, 0, True),
        ("/fairness", 0, 0, True),
        ("/hands?q=pot%3E1", 10**6, 0, False),
        ("/hands?q=pot%3E1&counts=now", 10, 0, True),
        ("/hands?q=pot%3E1&counts=now", 9, 0, False),
        ("/api/v1/hands?facets=true", 10, 0, True),
    ):
        path, _, query = address.partition("?")
        of = scope_of_answer(path, query)
        assert of is not None
        own = AnswerHands(hands, "", judged, of.verified or of.tested)
        assert heavy == of.is_heavy(own, limits), address
        if of.verified and of.match is not None:  # asked by who may not
            assert not of.is_heavy(own._replace(verified=False), limits)
        assert ("a/b" if "matches/a" in path else None) == (of.match if "/m/" not in path else None)


def test_a_player_is_called_as_the_address_says() -> None:
    found = scope_of_answer("/players/a%2Fb%20c/bids", "match=x&match=y")
    assert found is not None
    assert ("a/b c", "y") == (found.player, found.match)

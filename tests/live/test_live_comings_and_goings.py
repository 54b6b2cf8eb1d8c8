"""Whatever players do, and whenever: chips stay, records hold, blinds are where they must be."""

import random
from collections.abc import Callable
from itertools import chain
from typing import cast

import pytest
from msgspec.structs import replace

from dealer.live.clock import (
    Answered,
    ConnectionBack,
    ConnectionLost,
    Joins,
    Leaves,
    Question,
    Returns,
    SitsOut,
    TableEvent,
    TopsUp,
)
from dealer.live.table import with_site_clock
from engine.audit import audit
from engine.game import Game
from engine.games import GAMES
from engine.table import Table
from engine.turn import Check, Fold, TimeOut
from events.evolve import replay
from events.types import BlindPosted, Events, HandStarted
from tests.live.stepped import NAMES, Scene, chips_in
from tests.profiles import sized

# Nobody comes or goes in a freeze-out.
CLOCKED = [replace(with_site_clock(game), broke="set_anew") for game in GAMES.values()]
WILD = [
    *CLOCKED,
    *(replace(game, button="dead") for game in CLOCKED if game.name in ("site-nl", "site-fl")),
    *(replace(game, broke="buys_in") for game in CLOCKED if game.name in ("site-pl", "urcs-1998")),
]


@pytest.mark.parametrize("seed", sized(("1",), ("1", "2", "3")))
@pytest.mark.parametrize("game", WILD, ids=lambda game: f"{game.name}-{game.button}-{game.broke}")
def test_chips_are_conserved_across_joins_and_leaves(game: Game, seed: str) -> None:
    """All that was bought is at the table, was taken away, or is the house's; and no record is
    anything but what its rules pay."""
    scene = _wild(game, seed)
    table, played = scene.table, 0
    for _ in range(25):
        if not table.ready(scene.clock.now + 60_000):
            _all_come_back(scene)
            continue
        played += 1
        playing = table.hand()
        record = next(playing)
        _blinds_are_where_the_table_has_them(table.seats.table, record)
        record += tuple(chain.from_iterable(playing))
        assert record == tuple(one.event for one in scene.recorded(played))
        assert audit(game, record) is None
        hand = replay(record)
        assert sum(hand.start.stacks) == sum(hand.stacks) + hand.rake
        if game.stacks == "carried":
            assert table.seats.bought == chips_in(table.seats) + table.seats.taken + table.raked
    assert played > 8


def _blinds_are_where_the_table_has_them(table: Table, opening: Events) -> None:
    """What is posted follows from the button alone, and the table moves blinds by chairs."""
    start = cast(HandStarted, opening[0])
    for event in opening:
        if isinstance(event, BlindPosted) and event.kind in ("small", "big"):
            chair = table.small if event.kind == "small" else table.big
            one = table.chairs[chair] if chair is not None else None
            assert one is not None
            assert one.player == start.players[event.seat]


def test_news_of_every_kind_come_at_every_kind_of_moment() -> None:
    """The test above is worth what it tries: here is what it tried at one table."""
    scene = _wild(with_site_clock(GAMES["site-nl"]), "1")
    kinds: set[str] = set()
    for _ in range(25):
        if scene.table.ready(scene.clock.now + 60_000):
            kinds |= {type(event).__name__ for event in scene.hand()}
        else:
            _all_come_back(scene)
    assert {"TimedOut", "Disconnected", "Reconnected", "BlindPosted"} <= kinds
    started = [one.event for one in scene.ledger.read_from(0) if isinstance(one.event, HandStarted)]
    assert 3 < len({event.players for event in started})
    assert any(sitter.refusals for sitter in scene.sitters.values())


def _wild(game: Game, seed: str) -> Scene:
    """Players who answer early, late, twice, nonsense or never, and come and go as they please."""
    rng = random.Random(f"{seed}/{game.name}")
    chairs = min(6, game.seats_max)
    scene = Scene(game, (game.stack,) * chairs, bot="random")
    for name in NAMES[:chairs]:
        scene.plans[name] = _moody(scene, name, rng)
    return scene


def _all_come_back(scene: Scene) -> None:
    """A table that came to a stop is filled again, by whoever may."""
    for chair, name in enumerate(scene.sitters):
        scene.clock.send(ConnectionBack(name))
        scene.clock.send(Joins(name, chair, scene.game.stack))
        scene.clock.send(TopsUp(name, 500))
        scene.clock.send(Returns(name))


def _moody(scene: Scene, name: str, rng: random.Random) -> Callable[[Question], None]:
    usual = scene.answers(name)

    def plan(question: Question) -> None:
        if rng.random() < 0.2:
            scene.clock.send(_mood(scene, rng), rng.randrange(40_000))
        roll = rng.random()
        if roll < 0.06:
            scene.says(name, question, TimeOut(question.seen.seat))
        if roll < 0.12:
            seat = rng.randrange(3)
            scene.says(name, question, rng.choice((Check(seat), Fold(seat))), 500)
        elif roll < 0.18:
            scene.clock.send(ConnectionLost(name), rng.randrange(20_000))
            scene.clock.send(ConnectionBack(name), rng.randrange(90_000))
        elif roll > 0.94:
            return
        usual(question)

    return plan


def _mood(scene: Scene, rng: random.Random) -> TableEvent:
    name = rng.choice(list(scene.sitters))
    chips = scene.game.stack if scene.game.stacks == "reset" else rng.choice([3, 40, 900])
    chair = rng.randrange(len(scene.table.seats.table.chairs))
    posts = rng.random() < 0.5
    kinds: list[TableEvent] = [
        Leaves(name),
        Joins(name, chair, chips, posts),
        Joins(name, chair, chips),
        SitsOut(name),
        Returns(name, posts),
        TopsUp(name, chips),
        ConnectionLost(name),
        ConnectionBack(name),
        Answered(name, rng.randrange(100), Fold(0)),
    ]
    return rng.choice(kinds)

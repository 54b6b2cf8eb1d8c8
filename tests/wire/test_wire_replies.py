"""Whatever bots reply, a match is played by the rules; a bot's clock runs until it replies."""

import random
import time
from threading import Timer

import pytest

from dealer.deck import SeededDecks
from dealer.wire.match import play
from dealer.wire.player import Connection, Reply
from dealer.wire.protocol import wire_plan
from engine.audit import audit
from engine.games import GAMES
from tests.wire.links import pair

WORDS = ("K", "K", "K", "C", "C", "C", "F", "R4", "R9", "R400", "A0", "A3", "A3", "Rx", "", "k")


class Erratic:
    """Replies at random, sometimes late or not at all."""

    def __init__(self, seed: str) -> None:
        self._draw = random.Random(seed)

    def ask(self, told: str) -> Reply | None:
        chance = self._draw.random()
        if chance < 0.01:
            return Reply("", "late")
        return None if chance > 0.99 else Reply(self._draw.choice(WORDS))


@pytest.mark.parametrize("game", ["auction-2024-mit", "swap-2022-mit"])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_bots_reply_the_record_is_what_the_rules_decide(
    game: str, mirrored: bool, seed: int
) -> None:
    bots = (Erratic(f"{seed}/a"), Erratic(f"{seed}/b"))
    shown = seed % 2 == 1
    match = wire_plan(GAMES[game], "m", ("a", "b"), 20, mirrored=mirrored, open_bids=shown)
    decks = SeededDecks(str(seed), match.deals)
    hands = [hand for leg in match.legs for hand in play(match, leg, decks, bots)]
    assert [None] * 20 == [audit(match.game, hand.record) for hand in hands]


def test_a_bot_is_charged_for_what_it_thinks() -> None:
    ours, theirs = pair()
    with theirs:
        link = Connection(ours, 100)
        begun = time.perf_counter()
        Timer(0.2, theirs.sendall, (b"K\n",)).start()
        assert b"K" == link.ask(b"?\n", 5)
        assert 0.18 <= link.arrived - begun
        link.close()


def test_a_reply_that_was_there_is_not_charged() -> None:
    ours, theirs = pair()
    with theirs:
        link = Connection(ours, 100)
        theirs.sendall(b"K\nK\n")
        assert b"K" == link.ask(b"?\n", 1)
        begun = time.perf_counter()
        assert b"K" == link.ask(b"?\n", 1)
        assert link.arrived - begun < 0.1
        link.close()

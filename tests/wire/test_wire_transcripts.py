"""Our match beside the unmodified engines: the same cards and replies, every line to the byte."""

import pytest

from dealer.wire.match import play
from dealer.wire.player import Reply
from dealer.wire.protocol import wire_plan
from engine.games import GAMES
from formats.mit.write import write
from tests.wire.transcripts import RecalledDecks, Scripted, log_of, scripted

GAME = {"2022": GAMES["swap-2022-mit"], "2024": GAMES["auction-2024-mit"]}
LATE, BROKEN, EMPTY = Reply("", "late"), Reply("", "disconnected"), Reply("")

# The match, and how each bot's replies go on where its transcript stops.
WHOLE = ("raw-2022-garbage", "raw-2022-tap", "raw-2022-weird", "raw-2024-garbage", "raw-2024-tap")
MATCHES: dict[str, tuple[tuple[Reply, ...], tuple[Reply, ...]]] = {
    **dict.fromkeys((*WHOLE, "raw-2024-weird", "masked-2024-tap"), ((), ())),
    "raw-2022-quit": ((EMPTY, BROKEN), ()),
    "raw-2024-quit": ((EMPTY, BROKEN), ()),
    "raw-2024-slow": ((), ()),
    "raw-2024-nolisten": ((), ()),
    "raw-2024-noexit": ((Reply("K"),) * 99, ()),
}
TOO_LATE = "raw-2024-slow"  # the last reply of its transcript came after the limit


@pytest.mark.parametrize("name", MATCHES)
def test_the_same_cards_and_replies_make_the_same_lines_and_the_same_log(name: str) -> None:
    log = log_of(name)
    after = MATCHES[name]
    bots = (scripted(name, "A", *after[0]), scripted(name, "B", *after[1]))
    if name == TOO_LATE:
        bots[0].replies[-1] = LATE
    assert _played(name, log, bots) == log
    for bot in bots:
        assert bot.expected == bot.told[: len(bot.expected)]


def _played(name: str, log: str, bots: tuple[Scripted, Scripted]) -> str:
    """The log that we write of this match."""
    decks = RecalledDecks(log)
    match = wire_plan(
        GAME[name.split("-")[1]],
        "m",
        ("A", "B"),
        len(decks.records),
        open_bids=not name.startswith("masked"),
    )
    return write(hand.record for hand in play(match, match.legs[0], decks, bots))

"""The ledger that the tests of HTTP ask: five matches of lynx and ursa, who never play otherwise.

    holdem    site-nl-standard   sealed             over
    open      site-nl-standard   open               over
    auction   auction-2024-mit   sealed             over
    swap      swap-2022-mit      sealed             over
    running   auction-2024       open-after-match   not over: 4 hands, and a fifth half played

The first four have 12 hands each. Times and cards are the same whenever it is made; what its writer
draws (keys, nonces) is not.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from api.playing.recording import ledger_projections
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events.evolve import replay
from events.ledger import Append
from events.match import Disclosure, MatchEnded, MatchStarted
from events.types import Events, HandStarted
from store.ledger import FileLedger, open_ledger

AT = 1_790_000_000_000  # 2026-09-21T13:33:20Z
SEED = "s3cr3t"
PLAYERS = ("lynx", "ursa")
HANDS = 12


Changed = Callable[[str, Events], Events]


class Kept(NamedTuple):
    """A match of the ledger: its hands, and how many of them are in it whole."""

    name: str
    game: str
    disclosure: Disclosure = "sealed"
    hands: int = HANDS
    over: bool = True


MATCHES = (
    Kept("holdem", "site-nl-standard"),
    Kept("open", "site-nl-standard", "open"),
    Kept("auction", "auction-2024-mit"),
    Kept("swap", "swap-2022-mit"),
    Kept("running", "auction-2024", "open-after-match", 4, False),
)


def made(folder: Path, changed: Changed = lambda match, hand: hand) -> Path:
    """The ledger, written anew into an empty folder; with other hands, if somebody changes them."""
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    try:
        for match in MATCHES:
            _keep(ledger, match, changed)
    finally:
        ledger.close()
        lock.release()
    return folder


def records(match: str) -> tuple[Events, ...]:
    """The hands of one of the matches, as they were played; the last of `running` in full."""
    kept = next(one for one in MATCHES if one.name == match)
    count = kept.hands + (not kept.over)
    return tuple(map(_named, play(GAMES[kept.game], match, count, SEED, len(PLAYERS))))


def _keep(ledger: FileLedger, match: Kept, changed: Changed) -> None:
    game = GAMES[match.game]
    ledger.keep_ruleset(fingerprint(game), to_json(game))
    start = MatchStarted(
        match.name,
        game.name,
        fingerprint(game),
        PLAYERS,
        "seeded",
        match.disclosure,
        True,
        SEED if match.name == "open" else f"{SEED} of {match.name}",
    )
    ledger.append(Append(match.name, 0, (start,), AT))
    nets = [0, 0]
    for number, hand in enumerate(records(match.name), 1):
        told = changed(match.name, hand)
        if number > match.hands:
            told = told[: len(told) // 2]
        ledger.append(Append(f"{match.name}/{number}", 0, told, AT + 1000 * number))
        over = replay(hand)
        for seat, player in enumerate(over.start.players):
            nets[PLAYERS.index(player)] += over.stacks[seat] - over.start.stacks[seat]
    if match.over:
        ledger.append(Append(match.name, 1, (MatchEnded(tuple(nets), "over"),), AT + 60_000))


def _named(hand: Events) -> Events:
    """The same hand between lynx and ursa."""
    start = hand[0]
    assert isinstance(start, HandStarted)
    players = tuple(PLAYERS[int(player.rpartition("-")[2])] for player in start.players)
    return (replace(start, players=players), *hand[1:])

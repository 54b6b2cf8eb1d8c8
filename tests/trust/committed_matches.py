"""Committed matches for tests: played, opened at their end, and their secrets in memory."""

from dealer.deck import CommittedDecks, Committer
from dealer.play import hand_records, plan
from engine.game import Game, fingerprint
from engine.table import is_freeze_out
from events import types as t
from events.ledger import DeckChain
from events.match import Match, MatchStarted

HANDS = 6


class DecksInMemory:
    """What a dealer keeps, match by match; and everything that happened, in order."""

    def __init__(self, log: list[str] | None = None) -> None:
        self._kept: dict[str, tuple[DeckChain, ...]] = {}
        self._log = log

    def keep(self, match: str, chain: DeckChain) -> None:
        self._kept[match] = (*self.chains(match), chain)
        if self._log is not None:
            self._log.append("kept")

    def chains(self, match: str) -> tuple[DeckChain, ...]:
        return self._kept.get(match, ())


def played(
    game: Game, *, mirrored: bool = False, seats: int | None = None
) -> tuple[Game, list[Match], list[t.Events]]:
    """A committed match, opened at its end: the rules it was dealt by, its records, its hands."""
    seats = seats or min(game.seats_max, 3)
    kind = "caller" if is_freeze_out(game) else "random"  # callers last for so few hands
    match = plan(game, "m", HANDS, "1", (kind,) * seats, mirrored=mirrored)
    ruleset = fingerprint(match.game)
    records: list[Match] = [
        MatchStarted(
            "m", game.name, ruleset, match.players, "committed", "open", True, deals=match.deals
        )
    ]
    names = [(player, player * 2) for player in match.players]
    committer = Committer("m", DecksInMemory(), records.extend, lambda commitment: names)
    decks = CommittedDecks("m", committer.chain, HANDS, match.deals)
    hands = list(hand_records(match, decks))
    records += decks.opened(HANDS, over=True)
    return match.game, records, hands

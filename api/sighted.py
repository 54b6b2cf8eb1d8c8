"""How the decks of a ledger's matches were dealt: mirrored, or from a seed that came before."""

from events.types import MatchStarted
from store.reader import Snapshot


def repeated(ledger: Snapshot) -> set[str]:
    """Matches dealt from a seed that an earlier one had: no shuffles of their own."""
    seeds: set[str] = set()
    found = set()
    for match in ledger.matches():
        for one in ledger.read(match):
            if isinstance(one.event, MatchStarted) and one.event.dealing == "seeded":
                seed = one.event.seed or match
                if seed in seeds:
                    found.add(match)
                seeds.add(seed)
    return found


def deals(ledger: Snapshot) -> dict[str, int]:
    """In how many hands in a row each match deals the same deck: more than one is mirrored."""
    found = {}
    for match in ledger.matches():
        for one in ledger.read(match):
            if isinstance(one.event, MatchStarted):
                found[match] = one.event.deals
    return found

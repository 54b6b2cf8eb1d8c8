"""The hands of a ledger as a viewpoint sees them, one after the other, for whoever counts.

Everybody but an auditor gets leaves made from what he sees and from nothing else, each bid that a
settlement told to all in its place: so no count can tell more than the record shows him.
"""

from collections.abc import Callable, Iterable, Iterator

from api.cli.ledger import check_spelling
from api.cli.output import NotFound, NotPermitted, progress
from api.exporting.sight import Absence, Eyes, revealed
from events.ledger import is_match
from events.types import MatchStarted
from store.leaf import Leaf
from store.reader import Snapshot


def hands(
    ledger: Snapshot, view: str, match: str | None = None, game: str | None = None
) -> Iterator[Leaf]:
    """The hands in the order they ended; a match or seat that is not there is said at once."""
    check_spelling(view)
    eyes = Eyes(ledger, view)
    names = sorted({one.hand.rpartition("/")[0] for one in ledger.hands()})
    if match is not None and match not in names:
        raise NotFound(f"there is no match {match}: muckrake matches lists those there are")
    try:
        if match is not None:
            eyes.check(match)
        else:
            eyes.check_any(names)
    except Absence as absent:
        raise NotPermitted(str(absent)) from None
    seen = _seen(_leaves(ledger, match), eyes)
    return seen if game is None else filter(_of(game), seen)


def _leaves(ledger: Snapshot, match: str | None) -> Iterator[Leaf]:
    """Hands alone, with a bar while they are read."""
    if match is not None:
        listed = list(ledger.hands(match))
        for one in progress(listed, "reading hands"):
            yield Leaf(one.hand_seq, ledger.read(one.hand))
        return
    every: Iterable[Leaf] = progress(ledger.leaves(), "reading hands", ledger.next_seq)
    yield from (leaf for leaf in every if not is_match(leaf.stream))


def _seen(leaves: Iterator[Leaf], eyes: Eyes) -> Iterator[Leaf]:
    for leaf in leaves:
        yield leaf if eyes.auditor else revealed(eyes.see(leaf))


def _of(game: str) -> Callable[[Leaf], bool]:
    return lambda leaf: leaf.hand is not None and leaf.hand.start.game == game


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

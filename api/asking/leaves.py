"""The hands that a viewer may read, one after the other, each as he sees it, for whoever counts.

Everybody but an auditor gets leaves made from what he sees and from nothing else, each bid that a
settlement told to all in its place: so no count can tell more than the record shows him.
"""

from collections.abc import Iterator
from itertools import takewhile

from api.asking.viewed import Viewed
from api.asking.watching import Watch, unwatched
from api.exporting.sight import revealed
from store.leaf import Leaf, split


def leaves(
    viewed: Viewed,
    match: str | None = None,
    game: str | None = None,
    watch: Watch = unwatched,
) -> Iterator[Leaf]:
    """All of them in the order in which they ended, or those of a match or a ruleset."""
    for leaf in _recorded(viewed, match, watch):
        if game is None or (leaf.hand is not None and leaf.hand.start.game == game):
            yield leaf if viewed.viewer.auditor else revealed(viewed.eyes.see(leaf))


def _recorded(viewed: Viewed, match: str | None, watch: Watch) -> Iterator[Leaf]:
    """As they lie in the ledger; those of a match between its first and its last, in one go."""
    ledger = viewed.snapshot
    first, last = 0, ledger.next_seq - 1
    if match is not None:
        places = [one.hand_seq for one in ledger.hands(match)]
        if not places:
            return
        first, last = min(places), max(places)
    every = takewhile(lambda leaf: leaf.hand_seq <= last, ledger.leaves(first - 1))
    for leaf in watch(every, "reading hands", last - first + 1):
        name, number = split(leaf.stream)
        if number is not None and match in (None, name):
            yield leaf

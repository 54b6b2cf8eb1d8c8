"""Whether hands of committed matches were dealt from the decks that were committed to."""

from typing import cast

from api.rules import Rules
from dealer.deck import check_deal
from events.deck import committed
from events.ledger import is_match
from events.match import DeckOpened, Match
from events.types import Events, HandStarted
from store.log.leaf import Leaf, split
from store.proof.private import Private
from store.reader import Snapshot


class Dealt:
    """Decks recomputed for every hand whose deck is opened, or whose secret is kept here."""

    def __init__(self, ledger: Snapshot, private: Private) -> None:
        self._ledger = ledger
        self._private = private
        self._rules = Rules(ledger, None)
        self._records: dict[str, tuple[Match, ...]] = {}
        self.checked = 0

    def wrong(self, leaf: Leaf) -> str | None:
        """What is wrong with the cards of a hand; None if nothing is, or nothing is known."""
        match, _ = split(leaf.stream)
        records = self._of(match)
        if is_match(leaf.stream) or not records:
            return None
        record = cast(Events, tuple(recorded.event for recorded in leaf.recorded))
        game = self._rules.of(record) if isinstance(record[0], HandStarted) else None
        if game is None:
            return None
        check = check_deal(game, records, record)
        self.checked += check.verdict == "agree"
        return check.sentence if check.verdict == "differ" else None

    def _of(self, match: str) -> tuple[Match, ...]:
        """A committed match's records, its decks opened as far as they can be; else nothing."""
        if match not in self._records:
            events = tuple(recorded.event for recorded in self._ledger.read(match))
            records = tuple(event for event in events if isinstance(event, Match))
            if commitment := committed(records):
                chains = self._private.chains(match)
                kept = zip(commitment, chains, strict=False)
                records += tuple(DeckOpened(one.last, chain.secret) for one, chain in kept)
            self._records[match] = records if commitment else ()
        return self._records[match]

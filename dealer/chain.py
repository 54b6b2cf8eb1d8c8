"""Committed decks: the dealer binds himself, hears the players, and opens what the match allows.

Nothing here decides who may see what: `api` asks for an opening when the match's disclosure says
so. The derivation itself is `events/deck.py`.
"""

import secrets
from collections.abc import Callable, Iterable

from msgspec import Struct

from dealer.deck import Deck, of_key
from events.deck import SECRET_BYTES, Committed, chain_of, deck_number, hand_key
from events.ledger import DeckChain, DeckSecrets
from events.types import DeckCommitted, DeckOpened, Match, NonceGiven

CHAIN_HANDS = 10_000  # a longer match takes another chain
NONCE_MAX = 128  # characters of a player's nonce

Publish = Callable[[tuple[Match, ...]], None]
Nonces = Callable[[str], Iterable[tuple[str, str | None]]]


class Chain(Struct, frozen=True):
    """A chain in the dealer's hands: what is known of it, and what nobody else may see yet."""

    made: Committed
    links: tuple[bytes, ...]

    def key(self, match: str, number: int) -> bytes:
        """The key of one hand's deck."""
        return hand_key(self._secret(number), self.made.nonces, match, number)

    def opened(self, number: int) -> DeckOpened:
        """The record that opens this hand's deck, and those before it in the chain."""
        return DeckOpened(number, self._secret(number).hex())

    def _secret(self, number: int) -> bytes:
        assert self.made.covers(number)
        return self.links[number - self.made.first + 1]


class Committer:
    """Makes the chains of one match: drawn, kept, published, and only then the players are heard.

    `publish` writes match records and returns when they are durable. `nonces` is told the
    commitment and gives each player's nonce; for a player who has none, one is drawn.
    """

    def __init__(self, match: str, kept: DeckSecrets, publish: Publish, nonces: Nonces) -> None:
        self._match = match
        self._kept = kept
        self._publish = publish
        self._nonces = nonces

    def chain(self, first: int, hands: int) -> Chain:
        """A chain for so many hands, from this one on."""
        last = secrets.token_bytes(SECRET_BYTES)
        links = chain_of(last, hands)
        commitment = links[0].hex()
        self._kept.keep(self._match, DeckChain(last.hex(), hands))
        self._publish((DeckCommitted(commitment, hands),))
        heard = self._nonces(commitment)
        nonces = tuple(contribution(player, given) for player, given in heard)
        self._publish(nonces)
        return Chain(Committed(first, hands, commitment, nonces), links)


class CommittedDecks:
    """The decks of a committed match, each for `deals` hands in a row.

    `more` makes another chain when the last has run out; without it there are only `chains`.
    """

    def __init__(
        self,
        match: str,
        more: Callable[[int, int], Chain] | None,
        chain_hands: int = CHAIN_HANDS,
        deals: int = 1,
        chains: tuple[Chain, ...] = (),
    ) -> None:
        self._match = match
        self._more = more
        self._deals = deals
        self._hands = chain_hands + -chain_hands % deals  # no deck is dealt under two chains
        self._chains = chains
        self._open = 0

    def deck(self, number: int) -> Deck:
        """The hand's deck; a new chain is committed to when the last has run out."""
        number = deck_number(number, self._deals)
        return of_key(self._chain(number).key(self._match, number))

    def committed(self, hands: int) -> "CommittedDecks":
        """Decks for so many hands, committed to now: another process may deal them."""
        self._chain(hands)
        return CommittedDecks(self._match, None, self._hands, self._deals, self._chains)

    def opened(self, number: int, *, over: bool) -> tuple[DeckOpened, ...]:
        """What opens the decks up to this hand that are not open yet; `over` if it was the last.

        A deck that is still to be dealt again stays closed.
        """
        whole = number if over else number - number % self._deals
        found = tuple(
            chain.opened(min(chain.made.last, whole))
            for chain in self._chains
            if chain.made.first <= whole and chain.made.last > self._open
        )
        if whole <= self._open:
            return ()
        self._open = whole
        return found

    def _chain(self, number: int) -> Chain:
        while not (self._chains and self._chains[-1].made.last >= number):
            assert self._more is not None
            first = self._chains[-1].made.last + 1 if self._chains else 1
            self._chains += (self._more(first, self._hands),)
        return next(one for one in reversed(self._chains) if one.made.covers(number))


def contribution(player: str, given: str | None) -> NonceGiven:
    """A player's nonce as he gave it; one that is drawn for him, if he gave none that can stand."""
    if given and len(given) <= NONCE_MAX and given.isascii() and given.isprintable():
        return NonceGiven(player, given, "player")
    return NonceGiven(player, secrets.token_hex(SECRET_BYTES), "dealer")

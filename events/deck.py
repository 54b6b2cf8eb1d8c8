"""The decks of a committed match: from a secret and the players' nonces to fifty-two cards, pure.

docs/deals.md says the same in words and test vectors, so that anybody can recompute a deal. No
secret is drawn here: that is for the dealer. What is versioned is the word that stands before
every hash: another way to derive a deck is another word.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice

from msgspec import Struct

from events.cards import DECK, Cards
from events.match import DeckCommitted, DeckOpened, Match, NonceGiven

CHAIN = b"muckrake/chain/v1"
SEATS = b"muckrake/seat-nonces/v1\0"
HAND = b"muckrake/deck/v1\0"
SHUFFLE = b"muckrake/shuffle/v1\0"
SWAP = b"muckrake/swap/v1\0"
BOUNTY = b"muckrake/bounty/v1\0"

SECRET_BYTES = 32
CHAIN_MAX = 2**22  # hands: a longer chain takes too long to walk
COUNTED_MAX = 65_535  # bytes of a text whose length stands in two


class Committed(Struct, frozen=True):
    """A commitment as a match's records tell it: the hands it covers, whose nonces followed."""

    first: int
    hands: int
    commitment: str
    nonces: tuple[NonceGiven, ...] = ()

    @property
    def last(self) -> int:
        """The last hand it covers."""
        return self.first + self.hands - 1

    def covers(self, number: int) -> bool:
        """Whether the deck of this hand is one of these."""
        return self.first <= number <= self.last


def earlier(secret: bytes, steps: int = 1) -> bytes:
    """The secret of so many hands before: a chain is walked backwards only."""
    for _ in range(steps):
        secret = hashlib.sha256(CHAIN + secret).digest()
    return secret


def chain_of(last: bytes, hands: int) -> tuple[bytes, ...]:
    """The commitment, then the secret of every hand; `last` is the last hand's."""
    links = [last]
    for _ in range(hands):
        links.append(earlier(links[-1]))
    return tuple(reversed(links))


def committed(records: Iterable[Match]) -> tuple[Committed, ...]:
    """Every commitment of a match, in order: where one ends, the next one begins."""
    commitments: list[Committed] = []
    for record in records:
        if isinstance(record, DeckCommitted):
            first = commitments[-1].last + 1 if commitments else 1
            commitments.append(Committed(first, record.hands, record.commitment))
        elif isinstance(record, NonceGiven) and commitments:
            last = commitments[-1]
            nonces = (*last.nonces, record)
            commitments[-1] = Committed(last.first, last.hands, last.commitment, nonces)
    return tuple(commitments)


def unfit(chain: Committed, opened: DeckOpened) -> str | None:
    """Why a secret does not fit its commitment; None if it does."""
    if not chain.covers(opened.number):
        return (
            f"deck {opened.number} is not one of the decks {chain.first}..{chain.last} of its chain"
        )
    if chain.hands > CHAIN_MAX:
        return f"a chain of {chain.hands} hands is too long: {CHAIN_MAX} are the most"
    secret = secret_of(opened)
    if secret is None:
        return f"the secret of deck {opened.number} is not {SECRET_BYTES} bytes in hex"
    if earlier(secret, opened.number - chain.first + 1).hex() != chain.commitment:
        return f"the secret of deck {opened.number} does not lead back to {chain.commitment}"
    return None


def secret_of(opened: DeckOpened) -> bytes | None:
    """The bytes that were opened, if they are a secret at all."""
    try:
        secret = bytes.fromhex(opened.secret)
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES and secret.hex() == opened.secret else None


def deck_number(number: int, deals: int) -> int:
    """The hand whose deck this hand is dealt: itself, or the first that was dealt the same."""
    return number - (number - 1) % deals


def hand_key(secret: bytes, nonces: Sequence[NonceGiven], match: str, number: int) -> bytes:
    """The key of one hand's deck: neither the dealer nor a player alone decides it."""
    seats = b"".join(_counted(nonce.player) + _counted(nonce.nonce) for nonce in nonces)
    message = HAND + _counted(match) + number.to_bytes(4, "big")
    return _mac(secret, message + hashlib.sha256(SEATS + seats).digest())


def opened_key(opened: DeckOpened, nonces: Sequence[NonceGiven], match: str, number: int) -> bytes:
    """The key of the hand whose deck was opened, or of one before it in the same chain."""
    secret = secret_of(opened)
    if secret is None or number > opened.number:
        raise ValueError(f"deck {opened.number} was opened: that does not tell deck {number}")
    return hand_key(earlier(secret, opened.number - number), nonces, match, number)


def recompute(opened: DeckOpened, nonces: Sequence[NonceGiven], match: str, number: int) -> Cards:
    """The deck of a hand, in order, for anybody who has read the match's records."""
    return shuffled(opened_key(opened, nonces, match, number))


def shuffled(key: bytes) -> Cards:
    """The deck of a key: Fisher and Yates, from the last card down, one byte a draw."""
    order = list(DECK)
    draws = stream(key, SHUFFLE)
    for last in range(len(order) - 1, 0, -1):
        chosen = _below(last + 1, draws, 1)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


class Luck:
    """Random draws beside the deck: whether a card at risk is swapped, and bounties."""

    def __init__(self, key: bytes, label: bytes = SWAP) -> None:
        self._draws = stream(key, label)

    def below(self, many: int) -> int:
        """A number from 0 to one less than `many`, each as likely as the others."""
        return _below(many, self._draws, 4)


class Pile:
    """The order in which a deck leaves the dealer's hand; the same for who deals and who checks."""

    def __init__(self, order: Cards) -> None:
        self._order = order
        self._top, self._bottom = 0, len(order)

    def take(self, many: int, place: str = "top", burn: int = 0) -> Cards:
        """The next cards from the top, after the burn; or the last, the very last one first."""
        if place == "bottom":
            end, self._bottom = self._bottom, max(self._top, self._bottom - many)
            return self._order[self._bottom : end][::-1]
        begin = min(self._top + burn, self._bottom)
        self._top = min(begin + many, self._bottom)
        return self._order[begin : self._top]

    def at(self, slots: Iterable[int]) -> Cards:
        """The cards of fixed places, which nothing before them can shift (G21)."""
        return tuple(self._order[slot] for slot in slots)

    def fork(self) -> "Pile":
        """A copy of the pile that is drawn from on its own."""
        other = Pile(self._order)
        other._top, other._bottom = self._top, self._bottom
        return other


def stream(key: bytes, label: bytes) -> Iterator[int]:
    """Bytes without end: HMAC-SHA256 of the label and a counter."""
    return chain.from_iterable(_mac(key, label + block.to_bytes(4, "big")) for block in count())


def _below(many: int, draws: Iterator[int], width: int) -> int:
    """Numbers that would favour the small remainders are thrown away, and drawn again."""
    numbers = 256**width
    assert 0 < many <= numbers
    fair = numbers - numbers % many
    while (drawn := int.from_bytes(islice(draws, width), "big")) >= fair:
        pass
    return drawn % many


def _counted(text: str) -> bytes:
    """Text with its length before it, so that nothing can be moved across the border."""
    encoded = text.encode()
    if len(encoded) > COUNTED_MAX:
        raise ValueError(f"a name or nonce of {len(encoded)} bytes: {COUNTED_MAX} are the most")
    return len(encoded).to_bytes(2, "big") + encoded


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")

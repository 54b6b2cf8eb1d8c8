"""A shuffled deck that answers what the engine asks of chance, and where decks come from.

Of committed decks the dealer commits, the players add nonces, decks are opened, hands are checked.
Nothing here decides who may see what: `api` asks for an opening when the match's disclosure says
so. The derivation itself is `events/deck.py`.
"""

import random
import secrets
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, NamedTuple, Protocol, get_args

from msgspec import Struct

from engine.game import Game, fingerprint
from engine.hand import decide, turn
from engine.turn import Deal, Draw, IllegalCommand, Swap, ToDeal, ToDraw, ToSwap
from events.cards import DECK, UNKNOWN, Cards, Rank
from events.deck import (
    BOUNTY,
    SECRET_BYTES,
    Committed,
    Luck,
    Pile,
    chain_of,
    committed,
    deck_number,
    hand_key,
    opened_key,
    shuffled,
    unfit,
)
from events.evolve import evolve, replay
from events.ledger import DeckChain, DeckSecrets
from events.match import DeckCommitted, DeckOpened, Match, MatchStarted, NonceGiven
from events.types import BoardDealt, BountyDrawn, CardSwapped, Event, Events, HandStarted, HoleDealt

_RANKS = get_args(Rank)
DrawBelow = Callable[[int], int]  # draws a whole number from 0 to below a bound


class DeckPlace(NamedTuple):
    """Where a deck stands among the decks of its match, counted from 0, and the luck that it shares
    with all decks from one of them on."""

    at: int
    shared: Callable[[int], DrawBelow]


class Deck:
    """Fifty-two cards in one order, and the luck of the cards at risk."""

    def __init__(self, order: Cards, below: DrawBelow, place: "DeckPlace | None" = None) -> None:
        self._pile = Pile(order)
        self._below = below
        self._place = place or DeckPlace(0, lambda first: below)
        self._draws: list[int] = []  # all that were ever drawn, in this deck or a fork of it
        self._drawn = 0

    def fork(self) -> "Deck":
        """A copy of the deck at the same place: both will deal the same cards."""
        other = Deck.__new__(Deck)
        other._pile, other._below = self._pile.fork(), self._below
        other._place = self._place
        other._draws, other._drawn = self._draws, self._drawn
        return other

    def fork_with_draws(self, draws: tuple[int, ...]) -> "Deck":
        """A fork of the deck whose next draws of luck are these."""
        other = self.fork()
        other._draws = [*self._draws[: self._drawn], *draws]
        return other

    def answer(self, question: ToDeal | ToSwap | ToDraw) -> Deal | Swap | Draw:
        """Answer the engine's question to chance: a deal, a swap or a bounty draw."""
        match question:
            case ToDeal():
                return self.deal(question)
            case ToSwap():
                return self.swap(question)
            case ToDraw():
                return self.draw(question)

    def deal(self, question: ToDeal) -> Deal:
        """The next cards from the top, after the burn; or the last; or those of fixed slots."""
        if question.slots:
            return Deal(self._pile.at(question.slots))
        return Deal(self._pile.take(question.count, question.place, question.burn))

    def swap(self, question: ToSwap) -> Swap:
        """A draw of luck for each card at risk, and a new card for those that lose it."""
        new: list[str | None] = []
        for place in range(len(question.at_risk)):
            slots = question.slots[place : place + 1]
            if self._draw(question.of) >= question.chance:
                new.append(None)
            else:
                new.append((self._pile.at(slots) if slots else self._pile.take(1))[0])
        return Swap(tuple(new))

    def draw(self, question: ToDraw) -> Draw:
        """The bounties that so many decks in a row share: the button moves on, and they with it."""
        at, shared = self._place
        below = shared(at - at % question.hands)
        ranks = [_RANKS[below(len(_RANKS))] for _ in question.seats]
        moved = at % len(ranks)
        return Draw((*ranks[moved:], *ranks[:moved]))

    def _draw(self, many: int) -> int:
        """The next draw of luck; a game draws of one number, so a fork may have drawn it before."""
        if self._drawn == len(self._draws):
            self._draws.append(self._below(many))
        self._drawn += 1
        return self._draws[self._drawn - 1]


class Decks(Protocol):
    """The decks of a match, one for each hand."""

    def deck(self, number: int) -> Deck:
        """The deck of the hand of this number; hands are dealt in order."""
        ...


SEED_BYTES = 16  # of a drawn seed: nobody finds 128 bits by trying


def random_seed() -> str:
    """A seed that nobody can guess, in hex."""
    return secrets.token_hex(SEED_BYTES)


class SeededDecks:
    """Decks that a seed decides, each for `deals` hands in a row; for simulations.

    Who knows the seed knows every card.
    """

    def __init__(self, seed: str, deals: int = 1) -> None:
        self._seed = seed
        self._deals = deals

    def deck(self, number: int) -> Deck:
        deck = deck_number(number, self._deals)
        shared = DeckPlace((number - 1) // self._deals, self._shared)
        return seeded_deck(f"{self._seed}/{deck}", shared)

    def _shared(self, first: int) -> DrawBelow:
        return _Luck(f"{self._seed}/{first}/bounties").below


def seeded_deck(seed: str, place: DeckPlace | None = None) -> Deck:
    """A deck that a word decides, the same on every machine; not for money."""
    # As `random.shuffle` does it, draw by draw, in half its time: a bulk of hands is shuffled.
    draw = random.Random(seed).getrandbits
    order = list(DECK)
    for last, bits in _PLACES:
        chosen = draw(bits)
        while chosen > last:
            chosen = draw(bits)
        order[last], order[chosen] = order[chosen], order[last]
    return Deck(tuple(order), _Luck(f"{seed}/swaps").below, place)


_PLACES = tuple((last, (last + 1).bit_length()) for last in range(len(DECK) - 1, 0, -1))


class _Luck:
    """What chance draws beside a seeded deck; few games ask, so it begins when asked."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._source: random.Random | None = None

    def below(self, many: int) -> int:
        self._source = self._source or random.Random(self._seed)
        return self._source.randrange(many)


def deck_of_key(key: bytes, place: DeckPlace | None = None) -> Deck:
    """The deck of a committed hand."""
    return Deck(shuffled(key), Luck(key).below, place)


def deck_place(key: Callable[[int], bytes], number: int, deals: int, chain_first: int) -> DeckPlace:
    """Where the deck of a committed hand stands; what decks share is drawn by the key of the first
    of them that is in this chain."""

    def shared(first: int) -> DrawBelow:
        return Luck(key(max(first * deals + 1, chain_first)), BOUNTY).below

    return DeckPlace((number - 1) // deals, shared)


CHAIN_HANDS = 10_000  # a longer match takes another chain
NONCE_MAX = 128  # characters of a player's nonce

Publish = Callable[[tuple[Match, ...]], None]
Nonces = Callable[[str], Iterable[tuple[str, str | None]]]


class SecretChain(Struct, frozen=True):
    """A chain in the dealer's hands: what is known of it, and what nobody else may see yet."""

    commitment: Committed
    links: tuple[bytes, ...]

    def key(self, match: str, number: int) -> bytes:
        """The key of one hand's deck."""
        return hand_key(self._secret(number), self.commitment.nonces, match, number)

    def opened(self, number: int) -> DeckOpened:
        """The record that opens this hand's deck, and those before it in the chain."""
        return DeckOpened(number, self._secret(number).hex())

    def _secret(self, number: int) -> bytes:
        assert self.commitment.covers(number)
        return self.links[number - self.commitment.first + 1]


class Committer:
    """Makes the chains of one match: drawn, kept, published, and only then the players give nonces.

    `publish` writes match records and returns when they are durable. `nonces` takes the
    commitment and gives each player's nonce; for a player who has none, one is drawn.
    """

    def __init__(self, match: str, kept: DeckSecrets, publish: Publish, nonces: Nonces) -> None:
        self._match = match
        self._kept = kept
        self._publish = publish
        self._nonces = nonces

    def chain(self, first: int, hands: int) -> SecretChain:
        """A chain for so many hands, from this one on."""
        last = secrets.token_bytes(SECRET_BYTES)
        links = chain_of(last, hands)
        commitment = links[0].hex()
        self._kept.keep(self._match, DeckChain(last.hex(), hands))
        self._publish((DeckCommitted(commitment, hands),))
        seat_nonces = self._nonces(commitment)
        nonces = tuple(nonce_record(player, nonce) for player, nonce in seat_nonces)
        self._publish(nonces)
        return SecretChain(Committed(first, hands, commitment, nonces), links)


class CommittedDecks:
    """The decks of a committed match, each for `deals` hands in a row.

    `more` makes another chain when the last has run out; without it there are only `chains`.
    """

    def __init__(
        self,
        match: str,
        more: Callable[[int, int], SecretChain] | None,
        chain_hands: int = CHAIN_HANDS,
        deals: int = 1,
        chains: tuple[SecretChain, ...] = (),
    ) -> None:
        self._match = match
        self._more = more
        self._deals = deals
        self._hands = chain_hands + -chain_hands % deals  # no deck is dealt under two chains
        self._chains = chains
        self._open = 0

    def deck(self, number: int) -> Deck:
        """The hand's deck; a new chain is committed to when the last has run out."""
        deck = deck_number(number, self._deals)
        chain = self._chain(deck)
        key = partial(chain.key, self._match)
        return deck_of_key(key(deck), deck_place(key, number, self._deals, chain.commitment.first))

    def committed(self, hands: int) -> "CommittedDecks":
        """Decks for so many hands, committed to now: another process may deal them."""
        self._chain(hands)
        return CommittedDecks(self._match, None, self._hands, self._deals, self._chains)

    def opened(self, number: int, *, over: bool) -> tuple[DeckOpened, ...]:
        """What opens the decks up to this hand that are not open yet; `over` if it was the last.

        A deck that is still to be dealt again stays closed.
        """
        whole = number if over else number - number % self._deals
        openings = tuple(
            chain.opened(min(chain.commitment.last, whole))
            for chain in self._chains
            if chain.commitment.first <= whole and chain.commitment.last > self._open
        )
        if whole <= self._open:
            return ()
        self._open = whole
        return openings

    def _chain(self, number: int) -> SecretChain:
        while not (self._chains and self._chains[-1].commitment.last >= number):
            assert self._more is not None
            first = self._chains[-1].commitment.last + 1 if self._chains else 1
            self._chains += (self._more(first, self._hands),)
        return next(chain for chain in reversed(self._chains) if chain.commitment.covers(number))


def nonce_record(player: str, nonce: str | None) -> NonceGiven:
    """A player's nonce as he gave it; one that is drawn for him, if he gave none that can stand."""
    if nonce and len(nonce) <= NONCE_MAX and nonce.isascii() and nonce.isprintable():
        return NonceGiven(player, nonce, "player")
    return NonceGiven(player, secrets.token_hex(SECRET_BYTES), "dealer")


# Whether a hand was dealt from the deck that was committed to.

_DEALS = HoleDealt | BoardDealt | CardSwapped | BountyDrawn


class DealCheck(Struct, frozen=True):
    """The check of a hand against its recomputed deck: verdict, and first event that differs."""

    verdict: Literal["agree", "differ", "unopened"]
    sentence: str
    at: int | None = None


def check_deal(game: Game, records: Iterable[Match], hand: Events) -> DealCheck:
    """Compare a hand with its deck; its match's records hold commitment, nonces and opening."""
    records = tuple(records)
    start, began = hand[0], next(record for record in records if isinstance(record, MatchStarted))
    assert isinstance(start, HandStarted)
    if start.ruleset != fingerprint(game):
        return DealCheck("differ", f"{start.hand} names {start.ruleset}, not {fingerprint(game)}")
    number = int(start.hand.rpartition("/")[2])
    commitments = committed(records)
    commitment = next((made for made in commitments if made.covers(number)), None)
    if commitment is None:
        return DealCheck("unopened", f"nobody committed to the deck of {start.hand}")
    openings = (
        record for record in records if isinstance(record, DeckOpened) and record.number >= number
    )
    opened = next((opening for opening in openings if commitment.covers(opening.number)), None)
    if opened is None:
        return DealCheck("unopened", f"the deck of {start.hand} is not opened")
    if wrong := unfit(commitment, opened):
        return DealCheck("differ", wrong)
    key = partial(opened_key, opened, commitment.nonces, began.match)
    place = deck_place(key, number, began.deals, commitment.first)
    return compare_with_deck(game, hand, deck_of_key(key(deck_number(number, began.deals)), place))


def compare_with_deck(game: Game, record: Events, deck: Deck) -> DealCheck:
    """Compare every card of the record with this deck, as the rules deal it."""
    state, checked = replay(record[:1]), 1
    for at, event in enumerate(record[1:], start=1):
        if isinstance(event, _DEALS) and at >= checked:
            try:
                question = turn(game, state)
                if not isinstance(question, ToDeal | ToSwap | ToDraw):
                    raise IllegalCommand("cards are dealt where the rules deal none")
                dealt = decide(game, state, deck.answer(question))
            except IllegalCommand as refusal:
                return DealCheck("differ", f"event {at}: {refusal}", at)
            for place, expected in enumerate(dealt, start=at):
                recorded = record[place] if place < len(record) else None
                if other := _difference(recorded, expected):
                    return DealCheck("differ", f"event {place}: {other}", place)
            checked = at + len(dealt)
        state = evolve(state, event)
    return DealCheck("agree", f"{state.start.hand} was dealt from the committed deck")


def _difference(recorded: Event | None, expected: Event) -> str | None:
    """The first card that is another than the deck's, in a sentence; None if all are the same."""
    whose, due = _dealt(expected)
    if recorded is None or _dealt(recorded)[0] != whose:
        return f"{whose} is owed {' '.join(due)} and gets nothing"
    cards = _dealt(recorded)[1]
    for card, owed in zip(cards, due, strict=False):
        if card != owed and card != UNKNOWN:
            return f"{whose} has {card} where the deck deals {owed}"
    if len(cards) != len(due):
        return f"{whose} has {len(cards)} cards where the deck deals {len(due)}"
    return None


def _dealt(event: Event) -> tuple[str, Cards]:
    """The receiver of the cards that an event deals, and these cards."""
    match event:
        case HoleDealt(seat=seat, cards=cards):
            return f"seat {seat}", cards
        case BoardDealt(cards=cards):
            return "the board", cards
        case CardSwapped(seat=seat, slot=slot, new=new):
            return f"seat {seat}, slot {slot},", (new,)
        case BountyDrawn(seat=seat, rank=rank):
            return f"seat {seat}, for its bounty,", (rank,)
        case _:
            return type(event).__name__, ()

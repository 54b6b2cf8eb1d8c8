"""The built-in bots: each decides from its own cards, its seed or exact odds.

A bot is what `Bot` asks of it; `BuiltIn` has the answers that all of these have in common.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Protocol

from dealer.bots.seen import Seen
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Fold,
    Muck,
    Raise,
    Show,
    Straddle,
    ToAct,
    ToBid,
    ToShow,
    Toss,
    ToStraddle,
    ToToss,
)
from events.cards import DECK, is_known
from events.types import Tossed
from events.values import Cards
from events.views import CardSwappedSeen, HoleDealtSeen
from odds.batch import Showdown
from odds.counting import canonical
from odds.equity import BOARD
from odds.preflop import before_flop
from odds.rank import best_five, category, mask, ranker
from odds.tables import FULL_HOUSE, HIGH_CARD, PAIR, QUADS, TRIPS, TWO_PAIR
from odds.third_card import Outcomes, third_card
from odds.unseen import counted


class Bot(Protocol):
    """A player that answers for a seat, from what that seat may see."""

    def choose(self, seen: Seen) -> Command: ...


class BuiltIn(ABC):
    """A bot of ours: how it bets is its own.

    It bids nothing, keeps the best two cards, straddles, and shows its hand.
    """

    def choose(self, seen: Seen) -> Command:
        """The answer to what is asked."""
        match seen.asked:
            case ToAct() as asked:
                return self.act(seen, asked)
            case ToBid(seat=seat) as asked:
                return Bid(seat, self.bid(seen, asked))
            case ToToss(seat=seat) as asked:
                return Toss(seat, self.toss(seen, asked))
            case ToShow() as asked:
                return self.show(seen, asked)
            case ToStraddle(seat=seat):
                return self.straddle(seat)

    @abstractmethod
    def act(self, seen: Seen, asked: ToAct) -> Command:
        """Fold, check, call or raise."""

    def bid(self, seen: Seen, asked: ToBid) -> int:
        """How much the card is worth to it."""
        return 0

    def toss(self, seen: Seen, asked: ToToss) -> int:
        """The slot of the card that is not among the best two."""
        kept = _best_two(seen.hole, _rules(seen))
        return next(slot for slot, card in enumerate(seen.hole) if card not in kept)

    def show(self, seen: Seen, asked: ToShow) -> Command:
        """The hand, announced where that is asked."""
        return announced(seen) if asked.announce else Show(asked.seat)

    def straddle(self, seat: int) -> Command:
        """The straddle, or nothing at all."""
        return Straddle(seat)


EVEN = Fraction(1, 2)
AHEAD = Fraction(3, 5)  # of a pot with one rival
GOOD = Fraction(11, 20)  # of the pot, before the flop, against any two cards
VERY_GOOD = Fraction(5, 8)
RAISES = 2  # of a round, after which a tight bot and one of pot odds raise no more


class RandomBot(BuiltIn):
    """Chooses among everything that is offered, whatever its cards; folds seldom, bets any size."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def act(self, seen: Seen, asked: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.12 and asked.fold:
            return Fold(asked.seat)
        if roll > 0.7 and asked.raise_min is not None and asked.raise_max is not None:
            return Raise(asked.seat, self._size(asked.raise_min, asked.raise_max))
        return stay(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return self._size(0, asked.bid_max)

    def toss(self, seen: Seen, asked: ToToss) -> int:
        return self._random.randrange(asked.slots)

    def show(self, seen: Seen, asked: ToShow) -> Command:
        if asked.may_muck and self._random.random() < 0.4:
            return Muck(asked.seat)
        return super().show(seen, asked)

    def straddle(self, seat: int) -> Command:
        return Fold(seat) if self._random.random() < 0.1 else Straddle(seat)

    def _size(self, low: int, high: int) -> int:
        """Mostly small, sometimes everything: half of the range is halved again and again."""
        if self._random.random() < 0.06:
            return high
        while high > low and self._random.random() < 0.7:
            high = low + (high - low) // 2
        return self._random.randint(low, high)


class AggressiveBot(BuiltIn):
    """Bets and raises more often than not, half a pot or a whole one; bids up to the pot."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def act(self, seen: Seen, asked: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.6:
            return pot_raise(seen, asked, self._random.choice((1, 2)), 2)
        large = asked.call * 2 > seen.pot
        return leave(asked) if roll > 0.85 and large else stay(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return min(asked.bid_max, self._random.randint(0, seen.pot))


class _Unseeded(BuiltIn):
    """A bot that leaves nothing to chance: the same cards are always played alike."""

    def __init__(self, seed: str) -> None:
        """Take the seed that every bot is given, and use none of it."""


class CallerBot(_Unseeded):
    """Checks or calls whatever comes, and bids nothing: the yardstick that others have to beat."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        return stay(asked)


class TightBot(_Unseeded):
    """Raises the better part of starting hands, then a pair of its own or more; gives up soon."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if not seen.board:
            worth = against_one(seen)
            good, very_good = worth >= GOOD, worth >= VERY_GOOD
        else:
            game = seen.game
            best = ranker(game.straights, game.ranking, game.hole_min)
            kind = category(best(seen.hole, seen.board))
            good = kind > _board_category(seen)
            very_good = good and kind >= TWO_PAIR
        if very_good and seen.raises < RAISES:
            return pot_raise(seen, asked, 1, 2)
        return stay(asked) if good else leave(asked)


class PotOddsBot(_Unseeded):
    """Stays if the pot pays for it by exact equity, every rival holding any cards at all; bets what
    is well ahead."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if against_one(seen) >= AHEAD and seen.raises < RAISES:
            return pot_raise(seen, asked, 2, 3)
        # Against more than one rival a rule of thumb, as if each were met alone.
        worth = against_one(seen) ** len(seen.rivals)
        return stay(asked) if worth * (seen.pot + asked.call) >= asked.call else leave(asked)


class BidderBot(PotOddsBot):
    """Bids the price at which winning the third card and losing it to the rival pay the same."""

    def bid(self, seen: Seen, asked: ToBid) -> int:
        odds = third_card(seen.hole, seen.board, _rules(seen))
        price = Outcomes(odds, seen.pot, seen.game.showdown_tie).break_even
        return asked.bid_max if price is None else min(asked.bid_max, int(price))


BOTS: dict[str, Callable[[str], Bot]] = {
    "random": RandomBot,
    "caller": CallerBot,
    "tight": TightBot,
    "aggressive": AggressiveBot,
    "pot-odds": PotOddsBot,
    "bidder": BidderBot,
}
"""Each is made from a seed, plays alike from the same seed, and keeps nothing between hands."""


def against_one(seen: Seen) -> Fraction:
    """The part of the pot that the cards are worth against one rival who may hold anything.

    Exact; but swaps and auctions still to come are left out, a toss, and a sixth card of the board.
    """
    own_dead = (
        event.old
        for event in seen.history
        if isinstance(event, CardSwappedSeen) and event.seat == seen.seat and event.changed is True
    )
    dead = own_dead if seen.game.swap_discard == "dead" else ()  # others go back to the deck (S2)
    dealt = [0] * len(seen.players)  # a rival who has won an auction holds three
    for event in seen.history:
        if isinstance(event, HoleDealtSeen):
            dealt[event.seat] += len(event.cards)
        elif isinstance(event, Tossed):
            dealt[event.seat] -= 1
    most = max((dealt[seat] for seat in seen.rivals), default=0) or len(seen.hole)
    known = tuple(card for card in dead if isinstance(card, str))
    return _against_one(tuple(sorted(seen.hole)), seen.board, most, known, _rules(seen))


def _rules(seen: Seen) -> Showdown:
    """How hands compare here; that all seven cards may break a tie is left out."""
    return Showdown(seen.game.straights, seen.game.ranking, seen.game.hole_min)


@lru_cache(maxsize=1 << 14)
def _against_one(hole: Cards, board: Cards, dealt: int, dead: Cards, rules: Showdown) -> Fraction:
    if not is_known((*hole, *board)):
        return EVEN
    if not board:
        return before_flop(_best_two(hole, rules), rules).share
    if len(board) > BOARD:
        return _on_a_long_board(hole, board)
    return _same_suits(*canonical(mask(hole), mask(board), mask(dead)), dealt, rules)


def _best_two(hole: Cards, rules: Showdown) -> Cards:
    """The two of these cards that are worth most before the flop; of equal ones the first."""
    if len(hole) <= 2:
        return hole
    return max(combinations(hole, 2), key=lambda two: before_flop(two, rules).share)


def _on_a_long_board(hole: Cards, board: Cards) -> Fraction:
    """Against every two cards, as if no card came any more; of two flushes the better counts."""
    best = ranker()
    mine = best(hole, board)
    unseen = [card for card in DECK if card not in (*hole, *board)]
    theirs = [best(two, board) for two in combinations(unseen, 2)]
    won = sum(2 * (one < mine) + (one == mine) for one in theirs)
    return Fraction(won, 2 * len(theirs))


@lru_cache(maxsize=1 << 16)
def _same_suits(hole: int, board: int, dead: int, dealt: int, rules: Showdown) -> Fraction:
    """Spots that differ in suits alone are one."""
    return counted(hole, board, dealt=dealt, dead=dead, rules=rules).share


def _board_category(seen: Seen) -> int:
    """The category of hand that the common cards alone give everybody."""
    if len(seen.board) >= BOARD:
        return category(ranker(seen.game.straights)((), seen.board))
    shape = sorted(Counter(card[0] for card in seen.board).values(), reverse=True)
    kinds = {(2, 2): TWO_PAIR, (3, 2): FULL_HOUSE, (4,): QUADS, (3,): TRIPS, (2,): PAIR}
    return kinds.get(tuple(count for count in shape if count > 1), HIGH_CARD)


def announced(seen: Seen) -> Announce:
    """The best five cards that the ruleset lets the seat name (U19)."""
    game = seen.game
    five = best_five(
        seen.hole,
        seen.board,
        straights=game.straights,
        ranking=game.ranking,
        hole_min=game.hole_min,
    )
    return Announce(seen.seat, five)


def stay(asked: ToAct) -> Command:
    """Check, or call what is owed."""
    return Check(asked.seat) if asked.check else Call(asked.seat)


def leave(asked: ToAct) -> Command:
    """Check if that is free, else fold."""
    return Check(asked.seat) if asked.check else Fold(asked.seat)


def raised(asked: ToAct, to: int) -> Command:
    """A raise as near to this as may be; who may not raise stays."""
    if asked.raise_min is None or asked.raise_max is None:
        return stay(asked)
    return Raise(asked.seat, min(max(to, asked.raise_min), asked.raise_max))


def pot_raise(seen: Seen, asked: ToAct, part: int, of: int) -> Command:
    """A raise by so much of the pot as it is after a call: 1, 2 is half of it."""
    return raised(asked, max(seen.bets) + (seen.pot + asked.call) * part // of)

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

from dealer.bots.seat_view import Seen
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
from events.cards import DECK, Cards, is_known
from events.types import Tossed
from events.views import CardSwappedSeen, HoleDealtSeen
from odds.batch import BOARD, Showdown
from odds.ranges import before_flop, canonical
from odds.rank import best_five, category, mask, ranker
from odds.tables import FULL_HOUSE, HIGH_CARD, PAIR, QUADS, TRIPS, TWO_PAIR
from odds.third_card import Outcomes, third_card
from odds.unseen import odds_of_masks


class Bot(Protocol):
    """A player that answers for a seat, from what that seat may see."""

    def choose(self, seen: Seen) -> Command: ...


class BuiltIn(ABC):
    """The base of the built-in bots; each subclass decides how it bets.

    It bids nothing, keeps the best two cards, straddles, and shows its hand.
    """

    def choose(self, seen: Seen) -> Command:
        """The bot's command for the question that its seat is asked."""
        match seen.asked:
            case ToAct() as question:
                return self.act(seen, question)
            case ToBid(seat=seat) as question:
                return Bid(seat, self.bid(seen, question))
            case ToToss(seat=seat) as question:
                return Toss(seat, self.toss(seen, question))
            case ToShow() as question:
                return self.show(seen, question)
            case ToStraddle(seat=seat):
                return self.straddle(seat)

    @abstractmethod
    def act(self, seen: Seen, question: ToAct) -> Command:
        """Fold, check, call or raise."""

    def bid(self, seen: Seen, question: ToBid) -> int:
        """The bid: how much the auctioned card is worth to the bot."""
        return 0

    def toss(self, seen: Seen, question: ToToss) -> int:
        """The slot of the card to toss: the one that is not among the best two."""
        kept = _best_two(seen.hole, _rules(seen))
        return next(slot for slot, card in enumerate(seen.hole) if card not in kept)

    def show(self, seen: Seen, question: ToShow) -> Command:
        """The hand, announced where that is asked."""
        return best_announcement(seen) if question.announce else Show(question.seat)

    def straddle(self, seat: int) -> Command:
        """Post the straddle, or decline it."""
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

    def act(self, seen: Seen, question: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.12 and question.fold:
            return Fold(question.seat)
        if roll > 0.7 and question.raise_min is not None and question.raise_max is not None:
            return Raise(question.seat, self._size(question.raise_min, question.raise_max))
        return check_or_call(question)

    def bid(self, seen: Seen, question: ToBid) -> int:
        return self._size(0, question.bid_max)

    def toss(self, seen: Seen, question: ToToss) -> int:
        return self._random.randrange(question.slots)

    def show(self, seen: Seen, question: ToShow) -> Command:
        if question.may_muck and self._random.random() < 0.4:
            return Muck(question.seat)
        return super().show(seen, question)

    def straddle(self, seat: int) -> Command:
        return Fold(seat) if self._random.random() < 0.1 else Straddle(seat)

    def _size(self, low: int, high: int) -> int:
        """A random bet size, mostly small: half of the range is halved again and again."""
        if self._random.random() < 0.06:
            return high
        while high > low and self._random.random() < 0.7:
            high = low + (high - low) // 2
        return self._random.randint(low, high)


class AggressiveBot(BuiltIn):
    """Bets and raises more often than not, half a pot or a whole one; bids up to the pot."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def act(self, seen: Seen, question: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.6:
            return pot_raise(seen, question, self._random.choice((1, 2)), 2)
        large = question.call * 2 > seen.pot
        return check_or_fold(question) if roll > 0.85 and large else check_or_call(question)

    def bid(self, seen: Seen, question: ToBid) -> int:
        return min(question.bid_max, self._random.randint(0, seen.pot))


class _Unseeded(BuiltIn):
    """A bot that leaves nothing to chance: the same cards are always played alike."""

    def __init__(self, seed: str) -> None:
        """Take the seed that every bot is given, and use none of it."""


class CallerBot(_Unseeded):
    """Checks or calls whatever comes, and bids nothing: the yardstick that others have to beat."""

    def act(self, seen: Seen, question: ToAct) -> Command:
        return check_or_call(question)


class TightBot(_Unseeded):
    """Raises the better part of starting hands, then a pair of its own or more; gives up soon."""

    def act(self, seen: Seen, question: ToAct) -> Command:
        if not seen.board:
            worth = equity_against_one(seen)
            good, very_good = worth >= GOOD, worth >= VERY_GOOD
        else:
            game = seen.game
            best = ranker(game.straights, game.ranking, game.hole_min)
            kind = category(best(seen.hole, seen.board))
            good = kind > _board_category(seen)
            very_good = good and kind >= TWO_PAIR
        if very_good and seen.raises < RAISES:
            return pot_raise(seen, question, 1, 2)
        return check_or_call(question) if good else check_or_fold(question)


class PotOddsBot(_Unseeded):
    """Stays if the pot pays for it by exact equity, every rival holding any cards at all; bets what
    is well ahead."""

    def act(self, seen: Seen, question: ToAct) -> Command:
        if equity_against_one(seen) >= AHEAD and seen.raises < RAISES:
            return pot_raise(seen, question, 2, 3)
        # Against more than one rival a rule of thumb, as if each were met alone.
        worth = equity_against_one(seen) ** len(seen.rivals)
        return (
            check_or_call(question)
            if worth * (seen.pot + question.call) >= question.call
            else check_or_fold(question)
        )


class BidderBot(PotOddsBot):
    """Bids the price at which winning the third card and losing it to the rival pay the same."""

    def bid(self, seen: Seen, question: ToBid) -> int:
        odds = third_card(seen.hole, seen.board, _rules(seen))
        price = Outcomes(odds, seen.pot, seen.game.showdown_tie).break_even
        return question.bid_max if price is None else min(question.bid_max, int(price))


BOTS: dict[str, Callable[[str], Bot]] = {
    "random": RandomBot,
    "caller": CallerBot,
    "tight": TightBot,
    "aggressive": AggressiveBot,
    "pot-odds": PotOddsBot,
    "bidder": BidderBot,
}
"""Each is made from a seed, plays alike from the same seed, and keeps nothing between hands."""


def equity_against_one(seen: Seen) -> Fraction:
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
    """The showdown rules of the game, without the tie break by all seven cards."""
    return Showdown(seen.game.straights, seen.game.ranking, seen.game.hole_min)


@lru_cache(maxsize=1 << 14)
def _against_one(hole: Cards, board: Cards, dealt: int, dead: Cards, rules: Showdown) -> Fraction:
    if not is_known((*hole, *board)):
        return EVEN
    if not board:
        return before_flop(_best_two(hole, rules), rules).share
    if len(board) > BOARD:  # as if no card came any more; of two flushes the better counts
        best = ranker()
        own = best(hole, board)
        unseen = [card for card in DECK if card not in (*hole, *board)]
        rivals = [best(two, board) for two in combinations(unseen, 2)]
        halves = sum(2 * (rival < own) + (rival == own) for rival in rivals)
        return Fraction(halves, 2 * len(rivals))
    return _same_suits(*canonical(mask(hole), mask(board), mask(dead)), dealt, rules)


def _best_two(hole: Cards, rules: Showdown) -> Cards:
    """The two of these cards that are worth most before the flop; of equal ones the first."""
    if len(hole) <= 2:
        return hole
    return max(combinations(hole, 2), key=lambda two: before_flop(two, rules).share)


@lru_cache(maxsize=1 << 16)
def _same_suits(hole: int, board: int, dead: int, dealt: int, rules: Showdown) -> Fraction:
    """The cached equity: spots that differ in suits alone share an entry."""
    return odds_of_masks(hole, board, dealt=dealt, dead=dead, rules=rules).share


def _board_category(seen: Seen) -> int:
    """The category of hand that the common cards alone give everybody."""
    if len(seen.board) >= BOARD:
        return category(ranker(seen.game.straights)((), seen.board))
    shape = sorted(Counter(card[0] for card in seen.board).values(), reverse=True)
    kinds = {(2, 2): TWO_PAIR, (3, 2): FULL_HOUSE, (4,): QUADS, (3,): TRIPS, (2,): PAIR}
    return kinds.get(tuple(count for count in shape if count > 1), HIGH_CARD)


def best_announcement(seen: Seen) -> Announce:
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


def silent_show(seen: Seen, question: ToShow) -> Command:
    """What is done at the showdown for a player who says nothing: he mucks, if he may (T10, U19);
    a hand that must be shown is turned up, the best five of it announced where that is asked."""
    if question.may_muck:
        return Muck(question.seat)
    return best_announcement(seen) if question.announce else Show(question.seat)


def check_or_call(question: ToAct) -> Command:
    """Check, or call what is owed."""
    return Check(question.seat) if question.check else Call(question.seat)


def check_or_fold(question: ToAct) -> Command:
    """Check if that is free, else fold."""
    return Check(question.seat) if question.check else Fold(question.seat)


def nearest_raise(question: ToAct, to: int) -> Command:
    """A raise as near to this as may be; who may not raise stays."""
    if question.raise_min is None or question.raise_max is None:
        return check_or_call(question)
    return Raise(question.seat, min(max(to, question.raise_min), question.raise_max))


def pot_raise(seen: Seen, question: ToAct, part: int, of: int) -> Command:
    """A raise by so much of the pot as it is after a call: 1, 2 is half of it."""
    return nearest_raise(question, max(seen.bets) + (seen.pot + question.call) * part // of)

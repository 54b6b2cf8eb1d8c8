"""Make the record of an ordinary hold'em hand in one pass, about thrice as fast as the rules do.

The events are those of `formats.hand_records`; of an unusual hand none is made. The rules say who
is asked, who must show and who is paid. Not all that they forbid is looked at here, sizes of bets
or cards dealt twice are not: the import holds such a record against them
(`api/importing/batch_audited.py`), and puts the hand to the rules if they disagree.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from engine.followed import EITHER, FOLLOWED_BY_ALL, Followed, unfollowed
from engine.game import Game, Reading
from engine.policies import Rake
from engine.seats import clockwise, others, owing
from engine.settle import settle
from engine.steps import Betting, Blinds, DealBoard, DealHole, Posts, Showdown
from engine.steps.showdown import must_show, waiting
from engine.steps.sizing import is_full
from events.cards import UNKNOWN, Cards
from events.evolve import evolved, round_of
from events.state import Hand, Round, Standing
from events.types import (
    Bet,
    BettingOpened,
    BoardDealt,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    HandEnded,
    HoleDealt,
    Mucked,
    Raised,
    Shown,
    StepEntered,
    UncalledReturned,
)
from formats.claimed_records import pays_as_claimed
from formats.hand_records import opening_events
from formats.site_stakes import STREETS
from formats.source import Act, Board, Holds, Mucks, Shows, SourceHand

_UNSEEN = (UNKNOWN, UNKNOWN)
_TURNED = (Shows, Mucks)
_AMOUNT = range(1 << 60)
FOLLOWED: Followed = {
    Game: {
        **FOLLOWED_BY_ALL,
        "script": (Blinds, Posts, DealHole, Betting, DealBoard, Showdown),
        "split_unit": (int,),
        "heads_up_blinds": ("button_small", "left_small"),
        "short_blind": ("full", "actual"),
        "sizing": ("no_limit", "pot_limit", "fixed"),
        "min_raise": ("at_least", "more_than"),
        "min_raise_after_short": ("current_plus_last_full", "last_full_total"),
        "raise_ceiling": ("own_stack", "effective_stack"),
        "pot_limit_base": ("active_pot", "all_pots"),
        "fold_when_free": EITHER,
        "raise_needs_responder": EITHER,
        "reopen": ("sum", "full_raise", "always", "half_bet"),
        "short_open_reopens": EITHER,
        "raise_cap": (int, None),
        "cap_counts": ("raises", "bets"),
        "cap_lift": ("never", "round_starts_heads_up", "two_remain"),
        "ranking": ("standard", "urcs", "top_card"),
        "straights": ("standard", "cyclic"),
        "hole_min": (0, 1),
        "show_first": ("all_shown", "last_aggressor"),
        "muck": ("never", "losers_may"),
        "odd_chips": (
            *("clockwise_each", "first_left_all", "dealer", "non_dealer", "fractional"),
            *("first_seat", "random", "dropped"),
        ),
        "rake": (None, Rake),
        "rake_pots": ("outwards", "proportional"),
    },
    Reading: {"entry": (str,), "policy": (str,), "value": (str, int, bool), "sentence": (str,)},
    Rake: {
        "percent": (int,),
        "of": (int,),
        "caps_by_players": (int,),
        "rounding": ("half_even", "floor", "ceil", "incremental"),
        "increment": (int,),
        "no_flop_no_drop": EITHER,
        "scope": ("hand", "pot"),
    },
    Blinds: {"small": (_AMOUNT,), "big": (_AMOUNT,), "ante": (_AMOUNT,)},
    Posts: {"antes": (_AMOUNT,), "blinds": (int,), "dead": EITHER},
    DealHole: {"count": (2,)},
    Betting: {"street": (str,), "size": (range(1, 1 << 60),)},
    DealBoard: {"total": (3, 4, 5)},
    Showdown: {},
}


class PlainRecord(NamedTuple):
    """A record, and what each seat won or lost in it."""

    record: Events
    nets: tuple[int, ...]


def plain_record(source: SourceHand, hand_id: str) -> PlainRecord | None:
    """The record of a hand in which nothing is unusual."""
    if source.posts or source.dead_small or not is_plain_game(source.game):
        return None
    try:
        play = _PlainHand(source, hand_id)
        play.to_the_end()
    except (_Unusual, ValueError, LookupError):
        return None
    return PlainRecord(tuple(play.events), play.nets)


class _Unusual(Exception):
    """Something in the hand is left to the rules themselves."""


@lru_cache(maxsize=4096)
def is_plain_game(game: Game) -> bool:
    """Whether these rules are hold'em with nothing in it that is not done here."""
    course = tuple(map(type, game.script[1:]))
    return course == STREETS and unfollowed(game, FOLLOWED) is None


class _PlainHand:
    """A table while a source hand is played on it; `at` is the item that comes next."""

    def __init__(self, source: SourceHand, hand_id: str) -> None:
        game, items = source.game, source.items
        new, hand = opening_events(game, source.button, source.players, source.stacks, (), False)
        if any(hand.dead):
            raise _Unusual
        self.source, self.game, self.hand, self.items = source, game, hand, items
        self.events: list[Event] = [
            replace(hand.start, hand=hand_id, assumed=source.assumed, played=source.played),
            *new[1:],
        ]
        self.stacks, self.paid = list(hand.stacks), list(hand.paid)
        self.standing: list[Standing] = list(hand.standing)
        self.aggressor: int | None = None
        self.board: Cards = ()
        self.at = 0
        self.turned = self._turned_in_the_end()
        self.holes = self._held()
        self._begin_round(round_of(hand))

    def to_the_end(self) -> None:
        """Every line of the script in order, as long as several seats are in."""
        game, events = self.game, self.events
        order = clockwise(self.hand, self.source.button)
        events += [HoleDealt(seat, self.holes[seat]) for seat in order]
        for at, line in enumerate(game.script):
            if isinstance(line, Betting):
                self._bet(at, line, order)
                self._give_back()
                if self._is_alone():
                    break
            elif isinstance(line, DealBoard):
                events.append(line.enter(game, self.hand, at)[0])
                self._deal(line.total)
            elif isinstance(line, Showdown):
                events.append(StepEntered(at, "showdown"))
                self._show_down(self._counted())
        self._pay(self._counted())
        events.append(HandEnded())
        if self.at < self.last:
            raise _Unusual

    def _is_alone(self) -> bool:
        return self.standing.count("folded") == len(self.standing) - 1

    # Cards.

    def _turned_in_the_end(self) -> dict[int, Cards | None]:
        """The hands shown or thrown away in the end; no seat does so twice, or before."""
        self.last = len(self.items)
        turned: dict[int, Cards | None] = {}
        while self.last and isinstance(item := self.items[self.last - 1], _TURNED):
            if item.seat in turned or not 0 <= item.seat < len(self.stacks):
                raise _Unusual
            turned[item.seat] = item.cards if isinstance(item, Shows) else None
            self.last -= 1
        return turned

    def _held(self) -> list[Cards]:
        """Every seat's cards: named in the beginning, or when they are shown, or unknown."""
        dealt: dict[int, Cards] = {}
        while self.at < self.last and isinstance(item := self.items[self.at], Holds):
            if item.seat in dealt or not 0 <= item.seat < len(self.stacks):
                raise _Unusual
            dealt[item.seat] = item.cards
            self.at += 1
        cards = [
            dealt[seat] if seat in dealt else self.turned.get(seat) or _UNSEEN
            for seat in range(len(self.stacks))
        ]
        if any(len(held) != 2 for held in cards) or self._unknown_in_the_end(cards):
            raise _Unusual
        return cards

    def _unknown_in_the_end(self, cards: Sequence[Cards]) -> bool:
        """Whether an unknown card could decide who is paid; only the rules say so."""
        items = self.items[self.at : self.last]
        folded = {item.seat for item in items if type(item) is Act and item.verb == "fold"}
        stay = [seat for seat in range(len(cards)) if seat not in folded]
        return len(stay) > 1 and any(UNKNOWN in cards[seat] for seat in stay)

    def _deal(self, total: int) -> None:
        item = self.items[self.at] if self.at < self.last else None
        if not isinstance(item, Board) or len(self.board) + len(item.cards) != total:
            raise _Unusual
        self.at += 1
        self.board += item.cards
        self.events.append(BoardDealt(item.cards))
        self._begin_round(Round((0,) * len(self.stacks), (-1,) * len(self.stacks)))

    # Betting.

    def _begin_round(self, now: Round) -> None:
        self.now, self.bets, self.matched = now, list(now.bets), list(now.matched)

    def _bet(self, at: int, line: Betting, order: Sequence[int]) -> None:
        """A round of betting, if anybody is asked."""
        poster, bet, size = self.now.poster, self.now.bet, line.size
        seat = self._next_to_act(order if poster is None else clockwise(self.hand, poster))
        if seat is None:
            return
        self.aggressor = None
        self.now = Round((), (), bet=bet, size=size, level=bet, least=bet + size)
        self.events.append(BettingOpened(at, line.street, bet, size, seat))
        while seat is not None:
            item = self.items[self.at] if self.at < self.last else None
            if type(item) is not Act or item.seat != seat or item.default:
                raise _Unusual
            self.at += 1
            seat = self._act(item)

    def _act(self, item: Act) -> int | None:
        """Record one choice; return the seat that is asked next."""
        seat, verb, owed = item.seat, item.verb, self.now.bet - self.bets[item.seat]
        if verb == "fold" and (owed > 0 or self.game.fold_when_free):
            self.standing[seat] = "folded"
            next_seat = None if self._is_alone() else self._next_to_act(others(self.hand, seat))
            self.events.append(Folded(seat, next_seat))
            return next_seat
        if verb == "raise":
            return self._raise(seat, item.to)
        if verb == "fold" or (verb == "check") == (owed > 0):
            raise _Unusual
        self.matched[seat] = self.now.bet
        if verb == "check":
            next_seat = self._next_to_act(others(self.hand, seat))
            self.events.append(Checked(seat, next_seat))
            return next_seat
        amount = min(owed, self.stacks[seat])
        if item.amount is not None and item.amount != amount:
            raise _Unusual
        self._put_in(seat, amount)
        next_seat = self._next_to_act(others(self.hand, seat))
        self.events.append(Called(seat, amount, next_seat))
        return next_seat

    def _raise(self, seat: int, to: int | None) -> int | None:
        now, before = self.now, self.now.bet
        if to is None or to <= before or to - self.bets[seat] > self.stacks[seat]:
            raise _Unusual
        amount, full = to - self.bets[seat], is_full(self.game, now, to)
        least = max(now.least, 2 * to - before)
        size, level = (max(now.size, to - before), to) if full else (now.size, now.level)
        self.now = Round((), (), bet=to, size=size, level=level, least=least)
        self.matched[seat], self.aggressor = to, seat
        self._put_in(seat, amount)
        next_seat = self._next_to_act(others(self.hand, seat))
        self.events.append(
            Raised(seat, amount, to, full, next_seat)
            if before
            else Bet(seat, amount, full, next_seat)
        )
        return next_seat

    def _put_in(self, seat: int, amount: int) -> None:
        self.bets[seat] += amount
        self.paid[seat] += amount
        self.stacks[seat] -= amount
        if not self.stacks[seat]:
            self.standing[seat] = "all_in"

    def _next_to_act(self, order: Sequence[int]) -> int | None:
        return owing(self.game, order, self.standing, self.bets, self.matched, self.now.bet)

    def _give_back(self) -> None:
        """The part of the last bet that nobody matched (G4)."""
        *_, matched, most = sorted(self.paid)
        if matched < most:
            seat = self.paid.index(most)
            self.events.append(UncalledReturned(seat, most - matched))
            self.stacks[seat] += most - matched
            self.paid[seat] = matched

    # The end.

    def _show_down(self, hand: Hand) -> None:
        """Each in his turn, as the rules or the source have it."""
        if UNKNOWN in self.board:
            raise _Unusual
        shown = list[int]()
        for seat in waiting(self.game, hand):
            if self.turned.get(seat) is None and not must_show(self.game, hand, seat, shown):
                self.events.append(Mucked(seat))
            else:
                self._show(seat)
                shown.append(seat)

    def _show(self, seat: int) -> None:
        """Cards are turned up as they were dealt; the source may name them in another order."""
        held = self.holes[seat]
        shown = self.turned.get(seat, held)
        if shown is None or sorted(shown) != sorted(held):
            raise _Unusual
        self.events.append(Shown(seat, held))

    def _pay(self, hand: Hand) -> None:
        """Every pot is paid by the rules; as the source says, or the hand is unusual."""
        new = settle(self.game, hand)
        after = evolved(hand, new)
        if not pays_as_claimed(self.source, new, after):
            raise _Unusual
        self.events += new
        self.nets = tuple(
            [n - was for was, n in zip(self.source.stacks, after.stacks, strict=True)]
        )

    def _counted(self) -> Hand:
        """The hand after betting."""
        return replace(
            self.hand,
            stacks=tuple(self.stacks),
            paid=tuple(self.paid),
            pot=sum(self.paid),
            standing=tuple(self.standing),
            hole=tuple(self.holes),
            board=self.board,
            aggressor=self.aggressor,
        )

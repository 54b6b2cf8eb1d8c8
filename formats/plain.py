"""An ordinary told hand of hold'em, made into a record in one pass, without asking the rules.

The same events as `formats.follow` makes of it, many times as fast, where nothing is unusual; of
whatever is, nothing is made. What is allowed is not looked at here: whoever takes such a record
holds it against its rules (`api/importing/vouched.py`), and follows the hand if they disagree.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from engine.game import Game
from engine.pots import Pot, layers, split
from engine.rake import rakes
from engine.seats import clockwise, others
from engine.steps import Betting, DealBoard, DealHole, Showdown
from engine.steps.sizing import is_full
from events.cards import UNKNOWN
from events.evolve import round_of
from events.state import Round
from events.types import (
    Bet,
    BettingOpened,
    BoardDealt,
    Called,
    Cards,
    Checked,
    Event,
    Events,
    Folded,
    HandEnded,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
    StepEntered,
    UncalledReturned,
)
from formats.follow import begun
from formats.told import Act, Board, Holds, Mucks, Shows, ToldHand
from odds.rank import ranker

_UNSEEN = (UNKNOWN, UNKNOWN)
_TURNED = (Shows, Mucks)
_FOLLOWED = {  # policies by which hands go as they go here
    "live_option": (True,),
    "ask_when_closed": (False,),
    "hole_order": ("one_each_from_left",),
    "kickers": ("five_cards",),
    "announce": ("cards_speak",),
    "all_in_face_up": (False,),
    "show_first": ("all_shown", "last_aggressor"),
    "first_to_act": ("left_of_button",),
    "muck": ("never", "losers_may"),
    "uncalled": ("returned",),
    "dead_chips": ("first_pot",),
    "split": ("side_pots",),
    "showdown_tie": ("split",),
    "odd_scope": ("per_pot",),
}


class Plain(NamedTuple):
    """A record, and what each seat won or lost in it."""

    record: Events
    nets: tuple[int, ...]


def plain(told: ToldHand, hand_id: str) -> Plain | None:
    """The record of a hand in which nothing is unusual."""
    if told.posts or told.dead_small or not _goes_this_way(told.game):
        return None
    try:
        play = _Play(told, hand_id)
        play.to_the_end()
    except (_Unusual, ValueError, LookupError):
        return None
    return Plain(tuple(play.events), play.nets)


class _Unusual(Exception):
    """The hand is for the rules themselves."""


@lru_cache(maxsize=4096)
def _goes_this_way(game: Game) -> bool:
    """Whether these rules are hold'em with nothing in it that is not done here."""
    _, hole, *streets, last = game.script
    return (
        hole == DealHole(2)
        and isinstance(last, Showdown)
        and all(isinstance(line, Betting | DealBoard) for line in streets)
        and all(getattr(game, name) in values for name, values in _FOLLOWED.items())
    )


class _Play:
    """A table while a told hand is played on it; `at` is the told item that comes next."""

    def __init__(self, told: ToldHand, hand_id: str) -> None:
        game, items = told.game, told.told
        new, hand = begun(game, told.button, told.players, told.stacks, (), False)
        if any(hand.dead):
            raise _Unusual
        self.told, self.game, self.hand, self.items = told, game, hand, items
        self.events: list[Event] = [replace(hand.start, hand=hand_id), *new[1:]]
        self.stacks, self.paid = list(hand.stacks), list(hand.paid)
        self.stays = [True] * len(self.stacks)
        self.live = [standing == "live" for standing in hand.standing]
        self.aggressor: int | None = None
        self.board: Cards = ()
        self.at = 0
        self.turned = self._turned_in_the_end()
        self.holes = self._held()
        self._begin_round(round_of(hand))

    def to_the_end(self) -> None:
        """Every line of the script in order, as long as several seats are in."""
        game, events = self.game, self.events
        order = clockwise(self.hand, self.told.button)
        events += [HoleDealt(seat, self.holes[seat]) for seat in order]
        for at, line in enumerate(game.script):
            if isinstance(line, Betting):
                self._bet(at, line, order)
                self._give_back()
                if self.stays.count(True) == 1:
                    self._pay_the_last()
                    break
            elif isinstance(line, DealBoard):
                events.append(line.enter(game, self.hand, at)[0])
                self._deal(line.total)
            elif isinstance(line, Showdown):
                events.append(StepEntered(at, "showdown"))
                self._show_down(order)
        events.append(HandEnded())
        if self.at < self.last:
            raise _Unusual

    # Cards.

    def _turned_in_the_end(self) -> dict[int, Cards | None]:
        """Who shows what in the end, or throws it away; nobody does so twice, or before."""
        self.last = len(self.items)
        found: dict[int, Cards | None] = {}
        while self.last and isinstance(item := self.items[self.last - 1], _TURNED):
            if item.seat in found or not 0 <= item.seat < len(self.stacks):
                raise _Unusual
            found[item.seat] = item.cards if isinstance(item, Shows) else None
            self.last -= 1
        return found

    def _held(self) -> list[Cards]:
        """Every seat's cards: told in the beginning, or when they are shown, or by nobody."""
        found: dict[int, Cards] = {}
        while self.at < self.last and isinstance(item := self.items[self.at], Holds):
            if item.seat in found or not 0 <= item.seat < len(self.stacks):
                raise _Unusual
            found[item.seat] = item.cards
            self.at += 1
        cards = [
            found[seat] if seat in found else self.turned.get(seat) or _UNSEEN
            for seat in range(len(self.stacks))
        ]
        if any(len(held) != 2 for held in cards) or self._unknown_in_the_end(cards):
            raise _Unusual
        return cards

    def _unknown_in_the_end(self, cards: Sequence[Cards]) -> bool:
        """Whether a card could decide who is paid that nobody has told; only the rules say so."""
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
        self.bets, self.matched = list(now.bets), list(now.matched)
        self.now, self.bet, self.poster = now, now.bet, now.poster

    def _bet(self, at: int, line: Betting, order: Sequence[int]) -> None:
        """A round of betting, if anybody is asked."""
        poster = self.poster
        seat = self._asked(order if poster is None else clockwise(self.hand, poster))
        if seat is None:
            return
        self.aggressor = None
        bet, size = self.bet, line.size
        self.now = Round((), (), bet=bet, size=size, level=bet, least=bet + size)
        self.events.append(BettingOpened(at, line.street, bet, size, seat))
        while seat is not None:
            item = self.items[self.at] if self.at < self.last else None
            if type(item) is not Act or item.seat != seat or item.default:
                raise _Unusual
            self.at += 1
            seat = self._act(item)

    def _act(self, item: Act) -> int | None:
        """One choice, and who is asked next."""
        seat, verb, owed = item.seat, item.verb, self.bet - self.bets[item.seat]
        if verb == "fold" and (owed > 0 or self.game.fold_when_free):
            self.stays[seat] = self.live[seat] = False
            asked = None if self.stays.count(True) == 1 else self._asked(others(self.hand, seat))
            self.events.append(Folded(seat, asked))
            return asked
        if verb == "raise":
            return self._raise(seat, item.to)
        if verb == "fold" or (verb == "check") == (owed > 0):
            raise _Unusual
        self.matched[seat] = self.bet
        if verb == "check":
            asked = self._asked(others(self.hand, seat))
            self.events.append(Checked(seat, asked))
            return asked
        amount = min(owed, self.stacks[seat])
        if item.amount is not None and item.amount != amount:
            raise _Unusual
        self._put_in(seat, amount)
        asked = self._asked(others(self.hand, seat))
        self.events.append(Called(seat, amount, asked))
        return asked

    def _raise(self, seat: int, to: int | None) -> int | None:
        now, before = self.now, self.bet
        if to is None or to <= before or to - self.bets[seat] > self.stacks[seat]:
            raise _Unusual
        amount, full = to - self.bets[seat], is_full(self.game, now, to)
        least = max(now.least, 2 * to - before)
        size, level = (max(now.size, to - before), to) if full else (now.size, now.level)
        self.now = Round((), (), bet=to, size=size, level=level, least=least)
        self.bet = self.matched[seat] = to
        self.aggressor = seat
        self._put_in(seat, amount)
        asked = self._asked(others(self.hand, seat))
        self.events.append(
            Raised(seat, amount, to, full, asked) if before else Bet(seat, amount, full, asked)
        )
        return asked

    def _put_in(self, seat: int, amount: int) -> None:
        self.bets[seat] += amount
        self.paid[seat] += amount
        self.stacks[seat] -= amount
        self.live[seat] = self.stacks[seat] > 0

    def _asked(self, order: Sequence[int]) -> int | None:
        """The first in order who owes an answer; nobody, if nothing can change by it (G8)."""
        for seat in order:
            if self.live[seat] and self.matched[seat] < self.bet:
                if self.live.count(True) > 1:
                    return seat
                rivals = zip(range(len(self.bets)), self.bets, self.stays, strict=True)
                most = max([bet for other, bet, stays in rivals if stays and other != seat])
                return seat if self.bets[seat] < most else None
        return None

    def _give_back(self) -> None:
        """The part of the last bet that nobody matched (G4)."""
        *_, matched, most = sorted(self.paid)
        if matched < most:
            seat = self.paid.index(most)
            self.events.append(UncalledReturned(seat, most - matched))
            self.stacks[seat] += most - matched
            self.paid[seat] = matched

    # The end.

    def _show_down(self, order: Sequence[int]) -> None:
        """Each in his turn, as the rules or the source have it; then every pot is paid."""
        if UNKNOWN in self.board:
            raise _Unusual
        seats = tuple([seat for seat, stays in enumerate(self.stays) if stays])
        pots = layers(tuple(self.paid), seats)
        game, shown = self.game, list[int]()
        rank = ranker(game.straights, game.ranking, game.hole_min)
        worth = {seat: rank(self.holes[seat], self.board) for seat in seats}
        by_aggressor = game.show_first == "last_aggressor" and self.aggressor is not None
        first = self.aggressor if by_aggressor and self.aggressor is not None else order[0]
        for seat in (first, *others(self.hand, first)):
            if not self.stays[seat]:
                continue
            may_muck = game.muck != "never" and len(shown) > 0
            if may_muck and _loses(seat, shown, worth, pots) and self.turned.get(seat) is None:
                self.events.append(Mucked(seat))
            else:
                self._show(seat)
                shown.append(seat)
        best = [max([worth[seat] for seat in pot.seats]) for pot in pots]
        won = [
            tuple([seat for seat in order if seat in pot.seats and worth[seat] == most])
            for pot, most in zip(pots, best, strict=True)
        ]
        self._pay([pot.amount for pot in pots], won)

    def _show(self, seat: int) -> None:
        """Cards are turned up as they were dealt; the source may name them in another order."""
        held = self.holes[seat]
        told = self.turned.get(seat, held)
        if told is None or sorted(told) != sorted(held):
            raise _Unusual
        self.events.append(Shown(seat, held))

    def _pay_the_last(self) -> None:
        """The last contender wins unseen (G17)."""
        self._pay([sum(self.paid)], [(self.stays.index(True),)])

    def _pay(self, amounts: Sequence[int], won: Sequence[tuple[int, ...]]) -> None:
        """The rake of each pot, then its split; as the source says, or the hand is unusual."""
        game, told = self.game, self.told
        taken: Sequence[int] = [0] * len(amounts)
        if game.rake is not None:
            taken = rakes(game, replace(self.hand, board=self.board), tuple(amounts))
            self.events += [RakeTaken(pot, rake) for pot, rake in enumerate(taken) if rake]
        paid = [0] * len(self.stacks)
        for pot, (amount, rake, seats) in enumerate(zip(amounts, taken, won, strict=True)):
            shares = split(game, amount - rake, seats).shares
            self.events.append(PotSplit(pot, seats, shares))
            for seat, share in zip(seats, shares, strict=True):
                paid[seat] += share
        self.stacks = [left + more for left, more in zip(self.stacks, paid, strict=True)]
        nets = tuple([now - was for was, now in zip(told.stacks, self.stacks, strict=True)])
        said = list(paid)
        for one in told.paid or ():
            said[one.seat] -= one.amount
        if (
            (told.rake is not None and told.rake != sum(taken))
            or (told.nets is not None and told.nets != nets)
            or (told.paid is not None and any(said))
        ):
            raise _Unusual
        self.nets = nets


def _loses(seat: int, shown: Sequence[int], worth: Mapping[int, int], pots: Sequence[Pot]) -> bool:
    """Whether in every pot a hand shown so far is better (T10)."""
    return not any(
        all(worth[rival] <= worth[seat] for rival in shown if rival in pot.seats)
        for pot in pots
        if seat in pot.seats
    )

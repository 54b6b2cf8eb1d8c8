"""Read one hand of a gamelog line by line, as items and as sums that must fit.

What is not the grammar of these logs refuses the file. A hand whose own lines contradict each
other is only left out: `wrong` says why.
"""

import re
from collections.abc import Callable

from msgspec import convert

from events.cards import Cards, Rank
from events.types import FaultKind
from formats.mit.dialects import LargestTotals, ReplyPlace, exception_name, run_worth
from formats.mit.grammar import (
    BIDS,
    EXCEPTIONS,
    NET,
    NO_AUCTION,
    RUN,
    VERBS,
    LineCursor,
    Patterns,
    streets,
)
from formats.source import Act, AuctionBid, Board, CardToss, Fault, Holds, Item, Shows

_WON = re.compile(rf"(.*) won ({NET})")


class LogHand(LineCursor):
    """A hand of a gamelog as far as it is read: its items, what each seat holds and has put in.

    `marks` tell the dialect, `gone` are seats that the engine has given up asking. `exceptions`
    are those that do not follow from the reply.
    """

    def __init__(
        self, names: Patterns, gone: set[int], number: int, line: int, button: int, lines: list[str]
    ) -> None:
        super().__init__(names, number, line, lines)
        self.gone, self.button = gone, button
        self.items: list[Item] = []
        self.nets = [0, 0]
        self.marks: set[str] = set()
        self.exceptions: dict[ReplyPlace, str] = {}
        self._order = (button, 1 - button)  # the dealer is always named first
        self._held: list[Cards] = [(), ()]
        self._board: Cards = ()
        self._put, self._bets = [0, 0], [0, 0]
        self._bids: list[tuple[int, int]] = []
        self._before_run = 0  # what the dealer had put in when the river had been bet on
        self._meant = 0  # the most that a bidder had put in and bid
        self._swapped, self._reported = [False, False], [False, False]
        self._named = 0  # of two lines, the dealer's first, how many were read
        self._next = button
        self._noting = False  # the other has tossed a card, and this seat answers that it saw it
        self._on: str | None = None  # the number of the street that stands above a bad reply
        self._faults: list[tuple[int, str, FaultKind]] = []
        self._malformed = 0
        self.bounties: dict[int, Rank] = {}  # where they are told anew
        self.hits: list[str] = []
        self._bounties()
        self._blinds()
        self._dealt()
        self._played()
        self._ended()
        if "bids" in self.marks and "flop twice" not in self.marks:
            self.marks.add("flop once")

    @property
    def most(self) -> int:
        """The largest total of a seat."""
        return max(put + bet for put, bet in zip(self._put, self._bets, strict=True))

    def reach(self, reached: LargestTotals) -> None:
        """Count the largest total of a seat, unless the hand contradicts itself."""
        if self.wrong is None:
            reached.add(self.most, self.number)

    def reaches(self, stack: int) -> bool:
        """Whether a total, or what a bidder has put in and bids, comes up to a stack."""
        return max(self.most, self._meant) >= stack

    def unreported(self) -> str | None:
        """In logs that report swaps with the awards: a swap that is not reported."""
        for seat in (0, 1):
            if self._swapped[seat] and not self._reported[seat]:
                return f"round #{self.number}: a swap is not reported with the award"
        return None

    def cards(self, seat: int) -> Cards:
        """All that a seat could make its hand of."""
        return (*self._held[seat], *self._board)

    def _bounties(self) -> None:
        """The ranks that hold from this hand on, the dealer's first."""
        if match := self.names.bounties.fullmatch(self._line()):
            self._at += 1
            self.marks.add("bounties")
            for seat, at in zip(self._order, (1, 3), strict=True):
                if self._seat(match[at + 1], seat) != seat:
                    raise self._refused("the dealer's bounty is named first here")
                self.bounties[seat] = convert(match[at], Rank)

    def _blinds(self) -> None:
        for seat, blind in zip(self._order, (1, 2), strict=True):
            match = self._read(self.names.blind)
            if self._seat(match[1], seat) != seat or int(match[2]) != blind:
                raise self._refused("blinds of 1 and 2 come here, the dealer's first")
            self._bets[seat] = blind

    def _dealt(self) -> None:
        for seat in self._order:
            match = self._read(self.names.dealt)
            if self._seat(match[1], seat) != seat:
                raise self._refused("two cards of each come here, the dealer's first")
            self._holds(seat, tuple(match[2].split()))
        counts = {len(held) for held in self._held}
        if counts == {3}:
            self.marks.add("tosses")
        elif counts != {2}:
            raise self._refused("both are dealt as many cards")

    def _played(self) -> None:
        """Everything from the first choice to the awards."""
        while self._named < 2:
            match = self._read(self.names.line)
            kind, group = match.lastgroup, match.lastindex
            assert kind is not None
            assert group is not None
            if self._on and kind != "illegal":
                raise self._refused("below the number of a street comes what was illegal on it")
            if self._faults and kind not in _AFTER_FAULTS:
                raise self._refused("after a bad reply comes what was played instead")
            _KINDS[kind](self, match, group + 1)

    # Within a hand: choices, streets, cards.

    def act(self, match: re.Match[str], group: int) -> None:
        """A choice, or the default for the bad replies right before it."""
        seat = self._seat(match[group], self._next)
        verb, amount = match[group + 1], match[group + 2]
        if (amount is None) != (verb in ("folds", "checks", "calls")):
            raise self._refused("this verb takes no amount" if amount else "an amount is missing")
        size = int(amount or 0)
        if self._noting:
            self._note(seat, verb)
            return
        late = self._default(seat, verb, size)
        self._next = 1 - seat
        if verb == "bids":
            self._bid(seat, size, late)
            return
        if verb == "calls":
            self._bets[seat] = self._bets[1 - seat]
        elif amount:
            self._bets[seat] = size
        self.items.append(Act(seat, VERBS[verb], to=size if amount else None, default=late))

    def toss(self, match: re.Match[str], group: int) -> None:
        """A hole card joins the board; the other answers that he saw it."""
        seat, card = self._seat(match[group], self._next), match[group + 1]
        if card not in self._held[seat] or len(self._held[seat]) != 3 or not self._board:
            raise self._refused("nobody tosses a card that he does not hold, or a second one")
        self._held[seat] = tuple(held for held in self._held[seat] if held != card)
        self._board = (*self._board, card)
        self.items.append(CardToss(seat, card))
        self._next, self._noting = 1 - seat, True

    def _note(self, seat: int, verb: str) -> None:
        if verb != "checks" or seat != self._next:
            raise self._refused("a toss is answered with a check of the other")
        for who, raw, kind in self._faults:
            self.items.append(Fault(who, raw, kind, "acknowledgement"))
        self._faults.clear()
        self._noting = False

    def stacks(self, match: re.Match[str], group: int) -> None:
        """Read the stacks left, the dealer first: what both had is for most hands to say."""
        if "tosses" not in self.marks:
            self.marks.add("bounties")
        left = [int(match[group + at]) for at in (0, 1)]
        had = {chips + self._put[seat] for chips, seat in zip(left, self._order, strict=True)}
        if len(had) > 1:
            self._differs("stacks that do not fit what was put in")

    def on(self, match: re.Match[str], group: int) -> None:
        """The street of the bad reply that comes next."""
        self._on = match[group]
        if int(self._on) != len(self._board) - self._noting:
            self._differs("a bad reply on another street than the one that is played")

    def index(self, match: re.Match[str], group: int) -> None:
        """A toss of no card."""
        self._fault(match[group], f"D{match[group + 1]}", "illegal")

    def _default(self, seat: int, verb: str, size: int) -> bool:
        """Whether the engine played this for the seat: a fold, a check or a bid of nothing."""
        bad = False
        for who, raw, kind in self._faults:
            self.items.append(Fault(who, raw, kind, "bid" if verb == "bids" else "action"))
            bad = bad or who == seat
        self._faults.clear()
        return (bad or seat in self.gone) and (verb in ("folds", "checks") or size == 0)

    def _bid(self, seat: int, amount: int, late: bool) -> None:
        """The price of the auction joins the totals; it is the lower bid, of both in a tie."""
        self.marks.add("bids")
        self._bids.append((seat, amount))
        self._meant = max(self._meant, self._put[seat] + amount)
        sealed = len(self._bids) == 2  # the first is shown to the dealer before he bids (A1)
        self.items.append(AuctionBid(seat, amount, sealed, default=late))
        if len(self._bids) == 2:
            price, best = sorted(bid for _, bid in self._bids)
            for who, bid in self._bids:
                if bid == best:
                    self._put[who] += price
            self._next = 1 - self.button

    def street(self, match: re.Match[str], group: int) -> None:
        """A street; the flop of an auction is named again when it has been paid for."""
        name, board = match[group], tuple(match[group + 1].split(" "))
        if name == "Run" and len(self._board) < 5:
            raise self._refused("a run comes after the river")
        count = streets(tosses="tosses" in self.marks).get(name, len(self._board) + 1)
        if len(board) != count:
            raise self._refused(f"a {name.lower()} has {count} cards")
        for seat in (0, 1):
            self._put[seat] += self._bets[seat]
        self._bets = [0, 0]
        self._next = 1 - self.button
        for seat, at in zip(self._order, (group + 2, group + 4), strict=True):
            if self._seat(match[at], seat) != seat:
                raise self._refused("the dealer's total is named first here")
            if int(match[at + 1]) != self._put[seat]:
                self._differs(f"a total of {match[at + 1]} where {self._put[seat]} were put in")
        if board == self._board and self._bids:
            self.marks.add("flop twice")
            return
        if name == "Run" and "Run" not in self.marks:
            self._before_run = self._put[self.button]
        self.marks.add(name)
        if "tosses" in self.marks and name in ("Discard 1", "Discard 2"):  # no new card
            self._next = self.button if name == "Discard 1" else 1 - self.button
            if board != self._board:
                self._differs("a street changes the cards of the one before")
            return
        if board[: len(self._board)] != self._board:
            self._differs("a street changes the cards of the one before")
        self.items.append(Board(board[len(self._board) :]))
        self._board = board

    def hand(self, match: re.Match[str], group: int) -> None:
        """Read a player's hand after the swaps of a street."""
        self.marks.add("hands")
        seat = self._listed(match[group])
        cards = tuple(match[group + 1].split())
        self._swapped[seat] = self._swapped[seat] or cards != self._held[seat]
        self._holds(seat, cards)

    def won(self, match: re.Match[str], group: int) -> None:
        """A card won at auction; of two players of one name the higher bidder is meant."""
        self.marks.add("won")
        seat = self.names.seat(match[group])
        if seat is None:
            high = sorted(self._bids, key=lambda bid: -bid[1])
            tied = len(high) == 2 and high[0][1] == high[1][1]
            seat = self._listed(match[group]) if tied or not high else high[0][0]
        self._holds(seat, (*self._held[seat], match[group + 1]))

    def shows(self, match: re.Match[str], group: int) -> None:
        seat = self._listed(match[group])
        cards = tuple(match[group + 1].split())
        if cards[: len(self._held[seat])] != self._held[seat]:
            self._differs("a hand is shown that was not held")
        self.items.append(Shows(seat, cards))

    def award(self, match: re.Match[str], group: int) -> None:
        """Read an award, the dealer's first; nothing is played after that."""
        for at, seat in enumerate(self._order):
            if at:
                match = self._read(self.names.line)
                if match.lastgroup != "award":
                    raise self._refused("the award of the other player comes here")
            if self._seat(match[group], seat) != seat:
                raise self._refused("the dealer's award is named first here")
            self.nets[seat] = int(match[group + 2])
            if match[group + 1]:
                self.marks.add("swapped")
                self._reported[seat] = True
                if not self._swapped[seat]:
                    self._differs("a swap is reported that no hand shows")
        self._named = 2

    # Replies that failed.

    def illegal(self, match: re.Match[str], group: int) -> None:
        self._on = None
        self._fault(match[group], match[group + 1], "illegal")

    def malformed(self, match: re.Match[str], group: int) -> None:
        """An auction's log names an exception on the next line."""
        reply = match[group + 1]
        self._fault(match[group], reply, "malformed")
        self._malformed += 1
        if self._line() in EXCEPTIONS:
            self.marks.add("exception")
            if self._line() != exception_name(reply):
                self.exceptions[self.number, self._malformed] = self._line()
            self._at += 1

    def left(self, match: re.Match[str], group: int) -> None:
        """Out of time or disconnected: from here on the engine plays for this seat."""
        late = match[group + 1] == "ran out of time"
        self.gone.add(self._fault(match[group], "", "late" if late else "disconnected"))

    def _fault(self, name: str, raw: str, kind: FaultKind) -> int:
        seat = self._seat(name, self._next)
        self._faults.append((seat, raw, kind))
        return seat

    def _ended(self) -> None:
        """After the awards: a note of the auction or of the run, then bad replies to the news."""
        if self._line() == NO_AUCTION:
            self.marks.add("note")
            self._at += 1
            if self._bids:
                self._differs("an auction is said not to have been held")
        elif match := BIDS.fullmatch(self._line()):
            self.marks.add("note")
            self._at += 1
            bids = {self.button: int(match[1]), 1 - self.button: int(match[2])}
            if bids != dict(self._bids):
                self._differs("other bids are reported than were made")
        elif self._line() == RUN:
            self.marks.add(RUN)
            self._at += 1
            by_run = run_worth(self.nets, self.button, self._before_run)
            for seat, won in zip(self._order, by_run, strict=True):
                match = self._read(_WON)
                if self._seat(match[1], seat) != seat or int(match[2]) != won:
                    self._differs("another sum is won by the run than the awards come to")
        while hit := self.names.hits.fullmatch(self._line()):
            self.marks |= {"bounties", "hits"}
            self.hits.append(hit[1])
            self._at += 1
        self._next = self.button
        while self._at < len(self._lines) and not self._counts():
            match = self._read(self.names.line)
            if match.lastgroup not in ("illegal", "malformed", "left"):
                raise self._refused("after the awards come bad replies or nothing")
            _KINDS[match.lastgroup](self, match, (match.lastindex or 0) + 1)
        for seat, raw, kind in self._faults:
            self.items.append(Fault(seat, raw, kind, "acknowledgement"))

    def _counts(self) -> bool:
        """Whether the last line tells what both have won by now: with what the hand changed."""
        counts = self.names.counts.fullmatch(self._line())
        begun = self.names.round.fullmatch(self._lines[0])
        if counts is None or begun is None:
            return False
        self.marks.add("bounties")
        self._at += 1
        if self._at < len(self._lines):
            raise self._refused("nothing comes after the winning counts")
        for seat, at in zip(self._order, (1, 3), strict=True):
            if self._seat(counts[at], seat) != seat:
                raise self._refused("the dealer's count is named first here")
            if int(counts[at + 1]) != int(begun[at + 2]) + self.nets[seat]:
                self._differs("other winning counts are told than the awards come to")
        return True

    def _listed(self, name: str) -> int:
        """Of two players of one name, the dealer is listed first."""
        self._named = 1 - self._named
        return self._seat(name, self._order[1 - self._named])

    def _holds(self, seat: int, cards: Cards) -> None:
        self._held[seat] = cards
        self.items.append(Holds(seat, cards))


_KINDS: dict[str, Callable[[LogHand, re.Match[str], int], None]] = {
    "act": LogHand.act,
    "street": LogHand.street,
    "hand": LogHand.hand,
    "won": LogHand.won,
    "stacks": LogHand.stacks,
    "shows": LogHand.shows,
    "award": LogHand.award,
    "illegal": LogHand.illegal,
    "malformed": LogHand.malformed,
    "left": LogHand.left,
    "toss": LogHand.toss,
    "on": LogHand.on,
    "index": LogHand.index,
}
_AFTER_FAULTS = ("act", "illegal", "malformed", "on", "index")

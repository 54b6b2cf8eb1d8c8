"""Write hands as a gamelog, to the byte the file they were read from, or as one of our own.

A log of our own has the newest dialect of its game (T1, A3, S3), with a footer that is counted as
the engine would, or an older one that is asked for; the footer of a log that was read is text, and
written as it was.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from events.cards import Cards
from events.evolve import evolve
from events.match import SourceNoted
from events.state import Hand, opened
from events.types import (
    Bet,
    BettingOpened,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    BountyDrawn,
    Called,
    CardSwapped,
    Checked,
    Claimed,
    Event,
    Events,
    Faulted,
    Folded,
    HandEnded,
    HandStarted,
    HandVoided,
    HoleDealt,
    Raised,
    StepEntered,
    Tossed,
)
from formats.mit.dialects import (
    ENGINES,
    LogNote,
    StreetWorth,
    exception_name,
    log_note,
    own_log_note,
    run_worth,
)
from formats.mit.grammar import BOUNTY_HANDS, NO_AUCTION, RUN, header_names, streets

_NO_TEXT = "\ufffd"  # stands in a kept reply for bytes that were no text
_ACTIONS = {"F": "Fold", "C": "Call", "K": "Check", "R": "Raise", "A": "Bid", "D": "Discard"}


def write(
    records: Iterable[Events], note: SourceNoted | None = None, dialect: str | None = None
) -> str:
    """The whole log; a ValueError where no gamelog could say what happened."""
    return "".join(log_pieces(records, note, dialect))


def encoded_log(text: str, note: SourceNoted | None = None) -> bytes:
    """The log as the bytes it was read from."""
    return text.encode(log_note(note).encoding if note else "utf-8")


def ordered_rounds(records: Iterable[Events], *, mirrored: bool) -> Iterator[Events]:
    """The hands in the order of their numbers; none is missing, because a log counts its rounds.

    A mirrored match is played leg by leg: its hands wait until those before them have come.
    """
    waiting: dict[str, tuple[str, Events]] = {}
    count = 1
    for record in records:
        start = record[0]
        assert isinstance(start, HandStarted)
        waiting[start.hand.rpartition("/")[2]] = start.hand, record
        while following := waiting.pop(str(count), None):
            yield following[1]
            count += 1
        if not mirrored:
            _check_none_waits(count, waiting)
    _check_none_waits(count, waiting)


def _check_none_waits(count: int, waiting: Mapping[str, tuple[str, Events]]) -> None:
    if waiting:
        number = min(waiting, key=lambda number: (len(number), number))
        raise ValueError(
            f"round {count} is not in the ledger, {waiting[number][0]} comes in its place: "
            "a gamelog cannot leave a round out"
        )


def log_pieces(
    records: Iterable[Events], note: SourceNoted | None = None, dialect: str | None = None
) -> Iterator[str]:
    """The log hand by hand, so that it may have any length."""
    noted = log_note(note) if note else None
    if noted and dialect not in (None, noted.dialect):
        noted = None
    end = noted.newline if noted else "\n"
    log: _LogWriter | None = None
    for record in records:
        start = record[0]
        assert isinstance(start, HandStarted)
        if log is None:
            log = _LogWriter(noted or own_log_note(start, dialect), start, own=noted is None)
            yield f"{log.noted.header}\n\n".replace("\n", end)
        yield "\n".join([*log.hand(record), "", ""]).replace("\n", end)
    if log is None:
        if noted is None:
            raise ValueError("no hands: a gamelog names its players, and there are none")
        log = _LogWriter(noted, None)
        yield f"{noted.header}\n\n".replace("\n", end)
    yield (log.final() + (log.noted.footer if noted else log.footer())).replace("\n", end)


class _LogWriter:
    """Writes a log: names by seat, winnings so far, the number of hands."""

    def __init__(self, noted: LogNote, start: HandStarted | None, *, own: bool = False) -> None:
        self.noted, self.own = noted, own
        self.first = 0 if start is None else start.button
        names = (start.players[self.first], start.players[1 - self.first]) if start else ("", "")
        pairs = header_names(noted.header)
        if names not in pairs and pairs:
            names = pairs[0]
        self.names = names if self.first == 0 else names[::-1]
        self.banks = [0, 0]
        self.count = 0
        if noted.dialect not in ENGINES:
            raise ValueError(f"this log is in dialect {noted.dialect}, which is not known here")
        self.engine = ENGINES[noted.dialect]
        self.worth = StreetWorth(self.engine.worth)
        self.bounties: dict[int, str] = {}

    def hand(self, record: Events) -> list[str]:
        """The lines of one hand."""
        self.count += 1
        start = record[0]
        assert isinstance(start, HandStarted)
        if start.button != (self.first + self.count - 1) % 2:
            raise ValueError(f"{start.hand}: in a gamelog the players take turns to deal")
        written = _HandWriter(self, start)
        for event in record[1:]:
            self.worth.event(self.names, written.hand, event)
            written.event(event)
        nets = written.nets()
        for seat in (0, 1):
            self.banks[seat] += nets[seat]
        self.worth.ended(self.names, nets)
        if self.engine.bounties:
            counts = f"Winning counts at the end of the round: , {self.standing(start.button)}"
            written.lines.append(counts)
        return written.lines

    def final(self) -> str:
        """In the order of the hand that would have come next."""
        return f"Final, {self.standing(self._next)}"

    def footer(self) -> str:
        """The worth of each street, in the dialects that write it."""
        names = (self.names[self._next], self.names[1 - self._next])
        return self.worth.footer(names) if self.engine.worth else ""

    @property
    def _next(self) -> int:
        return (self.first + self.count) % 2

    def standing(self, dealer: int) -> str:
        order = (dealer, 1 - dealer)
        return ", ".join(f"{self.names[seat]} ({self.banks[seat]})" for seat in order)


_STREETS = [
    {size: name for name, size in streets(tosses=tosses).items()} for tosses in (False, True)
]


class _HandWriter:
    """Writes the lines of one hand."""

    def __init__(self, log: _LogWriter, start: HandStarted) -> None:
        self.log, self.engine = log, log.engine
        self.hand: Hand = opened(start)
        self.order = (start.button, 1 - start.button)
        self.lines = [f"Round #{log.count}, {log.standing(start.button)}"]
        self.bids: dict[int, int] = {}
        self.swapped: set[int] = set()
        self.shows_hands = False  # after this street's swaps, both hands are written
        self.noting: int | None = None  # who has not answered yet that he saw a toss
        self.malformed = 0
        self.before_run: int | None = None  # what the dealer had put in, if he had chips left

    def nets(self) -> list[int]:
        was, now = self.hand.start.stacks, self.hand.stacks
        return [now[seat] - was[seat] for seat in (0, 1)]

    def event(self, event: Event) -> None:
        """The lines of one event, if it has any."""
        if self.noting is not None:  # a few events may stand between a toss and its answer
            late = isinstance(event, Faulted) and event.where == "acknowledgement"
            if not late and not isinstance(event, StepEntered | BettingOpened):
                self._note()
        self.hand = evolve(self.hand, event)
        if self.shows_hands and not isinstance(event, CardSwapped | StepEntered):
            self._hands()
        if lines := _LINES.get(type(event)):
            lines(self, event)

    def _hole(self, event: HoleDealt) -> None:
        """The first cards; what comes later was won at auction."""
        if len(self.hand.hole[event.seat]) == len(event.cards):
            self.says(event.seat, f"dealt [{' '.join(event.cards)}]")
        else:
            self._won(event.seat, event.cards)

    def _board(self, event: BoardDealt) -> None:
        self._street()
        self.shows_hands = self.engine.hands and len(self.hand.board) < 5

    def _swap(self, event: CardSwapped) -> None:
        if event.old != event.new:
            self.swapped.add(event.seat)

    def _bid(self, event: BidPlaced) -> None:
        self.bids[event.seat] = event.amount
        self.says(event.seat, f"bids {event.amount}")

    def _toss(self, event: Tossed) -> None:
        self.says(event.seat, f"discards {' '.join(event.cards)}")
        self.noting = 1 - event.seat

    def _claim(self, event: Claimed) -> None:
        claim = "a claim that its own chips refute"
        raise ValueError(f"{self.hand.start.hand} has {claim}: no gamelog can say both")

    def _void(self, event: HandVoided) -> None:
        raise ValueError(f"{self.hand.start.hand} was voided: no gamelog can say so")

    def says(self, seat: int, deed: str) -> None:
        """A line of this seat's."""
        self.lines.append(f"{self.log.names[seat]} {deed}")

    def _note(self) -> None:
        """The answer to a toss is a check; the street after it only names the card."""
        assert self.noting is not None
        self.says(self.noting, "checks")
        self.noting = None
        self._street()

    def _street(self) -> None:
        """The cards, and what both have put in so far, the price of an auction included."""
        hand, board = self.hand, self.hand.board
        first, second = self.order
        if len(board) == 6 and not self.engine.tosses and hand.stacks[first]:
            self.before_run = hand.paid[first]
        street = _STREETS[self.engine.tosses].get(len(board), "Run")
        put_in = [f"{self.log.names[s]} ({hand.paid[s] + hand.dead[s]})" for s in self.order]
        self.lines.append(f"{street} [{' '.join(board)}], {', '.join(put_in)}")
        if self.engine.tosses or self.engine.bounties:
            self.lines.append(f"Current stacks: {hand.stacks[first]}, {hand.stacks[second]}")

    def _bounties(self, event: BountyDrawn) -> None:
        """Told every 25 hands below the line of the round, and where they are others than told."""
        drawn: dict[int, str] = dict(self.hand.bounties)
        if len(drawn) < len(self.order):
            return
        if self.log.bounties != drawn or self.log.count % BOUNTY_HANDS == 1:
            each = (f"{drawn[seat]} for player {self.log.names[seat]}" for seat in self.order)
            self.lines.insert(1, f"Bounties reset to {' and '.join(each)}")
        self.log.bounties = drawn

    def _hits(self) -> None:
        """The players who have a card of their rank, winners or not; the dealer first."""
        ranks = dict(self.hand.bounties)
        for seat in self.order:
            cards = (*self.hand.hole[seat], *self.hand.board)
            if any(card[0] == ranks.get(seat) for card in cards):
                self.says(seat, "hits their bounty")

    def _hands(self) -> None:
        self.shows_hands = False
        for seat in self.order:
            self.lines.append(f"{self.log.names[seat]}'s hand: [{' '.join(self.hand.hole[seat])}]")

    def _won(self, seat: int, cards: Cards) -> None:
        """Named since 13 January; the flop again, once everybody has his card, since the 9th."""
        if self.engine.won:
            self.says(seat, f"won the auction and was dealt [{' '.join(cards)}]")
        auction = self.hand.auction
        if self.engine.again and (auction is None or not auction.due):
            self._street()

    def _fault(self, event: Faulted) -> None:
        match event.kind:
            case "late":
                self.says(event.seat, "ran out of time")
            case "disconnected":
                self.says(event.seat, "disconnected")
            case "illegal" if self.engine.tosses:
                self._illegal(event)
            case "illegal":
                self.says(event.seat, f"attempted illegal {self._attempt(event.raw)}")
            case "malformed":
                # Bytes that were no text never became a reply for that engine: it logged an empty
                # one, and the exception of its decoder.
                no_text = self.log.own and _NO_TEXT in event.raw
                raw = "" if no_text else event.raw
                self.says(event.seat, f"response misformatted: {raw}")
                self.malformed += 1
                if self.engine.auction:
                    place = (self.log.count, self.malformed)
                    derived = "ValueError" if no_text else exception_name(raw)
                    self.lines.append(self.log.noted.exceptions.get(place, derived))

    def _illegal(self, event: Faulted) -> None:
        """As the engine of 2026 has it: it says nothing of a raise by another amount than it may
        be, and stops at an illegal reply to the end of a hand, so of that it has no street."""
        raw, now = event.raw, self.hand.round
        at_toss = self.noting is None and self.hand.street == "toss"
        if at_toss and raw[:1] == "D":
            self.says(event.seat, f"attempted to discard invalid index {int(raw[1:])}")
            return
        if raw[:1] == "R" and "Action" not in raw and self.noting is None and now is not None:
            owed = now.bet - now.bets[event.seat]
            left, other = self.hand.stacks[event.seat], self.hand.stacks[1 - event.seat]
            if not at_toss and not self.hand.over and other and left and left != owed:
                return
        if not self.hand.over:
            street = len(self.hand.board) - (self.noting is not None)
            self.lines.append(f"street = {street}")
        self.says(event.seat, f"attempted illegal {self._attempt(raw)}")

    def _attempt(self, raw: str) -> str:
        """A reply of a program of ours as the engine would have named it."""
        if "Action" in raw or raw[:1] not in _ACTIONS:
            return raw
        action = f"{_ACTIONS[raw[0]]}Action"
        if raw[0] not in "RA" or not self.engine.auction or len(raw) == 1:
            return action
        try:
            return f"{action} with amount {int(raw[1:])}"  # as that engine read it: R1_0 is 10
        except ValueError:
            return f"{action} with amount {raw[1:]}"

    def _awards(self, event: HandEnded) -> None:
        """Both hands if there was a showdown, then what the hand changed for both."""
        if "folded" not in self.hand.standing:
            for seat in self.order:
                self.says(seat, f"shows [{' '.join(self.hand.hole[seat])}]")
        for seat in self.order:
            tag = "(swapped) " if seat in self.swapped and self.engine.swapped else ""
            self.says(seat, f"{tag}awarded {self.nets()[seat]}")
        if self.engine.hits:
            self._hits()
        if self.engine.run and self.before_run is not None:
            self.lines.append(RUN)
            won = run_worth(self.nets(), self.order[0], self.before_run)
            for seat, amount in zip(self.order, won, strict=True):
                self.says(seat, f"won {amount}")
        if not self.engine.auction:
            return
        if self.bids:
            dealer, other = (self.bids.get(seat, 0) for seat in self.order)
            self.lines.append(f"Players submitted bids of {dealer} and {other}")
        else:
            self.lines.append(NO_AUCTION)


_LINES: dict[type[Event], Callable[[_HandWriter, Any], None]] = {  # all others have none
    BountyDrawn: _HandWriter._bounties,
    HoleDealt: _HandWriter._hole,
    BoardDealt: _HandWriter._board,
    CardSwapped: _HandWriter._swap,
    BidPlaced: _HandWriter._bid,
    Tossed: _HandWriter._toss,
    BlindPosted: lambda hand, event: hand.says(event.seat, f"posts the blind of {event.amount}"),
    Folded: lambda hand, event: hand.says(event.seat, "folds"),
    Checked: lambda hand, event: hand.says(event.seat, "checks"),
    Called: lambda hand, event: hand.says(event.seat, "calls"),
    Bet: lambda hand, event: hand.says(event.seat, f"bets {event.amount}"),
    Raised: lambda hand, event: hand.says(event.seat, f"raises to {event.to}"),
    Faulted: _HandWriter._fault,
    HandEnded: _HandWriter._awards,
    Claimed: _HandWriter._claim,
    HandVoided: _HandWriter._void,
}

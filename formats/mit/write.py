"""Hands as a gamelog: to the byte the file they were read from, or a log of our own hands.

A log of our own has the newest dialect of its game (A3, S3), with a footer that is counted as the
engine would, or an older one that is asked for; the footer of a log that was read is text, and
written as it was.

The footer of the newest engines tells what the bets of each street were worth to each player: their
own odd count, kept as it is. A player's stake is divided at certain moments into the parts
"preflop", "flop" and "turn"; a hand that he won adds each part to his total, a lost one takes it
away. The engine of 2022 divides when a street is dealt. That of 2024 divides whenever it asks
somebody, so there "preflop" holds the flop's bets too, and "turn", if no turn came, earlier ones.
That of 2025 does the same, and begins no hand anew: a hand without a flop counts the one before.
Players of one name share one count.
"""

from collections.abc import Iterable, Iterator, Mapping

from events.evolve import evolve
from events.state import Hand, opened
from events.types import (
    Bet,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    BountyDrawn,
    Called,
    Cards,
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
    SourceNoted,
    StepEntered,
)
from formats.mit.dialects import ENGINES, own_dialect
from formats.mit.grammar import BOUNTY_HANDS, NO_AUCTION, RUN, splits
from formats.mit.note import Noted, exception_of, unnoted, won_by_run

_PARTS = ("preflop", "flop", "turn")
_ASKED = (Folded, Checked, Called, Bet, Raised, BidPlaced)


class Worth:
    """Totals by name over a whole log; the parts of the hand at work, by seat."""

    def __init__(self, divided: str | None) -> None:
        self._divided = divided
        self._totals: dict[str, list[int]] = {}
        self._parts = [[0, 0, 0], [0, 0, 0]]

    def event(self, before: Hand, event: Event) -> None:
        """A moment at which stakes are divided, or none."""
        board = len(before.board)
        if self._divided in ("asked", "kept") and isinstance(event, _ASKED):
            self._divide(before, {3: 0, 4: 1}.get(board, 2))
        if self._divided == "dealt" and isinstance(event, BoardDealt):
            self._divide(before, {0: 0, 3: 1, 4: 2}[board])

    def _divide(self, hand: Hand, part: int) -> None:
        for seat, parts in enumerate(self._parts):
            stake = hand.start.stacks[seat] - hand.stacks[seat]
            parts[part] = stake - sum(parts[:part])

    def ended(self, names: tuple[str, ...], nets: list[int]) -> None:
        """The hand is over: what was won or lost counts."""
        for name, net, parts in zip(names, nets, self._parts, strict=True):
            sign = (net > 0) - (net < 0)
            total = self._totals.setdefault(name, [0, 0, 0])
            for part, stake in enumerate(parts):
                total[part] += sign * stake
        if self._divided != "kept":
            self._parts = [[0, 0, 0], [0, 0, 0]]

    def footer(self, names: tuple[str, ...]) -> str:
        """Three lines a player."""
        return "".join(
            f"\n{name} {part} bets EV: {total}"
            for name in names
            for part, total in zip(_PARTS, self._totals.get(name, (0, 0, 0)), strict=True)
        )


_NO_TEXT = "\ufffd"  # stands in a kept reply for bytes that were no text
_STREETS = {3: "Flop", 4: "Turn", 5: "River"}
_ACTIONS = {"F": "Fold", "C": "Call", "K": "Check", "R": "Raise", "A": "Bid"}


def write(
    records: Iterable[Events], note: SourceNoted | None = None, dialect: str | None = None
) -> str:
    """The whole log; a ValueError where no gamelog could say what happened."""
    return "".join(pieces(records, note, dialect))


def encoded(text: str, note: SourceNoted | None = None) -> bytes:
    """The log as the bytes it was read from."""
    return text.encode(unnoted(note).encoding if note else "utf-8")


def rounds(records: Iterable[Events], *, mirrored: bool) -> Iterator[Events]:
    """The hands in the order of their numbers; none is missing, because a log counts its rounds.

    A mirrored match is played leg by leg: its hands wait until those before them have come.
    """
    waiting: dict[str, tuple[str, Events]] = {}
    count = 1
    for record in records:
        start = record[0]
        assert isinstance(start, HandStarted)
        waiting[start.hand.rpartition("/")[2]] = start.hand, record
        while found := waiting.pop(str(count), None):
            yield found[1]
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


def pieces(
    records: Iterable[Events], note: SourceNoted | None = None, dialect: str | None = None
) -> Iterator[str]:
    """The log hand by hand, so that it may have any length."""
    found = unnoted(note) if note else None
    if found and dialect not in (None, found.dialect):
        found = None
    end = found.newline if found else "\n"
    for piece in _log(records, found, dialect):
        yield piece if end == "\n" else piece.replace("\n", end)


def _log(records: Iterable[Events], found: Noted | None, dialect: str | None) -> Iterator[str]:
    log: _Log | None = None
    for record in records:
        start = record[0]
        assert isinstance(start, HandStarted)
        if log is None:
            log = _Log(found or _noted(start, dialect), start, own=found is None)
            yield f"{log.noted.header}\n\n"
        yield "\n".join([*log.hand(record), "", ""])
    if log is None:
        if found is None:
            raise ValueError("no hands: a gamelog names its players, and there are none")
        log = _Log(found, None)
        yield f"{found.header}\n\n"
    yield log.final() + (log.noted.footer if found else log.footer())


def _noted(start: HandStarted, dialect: str | None) -> Noted:
    """A log of our own: the engine's header, by the course of that year."""
    if len(start.players) != 2:
        raise ValueError(f"a gamelog has two players, not {len(start.players)}")
    first, second = start.players[start.button], start.players[1 - start.button]
    if any("\n" in name or "\r" in name for name in start.players):
        raise ValueError("a gamelog has a line for each event: no name may break one")
    dialect = own_dialect(start.game, dialect)
    return Noted(dialect, f"{ENGINES[dialect].course} MIT Pokerbots - {first} vs {second}")


class _Log:
    """What goes from hand to hand: names by seat, won so far, how many hands there were."""

    def __init__(self, noted: Noted, start: HandStarted | None, *, own: bool = False) -> None:
        self.noted, self.own = noted, own
        self.first = 0 if start is None else start.button
        names = (start.players[self.first], start.players[1 - self.first]) if start else ("", "")
        found = splits(noted.header)
        if names not in found and found:
            names = found[0]
        self.names = names if self.first == 0 else names[::-1]
        self.banks = [0, 0]
        self.count = 0
        if noted.dialect not in ENGINES:
            raise ValueError(f"this log is in dialect {noted.dialect}, which is not known here")
        self.engine = ENGINES[noted.dialect]
        self.worth = Worth(self.engine.worth)
        self.bounties: dict[int, str] = {}

    def hand(self, record: Events) -> list[str]:
        """The lines of one hand."""
        self.count += 1
        start = record[0]
        assert isinstance(start, HandStarted)
        if start.button != (self.first + self.count - 1) % 2:
            raise ValueError(f"{start.hand}: in a gamelog the players take turns to deal")
        written = _Hand(self, start)
        for event in record[1:]:
            self.worth.event(written.hand, event)
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
        """What each street was worth, in the dialects that say so."""
        names = (self.names[self._next], self.names[1 - self._next])
        return self.worth.footer(names) if self.engine.worth else ""

    @property
    def _next(self) -> int:
        return (self.first + self.count) % 2

    def standing(self, dealer: int) -> str:
        order = (dealer, 1 - dealer)
        return ", ".join(f"{self.names[seat]} ({self.banks[seat]})" for seat in order)


class _Hand:
    """One hand being written."""

    def __init__(self, log: _Log, start: HandStarted) -> None:
        self.log, self.engine = log, log.engine
        self.hand: Hand = opened(start)
        self.order = (start.button, 1 - start.button)
        self.lines = [f"Round #{log.count}, {log.standing(start.button)}"]
        self.bids: dict[int, int] = {}
        self.swapped: set[int] = set()
        self.shows_hands = False  # after this street's swaps, both hands are written
        self.malformed = 0
        self.before_run: int | None = None  # what the dealer had put in, if he had chips left

    def nets(self) -> list[int]:
        was, now = self.hand.start.stacks, self.hand.stacks
        return [now[seat] - was[seat] for seat in (0, 1)]

    def event(self, event: Event) -> None:
        before = self.hand
        self.hand = evolve(before, event)
        if self.shows_hands and not isinstance(event, CardSwapped | StepEntered):
            self._hands()
        match event:
            case BountyDrawn() if len(self.hand.bounties) == len(self.order):
                self._bounties(dict(self.hand.bounties))
            case BlindPosted(seat=seat, amount=amount):
                self._says(seat, f"posts the blind of {amount}")
            case HoleDealt(seat=seat, cards=cards) if before.hole[seat] == ():
                self._says(seat, f"dealt [{' '.join(cards)}]")
            case HoleDealt(seat=seat, cards=cards):
                self._won(seat, cards)
            case BoardDealt():
                self._street()
                self.shows_hands = self.engine.hands and len(self.hand.board) < 5
            case CardSwapped(seat=seat, old=old, new=new):
                if old != new:
                    self.swapped.add(seat)
            case BidPlaced(seat=seat, amount=amount):
                self.bids[seat] = amount
                self._says(seat, f"bids {amount}")
            case Folded(seat=seat):
                self._says(seat, "folds")
            case Checked(seat=seat):
                self._says(seat, "checks")
            case Called(seat=seat):
                self._says(seat, "calls")
            case Bet(seat=seat, amount=amount):
                self._says(seat, f"bets {amount}")
            case Raised(seat=seat, to=to):
                self._says(seat, f"raises to {to}")
            case Faulted():
                self._fault(event)
            case HandEnded():
                self._awards()
            case Claimed():
                claim = "a claim that its own chips refute"
                raise ValueError(f"{self.hand.start.hand} has {claim}: no gamelog can say both")
            case HandVoided():
                raise ValueError(f"{self.hand.start.hand} was voided: no gamelog can say so")
            case _:
                pass

    def _says(self, seat: int, what: str) -> None:
        self.lines.append(f"{self.log.names[seat]} {what}")

    def _street(self) -> None:
        """The cards, and what both have put in so far, the price of an auction included."""
        board = self.hand.board
        dealer = self.order[0]
        if len(board) == 6 and self.hand.stacks[dealer]:
            self.before_run = self.hand.paid[dealer]
        put_in = (self.hand.paid[seat] + self.hand.dead[seat] for seat in self.order)
        names = (self.log.names[seat] for seat in self.order)
        totals = ", ".join(f"{name} ({total})" for name, total in zip(names, put_in, strict=True))
        self.lines.append(f"{_STREETS.get(len(board), 'Run')} [{' '.join(board)}], {totals}")
        if self.engine.bounties:
            left = ", ".join(str(self.hand.stacks[seat]) for seat in self.order)
            self.lines.append(f"Current stacks: {left}")

    def _bounties(self, drawn: Mapping[int, str]) -> None:
        """Told every 25 hands below the line of the round, and where they are others than told."""
        if self.log.bounties != drawn or self.log.count % BOUNTY_HANDS == 1:
            said = (f"{drawn[seat]} for player {self.log.names[seat]}" for seat in self.order)
            self.lines.insert(1, f"Bounties reset to {' and '.join(said)}")
        self.log.bounties = {**drawn}

    def _hits(self) -> None:
        """Who has a card of his rank, whoever won; the dealer first."""
        ranks = dict(self.hand.bounties)
        for seat in self.order:
            cards = (*self.hand.hole[seat], *self.hand.board)
            if any(card[0] == ranks.get(seat) for card in cards):
                self._says(seat, "hits their bounty")

    def _hands(self) -> None:
        self.shows_hands = False
        for seat in self.order:
            self.lines.append(f"{self.log.names[seat]}'s hand: [{' '.join(self.hand.hole[seat])}]")

    def _won(self, seat: int, cards: Cards) -> None:
        """Named since 13 January; the flop again, once everybody has his card, since the 9th."""
        if self.engine.won:
            self._says(seat, f"won the auction and was dealt [{' '.join(cards)}]")
        auction = self.hand.auction
        if self.engine.again and (auction is None or not auction.due):
            self._street()

    def _fault(self, event: Faulted) -> None:
        match event.kind:
            case "late":
                self._says(event.seat, "ran out of time")
            case "disconnected":
                self._says(event.seat, "disconnected")
            case "illegal":
                self._says(event.seat, f"attempted illegal {self._attempt(event.raw)}")
            case "malformed":
                # Bytes that were no text never became a reply for that engine: it logged an empty
                # one, and the exception of its decoder.
                no_text = self.log.own and _NO_TEXT in event.raw
                raw = "" if no_text else event.raw
                self._says(event.seat, f"response misformatted: {raw}")
                self.malformed += 1
                if self.engine.auction:
                    place = (self.log.count, self.malformed)
                    derived = "ValueError" if no_text else exception_of(raw)
                    self.lines.append(self.log.noted.exceptions.get(place, derived))

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

    def _awards(self) -> None:
        """Both hands if there was a showdown, then what the hand changed for both."""
        if "folded" not in self.hand.standing:
            for seat in self.order:
                self._says(seat, f"shows [{' '.join(self.hand.hole[seat])}]")
        for seat in self.order:
            tag = "(swapped) " if seat in self.swapped and self.engine.swapped else ""
            self._says(seat, f"{tag}awarded {self.nets()[seat]}")
        if self.engine.hits:
            self._hits()
        if self.engine.run and self.before_run is not None:
            self.lines.append(RUN)
            won = won_by_run(self.nets(), self.order[0], self.before_run)
            for seat, amount in zip(self.order, won, strict=True):
                self._says(seat, f"won {amount}")
        if not self.engine.auction:
            return
        if self.bids:
            dealer, other = (self.bids.get(seat, 0) for seat in self.order)
            self.lines.append(f"Players submitted bids of {dealer} and {other}")
        else:
            self.lines.append(NO_AUCTION)

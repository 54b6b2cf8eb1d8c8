"""Split PokerStars text into the lines of each hand, and write hands of ours as such text.

Nothing is remembered but the block in hand, so a file may have any length. Its encoding is found
hand by hand, because such files are often several put together; hence not `formats.source.lines`.

A hand is written as the public readers of such files understand it, no more. It is never the site's
own: its number is made of the match's name and ends in the hand's number, so that a hand keeps it
however often it is written. Cards that a viewpoint does not know are left out.
"""

import io
import re
import zlib
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from engine.game import Game
from events.cards import UNKNOWN, Cards
from events.types import (
    AntePosted,
    Bet,
    BettingOpened,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    Shown,
    UncalledReturned,
)
from formats.site_stakes import Inexpressible, Stakes, stakes, total_rake
from formats.source import Refused, Skipped, Text
from formats.timestamps import has_offset
from odds.rank import describe, value

STARS = re.compile(r"PokerStars (?:Zoom |Home Game |Home )?(?:Hand|Game) #[0-9]+: ")
GG = re.compile(r"(?<![\w ])Poker Hand #[A-Z]{2}[0-9]+: ")  # GGPoker writes as PokerStars does
HEADER = re.compile(f"{STARS.pattern}|{GG.pattern}")
SUMMARY = "*** SUMMARY ***"
LINE_MAX = 1 << 16
LINES_MAX = 5_000

_ELSEWHERE = re.compile(
    r"\W*((?:\w+ ){0,3}\w*(?:Poker|Gaming)(?: \w+)??)(?: -.*?)? (?:Hand|Game|HandId)\b"
    r"[^0-9]{0,12}[0-9-]+"
)
_MIDDLE = "=" * 7
_MERGE_MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_SIGNS = ("\0", *_MERGE_MARKERS, _MIDDLE)
UTF16 = (b"\xff\xfe", b"\xfe\xff")


class HandLines(Struct, frozen=True):
    """The lines of one hand from its header on, and where in the file it begins."""

    line: int
    lines: tuple[str, ...]


def hand_lines(source: Text) -> Iterator[HandLines | Skipped]:
    """The hands of a text, one by one; a hand of another site is skipped."""
    begun, held, summed = 0, list[str](), False
    for number, line in enumerate(_lines(source), 1):
        match = HEADER.search(line) if " #" in line else None
        place = match.start() if match else 0
        if match is None or (place and ' said, "' in line[:place]):  # in the chat it is no hand
            if (summed or not held) and (elsewhere := foreign_site(line)):
                yield from _finished(begun, held)
                yield Skipped(number, f"this is a hand of {elsewhere}, not of PokerStars")
                begun, held, summed = 0, [], False
            elif held:
                held.append(line)
                summed = summed or line.startswith(SUMMARY)
                if len(held) > LINES_MAX:
                    raise Refused(begun, f"a hand of more than {LINES_MAX} lines")
            continue
        if held and place:  # the file was cut in the middle of a line, and another put after it
            held.append(line[:place])
        yield from _finished(begun, held)
        begun, held, summed = number, [line[place:]], False
    yield from _finished(begun, held)


def _finished(begun: int, held: list[str]) -> Iterator[HandLines | Skipped]:
    """The block that ends here, if there is one."""
    text = "\n".join(held)
    if held and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # it was written in cp1252
            try:
                text = text.encode("utf-8", "surrogateescape").decode("cp1252")
            except UnicodeError:
                why = "this hand holds bytes that are neither UTF-8 nor cp1252"
                yield Skipped(begun, why)
                return
        held = text.replace("\xa0", " ").split("\n")  # names keep all else they hold
    if held:
        yield HandLines(begun, tuple(held))


def foreign_site(line: str) -> str | None:
    """The name of the site, not this one, whose hand begins with this line."""
    match = _ELSEWHERE.match(line) if "Poker" in line or "Gaming" in line else None
    return match[1] if match and 'said, "' not in line else None


def _lines(source: Text) -> Iterator[str]:
    """Lines without their ends, which may be LF, CRLF or CR, of text in whichever encoding."""
    if isinstance(source, str):
        yield from _checked(io.StringIO(source.removeprefix("\ufeff"), newline=None))
        return
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as raw:
        # By the mark, or by the empty half of the first letter; all else is UTF-8, or mended later.
        start = raw.read(2)
        by_half = {0: "utf-16-be", 1: "utf-16-le"}.get(start.find(b"\0"), "utf-8-sig")
        encoding = "utf-16" if start in UTF16 else by_half
        raw.seek(0)
        errors = "surrogateescape" if encoding == "utf-8-sig" else "replace"
        yield from _checked(io.TextIOWrapper(raw, encoding, errors, newline=None))


def _checked(text: io.TextIOBase) -> Iterator[str]:
    """Every line without its end, unless it shows that the file is damaged or is no text.

    Read in pieces: the lines of one are looked at singly only if it holds a sign of damage.
    """
    number, rest = 0, ""
    while piece := text.read(LINE_MAX):
        piece = rest + piece
        *lines, rest = piece.split("\n")
        if any(sign in piece for sign in _SIGNS) or (lines and len(lines[0]) >= LINE_MAX):
            for place, line in enumerate(lines, number + 1):
                yield _undamaged(place, line)
        else:
            yield from lines
        number += len(lines)
        if len(rest) >= LINE_MAX:
            _undamaged(number + 1, rest)
    if rest:
        yield _undamaged(number + 1, rest)


def _undamaged(number: int, line: str) -> str:
    """The line, if it shows no damage."""
    if len(line) >= LINE_MAX:
        raise Refused(number, f"a line of more than {LINE_MAX - 1} characters")
    if "\0" in line:
        raise Refused(number, "a zero byte: this is no text in UTF-8, UTF-16 or cp1252")
    if line.startswith(_MERGE_MARKERS) or line == _MIDDLE:
        raise Refused(number, "a mark of a failed merge: the file is damaged")
    return line


# Hands of ours.

_LIMITS = {"FL": "Limit", "PL": "Pot Limit", "NL": "No Limit"}
_STREETS = {3: "FLOP", 4: "TURN", 5: "RIVER"}
_ZONE = ZoneInfo("America/New_York")
_NUMBERS = 10**9  # of matches; a match's hands have the six figures after it
_HANDS = 10**6


class _HandText(Struct):
    """A hand as far as it has been told: what each seat has bet on the street, brings, has won."""

    stakes: Stakes
    names: tuple[str, ...]
    left: list[int]
    bets: list[int]
    put: list[int]
    won: list[int]
    lines: list[str] = field(default_factory=list)
    board: Cards = ()
    ends: dict[int, str] = field(default_factory=dict)
    tags: dict[int, list[str]] = field(default_factory=dict)
    held: dict[int, Cards] = field(default_factory=dict)
    turned: set[int] = field(default_factory=set)

    def money(self, units: int) -> str:
        return f"{self.stakes.sign}{self.stakes.amount(units)}"

    def tell(self, event: Event, pots: list[PotSplit], record: Events) -> None:
        """The lines of one event, if it has any."""
        match event:
            case AntePosted(seat=seat, amount=amount):
                self._put(seat, amount, f"posts the ante {self.money(amount)}", live=0)
            case BlindPosted():
                self._post(event, record)
            case BettingOpened(street=street):
                if street != "preflop":
                    self.bets = [0] * len(self.bets)
                    return
                self.lines.append("*** HOLE CARDS ***")
                for seat, cards in self.held.items():
                    if cards:
                        self.lines.append(f"Dealt to {self.names[seat]} [{' '.join(cards)}]")
            case Folded(seat=seat):
                street = _STREETS.get(len(self.board), "").capitalize()
                idle = "" if self.put[seat] or street else " (didn't bet)"
                self.ends[seat] = (
                    f"folded on the {street}" if street else f"folded before Flop{idle}"
                )
                self._say(event, "folds")
            case Checked():
                self._say(event, "checks")
            case Called(seat=seat, amount=amount):
                self._put(seat, amount, f"calls {self.money(amount)}")
            case Bet(seat=seat, amount=amount):
                self._put(seat, amount, f"bets {self.money(amount)}")
            case Raised(seat=seat, amount=amount, to=to):
                over = self.money(to - max(self.bets))
                self._put(seat, amount, f"raises {over} to {self.money(to)}")
            case BoardDealt(cards=cards):
                before = f" [{' '.join(self.board)}]" if self.board else ""
                self.board += cards
                self.bets = [0] * len(self.bets)
                self.lines.append(
                    f"*** {_STREETS[len(self.board)]} ***{before} [{' '.join(cards)}]"
                )
            case UncalledReturned(seat=seat, amount=amount):
                self.lines.append(
                    f"Uncalled bet ({self.money(amount)}) returned to {self.names[seat]}"
                )
            case Shown(seat=seat) | Mucked(seat=seat):
                self._turn(seat, event)
            case PotSplit(pot=pot, seats=seats, shares=shares):
                place = "pot" if len(pots) == 1 else "side pot" if pot else "main pot"
                if len(pots) > 2 and pot:
                    place = f"side pot-{pot}"
                for seat, share in zip(seats, shares, strict=True):
                    if share:
                        self.won[seat] += share
                        line = f"{self.names[seat]} collected {self.money(share)} from {place}"
                        self.lines.append(line)

    def _say(self, event: Folded | Checked, words: str) -> None:
        name = self.names[event.seat]
        if event.origin == "default":
            self.lines.append(f"{name} has timed out")
        self.lines.append(f"{name}: {words}")

    def _put(self, seat: int, amount: int, words: str, live: int | None = None) -> None:
        self.left[seat] -= amount
        self.bets[seat] += amount if live is None else live
        self.put[seat] += amount if live is None or live else 0
        ends = "" if self.left[seat] else " and is all-in"
        self.lines.append(f"{self.names[seat]}: {words}{ends}")

    def _post(self, event: BlindPosted, record: Events) -> None:
        """Write a post; a dead small blind beside a live big one is in one line."""
        seat, amount = event.seat, event.amount
        others = [
            other
            for other in record
            if isinstance(other, BlindPosted) and other.seat == seat and other is not event
        ]
        if event.kind in ("small", "big"):
            self.tags.setdefault(seat, []).append(f"{event.kind} blind")
        if others and {event.kind, others[0].kind} == {"post", "dead"}:
            if record.index(event) < record.index(others[0]):
                return
            dead = amount if event.kind == "dead" else others[0].amount
            both = amount + others[0].amount
            self._put(seat, both, f"posts small & big blinds {self.money(both)}", live=both - dead)
            return
        words = {"small": "small blind", "dead": "small blind", "straddle": "straddle"}
        line = f"posts {words.get(event.kind, 'big blind')} {self.money(amount)}"
        self._put(seat, amount, line, live=0 if event.kind == "dead" else amount)
        if event.kind == "dead":
            self.put[seat] += amount

    def _turn(self, seat: int, event: Shown | Mucked) -> None:
        if not self.turned:
            self.lines.append("*** SHOW DOWN ***")
        self.turned.add(seat)
        if isinstance(event, Mucked):
            cards = self.held.get(seat, ())
            self.lines.append(f"{self.names[seat]}: mucks hand")
            self.ends[seat] = f"mucked [{' '.join(cards)}]" if cards else "mucked"
            return
        known = " ".join(event.cards)
        self.lines.append(f"{self.names[seat]}: shows [{known}] ({self._made(event.cards)})")
        self.ends[seat] = f"showed [{known}]"

    def _made(self, cards: Cards) -> str:
        """The made hand of five cards or more, in words."""
        if UNKNOWN in (*cards, *self.board) or len(cards) + len(self.board) < 5:
            return "not compared"
        return describe(value(cards, self.board))

    def summary(self, start: HandStarted, pots: list[PotSplit], record: Events) -> Iterator[str]:
        """The last part of a hand: pot and rake, the board, how it ended for each seat."""
        if not self.turned:
            yield from (
                f"{self.names[at]}: doesn't show hand" for at, won in enumerate(self.won) if won
            )
        rake = total_rake(record)
        parts = [self.money(sum(pot.shares)) for pot in pots]
        sides = [
            f"Side pot{f'-{at}' * (len(parts) > 2)} {part}." for at, part in enumerate(parts[1:], 1)
        ]
        split = "".join(f" {part}" for part in (f"Main pot {parts[0]}.", *sides)) if sides else ""
        yield "*** SUMMARY ***"
        yield f"Total pot {self.money(sum(self.won) + rake)}{split} | Rake {self.money(rake)}"
        if self.board:
            yield f"Board [{' '.join(self.board)}]"
        for seat, name in enumerate(start.players):
            tags = "".join(f" ({tag})" for tag in self.tags.get(seat, ()))
            won, end = self.won[seat], self.ends.get(seat, "")
            if end.startswith("showed"):
                result = f"won ({self.money(won)})" if won else "lost"
                end = f"{end} and {result} with {self._made(self.held.get(seat, ()))}"
            elif won:
                end = f"collected ({self.money(won)})"
            yield f"Seat {seat + 1}: {name}{tags} {end}".rstrip()


def write(game: Game, record: Events, played: str) -> str:
    """The text of one hand, with two empty lines after it; `played` is when, in RFC 3339."""
    text = _hand_text(game, record)
    start = record[0]
    assert isinstance(start, HandStarted)
    pots = [event for event in record if isinstance(event, PotSplit)]
    for event in record[1:]:
        text.tell(event, pots, record)
    match, chairs = start.hand.rpartition("/")[0] or start.hand, len(start.players)
    head = [
        _header(text.stakes, start, played),
        f"Table '{match}' {chairs}-max Seat #{start.button + 1} is the button",
    ]
    head += [
        f"Seat {number}: {name} ({text.money(stack)} in chips)"
        for number, (name, stack) in enumerate(zip(start.players, start.stacks, strict=True), 1)
    ]
    return "\n".join([*head, *text.lines, *text.summary(start, pots, record), "", "", ""])


def _hand_text(game: Game, record: Events) -> _HandText:
    start = record[0]
    bets = stakes(game, record, "PokerStars text")
    assert isinstance(start, HandStarted)
    for name in start.players:
        if not name.isprintable() or name != name.strip() or not name:
            raise Inexpressible(f"PokerStars text has no form for the name {name!r}")
        if ":" in name or name[0] in "*<>|=":
            raise Inexpressible(f"PokerStars text separates names by :, so none is {name!r}")
    none = [0] * len(start.players)
    text = _HandText(bets, start.players, list(start.stacks), list(none), list(none), list(none))
    text.tags.setdefault(start.button, []).append("button")
    for event in record:
        if isinstance(event, HoleDealt):
            known = tuple(card for card in event.cards if card != UNKNOWN)
            text.held[event.seat] = (*text.held.get(event.seat, ()), *known)
    return text


# The first lines.


def _header(stakes: Stakes, start: HandStarted, played: str) -> str:
    match, _, number = start.hand.rpartition("/")
    low = stakes.big if stakes.limit == "FL" else stakes.small
    bets = [
        f"{stakes.sign}{stakes.amount(bet)}"
        for bet in (low, 2 * stakes.big if stakes.limit == "FL" else stakes.big)
    ]
    last = int(number) % _HANDS if number.isdecimal() else 0
    name = zlib.crc32(match.encode()) % _NUMBERS * _HANDS + last
    currency = f" {stakes.currency}" if stakes.currency else ""
    game = f"Hold'em {_LIMITS[stakes.limit]} ({'/'.join(bets)}{currency})"
    if has_offset(played):
        at, form = datetime.fromisoformat(played), "%Y/%m/%d %H:%M:%S"
        in_utc, in_new_york = at.astimezone(ZoneInfo("Etc/UTC")), at.astimezone(_ZONE)
        when = f"{in_utc:{form}} UTC [{in_new_york:{form}} ET]"
    else:  # a day alone, or a clock of no zone, as it is said
        day, _, clock = played.partition("T")
        when = f"{day.replace('-', '/')} {clock}".strip()
    return f"PokerStars Hand #{name}:  {game}" + (f" - {when}" if when else "")

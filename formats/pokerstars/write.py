"""Hands as PokerStars-like text: what the public readers of such files understand, no more.

It is never the site's own: its number is made of the match's name and ends in the hand's number, so
that a hand keeps it however often it is written. Cards that a viewpoint does not know are left out.
"""

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
from formats.holdem import Inexpressible, Stakes, raked, stakes
from formats.moment import is_whole
from odds.rank import describe, value

_LIMITS = {"FL": "Limit", "PL": "Pot Limit", "NL": "No Limit"}
_STREETS = {3: "FLOP", 4: "TURN", 5: "RIVER"}
_ZONE = ZoneInfo("America/New_York")
_NUMBERS = 10**9  # of matches; a match's hands have the six figures after it
_HANDS = 10**6


class _Text(Struct):
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


def write(game: Game, record: Events, played: str) -> str:
    """The text of one hand, with two empty lines after it; `played` is when, in RFC 3339."""
    text = _begun(game, record)
    start = record[0]
    assert isinstance(start, HandStarted)
    pots = [event for event in record if isinstance(event, PotSplit)]
    for event in record[1:]:
        _tell(text, event, pots, record)
    match, chairs = start.hand.rpartition("/")[0] or start.hand, len(start.players)
    head = [
        _header(text.stakes, start, played),
        f"Table '{match}' {chairs}-max Seat #{start.button + 1} is the button",
    ]
    head += [
        f"Seat {number}: {name} ({text.money(stack)} in chips)"
        for number, (name, stack) in enumerate(zip(start.players, start.stacks, strict=True), 1)
    ]
    return "\n".join([*head, *text.lines, *_summary(text, start, pots, record), "", "", ""])


def _begun(game: Game, record: Events) -> _Text:
    start = record[0]
    bets = stakes(game, record, "PokerStars text")
    assert isinstance(start, HandStarted)
    for name in start.players:
        if not name.isprintable() or name != name.strip() or not name:
            raise Inexpressible(f"PokerStars text has no form for the name {name!r}")
        if ":" in name or name[0] in "*<>|=":
            raise Inexpressible(f"PokerStars text separates names by :, so none is {name!r}")
    none = [0] * len(start.players)
    text = _Text(bets, start.players, list(start.stacks), list(none), list(none), list(none))
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
    if is_whole(played):
        at, form = datetime.fromisoformat(played), "%Y/%m/%d %H:%M:%S"
        in_utc, in_new_york = at.astimezone(ZoneInfo("Etc/UTC")), at.astimezone(_ZONE)
        when = f"{in_utc:{form}} UTC [{in_new_york:{form}} ET]"
    else:  # a day alone, or a clock of no zone, as it is said
        day, _, clock = played.partition("T")
        when = f"{day.replace('-', '/')} {clock}".strip()
    return f"PokerStars Hand #{name}:  {game}" + (f" - {when}" if when else "")


# The lines of play.


def _tell(text: _Text, event: Event, pots: list[PotSplit], record: Events) -> None:
    match event:
        case AntePosted(seat=seat, amount=amount):
            _put(text, seat, amount, f"posts the ante {text.money(amount)}", live=0)
        case BlindPosted():
            _post(text, event, record)
        case BettingOpened(street=street):
            if street != "preflop":
                text.bets = [0] * len(text.bets)
                return
            text.lines.append("*** HOLE CARDS ***")
            for seat, cards in text.held.items():
                if cards:
                    text.lines.append(f"Dealt to {text.names[seat]} [{' '.join(cards)}]")
        case Folded(seat=seat):
            street = _STREETS.get(len(text.board), "").capitalize()
            idle = "" if text.put[seat] or street else " (didn't bet)"
            text.ends[seat] = f"folded on the {street}" if street else f"folded before Flop{idle}"
            _say(text, event, "folds")
        case Checked():
            _say(text, event, "checks")
        case Called(seat=seat, amount=amount):
            _put(text, seat, amount, f"calls {text.money(amount)}")
        case Bet(seat=seat, amount=amount):
            _put(text, seat, amount, f"bets {text.money(amount)}")
        case Raised(seat=seat, amount=amount, to=to):
            over = text.money(to - max(text.bets))
            _put(text, seat, amount, f"raises {over} to {text.money(to)}")
        case BoardDealt(cards=cards):
            before = f" [{' '.join(text.board)}]" if text.board else ""
            text.board += cards
            text.bets = [0] * len(text.bets)
            text.lines.append(f"*** {_STREETS[len(text.board)]} ***{before} [{' '.join(cards)}]")
        case UncalledReturned(seat=seat, amount=amount):
            text.lines.append(f"Uncalled bet ({text.money(amount)}) returned to {text.names[seat]}")
        case Shown(seat=seat) | Mucked(seat=seat):
            _turn(text, seat, event)
        case PotSplit(pot=pot, seats=seats, shares=shares):
            place = "pot" if len(pots) == 1 else "side pot" if pot else "main pot"
            if len(pots) > 2 and pot:
                place = f"side pot-{pot}"
            for seat, share in zip(seats, shares, strict=True):
                if share:
                    text.won[seat] += share
                    line = f"{text.names[seat]} collected {text.money(share)} from {place}"
                    text.lines.append(line)


def _say(text: _Text, event: Folded | Checked, words: str) -> None:
    name = text.names[event.seat]
    if event.origin == "default":
        text.lines.append(f"{name} has timed out")
    text.lines.append(f"{name}: {words}")


def _put(text: _Text, seat: int, amount: int, words: str, live: int | None = None) -> None:
    text.left[seat] -= amount
    text.bets[seat] += amount if live is None else live
    text.put[seat] += amount if live is None or live else 0
    ends = "" if text.left[seat] else " and is all-in"
    text.lines.append(f"{text.names[seat]}: {words}{ends}")


def _post(text: _Text, event: BlindPosted, record: Events) -> None:
    """Who owes a dead small blind beside a live big one posts both in one line."""
    seat, amount = event.seat, event.amount
    others = [
        other
        for other in record
        if isinstance(other, BlindPosted) and other.seat == seat and other is not event
    ]
    if event.kind in ("small", "big"):
        text.tags.setdefault(seat, []).append(f"{event.kind} blind")
    if others and {event.kind, others[0].kind} == {"post", "dead"}:
        if record.index(event) < record.index(others[0]):
            return
        dead = amount if event.kind == "dead" else others[0].amount
        both = amount + others[0].amount
        _put(text, seat, both, f"posts small & big blinds {text.money(both)}", live=both - dead)
        return
    words = {"small": "small blind", "dead": "small blind", "straddle": "straddle"}
    line = f"posts {words.get(event.kind, 'big blind')} {text.money(amount)}"
    _put(text, seat, amount, line, live=0 if event.kind == "dead" else amount)
    if event.kind == "dead":
        text.put[seat] += amount


def _turn(text: _Text, seat: int, event: Shown | Mucked) -> None:
    if not text.turned:
        text.lines.append("*** SHOW DOWN ***")
    text.turned.add(seat)
    if isinstance(event, Mucked):
        cards = text.held.get(seat, ())
        text.lines.append(f"{text.names[seat]}: mucks hand")
        text.ends[seat] = f"mucked [{' '.join(cards)}]" if cards else "mucked"
        return
    known = " ".join(event.cards)
    text.lines.append(f"{text.names[seat]}: shows [{known}] ({_made(text, event.cards)})")
    text.ends[seat] = f"showed [{known}]"


def _made(text: _Text, cards: Cards) -> str:
    """What the cards make, where there are five to be compared."""
    if UNKNOWN in (*cards, *text.board) or len(cards) + len(text.board) < 5:
        return "not compared"
    return describe(value(cards, text.board))


# The summary.


def _summary(
    text: _Text, start: HandStarted, pots: list[PotSplit], record: Events
) -> Iterator[str]:
    if not text.turned:
        yield from (
            f"{text.names[at]}: doesn't show hand" for at, won in enumerate(text.won) if won
        )
    rake = raked(record)
    parts = [text.money(sum(pot.shares)) for pot in pots]
    sides = [
        f"Side pot{f'-{at}' * (len(parts) > 2)} {part}." for at, part in enumerate(parts[1:], 1)
    ]
    split = "".join(f" {part}" for part in (f"Main pot {parts[0]}.", *sides)) if sides else ""
    yield "*** SUMMARY ***"
    yield f"Total pot {text.money(sum(text.won) + rake)}{split} | Rake {text.money(rake)}"
    if text.board:
        yield f"Board [{' '.join(text.board)}]"
    for seat, name in enumerate(start.players):
        tags = "".join(f" ({tag})" for tag in text.tags.get(seat, ()))
        won, end = text.won[seat], text.ends.get(seat, "")
        if end.startswith("showed"):
            result = f"won ({text.money(won)})" if won else "lost"
            end = f"{end} and {result} with {_made(text, text.held.get(seat, ()))}"
        elif won:
            end = f"collected ({text.money(won)})"
        yield f"Seat {seat + 1}: {name}{tags} {end}".rstrip()

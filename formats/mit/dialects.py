"""Detect which engine wrote a gamelog, and how many chips its hands begin with.

There is a row for each dialect, and nothing about a year elsewhere. A dialect is found by the lines
that only some of them have, and is kept with the match, so that the log is written to the byte
again. The stack is the one that most hands speak for.

The match's note holds what no event carries: dialect, header, end, encoding, odd exceptions.

The header of the note is the first line of the log, then a line for each thing that is unusual:
`encoding`, `newline`, or `exception 12.1 KeyError`, where the name that follows the first bad
reply of round 12 does not follow from that reply. Its footer is all that comes after the final
line.

The footer of the newest engines tells what the bets of each street were worth to each player: their
own odd count, kept as it is. A player's stake is divided at certain moments into the parts
"preflop", "flop" and "turn"; a hand that he won adds each part to his total, a lost one takes it
away. The engine of 2022 divides when a street is dealt. That of 2024 divides whenever it asks
somebody, so there "preflop" holds the flop's bets too, and "turn", if no turn came, earlier ones.
That of 2025 does the same, and begins no hand anew: a hand without a flop counts the one before.
That of 2026 does so by streets, but keeps a part until it is divided again: a hand that ends before
the flop counts the later parts of an earlier one. Players of one name share one count.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.imported import AUCTION_2024_A0
from engine.games.pokerbots import BOUNTY_2025_MIT, RIVER_2023_MIT, TOSS_2026_MIT
from engine.games.swap_2022 import SWAP_2022_MIT
from events.match import SourceNoted
from events.state import Hand
from events.types import (
    Bet,
    BidPlaced,
    BoardDealt,
    Called,
    Checked,
    Event,
    Folded,
    HandStarted,
    Raised,
    Tossed,
)
from formats.mit.grammar import RUN
from formats.source import Refused

_USUAL = (200, 400, 800)  # stacks that engines of these games are set to
_USUAL_FACTOR = 10  # hands that stop at a smaller stack, to each that goes over it
_OUTLIERS_NAMED = 3  # outliers that are named one by one


class Engine(Struct, frozen=True):
    """What the logs of an engine hold: by its rules, under the number of that year's course.

    `hands` stand below the streets that swap, `swapped` with the award of who was swapped.
    `auction` are bids, noted after the awards, and bad replies with an exception or an amount.
    `again` is the flop after an auction, `won` the card; `run` is what a run was worth. `worth`
    is the moment at which stakes are divided for the footer, which others do not have; under `kept`
    and `asked_kept` parts of the hand before stay where they are not divided anew. `tosses` have
    streets, and the number of a street stands above an action that was illegal on it. `bounties`
    are told every 25 hands, with standings; `hits` who hit his. Stacks stand below the streets of
    both. No log of our own is `undetermined`.
    """

    rules: Game
    course: Literal["6.176", "6.9630"]
    hands: bool = False
    swapped: bool = False
    auction: bool = False
    again: bool = False
    won: bool = False
    run: bool = False
    bounties: bool = False
    hits: bool = False
    worth: Literal["dealt", "asked", "asked_kept", "kept"] | None = None
    tosses: bool = False
    undetermined: bool = False


_SWAP = Engine(SWAP_2022_MIT, "6.176", hands=True)
_AUCTION = Engine(AUCTION_2024_MIT, "6.9630", auction=True, again=True)
_RIVER = Engine(RIVER_2023_MIT, "6.176")
_BOUNTY = Engine(BOUNTY_2025_MIT, "6.9630", bounties=True)
ENGINES: dict[str, Engine] = {  # of each game the newest first
    "S3": replace(_SWAP, swapped=True, worth="dealt"),
    "S2": replace(_SWAP, swapped=True),
    "S1": _SWAP,
    "no flop": replace(_SWAP, undetermined=True),
    "R2": replace(_RIVER, run=True),
    "R1": _RIVER,
    "T1": Engine(TOSS_2026_MIT, "6.9630", worth="kept", tosses=True),
    "B3": replace(_BOUNTY, hits=True, worth="asked_kept"),
    "B2": replace(_BOUNTY, hits=True),
    "B1": _BOUNTY,
    "A3": replace(_AUCTION, won=True, worth="asked"),
    "A2": replace(_AUCTION, won=True),
    "A1": _AUCTION,
    "no auction": replace(_AUCTION, won=True, undetermined=True),
    "A0": replace(_AUCTION, rules=AUCTION_2024_A0, again=False),
}


def dialects_of(game: str) -> tuple[str, ...]:
    """The dialects of a log of our own hands by these rules, the newest first.

    The document of a year is written as its engine is: `auction-2024` as `auction-2024-mit`.
    """
    names = {
        dialect: engine.rules.name
        for dialect, engine in ENGINES.items()
        if game.startswith(engine.rules.name.removesuffix("-mit"))
    }
    nearest = max(names.values(), key=len, default="")
    return tuple(
        dialect
        for dialect, name in names.items()
        if name == nearest and not ENGINES[dialect].undetermined
    )


def own_dialect(game: str, dialect: str | None = None) -> str:
    """The dialect in which a match of our own is written: the newest of its game, unless asked."""
    dialects = dialects_of(game)
    if not dialects:
        raise ValueError(f"there is no gamelog of {game}: only of games of Pokerbots")
    if dialect and dialect not in dialects:
        possible = f"only in {', '.join(dialects)}"
        raise ValueError(f"there is no gamelog of {game} in dialect {dialect}: {possible}")
    return dialect or dialects[0]


def dialect_of(header: str, marks: set[str], named: Game | None) -> str:
    """Which engine wrote a log; one without the telling lines is recorded as undetermined, if a
    ruleset is named that says of which game the log is."""
    swap = bool(marks & {"hands", "swapped"})
    auction = bool(marks & {"bids", "note"})
    signs = {"swaps": swap, "runs": "Run" in marks, "auctions": auction}
    signs |= {"bounties": "bounties" in marks, "tosses": "tosses" in marks}
    kinds = [kind for kind, found in signs.items() if found]
    if len(kinds) > 1:
        raise Refused(1, f"{' and '.join(kinds)} in one log: two logs are mixed in this file")
    if "tosses" in marks:
        return "T1"
    if "bounties" in marks:
        return "B3" if "footer" in marks else "B2" if "hits" in marks else "B1"
    if "Run" in marks:
        return "R2" if RUN in marks else "R1"
    if swap:
        return "S3" if "footer" in marks else "S2" if "swapped" in marks else "S1"
    if not auction:
        return _undetermined(header, marks, named)
    if "footer" in marks:
        return "A3"
    if "bids" not in marks:
        return "no auction"
    if "won" in marks:
        return "A2"
    if "flop twice" in marks and "flop once" in marks:
        raise Refused(1, "some auctions are followed by flop betting, some not: two logs mixed")
    return "A1" if "flop twice" in marks else "A0"


def _undetermined(header: str, marks: set[str], named: Game | None) -> str:
    """The dialect of a log in which nobody swapped, bid or ran."""
    early = header.startswith("6.176 ")
    if early and named is not None and named.name.startswith("river-2023"):
        return "R2"
    if not early:
        raise Refused(1, "no bid, bounty or toss is in it, and logs since 2024 have one of them")
    if marks & {"Flop"}:
        river = "River of Blood (2023) without a run, as --ruleset river-2023-mit says"
        unread = "Blotto (2021) or a year before, which are not read"
        raise Refused(1, f"neither swaps nor runs are in it, so this may be {river}, or {unread}")
    if named is None and "footer" not in marks:
        games = "Swap (2022), River of Blood (2023), Blotto (2021) or a year before"
        say = "--ruleset swap-2022-mit says that it is Swap"
        raise Refused(1, f"no hand reaches a flop, so this may be {games}: {say}")
    return "S3" if "footer" in marks else "no flop"


class LargestTotals(Struct):
    """The number of hands by the largest total of a seat, and the first of them."""

    hands: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)

    def add(self, most: int, number: int, hands: int = 1) -> None:
        """Some more hands in which a seat put in so much at most."""
        self.hands[most] = self.hands.get(most, 0) + hands
        self.first.setdefault(most, number)

    def at(self, stack: int) -> int:
        """The hands that stop at exactly so much."""
        return self.hands.get(stack, 0)

    def over(self, stack: int) -> int:
        """The hands that need more."""
        return sum(hands for most, hands in self.hands.items() if most > stack)

    def stack(self, usual: int) -> tuple[int, str]:
        """The stack that most hands speak for, and why it is that one.

        It is the usual one unless two hands or more, and more than stop at it, go over it, or
        unless they stop at a smaller one that engines use, ten for each that goes on.
        """
        for stack in _USUAL:
            if stack < usual and self.at(stack) >= _USUAL_FACTOR * max(1, self.over(stack)):
                return (
                    stack,
                    f"where {_hands_text(self.at(stack))} stop, less than the usual {usual}",
                )
        if self._holds(usual):
            return usual, "the usual one of that engine"
        often = sorted(most for most, hands in self.hands.items() if hands > 1)
        larger = [stack for stack in (*_USUAL, *often, max(self.hands)) if stack > usual]
        stack = next(filter(self._holds, larger))
        return stack, f"because {_hands_text(self.over(usual))} put in more than the usual {usual}"

    def _holds(self, stack: int) -> bool:
        return self.over(stack) <= max(1, self.at(stack))

    def outliers(self, stack: int) -> str:
        """The hands that put in more than this stack, in one sentence; empty if there are none."""
        over = sorted(most for most in self.hands if most > stack)
        if not over:
            return ""
        first = ", ".join(f"{most} in round #{self.first[most]}" for most in over[:_OUTLIERS_NAMED])
        more = ", ..." if len(over) > _OUTLIERS_NAMED else ""
        return f"{_hands_text(self.over(stack))} put in more than that: {first}{more}"


def _hands_text(count: int) -> str:
    return f"{count} hand{'s' * (count != 1)}"


# The note.

FORMAT = "mit-gamelog"
_NEWLINE_NAMES = {"\r\n": "crlf", "\r": "cr", "\n": "lf"}

ReplyPlace = tuple[int, int]  # a round, and which of its bad replies, counted from 1


class LogNote(Struct, frozen=True):
    """The note of a gamelog: its dialect, its text around the hands, its encoding."""

    dialect: str
    header: str
    footer: str = ""
    encoding: str = "utf-8"
    newline: str = "\n"
    exceptions: Mapping[ReplyPlace, str] = {}


def source_note(found: LogNote) -> SourceNoted:
    """Encode a log's note as a record of the match."""
    lines = [found.header]
    if found.encoding != "utf-8":
        lines.append(f"encoding {found.encoding}")
    if found.newline != "\n":
        lines.append(f"newline {_NEWLINE_NAMES[found.newline]}")
    for (number, place), name in found.exceptions.items():
        lines.append(f"exception {number}.{place} {name}")
    return SourceNoted(FORMAT, found.dialect, "\n".join(lines), found.footer)


def log_note(note: SourceNoted) -> LogNote:
    """Decode the note of a match about its log."""
    if note.format != FORMAT:
        raise ValueError(f"this match comes from a file of {note.format}, not from a gamelog")
    header, *more = note.header.split("\n")
    encoding, newline, exceptions = "utf-8", "\n", {}
    for line in more:
        match line.split(" "):
            case ["encoding", name]:
                encoding = name
            case ["newline", name]:
                newline = next(end for end, named in _NEWLINE_NAMES.items() if named == name)
            case ["exception", place, name]:
                number, _, nth = place.partition(".")
                exceptions[int(number), int(nth)] = name
    return LogNote(note.dialect, header, note.footer, encoding, newline, exceptions)


def own_log_note(start: HandStarted, dialect: str | None) -> LogNote:
    """A log of our own: the engine's header, by the course of that year."""
    if len(start.players) != 2:
        raise ValueError(f"a gamelog has two players, not {len(start.players)}")
    first, second = start.players[start.button], start.players[1 - start.button]
    if any("\n" in name or "\r" in name for name in start.players):
        raise ValueError("a gamelog has a line for each event: no name may break one")
    dialect = own_dialect(start.game, dialect)
    return LogNote(dialect, f"{ENGINES[dialect].course} MIT Pokerbots - {first} vs {second}")


def exception_name(reply: str) -> str:
    """The exception that the engine of 2024 names after a reply it cannot read."""
    if not reply:
        return "IndexError"
    return "ValueError" if reply[0] in "RA" else "KeyError"


def run_worth(nets: Sequence[int], button: int, before: int) -> tuple[int, int]:
    """The worth of a run as the engine of 2023 tells it: to the dealer, and to the other.

    Each had put in `before` when it began; who wins no more than the other is told a loss of less.
    """
    mine, other = nets[button], nets[1 - button]
    return (mine - before, other + before) if mine > other else (mine + before, other - before)


_PARTS = ("preflop", "flop", "turn")
_ASKED = (Folded, Checked, Called, Bet, Raised, BidPlaced, Tossed)
# When stakes are divided, and which part they are by the cards of the board; the last by all else.
_MOMENTS: dict[str | None, tuple[tuple[type[Event], ...], dict[int, int]]] = {
    "asked": (_ASKED, {3: 0, 4: 1}),
    "asked_kept": (_ASKED, {3: 0, 4: 1}),
    "dealt": ((BoardDealt,), {0: 0, 3: 1}),
    "kept": (_ASKED, {0: 0, 4: 1}),
}


class StreetWorth:
    """Totals by name over a whole log; the parts of the hand at work, by seat."""

    def __init__(self, divided: str | None) -> None:
        self._divided = divided
        self._at, self._part_of = _MOMENTS.get(divided, ((), {}))
        self._totals: dict[str, list[int]] = {}
        self._parts = [[0, 0, 0], [0, 0, 0]]
        self._kept: dict[str, list[int]] = {}

    def event(self, names: tuple[str, ...], before: Hand, event: Event) -> None:
        """A moment at which stakes are divided, or none."""
        if type(event) not in self._at:
            return
        part = self._part_of.get(len(before.board), 2)
        if self._divided == "kept":
            self._keep(names, before, part)
        else:
            self._divide(before, part)

    def _divide(self, hand: Hand, part: int) -> None:
        for seat, parts in enumerate(self._parts):
            stake = hand.start.stacks[seat] - hand.stacks[seat]
            parts[part] = stake - sum(parts[:part])

    def _keep(self, names: tuple[str, ...], hand: Hand, part: int) -> None:
        """Players of one name overwrite each other's, the dealer's first."""
        start = hand.start
        for seat in (start.button, 1 - start.button):
            kept = self._kept.setdefault(names[seat], [0, 0, 0])
            kept[part] = start.stacks[seat] - hand.stacks[seat] - sum(kept[:part])

    def ended(self, names: tuple[str, ...], nets: list[int]) -> None:
        """The hand is over: what was won or lost counts."""
        for name, net, parts in zip(names, nets, self._parts, strict=True):
            sign = (net > 0) - (net < 0)
            total = self._totals.setdefault(name, [0, 0, 0])
            for part, stake in enumerate(self._kept.get(name, parts)):
                total[part] += sign * stake
        if self._divided != "asked_kept":
            self._parts = [[0, 0, 0], [0, 0, 0]]

    def footer(self, names: tuple[str, ...]) -> str:
        """Three lines a player."""
        return "".join(
            f"\n{name} {part} bets EV: {total}"
            for name in names
            for part, total in zip(_PARTS, self._totals.get(name, (0, 0, 0)), strict=True)
        )

"""What a gamelog holds and no event carries: its dialect, header, end, encoding, odd exceptions.

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

from msgspec import Struct

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
from formats.mit.dialects import ENGINES, own_dialect

FORMAT = "mit-gamelog"
_ENDS = {"\r\n": "crlf", "\r": "cr", "\n": "lf"}

Place = tuple[int, int]  # a round, and which of its bad replies, counted from 1


class Noted(Struct, frozen=True):
    """The note taken apart again."""

    dialect: str
    header: str
    footer: str = ""
    encoding: str = "utf-8"
    newline: str = "\n"
    exceptions: Mapping[Place, str] = {}


def noted(found: Noted) -> SourceNoted:
    """The note as a record of the match."""
    lines = [found.header]
    if found.encoding != "utf-8":
        lines.append(f"encoding {found.encoding}")
    if found.newline != "\n":
        lines.append(f"newline {_ENDS[found.newline]}")
    for (number, place), name in found.exceptions.items():
        lines.append(f"exception {number}.{place} {name}")
    return SourceNoted(FORMAT, found.dialect, "\n".join(lines), found.footer)


def unnoted(note: SourceNoted) -> Noted:
    """What a record of the match says about its log."""
    if note.format != FORMAT:
        raise ValueError(f"this match comes from a file of {note.format}, not from a gamelog")
    header, *more = note.header.split("\n")
    encoding, newline, exceptions = "utf-8", "\n", {}
    for line in more:
        match line.split(" "):
            case ["encoding", name]:
                encoding = name
            case ["newline", name]:
                newline = next(end for end, named in _ENDS.items() if named == name)
            case ["exception", place, name]:
                number, _, nth = place.partition(".")
                exceptions[int(number), int(nth)] = name
    return Noted(note.dialect, header, note.footer, encoding, newline, exceptions)


def own_note(start: HandStarted, dialect: str | None) -> Noted:
    """A log of our own: the engine's header, by the course of that year."""
    if len(start.players) != 2:
        raise ValueError(f"a gamelog has two players, not {len(start.players)}")
    first, second = start.players[start.button], start.players[1 - start.button]
    if any("\n" in name or "\r" in name for name in start.players):
        raise ValueError("a gamelog has a line for each event: no name may break one")
    dialect = own_dialect(start.game, dialect)
    return Noted(dialect, f"{ENGINES[dialect].course} MIT Pokerbots - {first} vs {second}")


def exception_of(reply: str) -> str:
    """The exception that the engine of 2024 names after a reply it cannot read."""
    if not reply:
        return "IndexError"
    return "ValueError" if reply[0] in "RA" else "KeyError"


def won_by_run(nets: Sequence[int], button: int, before: int) -> tuple[int, int]:
    """What the engine of 2023 says that the run was worth: to the dealer, and to the other.

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


class Worth:
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

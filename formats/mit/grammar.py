"""Patterns of a gamelog's lines for its two names, and a cursor that reads lines in order.

Names may hold spaces and be the beginning of one another, so every pattern is made for the two
names of the header, the longer one first. Two players of the same name are told apart by order.
"""

import re
from functools import cached_property

from formats.source import Refused, Verb

CARD = r"[2-9TJQKA][cdhs]"
SIZE = "0|[1-9][0-9]{0,14}"
NET = "0|-?[1-9][0-9]{0,14}"
NO_AUCTION = "Players did not reach flop. No auction occured."
BOUNTY_HANDS = 25  # as long as bounties stay
RUN = "Run reached"
BIDS = re.compile(rf"Players submitted bids of ({SIZE}) and ({SIZE})")
EXCEPTIONS = ("IndexError", "KeyError", "ValueError")
_BEFORE = 3  # kinds of lines before the first action, each at its own place
MARKERS = ("<<<<<<<", "=======", ">>>>>>>")

VERBS: dict[str, Verb] = {
    "folds": "fold",
    "checks": "check",
    "calls": "call",
    "bets": "raise",
    "raises to": "raise",
}

# What only the logs of other games hold.
_FOREIGN = ((r".* on board [123]|.*[Bb]oard [123]\b", "Blotto (2021)"),)
_OTHERS = (
    (r"PokerStars (Hand|Game|Zoom|Home)", "a PokerStars hand history"),
    (r"STATE:|# name/game/hands", "an ACPC log"),
    (r"variant\s*=|\[\d+\]$", "a PHH file"),
    (r"\s*[{\[]\s*\"|\s*\{$", "a JSON file"),
    (r"\s*<[!a-zA-Z]", "a web page: save the log itself, not the page around it"),
    (r"(Bot [AB] is|Both bots are) invalid", "the note that no match was played"),
)


def streets(*, tosses: bool) -> dict[str, int]:
    """The number of cards on the board by street, with those of games that toss cards."""
    if tosses:
        return {"Flop": 2, "Discard 1": 3, "Discard 2": 4, "Turn": 5, "River": 6}
    return {"Flop": 3, "Turn": 4, "River": 5}


def known_line(line: str) -> str | None:
    """The kind of a line that does not belong in a gamelog, if it is known."""
    if line.startswith(MARKERS):
        return "a git merge marker: two logs are mixed in this file"
    game = next((name for pattern, name in _FOREIGN if re.match(pattern, line)), None)
    return f"this is a log of {game}: only 2022 to 2026 are read" if game else None


def other_format(line: str) -> str | None:
    """The format of a file that begins with this line instead."""
    return next((name for pattern, name in _OTHERS if re.match(pattern, line)), None)


def header_names(header: str) -> list[tuple[str, str]]:
    """Each way to read two names out of the header: one of them may hold ` vs ` itself."""
    match = re.fullmatch(r"\S+ MIT Pokerbots - (.+)", header)
    parts = match[1].split(" vs ") if match else []
    return [(" vs ".join(parts[:at]), " vs ".join(parts[at:])) for at in range(1, len(parts))]


class Patterns:
    """The patterns for two names; a match tells the seat, or None if both have that name."""

    def __init__(self, first: str, second: str) -> None:
        self.both = (first, second)
        self.same_name = first == second
        self._who = "|".join(re.escape(name) for name in sorted(self.both, key=len, reverse=True))

    def seat(self, name: str) -> int | None:
        """Whose name it is: 0 for the first of the header, 1 for the second."""
        return None if self.same_name else self.both.index(name)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The pattern of each kind of line; `line` tries those within a hand in this order."""
        who = self._who
        return {
            "round": rf"Round #({SIZE}), ({who}) \(({NET})\), ({who}) \(({NET})\)",
            "blind": rf"({who}) posts the blind of ({SIZE})",
            "dealt": rf"({who}) dealt \[({CARD} {CARD}(?: {CARD})?)\]",
            "act": rf"({who}) (folds|checks|calls|bets|raises to|bids)(?: ({SIZE}))?",
            "street": (
                rf"(Flop|Discard [12]|Turn|River|Run) \[({CARD}(?: {CARD})+)\], "
                rf"({who}) \(({SIZE})\), ({who}) \(({SIZE})\)"
            ),
            "hand": rf"({who})'s hand: \[({CARD} {CARD})\]",
            "won": rf"({who}) won the auction and was dealt \[({CARD})\]",
            "shows": rf"({who}) shows \[({CARD}(?: {CARD}){{1,2}})\]",
            "toss": rf"({who}) discards ({CARD})",
            "on": r"street = ([02-6])",
            "index": rf"({who}) attempted to discard invalid index ({NET})",
            "award": rf"({who})( \(swapped\))? awarded ({NET})",
            "illegal": rf"({who}) attempted illegal (\w+Action(?: with amount (?:{NET}))?)",
            "malformed": rf"({who}) response misformatted: (.*)",
            "left": rf"({who}) (ran out of time|disconnected)",
            "stacks": rf"Current stacks: ({SIZE}), ({SIZE})",
        }

    @cached_property
    def round(self) -> re.Pattern[str]:
        return re.compile(self.kinds["round"])

    @cached_property
    def blind(self) -> re.Pattern[str]:
        return re.compile(self.kinds["blind"])

    @cached_property
    def dealt(self) -> re.Pattern[str]:
        return re.compile(self.kinds["dealt"])

    @cached_property
    def bounties(self) -> re.Pattern[str]:
        who, rank = self._who, "[2-9TJQKA]"
        return re.compile(
            rf"Bounties reset to ({rank}) for player ({who}) and ({rank}) for player ({who})"
        )

    @cached_property
    def hits(self) -> re.Pattern[str]:
        return re.compile(rf"({self._who}) hits their bounty")

    @cached_property
    def counts(self) -> re.Pattern[str]:
        """The pattern of the line with both players' winnings after the hand, the dealer first."""
        who = self._who
        return re.compile(
            rf"Winning counts at the end of the round: , ({who}) \(({NET})\), ({who}) \(({NET})\)"
        )

    @cached_property
    def line(self) -> re.Pattern[str]:
        """Any line within a hand; the name of its last group is its kind."""
        kinds = list(self.kinds.items())[_BEFORE:]
        return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds))

    @cached_property
    def final(self) -> re.Pattern[str]:
        """In the shape of a round's line, without a number."""
        who = self._who
        return re.compile(rf"Final(), ({who}) \(({NET})\), ({who}) \(({NET})\)")

    @cached_property
    def footer(self) -> re.Pattern[str]:
        return re.compile(rf"({self._who}) (?:preflop|flop|turn) bets EV: (?:{NET})")


class LineCursor:
    """A cursor over the lines of a hand; `wrong` is the first contradiction in them."""

    def __init__(self, names: Patterns, number: int, line: int, lines: list[str]) -> None:
        self.names, self.number, self.line = names, number, line
        self.wrong: str | None = None
        self._lines, self._at = lines, 1

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _line(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _read(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """The next line, which must match the pattern."""
        match = pattern.fullmatch(self._line())
        if match is None:
            raise self._refused("")
        self._at += 1
        return match

    def _refused(self, why: str) -> Refused:
        """The file is none of ours, or damaged: at this line, for this reason."""
        at = self._at if not why else self._at - 1
        number = self.line + min(at, len(self._lines))
        if at >= len(self._lines):
            return Refused(number, f"round #{self.number} stops in the middle")
        line = self._lines[at]
        otherwise = f"{why or 'no line of a gamelog is like this'}: {line[:60]!r}"
        return Refused(number, known_line(line) or otherwise)

    def _differs(self, why: str) -> None:
        self.wrong = self.wrong or f"round #{self.number}: {why}"

    def _seat(self, name: str, else_: int) -> int:
        seat = self.names.seat(name)
        return else_ if seat is None else seat

"""What the summary of a PokerStars hand says of each seat, held against the lines of play.

Position, fold, cards, winnings: each is said there again. Where the two do not agree nobody can
tell which of them was changed, so the hand is left out with the sentence that names both. A text
without lines of seats in its summary says nothing twice, and nothing is asked of it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from events.types import Cards
from formats.pokerstars.grammar import MONEY, Chair, Unread, cards, money

Tag = Literal["button", "small blind", "big blind"]

_TAG = re.compile(r"\((button|small blind|big blind)\) ?")
_END = re.compile(
    r"folded before (?P<before>Flop)(?P<idle> \(didn't bet\))?"
    r"|folded on the (?P<street>Flop|Turn|River)"
    rf"|(?:collected|won) \((?P<taken>{MONEY})\)"
    r"|(?P<mucked>mucked)(?: \[(?P<thrown>[^\]]*)\])?"
    r"|showed \[(?P<shown>[^\]]*)\](?: and (?P<result>(?:won|lost)\b.*))?"
    r"|"
)
_BESIDE = re.compile(rf"received \({MONEY}\) from time bank card, ")  # of GGPoker, not of the pot
_WON = re.compile(rf"\bwon \(({MONEY})\)")
_BLINDS: dict[Tag, tuple[str, ...]] = {
    "small blind": ("small blind",),
    "big blind": ("big blind", "small & big blinds"),
}


class Fate(Struct, frozen=True):
    """How a hand ended for a seat: `folded` is how many cards the board had, `idle` that the player
    had not bet by then; `held` are his cards, if they are named, and `shown` if they were shown."""

    name: str
    tags: tuple[Tag, ...]
    folded: int | None = None
    idle: bool = False
    held: Cards | None = None
    shown: bool = False
    mucked: bool = False
    won: int = 0


class Deeds(Struct):
    """What the lines of play say of a player."""

    posted: set[str]
    bet: int = 0
    folded: int | None = None
    shown: bool = False
    mucked: bool = False
    won: int = 0


def fate(line: str, chairs: Iterable[Chair]) -> Fate:
    """A line of the summary about a seat, which must be one of the list of seats."""
    for one in chairs:
        start = f"Seat {one.number}: {one.name}"
        if line == start or line.startswith(f"{start} "):
            return _fate(one.name, line[len(start) :].lstrip(" "), line)
    raise Unread(f'the summary has a seat that the hand does not have: "{line[:60]}"')


def _fate(name: str, rest: str, line: str) -> Fate:
    tags: list[Tag] = []
    while found := _TAG.match(rest):
        tags.append(found[1])  # type: ignore[arg-type]
        rest = rest[found.end() :]
    ended = _END.fullmatch(_BESIDE.sub("", rest))
    if ended is None:
        raise Unread(f'a line of the summary that cannot be read: "{line[:80]}"')
    folded = {"Flop": 3, "Turn": 4, "River": 5}.get(ended["street"] or "")
    held = ended["shown"] if ended["shown"] is not None else ended["thrown"]
    won = [ended["taken"]] if ended["taken"] else _WON.findall(ended["result"] or "")
    return Fate(
        name=name,
        tags=tuple(tags),
        folded=0 if ended["before"] else folded,
        idle=bool(ended["idle"]),
        held=None if held is None else cards(held),
        shown=ended["shown"] is not None,
        mucked=bool(ended["mucked"]),
        won=sum(map(money, won)),
    )


def agreed(
    fates: Sequence[Fate],
    deeds: dict[str, Deeds],
    chairs: Sequence[Chair],
    button: int,
    *,
    terse: bool = False,
) -> None:
    """Every seat ends in the summary as the lines of play end it, or this is `Unread`.

    Some programs tell only of the seats that came to the showdown; then of the others nothing is
    asked.
    """
    named = {one.name for one in fates}
    whole = any(one.folded is not None for one in fates) or named >= deeds.keys()
    for one in fates:
        _same_end(one, deeds.get(one.name, Deeds(set())), whole, terse)
    for name in deeds if whole else ():
        if name not in named:
            raise Unread(f"{name} plays, and the summary does not tell how he ended")
    seat = next((one.name for one in chairs if one.number == button), None)
    for one in fates if whole and not (terse and len(fates) == 2) else ():
        if ("button" in one.tags) != (one.name == seat):
            raise Unread(f"hand and summary do not give {one.name} the button alike")
    for tag, posts in _BLINDS.items():
        # Whom the summary calls the blind has posted it; of several posters one is called so.
        posters = {name for name, it in deeds.items() if it.posted & {*posts}}
        tagged = {one.name for one in fates if tag in one.tags}
        if len(tagged) > 1 or (tagged and posters and not tagged & posters):
            raise Unread(f"hand and summary have another {tag}")


def _same_end(one: Fate, deeds: Deeds, whole: bool, terse: bool) -> None:
    """Fold, cards and winnings of one seat."""
    thrown = one.mucked and one.folded is None  # folded cards that a program knew
    if one.folded != deeds.folded and not (thrown and not deeds.won):
        there = f"{_fold(one.folded)} in the summary and {_fold(deeds.folded)} before it"
        raise Unread(f"{one.name} {there}")
    if one.folded == 0 and (one.idle or not terse) and one.idle != (not deeds.bet):
        bet = "did not bet" if one.idle else "bet"
        raise Unread(f"the summary says that {one.name} {bet}, the lines of play do not")
    if whole and one.shown and not deeds.shown:
        raise Unread(f"the summary says that {one.name} showed, and no line does")
    if one.mucked and not (deeds.mucked or deeds.shown or deeds.folded is not None):
        raise Unread(f"the summary says that {one.name} mucked, and no line does")
    if deeds.mucked and not one.mucked:
        raise Unread(f"{one.name} mucks, and the summary does not say so")
    if one.won != deeds.won and (whole or one.won):
        raise Unread(f"{one.name} collected {deeds.won / 100:g}, and {one.won / 100:g} at the end")


def _fold(board: int | None) -> str:
    """A fold in words."""
    if board is None:
        return "does not fold"
    return f"folds at {board} cards on the board" if board else "folds before the flop"

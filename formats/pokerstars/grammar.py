"""Parse single lines of a PokerStars hand; whose line it is, the list of seats decides.

Money is read into hundredths, whatever the sign before it and however thousands and decimals are
separated. `None` stands for a line that is not of the kind asked for.
"""

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from events.cards import UNKNOWN, Cards, is_card
from formats.timestamps import timestamp_in

Limit = Literal["fl", "pl", "nl"]
Verb = Literal["folds", "checks", "calls", "bets", "raises"]
Posting = Literal["small blind", "big blind", "small & big blinds", "the ante", "straddle"]

MONEY = r"(?:[$€£] ?)?[0-9][0-9.,]*"
_LIMITS: dict[str, Limit] = {"Limit": "fl", "Pot Limit": "pl", "No Limit": "nl"}


class Unreadable(Exception):
    """This hand says something that cannot be read, or that none of our rulesets knows."""


class Header(Struct, frozen=True):
    """The first line: the source's number of the hand, its game and stakes, what is played for, and
    the site or format whose rulesets it is put to, and the `room` where it was played; `terse` if
    its summary leaves out who did not bet, and between two players the button; `fast` if who folds
    goes to another table."""

    source_id: str
    limit: Limit
    low: int
    high: int
    sign: str
    currency: str
    tournament: bool
    capped: bool
    site: str = "pokerstars"
    terse: bool = False
    played: str = ""
    room: str = ""
    fast: bool = False


class Chair(Struct, frozen=True):
    """A line of the list of seats; `out` if it says that the player sits out."""

    number: int
    name: str
    stack: int
    out: bool = False


class PostLine(Struct, frozen=True):
    """A blind or an ante; `all_in` if the line says that it was all he had."""

    what: Posting
    amount: int
    all_in: bool = False


class ActionLine(Struct, frozen=True):
    """A choice; `amount` is what a call or bet adds, or the total that a raise goes to, which is
    `over` the bet by that much."""

    verb: Verb
    amount: int = 0
    over: int = 0
    all_in: bool = False
    capped: bool = False
    cards: Cards = ()


class CardsLine(Struct, frozen=True):
    """Cards turned up, or thrown away."""

    cards: Cards | None


class WinLine(Struct, frozen=True):
    """A player's part of a pot, counted from the main pot outwards."""

    amount: int
    pot: int


class TimeoutLine(Struct, frozen=True):
    """The clock ran out, so what comes next was not chosen."""


LineContent = PostLine | ActionLine | CardsLine | WinLine | TimeoutLine


class Totals(Struct, frozen=True):
    """The summary's line of totals: the whole pot, its parts after the rake, the rake with all
    fees."""

    total: int
    parts: tuple[int, ...]
    rake: int
    fees: int = 0


_FIGURES = re.compile(r"[0-9][0-9.,]*\.[0-9]*")


@lru_cache(4096)  # blinds and stacks come back in every hand
def parse_cents(text: str) -> int:
    """Hundredths: `$2,418.66`, `2.418,66`, `250.0`, `1500`; a lone comma or point is a decimal one
    unless three figures follow it."""
    digits = text.strip().lstrip("$€£").strip().rstrip(".,")
    whole, mark, part = digits, "", ""
    cut = max(digits.rfind("."), digits.rfind(","))
    if cut >= 0 and len(digits) - cut - 1 <= 2:
        whole, mark, part = digits[:cut], digits[cut], digits[cut + 1 :]
    groups = re.split(r"[.,]", whole)
    grouped = not any(len(group) != 3 for group in groups[1:])
    if not grouped or (mark and mark in whole) or not _FIGURES.fullmatch(whole + "." + part):
        raise Unreadable(f"{text[:40]} is no amount")
    return int("".join(groups)) * 100 + int((part + "00")[:2])


def cards(text: str) -> Cards:
    """Cards between brackets; those crossed out are unknown."""
    words = tuple([UNKNOWN if card == "XX" else card for card in text.split()])
    for card in words:
        if not is_card(card):
            raise Unreadable(f"{card} is not a card")
    return words


# The first lines.

_START = re.compile(
    r"(?:PokerStars (?:Zoom |(?P<home>Home Game |Home ))?(?:Hand|Game) #(?P<stars>[0-9]+)"
    r"|Poker Hand #(?P<gg>[A-Z]{2}[0-9]+)): +(?P<rest>.*)"
)
_CLUB = re.compile(r"\{[^}]*\} +")
_TOURNAMENT = re.compile(r"Tournament #[0-9]+,")
_HOLDEM = re.compile(
    r"(?P<before>(?:^|.*?[ (,]))Hold'em (?P<limit>No Limit|Pot Limit|Limit)\)?(?P<level>[^(]*?),? ?"
    rf"\(?(?P<low>{MONEY})/(?P<high>{MONEY})(?P<more>[^)]*)\)"
)
_VARIANT = re.compile(r"(?:6\+|(?!Freeroll|Money|Ticket)\b[A-Z][a-z]+) $")  # Split, 6+, Pineapple
_CHAIR = re.compile(rf"Seat ([0-9]+): (.+) \(({MONEY}) in chips(?:, [^()]*)?\)")
_BUTTON = re.compile(r"Tables? .*Seat #([0-9]+) is the button")


def header(line: str) -> Header:
    """The game of a hand; another game than hold'em as this house knows it is refused by name."""
    start = _START.match(line)
    if start is None:
        raise Unreadable("the first line of the hand is cut")
    rest = _CLUB.sub("", start["rest"], count=1)
    tournament = _TOURNAMENT.match(rest)
    if tournament:
        rest = rest[tournament.end() :].strip()
    match = _HOLDEM.match(rest)
    if match is None or (_VARIANT.search(match["before"]) and not (start["gg"] and tournament)):
        name = re.split(r" - | ?\([$€£0-9B]", rest, maxsplit=1)[0]
        raise Unreadable(f"{name.strip()[:60]} is not hold'em of a kind we have rules for")
    sign = match["low"][0] if match["low"][0] in "$€£" else ""
    currency = re.search(r"\b([A-Z]{3})$", match["more"].strip())
    return Header(
        source_id=start["stars"] or start["gg"],
        limit=_LIMITS[match["limit"]],
        low=parse_cents(match["low"]),
        high=parse_cents(match["high"]),
        sign=sign,
        currency=currency[1] if currency else "",
        tournament=tournament is not None,
        capped="Cap" in match["more"],
        site="pokerstars" if start["stars"] else "ggpoker",
        room="GGPoker" if start["gg"] else f"PokerStars{' Home Game' if start['home'] else ''}",
        fast=line.startswith("PokerStars Zoom "),
        terse=bool(start["gg"] and tournament),
        played=timestamp_in(rest[match.end() :]),
    )


def button(line: str) -> int | None:
    """The number of the seat that has the button."""
    match = _BUTTON.match(line)
    return int(match[1]) if match else None


def chair(line: str) -> Chair | None:
    """A player and what he brings."""
    match = _CHAIR.match(line)
    if match is None:
        return None
    return Chair(int(match[1]), match[2], parse_cents(match[3]), line.endswith(" is sitting out"))


# The lines of play.

_CARDS = r"\[([^\]]*)\]"
_ALL_IN = rf"( and is all-in)?( and has reached the {MONEY} cap)?"
_PLAIN: dict[str, ActionLine | CardsLine] = {
    "folds": ActionLine("folds"),
    "checks": ActionLine("checks"),
    "mucks hand": CardsLine(None),
}
_POST = re.compile(
    r"(?:posts (?P<what>small blind|big blind|small & big blinds|the ante)|(?:posts )?straddle) "
    rf"(?P<posted>{MONEY}){_ALL_IN}"
)
_CHOICE = re.compile(
    r"(?:(folds|checks)(?: \[([^\]]*)\])?"
    rf"|(calls|bets) ({MONEY})"
    rf"|raises ({MONEY}) to ({MONEY})){_ALL_IN}"
)
_SHOWN = re.compile(rf"shows {_CARDS}(?: \(.*\))?")
_TAKEN = re.compile(rf"collected ({MONEY}) from (?:(?:main )?pot|side pot(?:-([0-9]+))?)")
_CHATTER = re.compile(
    r"(?:is )?(?:sits out|sitting out)|doesn't show hand|will be allowed to play.*|"
    r"was removed from the table.*|is (?:dis)?connected|has returned|PokerStars .*|"
    rf"Chooses to EV Cashout|(?:Pays Cashout Risk|Receives Cashout) \({MONEY}\)|"
)


def parse_player_line(rest: str) -> LineContent | None:
    """Parse the words after `NAME: `; chatter moves no chips or cards."""
    if plain := _PLAIN.get(rest):
        return plain
    if match := _CHOICE.fullmatch(rest):
        passes, shown, verb, added, over, to, *ends = match.groups()
        all_in, capped = (end is not None for end in ends)
        if passes:
            known = cards(shown) if shown else ()
            return ActionLine("folds" if passes == "folds" else "checks", cards=known)
        if to:
            return ActionLine("raises", parse_cents(to), parse_cents(over), all_in, capped)
        return ActionLine(
            "calls" if verb == "calls" else "bets", parse_cents(added), 0, all_in, capped
        )
    if match := _POST.fullmatch(rest):
        all_in = match[match.re.groupindex["posted"] + 1] is not None
        return PostLine(match["what"] or "straddle", parse_cents(match["posted"]), all_in)  # type: ignore[arg-type]
    if match := _SHOWN.fullmatch(rest):
        return CardsLine(cards(match[1]))
    return None


def is_chatter(rest: str) -> bool:
    """Whether these words after `NAME: ` are known to change nothing."""
    return _CHATTER.fullmatch(rest) is not None


def outcome(rest: str) -> LineContent | None:
    """Parse the words after `NAME ` without a colon."""
    if match := _TAKEN.fullmatch(rest):
        place = int(match[2] or 1) if "side" in rest else 0
        return WinLine(parse_cents(match[1]), place)
    return TimeoutLine() if rest.startswith("has timed out") else None


_UNCALLED = re.compile(rf"Uncalled bet \(({MONEY})\) returned to (.+)")
_DEALT = re.compile(rf"Dealt to (.+) {_CARDS}")
_STREET = re.compile(r"\*\*\* ([A-Z ]+) \*\*\*(?:(.*)\[([^\]]*)\])?")
_BOARD = re.compile(rf"Board {_CARDS}")


def uncalled(line: str) -> tuple[int, str] | None:
    """The amount of an uncalled bet, and its player."""
    match = _UNCALLED.fullmatch(line)
    return (parse_cents(match[1]), match[2]) if match else None


def dealt(line: str) -> tuple[str, Cards] | None:
    """Cards of the player whose file this is."""
    match = _DEALT.fullmatch(line)
    return (match[1], cards(match[2])) if match else None


def street(line: str) -> tuple[str, str, str] | None:
    """The name of a part of the hand, the board before it, and the cards that it adds."""
    match = _STREET.fullmatch(line)
    return (match[1], match[2] or "", match[3] or "") if match else None


def board(line: str) -> Cards:
    """The whole board, as the summary has it."""
    match = _BOARD.match(line)
    return cards(match[1]) if match else ()


# The summary.

_FEES = "Rake|Jackpot|Bingo|Fortune|Tax"  # what GGPoker takes beside the rake, out of the pot, too
_TOTALS = re.compile(rf"Total pot ({MONEY})(.*?)((?: \| (?:{_FEES}) {MONEY})*)")
_FEE = re.compile(rf"\| (\w+) ({MONEY})")
_PART = re.compile(rf"(?:Main|Side) pot(?:-[0-9]+)? ({MONEY})")


def totals(line: str) -> Totals | None:
    """The whole pot, what each of several pots paid, and the rake."""
    match = _TOTALS.fullmatch(line)
    if match is None:
        return None
    parts = tuple(parse_cents(part) for part in _PART.findall(match[2]))
    taken = [(kind, parse_cents(amount)) for kind, amount in _FEE.findall(match[3])]
    fees = sum(amount for kind, amount in taken if kind != "Rake")
    return Totals(parse_cents(match[1]), parts, sum(amount for _, amount in taken), fees)

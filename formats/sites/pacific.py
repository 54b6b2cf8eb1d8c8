"""What the lines of a hand of 888poker and its network say, Pacific Poker as it was called first.

Amounts stand in brackets and are what an action adds. Neither pot nor rake is told: what was put in
and not paid is taken for the rake; more is paid where what nobody called is won with the pot. Who
folds before the cards are dealt would not post, and is not dealt in.
"""

import re
from collections.abc import Sequence

from events.cards import Cards
from formats.moment import day_of, moment, time_of
from formats.pokerstars import grammar
from formats.pokerstars.grammar import Acts, Chair, Header, Limit, Posts, Unread
from formats.pokerstars.played import Played
from formats.sites.notes import DEALT, Notes

SITE = "pacific"
BEGINS = re.compile(r"\*{3,} (?!Hand )[\w. -]+? Hand History for Game [0-9]+ \*{3,}")

_FIRST = re.compile(r"\W*(.+?) Hand History for Game ([0-9]+)")
_WHEN = re.compile(r" *([0-9]{2}) ([0-9]{2}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2})\b")
_NEXT = re.compile(r"#Game No ?: ?[0-9]+")  # stands before the first line of a hand
_STAKES = re.compile(
    r"(?P<low>[$€£]? ?[0-9][0-9., ]*) ?[$€£]?/(?P<high>[$€£]? ?[0-9][0-9., ]*) ?[$€£]? Blinds "
    r"(?P<game>.*?) - \*\*\*"
)
_GAME = re.compile(r"(No Limit|Pot Limit|Fix Limit) Holdem")
_LIMITS: dict[str, Limit] = {"No Limit": "nl", "Pot Limit": "pl", "Fix Limit": "fl"}
_BUTTON = re.compile(r"Seat ([0-9]+) is the button")
_COUNT = re.compile(r"Total number of players : ([0-9]+)")
_SEAT = re.compile(r"Seat ([0-9]+): (.+?) ?\( ([^()]*) \)")
_PART = re.compile(r"\*\* (.*?) \*\*(?: ?:? ?\[([^\]]*)\])?.*")
_REMARK = re.compile(r"([a-z' -]+?)(?: ?\[([^\]]*)\])?")
_STREETS = {"dealing flop": 0, "dealing turn": 1, "dealing river": 2}
_PARTS = ("dealing down cards", "summary", *_STREETS)
_IDLE = (
    "did not show his hand",
    "will be using their time bank for this hand.",
    "did not respond in time",
    "could not respond in time",
)
_SIGNS = "$€£"
_NO_MONEY = ("(Practice Play)", "(Play Money)")
_ELSEWHERE = re.compile(r"\w{1,2}(?![hdsc])\w|\w{3,}|[^2-9TJQKA]\w")


def played(lines: Sequence[str]) -> Played:
    """The whole hand, or `Unread` with the reason why not."""
    notes, count = _table(lines)
    if not any(line.startswith("** Summary") for line in lines):
        raise Unread("the hand stops before its summary")
    for line in lines[count:]:
        if part := _PART.fullmatch(line):
            name = part[1].lower()
            if name not in _PARTS:
                raise Unread(f"a part of the hand that hold'em does not have: {part[1][:40]}")
            notes.dealt = True
            if name in _STREETS:
                if _STREETS[name] != notes.streets:
                    raise Unread(f"the {name.removeprefix('dealing ')} is dealt where it cannot be")
                notes.deal(_cards(part[2] or ""))
        elif dealt := DEALT.fullmatch(line):
            notes.knows(dealt[1], _cards(dealt[2]))
        elif not _NEXT.fullmatch(line):
            notes.by_player(line, _noted)
    if not notes.won():
        raise Unread("nobody is said to have won anything")
    called, everything = notes.put_in()
    total = called if notes.won() <= called else everything
    if notes.won() > total:
        raise Unread(f"{notes.won()} is collected of a pot of {total}")
    return notes.played(notes.totals(total, total - notes.won()))


def money(text: str) -> int:
    """Hundredths; the sign may stand on either side, and blanks between thousands."""
    return grammar.money(text.translate({ord(sign): None for sign in f"{_SIGNS} "}))


def _table(lines: Sequence[str]) -> tuple[Notes, int]:
    """Number, stakes, table and seats, and how many lines they take."""
    first = _FIRST.match(lines[0])
    stakes = _STAKES.match(lines[1]) if len(lines) > 4 else None
    if first is None or stakes is None:
        raise Unread("the first lines of the hand are cut")
    begun = 3
    listed = (_BUTTON, _COUNT, _SEAT)
    while begun < len(lines) and any(kind.fullmatch(lines[begun]) for kind in listed):
        begun += 1
    head = lines[3:begun]
    button = next((int(match[1]) for line in head if (match := _BUTTON.fullmatch(line))), None)
    if button is None:
        raise Unread("no line says which seat has the button")
    seats = [match for line in head if (match := _SEAT.fullmatch(line))]
    for match in filter(None, map(_COUNT.fullmatch, head)):
        if int(match[1]) != len(seats):
            raise Unread(f"{match[1]} players are said to be there, and {len(seats)} have a seat")
    chairs = tuple(Chair(int(match[1]), match[2], money(match[3])) for match in seats)
    when = _WHEN.match(lines[1][stakes.end() :])  # on a clock that is not named
    at = time_of(*when.group(4, 5, 6)) if when else None
    played = moment(day_of(*when.group(3, 2, 1)), at) if when and at else ""
    # The stakes are the blinds, of a fixed limit, too.
    game = _GAME.fullmatch(stakes["game"].removesuffix(" Jackpot table"))
    if game is None:
        raise Unread(f"{stakes['game'][:60]} is not hold'em of a kind we have rules for")
    limit, low, high = _LIMITS[game[1]], money(stakes["low"]), money(stakes["high"])
    tournament = lines[2].startswith("Tournament")
    for_money = not tournament and not any(kind in lines[2] for kind in _NO_MONEY)
    header = Header(
        source_id=first[2],
        limit=limit,
        low=high if limit == "fl" else low,
        high=2 * high if limit == "fl" else high,
        sign=next((sign for sign in _SIGNS if for_money and sign in stakes[0]), ""),
        currency="",
        tournament=tournament,
        capped=False,
        site=SITE,
        played=played,
        room=first[1],
    )
    return Notes(header, button, chairs, small=money(stakes["low"])), begun


def _cards(text: str) -> Cards:
    words = text.replace(",", " ").split()
    if any(_ELSEWHERE.fullmatch(word) for word in words):
        raise Unread(f"cards are named in another language than English: {' '.join(words)[:20]}")
    return grammar.cards(" ".join(words))


def _noted(notes: Notes, name: str, words: str) -> bool:
    """Whether these words are known, and noted if they are an action."""
    remark = _REMARK.fullmatch(words)
    verb, rest = (remark[1], remark[2] or "") if remark else ("", "")
    match verb:
        case "folds" if notes.dealt or notes.has_put_in(name):
            notes.act(name, Acts("folds"))
        case "folds":
            pass
        case "checks":
            notes.act(name, Acts("checks"))
        case "calls":
            notes.act(name, Acts("calls", money(rest)))
        case "bets" | "raises":
            notes.add(name, money(rest))
        case "posts small blind" | "posts big blind":
            amount = money(rest)
            if "small" in verb and amount != notes.small and amount < notes.left[name]:
                raise Unread(f"a small blind of {amount} is posted, and {notes.small} is named")
            kind = "small blind" if "small" in verb else "big blind"
            notes.post(name, Posts(kind, amount), amount)  # type: ignore[arg-type]
        case "posts ante":
            notes.post(name, Posts("the ante", money(rest)), 0)
        case "posts dead blind":
            dead, _, live = rest.partition("+")
            notes.post(name, Posts("small blind", money(dead)), 0)
            if money(live):
                notes.post(name, Posts("big blind", money(live)), money(live))
        case "collected":
            notes.take(name, money(rest))
        case "shows":
            notes.turn(name, _cards(rest))
        case "mucks":
            notes.turn(name, None)
            notes.knows(name, _cards(rest))
        case _:
            return words.startswith(_IDLE)
    return True

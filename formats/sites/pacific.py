"""Parse the lines of a hand of 888poker and its network, Pacific Poker as it was called first.

Amounts stand in brackets and are what an action adds. Neither pot nor rake is told: what was put in
and not paid is taken for the rake; more is paid where what nobody called is won with the pot. Who
folds before the cards are dealt would not post, and is not dealt in.
"""

import re
from collections.abc import Sequence

from events.cards import Cards
from formats.pokerstars import grammar
from formats.pokerstars.grammar import ActionLine, Chair, Header, Limit, PostLine, Unreadable
from formats.pokerstars.parsed_hand import ParsedHand
from formats.sites.reader import DEALT, HandBuilder
from formats.timestamps import day_of, time_of, timestamp

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
_ACTION = re.compile(r"([a-z' -]+?)(?: ?\[([^\]]*)\])?")
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


def parse_hand(lines: Sequence[str]) -> ParsedHand:
    """Parse the whole hand; `Unreadable` says why not."""
    hand, count = _table(lines)
    if not any(line.startswith("** Summary") for line in lines):
        raise Unreadable("the hand stops before its summary")
    for line in lines[count:]:
        if part := _PART.fullmatch(line):
            name = part[1].lower()
            if name not in _PARTS:
                raise Unreadable(f"a part of the hand that hold'em does not have: {part[1][:40]}")
            hand.dealt = True
            if name in _STREETS:
                if _STREETS[name] != hand.streets:
                    raise Unreadable(
                        f"the {name.removeprefix('dealing ')} is dealt where it cannot be"
                    )
                hand.deal(_cards(part[2] or ""))
        elif dealt := DEALT.fullmatch(line):
            hand.add_known_cards(dealt[1], _cards(dealt[2]))
        elif not _NEXT.fullmatch(line):
            hand.read_player_line(line, _add_player_line)
    if not hand.won():
        raise Unreadable("nobody is said to have won anything")
    called, everything = hand.total_put_in()
    total = called if hand.won() <= called else everything
    if hand.won() > total:
        raise Unreadable(f"{hand.won()} is collected of a pot of {total}")
    return hand.parsed_hand(hand.totals(total, total - hand.won()))


def parse_cents(text: str) -> int:
    """Hundredths; the sign may stand on either side, and blanks between thousands."""
    return grammar.parse_cents(text.translate({ord(sign): None for sign in f"{_SIGNS} "}))


def _table(lines: Sequence[str]) -> tuple[HandBuilder, int]:
    """Number, stakes, table and seats, and how many lines they take."""
    first = _FIRST.match(lines[0])
    stakes = _STAKES.match(lines[1]) if len(lines) > 4 else None
    if first is None or stakes is None:
        raise Unreadable("the first lines of the hand are cut")
    begun = 3
    listed = (_BUTTON, _COUNT, _SEAT)
    while begun < len(lines) and any(kind.fullmatch(lines[begun]) for kind in listed):
        begun += 1
    head = lines[3:begun]
    button = next((int(match[1]) for line in head if (match := _BUTTON.fullmatch(line))), None)
    if button is None:
        raise Unreadable("no line says which seat has the button")
    seats = [match for line in head if (match := _SEAT.fullmatch(line))]
    for match in filter(None, map(_COUNT.fullmatch, head)):
        if int(match[1]) != len(seats):
            raise Unreadable(
                f"{match[1]} players are said to be there, and {len(seats)} have a seat"
            )
    chairs = tuple(Chair(int(match[1]), match[2], parse_cents(match[3])) for match in seats)
    when = _WHEN.match(lines[1][stakes.end() :])  # on a clock that is not named
    at = time_of(*when.group(4, 5, 6)) if when else None
    played = timestamp(day_of(*when.group(3, 2, 1)), at) if when and at else ""
    # The stakes are the blinds, of a fixed limit, too.
    game = _GAME.fullmatch(stakes["game"].removesuffix(" Jackpot table"))
    if game is None:
        raise Unreadable(f"{stakes['game'][:60]} is not hold'em of a kind we have rules for")
    limit, low, high = _LIMITS[game[1]], parse_cents(stakes["low"]), parse_cents(stakes["high"])
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
    return HandBuilder(header, button, chairs, small=parse_cents(stakes["low"])), begun


def _cards(text: str) -> Cards:
    words = text.replace(",", " ").split()
    if any(_ELSEWHERE.fullmatch(word) for word in words):
        raise Unreadable(
            f"cards are named in another language than English: {' '.join(words)[:20]}"
        )
    return grammar.cards(" ".join(words))


def _add_player_line(hand: HandBuilder, name: str, words: str) -> bool:
    """Whether these words are known, and noted if they are an action."""
    action = _ACTION.fullmatch(words)
    verb, rest = (action[1], action[2] or "") if action else ("", "")
    match verb:
        case "folds" if hand.dealt or hand.has_put_in(name):
            hand.act(name, ActionLine("folds"))
        case "folds":
            pass
        case "checks":
            hand.act(name, ActionLine("checks"))
        case "calls":
            hand.act(name, ActionLine("calls", parse_cents(rest)))
        case "bets" | "raises":
            hand.add(name, parse_cents(rest))
        case "posts small blind" | "posts big blind":
            amount = parse_cents(rest)
            if "small" in verb and amount != hand.small and amount < hand.left[name]:
                raise Unreadable(f"a small blind of {amount} is posted, and {hand.small} is named")
            kind = "small blind" if "small" in verb else "big blind"
            hand.post(name, PostLine(kind, amount), amount)  # type: ignore[arg-type]
        case "posts ante":
            hand.post(name, PostLine("the ante", parse_cents(rest)), 0)
        case "posts dead blind":
            dead, _, live = rest.partition("+")
            hand.post(name, PostLine("small blind", parse_cents(dead)), 0)
            if parse_cents(live):
                hand.post(name, PostLine("big blind", parse_cents(live)), parse_cents(live))
        case "collected":
            hand.collect(name, parse_cents(rest))
        case "shows":
            hand.show_or_muck(name, _cards(rest))
        case "mucks":
            hand.show_or_muck(name, None)
            hand.add_known_cards(name, _cards(rest))
        case _:
            return words.startswith(_IDLE)
    return True

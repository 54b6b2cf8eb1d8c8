"""Parse the lines of a Winamax hand: PokerStars' words without the colon after a name.

A sign of money stands after its amount. What nobody called is never said to go back. The pot of the
summary is what was paid of it, without the rake, and of large ones it tells only thousands.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from formats.pokerstars import grammar
from formats.pokerstars.grammar import (
    ActionLine,
    CardsLine,
    Chair,
    Header,
    Limit,
    PostLine,
    Totals,
    Unreadable,
)
from formats.pokerstars.parsed_hand import ParsedHand
from formats.sites.reader import DEALT, HandBuilder
from formats.timestamps import timestamp_in

SITE = "winamax"
BEGINS = re.compile(r'Winamax Poker - (?:CashGame|Go Fast ".*?"|Tournament ".*) - HandId: #')

_AMOUNT = r"[0-9][0-9.,]*"
_MONEY = rf"({_AMOUNT}) ?(€?)"
_START = re.compile(
    r"Winamax Poker - (?P<kind>CashGame|Go Fast|Tournament)\b.* - HandId: #(?P<id>[0-9-]+) - "
    r"(?P<game>.*?) \((?P<stakes>[^()]*)\) - "
)
_GAME = re.compile(r"Holdem (no limit|pot limit|fixed limit)")
_LIMITS: dict[str, Limit] = {"no limit": "nl", "pot limit": "pl", "fixed limit": "fl"}
_TABLE = re.compile(
    r"Table:? '.*' [0-9]+-max \((real|play) money\)(?: Seat #([0-9]+) is the button)?"
)
_SEAT = re.compile(rf"Seat ([0-9]+): (.+) \({_MONEY}(?:, {_AMOUNT} ?€? bounty)?\)")
_PART = re.compile(r"\*\*\* ([A-Z/ -]+?) \*\*\*(?: .*?)?(?:\[([^\]]*)\])?$")
_SIGN_BEHIND = re.compile(rf"({_AMOUNT}) ?€")
_TOOK = re.compile(rf"collected (?:€)?({_AMOUNT}) from (?:(?:main )?pot|side pot ?([0-9]*))")
_TOTAL = re.compile(rf"Total pot {_MONEY}(k?) \| (?:No rake|Rake {_MONEY})")
_BOARD = re.compile(r"Board: \[([^\]]*)\]")
_FATE = re.compile(
    r"Seat (?P<seat>[0-9]+): (?P<name>.*?)(?: \((?:small blind|big blind|button)\))* "
    rf"(?:(?:showed \[(?P<cards>[^\]]*)\] and )?(?:won (?P<won>{_AMOUNT}) ?€?(?P<k>k?)|lost)\b.*"
    r"|folded on the (?P<folded>pre-flop|flop|turn|river))"
)
_FOLDED = {"pre-flop": 0, "flop": 1, "turn": 2, "river": 3}
_STREETS = ("FLOP", "TURN", "RIVER")
_PARTS = ("ANTE/BLINDS", "PRE-FLOP", "SHOW DOWN", "SUMMARY", *_STREETS)
_IDLE = ("sits out", "sit out", "stands up", "is disconnected", "has timed out")


def parse_hand(lines: Sequence[str]) -> ParsedHand:
    """Parse the whole hand; `Unreadable` says why not."""
    if "*** SUMMARY ***" not in lines:
        raise Unreadable("the hand stops before its summary")
    end = lines.index("*** SUMMARY ***")
    hand = _table(lines[:end])
    for line in lines[2 + len(hand.chairs) : end]:
        if part := _PART.fullmatch(line):
            name, cards = part[1], part[2]
            if name not in _PARTS:
                raise Unreadable(f"a part of the hand that hold'em does not have: {name[:40]}")
            if name in _STREETS:
                if name != _STREETS[min(hand.streets, 2)]:
                    raise Unreadable(f"the {name.lower()} is dealt where it cannot be")
                hand.deal(grammar.cards(cards or ""))
        elif dealt := DEALT.fullmatch(line):
            hand.add_known_cards(dealt[1], grammar.cards(dealt[2]))
        else:
            hand.read_player_line(line, _add_player_line)
    return hand.parsed_hand(_summary(hand, lines[end + 1 :]))


def _table(lines: Sequence[str]) -> HandBuilder:
    """Header, table and seats."""
    start = _START.match(lines[0])
    table = _TABLE.match(lines[1]) if len(lines) > 1 else None
    if start is None or table is None:
        raise Unreadable("the first lines of the hand are cut")
    game = _GAME.fullmatch(start["game"])
    if game is None:
        raise Unreadable(f"{start['game'][:60]} is not hold'em of a kind we have rules for")
    if table[2] is None:
        raise Unreadable("no line says which seat has the button")
    chairs = []
    for line in lines[2:]:
        seat = _SEAT.fullmatch(line)
        if seat is None:
            break
        chairs.append(Chair(int(seat[1]), seat[2], grammar.parse_cents(seat[3])))
    # The stakes, in a tournament after the ante, which is posted anyway.
    real = table[1] == "real"
    amounts = [grammar.parse_cents(part.strip(" €")) for part in start["stakes"].split("/")]
    tournament = start["kind"] == "Tournament"
    if len(amounts) != 2 and not (tournament and len(amounts) == 3):
        raise Unreadable(f"{start['stakes'][:40]} are no stakes of hold'em")
    header = Header(
        source_id=start["id"],
        limit=_LIMITS[game[1]],
        low=amounts[-2],
        high=amounts[-1],
        sign="€" if real and not tournament else "",
        currency="EUR" if real and not tournament else "",
        tournament=tournament,
        capped=False,
        site=SITE,
        room="Winamax",
        fast=start["kind"] == "Go Fast",
    )
    header = replace(header, played=timestamp_in(lines[0][start.end() :]))
    return HandBuilder(header, int(table[2]), tuple(chairs))


def _add_player_line(hand: HandBuilder, name: str, rest: str) -> bool:
    """Whether these words are known, and noted if they are an action."""
    rest = _SIGN_BEHIND.sub(r"€\1", rest.removesuffix(" out of position"))
    rest = rest.replace("posts ante ", "posts the ante ", 1)
    if took := _TOOK.fullmatch(rest):
        pot = int(took[2] or 1) if "side" in rest else 0
        hand.collect(name, grammar.parse_cents(took[1]), pot)
        return True
    match grammar.parse_player_line(rest):
        case ActionLine() as acts:
            hand.act(name, acts)
        case PostLine(what=what, amount=amount) as posts:
            hand.post(name, posts, 0 if what == "the ante" else amount)
        case CardsLine(cards=cards):
            hand.show_or_muck(name, cards)
        case _:
            return rest in _IDLE
    return True


def _summary(hand: HandBuilder, lines: Sequence[str]) -> Totals:
    """The pot and the rake; board, seats, folds and winners are those of the hand."""
    totals = None
    for line in lines:
        if pot := _TOTAL.fullmatch(line):
            rake = grammar.parse_cents(pot[4]) if pot[4] else 0
            if not pot[3] and grammar.parse_cents(pot[1]) != hand.won():
                raise Unreadable(
                    f"{hand.won()} is collected of a pot of {grammar.parse_cents(pot[1])}"
                )
            totals = hand.totals(None, rake)
        elif board := _BOARD.fullmatch(line):
            hand.check_board(grammar.cards(board[1]))
        elif end := _FATE.fullmatch(line):
            name = hand.seated_name(end["name"])
            if int(end["seat"]) != next(it.number for it in hand.chairs if it.name == name):
                raise Unreadable(f"{name[:40]} has another seat in the summary")
            if end["cards"]:  # only the summary may name them
                hand.add_known_cards(name, grammar.cards(end["cards"]))
            if hand.folded.get(name) != (_FOLDED[end["folded"]] if end["folded"] else None):
                raise Unreadable(f"hand and summary do not say alike whether {name[:40]} folded")
            won = grammar.parse_cents(end["won"]) if end["won"] else 0
            if hand.won(name) != won and not end["k"]:
                raise Unreadable(f"{name[:40]} collects {hand.won(name)}, and {won} in the summary")
    if totals is None:
        raise Unreadable("the summary does not tell the pot and the rake")
    return totals

"""What the lines of a Winamax hand say: PokerStars' words without the colon after a name.

A sign of money stands after its amount. What nobody called is never said to go back. The pot of the
summary is what was paid of it, without the rake, and of large ones it tells only thousands.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from formats.moment import moment_in
from formats.pokerstars import grammar
from formats.pokerstars.grammar import Acts, Chair, Header, Limit, Posts, Totals, Turns, Unread
from formats.pokerstars.played import Played
from formats.sites.notes import DEALT, Notes

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


def played(lines: Sequence[str]) -> Played:
    """The whole hand, or `Unread` with the reason why not."""
    if "*** SUMMARY ***" not in lines:
        raise Unread("the hand stops before its summary")
    end = lines.index("*** SUMMARY ***")
    notes = _table(lines[:end])
    for line in lines[2 + len(notes.chairs) : end]:
        if part := _PART.fullmatch(line):
            name, cards = part[1], part[2]
            if name not in _PARTS:
                raise Unread(f"a part of the hand that hold'em does not have: {name[:40]}")
            if name in _STREETS:
                if name != _STREETS[min(notes.streets, 2)]:
                    raise Unread(f"the {name.lower()} is dealt where it cannot be")
                notes.deal(grammar.cards(cards or ""))
        elif dealt := DEALT.fullmatch(line):
            notes.knows(dealt[1], grammar.cards(dealt[2]))
        else:
            notes.by_player(line, _noted)
    return notes.played(_summary(notes, lines[end + 1 :]))


def _table(lines: Sequence[str]) -> Notes:
    """Header, table and seats."""
    start = _START.match(lines[0])
    table = _TABLE.match(lines[1]) if len(lines) > 1 else None
    if start is None or table is None:
        raise Unread("the first lines of the hand are cut")
    game = _GAME.fullmatch(start["game"])
    if game is None:
        raise Unread(f"{start['game'][:60]} is not hold'em of a kind we have rules for")
    if table[2] is None:
        raise Unread("no line says which seat has the button")
    chairs = []
    for line in lines[2:]:
        seat = _SEAT.fullmatch(line)
        if seat is None:
            break
        chairs.append(Chair(int(seat[1]), seat[2], grammar.money(seat[3])))
    # The stakes, in a tournament after the ante, which is posted anyway.
    real = table[1] == "real"
    amounts = [grammar.money(part.strip(" €")) for part in start["stakes"].split("/")]
    tournament = start["kind"] == "Tournament"
    if len(amounts) != 2 and not (tournament and len(amounts) == 3):
        raise Unread(f"{start['stakes'][:40]} are no stakes of hold'em")
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
    header = replace(header, played=moment_in(lines[0][start.end() :]))
    return Notes(header, int(table[2]), tuple(chairs))


def _noted(notes: Notes, name: str, rest: str) -> bool:
    """Whether these words are known, and noted if they are an action."""
    rest = _SIGN_BEHIND.sub(r"€\1", rest.removesuffix(" out of position"))
    rest = rest.replace("posts ante ", "posts the ante ", 1)
    if took := _TOOK.fullmatch(rest):
        pot = int(took[2] or 1) if "side" in rest else 0
        notes.take(name, grammar.money(took[1]), pot)
        return True
    match grammar.remark(rest):
        case Acts() as acts:
            notes.act(name, acts)
        case Posts(what=what, amount=amount) as posts:
            notes.post(name, posts, 0 if what == "the ante" else amount)
        case Turns(cards=cards):
            notes.turn(name, cards)
        case _:
            return rest in _IDLE
    return True


def _summary(notes: Notes, lines: Sequence[str]) -> Totals:
    """The pot and the rake; board, seats, folds and winners are those of the hand."""
    totals = None
    for line in lines:
        if pot := _TOTAL.fullmatch(line):
            rake = grammar.money(pot[4]) if pot[4] else 0
            if not pot[3] and grammar.money(pot[1]) != notes.won():
                raise Unread(f"{notes.won()} is collected of a pot of {grammar.money(pot[1])}")
            totals = notes.totals(None, rake)
        elif board := _BOARD.fullmatch(line):
            notes.same_board(grammar.cards(board[1]))
        elif end := _FATE.fullmatch(line):
            name = notes.seated(end["name"])
            if int(end["seat"]) != next(it.number for it in notes.chairs if it.name == name):
                raise Unread(f"{name[:40]} has another seat in the summary")
            if end["cards"]:  # only the summary may name them
                notes.knows(name, grammar.cards(end["cards"]))
            if notes.folded.get(name) != (_FOLDED[end["folded"]] if end["folded"] else None):
                raise Unread(f"hand and summary do not say alike whether {name[:40]} folded")
            won = grammar.money(end["won"]) if end["won"] else 0
            if notes.won(name) != won and not end["k"]:
                raise Unread(f"{name[:40]} collects {notes.won(name)}, and {won} in the summary")
    if totals is None:
        raise Unread("the summary does not tell the pot and the rake")
    return totals

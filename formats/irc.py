"""Read a folder of the IRC poker database: fixed-limit hold'em of one month, 1995 to 2001.

Three kinds of file tell of each hand: `hdb` its pots and board, `hroster` who played, and a file
per player what he did, one letter a turn, without amounts. All are in order of time, so they are
read side by side: however many hands there are, only one is in memory.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, json
from msgspec.structs import replace

from engine.games.imported import IRC_LIMIT
from events.cards import Cards, is_card
from formats.source import Act, Board, Holds, Item, Refused, Shows, Skipped, SourceFile, SourceHand
from formats.timestamps import utc_of_seconds

SMALL, BIG, HIGH = 5, 10, 20
OPEN_MAX = 200
_CHIPS_MAX = 10**12
_YEARS = range(757_382_400, 1_009_843_200)  # 1994 to 2001: the ids of hands are seconds since 1970
_NEVER = 10**15  # after every hand

_LETTERS = re.compile(r"[BkcbrfAQK]+|-")
_DEALT = {0: 0, 1: 3, 2: 4, 3: 5}  # cards on the board when a street begins
_LEAVES = "fQK"
_ELSEWHERE = {15: "Omaha", 16: "five card draw", 18: "seven card stud"}  # by how long a line is


class _Deal(Struct, frozen=True):
    """A line of `hdb`; of its pots the last, which everything is in."""

    id: int
    players: int
    pot: int
    board: Cards


class _Row(Struct, frozen=True):
    """A line of a player's file."""

    name: str
    id: int
    players: int
    position: int
    streets: tuple[str, ...]
    bankroll: int
    action: int
    winnings: int
    cards: Cards


class _Unreadable(Exception):
    """A hand that these files do not tell, and why."""


def read(folder: Path) -> SourceFile:
    """The month in a folder; it is refused if its three parts are not there."""
    for part in ("hdb", "hroster", "pdb"):
        if not (folder / part).exists():
            raise Refused(1, f"this is no month of the IRC database: there is no {part} in it")
    with (folder / "hdb").open("rb") as hdb:
        first = next(filter(None, map(_words, hdb)), [])
    try:
        _deal(first)
    except _Unreadable as reason:
        raise Refused(1, str(reason)) from None
    hands = _hands(folder)
    return SourceFile(format="irc", dialect="limit 10/20", inferred=("game",), hands=hands)


def _hands(folder: Path) -> Iterator[SourceHand | Skipped]:
    players = _Players(folder / "pdb")
    try:
        with (folder / "hdb").open("rb") as hdb, (folder / "hroster").open("rb") as rosters:
            roster: list[str] = []
            before = 0
            for number, line in enumerate(hdb, 1):
                words = _words(line)
                if not words:
                    continue
                try:
                    deal = _deal(words)
                    if deal.id <= before:
                        raise _Unreadable(
                            f"hand {deal.id} comes after {before}: not in order of time"
                        )
                    before = deal.id
                    while not roster or _number(roster[0]) < deal.id:
                        roster = next(filter(None, map(_words, rosters)), [str(_NEVER)])
                    rows = _player_rows(deal, roster, players)
                    hand = _source_hand(deal, rows, number)
                    # What all three files say of a hand.
                    yield replace(
                        hand,
                        text="\n".join((" ".join(words), json.encode(rows).decode())),
                        site=" ".join(hand.players),
                    )
                except _Unreadable as reason:
                    yield Skipped(number, str(reason))
    finally:
        players.close()


def _player_rows(deal: _Deal, roster: list[str], players: "_Players") -> list[_Row]:
    """The row of each player's file for this hand, by position; all of them, or none."""
    if _number(roster[0]) != deal.id:
        raise _Unreadable(f"hroster does not say who played hand {deal.id}")
    names = roster[2:]
    if len(names) != deal.players or len(set(names)) != len(names):
        raise _Unreadable(f"hand {deal.id} has {deal.players} players, hroster names {len(names)}")
    rows = []
    for name in names:
        row = players.row(name, deal.id)
        if row is None:
            raise _Unreadable(f"hand {deal.id} is not in a file of its player {name}")
        rows.append(row)
    rows.sort(key=lambda row: row.position)
    if [row.position for row in rows] != list(range(1, len(rows) + 1)):
        raise _Unreadable(f"the positions in hand {deal.id} are not 1 to {len(rows)}")
    return rows


class _Players:
    """The players' files, each read on from where it was left; a limited number is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, BinaryIO] = OrderedDict()
        self._left: dict[str, int] = {}
        self._ahead: dict[str, list[str]] = {}

    def row(self, name: str, hand: int) -> _Row | None:
        """The line of this hand in the file of this player: `name id players position preflop flop
        turn river bankroll action winnings [cards]`."""
        words = self._ahead.get(name)
        while words is None or (len(words) > 1 and _number(words[1]) < hand):
            words = self._next(name)
            self._ahead[name] = words
        if len(words) < 2 or words[0] != name or _number(words[1]) != hand:
            return None
        if len(words) in _ELSEWHERE:
            raise _Unreadable(
                f"{words[0][:40]} shows {len(words) - 11} cards: this is {_ELSEWHERE[len(words)]}"
            )
        if len(words) not in (11, 13) or not all(map(_LETTERS.fullmatch, words[4:8])):
            raise _Unreadable(f"a line of {words[0][:40]} cannot be read")
        _, players, position = (_number(word) for word in words[1:4])
        bankroll, action, winnings = (_number(word) for word in words[8:11])
        if max(bankroll, action, winnings) > _CHIPS_MAX:
            raise _Unreadable(f"{words[0][:40]} has more chips than there ever were")
        streets = tuple(word.strip("-") for word in words[4:8])
        cards = _cards(words[11:])
        return _Row(words[0], hand, players, position, streets, bankroll, action, winnings, cards)

    def close(self) -> None:
        for file in self._open.values():
            file.close()

    def _next(self, name: str) -> list[str]:
        """The next line that is not empty; nothing at the end, or where there is no file."""
        file = self._open.pop(name, None) or self._opened(name)
        if file is None:
            return []
        self._open[name] = file
        if len(self._open) > OPEN_MAX:
            oldest, other = self._open.popitem(last=False)
            self._left[oldest] = other.tell()
            other.close()
        while line := file.readline():
            if words := _words(line):
                return words
        return []

    def _opened(self, name: str) -> BinaryIO | None:
        path = self._folder / os.fsdecode(b"pdb." + name.encode("latin-1"))
        if path.parent != self._folder or not path.is_file():
            return None
        file = path.open("rb")
        file.seek(self._left.get(name, 0))
        return file


# Lines.


def _words(line: bytes) -> list[str]:
    """Fields are separated by runs of blanks; a nickname may hold any other byte."""
    return [word.decode("latin-1") for word in line.split()]


def _number(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", word):
        raise _Unreadable(f"{word[:40]} stands where a number should")
    return int(word)


def _deal(words: list[str]) -> _Deal:
    """`id gameset hand players n/pot n/pot n/pot n/pot [board]`."""
    pots = words[4:8]
    if len(pots) < 4 or not all(re.fullmatch(r"[0-9]{1,15}/[0-9]{1,15}", pot) for pot in pots):
        raise _Unreadable("this is no line of hdb: numbers, four times players/pot, and the board")
    board = _cards(words[8:])
    if len(board) not in (0, 3, 4, 5):
        raise _Unreadable(f"the board has {len(board)} cards")
    return _Deal(_number(words[0]), _number(words[3]), int(pots[3].partition("/")[2]), board)


def _cards(words: list[str]) -> Cards:
    for word in words:
        if not is_card(word):
            raise _Unreadable(f"{word[:40]} is not a card")
    return tuple(words)


# Letters.


def _source_hand(deal: _Deal, rows: list[_Row], number: int) -> SourceHand:
    """The hand that the letters spell: position 1 is left of the button, the last has it."""
    if any(row.players != len(rows) for row in rows):
        raise _Unreadable(f"the files do not agree how many play hand {deal.id}")
    if any(row.bankroll == 0 for row in rows):
        raise _Unreadable(f"somebody plays hand {deal.id} without chips")
    if not 2 <= len(rows) <= IRC_LIMIT.seats_max:
        raise _Unreadable(f"{len(rows)} play hand {deal.id}")
    blinds = tuple(seat for seat, row in enumerate(rows) if "B" in row.streets[0])
    if blinds not in ((0, 1), (0,)):
        raise _Unreadable(f"the blinds of hand {deal.id} are not left of the button")
    nets = tuple(row.winnings - row.action for row in rows)
    if sum(nets):
        raise _Unreadable(
            f"hand {deal.id} does not balance: players win {sum(nets)} more than is paid"
        )
    if sum(row.action for row in rows) != deal.pot:
        raise _Unreadable(
            f"hand {deal.id} has a pot of {deal.pot} in hdb, its players put in another"
        )
    now = _BettingState([row.bankroll for row in rows])
    # The cards that were shown, the streets with their boards, the showdown.
    shown = [(seat, row.cards) for seat, row in enumerate(rows) if row.cards]
    items: list[Item] = [Holds(seat, cards) for seat, cards in shown]
    for street in range(4):
        before, dealt = _DEALT.get(street - 1, 0), _DEALT[street]
        if before < dealt <= len(deal.board):
            items.append(Board(deal.board[before:dealt]))
        letters = [row.streets[street] for row in rows]
        items += now.street(letters, BIG if street < 2 else HIGH)
    items += (Shows(seat, cards) for seat, cards in shown)
    for row, left in zip(rows, now.left, strict=True):
        if row.bankroll - left != row.action:
            raise _Unreadable(
                f"the letters of hand {deal.id} put in {row.bankroll - left} for {row.name}, "
                f"his file says {row.action}"
            )
    return SourceHand(
        game=IRC_LIMIT,
        number=number,
        line=number,
        source_id=str(deal.id),
        button=len(rows) - 1,
        players=tuple(row.name for row in rows),
        stacks=tuple(row.bankroll for row in rows),
        items=tuple(items),
        dead_small=len(blinds) == 1,
        nets=nets,
        rake=0,
        assumed=(f"blinds {SMALL}/{BIG}", f"level {BIG}/{HIGH}"),
        played=utc_of_seconds(deal.id) if deal.id in _YEARS else "",
    )


class _BettingState:
    """The betting that the letters leave out: the bet, who owes an answer, who has gone, stacks."""

    def __init__(self, bankrolls: list[int]) -> None:
        self.left = bankrolls
        self.gone: set[int] = set()
        self.leaving: set[int] = set()
        self.due: set[int] = set()
        self.bets: list[int] = []
        self.bet = 0

    def begin(self) -> None:
        """A street: everybody who is in and has chips owes an answer."""
        self.bets = [0] * len(self.left)
        self.bet = 0
        self.due = {s for s, left in enumerate(self.left) if left and s not in self.gone}

    def put(self, seat: int, to: int) -> None:
        """Chips up to this total, or all that are left; more than the bet is for all to answer."""
        added = min(to - self.bets[seat], self.left[seat])
        self.bets[seat] += added
        self.left[seat] -= added
        if self.bets[seat] > self.bet:
            self.bet = self.bets[seat]
            self.due = {s for s, left in enumerate(self.left) if left and s not in self.gone}

    def post(self, seat: int, blind: int) -> None:
        """A blind is owed in full, however short its seat is."""
        self.put(seat, blind)
        self.bet = max(self.bet, blind)

    def answered(self, seat: int) -> None:
        self.due.discard(seat)

    def leave(self, seat: int) -> bool:
        """Whether the seat folds now. One that owes nothing is gone when it is asked again; if
        it never is, or the others have gone before, it has only left the table."""
        if seat not in self.due or len(self.gone) == len(self.left) - 1:
            self.leaving.add(seat)
            return False
        self.gone.add(seat)
        return True

    def street(self, letters: list[str], size: int) -> Iterator[Item]:
        """The choices of a street, one letter a turn, round and round by position."""
        self.begin()
        posts = sum(own.startswith("B") for own in letters)
        for turn in zip_longest(*letters):
            for seat, letter in enumerate(turn):
                if seat in self.gone:
                    continue
                if letter is None:
                    if seat in self.leaving and self.leave(seat):
                        self.answered(seat)
                        yield Act(seat, "fold")
                elif letter == "B":
                    self.post(seat, SMALL if posts == 2 and seat == 0 else BIG)
                elif (act := self.act(seat, letter, size)) is not None:
                    yield act

    def act(self, seat: int, letter: str, size: int) -> Act | None:
        """A letter as a choice; all-in is a call or a raise, as the bet has it."""
        bet = self.bet
        act: Act | None = None
        if letter in _LEAVES:
            act = Act(seat, "fold") if self.leave(seat) else None
        elif letter == "k":
            act = Act(seat, "check")
        elif letter == "A" and not self.left[seat]:
            pass  # the call before it took everything: a note, no choice
        elif letter == "c" or (letter == "A" and self.left[seat] <= bet - self.bets[seat]):
            self.put(seat, bet)
            act = Act(seat, "call")
        elif letter == "A":
            act = Act(seat, "raise", to=self.bets[seat] + self.left[seat])
            self.put(seat, self.bets[seat] + self.left[seat])
        else:
            act = Act(seat, "raise", to=min(bet + size, self.bets[seat] + self.left[seat]))
            self.put(seat, bet + size)
        self.answered(seat)
        return act

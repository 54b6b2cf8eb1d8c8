"""Parse the actions of a PHH hand as items, counting the chips that they leave unsaid.

`cc` is a check or a call, so what each seat has put in is counted along. Nothing is judged here.
"""

from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from events.cards import UNKNOWN, Cards, is_card, is_known
from formats.phh.fields import ChipUnit, MalformedField
from formats.source import Act, Board, Holds, Item, Mucks, Shows

QUOTED = 80  # characters of an action in a sentence about it
_TURNED = (Shows, Mucks)
_SEATS = {f"p{number}": number - 1 for number in range(1, 24)}


class BettingState(Struct):
    """The chips and bets of every seat, the folded seats, and those that owe an answer."""

    stacks: list[int]
    bets: list[int]
    top: int
    paid: list[int]
    live: set[int]
    folded: set[int] = set()
    owing: set[int] = set()
    dealt: set[int] = set()
    board: int = 0
    aggressor: int | None = None

    def contenders(self) -> list[int]:
        return [seat for seat in range(len(self.stacks)) if seat not in self.folded]

    def put(self, seat: int, to: int) -> None:
        """The seat's bet of this street becomes `to`, or as much as its stack allows."""
        more = min(to - self.bets[seat], self.stacks[seat])
        self.bets[seat] += more
        self.paid[seat] += more
        self.stacks[seat] -= more
        if not self.stacks[seat]:
            self.live.discard(seat)

    def fold(self, seat: int) -> None:
        self.folded.add(seat)
        self.live.discard(seat)

    def closed_if_alone(self) -> None:
        """The last with chips is asked only for chips that another has really put in (G8)."""
        if len(self.live) == 1 and self.bets[min(self.live)] >= max(
            self.bets[seat] for seat in self.contenders()
        ):
            self.owing = set()

    def next_street(self, cards: int) -> None:
        self.board += cards
        self.bets = [0] * len(self.bets)
        self.top = 0
        self.owing = self.live.copy() if len(self.live) > 1 else set()
        if self.owing:
            self.aggressor = None

    def is_complete(self) -> bool:
        """Whether nobody can act any more and every card has been dealt."""
        return len(self.contenders()) == 1 or (self.board == 5 and not self.owing)


def state_after_blinds(
    stacks: tuple[int, ...], antes: tuple[int, ...], blinds: tuple[int, ...]
) -> BettingState:
    """The table once antes and blinds are in."""
    none = [0] * len(stacks)
    book = BettingState(list(stacks), none, 0, list(none), set(range(len(stacks))))
    for seat, ante in enumerate(antes):
        book.put(seat, ante)
    book.bets = [0] * len(stacks)
    for seat, blind in enumerate(blinds):
        book.put(seat, abs(blind))
    book.top = max(map(abs, blinds))
    book.owing = book.live.copy()
    book.closed_if_alone()
    return book


class ParsedActions(Struct, frozen=True):
    """The actions as items; `shown` are the seats in the order in which they showed, `thrown` says
    whether a show of unseen cards was taken for a muck."""

    items: tuple[Item, ...]
    book: BettingState
    shown: tuple[int, ...]
    face_up: bool
    thrown: bool
    commentary: tuple[str, ...]


def parse_actions(actions: list[str], book: BettingState, money: ChipUnit) -> ParsedActions:
    """Every action in order."""
    items, commentary = list[Item](), list[str]()
    for text in actions:
        act, remark = text, ""
        if "#" in text:
            act, _, remark = text.partition("#")
        commentary.append(remark.strip())
        words = act.split()
        if words:
            try:
                items.append(_parse_action(text, words, book, money, items))
            except MalformedField as wrong:
                raise MalformedField(str(wrong), near=text) from None
    thrown = False
    if any(isinstance(item, Shows) and _is_unseen(item) for item in items):
        items, thrown = _with_unseen_mucked(items)
    shown = tuple([item.seat for item in items if isinstance(item, _TURNED)])
    face_up = len(shown) > 1 and _face_up(items, book)
    return ParsedActions(tuple(items), book, shown, face_up, thrown, tuple(commentary))


def _parse_action(
    text: str, words: list[str], book: BettingState, money: ChipUnit, items: list[Item]
) -> Item:
    match words:
        case [who, "f"]:
            seat = _seat(text, who, book)
            book.fold(seat)
            book.owing.discard(seat)
            book.closed_if_alone()
            return Act(seat, "fold")
        case [who, "cc"]:
            seat = _seat(text, who, book)
            owes = book.top > book.bets[seat]
            book.put(seat, book.top)
            book.owing.discard(seat)
            return Act(seat, "call" if owes else "check")
        case [who, "cbr", amount]:  # the total of the seat's bets on this street
            seat = _seat(text, who, book)
            if amount.isdecimal() and len(amount) < 10 and amount.isascii():
                to = int(amount) * money.per
            elif amount.isascii() and len(amount) <= 40 and amount.replace(".", "", 1).isdecimal():
                to = money.units(Decimal(amount), _quoted(text))
            else:
                raise MalformedField(f"{_quoted(text)} raises to no number")
            book.put(seat, max(to, book.bets[seat]))
            book.top = max(to, book.top)
            book.aggressor = seat
            book.owing = book.live - {seat}
            return Act(seat, "raise", to)
        case ["d", "dh", who, word]:
            seat, cards = _seat(text, who, book), cards_of(text, word)
            if len(cards) != 2:
                raise MalformedField(f"{_quoted(text)} deals {len(cards)} of the 2 cards of a hand")
            if seat in book.dealt:
                raise MalformedField(f"{_quoted(text)} deals a second hand to the same player")
            book.dealt.add(seat)
            return Holds(seat, cards)
        case ["d", "db", word]:  # where the board was run again, as many cards as there are
            cards, due = cards_of(text, word), 1 if book.board else 3
            if len(cards) != due and book.board < 5:
                raise MalformedField(
                    f"{_quoted(text)} deals {len(cards)} cards to the board, where {due} are due"
                )
            book.next_street(len(cards))
            return Board(cards)
        case [who, "sm"]:
            return Mucks(_seat(text, who, book))
        case [who, "sm", "-"]:
            seat = _seat(text, who, book)
            held = [item.cards for item in items if isinstance(item, Holds) and item.seat == seat]
            return Shows(seat, held[-1] if held else ())
        case [who, "sm", word]:
            return Shows(_seat(text, who, book), cards_of(text, word))
    raise MalformedField(f"{_quoted(text)} is no action of hold'em")


def _quoted(text: str) -> str:
    """As much of an action as a sentence has room for."""
    return repr(text.strip()[:QUOTED])


def _seat(text: str, who: str, book: BettingState) -> int:
    """Players are counted from 1."""
    seat = _SEATS.get(who, -1)
    if 0 <= seat < len(book.bets):
        return seat
    number = who[1:]
    if who[:1] != "p" or not number.isdecimal() or not number.isascii() or len(number) > 2:
        raise MalformedField(f"{_quoted(text)} is no action of hold'em")
    if not 1 <= int(number) <= len(book.bets):
        raise MalformedField(
            f"{_quoted(text)} names a player beyond the {len(book.bets)} of the hand"
        )
    return int(number) - 1


def cards_of(text: str, word: str) -> Cards:
    """Cards written together, two characters each."""
    cards, wrong = _cards_of(word)
    if wrong is not None:
        raise MalformedField(f"{wrong} in {_quoted(text)} is not a card")
    return cards


@lru_cache(maxsize=1 << 12)  # two cards come back soon
def _cards_of(word: str) -> tuple[Cards, str | None]:
    """The cards, and the first of them that is none."""
    cards = tuple(word[at : at + 2] for at in range(0, len(word), 2))
    return cards, next((card for card in cards if not is_card(card)), None)


def _is_unseen(item: Shows) -> bool:
    return bool(item.cards) and set(item.cards) == {UNKNOWN}


def _with_unseen_mucked(items: list[Item]) -> tuple[list[Item], bool]:
    """The items, and whether one became a muck, where cards that nobody saw, `????`, were shown.

    The archive of HandHQ says so of a player who is all-in, before every street: only his last show
    counts, and none where his cards were seen. If those of others were, the last show of `????` was
    a muck: the best hand would have been seen.
    """
    shown = [(at, item) for at, item in enumerate(items) if isinstance(item, Shows)]
    seen = {item.seat for _, item in shown if not _is_unseen(item)}
    last = {item.seat: at for at, item in shown if item.seat not in seen}
    items = [
        item
        for at, item in enumerate(items)
        if not isinstance(item, Shows) or last.get(item.seat) == at or not _is_unseen(item)
    ]
    if not any(isinstance(item, Shows) and UNKNOWN not in item.cards for item in items):
        return items, False
    unseen = {item.seat for item in items if isinstance(item, Shows) and _is_unseen(item)}
    return [
        Mucks(item.seat) if isinstance(item, Shows) and item.seat in unseen else item
        for item in items
    ], bool(unseen)


def _face_up(items: list[Item], book: BettingState) -> bool:
    """Whether every hand still in was turned up, all of them known, before the last card fell."""
    last = max([at for at, item in enumerate(items) if isinstance(item, Board)], default=0)
    early = {item.seat for item in items[:last] if isinstance(item, Shows)}
    stay = set(book.contenders())
    if not 1 < len(stay) <= len(early):
        return False
    known = {item.seat for item in items if isinstance(item, Holds) and is_known(item.cards)}
    return stay <= early and stay <= known

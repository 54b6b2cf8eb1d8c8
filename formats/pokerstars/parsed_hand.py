"""Parse the lines of one hand into seats, posts, choices, cards and pay; amounts in hundredths.

Every line that begins with a player's name and a colon must be understood, or the hand is left
out: a line passed over could be chips. Talk is talk, whatever it imitates.

What the summary says of each seat is held against the lines of play.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from events.cards import Cards
from formats.pokerstars import grammar
from formats.pokerstars.grammar import (
    MONEY,
    ActionLine,
    CardsLine,
    Chair,
    Header,
    LineContent,
    PostLine,
    TimeoutLine,
    Totals,
    Unreadable,
    WinLine,
    cards,
    parse_cents,
)
from formats.pokerstars.text import SUMMARY

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
_TIME_BANK = re.compile(
    rf"received \({MONEY}\) from time bank card, "
)  # of GGPoker, not of the pot
_WON = re.compile(rf"\bwon \(({MONEY})\)")
_BLINDS: dict[Tag, tuple[str, ...]] = {
    "small blind": ("small blind",),
    "big blind": ("big blind", "small & big blinds"),
}


class SeatSummary(Struct, frozen=True):
    """The summary's line of a seat: `folded` is how many cards the board had, `idle` that the
    player had not bet by then; `held` are his cards, if they are named, and `shown` if they were
    shown."""

    name: str
    tags: tuple[Tag, ...]
    folded: int | None = None
    idle: bool = False
    held: Cards | None = None
    shown: bool = False
    mucked: bool = False
    won: int = 0


class SeatActions(Struct):
    """A player's actions in the lines of play."""

    posted: set[str]
    bet: int = 0
    folded: int | None = None
    shown: bool = False
    mucked: bool = False
    won: int = 0


WIDTH_MAX = 1_000
STREETS = {"FLOP": 3, "TURN": 1, "RIVER": 1}
_NO_BRACKETS = str.maketrans("[]", "  ")
_PARTS = {"HOLE CARDS", "SHOW DOWN", "SHOWDOWN", "SUMMARY", *STREETS}


class Street(Struct, frozen=True):
    """Cards that join the board."""

    cards: Cards


class PlayerLine(Struct, frozen=True):
    """A line of a player; `late` if his clock had just run out."""

    name: str
    what: PostLine | ActionLine | CardsLine
    late: bool = False


class ParsedHand(Struct, frozen=True):
    """A hand as the text has it, by names of players."""

    header: Header
    button: int
    chairs: tuple[Chair, ...]
    lines: tuple[PlayerLine | Street, ...]
    known: tuple[tuple[str, Cards], ...]
    back: tuple[tuple[str, int], ...]
    takes: tuple[tuple[str, WinLine], ...]
    totals: Totals


class _HandBuilder(Struct):
    """The part of a hand that has been read so far."""

    lines: list[PlayerLine | Street] = field(default_factory=list)
    board: Cards = ()
    known: list[tuple[str, Cards]] = field(default_factory=list)
    back: list[tuple[str, int]] = field(default_factory=list)
    takes: list[tuple[str, WinLine]] = field(default_factory=list)
    late: str | None = None

    def start_part(self, text: str) -> None:
        """A new part of the hand, with the cards that it deals."""
        part = grammar.street(text)
        name = part[0] if part else text.strip("* ")
        if name.startswith(("FIRST ", "SECOND ", "THIRD ")):
            raise Unreadable("the board was dealt more than once")
        if part is None or name not in _PARTS:
            raise Unreadable(f"a part of the hand that hold'em does not have: {name[:40]}")
        if name in STREETS:
            street = grammar.cards(part[2])
            if len(street) != STREETS[name]:
                raise Unreadable(f"the {name.lower()} has {len(street)} cards")
            before = grammar.cards(part[1].translate(_NO_BRACKETS))
            self.check_board(before, f"the {name.lower()} comes after another board than was dealt")
            self.board += street
            self.lines.append(Street(street))

    def check_board(self, board: Cards, wrong: str) -> None:
        """Refuse a repeated board that is not the one that was dealt."""
        if board and sorted(board) != sorted(self.board):
            raise Unreadable(wrong)

    def add_line(self, name: str, content: LineContent) -> None:
        """A line of this player."""
        match content:
            case ActionLine(cards=cards):
                self.lines.append(PlayerLine(name, content, self.late == name))
                self.late = None
                if cards:
                    self.known.append((name, cards))
            case PostLine():
                self.lines.append(PlayerLine(name, content))
            case CardsLine(cards=turned):
                self.lines.append(PlayerLine(name, content))
                if turned is not None:
                    self.known.append((name, turned))
            case WinLine():
                self.takes.append((name, content))
            case TimeoutLine():
                self.late = name

    def seat_actions(self) -> dict[str, SeatActions]:
        """The actions of each player in the lines of play."""
        players: dict[str, SeatActions] = {}
        board = 0
        for line in self.lines:
            if isinstance(line, Street):
                board += len(line.cards)
                continue
            actions = players.setdefault(line.name, SeatActions(set()))
            match line.what:
                case ActionLine(verb="folds"):
                    actions.folded = board
                case ActionLine(amount=amount):
                    actions.bet += amount
                case PostLine(what=what, amount=amount):
                    actions.posted.add(what)
                    actions.bet += amount if what != "the ante" else 0
                case CardsLine(cards=cards):
                    actions.shown |= cards is not None
                    actions.mucked |= cards is None
        for name, take in self.takes:
            players.setdefault(name, SeatActions(set())).won += take.amount
        return players


def parse_hand(lines: tuple[str, ...]) -> ParsedHand:
    """Parse the whole hand; `Unreadable` says why not."""
    texts = [text for line in lines if (text := line.strip())]
    if max(map(len, texts)) > WIDTH_MAX:
        raise Unreadable(f"a line of more than {WIDTH_MAX} characters")
    header = grammar.header(texts[0])
    if "Hand cancelled" in texts:
        raise Unreadable("the hand was cancelled")
    if SUMMARY not in texts:
        raise Unreadable("the hand stops before its summary")
    end = texts.index(SUMMARY)
    if "'RushAndCash" in texts[1]:
        header = replace(header, fast=True)
    chairs, button, begun = _seats(texts[1:end])
    hand = _HandBuilder()
    names = sorted((chair.name for chair in chairs), key=len, reverse=True)
    for text in texts[1 + begun : end]:  # most are a player's, whose names may look like anything
        if text.startswith("*** "):
            hand.start_part(text)
        elif spoken := _player_line(names, text):
            hand.add_line(*spoken)
        elif (back := grammar.uncalled(text)) is not None:
            hand.back.append((_player_named(names, back[1]), back[0]))
        elif (own := grammar.dealt(text)) is not None:
            hand.known.append((_player_named(names, own[0]), own[1]))
        elif not any(text.startswith(f"{name} ") for name in names):
            _check_no_play(text)
    totals, summaries = None, list[SeatSummary]()
    for text in texts[end + 1 :]:
        totals = totals or grammar.totals(text)
        if text.startswith("Board "):
            hand.check_board(grammar.board(text), "the summary has another board than the hand")
        if text.startswith("Seat "):
            summaries.append(seat_summary(text, chairs))
    if totals is None:
        raise Unreadable("the summary does not tell the pot and the rake")
    check_summary(summaries, hand.seat_actions(), chairs, button, terse=header.terse)
    hand.known += [(summary.name, summary.held) for summary in summaries if summary.held]
    return ParsedHand(
        header,
        button,
        chairs,
        tuple(hand.lines),
        tuple(hand.known),
        tuple(hand.back),
        tuple(hand.takes),
        totals,
    )


def _seats(texts: list[str]) -> tuple[tuple[Chair, ...], int, int]:
    """The players, the number of the button, and after how many lines the play begins."""
    chairs: list[Chair] = []
    button, begun = None, 0
    for place, text in enumerate(texts, 1):
        chair = grammar.chair(text)
        if chair is not None:
            chairs.append(chair)
        elif chairs:
            break
        elif button is None:
            button = grammar.button(text)
        begun = place
    if button is None:
        raise Unreadable("no line says which seat has the button")
    return ordered_chairs(chairs), button, begun


def ordered_chairs(chairs: Sequence[Chair]) -> tuple[Chair, ...]:
    """The chairs by number, if each has a number and a name of its own."""
    if len({chair.name for chair in chairs}) < len(chairs):
        raise Unreadable("two players of one name sit at the table")
    if len({chair.number for chair in chairs}) < len(chairs):
        raise Unreadable("two players sit in one seat")
    return tuple(sorted(chairs, key=lambda chair: chair.number))


def _player_line(names: Iterable[str], text: str) -> tuple[str, LineContent] | None:
    """Whose line this is, the longest name first; None if no reading of it makes sense."""
    before, colon, after = text.partition(": ")
    if colon and before in names and (content := grammar.parse_player_line(after)):
        return before, content
    for name, rest in _starts(names, text):
        has_colon = rest.startswith(": ")
        parse = grammar.parse_player_line if has_colon else grammar.outcome
        content = parse(rest[2:] if has_colon else rest[1:])
        if content is not None:
            return name, content
    for _, rest in _starts(names, text):
        if rest.startswith(": ") and not grammar.is_chatter(rest[2:]):
            raise Unreadable(f'a line that cannot be read: "{text[:80]}"')
    return None


def _starts(names: Iterable[str], text: str) -> Iterator[tuple[str, str]]:
    for name in names:
        if text.startswith(name) and text[len(name) : len(name) + 1] in (":", " "):
            yield name, text[len(name) :]


def _player_named(names: Iterable[str], name: str) -> str:
    if name not in names:
        raise Unreadable(f"{name[:40]} is dealt cards or chips, but has no seat")
    return name


def _check_no_play(text: str) -> None:
    """A line of somebody without a seat must not be a play."""
    _, colon, rest = text.rpartition(": ")
    if 'said, "' in text:
        return
    _, collected, paid = text.rpartition(" collected ")
    acts = bool(colon) and isinstance(grammar.parse_player_line(rest), PostLine | ActionLine)
    wins = bool(collected) and isinstance(grammar.outcome(f"collected {paid}"), WinLine)
    if acts or wins:
        raise Unreadable(f'somebody without a seat plays: "{text[:80]}"')
    if text.startswith("Cash Drop to Pot"):
        raise Unreadable("chips are added to the pot that no player puts in: a cash drop")
    if text.startswith("Hand was run"):
        raise Unreadable("the board was dealt more than once")


def seat_summary(line: str, chairs: Iterable[Chair]) -> SeatSummary:
    """A line of the summary about a seat, which must be one of the list of seats."""
    for chair in chairs:
        start = f"Seat {chair.number}: {chair.name}"
        if line == start or line.startswith(f"{start} "):
            break
    else:
        raise Unreadable(f'the summary has a seat that the hand does not have: "{line[:60]}"')
    rest = line[len(start) :].lstrip(" ")
    tags: list[Tag] = []
    while tag := _TAG.match(rest):
        tags.append(tag[1])  # type: ignore[arg-type]
        rest = rest[tag.end() :]
    ended = _END.fullmatch(_TIME_BANK.sub("", rest))
    if ended is None:
        raise Unreadable(f'a line of the summary that cannot be read: "{line[:80]}"')
    folded = {"Flop": 3, "Turn": 4, "River": 5}.get(ended["street"] or "")
    held = ended["shown"] if ended["shown"] is not None else ended["thrown"]
    won = [ended["taken"]] if ended["taken"] else _WON.findall(ended["result"] or "")
    return SeatSummary(
        name=chair.name,
        tags=tuple(tags),
        folded=0 if ended["before"] else folded,
        idle=bool(ended["idle"]),
        held=None if held is None else cards(held),
        shown=ended["shown"] is not None,
        mucked=bool(ended["mucked"]),
        won=sum(map(parse_cents, won)),
    )


def check_summary(
    summaries: Sequence[SeatSummary],
    actions: dict[str, SeatActions],
    chairs: Sequence[Chair],
    button: int,
    *,
    terse: bool = False,
) -> None:
    """Every seat ends in the summary as the lines of play end it, or this is `Unreadable`.

    Some programs tell only of the seats that came to the showdown; then of the others nothing is
    asked.
    """
    named = {end.name for end in summaries}
    complete = any(end.folded is not None for end in summaries) or named >= actions.keys()
    for end in summaries:
        did = actions.get(end.name, SeatActions(set()))
        thrown = end.mucked and end.folded is None  # folded cards that a program knew
        if end.folded != did.folded and not (thrown and not did.won):
            ends = f"{_fold_text(end.folded)} in the summary and {_fold_text(did.folded)} before it"
            raise Unreadable(f"{end.name} {ends}")
        if end.folded == 0 and (end.idle or not terse) and end.idle != (not did.bet):
            bet = "did not bet" if end.idle else "bet"
            raise Unreadable(f"the summary says that {end.name} {bet}, the lines of play do not")
        if complete and end.shown and not did.shown:
            raise Unreadable(f"the summary says that {end.name} showed, and no line does")
        if end.mucked and not (did.mucked or did.shown or did.folded is not None):
            raise Unreadable(f"the summary says that {end.name} mucked, and no line does")
        if did.mucked and not end.mucked:
            raise Unreadable(f"{end.name} mucks, and the summary does not say so")
        if end.won != did.won and (complete or end.won):
            won, at_the_end = did.won / 100, end.won / 100
            raise Unreadable(f"{end.name} collected {won:g}, and {at_the_end:g} at the end")
    for name in actions if complete else ():
        if name not in named:
            raise Unreadable(f"{name} plays, and the summary does not tell how he ended")
    seat = next((chair.name for chair in chairs if chair.number == button), None)
    for end in summaries if complete and not (terse and len(summaries) == 2) else ():
        if ("button" in end.tags) != (end.name == seat):
            raise Unreadable(f"hand and summary do not give {end.name} the button alike")
    for tag, posts in _BLINDS.items():
        # Whom the summary calls the blind has posted it; of several posters one is called so.
        posters = {name for name, done in actions.items() if done.posted & {*posts}}
        tagged = {end.name for end in summaries if tag in end.tags}
        if len(tagged) > 1 or (tagged and posters and not tagged & posters):
            raise Unreadable(f"hand and summary have another {tag}")


def _fold_text(board: int | None) -> str:
    """A fold in words."""
    if board is None:
        return "does not fold"
    return f"folds at {board} cards on the board" if board else "folds before the flop"

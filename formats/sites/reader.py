"""Read the texts of single sites as source hands, each parsed and then put to the rules.

A hand is known by the names of its players. Amounts are hundredths; the rake is fitted over a
whole file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from events.cards import Cards
from formats.fitted_rake import RakeSample, fitted_rakes
from formats.pokerstars.grammar import (
    ActionLine,
    CardsLine,
    Chair,
    Header,
    PostLine,
    Totals,
    Unreadable,
    WinLine,
)
from formats.pokerstars.parsed_hand import ParsedHand, PlayerLine, Street, ordered_chairs
from formats.pokerstars.read import dealt_in, source_hand
from formats.source import (
    AS_READ,
    ImportRules,
    Refused,
    Skipped,
    SourceFile,
    SourceHand,
    Text,
    lines,
)

Reading = tuple[
    int, ParsedHand | str, str, str
]  # line, a hand or why it is none, its text and site
STREET_CARDS = (3, 1, 1)
DEALT = re.compile(r"Dealt to (.+?) \[([^\]]*)\]")
LINE_MAX = 1 << 16
LINES_MAX = 5_000


class HandBuilder(Struct):
    """Builds a `ParsedHand` line by line; `bets` are the bets of the street, `folded` the street of
    a fold, `small` the small blind, where it is named beside a fixed limit."""

    header: Header
    button: int
    chairs: tuple[Chair, ...]
    lines: list[PlayerLine | Street] = field(default_factory=list)
    known: list[tuple[str, Cards]] = field(default_factory=list)
    back: list[tuple[str, int]] = field(default_factory=list)
    takes: list[tuple[str, WinLine]] = field(default_factory=list)
    bets: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    dead: dict[str, int] = field(default_factory=dict)
    folded: dict[str, int] = field(default_factory=dict)
    board: Cards = ()
    dealt: bool = False
    small: int = 0
    streets: int = 0
    names: tuple[str, ...] = ()  # so that one that begins with another is found first

    def __post_init__(self) -> None:
        self.chairs = ordered_chairs(self.chairs)
        self.left = {chair.name: chair.stack for chair in self.chairs}
        self.names = tuple(sorted(self.left, key=len, reverse=True))

    @property
    def bet(self) -> int:
        """The highest bet of the street."""
        return max(self.bets.values(), default=0)

    def deal(self, cards: Cards) -> None:
        """Begin the next street."""
        if self.streets == len(STREET_CARDS):
            raise Unreadable("the board was dealt more than once")
        if len(cards) != STREET_CARDS[self.streets]:
            name = ("flop", "turn", "river")[self.streets]
            raise Unreadable(f"the {name} has {len(cards)} cards")
        self.streets += 1
        self.board += cards
        self.bets = {}
        self.lines.append(Street(cards))

    def add_known_cards(self, name: str, cards: Cards) -> None:
        """Add the cards that a player is said to hold."""
        self.known.append((self.seated_name(name), cards))

    def post(self, name: str, posts: PostLine, live: int) -> None:
        """A blind or an ante, of which so much is a bet."""
        self.left[self.seated_name(name)] -= posts.amount
        if not live and posts.what != "the ante":
            self.dead[name] = self.dead.get(name, 0) + posts.amount
        self.bets[name] = self.bets.get(name, 0) + live
        self.lines.append(PlayerLine(name, posts))

    def act(self, name: str, acts: ActionLine) -> None:
        """A choice; a bet where there is one already is a raise, whatever it is called."""
        before = self.bets.get(self.seated_name(name), 0)
        if acts.verb == "bets" and self.bet:
            to = before + acts.amount
            acts = ActionLine("raises", to, to - self.bet)
        if acts.verb == "folds":
            self.folded[name] = self.streets
        if acts.verb == "raises":
            self.left[name] -= acts.amount - before
            self.bets[name] = acts.amount
        else:
            self.left[name] -= acts.amount
            self.bets[name] = before + acts.amount
        self.lines.append(PlayerLine(name, acts))

    def add(self, name: str, amount: int) -> None:
        """Add so many chips to the player's bet: a raise, or a bet where there is none."""
        to = self.bets.get(self.seated_name(name), 0) + amount
        bet = self.bet
        self.act(name, ActionLine("raises", to, to - bet) if bet else ActionLine("bets", amount))

    def show_or_muck(self, name: str, cards: Cards | None) -> None:
        """Cards turned up, or thrown away; what is said twice is said once."""
        turned = PlayerLine(self.seated_name(name), CardsLine(cards))
        if turned not in self.lines:
            self.lines.append(turned)
        if cards:
            self.known.append((name, cards))

    def read_player_line(self, line: str, noted: Callable[["HandBuilder", str, str], bool]) -> None:
        """Read a line that begins with a name; `noted` adds the rest, if it is known."""
        for name in self.names:
            if line.startswith(f"{name} ") and noted(self, name, line[len(name) + 1 :]):
                return
        raise Unreadable(f'a line that cannot be read: "{line[:80]}"')

    def collect(self, name: str, amount: int, pot: int = 0) -> None:
        """Add a player's part of a pot."""
        self.takes.append((self.seated_name(name), WinLine(amount, pot)))

    def seated_name(self, name: str) -> str:
        """The name, if somebody at the table has it."""
        if name not in self.left:
            raise Unreadable(f"{name[:40]} plays, but has no seat")
        return name

    def won(self, name: str | None = None) -> int:
        """The winnings of one player or of all."""
        return sum(take.amount for who, take in self.takes if name in (None, who))

    def has_put_in(self, name: str) -> bool:
        """Whether the player has put in anything yet."""
        return any(isinstance(line, PlayerLine) and line.name == name for line in self.lines)

    def check_board(self, cards: Cards) -> None:
        """Refuse a repeated board that is not the one that was dealt."""
        if sorted(cards) != sorted(self.board):
            raise Unreadable("the summary has another board than the hand")

    def total_put_in(self) -> tuple[int, int]:
        """The chips put in, without the unmatched part of the highest stake and with it."""
        paid = {chair.name: chair.stack - self.left[chair.name] for chair in self.chairs}
        *_, matched, most = sorted((0, *(paid[name] - self.dead.get(name, 0) for name in paid)))
        return sum(paid.values()) - (most - matched), sum(paid.values())

    def totals(self, total: int | None, rake: int, fees: int = 0) -> Totals:
        """The totals of the hand: the pot, its parts if there are several, the rake and fees."""
        parts = [0] * max((take.pot + 1 for _, take in self.takes), default=0)
        for _, take in self.takes:
            parts[take.pot] += take.amount
        pot = self.won() + rake if total is None else total
        return Totals(pot, tuple(parts) if len(parts) > 1 else (), rake, fees)

    def parsed_hand(self, totals: Totals) -> ParsedHand:
        """The hand as a whole."""
        return ParsedHand(
            self.header,
            self.button,
            self.chairs,
            tuple(self.lines),
            tuple(self.known),
            tuple(self.back),
            tuple(self.takes),
            totals,
        )


def source_hands(
    read: Callable[[], Iterable[Reading]], rules: ImportRules, format: str
) -> Iterator[SourceHand | Skipped]:
    """The source hands of a file; a rake that is neither set nor known is fitted in a first
    pass."""
    seen = (_rake_sample(hand) for _, hand, *_ in read() if isinstance(hand, ParsedHand))
    houses = fitted_rakes(filter(None, seen), rules, format)
    for number, (line, played, text, site) in enumerate(read(), 1):
        if isinstance(played, str):
            yield Skipped(line, played)
            continue
        try:
            hand = source_hand(played, number, line, houses, _stakes(played))
            yield replace(hand, text=text, site=site)
        except Unreadable as reason:
            yield Skipped(line, str(reason))


def _stakes(hand: ParsedHand) -> str:
    header = hand.header
    return f"{header.limit} {header.sign}{header.low}/{header.high}"


def _rake_sample(hand: ParsedHand) -> tuple[str, RakeSample] | None:
    """The rake sample of a hand, if a rake may be taken of it in whole cents, or chips."""
    per, totals = 1 if hand.header.sign else 100, hand.totals
    if hand.header.tournament or totals.total % per or totals.rake % per:
        return None
    flop = any(isinstance(line, Street) for line in hand.lines)
    seats = len(dealt_in(hand))
    return _stakes(hand), RakeSample(seats, flop, totals.total // per, totals.rake // per)


class Site(Struct, frozen=True):
    """A site: the name of its format, what its hands are called, how one begins, and its reader."""

    name: str
    called: str
    begins: re.Pattern[str]
    parse_hand: Callable[[Sequence[str]], ParsedHand]

    def is_in(self, head: Sequence[str]) -> bool:
        """Whether a hand of this site begins in these lines."""
        return any(self.begins.match(line.strip()) for line in head)

    def read(self, text: Text, rules: ImportRules = AS_READ) -> SourceFile:
        """The text taken apart; refused if no hand of this site begins in it."""
        if next(_hand_lines(text, self.begins), None) is None:
            raise Refused(1, f"no hand of {self.called} begins in this text")
        hands = source_hands(lambda: self._readings(text), rules, self.name)
        return SourceFile(format=self.name, hands=hands)

    def _readings(self, text: Text) -> Iterator[Reading]:
        for line, hand in _hand_lines(text, self.begins):
            try:
                yield line, self.parse_hand(hand), "\n".join(hand).rstrip(), self.name
            except Unreadable as reason:
                yield line, str(reason), "", ""


def _hand_lines(text: Text, begins: re.Pattern[str]) -> Iterator[tuple[int, list[str]]]:
    """The first line number and the lines of each hand, without blank ones."""
    begun, held = 0, list[str]()
    for number, line in enumerate(lines(text), 1):
        if len(line) > LINE_MAX:
            raise Refused(number, f"a line of more than {LINE_MAX} characters")
        stripped = line.replace("\xa0", " ").strip()
        if begins.match(stripped):
            if held:
                yield begun, held
            begun, held = number, [stripped]
        elif held and stripped:
            held.append(stripped)
            if len(held) > LINES_MAX:
                raise Refused(begun, f"a hand of more than {LINES_MAX} lines")
    if held:
        yield begun, held

"""The MIT Pokerbots protocol, both ways: clauses for a bot, and its replies.

A match that is played in them has a plan: by which rules, and in which order its hands are played.

A bot is sent every event once, as a clause, in one line with the next question. The clock that
opens each line is not here: `WirePlayer` measures the clock, and adds it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.catalogue import CATALOGUE
from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.pokerbots import BOUNTY_2025_MIT, RIVER_2023_MIT, TOSS_2026_MIT
from engine.games.swap_2022 import SWAP_2022_MIT
from engine.parameters import first
from engine.steps import Auction, SwapHole, TossHole
from engine.turn import Bid, Call, Check, Command, Fold, Raise, ToAct, ToBid, Toss, ToToss
from events.state import Hand
from events.types import (
    Bet,
    BidPlaced,
    BoardDealt,
    BountyDrawn,
    BountySettled,
    Called,
    Checked,
    Event,
    Events,
    FaultKind,
    Folded,
    HandEnded,
    HandStarted,
    HoleDealt,
    Raised,
    Tossed,
)
from events.views import FIELDS, Seated, may_see

WireTurn = ToAct | ToBid | ToToss
MASKED = "A-1"  # a sealed bid: no skeleton minds it, and it is not to be taken for a bid of 0 (A1)

# By the engine of each year.
SPOKEN = (AUCTION_2024_MIT, SWAP_2022_MIT, RIVER_2023_MIT, TOSS_2026_MIT, BOUNTY_2025_MIT)


class Dialect(Struct, frozen=True):
    """The dialect of a year's game: with bids, with swaps, with tosses.

    Where cards are tossed, `G` ends the first clauses and `A` says what a hand changed; elsewhere
    `D` does, which is a toss there.
    """

    bids: bool = False
    swaps: bool = False
    tosses: bool = False


@cache
def dialect_of(game: Game) -> Dialect:
    """The protocol that bots for this game speak."""
    kinds = {type(step) for step in game.script}
    return Dialect(bids=Auction in kinds, swaps=SwapHole in kinds, tosses=TossHole in kinds)


# What a bot is sent.


SeatTexts = tuple[str, str]
"""What is added to the line of either seat, each clause after a space."""


def _both(words: str) -> SeatTexts:
    return words, words


_NOTHING = _both("")
_CHECK, _CALL, _FOLD = map(_both, (" K", " C", " F"))
_SECRETS = {
    HoleDealt: FIELDS[HoleDealt].secret("cards"),
    BountyDrawn: FIELDS[BountyDrawn].secret("rank"),
    BidPlaced: FIELDS[BidPlaced].secret("amount"),
}
_SEATS = (Seated(0), Seated(1))


def _seen(event: HoleDealt | BountyDrawn | BidPlaced, words: str, hidden: str = "") -> SeatTexts:
    """One text for the seats that see the secret of an event, another for those that do not."""
    secret = _SECRETS[type(event)]
    first, second = [words if may_see(seat, secret, event) else hidden for seat in _SEATS]
    return first, second


class Clauses(Struct):
    """The clauses of one hand that wait for each seat; `take` empties the line of a seat."""

    dialect: Dialect
    waiting: SeatTexts = _NOTHING
    roles: tuple[str, str] = ("P0", "P1")
    bids: dict[int, int] = {}
    hits: dict[int, bool] = {}

    def take(self, seat: int) -> str:
        """Every clause that this seat has not been sent yet, its own actions included."""
        first, second = self.waiting
        self.waiting = (first, "") if seat else ("", second)
        return (second if seat else first)[1:]

    def add(self, events: Events, hand: Hand) -> None:
        """Add the clauses of these events for either seat; `hand` is the hand after them."""
        first, second = self.waiting
        for event in events:
            if clause := _WORDS.get(type(event)):
                words = clause(self, event, hand)
                first += words[0]
                second += words[1]
        self.waiting = first, second

    def noted(self, hand: Hand) -> None:
        """Add that the rival has acknowledged a toss: a check, and a card more on the board."""
        first, second = self.waiting
        words = f" K{_board(hand)}"
        self.waiting = first + words, second + words

    def begin(self, event: HandStarted, hand: Hand) -> SeatTexts:
        """Each player's seat: the dealer's is 0."""
        self.roles = ("P0", "P1") if event.button == 0 else ("P1", "P0")
        self.bids, self.hits = {}, {}
        return f" {self.roles[0]}", f" {self.roles[1]}"

    def hole(self, event: HoleDealt, hand: Hand) -> SeatTexts:
        """The first two cards; a third one is sent with the result of its auction."""
        if not hand.board:
            opened = " G" if self.dialect.tosses else ""
            return _seen(event, f" H{','.join(event.cards)}{opened}")
        return self._auction(hand) if event.seat == self._last_winner(hand) else _NOTHING

    def bounty(self, event: BountyDrawn, hand: Hand) -> SeatTexts:
        return _seen(event, f" G{event.rank}")

    def settled_bounty(self, event: BountySettled, hand: Hand) -> SeatTexts:
        self.hits = {**self.hits, event.seat: event.hit}
        return _NOTHING

    def _last_winner(self, hand: Hand) -> int:
        """The seat whose card comes last: in a tie the dealer's comes first (A3)."""
        best = max(self.bids.values())
        winners = [seat for seat, bid in self.bids.items() if bid == best]
        return winners[0] if len(winners) == 1 else 1 - hand.start.button

    def board(self, event: BoardDealt, hand: Hand) -> SeatTexts:
        """The whole board; where cards are swapped, each seat's own cards, changed or not."""
        board = _board(hand)
        if self.dialect.swaps and len(hand.board) < 5:
            first, second = hand.hole
            return f"{board} U{','.join(first)}", f"{board} U{','.join(second)}"
        return board, board

    def bid(self, event: BidPlaced, hand: Hand) -> SeatTexts:
        """The first bid is sent to the other bidder at once: in clear only if it is not sealed."""
        early = not self.bids
        self.bids = {**self.bids, event.seat: event.amount}
        words = f" A{event.amount}"
        return _seen(event, words, f" {MASKED}") if early else _both(words)

    def _auction(self, hand: Hand) -> SeatTexts:
        """Stacks and bids, the dealer's first, then all cards of the seat; the board again."""
        dealer, other = hand.start.button, 1 - hand.start.button
        stacks = f"{hand.stacks[dealer]},{hand.stacks[other]}"
        settled = f"N{stacks}_{self.bids[dealer]},{self.bids[other]}"
        (first, second), board = hand.hole, _board(hand)
        return (
            f" {self.roles[0]} {settled}_{','.join(first)}{board}",
            f" {self.roles[1]} {settled}_{','.join(second)}{board}",
        )

    def end(self, event: HandEnded, hand: Hand) -> SeatTexts:
        return self._end(hand, 0), self._end(hand, 1)

    def _end(self, hand: Hand, seat: int) -> str:
        """The rival's cards after a showdown, what the hand changed, and who hit his bounty, which
        nobody is told of the seat that lost."""
        shown = "" if "folded" in hand.standing else f" O{','.join(hand.hole[1 - seat])}"
        net = hand.stacks[seat] - hand.start.stacks[seat]
        words = f"{shown} {'A' if self.dialect.tosses else 'D'}{net}"
        if self.hits:
            words += f" Y{self._hit(hand, seat)}{self._hit(hand, 1 - seat)}"
        return words

    def _hit(self, hand: Hand, seat: int) -> str:
        lost = hand.stacks[seat] < hand.start.stacks[seat]
        return "#" if lost else str(int(self.hits[seat]))


def _board(hand: Hand) -> str:
    return f" B{','.join(hand.board)}"


_WORDS: dict[type[Event], Callable[[Clauses, Any, Hand], SeatTexts]] = {
    HandStarted: Clauses.begin,
    HoleDealt: Clauses.hole,
    BoardDealt: Clauses.board,
    BountyDrawn: Clauses.bounty,
    BountySettled: Clauses.settled_bounty,
    BidPlaced: Clauses.bid,
    Checked: lambda clauses, event, hand: _CHECK,
    Called: lambda clauses, event, hand: _CALL,
    Folded: lambda clauses, event, hand: _FOLD,
    Bet: lambda clauses, event, hand: _both(f" R{event.amount}"),
    Raised: lambda clauses, event, hand: _both(f" R{event.to}"),
    Tossed: lambda clauses, event, hand: _both(f" D{event.slot}"),
    HandEnded: Clauses.end,
}


# What a bot replies.


def reply_command(dialect: Dialect, asked: WireTurn, reply: str, sealed: bool) -> Command | None:
    """The command that a reply means, legal or not; None if it means nothing.

    In the games without bids the number behind a letter that is not offered was never looked at.
    """
    meant = spelled_command(dialect, asked.seat, reply, sealed)
    if meant is not None or dialect.bids:
        return meant
    offered = isinstance(asked, ToAct) and asked.raise_min is not None
    if reply[:1] == "R" and not offered:
        return Raise(asked.seat, 0)
    if reply[:1] == "D" and dialect.tosses and not isinstance(asked, ToToss):
        return Toss(asked.seat, 0)
    return None


def spelled_command(dialect: Dialect, seat: int, reply: str, sealed: bool) -> Command | None:
    """The command that a reply means, whatever was asked.

    Only the first letter counts, and behind R, A and D a number as Python reads it.
    """
    match reply[:1]:
        case "F":
            return Fold(seat)
        case "C":
            return Call(seat)
        case "K":
            return Check(seat)
        case "R":
            to = reply_number(reply)
            return None if to is None else Raise(seat, to)
        case "A" if dialect.bids:
            amount = reply_number(reply)
            return None if amount is None else Bid(seat, amount, sealed)
        case "D" if dialect.tosses:
            slot = reply_number(reply)
            return None if slot is None else Toss(seat, slot)
        case _:
            return None


def default_answer(asked: WireTurn, sealed: bool) -> Command:
    """The default answer for a bot that gave no usable reply: bid 0, else check, else fold (A8).

    A bot that tosses no card folds (H2).
    """
    if isinstance(asked, ToBid):
        return Bid(asked.seat, 0, sealed, "default")
    checks = isinstance(asked, ToAct) and asked.check
    return Check(asked.seat, "default") if checks else Fold(asked.seat, "default")


def acknowledgement_fault(dialect: Dialect, reply: str) -> FaultKind | None:
    """The only legal reply to the end of a hand, and to another's toss, begins with K."""
    letter = reply[:1]
    if letter == "K":
        return None
    letters = "FCRA" if dialect.bids else "FCRD" if dialect.tosses else "FCR"
    if not letter or letter not in letters:
        return "malformed"
    if dialect.bids and letter in "RA" and reply_number(reply) is None:
        return "malformed"
    return "illegal"


def reply_number(reply: str) -> int | None:
    """The number behind the letter, as Python reads a whole number: `R1_0` is 10."""
    try:
        return int(reply[1:])
    except ValueError:
        return None


# A match.


class WirePlan(Struct, frozen=True):
    """A match to be played: by which rules, under which name, by whom, how many hands.

    Each deck is dealt once, or twice with the seats exchanged (G21): then hands 2n - 1 and 2n have
    one deck, and no player meets a deck twice, because each copy is played in another leg.
    """

    game: Game
    match: str
    players: tuple[str, str]
    hands: int
    mirrored: bool = False
    open_bids: bool = False

    @property
    def deals(self) -> int:
        """The number of hands that share a deck."""
        return 2 if self.mirrored else 1

    @property
    def legs(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the hands in the order of play; the bots begin every leg anew.

        In odd hands the first player deals, and in either leg they take turns: 1 4 5 8, 2 3 6 7.
        """
        numbers = range(1, self.hands + 1)
        if not self.mirrored:
            return (tuple(numbers),)
        first = tuple(number for number in numbers if number % 4 < 2)
        return first, tuple(number for number in numbers if number % 4 > 1)


def wire_plan(
    game: Game,
    match: str,
    players: tuple[str, str],
    hands: int,
    *,
    mirrored: bool = False,
    open_bids: bool = False,
) -> WirePlan:
    """Plan a match; mirrored, cards come from fixed places in the deck, and hands in pairs."""
    if sentence := why_not_spoken(game):
        raise ValueError(sentence)
    if open_bids and game.bids == "sealed" and first(game, Auction) is not None:
        raise ValueError(f"{game.name} has sealed bids: none of them is shown early")
    if mirrored and game.burn:
        raise ValueError(f"{game.name} burns cards: in a mirrored deck every card has its place")
    if mirrored and hands % 2:
        raise ValueError(f"each deck is dealt twice: {hands} hands are no pairs")
    rules = replace(game, deck_slots="fixed") if mirrored else game
    return WirePlan(rules, match, players, hands, mirrored, open_bids)


# What the protocol never says: amounts, who is paid, which card comes from where.
_FREE = {"name", "document", "script", "stack", "hands", "partner", "readings", "bids"} | {
    name
    for name, policy in CATALOGUE.items()
    if policy.kind in ("pay", "rank", "deal") and name != "announce"
}


def why_not_spoken(game: Game) -> str | None:
    """The reason why bots of the MIT protocol cannot play this game; None if they can."""
    kinds = list(map(type, game.script))
    for spoken in SPOKEN:
        if kinds == list(map(type, spoken.script)):
            for name in Game.__struct_fields__:
                if name not in _FREE and getattr(game, name) != getattr(spoken, name):
                    must = f"its {name} must be as in {spoken.name}"
                    return f"{game.name} is not played over the wire: {must}"
            return None
    names = " or ".join(spoken.name for spoken in SPOKEN)
    return f"{game.name} is not played over the wire: its script is not that of {names}"

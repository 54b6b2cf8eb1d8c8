"""Hands in the columns that the lock-step replay takes: actions, boards, blinds, chips, and the
rules that each hand was played by, which a `Rulebook` knows by their fingerprints.

What changes stacks between actions is in them, and what each seat put in and took out; an uncalled
bet is neither wagered nor won (G4).

Facts, decisions and everything else that asks what an action faced share them. So facts beside
decisions cost 4 to 5 microseconds a hand. A query over decisions would cost 17 for its windows and
16 of the flags alone, without positions and money: facts stay a replay.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa

from analytics.replay.flags import ORIGINS_LEFT_OUT
from engine.followed import of_other_kinds, unknown
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from engine.policies import Policies, per_chip
from odds.batch import Showdown
from store.columns.cells import Column
from store.tables.hand_columns import KIND, Hands


class Money(NamedTuple):
    """Chips of every place; who splits has won, so `won` asks what was collected."""

    put_in: Column
    collected: Column
    net: Column
    won: Column


ACTIONS = ("Folded", "Checked", "Called", "Bet", "Raised")
FOLDED, CHECKED, CALLED, BET, RAISED = range(5)
BLINDS = {"small": 0, "big": 1, "straddle": 2, "post": 3, "dead": 4}


class Acts(NamedTuple):
    """Folds, checks, calls, bets and raises, hand by hand.

    `to` is what a bet or raise makes the bet. `counts`: unless forced or default. `boards` and
    `opens` are how many times the board was dealt and betting was opened before, in all hands;
    `asked`: within a round of betting.
    """

    row: Column
    hand: Column
    seat: Column
    place: Column
    kind: Column
    amount: Column
    to: Column
    full: Column
    counts: Column
    street: Column
    boards: Column
    opens: Column
    asked: Column


class StackChanges(NamedTuple):
    """What happens to stacks between actions, in no order: blinds, antes, prices, what goes back.

    `stake`: a bet of the round to come; `dead`: nobody's stake (G6). `leads`: a blind that says who
    acts first. `out`: no chips move, the seat has no more to say.
    """

    row: Column
    hand: Column
    seat: Column
    place: Column
    amount: Column
    stake: Column
    dead: Column
    leads: Column
    out: Column


class ReplayColumns(Hands):
    """The hands of a table of events, in its order, with what a replay asks of them."""

    def __init__(self, rows: pa.Table) -> None:
        super().__init__(rows)
        self.number = self.starts.numbers("number", missing=-1)
        self.button = self.starts.numbers("button")
        self._boards()
        self.acts = self._acts()
        self.first_act = self.acts_upto.take(np.append(self.heads, self.cells.size))
        self.blinds = self._blinds()
        self.straddlers = self._straddlers()
        self.stack_changes = self._stack_changes()
        self.collected = self.summed(self.shares)
        self.deals, self.shows = self.at("HoleDealt"), self.at("Shown")

    @cached_property
    def counted(self) -> Column:
        """Of every hand, whether it adds up, has two seats, and is not void."""
        found: Column = self.adds_up & ~self.voided & (self.seats > 1)
        return found

    def at(self, kind: str, which: str = "") -> tuple[Column, Column, Column, Column]:
        """Row, hand, seat and place of each event of a kind, or of those of which this is true."""
        row = self.of(kind)
        row = row[self.cells.truths(which, row)] if which else row
        hand, seat = self.hand_of.take(row), self.seat(row)
        return row, hand, seat, self.place(hand, seat)

    def card_count(self, row: Column) -> Column:
        """How many cards some events have."""
        found = np.zeros(len(row), dtype=np.int64)
        for number in range(1, 6):
            found += self.cells.there(f"card{number}", row)
        more, words = self.cells.words("more_cards", row)
        return found + np.array([*(len(it.split()) for it in words.to_pylist()), 0]).take(more)

    def _boards(self) -> None:
        """When the board was dealt or a card tossed: how many cards lay before and after.

        Streets are counted by these, so a card that is tossed is none, and a flop of two, which two
        tosses follow, is three.
        """
        row = self.board_row = self.of("BoardDealt", "Tossed")
        cards = self.card_count(row)
        dealt, tossed = (self.kind == KIND[name] for name in ("BoardDealt", "Tossed"))
        self.deals_upto = np.cumsum(dealt, dtype=np.int32)
        self.boards_upto = np.cumsum(dealt | tossed, dtype=np.int32)
        hand = self.hand_of.take(row)
        first = self.boards_upto.take(self.heads)  # none of a hand's: it has begun otherwise
        tosses = self.hand_of.take(self._toss_steps)
        cards = np.where(self.kind.take(row) == KIND["Tossed"], 0, cards)
        flop = np.arange(len(row)) == first.take(hand)
        cards += flop & np.isin(hand, tosses)
        upto = np.append(0, np.cumsum(cards))
        before = upto[:-1] - upto.take(first.take(hand))
        self.board_hand, self.board_from, self.board_to = hand, before, before + cards
        self._cards_upto, self._first_board = upto, first

    @cached_property
    def _toss_steps(self) -> Column:
        """Where cards begin to be tossed."""
        row = self.of("StepEntered")
        return row[self.cells.codes("street", {"toss": 1}, row, 0) == 1]

    def tossing(self, row: Column) -> Column:
        """Whether a card was asked for when these rows came."""
        steps = self.of("StepEntered", "BettingOpened")
        last = np.append(-1, steps).take(np.searchsorted(steps, row))
        found: Column = np.isin(last, self._toss_steps)
        return found

    def lies(self, row: Column, hand: Column) -> Column:
        """How many cards lie on the board after some rows, one of each of these hands, as streets
        count them."""
        cards, first = self._cards_upto, self._first_board.take(hand)
        found: Column = cards.take(self.boards_upto.take(row)) - cards.take(first)
        return found

    def _acts(self) -> Acts:
        cells = self.cells
        codes = np.full(128, -1, dtype=np.int8)
        codes[[KIND[name] for name in ACTIONS]] = np.arange(len(ACTIONS))
        every = codes.take(self.kind)
        self.acts_upto = np.append(0, np.cumsum(every >= 0, dtype=np.int32))
        row = np.flatnonzero(every >= 0)
        hand, seat = self.hand_of.take(row), cells.numbers("seat", row, -1)
        kind = every.take(row)
        amount = cells.numbers("amount", row) * (kind >= CALLED)
        to = np.where(kind == RAISED, cells.numbers("to", row), amount)
        boards = self.boards_upto.take(row)
        first = self._first_board.take(hand)
        lies = self.lies(row, hand)
        street = np.array([0, 0, 0, 1, 2, 3], dtype=np.int8).take(np.minimum(lies, 5))
        self.open = self.of("BettingOpened")
        self.open_bet = cells.numbers("bet", self.open)
        self.open_size = cells.numbers("size", self.open)
        opens = np.cumsum(self.kind == KIND["BettingOpened"], dtype=np.int32).take(row)
        opened = np.append(-1, self.open).take(opens)
        dealt = np.where(boards > first, np.append(-1, self.board_row).take(boards), -1)
        steps = self.of("StepEntered")
        entered = np.append(-1, steps).take(np.searchsorted(steps, row))
        return Acts(
            row,
            hand,
            seat.astype(np.int32),
            self.place(hand, seat),
            kind,
            amount,
            to,
            cells.truths("full", row) & (kind >= BET),
            cells.codes("origin", ORIGINS_LEFT_OUT, row, 1) > 0,
            street,
            boards,
            opens,
            opened > np.maximum(np.maximum(dealt, entered), self.heads.take(hand)),
        )

    def _blinds(self) -> tuple[Column, Column, Column, Column, Column]:
        """Row, hand, seat, place and kind of each blind."""
        row, hand, seat, place = self.at("BlindPosted")
        return row, hand, seat, place, self.cells.codes("kind", BLINDS, row)

    def _straddlers(self) -> Column:
        """The places that straddled before the flop when they might have folded (U4)."""
        row, hand, _, place, blind = self.blinds
        chosen: Column = self.cells.codes("origin", {"chosen": 1, "recorded": 1}, row) == 1
        chosen &= (blind == BLINDS["straddle"]) & (place < self.places)
        return place[chosen & (self.lies(row, hand) == 0)]

    def _stack_changes(self) -> StackChanges:
        cells = self.cells
        row, hand, seat, place = self.at("AntePosted")
        antes = _changes(row, hand, seat, place, -cells.numbers("amount", row))
        row, hand, seat, place = self.at("UncalledReturned")
        back = _changes(row, hand, seat, place, cells.numbers("amount", row))
        row, hand, seat, place = self.at("TimedOut", "all_in")
        nothing, out = np.zeros(len(row), dtype=np.int64), np.ones(len(row), dtype=bool)
        out_of_time = _changes(row, hand, seat, place, nothing, out=out)
        row, hand, seat, place, blind = self.blinds
        dead = blind == BLINDS["dead"]
        leads = ~dead & (blind != BLINDS["post"])
        amount = -cells.numbers("amount", row)
        blinds = _changes(row, hand, seat, place, amount, stake=~dead, dead=dead, leads=leads)
        some = self.kind.take(self.moves.row) == KIND["AuctionSettled"]
        row, hand, seat, place, price, dead = (column[some] for column in self.moves)
        prices = _changes(row, hand, seat, place, -price, dead=dead)
        parts = antes, blinds, prices, back, out_of_time
        return StackChanges(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _changes(
    row: Column, hand: Column, seat: Column, place: Column, amount: Column, **those: Column
) -> StackChanges:
    """Moves of one kind, of which no more is true than what is given."""
    no = np.zeros(len(row), dtype=bool)
    truths = (those.get(name, no) for name in ("stake", "dead", "leads", "out"))
    return StackChanges(row, hand, seat, place, amount, *truths)


def head(hands: ReplayColumns, hand: Column) -> dict[str, pa.Array]:
    """How stored rows about these hands begin."""
    made = {"hand_seq": pa.array(hands.hand_seq.take(hand)), "match": word(hands, "match", hand)}
    return {
        **made,
        "number": pa.array(hands.number.take(hand)),
        "game": word(hands, "game", hand),
    }


def word(hands: ReplayColumns, name: str, hand: Column) -> pa.Array:
    """What the start of each hand says in a column."""
    which, words = hands.cells.words(name, hands.heads)
    return chosen(words, which[hand])


def chosen(words: Sequence[str] | pa.Array, which: Column) -> pa.Array:
    """These words; nothing for a number below nothing."""
    known = words if isinstance(words, pa.Array) else pa.array(words, pa.string())
    return known.take(pa.array(which, mask=which < 0))


def money(hands: ReplayColumns) -> Money:
    """What became of everybody's chips."""
    acts, moves = hands.acts, hands.stack_changes
    spent = np.zeros(hands.places + 1, dtype=np.int64)
    np.add.at(spent, acts.place, acts.amount)
    np.subtract.at(spent, moves.place, moves.amount)
    stake = spent.copy()
    np.add.at(stake, moves.place, moves.amount * moves.dead)
    collected = hands.collected
    back = np.minimum(_uncalled(hands, stake[: hands.places]), collected)
    put_in = spent[: hands.places] - back
    taken = collected - back
    net = taken - put_in + hands.summed(hands.bounties)
    return Money(put_in, taken, net, taken > 0)


def _uncalled(hands: ReplayColumns, stake: Column) -> Column:
    """Rulesets that leave an uncalled bet in the pot pay it out as one more side pot."""
    most, matched = np.full((2, hands.count), -(1 << 62))
    np.maximum.at(most, hands.place_hand, stake)
    top = stake == most.take(hands.place_hand)
    alone = top & (np.bincount(hands.place_hand, top, hands.count) == 1).take(hands.place_hand)
    if not alone.any():
        return np.zeros(hands.places, dtype=np.int64)
    np.maximum.at(matched, hands.place_hand, np.where(alone, matched[0], stake))
    return (stake - matched.take(hands.place_hand)) * alone


T = TypeVar("T")
Text = Callable[[str], bytes | None]
Rules = Callable[[str], Game | None]


class Rulebook:
    """The program's own rulesets, and those whose text a ledger keeps."""

    def __init__(self, kept: Text) -> None:
        self._kept = kept
        self._known: dict[str, Game | None] = {fingerprint(one): one for one in RULESETS.values()}
        self._found: dict[tuple[str, Callable[[Game], Any]], Any] = {}

    def of(self, mark: str) -> Game | None:
        """The ruleset; None where nobody has its text."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._kept(mark), mark)
        return self._known[mark]

    def showdown(self, mark: str) -> Showdown | None:
        """How its hands compare in columns; None where columns cannot say it."""
        return self.found(mark, comparable)

    def found(self, mark: str, question: Callable[[Game], T]) -> T | None:
        """What is found of a ruleset, once however many hands ask; None of nobody's."""
        if (mark, question) not in self._found:
            game = self.of(mark)
            self._found[mark, question] = None if game is None else question(game)
        return cast(T | None, self._found[mark, question])


# How columns compare hands: not where cards beyond five count. Who has to name five cards can name
# his best.
_COMPARED: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "announce": ("cards_speak", "announced"),
}


def comparable(game: Policies) -> Showdown | None:
    """How this ruleset ranks hands; None where columns cannot say it."""
    followed = unknown(game, _COMPARED, of_other_kinds("rank")) is None
    return comparison(game) if followed else None


def comparison(game: Policies) -> Showdown:
    """How this ruleset ranks hands, as far as columns can say it."""
    return Showdown(game.straights, game.ranking, game.hole_min)


def games_of(hands: ReplayColumns, rules: Rules) -> tuple[list[Game | None], Column]:
    """The rulesets, and which of them each hand was played by; the last is nobody's."""
    which, words = hands.cells.words("ruleset", hands.heads)
    return [*map(rules, words.to_pylist()), None], np.where(hands.counted, which, len(words))


def units_of(games: Sequence[Game | None], ruleset: Column) -> Column:
    """How many of each hand's units make a chip; of unknown rules one."""
    found: Column = np.array([1 if it is None else per_chip(it.unit) for it in games]).take(ruleset)
    return found

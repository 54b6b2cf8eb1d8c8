"""The table `worths`: what the third card was worth in auctions of two, on one of two bases.

`own` is what a bidder could know: his two cards and the board, against any two. `known` is what the
record knows afterwards: both hands as dealt. Amounts are chips, as `odds.third_card.Outcomes` says
by the tie rule of the hand's own ruleset; SQL (`bids_worth.sql`) adds them up.

`ThirdCardCache` keeps counted values in a file. A record is eight whole numbers: the
cards up to a change of suits, and wins and ties with the third card, against it, and without it.
"""

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from analytics.replay.rules import Rulebook
from engine.game import Game
from engine.policies import per_chip
from odds.batch import STANDARD, Odds, Showdown
from odds.ranges import canonical
from odds.rank import Cards, mask
from odds.third_card import Outcomes, ThirdCard, Tie, third_card_known, third_card_of_masks
from store.columns.codec import Row, arrow_table

RECORD = struct.Struct("<8q")
_BOARDS = comb(47, 2)  # two cards to come on a flop, two known hands of which one is unseen
DEAL_COUNTS = (_BOARDS * 45 * comb(44, 2), _BOARDS * comb(45, 3), _BOARDS * comb(45, 2))


class RecordFile:
    """An append-only file of records of one size, a cache; one that a crash cut short is dropped
    when the file is opened next. Without a readable folder nothing is kept."""

    def __init__(self, file: Path | None, record: struct.Struct) -> None:
        self._file, self._record = file, record

    def read(self) -> Iterator[tuple[Any, ...]]:
        """Every whole record."""
        size = self._record.size
        held = b""
        try:
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                held = self._file.read_bytes() if self._file.exists() else b""
                if len(held) % size:
                    os.truncate(self._file, len(held) - len(held) % size)
        except OSError:
            self._file, held = None, b""
        return self._record.iter_unpack(held[: len(held) // size * size])

    def keep(self, *values: Any) -> None:
        """Append a record."""
        if self._file is not None:
            try:
                with self._file.open("ab", buffering=0) as out:
                    out.write(self._record.pack(*values))
            except OSError:
                self._file = None


class ThirdCardCache:
    """Values of third cards under one ranking, looked up or counted; `counted` were new."""

    def __init__(self, folder: Path | None, rules: Showdown = STANDARD) -> None:
        self.counted = 0
        self.rules = rules
        self._known: dict[tuple[int, int], ThirdCard] = {}
        name = f"third-card-1-{rules.straights}-{rules.ranking}-{rules.hole_min}.bin"
        self._file = RecordFile(None if folder is None else folder / name, RECORD)
        for hole, board, *counts in self._file.read():
            wins_ties = zip(counts[::2], counts[1::2], strict=True)
            found = [Odds(deals, best) for deals, best in zip(DEAL_COUNTS, wins_ties, strict=True)]
            # What cannot be is not believed, and counted again.
            if all(0 <= it.wins <= it.wins + it.ties <= it.deals for it in found):
                self._known[hole, board] = ThirdCard(*found)

    def of(self, hole: Cards, board: Cards) -> ThirdCard:
        """The value of a third card, looked up, or counted and kept."""
        key = canonical(mask(hole), mask(board))
        spot = (key[0], key[1])
        if spot not in self._known:
            value = self._known[spot] = third_card_of_masks(*spot, self.rules)
            self.counted += 1
            every = (value.won, value.lost, value.neither)
            self._file.keep(*spot, *(count for odds in every for count in odds.best))
        return self._known[spot]


# `break_even` is null where no price is too high. `actual`, `unbid` and `best` are what the auction
# came to, what bidding 0 would have, and the best of all bids, each against the rival's bid as it
# was; null where three cards against three were not counted. `taken` is what a won auction came to
# beyond losing it at the same price, and `takeable` what any auction could have.
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "auction": pa.int32(),
        "seat": pa.int32(),
        "basis": pa.string(),
        "neither": pa.float64(),
        "gain": pa.float64(),
        "swing": pa.float64(),
        "value": pa.float64(),
        "break_even": pa.float64(),
        "captured": pa.float64(),
        "taken": pa.float64(),
        "takeable": pa.float64(),
        "actual": pa.float64(),
        "unbid": pa.float64(),
        "best": pa.float64(),
    }
)
AMOUNTS = frozenset({"value", "break_even", *SCHEMA.names[SCHEMA.names.index("captured") :]})
Auction = tuple[Row, Row]


class PricingRules(NamedTuple):
    """How third cards are valued under a ruleset: its cache, and its tie at showdown."""

    third: ThirdCardCache
    tie: Tie


def tie_rule(game: Game) -> Tie | None:
    """What a ruleset pays in a tie after an auction; None where its auctions are not priced as
    `Outcomes` has it.

    A price joins the pot, and nobody bids more than his stack. Where bankrolls do not change in a
    tie, there are two players only, who have put in as much as each other.
    """
    priced = game.bid_max == "stack" and game.dead_chips == "first_pot"
    alike = game.seats_max == 2 and game.raise_ceiling == "effective_stack"
    return game.showdown_tie if priced and (alike or game.showdown_tie == "split") else None


def pricing_rules(
    mark: str, book: Rulebook, third: Callable[[Showdown], ThirdCardCache]
) -> PricingRules | None:
    """The pricing rules of a ruleset's fingerprint; `third` finds the cache of a ranking.

    None where nobody has its text, or columns cannot say how its hands compare.
    """
    game, how = book.of(mark), book.showdown(mark)
    if game is None or how is None or how.hole_min:
        return None
    tie = tie_rule(game)
    return None if tie is None else PricingRules(third(how), tie)


def two_bidder_auctions(rows: Iterable[Row]) -> list[Auction]:
    """Auctions of two bidders on a flop, of which at least one hand is known."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["hand_seq"], row["auction"]), []).append(row)
    pairs = [(both[0], both[1]) for both in found.values() if len(both) == 2]
    return [
        pair
        for pair in pairs
        if _cards(pair[0]["board"], 3) and any(_cards(row["hole"], 2) for row in pair)
    ]


def worth_rows(
    found: Iterable[Auction], rules_for: Callable[[Row], PricingRules | None]
) -> Iterator[Row]:
    """Count the rows of `worths` of each auction; none where its rules are not known."""
    for both in found:
        rules = rules_for(both[0])
        if rules is None:
            continue
        board = _cards(both[0]["board"], 3)
        for row in both:
            if (hole := _cards(row["hole"], 2)) and _has_no_duplicates(hole, board):
                yield _row(row, "own", rules.third.of(hole, board), rules.tie)
        mine, other = (_cards(row["hole"], 2) for row in both)
        if mine and other and _has_no_duplicates(mine, other, board):
            card = third_card_known(mine, other, board, rules.third.rules)
            yield _row(both[0], "known", card, rules.tie)
            yield _row(both[1], "known", card.of_rival, rules.tie)


def worth_table(rows: Sequence[Row]) -> pa.Table:
    """Rows of `worths` as an Arrow table."""
    return arrow_table(rows, SCHEMA)


def best_outcome(outcomes: Outcomes, rival_bid: int, stack: int) -> Fraction:
    """The outcome of the best bid of 0 to the stack: winning, tying, or the highest losing bid."""
    amounts = [outcomes.won(rival_bid)] if stack > rival_bid else []
    amounts += [outcomes.tied(rival_bid)] if stack >= rival_bid else []
    amounts += [outcomes.lost(min(rival_bid - 1, stack))] if rival_bid else []
    return max(amounts)


def zero_bid_outcome(outcomes: Outcomes, rival_bid: int) -> Fraction:
    """The outcome of a bid of 0: it loses for nothing, or ties another 0."""
    return outcomes.lost(0) if rival_bid else outcomes.tied(0)


def _row(row: Mapping[str, Any], basis: str, card: ThirdCard, tie: Tie) -> Row:
    outcomes = Outcomes(card, row["pot"], tie)
    chips: dict[str, Fraction | None] = {
        "neither": card.neither.share,
        "gain": card.gain,
        "swing": card.swing,
        "value": card.value(row["pot"]),
        "break_even": outcomes.break_even,
    }
    if row["rival_bid"] is not None:
        # What came of the bid, and what would have of others against the same bid of the rival.
        price, rival_bid, outcome = row["price"], row["rival_bid"], row["outcome"]
        won = outcomes.won(price) if outcome == "won" else None
        chips |= {
            "captured": None if won is None else won - outcomes.lost(0),
            "taken": Fraction(0) if won is None else won - outcomes.lost(price),
            "takeable": max(Fraction(0), outcomes.won(rival_bid) - outcomes.lost(rival_bid)),
        }
        if card.tied is not None:
            actual = won
            if actual is None:
                actual = (outcomes.lost if outcome == "lost" else outcomes.tied)(price)
            chips |= {
                "actual": actual,
                "unbid": zero_bid_outcome(outcomes, rival_bid),
                "best": max(actual, best_outcome(outcomes, rival_bid, row["stack"])),
            }
    found = {name: row[name] for name in ("hand_seq", "auction", "seat")} | {"basis": basis}
    parts = per_chip(row.get("unit") or "chip")  # bids are whole numbers of units
    for name, it in chips.items():
        found[name] = None if it is None else float(it / parts if name in AMOUNTS else it)
    return found


def _has_no_duplicates(*groups: Cards) -> bool:
    """Whether no card lies in two places, as one may in a forged record."""
    cards = [card for group in groups for card in group]
    return len(set(cards)) == len(cards)


def _cards(text: str | None, size: int) -> Cards:
    cards = tuple(text.split()) if text else ()
    return cards if len(cards) == size else ()

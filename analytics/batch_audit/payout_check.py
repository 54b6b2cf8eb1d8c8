"""Recorded payouts compared with what the rules pay, and with what other readings of them pay.

Most pots are won by one seat, and one number says so; pots that are shared, and hands of several
pots, are paid seat by seat.

Most hands are cleared of other readings of the rules by what cannot matter to them: who wins alone
wins under any rule for odd chips, and a straight around the corner counts only where somebody has
one. The rest is paid again.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from analytics.batch_audit.event_arrays import event_code
from analytics.batch_audit.plan import DoubtReason
from analytics.batch_audit.pots import HandPots, PotShares, SidePots, pot_shares
from analytics.batch_audit.record_check import RecordCheck
from analytics.batch_audit.showdown import Contenders
from analytics.replay.rules import comparison
from engine.followed import of_other_kinds, unknown
from engine.game import Game
from engine.policies import Policies
from odds.batch import columns
from store.columns.numpy_columns import Column, pair

# J-Q-K-A-2, Q-K-A-2-3, K-A-2-3-4; and of each mask of ranks, whether it has one of them.
_CYCLIC = (0b1111000000001, 0b1110000000011, 0b1100000000111)
_HAS_CYCLIC: Column = np.any([np.arange(1 << 13) & five == five for five in _CYCLIC], axis=0)
# Policy values of other readings whose payouts are computed here; any other policy that may divide
# pots or compare hands leaves the showdown to the engine.
_FOLLOWED: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "odd_chips": (
        *("clockwise_each", "dealer", "random", "non_dealer"),
        *("first_left_all", "fractional"),
    ),
    "showdown_tie": ("split",),
    "kickers": ("five_cards", "all_seven"),
    "split": ("side_pots", "snapshot"),
    "muck": ("never", "losers_may"),
}
_FOLLOWED_HEADS_UP: dict[str, tuple[object, ...]] = {"showdown_tie": ("split", "no_change")}
_NO_PAYMENT = of_other_kinds("pay", "rank") - {"muck"}  # who mucks may forfeit his claim (U20)


class PayoutCheck:
    """Check the payouts of records against the rules; compute what each seat won or lost."""

    def __init__(self, record: RecordCheck, contenders: Contenders, pots: HandPots) -> None:
        self.record, self.contenders, self.pots = record, contenders, pots
        self.played, self.plan, self.at_showdown = record.played, record.plan, pots.at_showdown
        self.wins = np.zeros_like(self.played.stacks)  # by seat and hand

    @property
    def nets(self) -> Column:
        """The chips that each seat won or lost."""
        found: Column = self.played.stacks - self.played.hands.brought + self.wins
        return found

    def check(self) -> None:
        """Check the payout of every pot, and the rake."""
        contenders = self.contenders
        self._check_rakes()
        self._check_last_standing()
        if len(self.at_showdown):
            self.values = contenders.hand_values(comparison(self.plan.game))
            contenders.check(self.values)
            self.best = contenders.best_values(self.values)
            rows = np.flatnonzero(self.values == self.best.take(contenders.of))
            of = contenders.of.take(rows)
            self.tied = np.zeros(len(self.at_showdown), dtype=bool)
            self.tied[of[1:].compress(of[1:] == of[:-1])] = True
            self.odd = np.zeros(len(self.at_showdown), dtype=bool)
            plain = (self.pots.pot_count == 1) & ~self.tied
            rows = rows.compress(plain.take(of))
            amount = self.pots.layers[0].amount
            if self.pots.rake_by_pot is not None:
                amount = amount - self.pots.rake_by_pot[0]
            hands = contenders.hand.take(rows)
            shares = amount.take(contenders.of.take(rows))
            self._check_one_winner(hands, contenders.seat.take(rows), shares)
            self._check_split_pots(np.flatnonzero(~plain))

    def _check_last_standing(self) -> None:
        """Check that the last contender wins unseen (G17) all but the rake."""
        hands = self.pots.last_standing
        seat = np.bitwise_count(self.played.stays.take(hands) - 1)
        share = (self.pots.whole - self.pots.last_standing_rake).take(hands)
        self._check_one_winner(hands, np.minimum(seat, self.plan.seats - 1), share)

    def _check_one_winner(self, hands: Column, seat: Column, share: Column) -> None:
        """Check that one seat is paid all of the only pot."""
        record = self.record
        row = record.splits.row.take(hands)
        seats, shares = (record.columns.lists[name] for name in ("seats", "shares"))
        wrong = record.columns.codes.take(row, mode="clip") != event_code("PotSplit", pot=0)
        wrong |= seats.one_or_two(row) != seat
        wrong |= shares.one_or_two(row) != share
        self._doubt_where(hands, wrong, DoubtReason.AWARD)
        self.wins[seat, hands] = share

    def _doubt_where(self, hands: Column, wrong: Column, why: DoubtReason) -> None:
        self.record.doubt(hands.take(np.flatnonzero(wrong)), why)

    def _check_rakes(self) -> None:
        """Check the rake of each pot."""
        pots, stage = self.pots, self.record.rakes
        if pots.rake_by_pot is None:
            return
        amount, codes = self.record.columns.values["amount"], self.record.columns.codes
        row = stage.row.take(pots.last_standing)
        cut = pots.last_standing_rake.take(pots.last_standing)
        unlike = amount.take(row, mode="clip") != cut
        unlike |= codes.take(row, mode="clip") != event_code("RakeTaken", pot=0)
        self._doubt_where(pots.last_standing, unlike & (cut > 0), DoubtReason.RAKE)
        row = stage.row.take(self.at_showdown)
        for pot, cut in zip(pots.layers, pots.rake_by_pot, strict=True):
            unlike = amount.take(row, mode="clip") != cut
            unlike |= codes.take(row, mode="clip") != event_code("RakeTaken", pot=pot.number)
            self._doubt_where(self.at_showdown, unlike & (cut != 0), DoubtReason.RAKE)
            row = row + (cut != 0)

    def _check_split_pots(self, some: Column) -> None:
        """Check hands of several pots or winners, pot by pot, against how the rules split them."""
        if not len(some):
            return
        record, contenders = self.record, self.contenders
        hands: Column = self.at_showdown.take(some)
        rows = contenders.rows_of(some)
        values = contenders.by_seat(self.values.take(rows), rows, some)
        begins: Column = record.splits.row.take(hands)
        seats, chips = (record.columns.lists[name] for name in ("seats", "shares"))
        back = np.zeros(len(hands), dtype=bool)
        if self.plan.game.showdown_tie == "no_change":
            back = _tied(values)
        won = np.zeros((self.plan.seats, len(hands)), dtype=np.int32)
        for paid in self._pot_shares(self.plan.game, values, some):
            row = begins.take(paid.rows) + paid.number
            unlike = record.columns.codes.take(row, mode="clip") != event_code(
                "PotSplit", pot=paid.number
            )
            unlike |= ~paid.exact
            self.odd[some.take(paid.rows)] |= paid.odd
            winners = paid.wins.sum(0)
            unlike |= seats.lengths(row) != winners
            unlike |= chips.lengths(row) != winners
            rank = np.zeros(len(row), dtype=np.int64)
            for seat, wins, share in zip(paid.seats, paid.wins, paid.shares, strict=True):
                unlike |= wins & (seats.entry(row, rank) != seat)
                unlike |= wins & (chips.entry(row, rank) != share)
                rank += wins
            won[paid.seats, paid.rows] += paid.shares
            self._doubt_where(hands[paid.rows], unlike & ~back[paid.rows], DoubtReason.AWARD)
        if back.any():
            won[:, back] = self._check_taken_back(hands[back])
        self.wins[:, hands] = won

    def _pot_shares(self, game: Policies, values: Column, some: Column) -> Iterator[PotShares]:
        """The shares of each pot of some hands by these rules."""
        pots = [SidePots(*(column.take(some) for column in pot)) for pot in self.pots.layers]
        rakes = self.pots.rake_by_pot
        if rakes is not None:
            rakes = [rake.take(some) for rake in rakes]
        button = self.played.hands.button.take(self.at_showdown.take(some))
        return pot_shares(game, pots, rakes, values, button)

    def _check_taken_back(self, hands: Column) -> Column:
        """Check that in a tie of the two each takes back what he put in (A9)."""
        record = self.record
        put_in = (self.pots.paid + self.played.dead)[:, hands].astype(np.int64)
        row = record.splits.row.take(hands)
        seats, chips = (record.columns.lists[name] for name in ("seats", "shares"))
        both = np.zeros(len(row), dtype=np.int32)
        unlike = seats.one_or_two(row) != pair(both, both + 1)
        unlike |= chips.one_or_two(row) != pair(*put_in)
        unlike |= record.columns.codes.take(row, mode="clip") != event_code("PotSplit", pot=0)
        self._doubt_where(hands, unlike, DoubtReason.AWARD)
        return put_in

    def winnings(self, game: Policies, values: Column, some: Column) -> tuple[Column, Column]:
        """Chips that each seat wins in some hands by these rules, and where they leave it open."""
        won = np.zeros((self.plan.seats, len(some)), dtype=np.int64)
        doubt = np.zeros(len(some), dtype=bool)
        for paid in self._pot_shares(game, values, some):
            doubt[paid.rows] |= ~paid.exact
            won[paid.seats, paid.rows] += paid.shares
        if game.showdown_tie == "no_change" and self.plan.seats == 2:
            back = _tied(values)
            put_in = self.pots.paid + self.played.dead
            hands: Column = self.at_showdown.take(some.compress(back))
            won[:, back] = put_in.take(hands, axis=1)
        return won, doubt

    def won(self, some: Column) -> Column:
        """Chips that each seat has won in some hands."""
        found: Column = self.wins.take(self.at_showdown.take(some), axis=1)
        return found


def _tied(values: Column) -> Column:
    """Hands in which both of two seats have the same value."""
    tie: Column = (values[0] == values[1]) & (values[0] >= 0)
    return tie


class ReadingCheck:
    """Check the payouts of one plan's hands against other readings of its rules."""

    def __init__(self, payouts: PayoutCheck) -> None:
        self.payouts, self.contenders = payouts, payouts.contenders
        self.plan, self.game = payouts.plan, payouts.plan.game
        self.values, self.pots = payouts.values, payouts.pots

    def check(self) -> None:
        """Doubt hands that some reading, or the partner as a whole, could pay differently."""
        record = self.payouts.record
        for other in self.plan.readings:
            if self._is_unfollowed(other):
                record.doubt(self.payouts.at_showdown, DoubtReason.READING)
                continue
            doubt, fine = self._leaves_open(other), record.why.take(self.payouts.at_showdown) == 0
            some = np.flatnonzero(self._may_differ(other) & ~doubt & fine)
            if len(some):
                doubt[some] = self._pays_otherwise(other, some)
            record.doubt(self.payouts.at_showdown.take(np.flatnonzero(doubt)), DoubtReason.READING)

    @cached_property
    def with_cyclic_straight(self) -> Column:
        """Hands in which somebody has a cyclic straight."""
        contenders = self.contenders
        rows = np.flatnonzero(has_cyclic_straight(contenders.hole | contenders.board))
        found: Column = contenders.of.take(rows)
        return found

    def _has_different_side_pots(self) -> Column:
        """Hands that have other side pots if a larger bet lay in the middle at an all-in (T8).

        Who wins all of them alone has put in as much as anybody, so he wins all of other pots, too;
        unless the house takes its cut of each pot by itself.
        """
        game, payouts = self.game, self.payouts
        found: Column = self.pots.pot_count > 1
        if game.rake is None or game.rake.scope == "hand":
            found &= (payouts.wins.take(payouts.at_showdown, axis=1) > 0).sum(0) > 1
        return found

    def _leaves_open(self, other: Game) -> Column:
        """Hands that a reading could pay otherwise, where that is not computed here."""
        game, at_showdown = self.game, self.payouts.at_showdown
        doubt = np.zeros(len(at_showdown), dtype=bool)
        if other.kickers != game.kickers:  # only a tie of five cards can be broken (T11)
            every = np.arange(len(at_showdown))
            values = self.contenders.by_seat(self.values, np.arange(len(self.values)), every)
            values = np.sort(np.where(values < 0, -1 - np.arange(len(values))[:, None], values), 0)
            doubt |= (np.diff(values, axis=0) == 0).any(0)
        if other.split != game.split:
            doubt |= self._has_different_side_pots()
        return doubt

    def _is_unfollowed(self, other: Game) -> bool:
        """Whether a reading changes a policy of payouts to a value that is not followed here."""
        counted = _FOLLOWED | (_FOLLOWED_HEADS_UP if self.plan.seats == 2 else {})
        own = {name: (getattr(self.game, name),) for name in Policies.__struct_fields__}
        known = {name: (*same, *counted.get(name, ())) for name, same in own.items()}
        return unknown(other, known, _NO_PAYMENT) is not None

    def _pays_ties_otherwise(self, other: Game) -> Column:
        """Hands with a tie that other rules pay otherwise, even if no other seat may win them."""
        game, payouts = self.game, self.payouts
        found: Column = payouts.odd & (other.odd_chips != game.odd_chips)
        if other.showdown_tie != game.showdown_tie:
            found = payouts.tied | (self.pots.pot_count > 1)
        return found

    def _may_differ(self, other: Game) -> Column:
        """Hands in which another seat may win some pot, or where a tie is paid by other rules."""
        game, contenders = self.game, self.contenders
        found = self._pays_ties_otherwise(other)
        mine, theirs = comparison(game), comparison(other)
        if mine == theirs:
            return found
        if mine.hole_min or theirs.hole_min or mine.ranking not in ("standard", theirs.ranking):
            return found | True
        if mine.straights != theirs.straights:
            found[self.with_cyclic_straight] = True
        if mine.ranking != theirs.ranking:  # a coarser one: the winners are still among them
            coarse = columns(7, replace(theirs, straights=mine.straights)).coarse
            assert coarse is not None
            best: Column = self.payouts.best.take(contenders.of)
            more = coarse.take(self.values) == coarse.take(best)
            more &= self.values != best
            found[contenders.of.take(np.flatnonzero(more))] = True
            found |= self.pots.pot_count > 1
        return found

    def _pays_otherwise(self, other: Game, some: Column) -> Column:
        """Whether a reading pays these hands otherwise."""
        contenders, theirs, rows = self.contenders, comparison(other), self.contenders.rows_of(some)
        values = self.values
        if theirs != comparison(self.game):
            values = values.copy()
            values[rows] = contenders.hand_values(theirs, rows)
        found = self._has_other_winners(values.take(rows), rows, some)
        several = self._pays_ties_otherwise(other) | (self.pots.pot_count > 1)
        again = np.flatnonzero(several.take(some))
        if len(again):
            hands = some.take(again)
            rows = contenders.rows_of(hands)
            values = contenders.by_seat(values.take(rows), rows, hands)
            won, doubt = self.payouts.winnings(other, values, hands)
            found[again] = doubt | (won != self.payouts.won(hands)).any(0)
        return found

    def _has_other_winners(self, values: Column, rows: Column, some: Column) -> Column:
        """Whether other seats have the best hand by these values of some rows."""
        count = self.contenders.count.take(some)
        first = np.cumsum(count) - count
        best = np.maximum.reduceat(values, first).repeat(count) == values
        best ^= self.values.take(rows) == self.payouts.best.take(some).repeat(count)
        found: Column = np.logical_or.reduceat(best, first)
        return found


def has_cyclic_straight(hands: Column) -> Column:
    """Whether five ranks of a hand are a straight only where straights are cyclic (P2).

    All others compare alike under both rules: their values have the same order.
    """
    ranks = (hands | hands >> 13 | hands >> 26 | hands >> 39) & 8191
    return _HAS_CYCLIC.take(ranks)

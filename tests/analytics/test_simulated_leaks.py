"""Leaks of known size are found and ranked; a player without any is seldom told to have one."""

import random
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import pytest

from analytics.opponents.leads import Leads, leads
from analytics.opponents.opponent_tables import OpponentScope, opponent_tables
from analytics.opponents.report_sections import OpponentSections
from dealer.bots.built_in import BOTS, BuiltIn, check_or_call, check_or_fold, pot_raise
from dealer.bots.seat_view import Seen
from dealer.deck import SeededDecks
from dealer.play import hand_records, plan
from engine.games import named
from engine.turn import Command, ToAct, ToBid
from store.columns.codec import encoded_table
from tests.analytics.auction_pages import RULES, recorded
from tests.profiles import sized

HANDS = 300
SEEDS = sized(3, 6, 60)


class Solid(BuiltIn):
    """Folds less than a bet breaks even at, bets the river with a pair, bids below the pot."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if asked.call:
            folds = self.random.random() * seen.pot < 0.6 * asked.call and seen.raises > 0
            return check_or_fold(asked) if folds else check_or_call(asked)
        paired = any(card[0] in {it[0] for it in seen.board} for card in seen.hole)
        bets = paired if len(seen.board) == 5 else self.random.random() < 0.5
        return pot_raise(seen, asked, 1, 2) if bets and seen.raises == 0 else check_or_call(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return min(asked.bid_max, int(self.random.random() * 0.6 * seen.pot))


class Opener(Solid):
    """The same, and raises every small blind."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if not seen.board and seen.raises == 0 and asked.call:
            return pot_raise(seen, asked, 1, 2)
        return super().act(seen, asked)


class Leaking(Solid):
    """A player who keeps in a diary what each of his mistakes would have paid his rival."""

    diary: ClassVar[list[float]]


class RiverFolder(Leaking):
    """Never bets the river, and folds to every bet there."""

    diary: ClassVar[list[float]] = []

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if len(seen.board) < 5:
            return super().act(seen, asked)
        if asked.call:
            self.diary.append(seen.pot - asked.call)
            return check_or_fold(asked)
        return check_or_call(asked)


class BlindFolder(Leaking):
    """Folds to every raise before the flop: the big blind, or what he had limped in with."""

    diary: ClassVar[list[float]] = []

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if not seen.board and asked.call and seen.raises:
            self.diary.append(4 if seen.seat == seen.button else 3)
            return check_or_fold(asked)
        return super().act(seen, asked)


class Overbidder(Leaking):
    """Bids nine pots without a pair, a part of the pot with one."""

    diary: ClassVar[list[float]] = []

    def bid(self, seen: Seen, asked: ToBid) -> int:
        paired = any(card[0] in {it[0] for it in seen.board} for card in seen.hole)
        mine = super().bid(seen, asked) if paired else min(asked.bid_max, 9 * seen.pot)
        if asked.bid_max:  # else nothing was for him to choose
            self.diary.append((mine - seen.pot) / 4)
        return mine


@pytest.fixture
def match(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Leads]:
    """Play a match of two bots, and tell the leads on the first; nobody knows how long it is."""

    def played(one: type[Solid], other: type[Solid], seed: str, hands: int = HANDS) -> Leads:
        monkeypatch.setitem(BOTS, "one", one)
        monkeypatch.setitem(BOTS, "other", other)
        planned = plan(named("auction-2024"), "m", hands, seed, ("one", "other"))
        records = list(hand_records(planned, SeededDecks(seed)))
        rows = [encoded_table([recorded(at, it) for at, it in enumerate(records, start=1)])]
        found = OpponentSections(
            "one-0", opponent_tables(rows, RULES, OpponentScope("one-0", spots=0), _at_once)
        )
        told = leads(found)
        for lead in told.found:
            done, could = found.counted_hands(lead.look, pays=True)
            assert (lead.k, lead.n) == (len(done), len(could))
        found.close()
        return told

    return played


def _at_once(rows: Iterable[dict[str, Any]], total: int) -> Iterable[dict[str, Any]]:
    return rows


@pytest.mark.parametrize(
    ("leaking", "look"),
    [
        (RiverFolder, "fold_river"),
        (BlindFolder, "fold_preflop"),
        (Overbidder, "bid_above_pot"),
    ],
)
@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_leak_is_the_first_lead_and_is_worth_what_it_costs(
    leaking: type[Leaking], look: str, seed: str, match: Callable[..., Leads]
) -> None:
    """To the chip what the bot itself knows that it gave away."""
    leaking.diary.clear()
    found = match(leaking, Opener, seed).found
    assert look == found[0].look, found
    first = found[0]
    assert 100 * sum(leaking.diary) / HANDS == pytest.approx(first.worth)
    assert 0 < first.low < first.worth < first.high
    assert first.n == len(leaking.diary)
    assert first.hands
    assert sorted((one.low for one in found), reverse=True) == [one.low for one in found]


def test_larger_leaks_stand_above_smaller_ones(match: Callable[..., Leads]) -> None:
    class Both(RiverFolder):
        """Folds all rivers and, which costs three chips each time, all big blinds."""

        def act(self, seen: Seen, asked: ToAct) -> Command:
            if not seen.board and asked.call and seen.raises and self.random.random() < 0.8:
                return check_or_fold(asked)
            return super().act(seen, asked)

    found = match(Both, Opener, "3", 2 * HANDS).found
    assert {"fold_river", "fold_preflop"} <= {one.look for one in found}
    assert found == sorted(found, key=lambda one: -one.low)


@pytest.mark.ci
def test_a_player_without_leaks_has_no_lead_in_most_runs(match: Callable[..., Leads]) -> None:
    """Over seeds, what he is told to do wrong is chance alone: at most one run in ten."""
    told = [match(Solid, Opener, f"clean {seed}").found for seed in range(SEEDS)]
    assert sum(map(bool, told)) <= SEEDS / 10, [one.look for found in told for one in found]


def test_few_chances_carry_no_lead(match: Callable[..., Leads]) -> None:
    """He folds every river, and 30 hands have fewer than 30 rivers with a bet."""
    assert [] == match(RiverFolder, Opener, "4", 30).found

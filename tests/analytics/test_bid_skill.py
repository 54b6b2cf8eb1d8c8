"""Bidders of known skill play, and efficiency ranks them: by money, as `docs/auctions.md` says."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from analytics.auctions import third_card_worth
from analytics.auctions.bidding import AuctionMeasures
from analytics.sql import ArrowTables
from analytics.statistics.catalogue import MeasureValue
from dealer.bots.built_in import BuiltIn, check_or_call, nearest_raise
from dealer.bots.seat_view import Seen
from dealer.deck import seeded_deck
from dealer.play import play_hand
from engine.game import Game
from engine.games import named
from engine.table import Seating
from engine.turn import Command, ToAct, ToBid
from events.state import Hand
from events.types import Events
from odds.third_card import Outcomes, third_card_known
from store.log.streams import Leaf
from tests.analytics.auction_pages import auctions, auctions_table, recorded, worths
from tests.profiles import sized

DECKS = 12
POT, STACK = 40, 380
RIVALS = range(0, 2 * POT + 1, sized(16, 8))
Price = Fraction | None
Bidder = Callable[[Price, random.Random], int]


def fraction(of: Fraction) -> Bidder:
    """Bids so much of the break-even price; everything where no price is too high."""
    return lambda price, chance: STACK if price is None else min(STACK, int(of * price))


SKILL: dict[str, Bidder] = {
    "truthful": fraction(Fraction(1)),
    "shaded": fraction(Fraction(3, 5)),
    "overbidding": fraction(Fraction(5)),
    "random": lambda price, chance: chance.randrange(STACK + 1),
}


class Scripted(BuiltIn):
    """Raises to 20 if he is first, calls that, checks afterwards, and bids what he was given."""

    def __init__(self, bid: int) -> None:
        self.amount = bid

    def act(self, seen: Seen, asked: ToAct) -> Command:
        first = seen.street == "preflop" and max(seen.bets) < POT // 2
        return nearest_raise(asked, POT // 2) if first else check_or_call(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return self.amount


def dealt(game: Game, name: str, number: int, mine: int, his: int) -> tuple[Events, Hand]:
    """A hand whose cards are those of its number, whoever bids."""
    seating = Seating((0, 1), (name, f"rival of {name}"), (400, 400), number % 2, (), False)
    bots = (Scripted(mine), Scripted(his))
    return play_hand(game, f"{name}/{number}", seating, seeded_deck(f"skill/{number}"), bots)


def played(game: Game, name: str, number: int, mine: int, his: int) -> Leaf:
    """The same as the ledger holds it."""
    return recorded(number, dealt(game, name, number, mine, his)[0], name)


def outcomes(game: Game, number: int) -> Outcomes:
    """With both hands known, over the pot of such a hand."""
    _, hand = dealt(game, "nobody", number, 0, 0)
    first, second = (cards[:2] for cards in hand.hole)
    card = third_card_known(first, second, hand.board[:3])
    return Outcomes(card, POT, game.showdown_tie)


def measured(leaves: list[Leaf]) -> dict[str, dict[str, MeasureValue]]:
    """What every player's bids come to: records, auctions, worths, measures."""
    rows = auctions([Leaf(at, leaf.recorded) for at, leaf in enumerate(leaves)])
    assert {POT} == {row["pot"] for row in rows}
    tables = ArrowTables(
        {"auctions": auctions_table(rows), "worths": third_card_worth.worth_table(worths(rows))}
    )
    found: dict[str, dict[str, MeasureValue]] = {}
    for one in AuctionMeasures(tables).measures():
        found.setdefault(one.player, {})[one.statistic] = one
    return found


def matches(game: Game) -> Iterator[Leaf]:
    """Each of the four on the same decks against the same rival, who bids up to two pots."""
    for name, bidder in SKILL.items():
        chance = random.Random("skill")
        for number in range(DECKS):
            price = outcomes(game, number).break_even
            for his in RIVALS:
                yield played(game, name, number, bidder(price, chance), his)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["auction-2024-mit", *sized((), ("auction-2024",))])
def test_who_bids_better_has_the_higher_efficiency_and_the_lower_regret(name: str) -> None:
    """truthful > shaded > overbidding > random, each by a margin."""
    found = measured(list(matches(named(name))))
    value = {one: found[one]["efficiency_known"].value or 0.0 for one in SKILL}
    assert value["truthful"] - 0.1 > value["shaded"]
    assert value["shaded"] - 0.1 > value["overbidding"]
    assert value["overbidding"] - 0.1 > value["random"]
    in_the_document = {"truthful": 0.4, "shaded": 0.3, "overbidding": 0, "random": -0.2}
    assert in_the_document == pytest.approx(value, abs=0.05)
    regrets = [found[one]["regret_known"].value for one in SKILL]
    assert sorted(regrets, key=lambda it: it or 0.0) == regrets
    for one in SKILL:
        told = found[one]["efficiency_known"]
        assert DECKS * len(RIVALS) == told.n
        assert told.low is not None
        assert told.high is not None
        assert told.low < value[one] < told.high


def test_who_makes_the_rival_pay_more_without_winning_is_rewarded() -> None:
    """The rival bids 300 every time: all lose, and who comes near to that has more of the best."""
    game = named("auction-2024")
    bids = {"nothing": 0, "timid": 30, "pushing": 250, "perfect": 299}
    leaves = [
        played(game, name, number, bid, 300) for name, bid in bids.items() for number in range(4)
    ]
    found = measured(leaves)
    value = {name: found[name]["efficiency_known"].value or 0.0 for name in bids}
    assert 0 == value["nothing"]
    assert value["timid"] == pytest.approx(30 * value["perfect"] / 299)
    assert value["pushing"] == pytest.approx(250 * value["perfect"] / 299)
    assert 0.5 < value["pushing"]
    assert {0} == {found[name]["lost"].n - found[name]["lost"].k for name in bids}  # type: ignore[operator]
    assert not any(found[name]["capture_of_won_known"].value for name in bids)


def test_perfect_hindsight_is_one_and_never_bidding_is_nothing() -> None:
    """Of those who know the other bid: the best of all bids, and always 0, ties at 0 included."""
    game = named("auction-2024-mit")
    rivals = (0, 1, 7, 40, 120)
    leaves = []
    for number, his in enumerate(rivals):
        ends = outcomes(game, number)
        best = max(range(his + 2), key=lambda bid: _came_to(ends, bid, his))
        leaves += [played(game, "best", number, best, his), played(game, "zero", number, 0, his)]
    found = measured(leaves)
    told = {name: found[name]["efficiency_known"].value for name in ("best", "zero")}
    assert {"best": 1, "zero": 0} == told
    assert 0 == found["best"]["regret_known"].value


def _came_to(ends: Outcomes, bid: int, his: int) -> Fraction:
    """Every bid tried in turn, as the auction would settle it."""
    if bid == his:
        return ends.tied(bid)
    return ends.won(his) if bid > his else ends.lost(bid)

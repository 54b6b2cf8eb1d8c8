"""The pots of a report: layers, dead chips, rake, exact shares and odd chips, in worked numbers."""

from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from api.auditing.hand_report import audit_entry, audit_text
from api.auditing.pots import pots_as_json, showdown_as_json
from engine.audit import before_payment
from engine.game import Game
from engine.verdict import judge
from events.types import Events, HandStarted, PotSplit
from tests.hands import seeded, some_games
from tests.pages import played

LAYERED = """
probability-standard, button 0, stacks 50 120 500 500
deal 0: As Ah, 1: Ks Kh, 2: 6s 6h, board: 2c 3c 7d 8d Th
> 3 raises to 80; 0 calls; 1 raises to 120; 2 raises to 200; 3 folds
"""
TAPPED = """
urcs-1998, button 0, stacks 100 1000 1000, limits 10/20/80
deal 0: Ks Ac, 1: Kh Ah, 2: Qs Qh, board: 2c 3d 7h Ts Kd
> 1 straddles; 2 calls; 0 calls; 1 straddles; 2 calls; 0 calls
> 1 bets 20; 2 raises to 40; 1 calls
> 1 bets 20; 2 raises to 40; 1 raises to 60; 2 calls
> 1 announces Kh Kd Ah Ts 7h; 2 mucks; 0 announces Ks Kd Ac Ts 7h
"""
PRICED = """
auction-2024, button 0, stacks 400 400
deal 0: As Ah, 1: Ks Kh 5h, board: 2c 3c 7d 8d Th
> 0 raises to 100; 1 calls; 1 bids 150; 0 bids 100; 1 bets 200; 0 calls
"""
ODD = """
probability-standard, button 0, stacks 300 300 300 300 24
deal 0: Ac 3d, 2: Ad 3h, 4: 8h 9d, board: As Kd Qc 7h 5s
> 3 raises to 25; 4 calls; 0 raises to 49; 1 folds; 2 calls; 3 folds
> 2 checks; 0 checks; 2 checks; 0 checks; 2 checks; 0 checks; 4 mucks
"""

ALL_IN = """
site-nl, button 0, stacks 1000 1000 90
deal 0: Qs Qh, 1: Ks Kh, 2: As Ah, board: 2c 3d 7h 8s Jd
> 0 raises to 30; 1 calls; 2 calls; 1 bets 100; 2 calls; 0 calls
> 1 checks; 0 checks; 1 checks; 0 checks; 0 mucks
"""


def _told(text: str) -> list[dict[str, Any]]:
    table = played(text)
    found = pots_as_json(table.game, tuple(table.events))
    assert found is not None
    return found


def _layers(pots: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("low", "high", "amount", "dead", "folded", "eligible")
    return [tuple(pot[name] for name in names) for pot in pots]


def _shares(pot: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(share.values()) for share in pot["shares"]]


def test_layers() -> None:
    """G5: "the layers are 4 x 50 for three of them and 70 + 70 + 30 for two"."""
    main, side = _told(LAYERED)
    assert [(0, 50, 200, 0, 50, (0, 1, 2)), (50, 120, 170, 0, 30, (1, 2))] == _layers([main, side])
    assert [(0, 200, 200, "200", 0)] == _shares(main)
    assert [(1, 170, 170, "170", 0)] == _shares(side)


def test_what_a_tapped_out_player_may_expect() -> None:
    """U14: "E_A = 300, E_B = 500 ... Exact 187.5 and 312.5", and the odd dollar by U18."""
    (pot,) = _told(TAPPED)
    assert [(None, None, 500, 0, None, None)] == _layers([pot])
    assert [(0, 187, 187, "375/2", 0), (1, 313, 313, "625/2", 1)] == _shares(pot)
    assert "dealer" == pot["odd_chips"]


def test_an_auction_price_is_dead() -> None:
    """G6: "An auction price goes to the first pot and never enters the layers"."""
    assert [(0, 300, 700, 100, 0, (0, 1))] == _layers(_told(PRICED))


def test_odd_chips_pot_by_pot() -> None:
    """G3: pots of 101 and 51, and the same two tie for both: 51 + 26 against 50 + 25."""
    main, side = _told(ODD)
    assert [(0, 50, 50, "101/2", 0), (2, 51, 51, "101/2", 1)] == _shares(main)
    assert [(0, 25, 25, "51/2", 0), (2, 26, 26, "51/2", 1)] == _shares(side)
    assert ["clockwise_each"] * 2 == [pot["odd_chips"] for pot in (main, side)]


def test_a_larger_bet_that_lay_there_when_somebody_went_all_in() -> None:
    """T8: "A best, B second: 270/80 against 310/40"; of the latter no pot is a layer."""
    main, side = _told(ALL_IN)
    assert [(0, 90, 270, 0, 0, (0, 1, 2)), (90, 130, 80, 0, 0, (0, 1))] == _layers([main, side])
    assert "T8        -130  -90  +220  site-nl with split snapshot" in _text(ALL_IN)
    literal = ALL_IN.replace("0 1000 90\n", "0 1000 90\nwith split=snapshot\n")
    pots = _told(literal)
    assert [(None, None, 310, 0, None, (0, 1, 2)), (None, None, 40, 0, None, (0, 1))] == _layers(
        pots
    )
    assert [[(2, 310, 310, "310", 0)], [(1, 40, 40, "40", 0)]] == [_shares(pot) for pot in pots]
    told = _text(literal)
    assert "\n layers     pot 0    310 chips\n            pot 1    40 chips   for a, b\n" in told


def test_a_person_reads_why() -> None:
    told = _text(TAPPED)
    assert "\n layers     pot 0    500 chips  shared as b 5/8, a 3/8; 1 odd to b (dealer)\n" in told
    told = _text(LAYERED)
    assert " layers     pot 0  0 to 50    200 chips  50 of hands that folded; for a, b, c" in told
    assert "            pot 1  50 to 120  170 chips  30 of hands that folded; for b, c" in told
    assert "\n layers" not in _text("auction-2024, button 0, stacks 400 400\n> 0 folds\n")


def _text(script: str) -> str:
    table = played(script)
    start = table.events[0]
    assert isinstance(start, HandStarted)
    named = replace(start, players=tuple("abcde")[: len(start.players)])
    record = (named, *table.events[1:])
    return audit_text(table.game, record, judge(table.game, record))


def test_what_the_record_paid_stands_beside_it() -> None:
    """Also a pot that the rules do not have."""
    table = played(LAYERED)
    *before, _, _, over = table.events
    wrong = (*before, PotSplit(0, (0,), (190,)), PotSplit(2, (3,), (180,)), over)
    told = pots_as_json(table.game, wrong)
    assert told is not None
    assert [(0, 190, 200, "200", 0)] == _shares(told[0])
    assert [(1, 0, 170, "170", 0)] == _shares(told[1])
    assert [(3, 180, 0, "0", 0)] == _shares(told[2])
    assert (0, None) == (told[2]["amount"], told[2]["low"])


def test_five_cards_that_count_and_nothing_of_cards_that_nobody_recorded() -> None:
    table = played(TAPPED)
    told = showdown_as_json(table.game, tuple(table.events))
    assert [0, 1] == [one["seat"] for one in told]
    assert {True} == {one["announced"] for one in told}
    assert {"pair"} == {one["made"].partition(",")[0] for one in told}
    assert ("Ks", "Kd", "Ac", "Ts", "7h") == told[0]["five"]


@some_games
def test_pots_add_up(game: Game) -> None:
    """Every chip in the middle is in one pot: dead, of who folded, or of a level of who may win."""
    several = 0
    for seed in range(25):
        record = seeded(game, f"pots {seed}").record
        hand = before_payment(record)
        if hand is None:
            continue
        told = audit_entry(record, game, judge(game, record))["pots"]
        several += len(told) > 1
        assert hand.pot == sum(pot["amount"] for pot in told)
        for pot in told:
            _adds_up(pot, record)
    assert several or game.seats_max == 2


def _adds_up(pot: dict[str, Any], record: Events) -> None:
    shares = pot["shares"]
    paid = pot["amount"] - pot["rake"]
    assert paid == sum(Fraction(share["exact"]) for share in shares)
    assert paid == sum(share["decided"] for share in shares)
    assert [share["recorded"] for share in shares] == [share["decided"] for share in shares]
    assert pot["rake"] == pot["recorded_rake"]
    assert all(0 <= share["decided"] - share["odd"] <= Fraction(share["exact"]) for share in shares)
    if pot["low"] is not None:
        own = len(pot["eligible"]) * (pot["high"] - pot["low"])
        assert pot["amount"] == pot["dead"] + pot["folded"] + own
        assert {share["seat"] for share in shares} <= set(pot["eligible"])

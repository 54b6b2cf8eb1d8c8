"""Facts: the traps on which trackers disagree, and laws over random hands of every ruleset."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from analytics.decisions.replayed_hands import ReplayedHands
from analytics.projections.facts import SCHEMA, fact_rows, facts_projection
from analytics.replay.flags import ACTION_COUNTS, FLAGS
from analytics.replay.rules import hole_classes
from engine.game import fingerprint, fingerprint_of, to_json
from engine.games import GAMES
from events.cards import DECK
from events.ledger import Recorded
from events.notation import read
from events.types import BlindPosted, BoardDealt, BountySettled
from store.columns.codec import encoded_table
from store.log.streams import Leaf
from tests.analytics.told_hands import leaves
from tests.store.sealed_hands import leaves as sealed
from tests.store.sealed_hands import of_games

BY_MARK = {fingerprint(game): game for game in GAMES.values()}
SIX = "hand site-nl-standard, button 0: btn sb bb utg hj co"


def told(*lines: str) -> dict[str, dict[str, Any]]:
    """The facts of one hand by player."""
    return by_player(leaves(lines))


def by_player(hands: list[Leaf]) -> dict[str, dict[str, Any]]:
    """The facts of one hand by player."""
    facts = fact_rows(BY_MARK.get, ReplayedHands(encoded_table(hands)))
    return {row["player"]: row for row in facts.to_pylist()}


def chances(row: dict[str, Any]) -> dict[str, bool]:
    """The opportunities of a player, and what became of them."""
    return {name: row[name] for name in FLAGS if row.get(name) is not None}


def spoken(text: str) -> dict[str, dict[str, Any]]:
    """The facts of a hand in notation, as an importer leaves it."""
    events = [read(line) for line in text.strip().splitlines()]
    return by_player(
        [Leaf(0, tuple(Recorded(at, "m/1", at, 1, one) for at, one in enumerate(events)))]
    )


# Traps (analytics.md section 2).


def test_a_big_blind_who_checks_has_not_entered_and_a_small_blind_who_completes_has() -> None:
    """Big blind checks his option: not VPIP. Small blind completes: VPIP (1)."""
    rows = told(SIX, "> 3 folds; 4 folds; 5 folds; 0 folds; 1 calls; 2 checks; 1 bets 10; 2 folds")
    assert (True, False) == (rows["sb"]["vpip"], rows["bb"]["vpip"])


def test_a_walk_leaves_the_denominators_and_keeps_the_winnings() -> None:
    """Walk: the big blind keeps the hand and the winnings (3)."""
    rows = told(SIX, "> 3 folds; 4 folds; 5 folds; 0 folds; 1 folds")
    assert {} == chances(rows["bb"])
    assert (5, True) == (rows["bb"]["net"], rows["bb"]["won"])


def test_an_uncalled_bet_is_neither_won_nor_wagered() -> None:
    """Uncalled bets are neither won nor wagered (4)."""
    rows = told(SIX, "> 3 raises to 1000; 4 folds; 5 folds; 0 folds; 1 folds; 2 folds")
    assert (10, 25, 15) == tuple(rows["utg"][name] for name in ("put_in", "collected", "net"))


def test_a_split_is_won() -> None:
    """A split counts as won at showdown; net may be 0 or negative (5)."""
    rows = told(
        "hand site-nl-standard, button 0: ann bob",
        "deck 2c 2d 3c 3d As Ks Qs Js Ts",
        "> 0 calls; 1 checks; 1 checks; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks",
    )
    assert [(0, True, True)] * 2 == [
        (row["net"], row["won"], row["showdown"]) for row in rows.values()
    ]


def test_a_limp_followed_by_a_reraise_is_a_3bet() -> None:
    """A limp followed by a re-raise is a 3-bet (6)."""
    rows = told(
        SIX,
        "> 3 calls; 4 raises to 50; 5 folds; 0 folds; 1 folds; 2 folds; 3 raises to 150; 4 folds",
    )
    assert (True, True) == (rows["utg"]["limp"], rows["utg"]["three_bet"])


def test_after_the_cap_there_is_no_opportunity_to_raise() -> None:
    """Limit: after the cap there is no raise opportunity (7)."""
    rows = told(
        "hand site-fl, button 0: ann bob cat",
        "> 0 raises to 20; 1 raises to 30; 2 raises to 40; 0 calls; 1 folds",
        "> 2 bets 10; 0 folds",
    )
    assert "four_bet" in chances(rows["cat"])
    capped = told(
        "hand site-fl, button 0: ann bob cat dog",
        "> 3 raises to 20; 0 raises to 30; 1 raises to 40; 2 folds; 3 folds; 0 folds",
    )
    assert {"vpip": False, "pfr": False} == chances(capped["cat"])
    assert {True} == {capped["dog"]["pfr_able"]}


def test_a_short_stack_that_can_only_call_has_no_opportunity() -> None:
    """A short stack that can only call has none (7)."""
    rows = told(
        "hand site-nl-standard, button 0: ann bob cat",
        "> 0 raises to 1000; 1 folds; 2 folds",
    )
    assert {"vpip": False, "pfr": False} == {
        name: it for name, it in chances(rows["bob"]).items() if not name.startswith("fold")
    }
    assert {"fold_to_steal_sb": True} == {
        name: it for name, it in chances(rows["bob"]).items() if name.startswith("fold")
    }


def test_all_in_and_called_before_the_river_is_a_showdown() -> None:
    """All-in and called before the river: showdown, WTSD done (8)."""
    rows = told(
        "hand site-nl-standard, button 0: ann bob cat",
        "> 0 raises to 1000; 1 calls; 2 folds",
    )
    for name, there in (("ann", True), ("bob", True), ("cat", False)):
        assert (there, there) == (rows[name]["saw_flop"], rows[name]["showdown"])


def test_bids_are_no_bets_and_the_price_is_put_in() -> None:
    """Auction bids are not VPIP, not bets; the auction price is in put_in (10)."""
    rows = told(
        "hand auction-2024, button 0: ann bob",
        "> 0 calls; 1 checks; 1 bids 30; 0 bids 7; 1 bets 10; 0 folds",
    )
    assert (2 + 7, 1) == (rows["bob"]["put_in"], rows["bob"]["flop_bets"])
    assert {"vpip": False, "pfr": False} == {
        name: it for name, it in chances(rows["bob"]).items() if name in ("vpip", "pfr")
    }
    raising = [name for name in ACTION_COUNTS if name.endswith(("bets", "raises"))]
    assert 1 == sum(rows["bob"][name] for name in raising)


FORCED = """
hand m/1 of auction-2024-mit {mark}, button 0: a 400, b 400
0 posts small 1 to 1
1 posts big 2 to 2
step 1: hole
0 is dealt [Qs Kh]
1 is dealt [Kc 3h]
step 2: preflop betting, 2 to match, raise by 2, 0 to act
0 raises 399 to 400, 1 to act
1 calls 398
step 3: flop
board [Ks 8d 2d]
step 5: flop betting, 0 to match, raise by 2, 1 to act
1 checks (forced), 0 to act
0 checks (default)
board [4c]
board [9c]
1 shows [Kc 3h]
0 shows [Qs Kh]
pot 0: 800 to 0
hand over
"""


def test_forced_and_default_actions_count_in_no_tendency() -> None:
    """Forced check lines after an all-in are not checks (11); defaults neither (section 0)."""
    rows = spoken(FORCED.format(mark=fingerprint(GAMES["auction-2024-mit"])))
    assert [0, 0] == [row["flop_checks"] for row in rows.values()]
    assert [None, None] == [row.get("cbet_flop") for row in rows.values()]
    late = FORCED.replace("1 calls 398\n", "1 folds (default)\n")
    rows = spoken(late.format(mark=fingerprint(GAMES["auction-2024-mit"])))
    assert {} == chances(rows["b"])


def test_a_ruleset_that_nobody_has_leaves_menus_unknown() -> None:
    """Unknown is excluded from n: what needs no menu is told all the same."""
    rows = spoken(FORCED.format(mark="f00df00df00df00d"))
    assert (True, None) == (rows["a"]["vpip"], rows["a"]["per_chip"])
    assert True is rows["a"]["rfi"]  # he did raise, so he could
    assert None is rows["b"].get("three_bet")


def test_a_void_hand_has_no_facts() -> None:
    void = FORCED.replace("hand over", 'hand void, "the lights went out"')
    assert {} == spoken(void.format(mark="f00d"))


def test_positions_are_counted_backwards_from_the_button() -> None:
    """BTN, CO, HJ, MP..., then UTG first to act; heads-up the button is the small blind."""
    nine = " ".join("abcdefghi")
    rows = told(
        f"hand site-nl-standard, button 8: {nine}",
        "> 2 folds; 3 folds; 4 folds; 5 folds; 6 folds; 7 folds; 8 folds; 0 folds",
    )
    found = [row["position"] for row in rows.values()]
    assert ["SB", "BB", "UTG", "MP3", "MP2", "MP", "HJ", "CO", "BTN"] == found
    two = told("hand site-nl-standard, button 1: ann bob", "> 1 folds")
    assert ("BB", "SB") == (two["ann"]["position"], two["bob"]["position"])


@pytest.mark.parametrize(
    ("cards", "name"),
    [(("As", "Kd"), "AKo"), (("2c", "Tc"), "T2s"), (("7h", "7d"), "77"), (("??", "7d"), None)],
)
def test_hole_cards_have_a_class(cards: tuple[str, ...], name: str | None) -> None:
    names, classes = hole_classes()
    first, second = ([*DECK, "??"].index(card) for card in cards)
    number = classes[first * (len(DECK) + 1) + second]
    assert name == (None if number < 0 else names[number])


# Laws over random hands.


@pytest.mark.parametrize("game", GAMES)
def test_facts_agree_with_the_chips_and_with_one_another(game: str) -> None:
    hands = sealed(of_games(game, count=40))
    rows = facts_projection(lambda mark: None).build(hands).to_pylist()
    assert len(rows) >= 80
    chose = {(leaf.hand_seq, seat) for leaf in hands for seat in straddlers(leaf)}
    nets: Counter[int] = Counter()
    beside: Counter[tuple[int, int]] = Counter()
    for leaf in hands:
        for event in (one.event for one in leaf.recorded):
            if isinstance(event, BountySettled):
                beside[leaf.hand_seq, event.seat] += event.amount
                beside[leaf.hand_seq, event.payer] -= event.amount
    for row in rows:
        bounty = beside[row["hand_seq"], row["seat"]]
        assert row["net"] == row["collected"] - row["put_in"] + bounty
        assert not row["pfr"] or row["vpip"]
        assert not row["showdown"] or row["saw_river"]
        assert not row["saw_river"] or row["saw_turn"]
        assert not row["saw_turn"] or row["saw_flop"]
        assert not row["fold_to_3bet"] or not row["four_bet"]
        nets[row["hand_seq"]] += row["net"]
        acted = sum(row[name] for name in ACTION_COUNTS if name.startswith("preflop"))
        entered = (row["hand_seq"], row["seat"]) in chose
        assert (row["vpip"] is not None) == (row["pfr"] is not None) == (acted > 0 or entered)
        assert row["vpip"] or not entered
    assert all(net <= 0 for net in nets.values())


def straddlers(leaf: Leaf) -> Iterator[int]:
    """Who straddled before the flop of his own will."""
    for one in leaf.recorded:
        match one.event:
            case BoardDealt():
                return
            case BlindPosted(seat=seat, kind="straddle", origin="chosen"):
                yield seat


def test_building_in_parts_gives_the_same() -> None:
    given = sealed(of_games("auction-2024-mit", "swap-2022", "site-pl"))
    one = facts_projection(lambda mark: None)
    parts = [one.build([leaf]) for leaf in given]
    whole = one.build(given)
    assert SCHEMA == whole.schema
    assert whole.equals(pa.concat_tables([one.build([]), *parts]).combine_chunks())


def test_a_ruleset_that_only_the_ledger_has_is_read_from_it() -> None:
    game = GAMES["site-nl"]
    other = to_json(game).replace(b'"raise_cap":null', b'"raise_cap":1')
    assert other != to_json(game)
    lines = [SIX.replace("-standard", ""), "> 3 raises to 30; 4 folds; 5 folds; 0 folds; 1 folds"]
    (leaf,) = leaves([*lines, "> 2 folds"])
    first = leaf.recorded[0].event
    marked = replace(first, ruleset=fingerprint_of(other))
    events = (replace(leaf.recorded[0], event=marked), *leaf.recorded[1:])
    capped = Leaf(1, events)
    rows = facts_projection({fingerprint_of(other): other}.get).build([capped]).to_pylist()
    assert ({None}, {1}) == tuple({row[name] for row in rows} for name in ("three_bet", "per_chip"))

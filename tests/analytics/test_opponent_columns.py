"""Acts, ends and locks in columns are those that somebody finds who reads event by event."""

from collections.abc import Sequence
from math import isclose
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from analytics.decisions.replayed_hands import ReplayedHands
from analytics.opponents import opponent_tables
from analytics.opponents.opponent_tables import heads_up_hands
from api.main import main
from api.viewpoints.ledger_view import LedgerView, event_tables, filtered_leaves
from api.viewpoints.viewer import viewer_of
from dealer.play import play
from engine.games import GAMES
from events.types import CardSwapped, Event, Faulted, HoleDealt
from store.columns.codec import encoded_table
from store.columns.layout import SCHEMA
from store.log.streams import Leaf
from store.reader import Reader
from tests.analytics import naive_opponent as naive
from tests.analytics.auction_pages import RULES, recorded
from tests.profiles import sized

HANDS = sized(6, 14, 25)  # of each game
Row = dict[str, Any]


def _alike(hands: Sequence[Leaf], me: str | None = None, rows: pa.Table | None = None) -> int:
    """Both ways say the same of these hands; how many acts there were."""
    rows = encoded_table(hands) if rows is None else rows
    asked = opponent_tables.OpponentScope("random-1", me, spots=0)
    found = opponent_tables.opponent_tables([rows], RULES, asked, lambda rows, total: rows)
    locks = [naive.heads_up_hand(leaf, RULES) for leaf in hands]
    both = {"random-1", me} - {None}
    hands = [it for it in hands if it.hand is not None and both <= set(it.hand.start.players)]
    did: list[Row] = []
    ended: list[Row] = []
    for leaf in hands:
        mine = list(naive.acts_of(leaf, RULES, me))
        faulty = [one.event.seat for one in leaf.recorded if isinstance(one.event, Faulted)]
        ended += naive.ends_of(leaf, RULES, mine, frozenset(faulty))
        did += mine
    _same(did, found.acts)
    _same(ended, found.ends)
    assert [one for one in locks if one is not None] == list(
        heads_up_hands(ReplayedHands(rows), RULES)
    )
    return len(did)


def _same(expected: Sequence[Row], table: pa.Table) -> None:
    found = table.to_pylist()
    assert len(expected) == len(found)
    for mine, row in zip(expected, found, strict=True):
        wrong = {name: (mine[name], it) for name, it in row.items() if not _is(mine[name], it)}
        assert {} == wrong, (row["hand"], row.get("place"))


def _is(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


@pytest.mark.parametrize("game", GAMES)
def test_columns_say_what_events_say_one_by_one(game: str) -> None:
    every = play(GAMES[game], "w", HANDS, "columns")
    hands = [recorded(number, hand) for number, hand in enumerate(every)]
    assert _alike(hands) > 2 * HANDS
    assert _alike(hands, "random-0") > 2 * HANDS


def test_unknown_cards_and_foreign_rules_are_told_alike() -> None:
    """What nobody recorded is no card, and where nobody has the rules nobody knows the menu."""
    told = []
    for number, hand in enumerate(play(GAMES["swap-2022"], "w", 20, "unknown")):
        start, *rest = hand
        marked = replace(start, ruleset="0" * 16) if number % 2 else start
        told.append(recorded(number, (marked, *map(_unseen, rest))))
    assert _alike(told) > 50


def _unseen(event: Event) -> Event:
    """Cards of seat 1 as nobody knows them."""
    if isinstance(event, HoleDealt) and event.seat == 1:
        return replace(event, cards=tuple("??" for _ in event.cards))
    if isinstance(event, CardSwapped) and event.seat == 1:
        return replace(event, old="??", new="??")
    return event


def test_faults_are_marked_alike() -> None:
    told = []
    for number, hand in enumerate(play(GAMES["auction-2024-mit"], "w", 10, "faults")):
        fault = Faulted(number % 2, "R85.0", "malformed", "action")
        told.append(recorded(number, (*hand[:5], fault, *hand[5:])))
    assert _alike(told) > 20


@pytest.mark.parametrize("view", ["auditor", "public", "seat:random-0"])
def test_what_a_viewpoint_sees_is_told_alike(view: str, tmp_path: Path) -> None:
    for game in ("auction-2024", "swap-2022-mit"):
        words = ("play", game, "--hands", "30", "--seed", "7", "--ledger", str(tmp_path / "l"))
        assert main([*words]) == 0
    viewed = LedgerView(Reader(tmp_path / "l").snapshot(), viewer_of(view))
    rows = pa.concat_tables([it.cast(SCHEMA) for it in event_tables(viewed)])
    assert _alike(list(filtered_leaves(viewed)), "random-0", rows) > 100

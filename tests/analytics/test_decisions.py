"""Decisions in columns are those of hands walked one by one, and their menus the engine's."""

import tarfile
from collections.abc import Sequence
from itertools import islice
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from analytics.decisions.decision_table import ACTIONS, FACED, SCHEMA, SHOWN_SQL, decision_rows
from analytics.decisions.replayed_hands import ReplayedHands
from analytics.replay.rules import Rulebook
from analytics.sql import ArrowTables
from api.main import main
from engine.game import Game, fingerprint
from engine.games import GAMES
from engine.turn import ToAct
from events import types as t
from store.columns.codec import encoded_table
from store.log.streams import Leaf
from store.reader import Reader, Snapshot
from tests.analytics import walked_decisions as walked
from tests.analytics.held import forged
from tests.analytics.test_facts_walked import SHARED, imported, recorded
from tests.hands import RULESETS, seeded, some_rulesets, sources, walk
from tests.profiles import sized

HANDS, ASKED = sized(6, 14, 25), sized(4, 8, 12)  # of each ruleset
SIZES = sized(8, 20, 40)  # hands of each policy of a size
FILES = 400  # of an archive
RULES = Rulebook(lambda mark: None)
Row = dict[str, Any]


OF_A_ROUND = (
    *("faced", "faced_size", "faced_share", "to_call", "effective", "may_raise", "raise_min"),
    *("raise_max", "size", "share"),
)


class _Knows(Rulebook):
    """One ruleset more than the program has; or none at all."""

    def __init__(self, game: Game | None) -> None:
        super().__init__(lambda mark: None)
        self._known = {} if game is None else {fingerprint(game): game}


def alike(hands: Sequence[Leaf], rules: Rulebook = RULES, but: Sequence[str] = ()) -> list[Row]:
    """Both ways say the same of these hands, in all columns but these; the rows."""
    rows = viewed(hands, rules)
    expected = [row for leaf in hands for row in walked.decision_rows(leaf, rules)]
    for row, mine in zip(rows, expected, strict=False):
        wrong = {
            name: (mine[name], it)
            for name, it in row.items()
            if name not in but and not _is(mine[name], it)
        }
        assert {} == wrong, (row["match"], row["number"], row["idx"])
    assert len(expected) == len(rows)
    return rows


def viewed(hands: Sequence[Leaf], rules: Rulebook) -> list[Row]:
    """The rows as the view shows them, in order."""
    found = decision_rows(rules, ReplayedHands(encoded_table(hands)))
    assert found.schema == SCHEMA
    tables = ArrowTables({"decisions": found})
    shown = tables.table(f"SELECT hand_seq, {SHOWN_SQL} FROM decisions ORDER BY hand_seq, idx")
    tables.close()
    rows: list[Row] = shown.to_pylist()
    return rows


def _is(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


@some_rulesets
def test_random_hands_have_the_decisions_that_walking_finds(game: Game) -> None:
    """Clocks, faults, posts, dead blinds, side pots and voids are among random hands."""
    rows = alike(recorded(seeded(game, f"decided {seed}").record for seed in range(HANDS)))
    assert len(rows) > 2 * HANDS
    assert {row["street"] for row in rows} >= {"preflop", "flop"}


@given(source=sources)
def test_any_hand_has_the_decisions_that_walking_finds(source: bytes) -> None:
    games = RULESETS["site-pl"], RULESETS["auction-2024"], RULESETS["swap-2022"]
    alike(recorded(walk(game, source).record for game in games))


@some_rulesets
def test_a_claim_against_the_rules_is_counted_as_it_was_recorded(game: Game) -> None:
    """Where rounds begin or end against the rules, what a round asks has no meaning to compare."""
    every = list(forged(game, seeded(game, "decided forgery").record))
    alike(recorded(every[:: max(1, len(every) // 40)]), but=OF_A_ROUND)


@some_rulesets
def test_a_row_says_what_the_engine_asked(game: Game) -> None:
    """Call, smallest and largest raise are those of the turn that the seat was given."""
    asked = 0
    for seed in range(ASKED):
        played = seeded(game, f"asked {seed}")
        table = decision_rows(RULES, ReplayedHands(encoded_table(recorded([played.record]))))
        rows = {row["idx"]: row for row in table.to_pylist()}
        for move in played.moves:
            acts = [at for at, one in enumerate(move.events) if isinstance(one, ACTS)]
            if isinstance(move.asked, ToAct) and acts and rows:
                at = played.record.index(move.events[acts[0]], move.at)
                row, asked = rows[at], asked + 1
                menu = move.asked.call, move.asked.raise_min, move.asked.raise_max
                assert menu == (row["to_call"], row["raise_min"], row["raise_max"])
                assert row["may_raise"] == (move.asked.raise_min is not None)
    assert asked > ASKED


ACTS = t.Folded | t.Checked | t.Called | t.Bet | t.Raised


@pytest.mark.parametrize(
    "policies",
    [
        {"raise_ceiling": "effective_stack"},
        {"min_raise": "more_than"},
        {"min_raise_after_short": "last_full_total"},
        {"pot_limit_base": "all_pots", "sizing": "pot_limit"},
        {"pot_limit_base": "active_pot", "sizing": "pot_limit"},
        {"sizing": "fixed", "reopen": "half_bet"},
        {"dead_chips": "stake", "sizing": "pot_limit"},
    ],
    ids=repr,
)
def test_every_policy_of_a_size_is_the_engines(policies: dict[str, Any]) -> None:
    for name in ("site-nl", "probability"):
        ruled = replace(GAMES[name], **policies)
        hands = recorded(seeded(ruled, f"sizes {n}").record for n in range(SIZES))
        rows = alike(hands, _Knows(ruled))
        assert any(row["raise_min"] is not None for row in rows)


@pytest.mark.parametrize("game", ["auction-2024-mit", "site-fl", "urcs-1998"])
def test_without_the_ruleset_no_menu_and_no_strength_is_known(game: str) -> None:
    records = (seeded(GAMES[game], f"unknown {n}").record for n in range(12))
    rows = alike(recorded(records), _Knows(None))
    assert {(None, None)} == {(row["raise_min"], row["made"]) for row in rows}
    assert {True, None} >= {row["may_raise"] for row in rows}


def test_every_word_of_a_column_occurs() -> None:
    """So the tests above have met each of them."""
    hands = recorded(
        seeded(game, f"words {n}").record
        for game in GAMES.values()
        for n in range(sized(8, 16, 30))
    )
    rows = alike(hands)
    assert set(ACTIONS) == {row["action"] for row in rows}
    assert set(FACED) == {row["faced"] for row in rows}
    assert {"chosen", "forced", "default", None} == {row["origin"] for row in rows}
    assert any(row["all_in"] for row in rows)


def test_times_are_those_between_events() -> None:
    (leaf,) = recorded([seeded(GAMES["site-nl"], "timed 3").record])
    slow = tuple(
        one._replace(at=number**2) if hasattr(one, "_replace") else replace(one, at=number**2)
        for number, one in enumerate(leaf.recorded)
    )
    rows = alike([Leaf(leaf.hand_seq, slow)])
    acts = [row for row in rows if row["action"] not in ("show", "muck")]
    assert [2 * row["idx"] - 1 for row in acts] == [row["think_ms"] for row in acts]


def test_no_hands_are_no_rows() -> None:
    assert decision_rows(RULES, ReplayedHands(encoded_table([]))).num_rows == 0


def kept(corpus: str, folder: Path) -> Snapshot:
    """A ledger of real hands; of an archive, of its first files."""
    if not corpus.endswith(".tar.gz") or not (SHARED / corpus).exists():
        return imported(corpus, folder)[0]
    with tarfile.open(SHARED / corpus) as archive:
        files = (one for one in archive if one.isfile())
        archive.extractall(folder / "files", list(islice(files, FILES)))
    main(["import", str(folder / "files"), "--no-audit", "--ledger", str(folder / "ledger")])
    return Reader(folder / "ledger").snapshot()


@pytest.mark.parametrize(
    "corpus",
    [
        "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt",
        "acpc/2p.limit.h1000.r0.log",
        "ohh",
        "phh/wsop-2023-43-5",
        "pokerstars/hhsmithy",
        pytest.param("irc/199504-visible.tar.gz", marks=pytest.mark.slow),
        pytest.param("mit/2022", marks=pytest.mark.slow),
        pytest.param("phh/pluribus-visible.tar.gz", marks=pytest.mark.slow),
        pytest.param("pokerstars/fpdb", marks=pytest.mark.slow),
    ],
)
def test_real_hands_have_the_decisions_that_walking_finds(corpus: str, tmp_path: Path) -> None:
    snapshot = kept(corpus, tmp_path)
    hands = (leaf for leaf in snapshot.leaves() if leaf.hand is not None)
    assert len(alike(list(islice(hands, sized(60, 150, 300))), Rulebook(snapshot.ruleset))) > 30

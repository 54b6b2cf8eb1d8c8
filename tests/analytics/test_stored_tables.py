"""Tables that stand beside events are the same out of columns as out of leaves."""

from pathlib import Path

import pyarrow as pa
import pytest

from analytics.stored import auctions_table as bids_table
from analytics.stored.auctions import STORED, rows_of
from analytics.stored.risks import build
from analytics.stored.row_head import tabled
from analytics.stored.tables import NAMES, Text, stored
from engine.game import Game, fingerprint, to_json
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.recorded import AUCTION_2024_A0
from store.columns.codec import encoded
from store.log.leaf import Leaf
from store.tables.projection import Builder
from tests.analytics import walked_played
from tests.analytics.held import forged
from tests.analytics.test_facts_walked import imported, recorded
from tests.hands import RULESETS, every_ruleset, seeded
from tests.store.sealed_hands import leaves as sealed
from tests.store.sealed_hands import of_games

TEXTS = {fingerprint(game): to_json(game) for game in RULESETS.values()}
HANDS = 24  # of each ruleset
FORGED = 40


def alike(given: list[Leaf], kept: Text = TEXTS.get) -> dict[str, pa.Table]:
    """Every table out of columns; column by column what walking finds (`facts`: another test)."""
    every = stored(kept)
    builder = Builder(every)
    found = dict((*builder.add(encoded(given)), *builder.rest()))
    walked = {
        "auctions": tabled([row for leaf in given for row in rows_of(leaf)], STORED),
        "played": walked_played.build(kept, given),
        "risks": build(kept, given),
    }
    for table, expected in walked.items():
        assert expected.schema == found[table].schema
        for name in expected.column_names:
            assert expected[name].to_pylist() == found[table][name].to_pylist(), (table, name)
    return found


@every_ruleset
def test_random_hands_are_told_alike(game: Game) -> None:
    found = alike(recorded(seeded(game, f"stored {n}").record for n in range(HANDS)))
    assert set(NAMES) == set(found)
    assert found["played"].num_rows >= found["facts"].num_rows > 20


@every_ruleset
def test_forged_hands_are_told_alike(game: Game) -> None:
    every = list(forged(game, seeded(game, "stored forgery").record))
    alike(recorded(every[:: max(1, len(every) // FORGED)]))


def test_the_tables_of_several_games_have_all_there_is_to_tell() -> None:
    found = alike(sealed(of_games("auction-2024-mit", "swap-2022", "site-pl", count=40)))
    assert found["auctions"].num_rows > 40
    assert found["risks"].num_rows > 40
    assert any(found["played"]["may_close"].to_pylist())


@pytest.mark.parametrize(("game", "opened"), [(AUCTION_2024_MIT, True), (AUCTION_2024_A0, False)])
def test_who_bets_the_turn_has_not_bet_the_flop(game: Game, opened: bool) -> None:
    """In the oldest engine of 2024 the turn follows an auction: nobody can open the flop."""
    found = alike(recorded(seeded(game, f"flop {n}").record for n in range(40)))["auctions"]
    assert found.num_rows > 20
    assert opened == (found["flop_bet"].null_count < found.num_rows)


def test_usual_auctions_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bids_table, "rows_of", lambda leaf: pytest.fail("it was walked"))
    found = bids_table.auctions_of(encoded(sealed(of_games("auction-2024", count=40))))
    assert found.num_rows > 30


@pytest.mark.parametrize(
    "corpus",
    [
        "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt",
        "pokerstars/hhsmithy",
        pytest.param("mit/2022", marks=pytest.mark.slow),
        pytest.param("mit/2024", marks=pytest.mark.slow),
        pytest.param("pokerstars/fpdb", marks=pytest.mark.slow),
    ],
)
def test_real_hands_are_told_alike(corpus: str, tmp_path: Path) -> None:
    snapshot, some = imported(corpus, tmp_path)
    alike(some, snapshot.ruleset)

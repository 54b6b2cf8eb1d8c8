"""Statistics out of patterns are those of the hands themselves, asked one file at a time."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analytics.projections.facts import facts_projection
from analytics.projections.flag_encoding import (
    BOOLEANS,
    PATTERN_COLUMNS,
    WORD_COUNT,
    decode_patterns,
    encode_patterns,
    group_rows,
    value_codes,
)
from analytics.replay.flags import ACTION_COUNTS
from analytics.sql import ArrowTables, By, HandFilters, facts_sql, file_sql
from analytics.statistics.catalogue import STATISTICS, Statistic
from analytics.statistics.compute import StatisticValue, find_statistics, statistic_values
from analytics.statistics.counts import player_counts
from dealer.play import play
from engine.games import GAMES
from store.log.streams import Leaf
from tests.analytics.auction_pages import recorded

FILES = sorted({one.file for one in STATISTICS.values()})
EVERY = tuple(STATISTICS.values())


class Given:
    """Facts of our own."""

    def __init__(self, rows: pa.Table) -> None:
        self._tables = ArrowTables({"facts": rows})

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self._tables.rows(sql)


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Facts of hands of several games."""
    leaves: list[Leaf] = []
    for game in ("site-nl", "site-fl", "auction-2024", "urcs-1998"):
        for hand in play(GAMES[game], game, 60, "ways"):
            leaves.append(recorded(len(leaves), hand, game))
    return facts_projection(lambda mark: None).build(leaves)


# What a pattern says.


def test_a_pattern_says_how_a_hand_was_played(rows: pa.Table) -> None:
    again = decode_patterns(rows["pattern"].combine_chunks())
    assert 20 < len(rows["pattern"].unique()) < rows.num_rows
    for name in PATTERN_COLUMNS:
        assert rows[name].to_pylist() == again[name].to_pylist(), name


def test_a_count_has_a_letter_however_large_it_is() -> None:
    """Also where numbers are no characters."""
    many = [0, 7, 55_247, 55_248, 60_000, 1_000_000]
    counts = np.array([many] * len(ACTION_COUNTS), dtype=np.int32)
    none = np.zeros(len(many), dtype=np.int64)
    truths = [np.arange(len(many)) > 3] * len(BOOLEANS)
    again = decode_patterns(encode_patterns([none] * WORD_COUNT, truths, counts))
    assert [many] * len(ACTION_COUNTS) == [again[name].to_pylist() for name in ACTION_COUNTS]
    assert truths[0].tolist() == again["won"].to_pylist()


def test_rows_that_say_the_same_have_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the codes of their values would not fit into a word."""
    columns = [pa.chunked_array([pa.array(it)]) for it in ([1, None, 1, 2, None], list("aabba"))]
    for most in (2**62, 8):
        monkeypatch.setattr("analytics.projections.flag_encoding._CODE_LIMIT", most)
        which, places = group_rows(map(value_codes, columns))
        assert ([0, 1, 2, 3, 1], [0, 1, 2, 3]) == (which.tolist(), places.tolist())


# What patterns add up to.


@pytest.mark.parametrize("by", [None, "position", "game"])
def test_what_patterns_add_up_to_is_what_the_hands_do(rows: pa.Table, by: By | None) -> None:
    chosen = HandFilters(by=by)
    found = {(one.player, one.part): one for one in player_counts(Given(rows), chosen, EVERY)}
    con = duckdb.connect()
    con.register("facts", rows)
    for file in FILES:
        asked = con.sql(file_sql(file, facts_sql(chosen)))
        every = asked.to_arrow_table().to_pylist()
        assert len(found) == len(every)
        for row in every:
            sums = found[row["player"], row["part"]].sums
            assert {name: _near(it) for name, it in row.items()} == {
                name: _near(sums.get(name, row[name])) for name in row
            }
            assert {name for name in row if name.endswith(("_k", "_n"))} <= set(sums)


def _near(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else round(float(value), 9)


def test_a_bootstrap_draws_from_the_hands_of_a_player(rows: pa.Table) -> None:
    raised = [f"{at}_{kind}" for at in ("flop", "turn", "river") for kind in ("bets", "raises")]
    called = [f"{at}_calls" for at in ("flop", "turn", "river")]
    for one in player_counts(Given(rows), HandFilters(game="site-nl"), find_statistics("af")):
        mine = rows.filter(pc.equal(rows["player"], one.player))
        mine = mine.filter(pc.equal(mine["game"], "site-nl")).to_pylist()
        each: dict[tuple[int, int], int] = {}
        for row in mine:
            both = sum(row[name] for name in raised), sum(row[name] for name in called)
            each[both] = each.get(both, 0) + 1
        assert [(*both, each[both]) for both in sorted(each)] == one.deals("af")


def test_nobody_has_no_statistics() -> None:
    nothing = facts_projection(lambda mark: None).build([])
    assert [] == list(statistic_values(Given(nothing), HandFilters(), find_statistics("all")))


# Questions of any kind: whoever writes one knows nothing of patterns.


@pytest.fixture
def asked(rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ask a question that is written in a test; the answers by name, and the player's facts."""
    monkeypatch.setattr("analytics.sql.SQL_FOLDER", tmp_path)

    def ask(
        file: str, columns: str, *wanted: Statistic
    ) -> tuple[dict[str, StatisticValue], list[Any]]:
        text = f"SELECT player, part, {columns} GROUP BY player, part\n"
        (tmp_path / f"{file}.sql").write_text(text, "utf-8")
        found = statistic_values(Given(rows), HandFilters(game="site-nl"), wanted)
        mine = {one.statistic: one for one in found if one.player == "random-0"}
        his = pc.and_(pc.equal(rows["player"], "random-0"), pc.equal(rows["game"], "site-nl"))
        return mine, rows.filter(his).to_pylist()

    return ask


def test_a_question_may_leave_hands_out(asked: Any) -> None:
    only = "count(*) AS x_n, count(CASE WHEN won THEN 1 END) AS x_k FROM filtered WHERE saw_flop"
    found, mine = asked("only", only, Statistic("x", "", "", "", "only"))
    saw = [row["won"] for row in mine if row["saw_flop"]]
    assert (sum(saw), len(saw)) == (found["x"].k, found["x"].n)
    assert 0 < len(saw) < len(mine)


def test_a_question_may_read_what_no_pattern_says(asked: Any) -> None:
    short = "count(*) AS s_n, count(CASE WHEN put_in > 20 THEN 1 END) AS s_k FROM filtered"
    found, mine = asked("deep", short, Statistic("s", "", "", "", "deep"))
    much = sum(row["put_in"] > 20 for row in mine)
    assert (much, len(mine)) == (found["s"].k, found["s"].n)
    assert 0 < much < len(mine)


def test_a_mean_of_what_patterns_say_is_one_of_hands(asked: Any) -> None:
    """Patterns are added up, and no mean is a sum."""
    mean = (
        "avg(flop_checks) AS c_mean, stddev_samp(flop_checks) AS c_sd, count(*) AS c_n "
        "FROM filtered"
    )
    found, mine = asked("checks", mean, Statistic("c", "", "", "", "checks", "mean"))
    assert found["c"].value == pytest.approx(sum(row["flop_checks"] for row in mine) / len(mine))
    assert found["c"].n == len(mine)


def test_a_ratio_of_anything_is_drawn_again_hand_by_hand(asked: Any) -> None:
    """The interval is the same whether patterns tell it or not."""
    sums = "sum(preflop_calls) AS r_k, sum(1 + flop_checks) AS r_n {} FROM filtered"
    plain, mine = asked("plain", sums.format(""), Statistic("r", "", "", "", "plain", "ratio"))
    odd = sums.format(", max(net) AS most")
    apart, _ = asked("apart", odd, Statistic("r", "", "", "", "apart", "ratio"))
    assert plain["r"] == apart["r"]
    assert plain["r"].k == sum(row["preflop_calls"] for row in mine)
    assert plain["r"].low < plain["r"].value < plain["r"].high

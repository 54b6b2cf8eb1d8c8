"""Statistics out of ways of playing are those of the hands themselves, asked one file at a time."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analytics.sql.chosen import By, Chosen, table
from analytics.sql.files import columns_of, text_of
from analytics.sql.tables import Tables
from analytics.statistics.alike import grouped
from analytics.statistics.answers import answers, named
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.hands import Told
from analytics.statistics.patterns import MONEY, tallies
from analytics.statistics.sums import counts
from analytics.stored.facts import facts
from dealer.play import play
from engine.games import GAMES
from store.log.leaf import Leaf
from tests.analytics.auction_pages import recorded

SUMS = sorted({one.file for one in STATISTICS.values()} - {MONEY})


class Given:
    """Facts of our own."""

    def __init__(self, rows: pa.Table) -> None:
        self._tables = Tables({"facts": rows})

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self._tables.rows(sql)


def _facts() -> pa.Table:
    """Hands of several games; every seventh has no numbers, as if it fitted into none."""
    leaves: list[Leaf] = []
    for game in ("site-nl", "site-fl", "auction-2024", "urcs-1998"):
        for hand in play(GAMES[game], game, 60, "ways"):
            leaves.append(recorded(len(leaves), hand, game))
    rows = facts(lambda mark: None).build(leaves)
    return unnumbered(rows, pa.array([at % 7 == 0 for at in range(rows.num_rows)]))


def unnumbered(rows: pa.Table, odd: Any) -> pa.Table:
    """These facts, as if odd ones fitted into no numbers."""
    for name in ("ways", "acts"):
        at = rows.schema.get_field_index(name)
        none = pa.scalar(None, pa.int64())
        rows = rows.set_column(at, name, pc.if_else(odd, none, rows[name]))
    return rows


@pytest.mark.parametrize("by", [None, "position", "game"])
def test_what_ways_add_up_to_is_what_the_hands_do(by: By | None) -> None:
    rows, chosen = _facts(), Chosen(by=by)
    assert rows["ways"].null_count > 100
    found = {
        (one.player, one.part): one for one in tallies(Told(Given(rows), chosen), [*SUMS, MONEY])
    }
    con = duckdb.connect()
    con.register("facts", rows)
    for file in (*SUMS, MONEY):
        asked = con.sql(f"WITH chosen AS ({table(chosen)}) SELECT * FROM (\n{text_of(file)})")
        every = asked.to_arrow_table().to_pylist()
        assert len(found) == len(every)
        for row in every:
            sums = found[row["player"], row["part"]].sums
            assert {name: _near(it) for name, it in row.items()} == {
                name: _near(sums.get(name, row[name])) for name in row
            }


def _near(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else round(float(value), 9)


def test_a_bootstrap_draws_from_the_hands_of_a_player() -> None:
    rows = _facts()
    raised = [f"{at}_{kind}" for at in ("flop", "turn", "river") for kind in ("bets", "raises")]
    called = [f"{at}_calls" for at in ("flop", "turn", "river")]
    for one in tallies(Told(Given(rows), Chosen(game="site-nl")), ["aggression"]):
        mine = rows.filter(pc.equal(rows["player"], one.player))
        mine = mine.filter(pc.equal(mine["game"], "site-nl")).to_pylist()
        each: dict[tuple[int, int], int] = {}
        for row in mine:
            both = sum(row[name] for name in raised), sum(row[name] for name in called)
            each[both] = each.get(both, 0) + 1
        assert [(*both, each[both]) for both in sorted(each)] == one.cells("af")


def test_every_column_of_a_file_of_sums_is_found() -> None:
    con = duckdb.connect()
    con.register("facts", facts(lambda mark: None).build([]))
    for file in SUMS:
        asked = con.sql(f"WITH chosen AS ({table(Chosen())}) SELECT * FROM (\n{text_of(file)})")
        assert asked.columns == ["player", "part", *(name for name, _ in columns_of(file))]


def test_a_sum_of_anything_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for odd in ("CASE WHEN vpip THEN net ELSE 0 END", "hands * 2", "net", "CASE WHEN a OR b THEN"):
        monkeypatch.setattr(
            "analytics.statistics.sums.columns_of", lambda file, odd=odd: (("x", (odd,)),)
        )
        with pytest.raises((AssertionError, KeyError)):
            counts({"vpip": np.ones(3)}, 3, ["entering"])


def test_rows_that_say_the_same_have_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the codes of their values would not fit into a word."""
    columns = [pa.chunked_array([pa.array(it)]) for it in ([1, None, 1, 2, None], list("aabba"))]
    for most in (2**62, 8):
        monkeypatch.setattr("analytics.statistics.alike._MOST", most)
        which, places = grouped(columns)
        assert ([0, 1, 2, 3, 1], [0, 1, 2, 3]) == (which.tolist(), places.tolist())


def test_nobody_has_no_statistics() -> None:
    nothing = facts(lambda mark: None).build([])
    assert [] == list(answers(Given(nothing), Chosen(), named("all")))

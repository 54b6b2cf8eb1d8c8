"""Tables made for strangers: with every column that is asked for, once for all who see the same."""

import threading
from pathlib import Path

import pytest

from store.reader import Reader
from store.sql.query import Query
from store.sql.result_values import json_rows
from store.sql.untrusted_query import CopyCache, UntrustedQuery
from tests.store.test_query import filled


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two segments and a hot tail."""
    found = tmp_path_factory.mktemp("ledger")
    filled(found, lambda count: count in (5, 11)).close()
    return found


@pytest.fixture(scope="module")
def query(folder: Path) -> Query:
    return Query(Reader(folder).snapshot())


@pytest.fixture(scope="module")
def asked(query: Query) -> UntrustedQuery:
    return UntrustedQuery(query)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT player, sum(net) AS n FROM players GROUP BY player ORDER BY player",
        "SELECT p FROM players AS p ORDER BY ALL",
        "SELECT players FROM players ORDER BY ALL",
        "SELECT COLUMNS('ne.*') FROM players ORDER BY ALL",
        "SELECT #3 FROM players ORDER BY ALL",
        "SELECT count(*) AS n, min(p.hand_seq) AS low FROM players p NATURAL JOIN hands",
        'SELECT PLAYER, "Net" FROM Players ORDER BY ALL',
        "SELECT x.net FROM (FROM players) AS x ORDER BY ALL",
        "FROM players SELECT net ORDER BY seat, hand_seq",
        "SELECT net FROM players UNION ALL BY NAME SELECT pot AS net FROM hands ORDER BY ALL",
        "PIVOT players ON seat IN (0, 1) USING sum(net) GROUP BY player ORDER BY ALL",
        "UNPIVOT (SELECT hand_seq, net, put_in FROM players) ON net, put_in ORDER BY ALL",
        "SELECT unnest(p) FROM players AS p ORDER BY ALL",
        "SELECT hand FROM players WHERE EXISTS (FROM hands h WHERE h.pot > net) ORDER BY 1",
        "SUMMARIZE SELECT net FROM players",
        "SELECT column_name, column_type FROM (DESCRIBE players)",
        "SELECT arg_max(seat, pot) AS h FROM hands JOIN players USING (hand_seq) WHERE seat = 0",
        "WITH a AS (SELECT hand_seq AS s FROM pots) FROM a SELECT sum(s) AS n",
        "SELECT array_agg(p ORDER BY p.hand_seq, p.seat) AS a FROM players p",
        "SELECT count(*) AS n FROM events",
    ],
)
def test_a_column_that_is_asked_for_is_there(asked: UntrustedQuery, query: Query, sql: str) -> None:
    """Copies have the columns that statements name; however one is named, its values come."""
    alone = UntrustedQuery(query, tables=CopyCache())
    assert json_rows(query.ask(sql)) == json_rows(alone.ask(sql)) == json_rows(asked.ask(sql))


class Counted(CopyCache):
    """Tables that tell how often they were made, with which columns."""

    def __init__(self, most: int = 1 << 30) -> None:
        super().__init__(most)
        self.made: list[tuple[str, ...]] = []

    def _made(self, digest: str, columns: tuple[str, ...], write: object) -> int:  # type: ignore[override]
        def counting(wanted: tuple[str, ...], path: Path) -> None:
            self.made.append(wanted)
            write(wanted, path)  # type: ignore[operator]

        return super()._made(digest, columns, counting)  # type: ignore[arg-type]


def test_tables_are_made_once_for_all_who_see_the_same(folder: Path) -> None:
    tables = Counted()
    many = [UntrustedQuery(Query(Reader(folder).snapshot()), tables=tables) for _ in range(4)]
    threads = [threading.Thread(target=one.ask, args=("SELECT net FROM players",)) for one in many]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [("net",)] * 3 == tables.made  # two segments and the hot hands
    many[0].ask("SELECT seat FROM players")
    assert [("net", "seat")] * 3 == tables.made[3:]
    many[1].ask("SELECT net, seat FROM players")
    assert 6 == len(tables.made)


def test_a_ledger_that_grows_has_only_its_new_hands_made(tmp_path: Path) -> None:
    filled(tmp_path, lambda count: count in (5, 11)).close()
    tables = Counted()
    early = Reader(tmp_path).snapshot()
    few = type(early)(early.live, early.next_pos, early.next_seq - 3)
    for snapshot in (few, early):
        asked = UntrustedQuery(Query(snapshot), tables=tables)
        asked.ask("SELECT pot FROM hands")
    assert 4 == len(tables.made)  # two segments, and the hot hands twice


def test_tables_are_let_go_when_they_are_too_large(folder: Path) -> None:
    tables = Counted(most=1_000_000)
    asked = UntrustedQuery(Query(Reader(folder).snapshot()), tables=tables)
    for name in ("hands", "players", "bids", "swaps", "pots", "hands"):
        assert asked.ask(f"FROM {name}").num_rows, "what is in use is not let go"
        assert tables.size <= 1_000_000
    assert tables.made.count(tables.made[0]) > 3, "what was let go is made again"

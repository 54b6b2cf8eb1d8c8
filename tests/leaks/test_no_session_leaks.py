"""Everybody's questions go through one DuckDB engine: what one is shown is nobody else's."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import AUDITOR, Viewer
from store.reader import Reader
from store.sql.guard import Refused
from tests.leaks.conftest import Pair
from tests.leaks.hidden_worlds import EYES, stubbed
from tests.profiles import sized

VIEWERS = (Viewer(AUDITOR), *(one.viewer for one in EYES.values()))
ASKED = (
    "SELECT hole, count(*) AS n FROM players GROUP BY hole ORDER BY hole",
    "SELECT type, count(*) AS n, min(cards) AS cards FROM events GROUP BY type ORDER BY type",
    "SELECT amount, count(*) AS n FROM bids GROUP BY amount ORDER BY amount",
)


@pytest.fixture(scope="module")
def every(pair_of: Callable[[str], Pair]) -> Iterator[list[LedgerView]]:
    """One ledger through all eyes, an auditor's first."""
    with stubbed():
        snapshot = Reader(pair_of("public").folders[0]).snapshot()
    every = [LedgerView(snapshot, viewer) for viewer in VIEWERS]
    yield every
    for one in every:
        one.close()


def test_nobody_reaches_what_another_was_shown(every: list[LedgerView]) -> None:
    """Neither by its name, which nobody can guess, nor in what DuckDB says of itself."""
    auditor, *others = every
    name = auditor.query.add_table(pa.table({"hole": ["Ad Ah"]}))
    assert [{"hole": "Ad Ah"}] == auditor.rows(f"FROM {name}")
    for one in others:
        one.rows("SELECT count(*) AS n FROM players")
        shown = str(one.rows("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal"))
        assert "players" in shown
        assert name not in shown
        assert name not in str(one.rows("FROM information_schema.tables"))
        with pytest.raises(Refused, match=f"{name} does not exist"):
            one.rows(f"FROM {name}")
        with pytest.raises(Refused, match=f"there is no table {name}"):
            one.ask_untrusted(f"FROM {name}")


def test_who_asks_at_the_same_time_is_answered_by_himself(every: list[LedgerView]) -> None:
    """The views have the same names for all."""

    def told(one: LedgerView) -> list[Any]:
        return [[one.rows(sql), one.ask_untrusted(sql).to_pylist()] for sql in ASKED]

    some, times = sized((every[:3], 2), (every, 2), (every, 4))
    alone = [told(one) for one in some]
    assert len(some) - 1 <= len({str(one) for one in alone})
    with ThreadPoolExecutor(8) as pool:
        assert alone * times == list(pool.map(told, some * times))


@pytest.mark.parametrize("said", ["SET threads = 1", "SET TimeZone = 'UTC'", "RESET threads"])
def test_no_session_changes_a_setting(said: str, every: list[LedgerView]) -> None:
    for one in every[: sized(2, len(every))]:
        with pytest.raises(Refused, match="the configuration has been locked"):
            one.rows(said)
        with pytest.raises(Refused, match="only SELECT is answered"):
            one.ask_untrusted(said)
        assert [{"folder": ""}] == one.rows("SELECT current_setting('temp_directory') AS folder")

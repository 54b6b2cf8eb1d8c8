"""Money of several units in one ledger: beside every amount stands its unit, at every door."""

import csv
import io
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.main import main
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from store.reader import Reader, Snapshot
from store.sql.query import Query
from store.sql.views import AMOUNT_VIEWS, unusual_units
from tests.exports import exported
from tests.foreign import gamelog
from tests.http.clients import site_of
from tests.profiles import in_turn
from tests.sessions import Captured, printed

SUMS = "SELECT player, unit, sum(net) AS net FROM players GROUP BY ALL ORDER BY ALL"
HALF = """\
# name/game/hands/seed holdem.nolimit.2p.reverse_blinds 1
STATE:0:cr200c/cc/cc/cc:AsKd|2c7d/3h4h9s/Ac/Jc:-200|200:random-0|random-1
"""
VIEWS = ("auditor", "public", "seat:random-0")
OF_BIDS = {("auction-2024-mit", "chip")}
OF_BOTH = {*OF_BIDS, ("acpc-nl", "half chip")}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match in chips, and a hand in half chips: not sealed yet."""
    folder = tmp_path_factory.mktemp("units")
    (folder / "acpc.log").write_text(HALF)
    for log, code in ((gamelog(folder / "gamelog.txt"), 0), (folder / "acpc.log", 3)):
        assert code == main(["import", str(log), "--ledger", str(folder / "ledger")])
    return folder / "ledger"


@pytest.fixture(scope="module", params=["hot", "sealed"])
def either(
    request: pytest.FixtureRequest, ledger: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same, and a copy in which all is sealed."""
    if request.param == "hot":
        return ledger
    copy = tmp_path_factory.mktemp("sealed") / "ledger"
    shutil.copytree(ledger, copy)
    assert 0 == main(["compact", "--ledger", str(copy)])
    return copy


def told(capsys: Captured, ledger: Path, *words: str) -> list[list[str]]:
    lines = printed(capsys, "sql", *words, "--ledger", str(ledger)).splitlines()
    return [line.split("\t") for line in lines[1:]]


def games(snapshot: Snapshot) -> dict[str, str]:
    """The game of each match."""
    rows = Query(snapshot).rows("SELECT DISTINCT match, game FROM hands")
    return {row["match"]: row["game"] for row in rows}


def of_each(rows: Iterable[Mapping[str, Any]], snapshot: Snapshot) -> set[tuple[str, str]]:
    """Which unit stands in rows of hands by which game."""
    known = games(snapshot)
    return {(known[row["match"]], row["unit"]) for row in rows if row["number"] not in (None, "")}


def test_sums_are_grouped_by_the_unit_of_the_hands(capsys: Captured, either: Path) -> None:
    found = {(player, unit): int(net) for player, unit, net in told(capsys, either, SUMS)}
    assert {"chip", "half chip"} == {unit for _, unit in found}
    assert -400 == found["random-0", "half chip"] == -found["random-1", "half chip"]
    assert 0 == found["random-0", "chip"] + found["random-1", "chip"]
    assert found["random-0", "chip"] == sum(
        json.loads(line)["net"]
        for line in exported(Reader(either).snapshot(), "ndjson", table="players").splitlines()
        if json.loads(line)["player"] == "random-0" and json.loads(line)["unit"] == "chip"
    )


@pytest.mark.parametrize(("name", "view"), in_turn(sorted(AMOUNT_VIEWS), VIEWS))
def test_sql_has_the_unit_of_every_amount(either: Path, name: str, view: str) -> None:
    """As the last column, for who is at home here and for who is not, the same."""
    snapshot = Reader(either).snapshot()
    viewed = LedgerView(snapshot, Viewer(view))
    whole = viewed.ask(f"FROM {name}")
    assert "unit" == whole.column_names[-1]
    for rows in (whole, viewed.ask_untrusted(f"FROM {name}")):
        expected = OF_BIDS if name == "bids" else OF_BOTH
        assert expected == of_each(rows.to_pylist(), snapshot)
    viewed.close()


@pytest.mark.parametrize(("name", "view"), in_turn(sorted(AMOUNT_VIEWS), VIEWS))
def test_exports_have_it_in_every_format(either: Path, name: str, view: str) -> None:
    snapshot = Reader(either).snapshot()
    expected = OF_BIDS if name == "bids" else OF_BOTH
    for to in ("csv", "arrow", "parquet", "ndjson"):
        if (to, name) != ("ndjson", "events"):  # these lines are the events, not a table
            assert expected == of_each(_rows(to, exported(snapshot, to, view, name)), snapshot), to


def test_exports_and_sql_over_http_have_it(ledger: Path) -> None:
    snapshot = Reader(ledger).snapshot()
    client = site_of(ledger).as_("auditor")
    for name, to in in_turn(sorted(AMOUNT_VIEWS), ("csv", "arrow", "parquet")):
        expected = OF_BIDS if name == "bids" else OF_BOTH
        got = client.get(f"/api/v1/exports/{name}?format={to}")
        assert expected == of_each(_rows(to, got.content), snapshot), (name, to)
        got = client.get(f"/api/v1/sql?q=FROM {name}&format={to}")
        assert expected == of_each(_rows(to, got.content), snapshot), (name, to)


def _rows(to: str, data: bytes) -> list[dict[str, Any]]:
    if to == "csv":
        return list(csv.DictReader(io.StringIO(data.decode())))
    if to == "ndjson":
        return [json.loads(line) for line in data.splitlines()]
    arrow = to == "arrow"
    table: pa.Table = (
        pa.ipc.open_stream(data).read_all() if arrow else pq.read_table(io.BytesIO(data))
    )
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_an_audit_as_a_file_has_it(capsys: Captured, ledger: Path, tmp_path: Path) -> None:
    files = ("--csv", str(tmp_path / "audit.csv"), "--parquet", str(tmp_path / "audit.parquet"))
    main(["audit", "--all", "--ledger", str(ledger), *files])
    capsys.readouterr()
    snapshot = Reader(ledger).snapshot()
    for to in ("csv", "parquet"):
        data = (tmp_path / f"audit.{to}").read_bytes()
        assert OF_BOTH == of_each(_rows(to, data), snapshot)


def test_what_gives_no_amounts_has_no_unit(ledger: Path) -> None:
    """Nor has a record of a match: what is null there is no amount."""
    query = Query(Reader(ledger).snapshot())
    assert "unit" not in query.ask("FROM swaps").column_names
    assert [{"unit": None}] == query.rows("SELECT DISTINCT unit FROM events WHERE number IS NULL")


def test_a_ruleset_that_is_damaged_has_no_unit_and_spoils_no_other(
    ledger: Path, tmp_path: Path
) -> None:
    shutil.copytree(ledger, copy := tmp_path / "ledger")
    snapshot = Reader(copy).snapshot()
    (half,) = (mark for mark, unit in snapshot.units().items() if unit == "half chip")
    (copy / "rulesets" / f"{half}.json").write_bytes(b"{")
    snapshot = Reader(copy).snapshot()
    expected = {*OF_BIDS, ("acpc-nl", None)}
    for name in ("players", "pots"):
        assert expected == of_each(Query(snapshot).rows(f"FROM {name}"), snapshot)
        rows = _rows("ndjson", exported(snapshot, "ndjson", table=name))
        assert expected == of_each(rows, snapshot)


def test_where_all_count_the_same_no_hand_is_looked_up(capsys: Captured, tmp_path: Path) -> None:
    """Then the unit is the same word in every row, also if it is not chips."""
    (tmp_path / "acpc.log").write_text(HALF)
    ledger = tmp_path / "ledger"
    printed(capsys, "import", str(tmp_path / "acpc.log"), "--ledger", str(ledger), code=3)
    snapshot = Reader(ledger).snapshot()
    assert not unusual_units(snapshot.units())
    assert [{"unit": "half chip"}] == Query(snapshot).rows("SELECT DISTINCT unit FROM players")


def test_every_viewpoint_may_ask_for_the_rulesets(capsys: Captured, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    printed(capsys, "import", str(gamelog(tmp_path / "gamelog.txt")), "--ledger", str(ledger))
    asked = "SELECT game, unit, document FROM rulesets"
    for view in VIEWS:
        (row,) = told(capsys, ledger, asked, "--as", view)
        assert row == ["auction-2024-mit", "chip", "the Pokerbots engine of 2024"]

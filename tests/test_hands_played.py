"""A hand's own time, as its source says it: a column of `hands` wherever hands are listed."""

import csv
import io
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from api.main import main
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from store.folder.disk import RealDisk
from store.folder.manifest import Segment
from store.folder.manifest import read as manifest_of
from store.reader import Reader
from store.segments import sealed_segments
from store.sql.query import Query
from store.tables.projection import HANDS, EventRows
from tests.exports import exported
from tests.foreign import gamelog
from tests.formats.test_format_pacific import CASH as PACIFIC
from tests.formats.test_format_phh import ONE
from tests.formats.test_format_pokerstars import CASH as STARS
from tests.formats.test_hand_times import DAY
from tests.http.clients import Site, site_of
from tests.sessions import Captured, printed

FROZEN = Path(__file__).parent / "store" / "frozen" / "v1" / "ledger"
ZONED, CLOCK, A_DAY = "2012-03-04T05:06:07-05:00", "2016-10-27T18:03:49", "2019-03-02"
DISPUTED = STARS.replace("[Th 9h] (high card Queen)", "[Qd Qh] (three of a kind, Queens)")
WHENS = {ZONED, CLOCK, A_DAY, None}
VIEWS = ("auditor", "public")


@pytest.fixture(scope="module")
def hot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hands whose texts say the time with a zone, without one, a day, and nothing."""
    folder = tmp_path_factory.mktemp("played")
    files = {"stars.txt": DISPUTED, "pacific.txt": PACIFIC, "day.phh": ONE + DAY}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    gamelog(folder / "gamelog.txt", rounds=3)
    for name in (*files, "gamelog.txt"):
        words = ["import", str(folder / name), "--ledger", str(folder / "ledger")]
        assert main(words) in (0, 3), name
    return folder / "ledger"


@pytest.fixture(scope="module", params=["hot", "sealed"])
def ledger(
    request: pytest.FixtureRequest, hot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same, and a copy in which all is sealed."""
    if request.param == "hot":
        return hot
    copy = tmp_path_factory.mktemp("sealed") / "ledger"
    shutil.copytree(hot, copy)
    assert main(["compact", "--ledger", str(copy)]) == 0
    return copy


@pytest.fixture(scope="module")
def site(hot: Path) -> Site:
    return site_of(hot)


@pytest.mark.parametrize("view", VIEWS)
def test_hands_say_what_their_first_events_say(ledger: Path, view: str) -> None:
    viewed = LedgerView(Reader(ledger).snapshot(), Viewer(view))
    mine = "SELECT hand, played FROM hands ORDER BY hand"
    first = "SELECT hand, played FROM events WHERE type = 'HandStarted' ORDER BY hand"
    rows = viewed.rows(mine)
    assert viewed.rows(first) == rows == viewed.ask_untrusted(mine).to_pylist()
    assert {row["played"] for row in rows} == WHENS
    viewed.close()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("to", ["csv", "ndjson", "arrow", "parquet"])
def test_exports_of_hands_have_it(ledger: Path, to: str, view: str) -> None:
    data = exported(Reader(ledger).snapshot(), to, view, "hands")
    assert found_in(to, data) == WHENS


def found_in(to: str, data: bytes) -> set[str | None]:
    """Every time that stands in a table."""
    if to == "csv":
        return {row["played"] or None for row in csv.DictReader(io.StringIO(data.decode()))}
    if to == "ndjson":
        return {json.loads(line)["played"] for line in data.splitlines()}
    rows = pa.ipc.open_stream(data).read_all() if to == "arrow" else pq.read_table(io.BytesIO(data))
    return set(rows["played"].to_pylist())


def test_lists_have_it_and_the_unit(capsys: Captured, ledger: Path) -> None:
    listed = json.loads(printed(capsys, "hands", "--json", "--ledger", str(ledger)))["hands"]
    assert {(row["played"], row["unit"]) for row in listed} == {
        (ZONED, "cent"),
        (CLOCK, "cent"),
        (A_DAY, "chip"),
        (None, "chip"),
    }
    head, *lines = printed(capsys, "hands", "--ledger", str(ledger)).splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [row["played"] for row in rows] == [one["played"] or "" for one in listed]
    assert [row["unit"] for row in rows] == [one["unit"] for one in listed]


@pytest.mark.parametrize("to", ["json", "ndjson", "csv", "arrow", "parquet"])
def test_it_stands_in_rows_over_http(site: Site, to: str) -> None:
    got = site.as_().get(f"/api/v1/hands?format={to}")
    if to == "json":
        assert {row["played"] for row in got.json()["data"]} == WHENS
        one = got.json()["data"][0]
        summary = site.as_().get(f"/api/v1/hands/{one['hand']}").json()
        assert (summary["played"], summary["unit"]) == (one["played"], one["unit"])
    else:
        assert found_in(to, got.content) == WHENS


def test_a_docket_tells_when_hands_were_played(site: Site) -> None:
    """A page with a date of a hand: that of its text, where there is one."""
    page = site.as_("auditor").get("/").text
    assert (
        f'<time datetime="{ZONED}" title="{ZONED}">4\N{NARROW NO-BREAK SPACE}Mar 2012, 10:06<'
        in page
    )


def test_pages_of_hands_tell_cents_as_their_money(site: Site) -> None:
    client = site.as_("auditor")
    listed = client.get("/hands").text
    for row in client.get("/api/v1/hands").json()["data"]:
        pot = f"${row['pot'] / 100:.2f}"
        assert (f"pot {pot}" in listed) == (row["unit"] == "cent")
        assert (">$100.00</b>" in client.get(f"/hands/{row['hand']}").text) == (
            row["unit"] == "cent"
        )


@pytest.mark.parametrize(
    ("filter_", "whens"),
    [
        ("played=2012-03-04", {ZONED}),
        ("played=2016-10-27", {CLOCK}),
        ("played>2016-10-27", {A_DAY}),
        ("played<=2016-10-27", {ZONED, CLOCK}),
        ("played>=2019-03-02", {A_DAY}),
        ("played!=2019-03-02", {ZONED, CLOCK}),
        ("!(played<2016-01-01)", {CLOCK, A_DAY}),
        ("played=2012-03-04T10:06:07Z", {ZONED}),
        ("played>2012-03-04T10:06:06Z", {ZONED}),  # of the others nobody knows the zone
        ("played>2012-03-04T10:06:07Z", set()),
        ("!(played>2012-03-04T10:06:07Z)", {ZONED}),
        ("played>=2012-03-04T05:06:07-05:00", {ZONED}),
        ("at<2020-01-01", set()),  # they were imported today
        ("at>2020-01-01", WHENS),
    ],
)
def test_a_filter_finds_hands_by_their_own_time(
    capsys: Captured, ledger: Path, filter_: str, whens: set[str | None]
) -> None:
    """A date is the day that a text names; a time is compared where a zone is known."""
    told = json.loads(printed(capsys, "hands", filter_, "--json", "--ledger", str(ledger)))
    assert {row["played"] for row in told["hands"]} == whens


def sealed_in(ledger: Path) -> tuple[Segment, ...]:
    now = manifest_of(RealDisk(ledger))
    assert now is not None
    return now.segments


def test_a_ledger_of_before_answers_that_nothing_is_said(tmp_path: Path) -> None:
    """And no table of hands is made anew for it: its events say nothing, either."""
    shutil.copytree(FROZEN, tmp_path / "ledger")
    segments = sealed_in(tmp_path / "ledger")
    assert {one.projections["hands"] for one in segments} == {1}
    query = Query(Reader(tmp_path / "ledger").snapshot())
    assert query.rows("SELECT DISTINCT played FROM hands") == [{"played": None}]
    made = query._sources("hands")
    assert made.segments == segments
    assert main(["compact", "--ledger", str(tmp_path / "ledger")]) == 0
    segments = sealed_in(tmp_path / "ledger")
    assert {one.projections["hands"] for one in segments} == {2}


def test_an_older_table_of_hands_whose_events_say_more_is_made_anew(
    hot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the field of events and the column of hands there were ledgers that had only one."""
    shutil.copytree(hot, tmp_path / "ledger")

    def of_rows(events: EventRows) -> pa.Table:
        return HANDS.from_rows(events).drop_columns(["played"])

    older = HANDS._replace(version=1, from_rows=of_rows)
    with monkeypatch.context() as then:
        then.setattr(sealed_segments, "HANDS", older)
        assert main(["compact", "--ledger", str(tmp_path / "ledger")]) == 0
    segments = sealed_in(tmp_path / "ledger")
    assert {one.projections["hands"] for one in segments} == {1}
    query = Query(Reader(tmp_path / "ledger").snapshot())
    assert {row["played"] for row in query.rows("SELECT played FROM hands")} == WHENS

"""Spark answers what one machine answers: verdicts, statistics, questions in SQL and files."""

import json
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from api.cluster.spark import NoSpark, session
from api.main import main
from bench.__main__ import report
from events.types import HandStarted
from muckrake import spark as library
from tests import profiles
from tests.cluster.ledgers import PLAYED, damaged
from tests.fences import fences
from tests.sessions import Captured, dealt, forged, printed, said, told

ROOT = Path(__file__).parents[2]
LOCAL = ("--on", "local[2]")
WORDS = (
    ("random-0", "--by", "window"),
    ("random-0", "--field"),
    (),
    ("random-1", "--by", "opponent"),
    ("--by", "game"),
    ("random-0", "--vs", "random-1", "--hands", "2-9"),
    ("bear", "--by-tag", "bot", "--vs", "lynx"),
)


@pytest.mark.ci  # what a task answers is held without Spark before
@pytest.mark.usefixtures("spark_here")
class TestOnThisMachine:
    """`local[2]`: a driver and its workers here."""

    def test_an_audit_is_the_same_to_the_byte(self, ledger: Path, capsys: Captured) -> None:
        words = ("audit", "--all", "--ledger", str(ledger))
        every = ((), ("--json",), ("--ruleset", "auction-2024", "--json"))
        for more in every[:: profiles.sized(2, 2, 1)]:
            assert printed(capsys, *words, *more, code=3) == printed(
                capsys, *words, *more, *LOCAL, code=3
            )

    @pytest.mark.slow  # before, those of one name against another are, below
    @pytest.mark.parametrize("words", WORDS)
    def test_statistics_are_the_same(
        self, words: tuple[str, ...], ledger: Path, capsys: Captured
    ) -> None:
        asked = ("stats", *words, "--ledger", str(ledger))
        assert told(capsys, *asked) == told(capsys, *asked, *LOCAL)

    def test_a_name_is_a_name_whatever_it_is_made_of(
        self, tmp_path: Path, capsys: Captured
    ) -> None:
        """Quotes and backslashes mean something else in Spark's SQL than in ours."""
        name = "O'Neil\\' OR ''='\\"
        records = [
            (replace(start, players=(name, "B\\nb")), *rest)
            for start, *rest in dealt()[:6]
            if isinstance(start, HandStarted)
        ]
        words = ("stats", name, "--vs", "B\\nb", *forged(tmp_path, *records))
        here = told(capsys, *words)
        assert here == told(capsys, *words, *LOCAL)
        assert [6] == [one["hands"] for one in here["players"]]

    def test_sql_is_answered_over_the_same_views(self, ledger: Path, capsys: Captured) -> None:
        sql = (
            "SELECT h.game, p.player, count(*) AS hands, sum(p.net) AS net FROM players p"
            " JOIN hands h ON h.hand_seq = p.hand_seq GROUP BY h.game, p.player"
            " ORDER BY h.game, p.player"
        )
        words = ("sql", sql, "--ledger", str(ledger))
        assert told(capsys, *words)["rows"] == told(capsys, *words, *LOCAL)["rows"]

    @pytest.mark.parametrize("view", ["seat:random-0", *profiles.sized([], [], ["public"])])
    def test_a_viewpoint_sees_what_it_sees_here(
        self, view: str, ledger: Path, capsys: Captured
    ) -> None:
        sql = "SELECT hand, seat, cards FROM events WHERE type = 'HoleDealt' ORDER BY hand, idx"
        words = ("sql", sql, "--as", view, "--ledger", str(ledger))
        rows = told(capsys, *words, *LOCAL)["rows"]
        assert rows == told(capsys, *words)["rows"]
        assert any("hidden" in row["cards"] for row in rows)

    def test_files_are_the_same_to_the_byte(
        self, ledger: Path, capsys: Captured, tmp_path: Path
    ) -> None:
        for to, table in (("ndjson", "events"), ("csv", "decisions"), ("parquet", "facts")):
            here, there = tmp_path / f"here.{to}", tmp_path / f"there.{to}"
            words = ("export", "--to", to, "--table", table, "--ledger", str(ledger))
            printed(capsys, *words, "--out", str(here))
            printed(capsys, *words, "--out", str(there), *LOCAL)
            if to == "parquet":
                assert pl.read_parquet(here).equals(pl.read_parquet(there))
            else:
                assert here.read_bytes() == there.read_bytes()

    def test_a_session_has_views_and_verdicts(self, ledger: Path, capsys: Captured) -> None:
        """Somebody's own session, and its SQL; the verdicts are a frame."""
        whole = told(capsys, "audit", "--all", "--ledger", str(ledger), code=3)["hands"]
        with session("local[2]") as spark:
            frames = library.views(spark, ledger, "public")
            assert {"hands", "events", "facts", "decisions", "rulesets"} <= set(frames)
            hands = spark.sql("SELECT hand FROM hands ORDER BY hand_seq").toArrow()["hand"]
            assert "bids" in [one.name for one in spark.catalog.listTables()]
            verdicts = library.audit(spark, ledger).toArrow().to_pylist()
        assert {one["hand"] for one in whole} <= set(hands.to_pylist())
        assert {one["hand"]: (one["verdict"], one["recorded"]) for one in whole} == {
            one["hand"]: (one["verdict"], one["recorded"]) for one in verdicts
        }

    def test_the_page_s_example_runs(
        self,
        ledger: Path,
        capsys: Captured,
        tmp_path: Path,
    ) -> None:
        (page,) = (ROOT / "docs").glob("spark.md")
        (example,) = (it.text for it in fences(page) if it.told == "notebook.py")
        example = example.replace("/mnt/poker/ledger", str(ledger))
        example = example.replace('parquet("', f'parquet("{tmp_path}/')
        with session("local[2]") as spark:
            exec(example, {"spark": spark})
        assert "random-0" in capsys.readouterr().out
        assert list((tmp_path / "decisions").glob("*.parquet"))

    @pytest.mark.slow
    def test_the_bench_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of one size: for each, four ways start anew."""
        monkeypatch.setattr("bench.spark.TENTHS", (10,))
        page = report("spark", rounds=1, seconds=0.0, hands=40)
        assert "| 40 | " in page
        assert "| Spark, 2 workers |" in page

    def test_a_statement_that_is_no_question_changes_nothing(
        self, ledger: Path, capsys: Captured
    ) -> None:
        words = ("sql", "DROP VIEW hands", "--ledger", str(ledger), *LOCAL)
        assert "Spark takes no such question" in said(capsys, 1, *words)

    def test_a_damaged_segment_is_named(
        self, ledger: Path, capsys: Captured, tmp_path: Path
    ) -> None:
        file = damaged(ledger, tmp_path / "ledger")
        words = ("audit", "--all", "--ledger", str(tmp_path / "ledger"), *LOCAL)
        assert file in said(capsys, 3, *words)
        assert main([*words, "--json", "--skip-damaged"]) == 3
        out, err = capsys.readouterr()
        assert f"not judged: {file}" in err
        judged = {one["hand"].partition("/")[0] for one in json.loads(out)["hands"]}
        assert judged == {*PLAYED[1:], "scrim"}


def test_what_is_no_spark_is_refused(ledger: Path, capsys: Captured) -> None:
    words = ("stats", "--ledger", str(ledger), "--on")
    assert "there are local[N], spark://HOST:PORT and sc://HOST" in said(capsys, 1, *words, "yarn")


def test_without_java_the_package_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSpark, match="default-jre-headless"), session("spark://127.0.0.1:7"):
        pass


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(NoSpark, match="muckrake-poker\\[spark\\]"), session("local[2]"):
        pass

"""`import muckrake`: what it has, what it costs to import, and that it answers as commands do."""

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest

import muckrake
from api.main import main
from api.questions.player_measures import Unanswerable
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.viewer import UnknownViewpoint
from store.sql.guard import Refused
from tests.sessions import SCRIM, Captured, dealt, printed

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("library") / "ledger")
    assert main(["play", *SCRIM, "--ledger", folder]) == 0
    return folder


def test_what_it_has_is_what_its_page_says() -> None:
    table = (ROOT / "docs/library.md").read_text("utf-8").split("## ")[0]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert sorted(muckrake.__all__) == sorted(named)
    for name in muckrake.__all__:
        assert getattr(muckrake, name) is getattr(muckrake, name)
    with pytest.raises(AttributeError, match="module 'muckrake' has no attribute 'deal'"):
        _ = muckrake.deal


def test_who_only_deals_hands_does_not_wait_for_databases() -> None:
    heavy = ["duckdb", "pyarrow", "polars", "numpy", "fastapi", "click"]
    asked = f"import sys, muckrake; print([one for one in {heavy} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "[]" == done.stdout.strip()


def test_a_record_is_the_hand_as_it_was_written(ledger: str) -> None:
    assert dealt()[0] == muckrake.record(ledger, "scrim/1")
    for name in ("scrim/41", "scrim", "nothing/1"):
        with pytest.raises(
            NotInLedger, match=f"there is no hand {name}: a hand is called MATCH/NUMBER"
        ):
            muckrake.record(ledger, name)


@pytest.mark.parametrize(
    ("question", "given", "words"),
    [
        ("player", {"player": "random-0"}, ("random-0",)),
        ("opponent", {"player": "random-0", "match": "scrim"}, ("random-0", "--match", "scrim")),
        ("counters", {}, ()),
        ("compare", {"player": "random-0", "other": "random-1"}, ("random-0", "random-1")),
    ],
)
def test_an_answer_is_that_of_the_command(
    ledger: str, capsys: Captured, question: str, given: dict[str, str], words: tuple[str, ...]
) -> None:
    asked = muckrake.answer(question, ledger, **given)
    told = json.loads(printed(capsys, question, *words, "--ledger", ledger, "--json"))
    ours = json.loads(msgspec.json.encode(asked))
    assert told == {"schema": told["schema"], **ours}


def test_a_list_is_answered_in_pages(ledger: str) -> None:
    page = muckrake.answer("matches", ledger, limit=1)
    assert ["scrim"] == [row.match for row in page.rows]


def test_a_question_that_cannot_be_asked_says_what_can(ledger: str) -> None:
    with pytest.raises(NotInLedger, match="there is no question bid: bids, compare"):
        muckrake.answer("bid", ledger)
    with pytest.raises(ValueError, match="player cannot be asked so: Missing required argument"):
        muckrake.answer("player", ledger)
    with pytest.raises(ValueError, match="matches cannot be asked so: Expected `int`, got `str`"):
        muckrake.answer("matches", ledger, limit="all")
    with pytest.raises(ValueError, match="player has no hand: player"):
        muckrake.answer("player", ledger, player="random-0", hand=1)
    with pytest.raises(NotInLedger, match="nobody"):
        muckrake.answer("player", ledger, player="nobody")
    with pytest.raises(UnknownViewpoint, match="everybody is no viewpoint"):
        muckrake.answer("player", ledger, view="everybody", player="random-0")
    with pytest.raises(Unanswerable, match="random-0 is himself"):
        muckrake.answer("compare", ledger, player="random-0", other="random-0")


def test_a_viewpoint_sees_no_more_than_it_may(ledger: str) -> None:
    """The match is sealed: nobody but its player knows a card that was folded."""
    known = [
        muckrake.answer("grid", ledger, player="random-0", view=view).known
        for view in ("auditor", "seat:random-0", "seat:random-1", "public")
    ]
    assert known[0] == known[1] > known[2]
    assert known[2] == known[3]


def test_sql_gives_a_table_that_others_take_as_it_is(ledger: str) -> None:
    table = muckrake.sql(ledger, "SELECT hand, player FROM decisions ORDER BY ALL LIMIT 3")
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    assert table.to_pylist() == frame.to_dicts()
    with pytest.raises(Refused):
        muckrake.sql(ledger, "DROP TABLE hands")


def test_answers_over_one_snapshot_are_of_one_moment(tmp_path: Path) -> None:
    folder = str(tmp_path / "ledger")
    play = ("play", "site-nl", "--hands", "3", "--seed", "1", "--ledger", folder)
    assert main([*play, "--match", "first"]) == 0
    now = muckrake.snapshot_of(folder)
    assert main([*play, "--match", "second"]) == 0
    count = "SELECT count(*) AS hands FROM hands"
    assert [{"hands": 3}] == muckrake.sql(now, count).to_pylist()
    assert [{"hands": 6}] == muckrake.sql(folder, count).to_pylist()

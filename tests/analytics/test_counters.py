"""The organisers' counters: as a page says, and as words in a log are counted, ours and theirs."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from analytics.projections.auctions import AUCTIONS
from analytics.projections.facts import facts_projection
from analytics.sql import SQL_FOLDER, ArrowTables, HandFilters
from api.main import main
from api.questions.declared.counters import COUNTERS, log_lines_sql
from store.columns.codec import encoded_table
from store.tables.projection import BIDS, SWAPS
from tests.analytics.auction_pages import page
from tests.analytics.portable import FORBIDDEN, opens_with_its_question_and_its_definition, trees
from tests.foreign import gamelog
from tests.profiles import sized
from tests.sessions import Captured, printed, said, told

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "mit"
PAGE = Path(__file__).parent / "counters" / "counters.txt"
FILES = ("counters", "counters_bankroll")
WORDS = {
    "raises": "raises to",
    "bets": "bets",
    "calls": "calls",
    "checks": "checks",
    "folds": "folds",
    "shows": "shows",
    "all_ins": "went all in",
    "auctions_won": "won the auction",
}


def test_the_question_answers_what_its_text_says() -> None:
    """In the last hand every check is forced, and its auction is tied: both won it."""
    leaves, columns, expected = page(PAGE)
    every = (facts_projection(lambda mark: None), AUCTIONS, BIDS, SWAPS)
    views = {one.name: one.build(leaves) for one in every}
    tables = ArrowTables({**views, "events": encoded_table(leaves)})
    found = tables.ask("counters", log_lines_sql(HandFilters()))
    tables.close()
    told = sorted([[_plain(row[name]) for name in columns] for row in found], key=str)
    assert expected == told


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def test_a_bankroll_stands_before_its_hand() -> None:
    """Before the hundredth hand ninety-nine are over; beyond the thousandth nobody counts."""
    lines = ", ".join(f"('m', 'lynx', {at}, 'net', {at % 7})" for at in range(1, 1_150))
    source = f"SELECT * FROM (VALUES {lines}) AS t (match, player, number, line, amount)"
    rows = ArrowTables({}).ask("counters_bankroll", source)
    assert {row["number"]: int(row["bankroll"]) for row in rows} == {
        at: sum(it % 7 for it in range(1, at)) for at in range(100, 1_001, 100)
    }


@pytest.mark.parametrize("file", FILES)
def test_the_questions_are_in_the_portable_dialect(file: str) -> None:
    opens_with_its_question_and_its_definition(file)
    for tree in trees(file):
        assert [] == list(tree.find_all(*FORBIDDEN))


def test_every_question_about_counters_is_asked_here() -> None:
    assert sorted(FILES) == sorted(path.stem for path in SQL_FOLDER.glob("counters*.sql"))


def test_every_counter_is_told_on_its_page() -> None:
    text = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    assert [] == [name for name in COUNTERS if f"| `{name}` |" not in text]


# Words in a log, as the organisers count them.


def words(log: str, name: str) -> dict[str, Any]:
    """Their counters of one player."""
    found: dict[str, Any] = {
        counter: len(re.findall(rf"^{re.escape(name)} {line}", log, re.MULTILINE))
        for counter, line in WORDS.items()
    }
    bids = [int(it) for it in re.findall(rf"^{re.escape(name)} bids (\d+)$", log, re.MULTILINE)]
    found["bid_mean"] = round(sum(bids) / len(bids), 6) if bids else 0
    rounds = log.split("Round #")[1:]
    lost = [
        one for one in rounds if "won the auction" in one and f"\n{name} won the auction" not in one
    ]
    gains = (
        re.search(rf"^{re.escape(name)} awarded ([1-9]\d*)$", one, re.MULTILINE) for one in lost
    )
    found["won_without"] = sum(one is not None for one in gains)
    swapped = rf"^{re.escape(name)} \(swapped\) awarded (-?\d+)$"
    found["net_swapped"] = sum(int(it) for it in re.findall(swapped, log, re.MULTILINE))
    found["bankroll"] = {}
    for one in rounds:
        number = one.split(",", 1)[0]
        if number in {str(at) for at in range(100, 1_001, 100)}:
            bank = re.search(rf"{re.escape(name)} \((-?\d+)\)", one.splitlines()[0])
            assert bank is not None
            found["bankroll"][number] = int(bank[1])
    return found


def counters_of(capsys: Captured, log: Path, ledger: Path) -> dict[str, dict[str, Any]]:
    """Ours, of an imported log, by player."""
    assert main(["import", str(log), "--ledger", str(ledger)]) == 0
    capsys.readouterr()
    rows = told(capsys, "counters", "--ledger", str(ledger))["matches"]
    assert {row.pop("unit") for row in rows} == {"chip"}
    return {row.pop("player"): row for row in rows if row.pop("match")}


@pytest.mark.parametrize("game", ["auction-2024-mit", "swap-2022-mit"])
def test_words_in_a_log_of_ours_are_counted(capsys: Captured, game: str, tmp_path: Path) -> None:
    log = gamelog(tmp_path / "gamelog.txt", game, 120)
    found = counters_of(capsys, log, tmp_path / "ledger")
    assert 2 == len(found)
    for name, mine in found.items():
        theirs = words(log.read_text("utf-8"), name)
        if game.startswith("swap"):  # our logs of it are of the dialect that tells no swaps
            del theirs["net_swapped"], mine["net_swapped"]
        assert theirs == mine
        assert mine["checks"] > 50


LOGS = (
    "made/2022/full-2022-maniac-exploitive.txt",
    "made/2024/raw-2024-garbage.txt",
    "2024/dyneleee__pokerbots2024__215cb823__gamelog.txt",
)


@pytest.mark.parametrize("name", sized(LOGS[:2], LOGS))
def test_words_in_a_real_log_are_counted(capsys: Captured, name: str, tmp_path: Path) -> None:
    log = DATA / name
    if not log.exists():
        pytest.skip(f"{log} is not there")
    found = counters_of(capsys, log, tmp_path / "ledger")
    for player, mine in found.items():
        assert words(log.read_text("utf-8"), player) == mine
    assert any(mine["checks"] for mine in found.values())


# The command.


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("counters") / "ledger"
    for game in ("auction-2024-mit", "swap-2022-mit"):
        given = ("--hands", "101", "--seed", "7", "--match", game, "--ledger", str(made))
        assert main(["play", game, *given]) == 0
    return made


@pytest.fixture
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))


@pytest.mark.usefixtures("looked_at")
def test_every_counter_has_a_column_and_bankrolls_their_own(capsys: Captured) -> None:
    lines = printed(capsys, "counters", "--match", "auction-2024-mit").splitlines()
    titles = [one.title for name, one in COUNTERS.items() if name != "bankroll"]
    assert ["match", "player", *titles, "before 100"] == lines[0].split("\t")
    assert 3 == len(lines)


@pytest.mark.usefixtures("looked_at")
def test_swaps_that_a_viewpoint_may_not_see_are_not_counted_as_none(capsys: Captured) -> None:
    def net(view: str) -> dict[str, Any]:
        rows = told(capsys, "counters", "--match", "swap-2022-mit", "--as", view)["matches"]
        return {row["player"]: row["net_swapped"] for row in rows}

    every = net("auditor")
    assert {"random-0": None, "random-1": None} == net("public")
    assert every | {"random-1": None} == net("seat:random-0")


@pytest.mark.usefixtures("looked_at")
def test_the_answer_goes_into_files(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "counters.csv"
    printed(capsys, "counters", "random-0", "--csv", str(file))
    rows = list(csv.DictReader(file.open(encoding="utf-8")))
    assert ["random-0", "random-0"] == [row["player"] for row in rows]
    assert {"bankroll_100", "bankroll_1000", *COUNTERS} - {"bankroll"} <= set(rows[0])
    assert "nobody called x was dealt a hand" in said(capsys, 5, "counters", "x")

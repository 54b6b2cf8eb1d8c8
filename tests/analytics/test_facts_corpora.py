"""Facts of real hands: Pluribus by a second reader of the texts, fpdb by its own flags."""

import ast
import tarfile
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import ask, snapshot_query
from store.reader import Reader
from tests.analytics.naive_pluribus import counted
from tests.profiles import sized
from tests.sessions import Captured, printed

SHARED = Path(__file__).parents[2].parent / "shared/data"
PLURIBUS = "phh/pluribus-visible.tar.gz"
# 10,000 hands: (hands, VPIP k, n, PFR k, 3-bet k, n) of analytics.md section 2.
REFERENCE = {
    "Pluribus": (10_000, 2641, 9835, 1766, 298, 4105),
    "MrBlue": (9_121, 2865, 8928, 1716, 211, 3592),
    "MrOrange": (7_512, 1562, 7396, 1076, 227, 3062),
    "Bill": (6_713, 1843, 6609, 1336, 289, 2710),
    "MrPink": (6_055, 1591, 5949, 1053, 231, 2493),
    "Eddie": (5_510, 1501, 5414, 971, 141, 2261),
    "MrWhite": (4_483, 1163, 4403, 764, 124, 1772),
}
FLAGS = {  # fpdb's flag: the column, and whether it asks for the opportunity or the deed
    "street0VPI": ("vpip", "done"),
    "street0Aggr": ("pfr", "done"),
    "street0_3BChance": ("three_bet", "chance"),
    "street0_3BDone": ("three_bet", "done"),
    "street0_4BChance": ("four_bet_opener", "chance"),
    "street0_4BDone": ("four_bet_opener", "done"),
    "street0_C4BChance": ("cold_four_bet", "chance"),
    "street0_C4BDone": ("cold_four_bet", "done"),
    "street0_FoldTo3BChance": ("fold_to_3bet_opener", "chance"),
    "street0_FoldTo3BDone": ("fold_to_3bet_opener", "done"),
    "street0_SqueezeChance": ("squeeze", "chance"),
    "street0_SqueezeDone": ("squeeze", "done"),
    "raiseFirstInChance": ("rfi", "chance"),
    "raisedFirstIn": ("rfi", "done"),
    "foldBbToStealChance": ("fold_to_steal_bb", "chance"),
    "foldedBbToSteal": ("fold_to_steal_bb", "done"),
    "street1CBChance": ("cbet_flop", "chance"),
    "street1CBDone": ("cbet_flop", "done"),
    "foldToStreet1CBChance": ("fold_to_cbet_flop", "chance"),
    "foldToStreet1CBDone": ("fold_to_cbet_flop", "done"),
    "street1Seen": ("saw_flop", "done"),
    "street2Seen": ("saw_turn", "done"),
    "street3Seen": ("saw_river", "done"),
    "sawShowdown": ("showdown", "done"),
}
PLACES = {"S": "SB", "B": "BB", 0: "BTN", 1: "CO", 2: "HJ", 3: "MP", 4: "MP2", 5: "UTG"}


def _needs(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: its hands cannot be counted")
    return path


@pytest.fixture(scope="module")
def pluribus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Counter[str]]]:
    """The hands in a ledger, and what a naive reader makes of their texts."""
    from api.main import main

    folder = tmp_path_factory.mktemp("pluribus")
    with tarfile.open(_needs(PLURIBUS)) as tar:
        found = tar.getmembers()[:: sized(24, 6, 1)]
        tar.extractall(folder / "hands", [one for one in found if one.isfile()])
    assert 0 == main(["import", str(folder / "hands"), "--ledger", str(folder / "ledger")])
    texts = (path.read_text("utf-8") for path in sorted((folder / "hands").rglob("*.phh")))
    return folder / "ledger", counted(tomllib.loads(text) for text in texts)


def test_pluribus_is_counted_as_by_a_second_reader(
    pluribus: tuple[Path, dict[str, Counter[str]]],
) -> None:
    """Every statistic of the reference tables, player by player, from the texts alone."""
    ledger, naive = pluribus
    names = sorted({name.rpartition("_")[0] for one in naive.values() for name in one})
    known = [name for name in names if name in STATISTICS]
    assert len(known) >= 20
    found = {(one["player"], one["statistic"]): one for one in ask(known, ledger).to_dicts()}
    for player, mine in naive.items():
        for name in known:
            one = found[player, name]
            if STATISTICS[name].kind == "sum":
                assert mine[f"{name}_k"] / 2 == one["value"], (player, name)
            else:
                assert (mine[f"{name}_k"], mine[f"{name}_n"]) == (one["k"], one["n"]), (
                    player,
                    name,
                )


def test_pluribus_is_what_the_reference_says(
    pluribus: tuple[Path, dict[str, Counter[str]]],
) -> None:
    ledger, naive = pluribus
    hands = naive["Pluribus"]["vpip_all_n"]
    if hands != 10_000:
        pytest.skip(f"{SHARED / PLURIBUS} has {hands} hands of the 10,000 that the table counts")
    rows = {(one["player"], one["statistic"]): one for one in ask("all", ledger).to_dicts()}
    for player, (dealt, entered, asked, raised, again, chances) in REFERENCE.items():
        expected = ((entered, asked), (raised, asked), (again, chances), (entered, dealt))
        names = ("vpip", "pfr", "three_bet", "vpip_all")
        assert expected == tuple((rows[player, it]["k"], rows[player, it]["n"]) for it in names)


@cache
def _flags(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = ast.literal_eval(path.read_text("utf-8"))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "LHE-USD-1.00-200508.BB.and.Button.same.player.txt",
        "NLHE-FR-USD-0.01-0.02-201004.4betPF.txt",
    ],
)
def test_the_flags_of_fpdb_are_ours(capsys: Captured, tmp_path: Path, name: str) -> None:
    """Hold'em hands of the one site we read; where definitions differ, docs/statistics.md says."""
    text = _needs(f"pokerstars/fpdb/cash/Stars/Flop/{name}")
    printed(capsys, "import", str(text), "--ledger", str(tmp_path))
    query = snapshot_query(Reader(tmp_path).snapshot())
    rows = {row["player"]: row for row in query.rows("SELECT * FROM facts")}
    theirs = _flags(text.with_name(f"{name}.hp"))
    assert set(theirs) == set(rows)
    for player, flags in theirs.items():
        row = rows[player]
        for flag, (column, what) in FLAGS.items():
            mine = row[column] is not None if what == "chance" else bool(row[column])
            assert bool(flags.get(flag, False)) == mine, (player, flag)
        assert (flags["totalProfit"], flags["winnings"]) == (row["net"], row["collected"])
        assert PLACES[flags["position"]] == row["position"]

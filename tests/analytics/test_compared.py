"""Two players beside each other: as their decks, their hands or their statistics say."""

import csv
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest

from analytics.intervals import Share, newcombe, student
from analytics.p_values import holm
from analytics.player_comparison import comparisons
from analytics.sql import HandFilters
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import find_statistics, snapshot_query
from api.main import main
from store.reader import Reader
from tests.sessions import Captured, printed, said, told


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mirrored match, two of one seed in which the dealer differs, one of other cards."""
    made = tmp_path_factory.mktemp("compared") / "ledger"
    for match, seed, bots, mirror in (
        ("mirrored", "5", "random,tight", ["--mirror"]),
        ("first", "7", "random,tight", []),
        ("second", "7", "caller,tight", []),
        ("third", "9", "caller,random", []),
    ):
        words = ["auction-2024", "--hands", "120", "--bots", bots, "--seed", seed, *mirror]
        assert main(["play", *words, "--match", match, "--ledger", str(made)]) == 0
    return made


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))


def nets(here: Path, match: str, player: str) -> list[float]:
    """His net of each hand, in order."""
    found = []
    for leaf in Reader(here).snapshot().leaves(-1):
        if leaf.hand is not None and leaf.stream.startswith(f"{match}/"):
            seat = leaf.hand.start.players.index(player)
            found.append(float(leaf.hand.stacks[seat] - leaf.hand.start.stacks[seat]))
    return found


def test_of_a_mirrored_match_the_unit_is_the_deck(here: Path, capsys: Captured) -> None:
    """Same deals: the paired difference; 120 hands are 60 decks."""
    found = told(capsys, "compare", "random-0", "tight-1", "--match", "mirrored")
    one = found["statistics"]["net_hand"]
    mine, his = (nets(here, "mirrored", name) for name in ("random-0", "tight-1"))
    apart = [
        (a - c + b - d) / 2
        for a, b, c, d in zip(mine[::2], mine[1::2], his[::2], his[1::2], strict=True)
    ]
    assert (60, "paired", -1) == (one["shared"], one["method"], round(one["together"], 9))
    held = student(fmean(apart), stdev(apart), 60)
    assert (one["low"], one["high"]) == pytest.approx(held, abs=1e-6)
    assert one["drawn_low"] == pytest.approx(one["low"], rel=0.35)


def test_matches_of_one_seed_pair_two_versions_hand_by_hand(here: Path, capsys: Captured) -> None:
    found = told(capsys, "compare", "tight-1", "tight-1", "--match", "first", "--match", "second")
    one = found["statistics"]["net_hand"]
    apart = [
        a - b
        for a, b in zip(
            nets(here, "first", "tight-1"), nets(here, "second", "tight-1"), strict=True
        )
    ]
    assert (120, "paired") == (one["shared"], one["method"])
    held = student(fmean(apart), stdev(apart), 120)
    assert (one["low"], one["high"]) == pytest.approx(held, abs=1e-6)


def test_only_who_may_know_a_seed_is_told_that_it_paired_them(capsys: Captured) -> None:
    words = (
        "compare",
        "tight-1",
        "tight-1",
        "--match",
        "first",
        "--match",
        "second",
        "--as",
        "public",
    )
    one = told(capsys, *words)["statistics"]["net_hand"]
    assert (0, 0, "welch") == (one["shared"], one["together"], one["method"])


def test_what_no_deal_pairs_is_welchs_and_newcombes(here: Path, capsys: Captured) -> None:
    words = ("--match", "first", "--match", "third")
    found = told(capsys, "compare", "random-0", "random-1", *words)
    one = found["statistics"]["net_hand"]
    mine, his = nets(here, "first", "random-0"), nets(here, "third", "random-1")
    error = sqrt(stdev(mine) ** 2 / 120 + stdev(his) ** 2 / 120)
    assert (0, "welch") == (one["shared"], one["method"])
    assert 2 * 1.97 * error == pytest.approx(one["high"] - one["low"], rel=0.005)
    counted = [
        told(capsys, "stats", name, "--match", match)["players"][0]["stats"]
        for name, match in (("random-0", "first"), ("random-1", "third"))
    ]
    shares = [it.name for it in STATISTICS.values() if it.kind == "share"]
    for name in shares:
        mine_told, his_told = (it[name] for it in counted)
        both = found["statistics"][name]
        assert (mine_told["k"], mine_told["n"]) == (both["one_k"], both["one_n"])
        assert (his_told["k"], his_told["n"]) == (both["other_k"], both["other_n"])
        if both["difference"] is not None:
            shares_told = [Share(it["k"], it["n"]) for it in (mine_told, his_told)]
            ends = newcombe(shares_told[0], shares_told[1])
            assert ends == pytest.approx((both["low"], both["high"]), abs=1e-8)
            assert "newcombe" == both["method"]


def test_a_ratio_has_the_ends_of_both_drawn_again(capsys: Captured) -> None:
    words = ("--match", "first", "--match", "mirrored")
    one = told(capsys, "compare", "random-0", "random-0", *words)["statistics"]["af"]
    assert "bootstrap" == one["method"]
    assert one["low"] < one["difference"] < one["high"]
    assert one["p"] is None


def test_each_p_counts_among_all_that_were_compared(capsys: Captured) -> None:
    found = told(capsys, "compare", "random-0", "tight-1")
    tested = [one for one in found["statistics"].values() if one["p"] is not None]
    assert len(tested) == found["compared"] > 5
    assert holm([one["p"] for one in tested]) == pytest.approx([one["counted"] for one in tested])
    assert {True} == {min(one["one_n"], one["other_n"]) >= 30 for one in tested}


def test_whatever_file_counts_a_statistic_its_p_stays_its_own(here: Path) -> None:
    """Files are asked one after the other; the answer is in the order asked for."""
    wanted = find_statistics(("vpip", "net_hand", "pfr", "bb_100"))
    files = tuple(dict.fromkeys(one.file for one in wanted))
    assert len(files) == 2
    query = snapshot_query(Reader(here).snapshot())
    sides = (HandFilters(player="random-0"), HandFilters(player="tight-1"))
    found = comparisons(query, sides, {}, wanted, files)
    query.close()
    assert [one.name for one in wanted] == [one.statistic for one in found]
    tested = [one.p for one in found if one.p is not None]
    assert holm(tested) == pytest.approx([one.p_adjusted for one in found])


def test_a_person_reads_who_wins_more_first(capsys: Captured) -> None:
    assert main(["compare", "random-0", "tight-1", "--vs", "caller-0"]) == 5
    capsys.readouterr()
    assert main(["compare", "random-0", "tight-1", "--match", "mirrored"]) == 0
    out, err = capsys.readouterr()
    head, first, *_ = out.splitlines()
    assert ["", "random-0", "tight-1", "difference", "95 % interval"] == head.split("\t")[:5]
    assert "Net a hand" == first.split("\t")[0]
    assert "random-0 less tight-1   120 hands and 120 hands   60 deals pair them" in err
    assert "one in twenty differs by chance" in err


def test_a_street_is_asked_for_alone(capsys: Captured) -> None:
    found = told(capsys, "compare", "random-0", "tight-1", "--street", "turn")
    assert {"turn"} == {STATISTICS[name].street for name in found["statistics"]}


def test_the_answer_goes_into_files(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "compared.csv"
    printed(capsys, "compare", "random-0", "tight-1", "--csv", str(file))
    rows = list(csv.DictReader(file.open(encoding="utf-8")))
    assert "net_hand" == rows[0]["statistic"]
    assert {"difference", "low", "high", "shared", "p", "counted", "drawn_low"} <= set(rows[0])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("random-0", "random-0"), 2, "name a match of each"),
        (("random-0", "nobody"), 5, "nobody called nobody was dealt a hand"),
        (
            ("random-0", "caller-0", "--match", "first"),
            5,
            "caller-0 was dealt no such hand in first",
        ),
        (("random-0", "tight-1", *["--match", "first"] * 3), 2, "once for both, or twice"),
        (("random-0", "tight-1", "--as", "seat:x"), 4, "x has no seat in any hand here"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(
    words: tuple[str, ...], code: int, sentence: str, capsys: Captured
) -> None:
    assert sentence in said(capsys, code, "compare", *words)

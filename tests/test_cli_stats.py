"""Players asked about from the command line: statistics, grids, viewpoints, and refusals."""

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analytics.intervals import wilson
from analytics.sql import HandFilters
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import (
    UnknownStatistic,
    ask,
    snapshot_query,
    sql_file_rows,
    statistic_values,
)
from api.main import main
from api.questions.declared.opponent import _timing_sentences
from api.questions.player_measures import Drawn
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from store.ledger import open_ledger
from store.reader import Reader
from store.tables.projection import STANDARD
from tests.profiles import sized
from tests.sessions import Captured, name, printed, said, told

pytestmark = pytest.mark.usefixtures("chosen")


def test_every_statistic_comes_with_its_opportunities_and_interval(capsys: Captured) -> None:
    document = told(capsys, "stats", "random-0", "--match", "scrim")
    (player,) = document["players"]
    assert ("random-0", 40) == (player["player"], player["hands"])
    assert list(STATISTICS) == list(player["stats"])
    for one in player["stats"].values():
        assert {"value", "k", "n", "low", "high", "unit"} == set(one)
    vpip = player["stats"]["vpip"]
    assert vpip["value"] == vpip["k"] / vpip["n"]
    assert wilson(vpip["k"], vpip["n"]) == (vpip["low"], vpip["high"])


def test_all_players_are_listed_those_with_most_hands_first(capsys: Captured) -> None:
    head, *rows = printed(capsys, "stats").splitlines()
    assert head.split("\t")[:3] == ["player", "hands", "VPIP"]
    hands = [int(row.split("\t")[1]) for row in rows]
    assert sorted(hands, reverse=True) == hands
    assert len(rows) == 4


def test_filters_leave_what_they_say(capsys: Captured) -> None:
    """Of the parts of a split, the counts add up to those of the whole."""

    def hands(*words: str) -> list[int]:
        return [one["hands"] for one in told(capsys, "stats", "random-0", *words)["players"]]

    (all_hands,) = hands()
    assert 52 == all_hands
    for by in ("position", "game", "match"):
        assert 52 == sum(hands("--by", by))
    assert [12] == hands("--vs", "random-3")
    assert [40] == hands("--game", "auction-2024")
    assert [10] == hands("--match", "scrim", "--hands", "11-20")
    assert [20] == hands("--before", "scrim/21")
    there = told(capsys, "stats", "random-0", "--by", "position")["players"]
    assert {one["position"]: one["hands"] for one in there} == {
        one["position"]: hands("--position", one["position"])[0] for one in there
    }


def test_a_split_names_the_part_in_every_line(capsys: Captured) -> None:
    head, *lines = printed(capsys, "stats", "random-0", "--by", "match").splitlines()
    assert "match" == head.split("\t")[0]
    assert {"scrim", "pairs"} == {line.split("\t")[0] for line in lines}


def test_only_a_street_is_told(capsys: Captured) -> None:
    (player,) = told(capsys, "stats", "random-0", "--street", "turn")["players"]
    names = {one.name for one in STATISTICS.values() if one.street == "turn"}
    assert names == set(player["stats"])
    assert "af_turn" in names


def test_answers_go_into_files(capsys: Captured, tmp_path: Path) -> None:
    table, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    assert "" == printed(capsys, "stats", "--csv", str(table), "--parquet", str(parquet))
    with table.open() as text:
        rows = list(csv.DictReader(text))
    frame = pl.read_parquet(parquet)
    assert 4 * len(STATISTICS) == len(rows) == frame.height
    assert {"player", "part", "statistic", "value", "k", "n", "low", "high", "unit"} == set(rows[0])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("nobody",), 5, "nobody called nobody was dealt a hand: muckrake stats lists who was"),
        (("random-0", "--vs", "o'hara"), 5, "nobody called o'hara was dealt a hand: muckrake"),
        (("random-0", "--vs", "random-0"), 2, "random-0 has no hands against himself"),
        (("--match", "final"), 5, "there is no hand of match final"),
        (("--game", "chess"), 5, "there is no hand of game chess"),
        (("--hands", "20-10"), 2, "20-10 is no range of hands: 101-200 is one"),
        (("--before", "scrim/999"), 5, "there is no hand scrim/999: muckrake hands lists those"),
        (("--as", "seat:moth"), 4, "moth has no seat in any hand here"),
        (("--as", "god"), 2, "god is no viewpoint: there are public, seat:NAME and auditor"),
        (("--csv", "/nowhere/a.csv"), 1, "cannot be written"),
    ],
)
def test_what_cannot_be_told_is_refused_in_a_sentence(
    capsys: Captured, words: tuple[str, ...], code: int, sentence: str
) -> None:
    assert said(capsys, code, "stats", *words).startswith(sentence)


def test_no_ledger_is_not_found(capsys: Captured, tmp_path: Path) -> None:
    assert "there is no ledger in" in said(capsys, 5, "stats", "--ledger", str(tmp_path / "no"))


# The grid, and who may see which cards.


def test_a_grid_has_the_hands_whose_cards_are_known(capsys: Captured) -> None:
    document = told(capsys, "grid", "random-0", "--match", "scrim")
    assert (40, 40) == (document["hands"], document["known"])
    assert 40 == sum(cell["hands"] for cell in document["cells"])
    lines = printed(capsys, "grid", "random-0", "--show", "n").splitlines()
    assert 14 == len(lines)
    assert 52 == sum(
        int(cell) for line in lines[1:] for cell in line.split("\t")[1:] if cell != "."
    )


def test_a_viewpoint_knows_its_own_cards_and_those_that_were_shown(capsys: Captured) -> None:
    """Never filled with the auditor's knowledge."""

    def known(player: str, view: str) -> int:
        words = ("grid", player, "--match", "scrim", "--as", view)
        found: int = told(capsys, *words)["known"]
        return found

    assert 40 == known("random-0", "auditor") == known("random-0", "seat:random-0")
    shown = known("random-0", "public")
    assert 0 < shown < 40
    assert shown == known("random-0", "seat:random-1")
    (player,) = told(capsys, "stats", "random-0", "--match", "scrim", "--as", "public")["players"]
    assert (40, shown) == (player["hands"], player["known"])


def test_hidden_cards_change_no_answer(capsys: Captured, tmp_path: Path) -> None:
    """Two worlds: other cards where this viewpoint may not look, and the same bytes for it."""
    told_by: list[str] = []
    for world in ("one", "two"):
        folder = tmp_path / world
        ledger, lock = open_ledger(folder, "test", STANDARD)
        for hand in play(GAMES["auction-2024"], "w", 30, "s"):
            events = tuple(_swapped(one) for one in hand) if world == "two" else hand
            if not any(type(one).__name__ == "Shown" for one in hand):
                hand = events
            ledger.append(Append(name(hand), 0, hand, 1))
        ledger.close()
        lock.release()
        answers = [
            printed(capsys, *words, "--json", "--as", "public", "--ledger", str(folder))
            for words in (("stats",), ("grid", "random-0"), ("grid", "random-1"))
        ]
        told_by.append("".join(answers))
    assert told_by[0] == told_by[1]


def _swapped(event: Any) -> Any:
    """Other hole cards: those of a hand that nobody shows can be any."""
    if type(event).__name__ != "HoleDealt" or len(event.cards) != 2:
        return event
    return type(event)(event.seat, ("As", "Ad") if event.seat else ("2c", "7h"))


def test_an_open_match_is_open_here_too(capsys: Captured, tmp_path: Path) -> None:
    words = ("--ledger", str(tmp_path))
    opened = ("play", "auction-2024", "--hands", "20", "--seed", "1", "--disclosure", "open")
    assert main([*opened, *words]) == 0
    capsys.readouterr()
    document = told(capsys, "grid", "random-0", "--as", "public", *words)
    assert (20, 20) == (document["hands"], document["known"])


# Facts are kept, or made on the way.


def test_facts_are_sealed_and_old_segments_get_them_by_compacting(
    capsys: Captured, tmp_path: Path
) -> None:
    ledger, lock = open_ledger(tmp_path, "test", STANDARD)
    for hand in play(GAMES["site-nl"], "old", 30, "s"):
        ledger.append(Append(name(hand), 0, hand, 1))
    ledger.seal()
    ledger.close()
    lock.release()
    words = ("--ledger", str(tmp_path))
    before = printed(capsys, "stats", "--json", *words)
    assert not list(tmp_path.glob("segments/facts*"))
    assert main(["compact", *words]) == 0
    capsys.readouterr()
    assert list(tmp_path.glob("segments/facts*"))
    assert before == printed(capsys, "stats", "--json", *words)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(49.6, 90.2, "longer"), (-90.2, -49.6, "shorter"), (-3.0, 40.0, None), (None, None, None)],
)
def test_a_leak_of_time_is_told_where_it_is_sure(
    low: float | None, high: float | None, expected: str | None
) -> None:
    said = f"time tells: {expected} with strong cards than with weak ones, by 50 to 90 ms"
    assert ([said] if expected else []) == list(
        _timing_sentences(Drawn(0.0, None, 60, low, high, None))
    )


def test_python_gets_a_frame(folder: Path) -> None:
    frame = ask(["vpip", "af"], folder, player="random-1", by="match")
    assert [("pairs", "vpip"), ("pairs", "af"), ("scrim", "vpip"), ("scrim", "af")] == frame.select(
        "part", "statistic"
    ).rows()
    assert ask("grid", str(folder), player="random-1")["hands"].sum() == 52
    with pytest.raises(UnknownStatistic, match="there is no statistic luck: vpip, "):
        ask("luck", folder)


def test_counting_alike_hands_together_changes_no_answer(folder: Path) -> None:
    """Each file over the facts themselves, and over the ways that hands were played."""
    query = snapshot_query(Reader(folder).snapshot())
    more = (HandFilters(), HandFilters(vs="random-0", hands=(5, 30)))
    for chosen in (HandFilters(by="opponent"), *sized((), more[1:], more)):
        by_file = {
            file: {(it["player"], it["part"]): it for it in sql_file_rows(file, query, chosen)}
            for file in {one.file for one in STATISTICS.values()}
        }
        for one in STATISTICS.values():
            plain = by_file[one.file]
            for mine in statistic_values(query, chosen, (one,)):
                row = plain[mine.player, mine.part]
                assert mine.n == (row[f"{one.prefix}_n"] or 0)
                if one.kind in ("share", "ratio"):
                    assert mine.k == (row[f"{one.prefix}_k"] or 0)
    query.close()

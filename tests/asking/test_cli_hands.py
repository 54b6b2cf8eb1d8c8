"""`muckrake hands` with filters: what it lists, counts and refuses, for whom."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.ledger import LEDGER_VARIABLE
from api.main import main
from events import types as t
from tests.exports import ledger_of, started
from tests.profiles import sized
from tests.sessions import Captured, dealt, forged, printed, said, told

pytestmark = pytest.mark.usefixtures("chosen")
KEYS = (
    *("hand", "match", "number", "game", "players", "board", "street", "pot", "net", "unit"),
    *("showdown", "void", "winners", "verdict", "at", "played"),
)


def listed(capsys: Captured, *words: str) -> list[str]:
    return [row["hand"] for row in told(capsys, "hands", *words)["hands"]]


def test_a_row_has_what_one_has_over_http_but_its_line(capsys: Captured) -> None:
    (row,) = told(capsys, "hands", "--limit", "1")["hands"]
    assert KEYS == tuple(row)
    assert ("scrim/1", 1, None) == (row["hand"], row["number"], row["verdict"])
    assert set(row["winners"]) <= set(row["players"])


def test_a_filter_finds_what_a_reader_would_find(capsys: Captured) -> None:
    shown = [row for row in told(capsys, "hands")["hands"] if row["showdown"] and row["pot"] > 20]
    assert shown
    assert [row["hand"] for row in shown] == listed(capsys, "pot>20 & showdown")
    of_pairs = [row["hand"] for row in shown if row["match"] == "pairs"]
    assert of_pairs == listed(capsys, "pot>20 & showdown", "--match", "pairs")
    assert of_pairs == listed(capsys, "pot>20 & showdown & match=pairs")
    scrim = told(capsys, "hands", "pot>20 | match=nothing", "--match", "scrim")["hands"]
    assert {"scrim"} == {row["match"] for row in scrim}


def test_pages_of_a_filter_go_on_where_they_ended(capsys: Captured) -> None:
    every = listed(capsys, "showdown")
    for newest in ((), ("--newest",)):
        seen: list[str] = []
        words: tuple[str, ...] = ()
        while True:
            page = told(capsys, "hands", "showdown", "--limit", sized("14", "7"), *newest, *words)
            seen += [row["hand"] for row in page["hands"]]
            if page["next"] is None:
                break
            words = ("--after", page["next"])
        assert (every[::-1] if newest else every) == seen


def test_the_newest_are_the_last(capsys: Captured) -> None:
    assert ["pairs/12", "pairs/11"] == listed(capsys, "--newest", "--limit", "2")


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("pot ~ 3", 4, "at 4: after `pot` there can stand = != < <= > >=, not `~`"),
        (
            "walk &",
            6,
            "at 6: after `&` there can stand a field, a flag, NAME:, player(, ! or (, not the end",
        ),
        (
            "\tpott=1",
            1,
            "at 1: there is no field or flag `pott`: there are pot, net, collected, bid",
        ),
    ],
)
def test_a_wrong_filter_is_misuse_and_shows_where(
    capsys: Captured, text: str, column: int, sentence: str
) -> None:
    assert 2 == main(["hands", text, "--json"])
    out, err = capsys.readouterr()
    said_, shown, mark = err.splitlines()
    assert "" == out
    assert said_.startswith(f"muckrake: {sentence}")
    assert f"  {text.replace(chr(9), ' ')}" == shown
    assert f"  {' ' * column}^" == mark


def test_a_long_wrong_filter_is_shown_around_its_fault(capsys: Captured) -> None:
    text = f"{' ' * 300}walk | pott=1"
    assert 2 == main(["hands", text])
    _, shown, mark = capsys.readouterr().err.splitlines()
    assert len(shown) <= 102
    assert "pott=1" == shown[mark.index("^") :]


def test_verdicts_are_judged_when_the_filter_asks_for_them(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path))
    judged = json.loads(printed(capsys, "audit", "--all", "--json"))["hands"]
    audited = {one["hand"]: one["verdict"] for one in judged}
    rows = told(capsys, "hands", "verdict=agree | !verdict=agree")["hands"]
    assert audited == {row["hand"]: row["verdict"] for row in rows}
    assert [hand for hand, verdict in audited.items() if verdict == "contested"] == listed(
        capsys, "contested"
    )


def test_a_forged_hand_differs(capsys: Captured, tmp_path: Path) -> None:
    first, second, *_ = dealt()
    *rest, split, end = second
    assert isinstance(split, t.PotSplit)
    wrong = t.PotSplit(split.pot, split.seats, tuple(share + 1 for share in split.shares))
    words = forged(tmp_path, first, (*rest, wrong, end))
    assert ["scrim/2"] == listed(capsys, "verdict=differ", *words)


def test_facets_count_what_filters_find(capsys: Captured) -> None:
    document = json.loads(printed(capsys, "hands", "showdown", "--facets", "--json"))
    assert "muckrake.facets/1" == document.pop("schema")
    assert len(listed(capsys, "showdown")) == document.pop("hands")
    assert 0 == document.pop("unjudged")
    for values in document.values():
        for one in values[:: sized(3, 1)]:
            assert one["hands"] == len(listed(capsys, one["filter"]))
    header, hands, *_ = printed(capsys, "hands", "showdown", "--facets").splitlines()
    assert ["facet", "value", "hands", "filter"] == header.split("\t")
    assert ["hands", "", str(len(listed(capsys, "showdown"))), ""] == hands.split("\t")


def test_a_viewpoint_finds_only_by_what_it_sees(capsys: Captured) -> None:
    """Hidden cards pass neither a pattern nor its opposite; shown ones and one's own do."""
    hands = {
        view: {sign: set(listed(capsys, f"{sign}hole=??", "--as", view)) for sign in ("", "!")}
        for view in ("auditor", "public", "seat:random-0")
    }
    rows = told(capsys, "hands")["hands"]
    assert {row["hand"] for row in rows} == hands["auditor"][""]
    assert {row["hand"] for row in rows if row["showdown"]} == hands["public"][""]
    assert {row["hand"] for row in rows} == hands["seat:random-0"][""]
    assert {frozenset()} == {frozenset(found["!"]) for found in hands.values()}
    aces = {sign: set(listed(capsys, f"{sign}hole=A?", "--as", "public")) for sign in ("", "!")}
    assert aces[""] | aces["!"] <= hands["public"][""]


def test_nobody_but_an_auditor_is_told_a_verdict_of_a_sealed_match(capsys: Captured) -> None:
    assert [] == listed(capsys, "verdict=agree | !verdict=agree", "--as", "public")
    document = json.loads(printed(capsys, "hands", "--facets", "--json", "--as", "public"))
    assert [] == document["verdict"]


def test_in_an_open_match_everybody_is_told(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = dealt()[:6]
    ledger_of(tmp_path, records, [started(records[0], disclosure="open")])
    monkeypatch.setenv(LEDGER_VARIABLE, str(tmp_path))
    told_: Any = [listed(capsys, "verdict=agree", "--as", view) for view in ("public", "auditor")]
    assert told_[0] == told_[1] != []


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        (
            5,
            ("walk", "--match", "x"),
            "there is no match x: muckrake matches lists",
        ),
        (5, ("walk", "--after", "x/1"), "there is no hand x/1 that has ended"),
        (5, ("walk", "--after", "scrim"), "there is no hand scrim that has ended"),
        (4, ("walk", "--as", "seat:nobody"), "nobody"),
        (2, ("walk", "--as", "nobody"), "nobody is no viewpoint"),
    ],
)
def test_what_cannot_be_listed_is_said(
    capsys: Captured, code: int, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(capsys, code, "hands", *words)

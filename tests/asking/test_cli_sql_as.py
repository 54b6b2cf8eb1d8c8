"""`muckrake sql --as VIEW`: the same question, and as much of the answer as a viewpoint may see."""

import pytest

from tests.sessions import Captured, printed, said, told

pytestmark = pytest.mark.usefixtures("chosen")
HOLES = "SELECT hand, player, showed, hole FROM players WHERE match = 'scrim' ORDER BY ALL"


def test_whoever_asks_is_told_what_he_may_see(capsys: Captured) -> None:
    everything = told(capsys, "sql", HOLES)["rows"]
    for view, own in (
        ("public", None),
        ("seat:random-0", "random-0"),
        ("seat:random-1", "random-1"),
    ):
        rows = told(capsys, "sql", HOLES, "--as", view)["rows"]
        assert len(everything) == len(rows) == 80
        for whole, row in zip(everything, rows, strict=True):
            known = row["showed"] or row["player"] == own
            hidden = {"hole": " ".join("hidden" for _ in whole["hole"].split())}
            assert (whole if known else {**whole, **hidden}) == row


def test_money_and_actions_are_everybody_s(capsys: Captured) -> None:
    for sql in (
        "SELECT player, sum(net) AS net FROM players GROUP BY ALL ORDER BY ALL",
        "SELECT seat, sum(amount) AS n FROM events WHERE type = 'Raised' GROUP BY ALL ORDER BY ALL",
        "SELECT * EXCLUDE (first_pos, last_pos) FROM hands ORDER BY hand_seq",
    ):
        everything = printed(capsys, "sql", sql)
        seen = sql.replace(" EXCLUDE (first_pos, last_pos)", "")
        assert everything.count("\n") > 2
        assert everything == printed(capsys, "sql", seen, "--as", "public")


def test_positions_are_the_auditor_s(capsys: Captured) -> None:
    assert told(capsys, "sql", "SELECT max(pos) AS pos FROM events")["rows"][0]["pos"] > 0
    assert "pos" in said(capsys, 1, "sql", "SELECT max(pos) FROM events", "--as", "public")


def test_a_view_can_be_described_by_who_asks_it(capsys: Captured) -> None:
    columns = {
        view: [row["column_name"] for row in told(capsys, "sql", "DESCRIBE events", *words)["rows"]]
        for view, words in (("auditor", ()), ("public", ("--as", "public")))
    }
    assert {"pos", "told"} == set(columns["auditor"]) - set(columns["public"])
    assert {"changed", "redacted"} == set(columns["public"]) - set(columns["auditor"])


@pytest.mark.parametrize(
    ("code", "view", "sentence"),
    [
        (4, "seat:moth", "moth has no seat in any hand here"),
        (2, "seat:", "seat: is no viewpoint: there are public, seat:NAME and auditor"),
        (2, "god", "god is no viewpoint: there are public, seat:NAME and auditor"),
    ],
)
def test_a_viewpoint_that_is_nobody_s_is_refused(
    capsys: Captured, code: int, view: str, sentence: str
) -> None:
    assert sentence in said(capsys, code, "sql", "SELECT 1", "--as", view)


def test_no_file_and_no_other_table_is_read_for_anybody(capsys: Captured) -> None:
    for view in ("public", "seat:random-0", "auditor"):
        for sql in ("FROM '/etc/passwd'", "FROM duckdb_views", "FROM facts"):
            assert "there is no table" in said(capsys, 1, "sql", sql, "--as", view)


def test_the_answer_is_a_document_or_a_table(capsys: Captured) -> None:
    words = ("sql", "SELECT 1 + count(*) AS n FROM hands WHERE pot < 0", "--as", "public")
    assert {"rows": [{"n": 1}]} == told(capsys, *words)
    assert "n\n1\n" == printed(capsys, *words)

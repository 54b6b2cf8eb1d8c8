"""A tossed card wherever a hand is told: tables, filters, its line, its frames, other formats."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.faults import fault
from engine.game import Game
from engine.games.pokerbots import TOSS_2026_MIT
from engine.steps import DealBoard, DealHole, TossHole
from tests.formats.test_format_mit_toss import TOSS
from tests.sessions import Captured, printed, said


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A ledger with a match of two hands, of which the second ends at the second toss."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    log = tmp_path / "log.txt"
    log.write_text(TOSS)
    printed(capsys, "import", str(log), "--match", "m")


def _table(capsys: Captured, query: str) -> list[list[str]]:
    rows = printed(capsys, "sql", query).splitlines()[1:]
    return [row.split("\t") for row in rows]


def test_a_player_holds_what_he_kept_and_the_board_what_was_tossed(
    told: None, capsys: Captured
) -> None:
    held = "SELECT number, hole FROM players WHERE match = 'm' ORDER BY number, seat"
    assert _table(capsys, held) == [
        *(["1", "As Ah"], ["1", "Ks Kh"]),
        *(["2", "Td Jd"], ["2", "9s 9h 4c"]),
    ]
    boards = _table(capsys, "SELECT board FROM hands ORDER BY number")
    assert [["7c 8d 3d 2c Qs 5h"], ["7h 8c 6s"]] == boards


def test_streets_are_those_that_the_game_names(told: None, capsys: Captured) -> None:
    """On the flop lie four cards; a fold of who tossed none faces the toss, and is a flop's."""
    acts = _table(
        capsys,
        "SELECT number, street, action, faced, length(board) FROM decisions"
        " WHERE action IN ('bet', 'fold') ORDER BY number",
    )
    assert [["1", "flop", "bet", "nothing", "11"], ["2", "flop", "fold", "toss", "8"]] == acts
    for street, hand in (("river", "m/1"), ("flop", "m/2")):
        found = printed(capsys, "hands", f"street={street}").splitlines()[1:]
        assert [hand] == [row.split("\t")[0] for row in found]


def test_a_toss_is_a_decision_and_its_card_an_event(told: None, capsys: Captured) -> None:
    """It is of the flop, where it comes first; the last to toss sees the other's card."""
    tosses = _table(
        capsys,
        "SELECT d.number, d.street, d.place, d.faced, d.hole, d.board, e.cards FROM decisions AS d"
        " JOIN events AS e ON e.hand_seq = d.hand_seq AND e.idx = d.idx WHERE d.action = 'toss'"
        " ORDER BY d.number, d.idx",
    )
    assert [
        *(["1", "flop", "1", "toss", "Ks Kh 3d", "7c 8d", "3d"],),
        *(["1", "flop", "2", "toss", "As Ah 2c", "7c 8d 3d", "2c"],),
        *(["2", "flop", "1", "toss", "Td Jd 6s", "7h 8c", "6s"],),
    ] == tosses
    public = "SELECT count(hole), count(*) FROM decisions WHERE action = 'toss'"
    assert [["0", "3"]] == [
        row.split("\t") for row in printed(capsys, "sql", "--as", "public", public).splitlines()[1:]
    ]


def test_luck_and_odds_of_its_hands_are_not_counted(told: None, capsys: Captured) -> None:
    swaps = json.loads(printed(capsys, "swaps", "--json"))
    assert {False} == {"luck" in one["measures"] for one in swaps["players"]}
    assert "toss-2026-mit" in swaps["uncounted"]
    assert [0, 0] == [swaps["closed"], json.loads(printed(capsys, "results", "--json"))["counted"]]


def test_its_line_and_its_frames_have_the_card(told: None, capsys: Captured) -> None:
    hand = json.loads(printed(capsys, "get", "hands/m/1"))
    assert " | 7c8d 4 [b -3d, a -2c] X B3 C | " in hand["line"]
    drawn = json.loads(printed(capsys, "get", "hands/m/1/frames"))
    assert [mark["name"] for mark in drawn["marks"]] == [
        *("preflop", "flop", "toss", "flop", "turn", "river", "showdown", "end")
    ]
    tossed = next(frame for frame in drawn["frames"] if frame["type"] == "Tossed")
    assert (["7c", "8d", "3d"], ["Ks", "Kh"]) == (tossed["board"], tossed["seats"][1]["cards"])
    assert {None} == {seat["odds"] for frame in drawn["frames"] for seat in frame["seats"]}


@pytest.mark.parametrize("form", ["phh", "acpc", "ohh", "pokerstars"])
def test_a_format_without_a_toss_refuses_it(
    told: None, capsys: Captured, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "out.phhs"
    sentence = said(capsys, 1, "export", "m", "--format", form, "--out", str(out))
    assert "has no code for toss-2026-mit: its sequence of play is its own" in sentence


SCRIPT = TOSS_2026_MIT.script
FAULTS: dict[str, tuple[object, ...]] = {
    "two to each seat, or three if one is tossed": (SCRIPT[0], DealHole(2), *SCRIPT[2:]),
    "its lines say how many each seat is dealt": (*SCRIPT[:3], DealBoard(2, "flop"), *SCRIPT[4:]),
    "by two players who keep two": (*SCRIPT[:4], TossHole(1), *SCRIPT[5:]),
    "right after the first cards of the board": (*SCRIPT[:4], SCRIPT[5], SCRIPT[4], *SCRIPT[6:]),
    "tossed cards included": (*SCRIPT[:6], DealBoard(4, "turn", 3), *SCRIPT[7:]),
}


@pytest.mark.parametrize("why", FAULTS)
def test_a_script_that_cannot_be_played_is_refused(why: str) -> None:
    game: Game = replace(TOSS_2026_MIT, script=FAULTS[why])
    assert why in (fault(game) or "")

"""Filters of hands: an answer over some hands is that of a ledger which holds no others.

`--vs`, `--match`, `--game`, `--numbers` and `--before` mean the same to every question.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from api.main import main
from dealer.deck import SeededDecks
from dealer.play import hand_records, plan
from engine.games import named
from events.ledger import Append, is_match
from events.types import HandStarted
from store.ledger import open_ledger
from store.log.streams import split_stream
from store.reader import Reader
from tests.profiles import in_turn, sized
from tests.sessions import Captured, said, told

Which = Callable[[str, int, tuple[str, ...]], bool]
QUESTIONS = {
    "stats": (),
    "grid": (),
    "opponent": ("--spots", "4"),
    "bids": ("--spots", "4"),
    "swaps": ("--spots", "4", "--runouts", "4"),
    "results": ("--spots", "4"),
    "winnings": ("--runouts", "4"),
}
# Whole matches are written one after the other, so what was over before a hand is easily said.
CHOSEN: dict[str, tuple[tuple[str, ...], Which]] = {
    "a rival": (("--vs", "tight-1"), lambda match, number, names: "tight-1" in names),
    "numbers": (("--numbers", "5-12"), lambda match, number, names: 5 <= number <= 12),
    "a number": (("--numbers", "7"), lambda match, number, names: number == 7),
    "before": (
        ("--before", "second/9"),
        lambda match, number, names: (
            match in ("swaps", "first") or (match == "second" and number < 9)
        ),
    ),
    "all of them": (
        ("--vs", "random-0", "--match", "second", "--numbers", "3-99", "--before", "second/10"),
        lambda match, number, names: match == "second" and 3 <= number < 10,
    ),
}
MATCHES = (
    ("swap-2022", "swaps", ("--bots", "random,tight")),
    ("auction-2024", "first", ("--bots", "random,tight")),
    ("auction-2024", "second", ("--bots", "random,aggressive")),
    ("site-nl", "table", ("--seats", "3")),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three matches, of which nobody knows how long they are: so none was ever won."""
    made = tmp_path_factory.mktemp("whole")
    for game, match, words in MATCHES:
        asked = ("play", game, "--match", match, *words, "--hands", "16", "--seed", "7")
        assert main([*asked, "--ledger", str(made / "played")]) == 0
    return _only(made / "played", made / "ledger", lambda *_: True)


def _only(source: Path, folder: Path, wanted: Which) -> Path:
    """Another ledger, of these hands alone."""
    ledger, lock = open_ledger(folder, "a test")
    for leaf in Reader(source).snapshot().leaves():
        start = leaf.recorded[0].event
        if is_match(leaf.stream) or not isinstance(start, HandStarted):
            continue
        match, number = split_stream(leaf.stream)
        if wanted(match, number or 0, start.players):
            events = tuple(one.event for one in leaf.recorded)
            ledger.append(Append(start.hand, 0, events, 1))
    ledger.close()
    lock.release()
    return folder


@pytest.fixture(scope="module")
def parts(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = tmp_path_factory.mktemp("parts")
    return {name: _only(whole, made / name, which) for name, (_, which) in CHOSEN.items()}


@pytest.fixture(scope="module")
def unfiltered() -> dict[tuple[str, ...], Any]:
    """Answers over all hands, each asked for once."""
    return {}


EACH = [(name, question) for name in CHOSEN for question in QUESTIONS]


@pytest.mark.parametrize(("name", "question"), sized(EACH[:: len(QUESTIONS) + 1], EACH[1::6], EACH))
def test_an_answer_is_that_of_a_ledger_which_holds_only_those_hands(
    question: str,
    name: str,
    whole: Path,
    parts: dict[str, Path],
    unfiltered: dict[tuple[str, ...], Any],
    capsys: Captured,
) -> None:
    filters, _ = CHOSEN[name]
    player = "aggressive-1" if "random-0" in filters else "random-0"
    words = (question, player, *QUESTIONS[question])
    found = told(capsys, *words, *filters, "--ledger", str(whole))
    rival = (
        filters[:2] if question == "opponent" and "--vs" in filters else ()
    )  # whose checks count
    alone = told(capsys, *words, *rival, "--ledger", str(parts[name]))
    assert _same(found) == _same(alone)
    if words not in unfiltered:
        unfiltered[words] = _same(told(capsys, *words, "--ledger", str(whole)))
    assert _same(found) != unfiltered[words]


def _same(answer: dict[str, Any]) -> dict[str, Any]:
    """Without who was asked about, which filters name, and what had been counted before."""
    plain = {name: it for name, it in answer.items() if name not in ("vs", "counted")}
    for one in plain.get("leads", {}).get("found", ()):
        one["filter"], *_ = one["filter"].split(" & ")
    return plain


WRONG: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("--vs", "o'hara"), 5, "nobody called o'hara was dealt a hand: muckrake stats lists who"),
    (("--vs", "random-0"), 2, "random-0 has no hands against himself"),
    (("--match", "final"), 5, "there is no hand of match final"),
    (("--game", "chess"), 5, "there is no hand of game chess"),
    (("--numbers", "20-10"), 2, "20-10 is no range of hands: 101-200 is one"),
    (("--numbers", "x"), 2, "x is no range of hands: 101-200 is one"),
    (("--before", "first/999"), 5, "there is no hand first/999: muckrake hands lists those"),
)


@pytest.mark.parametrize(("wrong", "question"), in_turn(WRONG, [*QUESTIONS]))
def test_a_filter_that_cannot_be_is_one_sentence_and_the_same_everywhere(
    wrong: tuple[tuple[str, ...], int, str], question: str, whole: Path, capsys: Captured
) -> None:
    words, code, sentence = wrong
    asked = (question, "random-0", *QUESTIONS[question], *words, "--ledger", str(whole))
    assert said(capsys, code, *asked).startswith(sentence)


@pytest.mark.parametrize(
    "question", sized(["stats", "swaps"], ["stats", "bids", "swaps", "results"])
)
def test_everybodys_answer_against_somebody_leaves_himself_out(
    question: str, whole: Path, capsys: Captured
) -> None:
    words = (question, *QUESTIONS[question], "--vs", "random-0", "--ledger", str(whole))
    names = {one["player"] for one in told(capsys, *words)["players"]}
    assert "tight-1" in names
    assert "random-0" not in names


def _names(rows: Iterable[dict[str, Any]]) -> set[str]:
    return {row["hand"] for row in rows}


def test_a_lead_finds_its_hands_and_no_others_than_the_reports(
    tmp_path: Path, capsys: Captured
) -> None:
    planned = plan(named("auction-2024"), "m", 120, "7", ("tight", "aggressive"))
    ledger, lock = open_ledger(tmp_path, "a test")
    for number, events in enumerate(hand_records(planned, SeededDecks("7")), start=1):
        ledger.append(Append(f"m/{number}", 0, events, 1))
    ledger.close()
    lock.release()
    here = ("--ledger", str(tmp_path))
    filters = ("--numbers", "3-118", "--before", "m/117", "--spots", "0")
    paying = told(capsys, "opponent", "tight-0", *filters, *here)["leads"]["found"]
    assert paying
    for one in paying:
        found = _names(told(capsys, "hands", one["filter"], "--limit", "500", *here)["hands"])
        assert set(one["hands"]) <= found
        assert all(3 <= int(hand.partition("/")[2]) < 117 for hand in found)


@pytest.mark.ci
def test_whether_a_match_was_won_is_said_by_all_hands_before(
    tmp_path: Path, capsys: Captured
) -> None:
    """Also by those that are not counted; and with `--before` by nothing that came later."""
    play = ("play", "auction-2024", "--match", "m", "--bots", "caller,tight", "--seed", "6")
    assert main([*play, "--hands", "60", "--ledger", str(tmp_path)]) == 0
    capsys.readouterr()
    asked = ("opponent", "caller-0", "--spots", "0", "--ledger", str(tmp_path))
    whole = told(capsys, *asked)
    (lock,) = whole["locks"]
    first, left_out = lock["number"], whole["leads"]["left_out"]
    after = 61 - first
    assert 5 < after < left_out < 50  # he had won it once before, and gambled it away
    for begin, expected in ((first + 5, after - 5), *sized((), ((11, left_out),))):
        found = told(capsys, *asked, "--numbers", f"{begin}-60")
        assert ([lock], expected) == (found["locks"], found["leads"]["left_out"])
    before = told(capsys, *asked, "--numbers", f"1-{first - 1}")
    assert left_out - after == before["leads"]["left_out"]
    earlier = told(capsys, *asked, "--before", "m/60")  # nobody knew that 60 would be all
    assert ([], 0) == (earlier["locks"], earlier["leads"]["left_out"])

"""A gate says who is better, may be asked after every deal, and errs as seldom as it says."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analytics.intervals import Floats
from analytics.player_comparison import sequential_test
from api.main import main
from engine.audit import nets_of
from events import types as t
from tests.analytics.portable import FORBIDDEN, opens_with_its_question_and_its_definition, trees
from tests.profiles import sized
from tests.sessions import Captured, kept, said, told

RUNS = sized(300, 600, 2_000)
DEALS = 1_500
RIVALS = ("caller-0", "aggressive-1")
Draw = Callable[[np.random.Generator], Floats]
NO_BETTER: dict[str, Draw] = {
    "coins": lambda chance: chance.choice([-1.0, 1.0], DEALS),
    "small pots and stacks": lambda chance: chance.choice(
        [-1.0, -0.02, 0.02, 1.0], DEALS, p=[0.01, 0.49, 0.49, 0.01]
    ),
    # What a test that believes in normal distributions is deceived by.
    "often a little, seldom all of it back": lambda chance: chance.choice(
        [0.01, -1.0], DEALS, p=[100 / 101, 1 / 101]
    ),
    "a loser": lambda chance: chance.normal(-0.01, 0.2, DEALS).clip(-1, 1),
    "one who changes": lambda chance: np.concatenate(
        [chance.normal(-0.05, 0.2, DEALS // 2), chance.normal(0.05, 0.2, DEALS - DEALS // 2)]
    ).clip(-1, 1),
}


@pytest.mark.parametrize("name", NO_BETTER)
@pytest.mark.parametrize("error", [0.05, 0.2])
def test_who_is_no_better_is_seldom_called_better_though_asked_after_every_deal(
    name: str, error: float
) -> None:
    """`sequential_test` finds the first deal at which it would have said so, whenever that was."""
    chance = np.random.default_rng(7)
    called = sum(
        sequential_test(NO_BETTER[name](chance), error).outcome == "better" for _ in range(RUNS)
    )
    spread = 3 * (error * (1 - error) / RUNS) ** 0.5
    assert called / RUNS <= error + spread


def test_a_test_that_is_not_made_for_it_errs_more_often() -> None:
    """Why this one: Student's, asked after every deal, calls many better who are not."""
    chance = np.random.default_rng(7)
    wrong = 0
    for _ in range(RUNS):
        deals = NO_BETTER["coins"](chance)
        n = np.arange(1, DEALS + 1)
        mean = deals.cumsum() / n
        deviation = np.sqrt((deals**2).cumsum() / n - mean**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            wrong += bool((mean / deviation * np.sqrt(n) > 1.645)[30:].any())
    assert wrong / RUNS > 0.2


@pytest.mark.parametrize(("edge", "most"), [(0.1, 150), (0.04, 900)])
def test_who_is_better_is_found_soon(edge: float, most: int) -> None:
    chance = np.random.default_rng(7)
    found = [sequential_test(chance.normal(edge, 0.25, 6_000).clip(-1, 1), 0.05) for _ in range(40)]
    assert {"better"} == {one.outcome for one in found}
    assert float(np.median([one.decided or 0 for one in found])) < most


def test_the_other_side_is_the_same_the_other_way() -> None:
    deals = np.random.default_rng(3).normal(0.1, 0.25, 400).clip(-1, 1)
    one, other = sequential_test(deals, 0.05), sequential_test(-deals, 0.05)
    assert ("better", "worse") == (one.outcome, other.outcome)
    assert (one.decided, one.better, one.worse) == (other.decided, other.worse, other.better)


def test_what_was_said_once_stays_said() -> None:
    """More deals of another kind change the evidence, and not the verdict that was given."""
    deals = np.random.default_rng(3).normal(0.1, 0.25, 400).clip(-1, 1)
    first = sequential_test(deals, 0.05)
    later = sequential_test(np.concatenate([deals, np.full(500, -0.3)]), 0.05)
    assert (first.outcome, first.decided) == (later.outcome, later.decided)


def test_nothing_is_clear_of_no_deals() -> None:
    assert ("not yet", None) == sequential_test(np.array([]), 0.05)[:2]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody who calls everything and pays for it, and two who are the same."""
    folder = tmp_path_factory.mktemp("gate") / "ledger"
    play = ("play", "auction-2024", "--seed", "7", "--ledger", str(folder))
    assert main([*play, "--hands", "60", "--bots", "random,random", "--match", "alike"]) == 0
    swap = ("play", "swap-2022", "--seed", "7", "--ledger", str(folder))
    assert main([*swap, "--hands", "5", "--bots", "tight,caller", "--match", "other"]) == 0
    return folder


def test_its_numbers_are_those_of_the_events(ledger: Path, capsys: Captured) -> None:
    """Each deal is what he won beside the other, of the most that either could."""
    ahead = []
    for hand in (f"alike/{number}" for number in range(1, 61)):
        events = kept(ledger, hand)
        start = events[0]
        assert isinstance(start, t.HandStarted)
        nets = dict(zip(start.players, nets_of(events), strict=True))
        ahead.append((nets["random-0"] - nets["random-1"]) / sum(start.stacks))
    expected = sequential_test(np.array(ahead), 0.05)
    words = ("gate", "random-0", "random-1", "--match", "alike", "--ledger", str(ledger))
    code = {"better": 0, "worse": 1, "not yet": 8}[expected.outcome]
    found = told(capsys, *words, code=code)["found"]
    assert (expected.outcome, expected.decided, 60) == (
        found["verdict"],
        found["decided"],
        found["deals"],
    )
    assert found["better"] == pytest.approx(expected.better, rel=1e-5)


def test_a_mirrored_deck_is_one_deal(tmp_path: Path, capsys: Captured) -> None:
    """And a deck of which only one hand was played is none."""
    play = ("play", "auction-2024", "--seed", "7", "--ledger", str(tmp_path))
    assert main([*play, "--hands", "40", "--bots", "random,tight", "--match", "m", "--mirror"]) == 0
    capsys.readouterr()
    gate = ("gate", "random-0", "tight-1", "--json", "--ledger", str(tmp_path))
    for numbers, expected in (("1-40", (20, 40)), ("1-39", (19, 38)), ("2-40", (19, 38))):
        assert main([*gate, "--numbers", numbers]) in (0, 1, 8)
        found = json.loads(capsys.readouterr().out)["found"]
        assert expected == (found["deals"], found["hands"])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("random-0", "random-0"), 2, "random-0 has no hands against himself"),
        (("random-0", "tight-0"), 5, "random-0 and tight-0 have no whole deal together here"),
        (("nobody", "tight-0"), 5, "nobody called nobody was dealt a hand"),
        (("random-0", "random-1", "--match", "final"), 5, "there is no hand of match final"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    words: tuple[str, ...], code: int, sentence: str, ledger: Path, capsys: Captured
) -> None:
    assert said(capsys, code, "gate", *words, "--ledger", str(ledger)).startswith(sentence)


def test_the_exit_code_is_the_verdict(tmp_path: Path, capsys: Captured) -> None:
    """Who only calls pays for it."""
    play = ("play", "auction-2024", "--seed", "7", "--ledger", str(tmp_path))
    assert main([*play, "--hands", "300", "--bots", "caller,aggressive", "--match", "m"]) == 0
    here = ("--ledger", str(tmp_path))
    capsys.readouterr()
    codes = [main(["gate", *names, *here]) for names in (RIVALS, RIVALS[::-1])]
    text = capsys.readouterr().out
    assert sorted(codes) == [0, 1], text


def test_compare_fails_if_it_was_asked_to(tmp_path: Path, capsys: Captured) -> None:
    play = ("play", "auction-2024", "--seed", "3", "--ledger", str(tmp_path))
    assert main([*play, "--hands", "400", "--bots", "caller,tight", "--match", "m"]) == 0
    here = ("--ledger", str(tmp_path))
    capsys.readouterr()
    assert main(["compare", "caller-0", "tight-1", "--fail-if", "worse", *here]) == 1
    assert main(["compare", "tight-1", "caller-0", "--fail-if", "worse", *here]) == 0
    assert main(["compare", "caller-0", "tight-1", *here]) == 0
    capsys.readouterr()
    words = ("compare", "caller-0", "tight-1", "--street", "flop", "--fail-if", "worse", *here)
    assert said(capsys, 2, *words).startswith("--fail-if worse is about winnings, which are not")


def test_the_question_of_a_deal_is_in_the_portable_dialect() -> None:
    opens_with_its_question_and_its_definition("gate_deals")
    for tree in trees("gate_deals"):
        assert [] == list(tree.find_all(*FORBIDDEN))

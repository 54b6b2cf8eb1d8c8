"""Ratings, pairs and circles: held to a published example, to known strengths, and to events."""

import sys
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from math import log
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

from analytics.intervals import Floats, student
from analytics.ratings import MEAN, POINTS, Rating, beat_cycles, fitted_ratings
from api.main import main
from engine.audit import nets_of
from events import types as t
from store.reader import Reader
from tests.analytics.portable import FORBIDDEN, opens_with_its_question_and_its_definition, trees
from tests.profiles import sized
from tests.sessions import Captured, said, told

FILES = ("ratings_matches", "ratings_won")
# The American League East of 1987, wins of the row over the column, and the logarithms of strength
# that Agresti's "Categorical Data Analysis" prints, the last team's being 0.
SEASON = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=float,
)
PRINTED = (1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0)
PRINTED_ERROR = 0.343  # of the first team less the last
WORLDS = sized(150, 400, 1_000)

needs_choix = pytest.mark.skipif(
    find_spec("choix") is None, reason="choix is not here: ./mr check, or the extra `ratings`"
)


def ratings(scores: Floats) -> list[Rating]:
    """Those of the library, which is here."""
    found = fitted_ratings(scores)
    assert found is not None
    return found


@needs_choix
def test_a_published_season_has_its_published_strengths() -> None:
    """But for the drawn match that each has more here, which is one of 79."""
    found = ratings(SEASON)
    strengths = [(one.points - found[-1].points) / POINTS for one in found]
    assert strengths == pytest.approx(PRINTED, abs=0.05)
    exact = ratings(SEASON * 1_000)  # a drawn match more is nothing here
    strengths = [(one.points - exact[-1].points) / POINTS for one in exact]
    assert strengths == pytest.approx(PRINTED, abs=0.006)


@needs_choix
def test_four_hundred_points_are_ten_wins_to_one() -> None:
    one, other = ratings(np.array([[0.0, 10_000], [1_000, 0]]))
    assert one.points - other.points == pytest.approx(400, abs=0.5)
    assert (one.points + other.points) / 2 == pytest.approx(MEAN)
    assert one.high - one.points == pytest.approx(one.points - one.low)


@needs_choix
def test_the_interval_of_two_is_that_of_a_share() -> None:
    """By hand: of n matches with share p the log odds have the variance 1 / (n p (1 - p))."""
    one, _ = ratings(np.array([[0.0, 600], [400, 0]]))
    n, p = 1_001, 600.5 / 1_001  # with the one that is drawn
    assert one.points == pytest.approx(MEAN + POINTS * log(p / (1 - p)) / 2)
    half = 1.959964 * (1 / (n * p * (1 - p))) ** 0.5 / 2
    assert one.high - one.points == pytest.approx(POINTS * half)


@needs_choix
@pytest.mark.parametrize("each", [2, 20])
def test_known_strengths_lie_within_their_intervals(each: int) -> None:
    """Of 100 intervals 95 hold the truth; of few matches rather more, for the drawn one leads
    nobody astray who is near the others."""
    chance = np.random.default_rng(11)
    held = []
    for _ in range(WORLDS):
        true = chance.normal(0, 0.7, 6)
        true -= true.mean()
        scores = np.zeros((6, 6))
        for a in range(6):
            for b in range(a):
                won = chance.binomial(each, 1 / (1 + np.exp(true[b] - true[a])))
                scores[a, b], scores[b, a] = won, each - won
        held += [
            one.low <= MEAN + POINTS * strength <= one.high
            for one, strength in zip(ratings(scores), true, strict=True)
        ]
    assert 0.94 <= sum(held) / len(held) <= 0.985


@needs_choix
def test_who_never_lost_has_a_rating_with_a_wide_interval() -> None:
    best, middle, last = ratings(np.array([[0.0, 3, 3], [0, 0, 3], [0, 0, 0]]))
    assert best.points > middle.points > last.points
    assert middle.points == pytest.approx(MEAN)
    assert best.high - best.low > 400


def test_a_circle_is_named_once_by_its_first_in_the_alphabet() -> None:
    beats = {"stone": {"scissors"}, "scissors": {"paper"}, "paper": {"stone"}, "well": {"stone"}}
    assert [("paper", "stone", "scissors")] == beat_cycles(beats)
    assert [] == beat_cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mirrored matches of two, those of a league among them, and one of four."""
    folder = tmp_path_factory.mktemp("ratings") / "ledger"
    here = ("--ledger", str(folder), "--seed", "5")
    two = ("play", "auction-2024", "--hands", "80", "--mirror", *here)
    for match, bots in (
        ("cup.1.random-0.tight-1", "random,tight"),
        ("cup.2.random-1.tight-0", "tight,random"),
        ("b", "tight,caller"),
    ):
        assert main([*two, "--bots", bots, "--match", match]) == 0
    four = ("play", "site-nl", "--hands", "40", *here, "--match", "ring")
    assert main([*four, "--bots", "random,caller,tight,aggressive"]) == 0
    return folder


@needs_choix
def test_pairs_and_the_field_are_those_of_the_events(ledger: Path, capsys: Captured) -> None:
    """Deck by deck: a mirrored one is two hands, of the ring each hand is one."""
    capsys.readouterr()
    ahead: dict[tuple[str, str], list[float]] = defaultdict(list)
    alone: dict[str, list[float]] = defaultdict(list)
    hands: dict[object, int] = defaultdict(int)
    matches: dict[tuple[str, str, str], float] = defaultdict(float)
    reader = Reader(ledger)
    for match, deals in (
        *(("cup.1.random-0.tight-1", 2), ("cup.2.random-1.tight-0", 2), ("b", 2), ("ring", 1)),
    ):
        sums: dict[object, float] = defaultdict(float)
        for number in range(1, 41 if match == "ring" else 81):
            events: Any = tuple(one.event for one in reader.read(f"{match}/{number}"))
            if not events:
                break
            start = events[0]
            assert isinstance(start, t.HandStarted)
            nets = dict(zip(start.players, nets_of(events), strict=True))
            for name, net in nets.items():
                sums[name] += net
                hands[name] += 1
                for other in [one for one in nets if one > name]:
                    sums[name, other] += (net - nets[other]) / 2
                    matches[match, name, other] += net - nets[other]
                    hands[name, other] += 1
            if number % deals == 0:
                for key, value in sums.items():
                    (ahead if isinstance(key, tuple) else alone)[key].append(value)  # type: ignore[index]
                sums.clear()
    found = told(capsys, "ratings", "--ledger", str(ledger))
    assert {(one["player"], one["other"]) for one in found["pairs"]} == ahead.keys()
    for row in (*found["pairs"], *found["players"]):
        who = (row["player"], row["other"]) if "other" in row else row["player"]
        each = ahead[who] if isinstance(who, tuple) else alone[who]
        assert row["hands"] == hands[who]
        assert row["won_100"] == pytest.approx(100 * sum(each) / hands[who])
        ends = student(mean(each), stdev(each), len(each)) if len(each) > 1 else None
        low, high = (
            (None, None) if ends is None else (100 * it * len(each) / hands[who] for it in ends)
        )
        assert [row["low"], row["high"]] == [pytest.approx(low), pytest.approx(high)]
    for one in found["pairs"]:
        sides = [it for (_, *who), it in matches.items() if who == [one["player"], one["other"]]]
        assert one["matches"] == len(sides)
        assert (one["won"], one["drawn"]) == (sum(it > 0 for it in sides), sides.count(0))
    assert found["players"] == sorted(found["players"], key=lambda one: -one["rating"])


def test_more_deals_are_guessed_from_how_an_interval_narrows(
    ledger: Path, capsys: Captured
) -> None:
    """Four times the deals halve it."""
    for one in told(capsys, "ratings", "--ledger", str(ledger))["pairs"]:
        if one["low"] is None or not one["won_100"]:
            assert one["more"] is None
            continue
        half = (one["high"] - one["low"]) / 2
        apart = one["low"] > 0 or one["high"] < 0
        assert (one["more"] == 0) == apart
        if not apart:
            needed = one["deals"] + one["more"]
            assert half * (one["deals"] / needed) ** 0.5 <= abs(one["won_100"]) * 1.000001


def test_a_league_is_its_matches_alone(ledger: Path, capsys: Captured) -> None:
    found = told(capsys, "ratings", "--league", "cup", "--ledger", str(ledger))
    assert {("random-0", "tight-1"), ("random-1", "tight-0")} == {
        (one["player"], one["other"]) for one in found["pairs"]
    }
    sentence = "no match of a league cu has ended"
    assert sentence in said(capsys, 5, "ratings", "--league", "cu", "--ledger", str(ledger))


def test_without_the_library_everything_else_is_told(
    ledger: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = told(capsys, "ratings", "--ledger", str(ledger))
    monkeypatch.setitem(sys.modules, "choix", None)
    found = told(capsys, "ratings", "--ledger", str(ledger))
    assert {None} == {one["rating"] for one in found["players"]}
    assert whole["pairs"] == found["pairs"]
    assert main(["ratings", "--ledger", str(ledger)]) == 0
    assert "install muckrake-poker[ratings]" in "".join(capsys.readouterr())


def test_what_cannot_be_rated_is_one_sentence(tmp_path: Path, capsys: Captured) -> None:
    assert main(["init", "--ledger", str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert "no two players met" in said(capsys, 5, "ratings", "--ledger", str(tmp_path / "new"))


def test_more_players_than_can_wait_are_refused(
    ledger: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger of a site has thousands, and as many pairs as their square."""
    monkeypatch.setattr(import_module("api.questions.declared.ratings"), "PLAYERS_MAX", 4)
    sentence = "players, and 4 are rated together: name a league or a match"
    assert sentence in said(capsys, 2, "ratings", "--ledger", str(ledger))
    assert main(["ratings", "--match", "ring", "--ledger", str(ledger)]) == 0


@pytest.mark.parametrize("file", FILES)
def test_the_questions_are_in_the_portable_dialect(file: str) -> None:
    opens_with_its_question_and_its_definition(file)
    for tree in trees(file):
        assert [] == list(tree.find_all(*FORBIDDEN))

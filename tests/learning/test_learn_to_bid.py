"""The examples of docs/learners.md: a learner that beats our bots, and PettingZoo's loop."""

import pytest

from docs.examples import learn_to_bid
from tests.fences import fences
from tests.profiles import sized
from tests.test_docs import ROOT

RIVALS = ("caller", "aggressive", "tight", "random")[: sized(1, 3, 4)]


@pytest.mark.slow
def test_what_was_learned_beats_the_built_in_bots() -> None:
    """Each by more chips a hand than chance explains: the interval of 95 % lies above zero."""
    worth = learn_to_bid.learn(hands=sized(250, 500, 1500), steps=sized(100, 150, 700))
    for rival in RIVALS:
        mean, half = learn_to_bid.beats(worth, rival, sized(200, 250, 3000), f"held out: {rival}")
        assert mean - half > 0, f"{mean:+.1f} +- {half:.1f} against {rival}"


def test_the_loop_of_pettingzoo_goes_through_a_hand() -> None:
    pytest.importorskip("pettingzoo")
    (loop,) = [one for one in fences(ROOT / "docs/learners.md") if one.language == "py"]
    names: dict[str, object] = {}
    exec(compile(loop.text, "learners.md", "exec"), names)
    assert not getattr(names["env"], "agents", None)

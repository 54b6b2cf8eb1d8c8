"""Ratings of many players, out of matches won and lost (Bradley and Terry, 1952).

A rating is in points of Elo: 400 more are ten wins to one loss. 1500 is the mean of those who are
rated together. Each player has one drawn match more than he played, spread over all the others, so
that who never lost has a rating too; intervals come from the curvature of the likelihood.
"""

from collections.abc import Iterable, Mapping, Set
from math import log
from typing import NamedTuple

import numpy as np

from analytics.intervals import Floats, Z

MEAN = 1500
POINTS = 400 / log(10)


class Rating(NamedTuple):
    """Points, and the interval that holds the true ones in 95 of 100 cases."""

    points: float
    low: float
    high: float


def fitted_ratings(scores: Floats) -> list[Rating] | None:
    """Fit ratings; `scores[a, b]` is how many matches a won against b, a drawn one as half of one.

    None where the library that fits them is not installed: it is an extra.
    """
    try:
        from choix import ilsr_pairwise_dense
    except ModuleNotFoundError:
        return None
    many = len(scores)
    scores = scores + (1 - np.eye(many)) / (2 * (many - 1))
    strengths = ilsr_pairwise_dense(scores, max_iter=1_000)
    ahead = 1 / (1 + np.exp(strengths - strengths[:, None]))
    weights = (scores + scores.T) * ahead * (1 - ahead)
    np.fill_diagonal(weights, 0)
    curvature = np.diag(weights.sum(axis=1)) - weights
    errors = np.sqrt(np.diag(np.linalg.pinv(curvature, hermitian=True)))
    return [
        Rating(MEAN + POINTS * one, MEAN + POINTS * (one - half), MEAN + POINTS * (one + half))
        for one, half in zip(
            (strengths - strengths.mean()).tolist(), (Z * errors).tolist(), strict=True
        )
    ]


def player_ratings(met: Iterable[tuple[str, str, float, float]]) -> dict[str, Rating]:
    """Rate all players who met: `met` has two players and the points of each against the other.

    Empty where the library is not installed.
    """
    every = list(met)
    names = sorted({name for one, other, *_ in every for name in (one, other)})
    place = {name: at for at, name in enumerate(names)}
    scores = np.zeros((len(names), len(names)))
    for one, other, his, others in every:
        scores[place[one], place[other]] += his
        scores[place[other], place[one]] += others
    return dict(zip(names, fitted_ratings(scores) or (), strict=False))


def beat_cycles(beats: Mapping[str, Set[str]]) -> list[tuple[str, str, str]]:
    """Cycles of three players: the first beats the second, he the third, and he the first."""
    return [
        (one, two, three)
        for one in sorted(beats)
        for two in sorted(beats[one])
        for three in sorted(beats[two])
        if one < two and one < three and one in beats[three]
    ]

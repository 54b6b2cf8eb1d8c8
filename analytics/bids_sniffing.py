"""Do bids depend on each other? The dealer bids second, and may have seen the first bid (A1).

Within strata (match, pot and board) bids of a pair of players are matched anew at random, ten
thousand times with a recorded seed: whatever both bidders could know is the same in a stratum, so
what is left is knowing the other's bid. The same bot as first bidder is the control. Only chosen
bids count.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt, tanh
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from analytics.fairness_tests import holm, mann_whitney

DRAWS = 10_000
DRAWS_MIN = 1_000
CELLS = 50_000_000  # bids drawn in all: of many auctions fewer matchings are drawn
SEED = 8
FLAG_P = 0.001
FLAG_N = 200
TELLS = {"equal": (0, 0), "one more": (1, 1), "one less": (-1, -1), "just above": (1, 3)}
Bids = NDArray[np.float64]


class Pair(Struct, frozen=True):
    """One dealer against one first bidder. `p` are of each test alone, `flagged` corrects them."""

    dealer: str
    rival: str
    n: int
    draws: int
    correlation: float | None
    low: float | None
    high: float | None
    p: float | None
    tells: dict[str, tuple[int, float, float]]
    control_p: float | None
    sealed: int
    leaked: int
    flagged: bool


def pairs(auctions: pa.Table) -> Iterator[Pair]:
    """Every ordered pair of players, by name; of auctions as `bids_rows.SCHEMA` has them."""
    meant = _meant(auctions)
    dealt = meant.filter(pc.equal(meant["role"], "dealer"))
    first = meant.filter(pc.equal(meant["role"], "big blind"))
    named = dealt.select(["player", "rival"]).group_by(["player", "rival"]).aggregate([])
    for one in sorted(named.to_pylist(), key=lambda it: (it["player"], it["rival"])):
        dealer, rival = one["player"], one["rival"]
        yield _pair(dealer, rival, _of(dealt, dealer, rival), _of(first, dealer, rival))


def _meant(auctions: pa.Table) -> pa.Table:
    """Both bids are known and were chosen; where origins are hidden, all but those of no stack."""
    told = [
        pc.equal(pc.fill_null(auctions[name], "chosen"), "chosen")
        for name in ("origin", "rival_origin")
    ]
    known = [pc.is_valid(auctions[name]) for name in ("bid", "rival_bid", "rival")]
    keep = told[0]
    for one in (*told[1:], *known):
        keep = pc.and_(keep, one)
    return auctions.filter(keep)


def _of(auctions: pa.Table, player: str, rival: str) -> pa.Table:
    """Those of one player against another."""
    one, other = pc.equal(auctions["player"], player), pc.equal(auctions["rival"], rival)
    return auctions.filter(pc.and_(one, other))


def _pair(dealer: str, rival: str, rows: pa.Table, first: pa.Table) -> Pair:
    mine, his = (_amounts(rows, name) for name in ("bid", "rival_bid"))
    as_first = _amounts(first, "bid") - _amounts(first, "rival_bid")
    strata = _strata(rows)
    n = rows.num_rows
    draws = max(DRAWS_MIN, min(DRAWS, CELLS // n))
    ranked = _centred(mine, strata), _centred(his, strata)
    scale = sqrt(float((ranked[0] ** 2).sum() * (ranked[1] ** 2).sum()))
    observed = float((ranked[0] * ranked[1]).sum()) / scale if scale else None
    told = {name: int(_between(mine - his, tell).sum()) for name, tell in TELLS.items()}
    drawn = _drawn(mine, his, ranked, strata, draws)
    p = None
    if observed is not None:
        p = _p(np.abs(drawn["correlation"]) >= abs(observed) * scale - 1e-9, draws)
    tells = {
        name: (count, float(drawn[name].mean()), _p(drawn[name] >= count, draws))
        for name, count in told.items()
    }
    alone = [one for one in (p, *(tell[2] for tell in tells.values())) if one is not None]
    low, high = _interval(observed, n)
    sealed = pc.sum(rows["sealed"]).as_py()
    return Pair(
        dealer, rival, n, draws, observed, low, high, p, tells,
        mann_whitney((mine - his).tolist(), as_first.tolist()),
        sealed,
        n - sealed,
        n >= FLAG_N and min(holm(alone)) < FLAG_P,
    )  # fmt: skip


def _amounts(rows: pa.Table, name: str) -> Bids:
    amounts: Bids = rows[name].to_numpy().astype(np.float64)
    return amounts


def _strata(rows: pa.Table) -> list[NDArray[np.intp]]:
    """Places of auctions of one match over the same pot and boards alike, the first ones first.

    One name may stand for another bot in every match, so matches are not mixed. The pot tells the
    stacks, which both know: two who bid all they have bid the same without knowing it.
    """
    where = np.zeros(rows.num_rows, dtype=np.int64)
    for name in ("match", "pot", "texture"):
        words = rows[name] if name != "texture" else pc.fill_null(rows[name], "")
        codes = words.combine_chunks().dictionary_encode().indices.to_numpy()
        where = np.unique(where * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    _, first, inverse = np.unique(where, return_index=True, return_inverse=True)
    order = np.argsort(first[inverse], kind="stable")
    ends = np.flatnonzero(np.diff(first[inverse][order])) + 1
    return [order[start:end] for start, end in pairwise((0, *ends.tolist(), len(order)))]


def _centred(bids: Bids, strata: Sequence[NDArray[np.intp]]) -> Bids:
    """Ranks within each stratum, equal bids sharing theirs, around their middle."""
    found = np.zeros(len(bids))
    for places in strata:
        _, inverse, counts = np.unique(bids[places], return_inverse=True, return_counts=True)
        shared = np.cumsum(counts) - (counts - 1) / 2
        ranks = shared[inverse] - (len(places) + 1) / 2
        found[places] = ranks / len(places)  # so that a large stratum does not drown the others
    return found


def _drawn(
    mine: Bids, his: Bids, ranked: tuple[Bids, Bids], strata: Sequence[NDArray[np.intp]], draws: int
) -> dict[str, Bids]:
    """The same counts for each matching at random, within strata."""
    chance = np.random.default_rng(SEED)
    found: dict[str, Any] = {name: np.zeros(draws) for name in ("correlation", *TELLS)}
    for places in strata:
        size = len(places)
        part = max(1, 2_000_000 // size)
        for start in range(0, draws, part):
            count = min(part, draws - start)
            order = chance.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
            at = slice(start, start + count)
            found["correlation"][at] += ranked[0][places][order] @ ranked[1][places]
            apart = mine[places][order] - his[places]
            for name, tell in TELLS.items():
                found[name][at] += _between(apart, tell).sum(axis=1)
    return found


def _between(apart: Bids, tell: tuple[int, int]) -> NDArray[np.bool_]:
    return (apart >= tell[0]) & (apart <= tell[1])


def _p(as_far: NDArray[np.bool_], draws: int) -> float:
    """The observed matching is one of those that chance could have made."""
    return (1 + int(as_far.sum())) / (1 + draws)


def _interval(correlation: float | None, n: int) -> tuple[float | None, float | None]:
    """Fisher's, widened for ranks (Fieller)."""
    if correlation is None or n < 10 or abs(correlation) >= 1:
        return None, None
    middle, half = float(np.arctanh(correlation)), 1.959964 * 1.03 / sqrt(n - 3)
    return tanh(middle - half), tanh(middle + half)

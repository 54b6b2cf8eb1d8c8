"""Test whether second bids depend on first bids, as if the dealer had seen them (A1).

Within strata (match, pot and board) bids of a pair of players are matched anew at random: whatever
both bidders could know is the same in a stratum, so what is left is knowing the other's bid. Of 400
auctions and fewer, matchings are drawn with a recorded seed: a thousand, and ten thousand where
these leave a doubt. Of more, none: mean and deviation over all matchings there are follow from the
bids, exactly, and what is added up over so many is spread as sums are (tells as rare things are, of
which `poisson_p` says how far p is off). The same bot as first bidder is the control. Only chosen
bids count.

Where both bid in two sizes, matchings of a stratum can differ only in how often the first size
meets the first, and that is hypergeometric: tells are counted, exactly. A count then goes up by
twos, which no smooth distribution is right about.
"""

from collections.abc import Iterator, Sequence
from math import sqrt, tanh
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from analytics.p_values import holm, mann_whitney, normal_p, poisson_p
from analytics.projections.flag_encoding import Ints, rows_by_pair

Floats = NDArray[np.float64]
_NEVER = 1e-30  # an end of a distribution that weighs less is let go


class TwoSizeStratum(NamedTuple):
    """A stratum of two bid sizes a player: how many bids, and how many of each's first size.

    `ones` is 0 where every matching is the same; then the sizes are all the bids.
    """

    mine: Floats
    his: Floats
    size: int
    ones: int
    others: int

    def chances(self, tell: tuple[int, int], logs: Floats) -> tuple[int, Floats]:
        """The least count of a tell, and the chances of it and each larger one; `logs` are of
        factorials."""
        one, other, size, ones, others = self
        if not ones:
            return int(np.count_nonzero(is_tell(one - other, tell))), np.ones(1)
        (a, b), (c, d) = is_tell(one[:, None] - other[None, :], tell).astype(int).tolist()
        low, high = max(0, ones + others - size), min(ones, others)
        meet = np.arange(low, high + 1)
        chances = np.exp(
            logs[ones] - logs[meet] - logs[ones - meet]
            + logs[size - ones] - logs[others - meet] - logs[size - ones - others + meet]
            - logs[size] + logs[others] + logs[size - others]
        )  # fmt: skip
        step = a - b - c + d
        counts = step * meet + b * ones + c * others + d * (size - ones - others)
        found = np.zeros(abs(step) * (high - low) + 1)
        np.add.at(found, counts - counts.min(), chances)
        return int(counts.min()), found


DRAWS = 10_000
FIRST_DRAWS = 1_000
DOUBT = 0.01  # a p of the first draws below it leaves one
DRAWN_N = 400  # auctions of a pair, above which nothing is drawn
AT_ONCE = 2_000_000  # bids in memory
SEED = 8
FLAG_P = 0.001
FLAG_N = 200
TELLS = {"equal": (0, 0), "one more": (1, 1), "one less": (-1, -1), "just above": (1, 3)}


class Pair(Struct, frozen=True):
    """Tests of one dealer against one first bidder; `p` are uncorrected, `flagged` is not.

    `draws` is 0 where nothing was drawn. A tell has its count, the expected count, and its p.
    """

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


def pair_tests(auctions: pa.Table) -> Iterator[Pair]:
    """The tests of every ordered pair of players, by name, from rows of `auctions`."""
    # Both bids are known and were chosen; where origins are hidden, all but those of no stack.
    chosen = [
        pc.equal(pc.fill_null(auctions[name], "chosen"), "chosen")
        for name in ("origin", "rival_origin")
    ]
    known = [pc.is_valid(auctions[name]) for name in ("bid", "rival_bid", "rival")]
    keep = chosen[0]
    for condition in (*chosen[1:], *known):
        keep = pc.and_(keep, condition)
    auctions = auctions.filter(keep)
    by_role: list[dict[tuple[str, str], pa.Table]] = []
    for role in ("dealer", "big blind"):
        rows = auctions.filter(pc.equal(auctions["role"], role))
        places_by_pair = rows_by_pair(rows["player"], rows["rival"])
        by_role.append({pair: rows.take(pa.array(places)) for pair, places in places_by_pair})
    dealt, first = by_role
    for pair in sorted(dealt):
        yield _pair(*pair, dealt[pair], first.get(pair, auctions.slice(0, 0)))


def _pair(dealer: str, rival: str, rows: pa.Table, first: pa.Table) -> Pair:
    mine, his = (_amounts(rows, name) for name in ("bid", "rival_bid"))
    as_first = _amounts(first, "bid") - _amounts(first, "rival_bid")
    strata = _strata_of(rows)
    n = rows.num_rows
    counts = {name: int(is_tell(mine - his, tell).sum()) for name, tell in TELLS.items()}
    owed = {name: _tell_moments(mine, his, tell, strata) for name, tell in TELLS.items()}
    ranked = _centred_ranks(mine, strata), _centred_ranks(his, strata)
    scale = sqrt(float((ranked[0] ** 2).sum() * (ranked[1] ** 2).sum()))
    together = float((ranked[0] * ranked[1]).sum())
    observed = together / scale if scale else None
    draws = 0
    if n <= DRAWN_N:
        far, p_of, draws = _permutation_tests(mine, his, ranked, strata, together, counts)
    else:
        # p of the correlation, by its deviation over all matchings there are
        one, other = (np.bincount(strata, bids**2) for bids in ranked)
        deviation = sqrt(float((one * other / np.maximum(1, np.bincount(strata) - 1)).sum()))
        far = (
            normal_p(together / deviation) if deviation else 1.0
        )  # else every matching has the same
        p_of = {name: poisson_p(count, *owed[name]) for name, count in counts.items()}
        few = two_size_strata(mine, his, strata)
        if few is not None:
            p_of = {name: exact_p(count, few, TELLS[name]) for name, count in counts.items()}
    p = None if observed is None else far
    tells = {name: (count, owed[name][0], p_of[name]) for name, count in counts.items()}
    alone = [value for value in (p, *p_of.values()) if value is not None]
    low = high = None
    if observed is not None and n >= 10 and abs(observed) < 1:  # Fisher's, widened for ranks
        middle, half = float(np.arctanh(observed)), 1.959964 * 1.03 / sqrt(n - 3)  # (Fieller)
        low, high = tanh(middle - half), tanh(middle + half)
    sealed = pc.sum(rows["sealed"]).as_py()
    return Pair(
        dealer, rival, n, draws, observed, low, high, p, tells,
        mann_whitney((mine - his).tolist(), as_first.tolist()),
        sealed,
        n - sealed,
        n >= FLAG_N and min(holm(alone)) < FLAG_P,
    )  # fmt: skip


def _permutation_tests(
    mine: Floats,
    his: Floats,
    ranked: tuple[Floats, Floats],
    strata: Ints,
    together: float,
    counts: dict[str, int],
) -> tuple[float, dict[str, float], int]:
    """The p of the correlation and of each tell, and how many matchings were drawn for them.

    Few are enough where nothing stands out, and of too few auctions, where nothing is claimed.
    """
    draws = FIRST_DRAWS
    while True:
        drawn = _permuted_statistics(mine, his, ranked, strata, draws)
        far = _permutation_p(np.abs(drawn["correlation"]) >= abs(together) - 1e-9)
        p_of = {name: _permutation_p(drawn[name] >= count) for name, count in counts.items()}
        if draws == DRAWS or len(mine) < FLAG_N or min(far, *p_of.values()) >= DOUBT:
            return far, p_of, draws
        draws = DRAWS


def _amounts(rows: pa.Table, name: str) -> Floats:
    amounts: Floats = rows[name].to_numpy().astype(np.float64)
    return amounts


def _strata_of(rows: pa.Table) -> Ints:
    """The stratum of each auction: one match over the same pot and boards alike; the first is 0.

    One name may stand for another bot in every match, so matches are not mixed. The pot tells the
    stacks, which both know: two who bid all they have bid the same without knowing it.
    """
    where = np.zeros(rows.num_rows, dtype=np.int64)
    for name in ("match", "pot", "texture"):
        words = rows[name] if name != "texture" else pc.fill_null(rows[name], "")
        codes = words.combine_chunks().dictionary_encode().indices.to_numpy()
        where = np.unique(where * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    strata: Ints = pa.array(where).dictionary_encode().indices.to_numpy().astype(np.int64)
    return strata


def _centred_ranks(bids: Floats, strata: Ints) -> Floats:
    """Ranks within each stratum, equal bids sharing theirs, around their middle."""
    sizes = np.bincount(strata)
    _, same, counts = np.unique(
        _shifted_by_stratum(bids, strata), return_inverse=True, return_counts=True
    )
    begun = (np.cumsum(sizes) - sizes)[strata]  # the auctions of strata before
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[same] - begun
    size = sizes[strata]
    # divided by the size, so that a large stratum does not drown the others
    centred: Floats = (ranks - (size + 1) / 2) / size
    return centred


def _shifted_by_stratum(bids: Floats, strata: Ints) -> Floats:
    """Bids shifted so far that those of two strata are never near each other."""
    moved: Floats = bids + strata * (bids.max(initial=0) + 10)
    return moved


def _permuted_statistics(
    mine: Floats, his: Floats, ranked: tuple[Floats, Floats], strata: Ints, draws: int
) -> dict[str, Floats]:
    """The correlation and the tells of each matching at random, within strata."""
    chance = np.random.default_rng(SEED)
    found: dict[str, Any] = {name: np.zeros(draws) for name in ("correlation", *TELLS)}
    order, sizes = np.argsort(strata, kind="stable"), np.bincount(strata)
    for places in np.split(order, np.cumsum(sizes)[:-1]):
        size, other = len(places), his[places]
        bids, which = np.unique(mine[places], return_inverse=True)
        worth = np.zeros(len(bids))
        worth[which] = ranked[0][places]
        same = len(bids) == 1 or (other == other[0]).all()  # then so is every matching
        part = draws if same else max(1, AT_ONCE // size)
        for start in range(0, draws, part):
            count = min(part, draws - start)
            drawn = which if same else chance.permuted(np.tile(which, (count, 1)), axis=1)
            at = slice(start, start + count)
            found["correlation"][at] += worth[drawn] @ ranked[1][places]
            distances = bids[drawn] - other
            for name, tell in TELLS.items():
                found[name][at] += np.count_nonzero(is_tell(distances, tell), axis=-1)
    return found


def _permutation_p(as_far: NDArray[np.bool_]) -> float:
    """The share of matchings as far out; the observed one is one of them."""
    return (1 + int(as_far.sum())) / (1 + len(as_far))


def _tell_moments(
    mine: Floats, his: Floats, tell: tuple[int, int], strata: Ints
) -> tuple[float, float]:
    """The mean and variance of a tell's count, over all matchings within strata.

    A matching is a permutation; how often cells are hit that it may hit has Hoeffding's variance.
    """
    top = np.concatenate((mine, his))
    one, other = np.split(_shifted_by_stratum(top, np.concatenate((strata, strata))), 2)
    theirs = _range_counts(other, one - tell[1], one - tell[0])  # the bids that each could tell of
    ours = _range_counts(one, other + tell[0], other + tell[1])
    sizes = np.bincount(strata)
    cells, rows, columns = (np.bincount(strata, it) for it in (theirs, theirs**2, ours**2))
    squares = cells - (rows + columns) / sizes + (cells / sizes) ** 2
    return float((cells / sizes).sum()), float((squares / np.maximum(1, sizes - 1)).sum())


def _range_counts(bids: Floats, low: Floats, high: Floats) -> Ints:
    """The number of bids in each of these ranges."""
    ordered = np.sort(bids)
    found: Ints = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")
    return found


def two_size_strata(mine: Floats, his: Floats, strata: Ints) -> list[TwoSizeStratum] | None:
    """Every stratum as one of two sizes; None where a stratum has more."""
    sizes = np.bincount(strata)
    kinds = []  # how many different bids there are in each stratum
    for bids in (mine, his):
        different = np.unique(np.column_stack((strata, bids)), axis=0)
        kinds.append(np.bincount(different[:, 0].astype(np.int64), minlength=len(sizes)))
    if np.any((np.minimum(*kinds) > 1) & (np.maximum(*kinds) > 2)):
        return None
    every = np.split(np.argsort(strata, kind="stable"), np.cumsum(sizes)[:-1])
    tables = []
    for places in every:
        (one, ones), (other, others) = (
            np.unique(bids[places], return_counts=True) for bids in (mine, his)
        )
        size = len(places)
        if min(len(one), len(other)) == 1:
            tables.append(TwoSizeStratum(mine[places], his[places], size, 0, 0))
        else:
            tables.append(TwoSizeStratum(one, other, size, int(ones[0]), int(others[0])))
    return tables


def exact_p(count: int, strata: Sequence[TwoSizeStratum], tell: tuple[int, int]) -> float:
    """The exact p of at least so many tells, over all matchings within strata."""
    most = max((one.size for one in strata), default=0)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
    least, chances = 0, np.ones(1)
    for stratum in strata:
        first, more = stratum.chances(tell, logs)
        chances = np.convolve(chances, more)
        kept = np.flatnonzero(chances > _NEVER)
        least, chances = least + first + int(kept[0]), chances[kept[0] : kept[-1] + 1]
    return min(1.0, float(chances[max(0, count - least) :].sum()))


def is_tell(distances: Floats, tell: tuple[int, int]) -> NDArray[np.bool_]:
    """Whether each distance of two bids is in a tell's range."""
    return (distances >= tell[0]) & (distances <= tell[1])

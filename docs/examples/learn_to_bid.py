"""A table learns to bid and to bet in Auction Hold'em, by playing itself and two simple rivals.

It knows 512 kinds of spots. For each action it remembers what hands brought in the mean; it plays
the best so far, and now and then any other.
"""

import sys

import numpy as np
from numpy.typing import NDArray

import muckrake

Numbers = NDArray[np.float64]
Which = NDArray[np.int64]
GAME = muckrake.GAMES["auction-2024"]
BID = muckrake.Batch(GAME, 1, sizes="few").actions.names.index("bid 0")


def kinds(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> Which:
    """The kind of each spot: its question, the own cards, who won the third one, the price."""
    own = seen[:, :52].reshape(-1, 13, 4)
    board = seen[:, 52:104].reshape(-1, 13, 4)
    ranks, both = own.sum(axis=2), (own + board).sum(axis=2)
    top = 12 - (board.sum(axis=2)[:, ::-1] > 0).argmax(axis=1)
    paired = np.where(ranks > 0, both, 0)
    best = paired.max(axis=1)
    high = np.where((ranks > 0) & (both == 2), np.arange(13), -1).max(axis=1)
    pairs = (paired == 2).sum(axis=1)
    flush = (own + board).sum(axis=1).max(axis=1) > 4
    after = np.select(
        [flush | (best > 3), best == 3, pairs > 1, high > top, high == top, high >= 0],
        [7, 6, 5, 4, 4, 3],
        ((np.arange(13) * (ranks > 0)).max(axis=1) > 10).astype(int),
    )
    pair, sums = (ranks == 2).any(axis=1), (np.arange(13) * ranks).sum(axis=1)
    before = np.clip(sums // 4 + 2 * pair, 0, 7).astype(int)
    street = np.round(seen[:, 107] * 5).astype(int)
    strength = np.where(street > 0, after, before)
    pot, call = seen[:, 108], seen[:, 109]
    price = np.digitize(call / pot, [0.01, 0.34, 0.6])
    cards = np.where(own.sum(axis=(1, 2)) > 2, 1, 0)
    phase = np.where(mask[:, BID], 1, np.select([street == 0, street < 5], [0, 2], 3))
    found: Which = ((phase * 8 + strength) * 4 + price) * 2 + cards
    return found


def learn(hands: int, steps: int, seed: int = 7) -> Numbers:
    """The mean of what each action brought in each kind of spot."""
    batch, draw = muckrake.Batch(GAME, hands, seed=seed, sizes="few"), np.random.default_rng(seed)
    many = len(batch.actions.names)
    worth, times = np.zeros((512, many)), np.full((512, many), 1.0)
    past = []
    rival = np.arange(hands) % 3  # itself, one who only calls, one who does anything
    chair = np.arange(hands) // 3 % 2
    since = np.zeros(hands, int)
    for step in range(steps):
        seen, mask, seat = batch.observation, batch.mask, batch.seat
        kind = kinds(seen, mask)
        any_ = (draw.random(mask.shape) * mask).argmax(axis=1)
        best = np.where(mask, worth[kind], -np.inf).argmax(axis=1)
        mine = np.where(draw.random(hands) < 0.15, any_, best)
        calls = np.where(mask[:, BID], BID, 1)
        theirs = np.select([rival == 0, rival == 1], [mine, calls], any_)
        own = (rival == 0) | (seat == chair)
        actions = np.where(own, mine, theirs)
        past.append((kind, actions, seat, own))
        rewards, over = batch.step(actions)
        for back in range(len(past)):
            kind, actions, seat, own = past[-1 - back]
            rows = np.flatnonzero(over & own & (step - back >= since))
            at = kind[rows], actions[rows]
            np.add.at(times, at, 1)
            brought = rewards[rows, seat[rows]] - worth[at]
            np.add.at(worth, at, brought / np.maximum(times[at], 20))
        since[over] = step + 1
        past = past[-40:]
    return worth


def beats(worth: Numbers, rival: str, hands: int, seed: str) -> tuple[float, float]:
    """Chips a hand against a built-in bot, and half the width of a 95 % interval."""

    def policy(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> Which:
        best: Which = np.where(mask, worth[kinds(seen, mask)], -np.inf).argmax(axis=1)
        return best

    won = []
    for record in muckrake.play(
        GAME, "m", hands, seed, bots=[muckrake.learned(policy, "few"), rival]
    ):
        hand = muckrake.replay(record)
        seat = [one.startswith(rival) for one in hand.start.players].index(False)
        won.append(hand.stacks[seat] - hand.start.stacks[seat])
    return float(np.mean(won)), float(1.96 * np.std(won, ddof=1) / len(won) ** 0.5)


def main(hands: int = 1500, steps: int = 700, played: int = 3000) -> None:
    worth = learn(hands, steps)
    for rival in ("random", "caller", "tight", "aggressive"):
        mean, half = beats(worth, rival, played, f"held out against {rival}")
        print(f"{rival:10}  {mean:+.1f} chips a hand, {mean - half:+.1f} to {mean + half:+.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

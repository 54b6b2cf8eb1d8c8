"""What each seat could expect of a hand in which only chance was left; exact wherever that is
quick, else sampled with a recorded seed.

Two hands, the board at three cards or more: every run-out is counted, third cards and swaps still
to come included. Known hands without either are counted before the flop, too. What is left, an
auction or swaps before the flop, is sampled.

`Equities` keeps what was counted before in a file. A spot is known by a digest of all that its
worth depends on. A record is that digest and five numbers; one cut short by a crash is dropped by
the next to open the file.

A sealed hand keeps its spots and no equity: one equity takes 15 ms, sealing the hand 0.3. They are
counted when a question asks for them, some evenly spread.
"""

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np
from msgspec import Struct

from analytics.replay.columns import Rulebook
from analytics.stored.closed_betting import Closed
from engine.game import Game
from odds.batch import BOARD, STANDARD, Masks, Showdown, equities, unseen, worth
from odds.ranges import kept
from odds.rank import Cards, mask
from odds.unseen import against_unseen, share_with_swaps
from store.columns.codec import Row

RECORD = struct.Struct("<16s5d")
FILE = "equities-1.bin"
Numbers = tuple[float, float, float, float, float]


DRAWS = 20_000
SEED = 8
MODEL = "run-out/1"
REMEMBERED = 4_096  # of each kind, by a process: who asks again, or for a part, counts nothing anew


class Worth(Struct, frozen=True):
    """Of each seat: how often it wins alone, and its part of the pot; `error` where sampled."""

    alone: tuple[float, ...]
    share: tuple[float, ...]
    error: float = 0.0


class Expected(Struct, frozen=True):
    """The net that each seat of the hand could expect, and one standard error of it in chips.

    `equity` is each seat's part of the first pot, none for who could not win it.
    """

    nets: tuple[float, ...]
    error: float
    equity: tuple[float, ...]


Count = Callable[[Closed, tuple[int, ...], Showdown, str], Worth]


def expected(
    spot: Closed, game: Game, rules: Showdown, hand: str, count: Count | None = None
) -> Expected:
    """Pot by pot, among those who could win it; what a ruleset pays in a tie is its own.

    `count` may look up what was counted before.
    """
    count = count or worth_of
    nets = [-float(paid) for paid in spot.put_in]
    error = 0.0
    first = [0.0] * len(nets)
    for place, pot in enumerate(spot.pots):
        if len(pot.seats) == 1:
            nets[pot.seats[0]] += pot.amount
            continue
        value = count(spot, pot.seats, rules, hand)
        error += value.error * pot.amount
        for at, seat in enumerate(pot.seats):
            nets[seat] += value.share[at] * pot.amount
            first[seat] = value.share[at] if place == 0 else first[seat]
            if game.showdown_tie == "no_change" and len(pot.seats) == 2:
                tied = 2 * (value.share[at] - value.alone[at])
                nets[seat] += tied * (spot.put_in[seat] - pot.amount / 2)
    return Expected(tuple(nets), error, tuple(first))


def lucks(row: Row, spot: Closed, rules: Rulebook, count: Count | None = None) -> Iterator[Row]:
    """What each seat of a hand could expect in chips; nothing under rules that nobody has.

    The row names the hand and its ruleset, and how many of its units make a chip.
    """
    game, how = rules.of(row["ruleset"]), rules.showdown(row["ruleset"])
    if game is None or how is None:
        return
    fair = expected(spot, game, how, row["hand"], count)
    for seat, net in enumerate(fair.nets):
        one = {"hand_seq": row["hand_seq"], "seat": seat, "equity": fair.equity[seat]}
        yield {**one, "net_ev": net / row["unit"], "error": fair.error / row["unit"]}


def worth_of(spot: Closed, seats: tuple[int, ...], rules: Showdown, hand: str) -> Worth:
    """The worth of a layer to the hands that may win it, the others' cards out of the way."""
    places = [spot.seats.index(seat) for seat in seats]
    holes = tuple(spot.holes[at] for at in places)
    others = (hole for at, hole in enumerate(spot.holes) if at not in places)
    dead = (*spot.dead, *(card for hole in others for card in hole))
    third = tuple(spot.third[at] for at in places)
    two_after = len(holes) == 2 and len(spot.board) >= 3
    if not any(third) and not spot.chances:
        odds = _equities(holes, spot.board, dead, rules)
        alone = tuple(one.wins / one.deals for one in odds)
        return Worth(alone, tuple(float(one.share) for one in odds))
    if two_after and any(third) and not spot.chances:
        return _third(holes, spot.board, third, dead, rules)
    if two_after and not any(third):
        mine, his = holes
        share = float(_swapped(mine, his, spot.board, spot.chances, dead, rules))
        return Worth((share, 1 - share), (share, 1 - share))
    return _drawn(holes, spot.board, dead, third, spot.chances, rules, crc32(hand.encode()))


@lru_cache(REMEMBERED)
def _third(
    holes: tuple[Cards, ...], board: Cards, third: tuple[int, ...], dead: Cards, rules: Showdown
) -> Worth:
    """Third cards that were won and not dealt yet."""
    turned = third[1] == 0  # the hand that draws nothing is counted against the one that does
    mine, other = (holes[1], holes[0]) if turned else holes
    drawn, dealt = (third[1], third[0]) if turned else third
    odds = against_unseen(
        mine, board, dealt=dealt, drawn=drawn, rival=other, dead=dead, rules=rules
    )
    alone = (odds.wins / odds.deals, odds.losses / odds.deals)
    share = (float(odds.share), float(1 - odds.share))
    return Worth(alone[::-1], share[::-1]) if turned else Worth(alone, share)


_equities = lru_cache(REMEMBERED)(equities)


class Equities:
    """What is known already; `counted` is how many were new."""

    def __init__(self, folder: Path | None) -> None:
        self.counted = 0
        self._known: dict[bytes, Numbers] = {}
        self._file = None if folder is None else folder / FILE
        self._load()

    def worth(self, spot: Closed, seats: tuple[int, ...], rules: Showdown, hand: str) -> Worth:
        """One layer of a closed hand, if two may win it looked up, or counted and kept."""
        if len(seats) != 2:
            return worth_of(spot, seats, rules, hand)
        asked = (spot.holes, spot.board, spot.dead, spot.third, spot.chances, spot.seats, seats)
        # What may be sampled has the hand's name for a seed.
        seed = hand if any(spot.third) or spot.chances else ""
        key = _key(MODEL, SEED, DRAWS, asked, rules, seed)
        if key not in self._known:
            found = worth_of(spot, seats, rules, hand)
            self._keep(key, (*found.alone, *found.share, found.error))  # type: ignore[arg-type]
        one, other, mine, his, error = self._known[key]
        return Worth((one, other), (mine, his), error)

    def share(
        self,
        hole: Cards,
        rival: Cards,
        board: Cards,
        chances: Sequence[tuple[int, int]],
        dead: Cards = (),
        rules: Showdown = STANDARD,
    ) -> float:
        """A hand whose cards may still be swapped, looked up, or counted and kept."""
        key = _key("swap/1", hole, rival, board, tuple(chances), dead, rules)
        if key not in self._known:
            found = float(share_with_swaps(hole, rival, board, chances, dead, rules))
            self._keep(key, (found, 0.0, 0.0, 0.0, 0.0))
        return self._known[key][0]

    def _load(self) -> None:
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            held = self._file.read_bytes() if self._file.exists() else b""
            if len(held) % RECORD.size:
                os.truncate(self._file, len(held) - len(held) % RECORD.size)
        except OSError:  # a folder that cannot be read or written costs time and nothing else
            self._file = None
            return
        whole = len(held) // RECORD.size * RECORD.size
        for key, *numbers in RECORD.iter_unpack(held[:whole]):
            self._known[key] = tuple(numbers)

    def _keep(self, key: bytes, numbers: Numbers) -> None:
        self.counted += 1
        self._known[key] = numbers
        if self._file is None:
            return
        try:
            with self._file.open("ab", buffering=0) as out:
                out.write(RECORD.pack(key, *numbers))
        except OSError:
            self._file = None


def sampled(
    holes: tuple[Cards, ...],
    board: Cards,
    dead: Cards,
    third: tuple[int, ...],
    chances: tuple[tuple[int, int], ...],
    rules: Showdown,
    seed: int,
    draws: int = DRAWS,
) -> Worth:
    """Boards, third cards and what takes the place of swapped cards, drawn at random."""
    chance = np.random.default_rng([SEED, seed])
    held = [card for hole in holes for card in hole]
    rest = unseen(mask((*held, *board, *dead)))
    missing = BOARD - len(board)
    wanted = missing + sum(third) + len(held)
    order = chance.random((draws, len(rest))).argsort(axis=1)[:, :wanted]
    drawn = rest[order]
    boards: Masks = np.bitwise_or.reduce(drawn[:, :missing], axis=1) | mask(board)
    at = missing
    gone = float(1 - kept(chances))
    values = []
    for hole, more in zip(holes, third, strict=True):
        hand = boards.copy()
        for card in hole:
            swapped = chance.random(draws) < gone
            hand |= np.where(swapped, drawn[:, at], mask((card,)))
            at += 1
        for _ in range(more):
            hand |= drawn[:, at]
            at += 1
        values.append(worth(hand, len(hole) + more + BOARD, rules))
    best = np.array(values) == np.max(values, axis=0)
    shares = best / best.sum(axis=0)
    alone = (shares == 1).mean(axis=1)
    error = float(shares.std(axis=1).max()) / draws**0.5
    return Worth(tuple(map(float, alone)), tuple(map(float, shares.mean(axis=1))), error)


_swapped = lru_cache(REMEMBERED)(share_with_swaps)
_drawn = lru_cache(REMEMBERED)(sampled)


@lru_cache(maxsize=4)
def equities_in(folder: Path) -> Equities:
    """The equities of a folder, read once by a process."""
    return Equities(folder)


def _key(*parts: object) -> bytes:
    return sha256(repr(parts).encode()).digest()[:16]

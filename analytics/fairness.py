"""Test whether dealt cards, run-outs, swaps and bids are as chance alone would have them.

Tests of one record are a family: their p-values are corrected together by Holm's method at 1 %,
because who asks a hundred questions finds something. A test that needs more hands is not made, and
says so. Each names the smallest effect that it would have seen four times in five.

Cards come in the order they were dealt, each with its place: `hole dealer 1`, `board 4`, `third
dealer` or `swap turn dealer 1`; with more seats they count from the button. A match in which a card
of a kind was never recorded is left out for that kind altogether: cards that are known because
somebody won with them are no sample. Of a mirrored deck only the first hand counts, for it is one
shuffle.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from analytics.auctions.sniffing import Pair
from analytics.p_values import binomial, chi_square, holm, normal_p
from events.cards import DECK, RANKS, Cards, known
from events.types import BoardDealt, CardSwapped, HoleDealt, StepEntered
from odds.batch import STANDARD
from odds.ranges import CLASSES, before_flop, hands_of, hole_class
from store.log.streams import Leaf, split_stream


class DealtCard(Struct, frozen=True):
    """A dealt card, the kind and name of its place, and the cards dealt before it."""

    kind: str
    place: str
    card: str
    gone: Cards


class DealtHand(Struct, frozen=True):
    """A hand's dealt cards in order, and the first two of each seat from the button on."""

    hand: str
    match: str
    number: int
    cards: tuple[DealtCard, ...]
    holes: tuple[Cards, ...]

    @property
    def has_repeat(self) -> bool:
        """Whether a card was dealt twice."""
        seen = [card.card for card in self.cards]
        return len(seen) != len(set(seen))


class DealtHands(Struct, frozen=True):
    """Dealt hands; `left_out` counts matches by the kind of card that was not recorded."""

    hands: tuple[DealtHand, ...]
    left_out: dict[str, int]


SIGNIFICANCE = 0.01
PLACE_MIN = 520
CLASSES_MIN = 2_000
SERIAL_MIN = 520
CALIBRATION_MIN = 50
SEATS_MIN = 100


class ChanceTest(Struct, frozen=True):
    """A test of chance: `p_adjusted` is its p among all tests; no p where there were too few hands.

    `effect` is the smallest that it could have seen, in its `unit`.
    """

    name: str
    about: str
    n: int
    needed: int = 1
    statistic: float | None = None
    freedom: int | None = None
    p: float | None = None
    p_adjusted: float | None = None
    effect: float | None = None
    unit: str = ""

    @property
    def verdict(self) -> str:
        """The result in words: ok, not chance, or too few hands."""
        if self.p_adjusted is None:
            return f"too few, {self.needed} needed"
        return "ok" if self.p_adjusted >= SIGNIFICANCE else "NOT CHANCE"

    def detectable_effect(self, level: float) -> float | None:
        """The smallest effect found four times in five at this level: Cohen's w or in `unit`."""
        power = NormalDist().inv_cdf(0.8)
        if self.freedom is None:
            reach = NormalDist().inv_cdf(1 - level / 2) + power
            return None if self.effect is None else reach * self.effect
        limit = NormalDist().inv_cdf(1 - level) * sqrt(2 * self.freedom)
        away = limit
        for _ in range(50):  # the deviation of the shifted statistic depends on the shift
            away = limit + power * sqrt(2 * (self.freedom + 2 * away))
        return sqrt(away / self.n)


def with_holm(tests: Iterable[ChanceTest]) -> list[ChanceTest]:
    """The tests with Holm's p among them all, and with the effect that each could have seen."""
    every = list(tests)
    values = [test.p for test in every if test.p is not None]
    ps = iter(holm(values))
    level = SIGNIFICANCE / max(1, len(values))
    return [
        it if it.p is None else replace(it, p_adjusted=next(ps), effect=it.detectable_effect(level))
        for it in every
    ]


def card_tests(hands: Sequence[DealtHand]) -> Iterator[ChanceTest]:
    """Test the dealt cards: repeats, places, hole classes, neighbouring hands and seats."""
    # A law and no matter of chance: one hand is enough.
    twice = sum(hand.has_repeat for hand in hands)
    yield ChanceTest(
        "no card twice", "every hand", len(hands), 1, float(twice), None, 0.0 if twice else 1.0
    )
    yield from _place_tests(hands)
    yield from _hole_class_tests(hands)
    yield from _serial_tests(hands)
    yield from _seat_tests(hands)


def _place_tests(hands: Sequence[DealtHand]) -> Iterator[ChanceTest]:
    """Test each place for uniform cards, out of those still in the deck: who goes on to see a card
    has seen others, so the expectation is made hand by hand."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    owed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    base: defaultdict[str, float] = defaultdict(float)
    for hand in hands:
        for card_dealt in hand.cards:
            chance = 1 / (len(DECK) - len(card_dealt.gone))
            seen[card_dealt.place][card_dealt.card] += 1
            base[card_dealt.place] += chance
            for card in card_dealt.gone:
                owed[card_dealt.place][card] += chance  # type: ignore[assignment]
    for place in sorted(seen):
        n = seen[place].total()
        test = ChanceTest("cards uniform", place, n, PLACE_MIN, unit="w")
        if n < PLACE_MIN:
            yield test
            continue
        expected = {card: base[place] - owed[place][card] for card in DECK}
        yield _chi_test(test, [(seen[place][card], expected[card]) for card in DECK], 51)


def _hole_class_tests(hands: Sequence[DealtHand]) -> Iterator[ChanceTest]:
    """Test the counts of the 169 hole classes, 6, 4 or 12 of 1,326 hands each."""
    places: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for hand in hands:
        for place, hole in enumerate(hand.holes):
            if len(hole) == 2:
                places[place][hole_class(hole)] += 1
    for place, counts in sorted(places.items()):
        n = counts.total()
        test = ChanceTest("hole classes", _seat_name(place), n, CLASSES_MIN, unit="w")
        cells = [(counts[name], n * len(hands_of(name)) / 1326) for name in CLASSES]
        yield _chi_test(test, cells, 168) if n >= CLASSES_MIN else test


def _serial_tests(hands: Sequence[DealtHand]) -> Iterator[ChanceTest]:
    """Test the dealer's first card against that of the hand before: ranks, suits, runs."""
    firsts = [
        (hand.match, hand.number, hand.holes[0][0])
        for hand in hands
        if hand.holes and hand.holes[0]
    ]
    firsts.sort()
    pairs = [(one[2], other[2]) for one, other in pairwise(firsts) if one[0] == other[0]]
    n = len(pairs)
    for about, at, letters in (("ranks", 0, RANKS), ("suits", 1, "cdhs")):
        test = ChanceTest("hand after hand", about, n, SERIAL_MIN, unit="w")
        if n < SERIAL_MIN:
            yield test
            continue
        counts = Counter((one[at], other[at]) for one, other in pairs)
        before = Counter(one[at] for one, _ in pairs)
        after = Counter(other[at] for _, other in pairs)
        cells = [(counts[a, b], before[a] * after[b] / n) for a in letters for b in letters]
        yield _chi_test(test, cells, (len(letters) - 1) ** 2)
    yield _runs_test([RANKS.index(card[0]) for _, _, card in firsts])


def _runs_test(ranks: Sequence[int]) -> ChanceTest:
    """Test runs above and below the median rank, the eight; eights themselves are left out."""
    sides = [rank > 6 for rank in ranks if rank != 6]
    n = len(sides)
    test = ChanceTest(
        "hand after hand", "runs of high and low", n, SERIAL_MIN, unit="runs, in parts"
    )
    high = sum(sides)
    if n < SERIAL_MIN or high in (0, n):
        return test
    runs = 1 + sum(one != other for one, other in pairwise(sides))
    mean = 1 + 2 * high * (n - high) / n
    deviation = sqrt((mean - 1) * (mean - 2) / (n - 1))
    z = (runs - mean) / deviation
    return replace(test, statistic=z, p=normal_p(z), effect=deviation / mean)


def _seat_tests(hands: Sequence[DealtHand]) -> Iterator[ChanceTest]:
    """Test whether a seat gets better cards: their mean equity against any two must be a half."""
    places: defaultdict[int, list[float]] = defaultdict(list)
    worth = {name: float(before_flop(hands_of(name)[0], STANDARD).share) for name in CLASSES}
    for hand in hands:
        for place, hole in enumerate(hand.holes):
            if len(hole) == 2:
                places[place].append(worth[hole_class(hole)])
    for place, values in sorted(places.items()):
        test = ChanceTest("seats alike", _seat_name(place), len(values), SEATS_MIN, unit="equity")
        if len(values) < SEATS_MIN or len(set(values)) == 1:
            yield test
            continue
        error = stdev(values) / sqrt(len(values))
        z = (fmean(values) - 0.5) / error
        yield replace(test, statistic=z, p=normal_p(z), effect=error)


def run_out_test(played: Iterable[dict[str, Any]]) -> ChanceTest:
    """Test all-ins of two before the river, by tenths of equity: pots taken against pots owed."""
    tenths: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    n = 0
    done: set[int] = set()
    for row in played:
        if row["hand_seq"] not in done and 0 < row["equity"] < 1:
            done.add(row["hand_seq"])
            tenths[min(9, int(10 * row["equity"]))].append((row["took"], row["equity"]))
            n += 1
    test = ChanceTest("run-outs as owed", "closed before the river", n, CALIBRATION_MIN, unit="w")
    if n < CALIBRATION_MIN:
        return test
    statistic = sum(
        sum(took - owed for took, owed in tenth) ** 2 / sum(owed * (1 - owed) for _, owed in tenth)
        for tenth in tenths.values()
    )
    p = chi_square(statistic, len(tenths))
    return replace(test, statistic=statistic, freedom=len(tenths), p=p)


def swap_tests(risks: Iterable[dict[str, Any]]) -> Iterator[ChanceTest]:
    """Test how often cards changed, by street and slot, against the stated chance; exact."""
    cells: defaultdict[tuple[str, str, int, float], list[int]] = defaultdict(lambda: [0, 0])
    for row in risks:
        if row["changed"] is not None and row["chance"] is not None:
            cell = cells[row["game"], row["street"], row["slot"], row["chance"]]
            cell[0] += row["changed"]
            cell[1] += 1
    for (game, street, slot, chance), (k, n) in sorted(cells.items()):
        p = binomial(k, n, chance)
        about = f"{game}, {street}, slot {slot + 1}: {chance:.0%} stated"
        error = sqrt(chance * (1 - chance) / n)
        yield ChanceTest("swap rates", about, n, 1, k / n, None, p, effect=error, unit="chance")


def bid_tests(pairs: Iterable[Pair]) -> Iterator[ChanceTest]:
    """Test that sealed bids do not depend on each other; leaked bids may, and are no test."""
    for pair in pairs:
        if pair.leaked:
            continue
        every = [pair.p, *(p for _, _, p in pair.tells.values())]
        given = [p for p in every if p is not None]
        p = min(holm(given)) if pair.n >= 200 else None
        about = f"{pair.dealer} as dealer, {pair.rival}"
        error = 1 / sqrt(max(1, pair.n - 1))
        yield ChanceTest(
            "bids independent", about, pair.n, 200, pair.correlation, None, p, effect=error,
            unit="correlation",
        )  # fmt: skip


def _chi_test(test: ChanceTest, cells: Sequence[tuple[float, float]], freedom: int) -> ChanceTest:
    statistic = sum((seen - owed) ** 2 / owed for seen, owed in cells if owed > 0)
    return replace(test, statistic=statistic, freedom=freedom, p=chi_square(statistic, freedom))


def _seat_name(place: int) -> str:
    return "dealer" if place == 0 else f"dealer + {place}"


def dealt_hands(leaves: Iterable[Leaf], deals: Mapping[str, int]) -> DealtHands:
    """The dealt hands of a record, without the kinds of card that a match did not record."""
    found: list[DealtHand] = []
    lacking: set[tuple[str, str]] = set()
    for leaf in leaves:
        match, number = split_stream(leaf.stream)
        if leaf.hand is None or number is None or (number - 1) % deals.get(match, 1):
            continue
        cards = tuple(_dealt_cards(leaf))
        lacking |= {(match, card.kind) for card in cards if known((card.card,)) is None}
        held: dict[int, Cards] = {}  # the first two cards of each seat
        for recorded in leaf.recorded:
            if isinstance(recorded.event, HoleDealt) and recorded.event.seat not in held:
                held[recorded.event.seat] = recorded.event.cards[:2]
        seats, button = len(leaf.hand.start.players), leaf.hand.start.button
        holes = tuple(held.get((button + away) % seats, ()) for away in range(seats))
        found.append(DealtHand(leaf.stream, match, number, cards, holes))
    # Of a match in which some kinds of card are not known only the others; without holes nothing.
    matches = {match for match, _ in lacking}
    whole = []
    for hand in found:
        if (hand.match, "hole") in lacking:
            hand = replace(hand, cards=(), holes=())
        elif hand.match in matches:
            kept = (card for card in hand.cards if (hand.match, card.kind) not in lacking)
            hand = replace(hand, cards=tuple(kept))
        whole.append(hand)
    kinds = [kind for _, kind in lacking]
    return DealtHands(tuple(whole), {kind: kinds.count(kind) for kind in sorted(set(kinds))})


def _dealt_cards(leaf: Leaf) -> Iterator[DealtCard]:
    """A hand's dealt cards in the order of their events."""
    hand = leaf.hand
    assert hand is not None
    seats = len(hand.start.players)
    gone: Cards = ()
    board, swaps = 0, 0
    held = [0] * seats
    for one in leaf.recorded:
        event: Any = one.event
        if isinstance(event, StepEntered) and event.name == "swap":
            swaps += 1
        new: list[tuple[str, str, str]] = []
        if isinstance(event, HoleDealt):
            who = _seat_role(event.seat, hand.start.button, seats)
            for card in event.cards:
                held[event.seat] += 1
                third = held[event.seat] > 2
                place = f"third {who}" if third else f"hole {who} {held[event.seat]}"
                new.append(("third" if third else "hole", place, card))
        elif isinstance(event, BoardDealt):
            for card in event.cards:
                board += 1
                new.append(("board", f"board {board}", card))
        elif isinstance(event, CardSwapped) and event.new != event.old:
            who = _seat_role(event.seat, hand.start.button, seats)
            street = "flop" if swaps < 2 else "turn"
            new.append(("swap", f"swap {street} {who} {event.slot + 1}", event.new))
        for kind, place, card in new:
            yield DealtCard(kind, place, card, gone)
            gone = (*gone, card)


def _seat_role(seat: int, button: int, seats: int) -> str:
    away = (seat - button) % seats
    if away == 0:
        return "dealer"
    return "big blind" if seats == 2 else f"dealer + {away}"

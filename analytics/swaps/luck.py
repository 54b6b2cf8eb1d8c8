"""What luck did to winnings: swaps, run-outs after the last choice, mirrored deals, curves.

`Luck` holds what was played and which cards were at risk; SQL files judge it. `Equities` keeps what
was counted for it before. What swaps must not depend on (one card's on the other's, a player's act
on his rival's swap) is a table of two by two each, with Fisher's exact p. All tables of one answer
are a family, judged together by Holm's correction at 1 %: who asks many questions finds something
by chance.
"""

import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from analytics.auctions.worth import CountedFile
from analytics.fairness.dealing import LEVEL
from analytics.intervals import rounded, wilson
from analytics.p_values import binomial, fisher, holm
from analytics.projections.equity import DRAWS, MODEL, SEED, Closed, Worth, worth_of
from analytics.sql.chosen import Chosen, Source, players_of, where
from analytics.statistics.catalogue import (
    A_HAND,
    CountedHands,
    Measure,
    Measured,
    MeasureKind,
    Resampled,
    counted_hands,
    means,
    of_parts,
)
from events.cards import Cards
from odds.batch import STANDARD, Showdown
from odds.unseen import share_with_swaps

RECORD = struct.Struct("<16s5d")
FILE = "equities-1.bin"
Numbers = tuple[float, ...]
Row = dict[str, Any]
ACTS = ("bet", "check", "fold")


class IndependenceTest(NamedTuple):
    """One table: `cells` both, one, other, neither; `owed` is what chance owes the first."""

    player: str
    question: str
    game: str | None
    street: str | None
    cells: tuple[int, int, int, int]
    n: int
    owed: float
    p: float
    counted: float

    @property
    def verdict(self) -> str:
        """Whether it is as chance would have it."""
        return "ok" if self.counted >= LEVEL else "NOT CHANCE"


_RESULTS: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("hands", "Hands", "hands dealt in", "number"),
    ("net", "Net", "chips won or lost", "number"),
    ("net_ev", "Net without luck", "net, run-outs after the last choice at their worth", "number"),
    ("luck", "Run-out luck", "`net` less `net_ev`", "number"),
    ("luck_error", "Error of the luck", "one standard error where run-outs were drawn", "number"),
    ("adjusted", "Hands adjusted", "betting closed with cards to come, all cards known", "share"),
    ("net_hand", "Net a hand", "mean of net", "mean"),
    ("net_ev_hand", "Net a hand without luck", "mean of `net_ev`", "mean"),
    ("blue", "Net at showdown", "the blue line", "number"),
    ("red", "Net without showdown", "the red line", "number"),
    ("cost", "Paid in auctions", "prices paid", "number"),
    ("net_swapped", "Net a hand, swapped", "hands in which a card of his changed", "mean"),
    ("net_kept", "Net a hand, kept", "hands in which none did", "mean"),
)
_PAIRS: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("mirrored", "Net a hand, mirrored", "mean over decks of the mean net of their hands", "mean"),
    (
        "mirrored_variance",
        "Variance left",
        "of decks, beside that of as many unpaired hands",
        "number",
    ),
)
_LUCK: tuple[tuple[str, str, str, MeasureKind], ...] = (
    ("swap", "Cards swapped", "changed, of his cards at risk", "share"),
    ("swap_change", "Equity change", "equity after his swap less before", "mean"),
    ("swap_luck", "Chips a swap", "equity change × pot", "mean"),
    ("swap_luck_sum", "Swap luck", "the sum of that over the swaps counted", "number"),
)


_MEASURES = [
    Measure(name, title, meaning, f"swaps_{file}", kind)
    for file, rows in (("results", _RESULTS), ("pairs", _PAIRS), ("luck", _LUCK))
    for name, title, meaning, kind in rows
] + [
    Measure(
        f"{act}_{whose}{what}",
        f"{words.capitalize()}, {'rival ' if whose else ''}{what}",
        f"next choice on the street after {card} was {what}",
        "swaps_behaviour",
        "share",
    )
    for whose, card in (("", "his own card"), ("rival_", "a card of the rival, whom he cannot see"))
    for what in ("swapped", "kept")
    for act, words in (("bet", "bets or raises"), ("check", "checks"), ("fold", "folds"))
]


_AMOUNTS = {
    *("net", "net_ev", "luck", "luck_error", "net_hand", "net_ev_hand", "blue", "red", "cost"),
    *("net_swapped", "net_kept", "mirrored", "swap_luck", "swap_luck_sum"),
}
MEASURES: dict[str, Measure] = {
    one.name: one._replace(amount=one.name in _AMOUNTS) for one in _MEASURES
}
By = Literal["seat", "match", "game"]
FILES = tuple(dict.fromkeys(one.file for one in MEASURES.values()))
_OF_RISKS = ("swaps_luck", "swaps_behaviour", "swaps_rates", "swaps_apart")
_PARTS: dict[By | Literal["hand"], str] = {
    A_HAND: "CAST(c.hand_seq AS VARCHAR)",
    "seat": "p.role",
    "match": "c.match",
    "game": "c.game",
}
# Which rows of a file were valued, on a sample, and the measures that count those alone.
_VALUED = {
    "swaps_luck": ("after IS NOT NULL", ("swap_change", "swap_luck", "swap_luck_sum")),
    "swaps_results": ("adjusted", ("luck", "luck_error", "adjusted")),
}


class Luck:
    """Hands and swaps as one viewpoint knows them."""

    def __init__(self, tables: Source, vs: str | None = None) -> None:
        """`vs`: who is a rival here, and nobody who is asked about."""
        self._tables = tables
        self._vs = vs

    def close(self) -> None:
        """Let go of the tables."""
        self._tables.close()

    def measures(
        self, player: str | None = None, by: By | None = None, *, again: bool = False
    ) -> Iterator[Measured]:
        """Every measure of a player or of all, in their order; with `again`, every mean's interval
        once more with its hands, or decks, drawn again."""
        drawn = Resampled()
        if again:
            for file in FILES:
                asked = of_luck(file, player, by, self._vs)
                drawn.ask(self._tables, file, asked, means(MEASURES.values()))
        return of_parts(MEASURES, {file: self._ask(file, player, by) for file in FILES}, drawn)

    def valued(self, player: str) -> dict[str, CountedHands]:
        """The hands in which swaps and run-outs were valued, of measures that count those; of
        `adjusted` its k, for its n counts all hands."""
        found: dict[str, CountedHands] = {}
        for file, (valued, names) in _VALUED.items():
            rows = f"SELECT * FROM ({of_luck(file, player, A_HAND, self._vs)}) WHERE {valued}"
            answers = {file: self._tables.ask(file, rows)}
            found |= counted_hands([MEASURES[name] for name in names], answers)
        return found

    def rates(self, player: str | None = None) -> list[Row]:
        """How often cards changed, beside the stated chance: exact and two-sided."""
        found = self._ask("swaps_rates", player)
        for row in found:
            k, n, stated = int(row["k"]), int(row["n"]), rounded(row["stated"])
            low, high = wilson(k, n) or (None, None)
            p = None if stated is None else binomial(k, n, stated)
            row |= {"k": k, "n": n, "stated": stated, "low": low, "high": high, "p": p}
        return sorted(found, key=lambda it: (it["player"], it["game"], it["street"], it["slot"]))

    def independence(self, player: str | None = None) -> list[IndependenceTest]:
        """Whether swaps depend on what they must not."""
        slots, behaviour = self._ask("swaps_apart", player), self._ask("swaps_behaviour", player)
        return independence_tests(slots, behaviour)

    def curve(self, player: str | None = None) -> list[Row]:
        """Winnings so far, hand by hand."""
        rows = self._ask("swaps_curve", player)
        return sorted(rows, key=lambda it: (it["match"], it["player"], it["number"]))

    def _ask(self, file: str, player: str | None, by: By | None = None) -> list[Row]:
        return self._tables.ask(file, of_luck(file, player, by, self._vs))


def of_luck(
    file: str, player: str | None, by: By | Literal["hand"] | None, vs: str | None = None
) -> str:
    """The rows that a question is asked of, each with the part it belongs to."""
    part = _PARTS[by] if by else "''"
    whose = where(players_of(Chosen(player=player, vs=vs), "c."))
    if file not in _OF_RISKS:
        return f"SELECT c.*, {part.replace('p.', 'c.')} AS part FROM played AS c{whose}"
    rival = (
        "SELECT max(CASE WHEN o.changed THEN 1 WHEN o.changed IS NULL THEN NULL ELSE 0 END) "
        "FROM risks AS o WHERE o.hand_seq = c.hand_seq AND o.street = c.street AND o.seat <> c.seat"
    )
    return (
        f"SELECT c.*, {part} AS part, ({rival}) AS rival_changed FROM risks AS c "
        f"INNER JOIN played AS p ON c.hand_seq = p.hand_seq AND c.seat = p.seat{whose}"
    )


def independence_tests(slots: Sequence[Row], behaviour: Sequence[Row]) -> list[IndependenceTest]:
    """Every table that has hands, each p as it counts among all of them."""
    tests = []
    for row in sorted(slots, key=lambda it: (it["player"], it["game"], it["street"])):
        cells = tuple(int(row[f"{name}_changed"]) for name in ("both", "first", "second", "none"))
        tests.append(_table(row["player"], "both cards", row["game"], row["street"], cells))
    for row in sorted(behaviour, key=lambda it: str(it["player"])):
        for act in ACTS:  # acts after a swap of the rival, beside acts after none
            did, of, did_else, of_else = (
                int(row[f"{act}_rival_{what}_{end}"] or 0)
                for what in ("swapped", "kept")
                for end in "kn"
            )
            if of and of_else:
                cells = did, of - did, did_else, of_else - did_else
                about = f"{act}s after the rival's swap"
                tests.append(_table(row["player"], about, None, None, cells))
    counted = holm([test.p for test in tests])
    return [test._replace(counted=p) for test, p in zip(tests, counted, strict=True)]


def _table(
    player: str, question: str, game: str | None, street: str | None, cells: tuple[int, ...]
) -> IndependenceTest:
    a, b, c, d = cells
    n = a + b + c + d
    owed = (a + b) * (a + c) / n
    return IndependenceTest(
        player, question, game, street, (a, b, c, d), n, owed, fisher(a, b, c, d), 1.0
    )


class Equities:
    """What was counted before, in a file: a record is the digest of all that the worth of a spot
    depends on, and five numbers. `counted` is how many were new."""

    def __init__(self, folder: Path | None) -> None:
        self.counted = 0
        self._file = CountedFile(None if folder is None else folder / FILE, RECORD)
        self._known: dict[bytes, Numbers] = {
            key: tuple(numbers) for key, *numbers in self._file.read()
        }

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
            self._keep(key, (*found.alone, *found.share, found.error))
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

    def _keep(self, key: bytes, numbers: Numbers) -> None:
        self.counted += 1
        self._known[key] = numbers
        self._file.keep(key, *numbers)


@lru_cache(maxsize=4)
def equities_in(folder: Path) -> Equities:
    """The equities of a folder, read once by a process."""
    return Equities(folder)


def _key(*parts: object) -> bytes:
    return sha256(repr(parts).encode()).digest()[:16]

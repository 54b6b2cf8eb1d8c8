"""Measures of luck: winnings without run-outs and by mirrored decks, swaps and their independence.

`LuckQueries` asks SQL files about played hands and cards at risk. What swaps must not depend on
(one card's on the other's, a player's act on his rival's swap) is a table of two by two each, with
Fisher's exact p. All tables of one answer are a family, corrected together by Holm's method at 1 %:
who asks many questions finds something by chance.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from analytics.fairness import SIGNIFICANCE
from analytics.intervals import rounded, wilson
from analytics.p_values import binomial, fisher, holm
from analytics.sql import HandFilters, SqlFileSource, player_terms, where
from analytics.statistics.catalogue import (
    BY_HAND,
    Bootstrap,
    CountedHands,
    Measure,
    MeasureKind,
    MeasureValue,
    counted_hands,
    mean_names,
    measure_values,
)

Row = dict[str, Any]
ACTS = ("bet", "check", "fold")


class IndependenceTest(NamedTuple):
    """A 2 × 2 table of hands (both, one, other, neither), with Fisher's p and Holm's."""

    player: str
    question: str
    game: str | None
    street: str | None
    cells: tuple[int, int, int, int]
    n: int
    expected: float
    p: float
    p_adjusted: float

    @property
    def verdict(self) -> str:
        """The result in words: ok, or not chance."""
        return "ok" if self.p_adjusted >= SIGNIFICANCE else "NOT CHANCE"


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
_RISK_FILES = ("swaps_luck", "swaps_behaviour", "swaps_rates", "swaps_independence")
_PART_COLUMNS: dict[By | Literal["hand"], str] = {
    BY_HAND: "CAST(c.hand_seq AS VARCHAR)",
    "seat": "p.role",
    "match": "c.match",
    "game": "c.game",
}
# Which rows of a file were valued, on a sample, and the measures that count those alone.
_VALUED = {
    "swaps_luck": ("after IS NOT NULL", ("swap_change", "swap_luck", "swap_luck_sum")),
    "swaps_results": ("adjusted", ("luck", "luck_error", "adjusted")),
}


class LuckQueries:
    """Query the luck in the hands and swaps that one viewpoint knows."""

    def __init__(self, tables: SqlFileSource, vs: str | None = None) -> None:
        """`vs`: who is a rival here, and nobody who is asked about."""
        self._tables = tables
        self._vs = vs

    def close(self) -> None:
        """Let go of the tables."""
        self._tables.close()

    def measures(
        self, player: str | None = None, by: By | None = None, *, with_bootstrap: bool = False
    ) -> Iterator[MeasureValue]:
        """The measures of a player or of all, in order; on request with bootstrap intervals."""
        drawn = Bootstrap()
        if with_bootstrap:
            for file in FILES:
                asked = luck_sql(file, player, by, self._vs)
                drawn.load(self._tables, file, asked, mean_names(MEASURES.values()))
        return measure_values(
            MEASURES, {file: self._ask(file, player, by) for file in FILES}, drawn
        )

    def valued_hands(self, player: str) -> dict[str, CountedHands]:
        """The hands in which swaps and run-outs were valued, by measure; of `adjusted` its k, for
        its n counts all hands."""
        found: dict[str, CountedHands] = {}
        for file, (valued, names) in _VALUED.items():
            rows = f"SELECT * FROM ({luck_sql(file, player, BY_HAND, self._vs)}) WHERE {valued}"
            answers = {file: self._tables.ask(file, rows)}
            found |= counted_hands([MEASURES[name] for name in names], answers)
        return found

    def swap_rates(self, player: str | None = None) -> list[Row]:
        """How often cards changed, by slot, with the exact p of the stated chance."""
        found = self._ask("swaps_rates", player)
        for row in found:
            k, n, stated = int(row["k"]), int(row["n"]), rounded(row["stated"])
            low, high = wilson(k, n) or (None, None)
            p = None if stated is None else binomial(k, n, stated)
            row |= {"k": k, "n": n, "stated": stated, "low": low, "high": high, "p": p}
        return sorted(found, key=lambda it: (it["player"], it["game"], it["street"], it["slot"]))

    def independence(self, player: str | None = None) -> list[IndependenceTest]:
        """Test whether swaps depend on what they must not."""
        slots = self._ask("swaps_independence", player)
        return independence_tests(slots, self._ask("swaps_behaviour", player))

    def curve(self, player: str | None = None) -> list[Row]:
        """Cumulative winnings, hand by hand."""
        rows = self._ask("swaps_curve", player)
        return sorted(rows, key=lambda it: (it["match"], it["player"], it["number"]))

    def _ask(self, file: str, player: str | None, by: By | None = None) -> list[Row]:
        return self._tables.ask(file, luck_sql(file, player, by, self._vs))


def luck_sql(
    file: str, player: str | None, by: By | Literal["hand"] | None, vs: str | None = None
) -> str:
    """SQL that selects the played hands, or the cards at risk, that a file reads, by part."""
    part = _PART_COLUMNS[by] if by else "''"
    whose = where(player_terms(HandFilters(player=player, vs=vs), "c."))
    if file not in _RISK_FILES:
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
    """The 2 × 2 tables that have hands, each with Fisher's p, and Holm's among all of them."""
    tests = []
    for row in sorted(slots, key=lambda it: (it["player"], it["game"], it["street"])):
        cells = tuple(int(row[f"{name}_changed"]) for name in ("both", "first", "second", "none"))
        tests.append(
            _independence_test(row["player"], "both cards", row["game"], row["street"], cells)
        )
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
                tests.append(_independence_test(row["player"], about, None, None, cells))
    adjusted = holm([test.p for test in tests])
    return [test._replace(p_adjusted=p) for test, p in zip(tests, adjusted, strict=True)]


def _independence_test(
    player: str, question: str, game: str | None, street: str | None, cells: tuple[int, ...]
) -> IndependenceTest:
    a, b, c, d = cells
    n = a + b + c + d
    expected = (a + b) * (a + c) / n
    return IndependenceTest(
        player, question, game, street, (a, b, c, d), n, expected, fisher(a, b, c, d), 1.0
    )

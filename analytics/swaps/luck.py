"""What luck did to winnings: swaps, run-outs after the last choice, mirrored deals, curves.

`Luck` holds what was played and which cards were at risk; SQL files judge it.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args

from analytics.confidence.intervals import steady, wilson
from analytics.confidence.p_values import binomial
from analytics.sql.chosen import quoted
from analytics.sql.tables import Source
from analytics.statistics.answers import natural
from analytics.statistics.measured import Measured, Resampled, means, measured
from analytics.swaps.independence import Apart, apart
from analytics.swaps.measures import MEASURES

Row = dict[str, Any]
By = Literal["seat", "match", "game"]
BYS: tuple[By, ...] = get_args(By)
FILES = tuple(dict.fromkeys(one.file for one in MEASURES.values()))
_OF_RISKS = ("swaps_luck", "swaps_behaviour", "swaps_rates", "swaps_apart")
_PARTS: dict[By, str] = {"seat": "p.role", "match": "c.match", "game": "c.game"}


class Luck:
    """Hands and swaps as one viewpoint knows them."""

    def __init__(self, tables: Source) -> None:
        self._tables = tables

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
                drawn.ask(self._tables, file, of_luck(file, player, by), means(MEASURES.values()))
        counted: dict[tuple[str, str], dict[str, Row]] = {}
        for file in FILES:
            for row in self._tables.ask(file, of_luck(file, player, by)):
                counted.setdefault((row["player"], row["part"]), {})[file] = row
        for who, part in sorted(counted, key=lambda key: (key[0], natural(key[1]))):
            for one in MEASURES.values():
                row = counted[who, part].get(one.file, {})
                yield measured(one, row, drawn, who, part)

    def rates(self, player: str | None = None) -> list[Row]:
        """How often cards changed, beside the stated chance: exact and two-sided."""
        found = self._tables.ask("swaps_rates", of_luck("swaps_rates", player, None))
        for row in found:
            k, n, stated = int(row["k"]), int(row["n"]), steady(row["stated"])
            low, high = wilson(k, n) or (None, None)
            p = None if stated is None else binomial(k, n, stated)
            row |= {"k": k, "n": n, "stated": stated, "low": low, "high": high, "p": p}
        return sorted(found, key=lambda it: (it["player"], it["game"], it["street"], it["slot"]))

    def apart(self, player: str | None = None) -> list[Apart]:
        """Whether swaps depend on what they must not."""
        slots, behaviour = (
            self._tables.ask(file, of_luck(file, player, None))
            for file in ("swaps_apart", "swaps_behaviour")
        )
        return apart(slots, behaviour)

    def curve(self, player: str | None = None) -> list[Row]:
        """Winnings so far, hand by hand."""
        rows = self._tables.ask("swaps_curve", of_luck("swaps_curve", player, None))
        return sorted(rows, key=lambda it: (it["match"], it["player"], it["number"]))


def of_luck(file: str, player: str | None, by: By | None) -> str:
    """The rows that a question is asked of, each with the part it belongs to."""
    part = _PARTS[by] if by else "''"
    where = f" WHERE c.player = {quoted(player)}" if player is not None else ""
    if file not in _OF_RISKS:
        return f"SELECT c.*, {part.replace('p.', 'c.')} AS part FROM played AS c{where}"
    rival = (
        "SELECT max(CASE WHEN o.changed THEN 1 WHEN o.changed IS NULL THEN NULL ELSE 0 END) "
        "FROM risks AS o WHERE o.hand_seq = c.hand_seq AND o.street = c.street AND o.seat <> c.seat"
    )
    return (
        f"SELECT c.*, {part} AS part, ({rival}) AS rival_changed FROM risks AS c "
        f"INNER JOIN played AS p ON c.hand_seq = p.hand_seq AND c.seat = p.seat{where}"
    )

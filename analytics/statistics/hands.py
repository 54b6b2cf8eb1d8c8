"""The hands that filters leave, from where they are soonest read, for whoever counts them.

SQL tells of all. One player's hands are read straight from the files
(`store/segments/one_player.py`) if whoever asks is told everything: his question is then answered
in less time than a database takes to open.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.replay.flags import COUNTS
from analytics.sql.chosen import Chosen, table
from analytics.sql.files import text_of
from analytics.statistics.alike import alike, column, grouped
from analytics.stored.packed import WAYS
from store.sql.query import Query

OFTEN = """
SELECT
    player, part, ways, acts, showdown, per_chip, big_blind, big_bet,
    count(*) AS hands, sum(nets) AS nets, sum(squares) AS squares
FROM chosen
GROUP BY player, part, ways, acts, showdown, per_chip, big_blind, big_bet
"""
WHO = ("player", "part", "hands")
UNUSUAL = ", ".join((*WHO, *WAYS, *COUNTS))
_SAME = ("ways", "acts", "showdown", "per_chip", "big_blind", "big_bet")
_BYS = (None, "position", "game", "match")


class Asked(Protocol):
    """Whatever answers SQL about facts with a table."""

    def ask(self, sql: str) -> pa.Table: ...


class Played(Protocol):
    """Hands by player and part."""

    def often(self) -> pa.Table:
        """How often who played which way, with sums of nets; the same way may come twice."""
        ...

    def unusual(self) -> pa.Table:
        """The flags and counts of each hand that has no numbers (`stored.packed`)."""
        ...

    def dealt(self) -> list[dict[str, Any]]:
        """Hands, and of how many the hole cards are known, or were shown."""
        ...


def played(facts: Asked, chosen: Chosen) -> Played:
    """From the files if they can be read and one pass is enough, else by SQL."""
    alone = chosen.player is not None and chosen.vs is None and not chosen.others
    if alone and chosen.by in _BYS and isinstance(facts, Query) and facts.reads:
        return Read(facts, chosen)
    return Told(facts, chosen)


class Told:
    """By SQL."""

    def __init__(self, facts: Asked, chosen: Chosen) -> None:
        self._facts = facts
        self._those = f"WITH chosen AS ({table(chosen)})"

    def often(self) -> pa.Table:
        """One row a way."""
        return self._facts.ask(f"{self._those}{OFTEN}")

    def unusual(self) -> pa.Table:
        """One row a hand."""
        return self._facts.ask(f"{self._those} SELECT {UNUSUAL} FROM chosen WHERE ways IS NULL")

    def dealt(self) -> list[dict[str, Any]]:
        """What the file of that name says."""
        dealt = f"{self._those} SELECT player, part, hands, known, shown FROM ({text_of('dealt')})"
        rows: list[dict[str, Any]] = self._facts.ask(dealt).to_pylist()
        return rows


class Read:
    """One player's, from the files."""

    def __init__(self, query: Query, chosen: Chosen) -> None:
        self._query = query
        self._chosen = chosen
        filters = {
            "game": chosen.game,
            "match": chosen.match,
            "position": chosen.positions or None,
            "number": chosen.hands,
            "hand_seq": chosen.before,
            chosen.by: chosen.by,
        }
        self._filters = [name for name, wanted in filters.items() if name and wanted is not None]

    def often(self) -> pa.Table:
        """One row a way, as SQL would have it."""
        rows = self._left([*_SAME, "net"])
        which, places = grouped([rows[name] for name in ("part", *_SAME)])
        ways = rows.select(["player", "part", *_SAME]).take(column(places))
        nets = rows["net"].to_numpy().astype(np.float64)
        hands = np.bincount(which, minlength=len(places))
        sums = (np.bincount(which, each, len(places)) for each in (nets, nets * nets))
        for name, each in zip(("nets", "squares"), sums, strict=True):
            ways = ways.append_column(name, column(each))
        return ways.append_column("hands", column(hands))

    def unusual(self) -> pa.Table:
        """One row a hand."""
        rows = self._left(["ways", *WAYS, *COUNTS])
        return rows.filter(pc.is_null(rows["ways"])).select([*WHO, *WAYS, *COUNTS])

    def dealt(self) -> list[dict[str, Any]]:
        """Counted part by part."""
        rows = self._left(["cards", "shown"])
        known = pc.is_valid(pc.coalesce(rows["cards"], rows["shown"])).to_numpy()
        shown = pc.is_valid(rows["shown"]).to_numpy()
        return [
            {
                "player": player,
                "part": part,
                "hands": len(at),
                "known": int(known[at].sum()),
                "shown": int(shown[at].sum()),
            }
            for (player, part), at in alike(rows["player"], rows["part"])
        ]

    def _left(self, wanted: Sequence[str]) -> pa.Table:
        """These columns of the hands that the filters leave, and whose they are."""
        chosen = self._chosen
        assert chosen.player is not None
        columns = list(dict.fromkeys([*wanted, *self._filters]))
        rows = self._query.about("facts", chosen.player, columns)
        if terms := list(_terms(chosen, rows)):
            rows = rows.filter(reduce(pc.and_, terms))
        size = rows.num_rows
        part = rows[chosen.by].dictionary_encode() if chosen.by else _alike("", size)
        told = {"player": _alike(chosen.player, size), "part": part, "hands": pa.repeat(1, size)}
        for name, each in told.items():
            rows = rows.append_column(name, each)
        return rows


def _alike(word: str, size: int) -> pa.DictionaryArray:
    """The same in every row, written once."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), size), [word])


def _terms(chosen: Chosen, rows: pa.Table) -> Iterator[pa.ChunkedArray]:
    """One condition for each filter, as `sql.chosen` has them in SQL."""
    for name, value in (("game", chosen.game), ("match", chosen.match)):
        if value is not None:
            yield pc.equal(rows[name], value)
    if chosen.positions:
        yield pc.is_in(rows["position"], pa.array(chosen.positions))
    if chosen.hands is not None:
        yield pc.greater_equal(rows["number"], chosen.hands[0])
        yield pc.less_equal(rows["number"], chosen.hands[1])
    if chosen.before is not None:
        yield pc.less(rows["hand_seq"], chosen.before)

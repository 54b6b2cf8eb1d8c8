"""Where the facts of the hands that filters leave are soonest read.

One player's hands are read straight from the files (`store/segments/reading.py`) if the viewer
may see everything: his question is then answered before a database has opened all files.
"""

import re
from typing import Any, Protocol

import pyarrow as pa

from analytics.sql.chosen import Chosen
from analytics.sql.tables import Tables
from analytics.stored.facts import SCHEMA
from store.sql.answers import plain
from store.sql.query import Query


class Facts(Protocol):
    """Where facts are asked for in SQL, as the view `facts`: a ledger's, or others like them."""

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        ...

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        ...


def soonest(facts: Facts, chosen: Chosen) -> Facts:
    """The facts, or those of the player that is asked about, where they can be read at once."""
    alone = chosen.player is not None and chosen.vs is None and not chosen.others
    if alone and chosen.by != "opponent" and isinstance(facts, Query) and facts.reads:
        assert chosen.player is not None
        return OnePlayer(facts, chosen.player)
    return facts


class OnePlayer:
    """One player's facts, from the files: of each question the columns that it names."""

    def __init__(self, query: Query, player: str) -> None:
        self._query = query
        self._player = player

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        words = set(re.findall(r"\w+", sql))
        wanted = [name for name in SCHEMA.names if name in words]
        tables = Tables({"facts": self._query.about("facts", self._player, wanted)})
        try:
            return tables.table(sql)
        finally:
            tables.close()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        return plain(self.ask(sql))

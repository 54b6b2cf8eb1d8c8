"""`facts`: one row a player and hand; of every tendency, whether there was an opportunity and what
became of it.

A flag is null where there was no opportunity, else true or false; percentages are never stored.
An opportunity is what the menu of the hand's own ruleset offered, so the ledger cannot make these
facts alone: it is handed this projection. Where nobody has that ruleset, only who raised is known
to have been offered it; flags that need the menu are else null. Counts of actions leave forced and
default ones out. Voided hands have no rows.
"""

import re
from hashlib import sha256
from typing import Any, Protocol

import pyarrow as pa

from analytics.replay.flags import AFTER_FLOP, BEFORE_FLOP, COUNTS, FLAGS
from analytics.sql.chosen import Chosen, Tables
from engine.game import Game
from engine.steps import Betting, Straddle
from store.sql.answers import plain
from store.sql.query import Query

WHO: dict[str, pa.DataType] = {
    "hand_seq": pa.int64(),
    "match": pa.string(),
    "number": pa.int64(),
    "game": pa.string(),
    "seat": pa.int32(),
    "player": pa.string(),
    "players": pa.int32(),
    "position": pa.string(),
}
MONEY: dict[str, pa.DataType] = {
    "stack": pa.int64(),
    "big_blind": pa.int64(),
    "big_bet": pa.int64(),
    "per_chip": pa.int64(),
    "put_in": pa.int64(),
    "collected": pa.int64(),
    "net": pa.int64(),
    "won": pa.bool_(),
}
SEEN: dict[str, pa.DataType] = {
    "saw_flop": pa.bool_(),
    "saw_turn": pa.bool_(),
    "saw_river": pa.bool_(),
    "showdown": pa.bool_(),
    "cards": pa.string(),
    "shown": pa.string(),
}
SCHEMA = pa.schema(
    [
        *WHO.items(),
        *MONEY.items(),
        *SEEN.items(),
        *((name, pa.bool_()) for name in FLAGS),
        *((name, pa.int32()) for name in COUNTS),
        ("pattern", pa.string()),  # `stored.patterns`
    ]
)
# How spots and chips are read. 2: who is all-in was offered nothing, whatever a foreign record lets
# him do; 3: a euro cent, a penny and a hundredth of a chip are no chips; 4: to straddle by choice
# is to enter.
_READ = 4


def _version() -> int:
    """Another number for any other columns and for any other meaning of a flag."""
    meant = [(it.name, sorted(it.when.items()), it.takes, it.straddled) for it in FLAGS.values()]
    columns = [(it.name, str(it.type)) for it in SCHEMA]
    described = repr((_READ, columns, BEFORE_FLOP, AFTER_FLOP, meant))
    return int.from_bytes(sha256(described.encode()).digest()[:6])


VERSION = _version()


def stakes(game: Game) -> tuple[int | None, int | None]:
    """The big blind (or straddle), and in a limit game the big bet."""
    big = max(getattr(step, "big", 0) or 0 for step in game.script)
    straddles = [step.amount for step in game.script if isinstance(step, Straddle)]
    sizes = [step.size for step in game.script if isinstance(step, Betting)]
    limit = game.sizing == "fixed" and sizes
    return (big or max(straddles, default=0)) or None, max(sizes) if limit else None


# Where the facts of the hands that filters leave are soonest read: one player's hands straight from
# the files (`store/segments/reading.py`) if the viewer may see everything. His question is then
# answered before a database has opened all files.


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

"""How well players bid: every measure of `auctions.measures`, for the whole and for its parts.

`Bids` holds the auctions of a record and what their cards were worth; it is asked for measures,
for ranks of bids and for the most frequent ones, and leaves the judging to SQL files.
"""

from collections.abc import Collection, Iterator
from typing import Any, Literal, get_args

from analytics.auctions.measures import MEASURES
from analytics.sql.amounts import in_money
from analytics.sql.chosen import quoted
from analytics.sql.tables import Source
from analytics.statistics.answers import natural
from analytics.statistics.measured import Measured, Resampled, means, measured, ratios

By = Literal["seat", "pot", "board", "strength", "rival", "match", "game"]
BYS: tuple[By, ...] = get_args(By)
FILES = tuple(dict.fromkeys(one.file for one in MEASURES.values()))
POTS = ("up to 4", "5 to 20", "21 to 100", "over 100")


def sized(pot: str) -> str:
    """How large a pot is, in SQL: one of `POTS`."""
    small, middling, large, huge = map(quoted, POTS)
    return (
        f"CASE WHEN {pot} <= 4 THEN {small} WHEN {pot} <= 20 THEN {middling} "
        f"WHEN {pot} <= 100 THEN {large} ELSE {huge} END"
    )


_PARTS: dict[By, str] = {
    "seat": "a.role",
    "pot": sized("a.pot"),
    "board": "coalesce(a.texture, 'not known')",
    "strength": (
        "coalesce(CAST(CAST(floor(10 * w.neither) AS INTEGER) * 10 AS VARCHAR) || ' % and more', "
        "'not known')"
    ),
    "rival": "coalesce(a.rival, 'several')",
    "match": "a.match",
    "game": "a.game",
}


class Bids:
    """Auctions as one viewpoint knows them, and values of those that were counted."""

    def __init__(self, tables: Source) -> None:
        self._tables = tables

    def close(self) -> None:
        """Let go of the tables."""
        self._tables.close()

    def measures(
        self, player: str | None = None, by: By | None = None, *, again: bool = False
    ) -> Iterator[Measured]:
        """Every measure of a player or of all, in their order, parts one after the other; with
        `again`, every mean's interval once more with its auctions drawn again."""
        drawn = Resampled()
        wanted = ratios(MEASURES.values()) | (means(MEASURES.values()) if again else set())
        for file in FILES:
            drawn.ask(self._tables, file, chosen(player, by), wanted)
        counted: dict[tuple[str, str], dict[tuple[str, str | None], Any]] = {}
        for file in FILES:
            for row in self._ask(file, player, by):
                mine = counted.setdefault((row["player"], row["part"]), {})
                mine[file, row.get("basis")] = row
        for who, part in sorted(counted, key=lambda key: (key[0], natural(key[1]))):
            for one in MEASURES.values():
                row = counted[who, part].get((one.file, one.basis), {})
                yield measured(one, row, drawn, who, part)

    def ranks(self, player: str | None, by: By | None = None) -> list[dict[str, Any]]:
        """The bids at each tenth, in chips and in pots."""
        return sorted(self._ask("bids_ranks", player, by), key=lambda it: (it["part"], it["tenth"]))

    def common(self, player: str | None, by: By | None = None) -> list[dict[str, Any]]:
        """The most frequent bids."""
        return sorted(
            self._ask("bids_common", player, by), key=lambda it: (it["part"], it["place"])
        )

    def drawn(self, player: str) -> list[dict[str, Any]]:
        """His auctions as points for a picture: bid, rival's bid, what the card was worth."""
        return self._ask("bids_drawn", player, None)

    def _ask(self, file: str, player: str | None, by: By | None) -> list[dict[str, Any]]:
        return self._tables.ask(file, chosen(player, by))


_AMOUNTS = ("stack", "pot", "bid", "rival_bid", "price", "net")


def kept(player: str | None, match: str | None, game: str | None, units: Collection[str]) -> str:
    """The SELECT of auctions that a ledger keeps, cards dealt or shown as `hole`, amounts of these
    units in what they are played for.

    Of a player those in which he bid, and what others bid against him alone.
    """
    money = ", ".join(f"{in_money(name, units)} AS {name}" for name in _AMOUNTS)
    terms = [
        f"{column} = {quoted(value)}"
        for column, value in (("match", match), ("game", game))
        if value is not None
    ]
    if player is not None:
        terms.append(f"(player = {quoted(player)} OR rival = {quoted(player)})")
    where = f" WHERE {' AND '.join(terms)}" if terms else ""
    return f"SELECT * REPLACE ({money}), coalesce(dealt, shown) AS hole FROM auctions{where}"


# Auctions of two on a flop, of which at least one hand is known: those that a card has a worth in.
OF_TWO = """
    SELECT hand_seq, auction FROM auctions GROUP BY hand_seq, auction
    HAVING count(*) = 2 AND max(length(board)) = 8 AND max(length(hole)) = 5
    ORDER BY hand_seq, auction
"""
# What `bids_sniffing.pairs` looks at.
BESIDE = """
    SELECT player, rival, role, match, pot, texture, bid, rival_bid, origin, rival_origin, sealed
    FROM auctions WHERE rival IS NOT NULL AND role <> 'other' ORDER BY hand_seq, auction, seat
"""


def chosen(player: str | None, by: By | None) -> str:
    """The auctions that a question is asked of; each with the part it belongs to."""
    part = _PARTS[by] if by else "''"
    source = "auctions AS a"
    if by == "strength":
        source += (
            " LEFT JOIN worths AS w ON a.hand_seq = w.hand_seq AND a.auction = w.auction "
            "AND a.seat = w.seat AND w.basis = 'own'"
        )
    where = f" WHERE a.player = {quoted(player)}" if player is not None else ""
    return f"SELECT a.*, {part} AS part FROM {source}{where}"

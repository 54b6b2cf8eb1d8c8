"""`worths`: what the third card was worth in an auction of two, on two bases that are never mixed.

`own` is what a bidder could know: his two cards and the board, against any two. `known` is what the
record knows afterwards: both hands as dealt. `won`, `lost`, `neither` and `tied` are parts
of the pot, ties counted half; chips follow from them in SQL (`bids_worth.sql`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from analytics.bids_kept import ThirdCards
from analytics.row_head import Row, tabled
from odds.batch import Showdown
from odds.rank import Cards
from odds.third_card import third_card_known
from odds.unseen import against_unseen

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "auction": pa.int32(),
        "seat": pa.int32(),
        "basis": pa.string(),
        "won": pa.float64(),
        "lost": pa.float64(),
        "neither": pa.float64(),
        "tied": pa.float64(),
    }
)
Auction = tuple[Row, Row]


def auctions(rows: Iterable[Row]) -> list[Auction]:
    """Auctions of two bidders on a flop, of which at least one hand is known."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["hand_seq"], row["auction"]), []).append(row)
    pairs = [(both[0], both[1]) for both in found.values() if len(both) == 2]
    return [both for both in pairs if _cards(both[0]["board"], 3) and _any_known(both)]


def spread(found: Sequence[Auction], wanted: int | None) -> list[Auction]:
    """So many of them, evenly spaced over the record, the same ones every time; None: all."""
    if wanted is None or wanted >= len(found):
        return list(found)
    return [found[at * len(found) // wanted] for at in range(wanted)]


def worths(found: Iterable[Auction], kept: Callable[[Row], ThirdCards | None]) -> Iterator[Row]:
    """The rows of each auction, as they are counted; `kept` names the ranking of a row's rules."""
    for both in found:
        third = kept(both[0])
        if third is None:
            continue
        board = _cards(both[0]["board"], 3)
        for row in both:
            if hole := _cards(row["hole"], 2):
                value = third.of(hole, board)
                parts = (value.won.share, value.lost.share, value.neither.share)
                won, lost, neither = map(float, parts)
                yield _row(row, "own", won, lost, neither, None)
        yield from _known(both, board, third.rules)


def _known(both: Auction, board: Cards, rules: Showdown) -> Iterator[Row]:
    """Both hands as dealt: what one may expect the other may not, so they are counted once."""
    mine, other = (_cards(row["hole"], 2) for row in both)
    if not mine or not other:
        return
    value = third_card_known(mine, other, board, rules)
    won, lost = value.won.share, value.lost.share
    even = value.neither.share
    tied = against_unseen(mine, board, rival=other, dealt=1, drawn=1, rules=rules).share
    yield _row(both[0], "known", float(won), float(lost), float(even), float(tied))
    yield _row(both[1], "known", float(1 - lost), float(1 - won), float(1 - even), float(1 - tied))


def table(rows: Sequence[Row]) -> pa.Table:
    """Rows as Arrow."""
    return tabled(rows, SCHEMA)


def _row(
    row: Mapping[str, Any],
    basis: str,
    won: float,
    lost: float,
    neither: float,
    tied: float | None,
) -> Row:
    found = {name: row[name] for name in ("hand_seq", "auction", "seat")}
    parts = {"won": won, "lost": lost, "neither": neither, "tied": tied}
    return {**found, "basis": basis, **parts}


def _any_known(both: Auction) -> bool:
    return any(_cards(row["hole"], 2) for row in both)


def _cards(text: str | None, size: int) -> Cards:
    cards = tuple(text.split()) if text else ()
    return cards if len(cards) == size else ()

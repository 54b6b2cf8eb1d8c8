"""What an opponent report is made of: some thousand hands after the other become four tables.

`acts`, `ends`, `faults` and `facts`, of every player of the hands that one player was dealt in.
Acts and ends are questions over decisions and facts, which are made from tables of events; only a
hand with a reply that could not be used is read event by event.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.hands import Hands
from analytics.decisions.schema import SCHEMA, SHOWN
from analytics.decisions.table import decisions_of
from analytics.opponents import faults
from analytics.opponents.locked import Mark, locked_from, marks, played_of
from analytics.opponents.strength import ACTS, spread, valued
from analytics.replay.rulebook import Rulebook
from analytics.sql.chosen import quoted
from analytics.sql.tables import Tables
from analytics.stored.facts import SCHEMA as FACTS
from analytics.stored.facts_table import facts_of
from store.columns.codec import leaves_of

Row = dict[str, Any]
Watch = Callable[[Iterable[Row], int], Iterable[Row]]


class Gathered(NamedTuple):
    """The tables; whose match was locked since which hand; how many acts were given a strength."""

    acts: pa.Table
    ends: pa.Table
    faults: pa.Table
    facts: pa.Table
    locks: dict[tuple[str, str], Mark]
    spots: int
    counted: int


class Asked(NamedTuple):
    """About whom, against whom (anybody, where it is nobody), over how many acts of known strength.

    `lengths` is how many hands each match has, as far as that is known.
    """

    player: str
    me: str | None = None
    spots: int | None = None
    lengths: Mapping[str, int] = {}


def gathered(events: Iterable[pa.Table], rules: Rulebook, asked: Asked, watch: Watch) -> Gathered:
    """Everything but the questions, from tables of whole hands; `watch` is handed what takes its
    time, and how much it is."""
    parts = [_Part(rows, rules, asked) for rows in events]
    facts = _joined((part.facts for part in parts), FACTS_WITH_HAND)
    found = _joined((part.faults for part in parts), faults.SCHEMA)
    acts = acts_of(_joined((part.decisions for part in parts), DECISIONS), facts, asked.me)
    places = _spots(acts)
    wanted = spread(places, asked.spots)
    rows = acts.take(pa.array(wanted, pa.int64())).to_pylist()
    valued(watch(rows, len(rows)), rules)
    told = marks([one for part in parts for one in part.played], asked.lengths)
    return Gathered(
        _with_equities(acts, wanted, rows),
        ends_of(acts, facts, found, told),
        found,
        facts,
        locked_from(told),
        len(places),
        len(wanted),
    )


FACTS_WITH_HAND = FACTS.append(pa.field("hand", pa.string()))
DECISIONS = SCHEMA.append(pa.field("rival_cards", pa.int32()))
_OF_SEATS = """
    SELECT
        hand_seq, seat, bool_or(kind = 'fold') AS folded,
        min(CASE WHEN made_pct IS NOT NULL THEN chips END) AS bet_min,
        max(CASE WHEN made_pct IS NOT NULL THEN chips END) AS bet_max
    FROM acts GROUP BY hand_seq, seat
"""


def acts_of(decisions: pa.Table, facts: pa.Table, me: str | None = None) -> pa.Table:
    """`acts`: one row for each thing that a player did, in order; with `me` only his checks count
    as ours (`after_check`).
    """
    ours = "TRUE" if me is None else f"d.player = {quoted(me)}"
    chosen = f"""
        SELECT d.*, {ours} AS ours, coalesce(f.per_chip, 1) AS per_chip,
            coalesce(f.showdown, FALSE) AS showdown
        FROM (
            SELECT hand_seq, match || '/' || number AS hand, {SHOWN}, rival_cards FROM decisions
        ) AS d
        LEFT JOIN facts AS f ON d.hand_seq = f.hand_seq AND d.seat = f.seat
    """
    return _asked("opponent_acts", chosen, decisions=decisions, facts=facts)


def ends_of(acts: pa.Table, facts: pa.Table, found: pa.Table, told: Sequence[Mark]) -> pa.Table:
    """`ends`: one row a player and hand, in order: how it ended for him, what it came to, how large
    he bet, and whether his match was won or lost already; null where nobody knows.
    """
    chosen = f"""
        SELECT f.*, coalesce(folded, FALSE) AS folded, bet_min, bet_max,
            (f.hand_seq, f.seat) IN (SELECT (hand_seq, seat) FROM faults) AS faulty, state
        FROM facts AS f
        LEFT JOIN ({_OF_SEATS}) AS a ON a.hand_seq = f.hand_seq AND a.seat = f.seat
        LEFT JOIN marks AS m ON m.hand_seq = f.hand_seq AND m.player = f.player
    """
    names = ("hand_seq", "player", "state")
    kinds = (pa.int64(), pa.string(), pa.string())
    columns = [[getattr(it, name) for it in told] for name in names]
    marked = pa.table(list(map(pa.array, columns, kinds)), names)
    return _asked("opponent_results", chosen, acts=acts, facts=facts, faults=found, marks=marked)


def _asked(file: str, chosen: str, **of: pa.Table) -> pa.Table:
    """What a file makes of these tables."""
    tables = Tables(of)
    try:
        return tables.table_of(file, chosen)
    finally:
        tables.close()


class _Part:
    """Some thousand hands, of which those are told that he was dealt in, and we too."""

    def __init__(self, events: pa.Table, rules: Rulebook, asked: Asked) -> None:
        rows = _his(events, asked)
        hands = Hands(rows)
        self.decisions = decided(hands, rules)
        self.faults = _faults(hands, rows, rules)
        self.facts = _with_hands(facts_of(rules.of, hands))
        self.played = list(played_of(hands, rules))


def decided(hands: Hands, rules: Rulebook) -> pa.Table:
    """The decisions of these hands, and how many cards the last rival had at each; nothing while
    there are several.
    """
    rows, columns = decisions_of(rules, hands), hands.columns
    hand = np.searchsorted(columns.hand_seq, rows["hand_seq"].to_numpy())
    row, seat = columns.heads.take(hand) + rows["idx"].to_numpy(), rows["seat"].to_numpy()
    rival = np.zeros(len(row), dtype=np.int64)
    for place, there in hands.others(hand, seat):
        rival = np.where(there & (hands.seen.fold.take(place) > row), place, rival)
    cards = np.append(hands.held.size, 0).take(hands.held.turn(rival, row)).astype(np.int32)
    several = rows["rivals"].to_numpy() != 1
    return rows.append_column(DECISIONS.field("rival_cards"), pa.array(cards, mask=several))


def _his(events: pa.Table, asked: Asked) -> pa.Table:
    """The hands at which both sat down."""
    starts = events.filter(pc.equal(events["type"], "HandStarted"))
    seats = starts["players"].combine_chunks()
    if not pa.types.is_dictionary(seats.type):
        seats = seats.dictionary_encode()
    wanted = {asked.player, asked.me} - {None}
    there = [wanted <= set(msgspec.json.decode(it)) for it in seats.dictionary.to_pylist()]
    if all(there):
        return events
    mine = starts["hand_seq"].filter(pa.array(there, pa.bool_()).take(seats.indices))
    return events.filter(pc.is_in(events["hand_seq"], mine.combine_chunks()))


def _faults(hands: Hands, rows: pa.Table, rules: Rulebook) -> pa.Table:
    """Replies that could not be used; what was asked then is for the rules to say."""
    _, hand, _, _ = hands.columns.at("Faulted")
    parts = [rows[it] for it in hands.rows_of(np.unique(hand).tolist())]
    found = [
        row for part in parts for leaf in leaves_of(part) for row in faults.rows_of(leaf, rules)
    ]
    return faults.table(found)


def _spots(acts: pa.Table) -> list[int]:
    """Acts after the flop whose strength can be counted: shown down, one rival, cards known."""
    told = pc.and_(acts["meant"], acts["showdown"])
    for one in (
        pc.is_in(acts["kind"], pa.array(ACTS)),
        pc.is_valid(acts["hole"]),
        pc.is_valid(acts["board"]),
        pc.is_in(acts["rival_cards"], pa.array([1, 2, 3], pa.int32())),
    ):
        told = pc.and_(told, one)
    return np.flatnonzero(pc.fill_null(told, False).to_numpy()).tolist()


def _with_equities(acts: pa.Table, places: list[int], rows: list[Row]) -> pa.Table:
    """The acts with every strength that was counted; cards that no deck deals have none."""
    values: list[float | None] = [None] * acts.num_rows
    for at, row in zip(places, rows, strict=True):
        values[at] = row.get("equity")
    return acts.append_column("equity", pa.array(values, pa.float64()))


def _with_hands(facts: pa.Table) -> pa.Table:
    """Facts with the names of their hands."""
    number = facts["number"].cast(pa.string())
    hand = pc.binary_join_element_wise(facts["match"], number, "/")
    return facts.append_column("hand", hand).cast(FACTS_WITH_HAND)


def _joined(parts: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *parts])

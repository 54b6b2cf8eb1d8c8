"""The tables that an opponent report is made of, and which matches were already won.

`acts`, `ends`, `faults` and `facts` of every player of the hands that one player was dealt in, some
thousand hands at a time. Acts and ends are SQL over decisions and facts, which come from tables of
events; only a hand with a reply that could not be used is read event by event.

A locked win is a lead in a heads-up match that folding every hand still to come would not cost. Its
owner can stop playing, so what he does then tells little of how he plays. A hand is `won` for a
player whose lead, before it began, was larger than the blinds and antes of folding it and all that
follow; `lost` for his rival; `open` as long as neither has such a lead.

The equity of a hand when its player acted is what he could know: his cards and the board, against
any two (or three) cards that a single rival may hold, as if no card were dealt by auction or
swapped any more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.decision_table import SCHEMA, SHOWN_SQL, decision_rows
from analytics.decisions.replayed_hands import ReplayedHands
from analytics.opponents.faults import SCHEMA as FAULTS
from analytics.opponents.faults import fault_rows, fault_table
from analytics.projections.facts import SCHEMA as FACTS
from analytics.projections.facts import fact_rows
from analytics.replay.betting_rounds import chip_results
from analytics.replay.columns import games_of, start_values, units_per_chip
from analytics.replay.rules import Rulebook
from analytics.sql import ArrowTables, quoted
from engine.game import Game
from engine.steps.forced import Antes, Blinds
from odds.batch import Showdown
from odds.ranges import canonical
from odds.rank import mask
from odds.unseen import odds_of_masks
from store.columns.codec import leaves_of

State = Literal["open", "won", "lost"]
STATES: tuple[State, ...] = ("open", "won", "lost")


class HeadsUpHand(NamedTuple):
    """A heads-up hand: who dealt, what each player won, and what folding costs, in chips."""

    hand_seq: int
    match: str
    number: int
    players: tuple[str, str]
    button: int
    nets: tuple[float, float]
    small: float
    big: float


class LockState(NamedTuple):
    """A player's standing before a hand: his lead, and what folding all the rest would cost."""

    hand_seq: int
    match: str
    number: int
    player: str
    lead: float
    cost: float
    state: State


def lock_states(hands: Iterable[HeadsUpHand], lengths: Mapping[str, int]) -> list[LockState]:
    """The lock state of each player before each hand, in matches whose length is known."""
    matches: dict[str, list[HeadsUpHand]] = {}
    for hand in hands:
        if hand.match in lengths:
            matches.setdefault(hand.match, []).append(hand)
    found = []
    for match, mine in matches.items():
        found += _match_states(sorted(mine, key=lambda it: it.number), lengths[match])
    return found


def first_locks(standings: Iterable[LockState]) -> dict[tuple[str, str], LockState]:
    """The first hand since which a player has won his match, by match and player."""
    states: dict[tuple[str, str], LockState] = {}
    for mark in sorted(standings, key=lambda it: (it.match, it.number)):
        key = (mark.match, mark.player)
        if mark.state != "won":
            states.pop(key, None)
        else:
            states.setdefault(key, mark)
    return states


def _match_states(hands: Sequence[HeadsUpHand], length: int) -> list[LockState]:
    """The lock states of a match: leads added up forwards, costs of folding backwards.

    Hands that are not in the record are dealt by turns, first by who did not deal before them.
    """
    names = hands[0].players
    if any(set(hand.players) != set(names) for hand in hands):
        return []
    costs = []  # what folding from each hand on costs each player
    cost = dict.fromkeys(names, 0.0)
    following = length + 1
    for hand in reversed(hands):
        dealer, other = hand.players[hand.button], hand.players[1 - hand.button]
        missing = max(0, following - hand.number - 1)
        first, second = (missing + 1) // 2, missing // 2
        cost[other] += first * hand.small + second * hand.big
        cost[dealer] += second * hand.small + first * hand.big
        cost[dealer] += hand.small
        cost[other] += hand.big
        following = hand.number
        costs.append(dict(cost))
    lead = dict.fromkeys(names, 0.0)
    states = []
    for hand, cost in zip(hands, reversed(costs), strict=True):
        ahead = [name for name in names if lead[name] > cost[name]]
        for name in names:
            state: State = "open" if not ahead else "won" if name in ahead else "lost"
            place = (hand.hand_seq, hand.match, hand.number)
            states.append(LockState(*place, name, lead[name], cost[name], state))
        for name, net in zip(hand.players, hand.nets, strict=True):
            lead[name] += net
    return states


def heads_up_hands(hands: ReplayedHands, rules: Rulebook) -> Iterator[HeadsUpHand]:
    """The heads-up hands with what a lock needs of them; those of unknown blinds are left out."""
    columns, chips = hands.columns, chip_results(hands.columns)
    games, ruleset = games_of(columns, rules.of)
    known = [None if it is None else fold_costs(it) for it in games]
    units = units_per_chip(games, ruleset)
    match = start_values(columns, "match", np.arange(columns.count)).to_pylist()
    for at in np.flatnonzero(columns.counted & (columns.seats == 2)).tolist():
        cost, pair = known[ruleset[at]], slice(columns.base[at], columns.base[at] + 2)
        if cost is not None and hands.progress.dealt[pair].all():
            which = int(columns.hand_seq[at]), match[at], int(columns.number[at])
            one, other = hands.players[pair].to_pylist()
            unit, button = int(units[at]), int(columns.button[at])
            nets = chips.net[pair] / unit
            small, big = (it / unit for it in cost)
            yield HeadsUpHand(*which, (one, other), button, (*nets.tolist(),), small, big)


def fold_costs(game: Game) -> tuple[float, float] | None:
    """What a dealer and his rival pay to fold a hand: small and big blind, and antes."""
    blinds = [step for step in game.script if isinstance(step, Blinds)]
    if len(blinds) != 1:
        return None
    ante = blinds[0].ante + sum(step.amount for step in game.script if isinstance(step, Antes))
    return blinds[0].small + ante, blinds[0].big + ante


T = TypeVar("T")
WEAK, STRONG = 0.35, 0.75
ACTS = ("bet", "raise", "check")  # whose strength is counted, where it was shown down


def evenly_spaced(places: Sequence[T], most: int | None) -> list[T]:
    """At most so many items, evenly spaced over the record, the same every time; None: all."""
    if most is None or most >= len(places):
        return list(places)
    return [places[at * len(places) // most] for at in range(most)]


def add_equity(rows: Iterable[dict[str, Any]], rules: Rulebook) -> None:
    """Add the equity to rows of acts, in place; a ranking that arrays cannot compare adds none."""
    for row in rows:
        how = rules.showdown(row["ruleset"])
        if how is not None:
            with suppress(ValueError):  # no deck deals such cards: the record is forged
                hole, board = (mask(row[name].split()) for name in ("hole", "board"))
                row["equity"] = _equity(*canonical(hole, board), row["rival_cards"], how)


@lru_cache(maxsize=1 << 16)
def _equity(hole: int, board: int, dealt: int, rules: Showdown) -> float:
    """The equity of a hand up to suits, against a rival's unseen cards."""
    return float(odds_of_masks(hole, board, dealt=dealt, rules=rules).share)


Row = dict[str, Any]
Watch = Callable[[Iterable[Row], int], Iterable[Row]]


class OpponentTables(NamedTuple):
    """The tables of a report, the matches that were locked, and how many acts can have an equity
    (`spots`) and got one (`counted`)."""

    acts: pa.Table
    ends: pa.Table
    faults: pa.Table
    facts: pa.Table
    locks: list[Row]
    spots: int
    counted: int


class OpponentScope(NamedTuple):
    """The player, his rival (None: anybody), and how many acts get an equity.

    `lengths` is how many hands each match has, as far as that is known; `hands` the first and last
    number of those that are counted: whether a match was won, all hands before them say.
    """

    player: str
    rival: str | None = None
    spots: int | None = None
    lengths: Mapping[str, int] = {}
    hands: tuple[int, int] | None = None


def opponent_tables(
    events: Iterable[pa.Table], rules: Rulebook, scope: OpponentScope, watch: Watch
) -> OpponentTables:
    """Make the tables of an opponent from events of whole hands; `watch` follows the work."""
    parts = [_PlayerHands(rows, rules, scope) for rows in events]
    facts = _concat((part.facts for part in parts), FACTS_WITH_HAND)
    faulted = _concat((part.faults for part in parts), FAULTS)
    acts = acts_table(_concat((part.decisions for part in parts), DECISIONS), facts, scope.rival)
    standings = lock_states([one for part in parts for one in part.heads_up], scope.lengths)
    ends = ends_table(acts, facts, faulted, standings)
    locks = lock_rows(acts, ends, first_locks(standings))
    if scope.hands is not None:
        first, last = scope.hands
        acts, ends, faulted, facts = (
            rows.filter(
                pc.and_(
                    pc.greater_equal(rows["number"], first), pc.less_equal(rows["number"], last)
                )
            )
            for rows in (acts, ends, faulted, facts)
        )
        there = set(ends["match"].to_pylist())
        locks = [row for row in locks if row["match"] in there]
    # Acts after the flop whose strength can be counted: shown down, one rival, cards known
    countable = pc.and_(acts["meant"], acts["showdown"])
    for one in (
        pc.is_in(acts["kind"], pa.array(ACTS)),
        pc.is_valid(acts["hole"]),
        pc.is_valid(acts["board"]),
        pc.is_in(acts["rival_cards"], pa.array([1, 2, 3], pa.int32())),
    ):
        countable = pc.and_(countable, one)
    places = np.flatnonzero(pc.fill_null(countable, False).to_numpy()).tolist()
    wanted = evenly_spaced(places, scope.spots)
    rows = acts.take(pa.array(wanted, pa.int64())).to_pylist()
    add_equity(watch(rows, len(rows)), rules)
    # The acts with every strength that was counted; cards that no deck deals have none
    values: list[float | None] = [None] * acts.num_rows
    for at, row in zip(wanted, rows, strict=True):
        values[at] = row.get("equity")
    acts = acts.append_column("equity", pa.array(values, pa.float64()))
    return OpponentTables(acts, ends, faulted, facts, locks, len(places), len(wanted))


FACTS_WITH_HAND = FACTS.append(pa.field("hand", pa.string()))
DECISIONS = SCHEMA.append(pa.field("rival_cards", pa.int32()))
_SEATS_SQL = """
    SELECT
        hand_seq, seat, bool_or(kind = 'fold') AS folded, bool_or(hole IS NOT NULL) AS held,
        min(CASE WHEN made_pct IS NOT NULL THEN chips END) AS bet_min,
        max(CASE WHEN made_pct IS NOT NULL THEN chips END) AS bet_max
    FROM acts GROUP BY hand_seq, seat
"""


def acts_table(decisions: pa.Table, facts: pa.Table, rival: str | None = None) -> pa.Table:
    """Make `acts`, a row for each decision in order; with `rival` only his checks count as ours
    (`after_check`).
    """
    ours = "TRUE" if rival is None else f"d.player = {quoted(rival)}"
    chosen = f"""
        SELECT d.*, {ours} AS ours, coalesce(f.per_chip, 1) AS per_chip,
            coalesce(f.showdown, FALSE) AS showdown
        FROM (
            SELECT hand_seq, match || '/' || number AS hand, {SHOWN_SQL}, rival_cards FROM decisions
        ) AS d
        LEFT JOIN facts AS f ON d.hand_seq = f.hand_seq AND d.seat = f.seat
    """
    return _query("opponent_acts", chosen, decisions=decisions, facts=facts)


def ends_table(
    acts: pa.Table, facts: pa.Table, found: pa.Table, standings: Sequence[LockState]
) -> pa.Table:
    """Make `ends`, a row a player and hand in order: how it ended, his net, how large he bet, and
    whether his match was won or lost already; null where nobody knows.
    """
    chosen = f"""
        SELECT f.*, coalesce(folded, FALSE) AS folded, bet_min, bet_max, held,
            (f.hand_seq, f.seat) IN (SELECT (hand_seq, seat) FROM faults) AS faulty, state
        FROM facts AS f
        LEFT JOIN ({_SEATS_SQL}) AS a ON a.hand_seq = f.hand_seq AND a.seat = f.seat
        LEFT JOIN marks AS m ON m.hand_seq = f.hand_seq AND m.player = f.player
    """
    names = ("hand_seq", "player", "state")
    kinds = (pa.int64(), pa.string(), pa.string())
    columns = [[getattr(it, name) for it in standings] for name in names]
    marked = pa.table(list(map(pa.array, columns, kinds)), names)
    return _query("opponent_results", chosen, acts=acts, facts=facts, faults=found, marks=marked)


def lock_rows(
    acts: pa.Table, ends: pa.Table, locked: Mapping[tuple[str, str], LockState]
) -> list[Row]:
    """Rows of matches that were won before their end: since when, and who stopped playing."""
    tables = ArrowTables({"acts": acts, "ends": ends})
    try:
        did = tables.ask("opponent_folding", "SELECT * FROM acts")
        ended = tables.rows("SELECT match, max(number) AS last FROM ends GROUP BY match")
    finally:
        tables.close()
    played = {(row["match"], row["player"]): row["played"] for row in did}
    last = {row["match"]: int(row["last"]) for row in ended}
    found = []
    for (match, player), mark in sorted(locked.items()):
        after = played.get((match, player))
        folds = mark.number if after is None else max(mark.number, int(after) + 1)
        lock = {"match": match, "player": player, "number": mark.number}
        lock |= {"lead": mark.lead, "cost": mark.cost}
        found.append(lock | {"folds_from": folds if folds <= last[match] else None})
    return found


def _query(file: str, chosen: str, **of: pa.Table) -> pa.Table:
    """Ask a SQL file about these tables."""
    tables = ArrowTables(of)
    try:
        return tables.file_table(file, chosen)
    finally:
        tables.close()


class _PlayerHands:
    """Decisions, facts and faults of some thousand hands, of those the player was dealt in."""

    def __init__(self, events: pa.Table, rules: Rulebook, scope: OpponentScope) -> None:
        starts = events.filter(pc.equal(events["type"], "HandStarted"))
        seats = starts["players"].combine_chunks()
        if not pa.types.is_dictionary(seats.type):
            seats = seats.dictionary_encode()
        wanted = {scope.player, scope.rival} - {None}
        there = [wanted <= set(msgspec.json.decode(it)) for it in seats.dictionary.to_pylist()]
        rows = events
        if not all(there):
            mine = starts["hand_seq"].filter(pa.array(there, pa.bool_()).take(seats.indices))
            rows = events.filter(pc.is_in(events["hand_seq"], mine.combine_chunks()))
        hands = ReplayedHands(rows)
        self.decisions = decisions_table(hands, rules)
        # Replies that could not be used; what was asked then is for the rules to say
        _, hand, _, _ = hands.columns.locate("Faulted")
        parts = [rows[it] for it in hands.rows_of(np.unique(hand).tolist())]
        found = [
            row for part in parts for leaf in leaves_of(part) for row in fault_rows(leaf, rules)
        ]
        self.faults = fault_table(found)
        facts = fact_rows(rules.of, hands)
        number = facts["number"].cast(pa.string())
        names = pc.binary_join_element_wise(facts["match"], number, "/")
        self.facts = facts.append_column("hand", names).cast(FACTS_WITH_HAND)
        self.heads_up = list(heads_up_hands(hands, rules))


def decisions_table(hands: ReplayedHands, rules: Rulebook) -> pa.Table:
    """The decisions of hands, with how many cards the last rival had; null with several rivals."""
    rows, columns = decision_rows(rules, hands), hands.columns
    hand = np.searchsorted(columns.hand_seq, rows["hand_seq"].to_numpy())
    row, seat = columns.heads.take(hand) + rows["idx"].to_numpy(), rows["seat"].to_numpy()
    rival = np.zeros(len(row), dtype=np.int64)
    for place, there in hands.other_seats(hand, seat):
        rival = np.where(there & (hands.progress.fold.take(place) > row), place, rival)
    held = hands.hole_cards
    cards = np.append(held.size, 0).take(held.last_change(rival, row)).astype(np.int32)
    several = rows["rivals"].to_numpy() != 1
    return rows.append_column(DECISIONS.field("rival_cards"), pa.array(cards, mask=several))


def _concat(parts: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *parts])

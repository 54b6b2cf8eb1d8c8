"""The tables `played` (results and run-outs) and `risks` (cards at risk of a swap).

`played` has one row a player and hand. `spot` is its run-out, all that an equity needs; `why` is
the reason where there is none. `may_close` leaves out hands that closed for nobody, whatever he may
see: it counts no bid as a choice, for that one was forced may be a secret.

`risks` has every card at risk of a swap, whether it changed, and what the change was worth. A
change is measured on the board of its street, dealt before or after the draw, with all other
cards as they lay at that moment and with the swaps of later streets still to come: so the changes
of a street add up to what the street did to a hand. Only swaps between two known hands have one:
they carry `spot`, for counting an equity takes a thousand times as long as finding out what to
count.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from analytics.projections.auctions import ROLES
from analytics.projections.equity import RunOut, find_run_out
from analytics.replay.columns import ACTIONS, words_at
from analytics.replay.rules import Rulebook, RulesetText
from engine.game import Game
from engine.policies import per_chip
from engine.steps.swap import SwapHole
from events.cards import Cards, known
from events.ledger import Column
from odds.batch import BOARD
from odds.unseen import share_with_swaps
from store.columns.codec import HEAD, RULESET, WHO, Row, leaves_of
from store.log.streams import Leaf
from store.segments.parquet_files import ROW_GROUP, hand_groups
from store.tables.hand_columns import KIND, ChipMoves, HandColumns, run_starts
from store.tables.projection import EventRows, typed_table

PLAYED_SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "ruleset": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "role": pa.string(),
        "net": pa.float64(),
        "unit": pa.int32(),
        "took": pa.float64(),
        "showdown": pa.bool_(),
        "price": pa.float64(),
        "swapped": pa.int32(),
        "at_risk": pa.int32(),
        "may_close": pa.bool_(),
        "spot": pa.string(),
        "why": pa.string(),
    }
)


def encoded_run_out(leaf: Leaf, rules: Rulebook) -> tuple[str | None, str | None]:
    """A hand's run-out as JSON, or the reason why its equity cannot be counted; or neither."""
    spot = run_out_of(leaf, rules)
    if isinstance(spot, RunOut):
        return msgspec.json.encode(spot).decode(), None
    return None, spot


def run_out_of(leaf: Leaf, rules: Rulebook) -> RunOut | str | None:
    """The run-out of a hand as this leaf's viewer knows it; else as `find_run_out` has it."""
    end = leaf.hand
    assert end is not None
    game = rules.of(end.start.ruleset)
    if game is None:
        return "ruleset not known"
    spot = find_run_out([one.event for one in leaf.recorded], end, game)
    if not isinstance(spot, RunOut):
        return spot
    how = rules.showdown(end.start.ruleset)
    if how is None or (how.hole_min and (any(spot.third) or spot.chances)):
        return "ranking not in columns"
    return spot


def played_rows(kept: RulesetText, events: EventRows) -> pa.Table:
    """The rows of `played` for these hands; only those with a run-out are replayed one by one."""
    rules, hands = Rulebook(kept), events.once(HandColumns)
    place = np.flatnonzero(hands.counted.take(hands.place_hand))
    hand, seat = hands.place_hand[place], hands.place_seat[place]
    head = hands.heads.take(hand)
    stays = ~hands.marked("Folded")
    left = np.bincount(hands.place_hand, stays, hands.count) > 1
    closes = hands.counted & left & _runs_out(hands)
    spots: list[str | None] = [None] * hands.count
    whys: list[str | None] = [None] * hands.count
    rows = hands.rows.filter(pa.array(closes.take(hands.hand_of))).unify_dictionaries()
    leaves = (leaf for group in hand_groups([rows], ROW_GROUP) for leaf in leaves_of(group))
    for leaf, at in zip(leaves, np.flatnonzero(closes).tolist(), strict=True):
        spots[at], whys[at] = encoded_run_out(leaf, rules)
    which, rulesets = hands.cells.words("ruleset", hands.heads)
    games = map(rules.of, rulesets.to_pylist())
    # How many units make a chip; of unknown rules one.
    units = np.array([*(1 if game is None else per_chip(game.unit) for game in games), 1])
    unit = units.take(which)[hand]
    net = sum(map(hands.summed, (hands.shares, hands.bounties))) - hands.summed(hands.moves)
    net = net[place]
    settled = hands.kind.take(hands.moves.row) == KIND["AuctionSettled"]
    prices = hands.summed(ChipMoves(*(column[settled] for column in hands.moves)))
    at_risk, changed, hidden = _swap_counts(hands)
    heads_up, dealer = hands.seats[hand] == 2, seat == hands.cells.numbers("button", head)
    found: dict[str, Any] = {
        **{name: hands.column(name, head) for name in PLAYED_SCHEMA.names[:5]},
        "seat": seat,
        "player": hands.players(hand, seat),
        "role": words_at(ROLES, np.where(dealer, 0, np.where(heads_up, 1, 2))),
        "net": net / unit,
        "unit": unit,
        "took": pa.array(_first_pot_shares(hands)[place], mask=~closes[hand]),
        "showdown": stays[place] & left[hand],
        "price": prices[place] / unit,
        "swapped": pa.array(changed[place], mask=hidden[place]),
        "at_risk": at_risk[place],
        "may_close": closes[hand],
        "spot": pa.array(spots, pa.string()).take(pa.array(hand)),
        "why": pa.array(whys, pa.string()).take(pa.array(hand)),
    }
    return typed_table(PLAYED_SCHEMA, **found)


def _runs_out(hands: HandColumns) -> Column:
    """Whether each hand's full board was completed after its last choice; a board may go on."""
    row = hands.of(*ACTIONS, "Tossed")
    free = hands.cells.word_codes("origin", {"forced": 1}, row, 0) == 0
    row = np.sort(np.concatenate([row[free], hands.of("TimedOut")]))
    last = hands.heads.copy()
    last[hands.hand_of.take(row)] = row
    then, now = ((it.codes >= 0).sum(1) for it in (hands.board(last), hands.board()))
    found: Column = (now >= BOARD) & (then < now)
    return found


def _first_pot_shares(hands: HandColumns) -> Column:
    """The share of the first pot that each place was paid."""
    row = hands.of("PotSplit")[::-1]
    first = np.full(hands.count, -1)
    first[hands.hand_of.take(row)] = row
    paid = ChipMoves(
        *(it[hands.shares.row == first.take(hands.shares.hand)] for it in hands.shares)
    )
    sums = np.zeros(hands.count, dtype=np.int64)
    np.add.at(sums, paid.hand, paid.amount)
    found = np.zeros(hands.places + 1)
    found[paid.place] = paid.amount / np.where(sums == 0, 1, sums).take(paid.hand)
    return found


def _swap_counts(hands: HandColumns) -> tuple[Column, Column, Column]:
    """The cards at risk of each place, those changed, and whether that is hidden."""
    row = hands.of("CardSwapped")
    place = hands.place(hands.hand_of.take(row), hands.seat(row))
    old, new = hands.cells.alike(("old", "new"), row)
    masked = sum(hands.cells.word_codes(name, {"hidden": 1}, row, 0) for name in ("old", "new"))
    size = hands.places + 1
    return (
        np.bincount(place, minlength=size),
        np.bincount(place[old != new], minlength=size),
        np.bincount(place[masked > 0], minlength=size) > 0,
    )


STREETS = (("flop", 3), ("turn", 4))
RISKS_SCHEMA = pa.schema(
    {
        **{name: kind for name, kind in HEAD.items() if name != "hand"},
        **RULESET,
        **WHO,
        "street": pa.string(),
        "slot": pa.int32(),
        "chance": pa.float64(),
        "changed": pa.bool_(),
        "pot": pa.int64(),
        "does": pa.string(),
        "spot": pa.string(),
    }
)
SwapSpot = tuple[Cards, Cards, Cards, Cards, Cards, tuple[tuple[int, int], ...]]
ShareFunction = Callable[..., Fraction | float]
_ACTION_WORDS = ("fold", "check", "call", "bet", "raise")  # in the order of `ACTIONS`


def risk_rows(kept: RulesetText, events: EventRows) -> pa.Table:
    """The rows of `risks` for these hands, in the order of the draws."""
    rules, hands = Rulebook(kept), events.once(HandColumns)
    row = hands.of("CardSwapped")
    steps = hands.of("StepEntered")
    steps = steps[hands.cells.word_codes("street", {"swap": 1}, steps, 0) == 1]
    hand, seat = hands.hand_of.take(row), hands.seat(row)
    place = hands.place(hand, seat)
    step: Column = np.searchsorted(steps, row) - 1
    draw = step - np.searchsorted(steps, hands.heads.take(hand))
    swaps = np.flatnonzero(
        hands.counted.take(hand) & (place < hands.places) & (draw >= 0) & (draw < len(STREETS))
    )
    row, hand, seat, place, draw = (it[swaps] for it in (row, hand, seat, place, draw))
    step = hands.cells.numbers("step", steps[step[swaps]])
    head = hands.heads.take(hand)
    old, new = hands.cells.alike(("old", "new"), row)
    hidden = sum(hands.cells.word_codes(name, {"hidden": 1}, row, 0) for name in ("old", "new")) > 0
    games = list(map(rules.of, hands.column("ruleset", head).to_pylist()))
    drawn = list(zip(games, step.tolist(), strict=True))
    steps_drawn = [
        game.script[at] if game is not None and at < len(game.script) else None
        for game, at in drawn
    ]
    chances = [it.chance / it.of if isinstance(it, SwapHole) else None for it in steps_drawn]
    changes = SwapDraws(row, place, draw, np.flatnonzero((old != new) & ~hidden))
    return typed_table(
        RISKS_SCHEMA,
        **{name: hands.column(name, head) for name in RISKS_SCHEMA.names[:5]},
        seat=seat,
        player=hands.players(hand, seat),
        street=words_at([name for name, _ in STREETS], draw),
        slot=hands.column("slot", row),
        chance=pa.array(chances, pa.float64()),
        changed=pa.array(old != new, mask=hidden),
        pot=hands.middle(hand, row),
        does=_next_actions(hands, place, row),
        spot=pa.array(_swap_spots(hands, changes, drawn), pa.string()),
    )


class SwapDraws(NamedTuple):
    """Swap draws: the event row of each, the place of its player, the number of its street; and
    which of them changed a card."""

    row: Column
    place: Column
    draw: Column
    changed: Column


def _next_actions(hands: HandColumns, place: Column, row: Column) -> pa.Array:
    """The next choice of each draw's player on its street, whose board may still be to come; null
    without one."""
    act = hands.of(*ACTIONS)
    step = hands.cells.size + 1
    keys = hands.place(hands.hand_of.take(act), hands.seat(act)) * step + act
    order = np.argsort(keys)
    at = np.searchsorted(keys[order], place * step + row)
    found = np.append(keys[order], -1).take(at)
    has_act, act = found // step == place, found % step
    ends = hands.ends.take(hands.hand_of.take(row))
    opened = hands.after(hands.of("BettingOpened"), row, ends)
    has_act &= act < hands.after(hands.of("StepEntered"), opened, ends)
    act = np.where(has_act, act, 0)
    has_act &= hands.cells.word_codes("origin", {"chosen": 1}, act, 0) == 1
    kinds = np.array([KIND[name] for name in ACTIONS])
    which = (hands.kind.take(act)[:, None] == kinds).argmax(1)
    return words_at(_ACTION_WORDS, np.where(has_act, which, -1))


def _swap_spots(
    hands: HandColumns, changes: SwapDraws, drawn: Sequence[tuple[Game | None, int]]
) -> list[str | None]:
    """The swap spots, as JSON, of changes between two contenders whose cards are known: first
    changes of all hands, then second ones, and so on."""
    found: list[str | None] = [None] * len(changes.row)
    hand = hands.place_hand[changes.place[changes.changed]]
    nth = np.arange(len(hand)) - run_starts(hand)
    folded = np.full(hands.places + 1, hands.cells.size)
    row = hands.of("Folded")
    np.minimum.at(folded, hands.place(hands.hand_of.take(row), hands.seat(row)), row)
    boards = hands.board().text()
    dead = defaultdict(list)  # the cards that swaps put out of play in each hand, by which rows
    swaps = hands.changes.row
    olds = zip(swaps.tolist(), hands.column("old", swaps).to_pylist(), strict=True)
    for at_hand, discard in zip(hands.hand_of.take(swaps).tolist(), olds, strict=True):
        dead[at_hand].append(discard)
    slots = hands.cells.numbers("slot", changes.row)
    new = hands.column("new", changes.row)
    for number in range(int(nth.max(initial=-1)) + 1):
        some = changes.changed[nth == number]
        until = np.full(hands.count, -1)
        until[hand[nth == number]] = changes.row[some]
        stays = folded[: hands.places] > until.take(hands.place_hand)
        count = np.bincount(hands.place_hand, stays, hands.count)
        sums = np.zeros(hands.count, dtype=np.int64)
        np.add.at(sums, hands.place_hand[stays], np.flatnonzero(stays))
        held = hands.hole(until).text()
        for at in some.tolist():
            mine, (game, step) = int(changes.place[at]), drawn[at]
            which = int(hands.place_hand[mine])
            if game is None or count[which] - stays[mine] != 1:
                continue
            other = int(sums[which] - mine * stays[mine])
            hole, his = (known(_cards(held[it])) for it in (mine, other))
            board = known(_cards(boards[which])[: STREETS[changes.draw[at]][1]])
            if hole is None or his is None or board is None or known((new[at].as_py(),)) is None:
                continue
            after = (*hole[: slots[at]], new[at].as_py(), *hole[slots[at] + 1 :])
            lost = [card for place, card in dead[which] if place < changes.row[at]]
            later = [
                (swap.chance, swap.of)
                for swap in game.script[step + 1 :]
                if isinstance(swap, SwapHole)
            ]
            spot = (hole, after, his, board, lost, later)
            found[at] = msgspec.json.encode(spot).decode()
    return found


def _cards(text: pa.Scalar) -> Cards:
    return tuple(text.as_py().split())


def decoded_swap_spot(text: str) -> SwapSpot:
    """A swap spot from its JSON."""
    spot: SwapSpot = msgspec.json.decode(text, type=SwapSpot)
    return spot


def add_swap_equities(
    rows: Iterable[Row], rules: Rulebook, share: ShareFunction | None = None
) -> None:
    """Add to each changed row its equity `before` and `after`; `share` may look them up."""
    count = share or share_with_swaps
    for row in rows:
        how, spot = rules.showdown(row["ruleset"]), row.get("spot")
        if how is None or spot is None:
            continue
        mine, new, his, board, dead, later = spot
        lost = tuple(card for card in mine if card not in new)
        with suppress(ValueError):  # no deck deals such cards: the record is forged
            before = float(count(mine, his, board, later, dead, how))
            after = float(count(new, his, board, later, (*dead, *lost), how))
            row |= {"before": before, "after": after}

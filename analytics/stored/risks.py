"""`risks`: every card at risk of a swap, whether it changed, and what the change was worth.

A change is measured on the board of its street, dealt before or after the draw, with all other
cards as they lay at that moment and with the swaps of later streets still to come: so the changes
of a street add up to what the street did to a hand. Only swaps between two known hands have one:
they carry `spot`, all that an equity needs, for counting one takes a thousand times as long as
finding out what to count.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from analytics.replay.columns import ACTIONS, Rulebook, Text, chosen
from engine.game import Game
from engine.steps.swap import SwapHole
from events.cards import Cards, known
from events.ledger import Column
from store.columns.layout import columns
from store.tables.hand_columns import KIND, Hands, begins
from store.tables.projection import HEAD, RULESET, WHO, EventRows, Projection, Row, made

STREETS = (("flop", 3), ("turn", 4))
SCHEMA = pa.schema(
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
Spot = tuple[Cards, Cards, Cards, Cards, Cards, tuple[tuple[int, int], ...]]
Share = Callable[..., Fraction | float]
_DOES = ("fold", "check", "call", "bet", "raise")  # in the order of `ACTIONS`


def risks(kept: Text) -> Projection:
    """The projection, for a ledger that keeps the texts of rulesets which `kept` reads."""
    return Projection("risks", 2, partial(_of_rows, kept), tuple(columns()))


def _of_rows(kept: Text, events: EventRows) -> pa.Table:
    """The rows of these hands in the order of the draws."""
    rules, hands = Rulebook(kept), events.once(Hands)
    row = hands.of("CardSwapped")
    steps = hands.of("StepEntered")
    steps = steps[hands.cells.codes("street", {"swap": 1}, steps, 0) == 1]
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
    hidden = sum(hands.cells.codes(name, {"hidden": 1}, row, 0) for name in ("old", "new")) > 0
    games = list(map(rules.of, hands.column("ruleset", head).to_pylist()))
    drawn = list(zip(games, step.tolist(), strict=True))
    steps_drawn = [
        game.script[at] if game is not None and at < len(game.script) else None
        for game, at in drawn
    ]
    chances = [it.chance / it.of if isinstance(it, SwapHole) else None for it in steps_drawn]
    changes = Draws(row, place, draw, np.flatnonzero((old != new) & ~hidden))
    return made(
        SCHEMA,
        **{name: hands.column(name, head) for name in SCHEMA.names[:5]},
        seat=seat,
        player=hands.players(hand, seat),
        street=chosen([name for name, _ in STREETS], draw),
        slot=hands.column("slot", row),
        chance=pa.array(chances, pa.float64()),
        changed=pa.array(old != new, mask=hidden),
        pot=hands.middle(hand, row),
        does=_does(hands, place, row),
        spot=pa.array(_spots(hands, changes, drawn), pa.string()),
    )


class Draws(NamedTuple):
    """Draws, and which of them changed a card: of each its row, whose it is, the number of the
    street."""

    row: Column
    place: Column
    draw: Column
    changed: Column


def _does(hands: Hands, place: Column, row: Column) -> pa.Array:
    """Everybody's next choice on the street of a draw, whose board may still be to come; nothing if
    he has none."""
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
    has_act &= hands.cells.codes("origin", {"chosen": 1}, act, 0) == 1
    kinds = np.array([KIND[name] for name in ACTIONS])
    return chosen(_DOES, np.where(has_act, (hands.kind.take(act)[:, None] == kinds).argmax(1), -1))


def _spots(
    hands: Hands, changes: Draws, drawn: Sequence[tuple[Game | None, int]]
) -> list[str | None]:
    """Both hands before the change and after it, for two contenders whose cards are known; first
    changes of all hands, then second ones, and so on."""
    found: list[str | None] = [None] * len(changes.row)
    hand = hands.place_hand[changes.place[changes.changed]]
    nth = np.arange(len(hand)) - begins(hand)
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


def spot_of(text: str) -> Spot:
    """A spot as it was kept."""
    spot: Spot = msgspec.json.decode(text, type=Spot)
    return spot


def valued(rows: Iterable[Row], rules: Rulebook, share: Share | None = None) -> None:
    """Count the equities of these changes, in place; `share` may look up what was counted."""
    from odds.unseen import share_with_swaps

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

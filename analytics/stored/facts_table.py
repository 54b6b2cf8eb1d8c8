"""The table of facts out of many hands, followed in lock-step.

Rulesets are asked for what is on a menu and nothing else, so hands whose menus follow the same
policies are walked together, whatever their games are called.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from analytics.decisions.hands import Hands
from analytics.replay.actions import Walk, walks
from analytics.replay.columns import ACTIONS, ReplayColumns, chosen, head
from analytics.replay.flags import COUNTS, STREETS
from analytics.replay.money import money
from analytics.replay.rulebook import Rules, games_of
from analytics.replay.seen import classes
from analytics.replay.spots import WORDS, columns, straddled
from analytics.replay.streets import Streets
from analytics.stored.facts import SCHEMA, stakes
from analytics.stored.patterns import TRUTHS, patterns
from engine.game import Game
from engine.units import per_chip
from store.columns.cells import Column

Told = dict[str, pa.Array]


def facts_of(rules: Rules, hands: Hands) -> pa.Table:
    """The rows of these hands, in their order and that of seats."""
    replayed, was, at = hands.columns, hands.seen, hands.at
    if not replayed.count:
        return SCHEMA.empty_table()
    games, ruleset = games_of(replayed, rules)
    words = np.zeros((WORDS, replayed.places), dtype=np.int64)
    for walk in walks(replayed, games, ruleset):
        words[:, walk.table.places] = _meanings(walk, Streets(walk.table, at))
    for word, bits in zip(words, straddled(), strict=True):
        word[replayed.straddlers] |= bits
    chips = money(replayed)
    keep = np.flatnonzero(replayed.told.take(replayed.place_hand) & was.dealt)
    hand = replayed.place_hand[keep]
    mine = [word[keep] for word in words]
    truths = [it[keep] for it in (*was.saw, was.showdown, chips.won)]
    counts = _counts(replayed, keep)
    kinds, _ = classes()
    told: Told = {
        **head(replayed, hand),
        "seat": pa.array(replayed.place_seat[keep].astype(np.int32)),
        "player": hands.players.take(pa.array(keep)),
        "players": pa.array(np.bincount(hand, minlength=replayed.count).astype(np.int32)[hand]),
        "position": chosen(at.words, at.position[keep]),
        "stack": pa.array(replayed.stacks[keep]),
        **_stakes(replayed, games, ruleset, hand),
        "put_in": pa.array(chips.put_in[keep]),
        "collected": pa.array(chips.collected[keep]),
        "net": pa.array(chips.net[keep]),
        "cards": chosen(kinds, was.cards[keep]),
        "shown": chosen(kinds, was.shown[keep]),
        **dict(zip(TRUTHS, map(pa.array, truths), strict=True)),
        **_flags(mine),
        **dict(zip(COUNTS, map(pa.array, counts), strict=True)),
        "pattern": patterns(mine, truths, counts),
    }
    return pa.table([told[one.name] for one in SCHEMA], schema=SCHEMA)


def _meanings(walk: Walk, streets: Streets) -> Column:
    """What every place could do and did, as words of `spots`: forced and default acts left out."""
    acts = walk.hands.acts
    found = np.zeros((WORDS, len(walk.table.places)), dtype=np.int64)
    for it in walk.steps():
        streets.take_in(acts.street.take(it.act))
        gone = walk.rounds.gone(it.live, streets.aggressor[: it.live])
        owed = walk.rounds.bet[: it.live] > it.mine
        counts = acts.counts.take(it.act)
        meant = streets.words(it, it.offered, owed, gone)
        for words, word in zip(found, meant, strict=True):
            words[it.place] |= word * counts
        streets.remember(it)
    return found


def _stakes(
    replayed: ReplayColumns, games: Sequence[Game | None], ruleset: Column, hand: Column
) -> dict[str, pa.Array]:
    """The big blind, the big bet, units to a chip; of unknown rules the highest blind there was."""
    none = (None, None, None)
    each = zip(
        *(none if it is None else (*stakes(it), per_chip(it.unit)) for it in games), strict=True
    )
    found = {}
    for name, told in zip(("big_blind", "big_bet", "per_chip"), each, strict=True):
        known: Column = np.array([it or 0 for it in told], dtype=np.int64).take(ruleset)
        there: Column = np.array([it is not None for it in told]).take(ruleset)
        if name == "big_blind":
            row, of, *_ = replayed.blinds
            highest = np.zeros(replayed.count, dtype=np.int64)
            np.maximum.at(highest, of, replayed.cells.numbers("to", row))
            unknown = np.array([it is None for it in games]).take(ruleset)
            known = np.where(unknown, highest, known)
            there = np.where(unknown, np.bincount(of, minlength=replayed.count) > 0, there)
        found[name] = pa.array(known[hand], mask=~there[hand])
    return found


def _counts(replayed: ReplayColumns, keep: Column) -> Column:
    """How often each seat chose each action on each street."""
    acts, wide = replayed.acts, replayed.places + 1
    columns = np.array([_counted(street, name) for street in STREETS for name in ACTIONS])
    column = columns.take(acts.street * np.int64(len(ACTIONS)) + acts.kind)
    cell = (column * wide + acts.place)[acts.counts]
    found = np.bincount(cell, minlength=len(COUNTS) * wide).astype(np.int32)
    return found.reshape(len(COUNTS), wide).take(keep, axis=1)


def _counted(street: str, action: str) -> int:
    """The count that an action of this name goes to; to bet before the flop is to raise."""
    kind = {"Folded": "fold", "Checked": "check", "Called": "call", "Bet": "bet"}.get(
        action, "raise"
    )
    return COUNTS.index(f"{street}_{'raise' if (street, kind) == ('preflop', 'bet') else kind}s")


def _flags(words: Sequence[Column]) -> dict[str, pa.Array]:
    """A flag is null where there was no opportunity."""
    return {
        name: pa.Array.from_buffers(pa.bool_(), len(words[0]), list(map(pa.py_buffer, bits)))
        for name, bits in columns(words).items()
    }

"""A locked win: a lead in a heads-up match that folding every hand still to come would not cost.

Its owner can stop playing, so what he does then tells little of how he plays. A hand is `won`
for a player whose lead, before it began, was larger than the blinds and antes of folding it and
all that follow; `lost` for his rival; `open` as long as neither has such a lead.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from analytics.decisions.hands import Hands
from analytics.replay.columns import Rulebook, games_of, money, units_of, word
from engine.game import Game
from engine.steps.forced import Antes, Blinds

State = Literal["open", "won", "lost"]
STATES: tuple[State, ...] = ("open", "won", "lost")


class Played(NamedTuple):
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


def lock_states(hands: Iterable[Played], lengths: Mapping[str, int]) -> list[LockState]:
    """Every player before every hand of each match whose length is known."""
    matches: dict[str, list[Played]] = {}
    for hand in hands:
        if hand.match in lengths:
            matches.setdefault(hand.match, []).append(hand)
    found = []
    for match, mine in matches.items():
        found += _of_match(sorted(mine, key=lambda it: it.number), lengths[match])
    return found


def locked_from(standings: Iterable[LockState]) -> dict[tuple[str, str], LockState]:
    """By match and player: the first hand of those, up to the last, in which he had won."""
    states: dict[tuple[str, str], LockState] = {}
    for mark in sorted(standings, key=lambda it: (it.match, it.number)):
        key = (mark.match, mark.player)
        if mark.state != "won":
            states.pop(key, None)
        else:
            states.setdefault(key, mark)
    return states


def _of_match(hands: Sequence[Played], length: int) -> list[LockState]:
    """Leads forwards from the first hand, costs backwards from the last."""
    names = hands[0].players
    if any(set(hand.players) != set(names) for hand in hands):
        return []
    costs = list(_left(hands, length))[::-1]
    lead = dict.fromkeys(names, 0.0)
    states = []
    for hand, cost in zip(hands, costs, strict=True):
        ahead = [name for name in names if lead[name] > cost[name]]
        for name in names:
            state: State = "open" if not ahead else "won" if name in ahead else "lost"
            place = (hand.hand_seq, hand.match, hand.number)
            states.append(LockState(*place, name, lead[name], cost[name], state))
        for name, net in zip(hand.players, hand.nets, strict=True):
            lead[name] += net
    return states


def _left(hands: Sequence[Played], length: int) -> Iterable[dict[str, float]]:
    """From the last hand backwards: what folding from there on costs each player.

    Hands that are not in the record are dealt by turns, first by who did not deal before them.
    """
    cost = dict.fromkeys(hands[0].players, 0.0)
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
        yield dict(cost)


def played_of(hands: Hands, rules: Rulebook) -> Iterator[Played]:
    """Heads-up hands as far as a lock needs them; those of unknown blinds are left out."""
    columns, chips = hands.columns, money(hands.columns)
    games, ruleset = games_of(columns, rules.of)
    known, units = [None if it is None else costs(it) for it in games], units_of(games, ruleset)
    match = word(columns, "match", np.arange(columns.count)).to_pylist()
    for at in np.flatnonzero(columns.counted & (columns.seats == 2)).tolist():
        cost, pair = known[ruleset[at]], slice(columns.base[at], columns.base[at] + 2)
        if cost is not None and hands.seen.dealt[pair].all():
            which = int(columns.hand_seq[at]), match[at], int(columns.number[at])
            one, other = hands.players[pair].to_pylist()
            unit, button = int(units[at]), int(columns.button[at])
            nets = chips.net[pair] / unit
            small, big = (it / unit for it in cost)
            yield Played(*which, (one, other), button, (*nets.tolist(),), small, big)


def costs(game: Game) -> tuple[float, float] | None:
    """What a dealer and his rival pay to fold: the small and the big blind, and antes."""
    blinds = [step for step in game.script if isinstance(step, Blinds)]
    if len(blinds) != 1:
        return None
    ante = blinds[0].ante + sum(step.amount for step in game.script if isinstance(step, Antes))
    return blinds[0].small + ante, blinds[0].big + ante

"""Decisions read hand by hand: each event evolved, the engine asked what the seat could do.

What `analytics.decisions` finds in columns is held to this; it is written from `docs/decisions.md`.
"""

from collections.abc import Iterator
from typing import Any

from analytics.decisions.replayed_hands import class_tenths
from analytics.replay.rules import Rulebook, positions
from engine.game import Game
from engine.steps.sizing import raise_range, veto
from events import types as t
from events.cards import known
from events.evolve import evolve, replay
from events.state import Hand, Round
from odds.batch import Showdown
from odds.ranges import hole_class
from odds.rank import CATEGORIES, category, value
from store.log.streams import Leaf, split_stream
from tests.analytics.walked_acts import tossing

Row = dict[str, Any]
STREETS = ("preflop", "preflop", "preflop", "flop", "turn", "river")
NOTES = t.Announced | t.Disconnected | t.Reconnected | t.Faulted
ACTIONS: dict[type, str] = {
    t.Folded: "fold",
    t.Checked: "check",
    t.Called: "call",
    t.Bet: "bet",
    t.Raised: "raise",
}


def tenth(hole: tuple[str, ...], rules: Showdown) -> int | None:
    """1, the weakest tenth of all hands, to 10."""
    return class_tenths(rules)[hole_class(hole)] if len(hole) == 2 else None


def decision_rows(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """The rows of one hand in the order of the record."""
    end = leaf.hand
    if end is None or end.voided or _is_strange(leaf, len(end.stacks)):
        return
    walk = _Walk(leaf, end, rules)
    for idx, one in enumerate(leaf.recorded[1:], start=1):
        event: Any = one.event
        row = walk.row(idx, event)
        if row is not None:
            walk.place += 1
            yield {**walk.about(idx, event.seat), **row, "place": walk.place}
        walk.go_on(event)


def _is_strange(leaf: Leaf, seats: int) -> bool:
    """Whether somebody is named who sits nowhere, or a card is swapped that nobody holds."""
    held: dict[int, int] = {}
    for one in leaf.recorded:
        event: Any = one.event
        if isinstance(event, NOTES) or (isinstance(event, t.TimedOut) and not event.all_in):
            continue
        named = (getattr(event, "seat", 0), *getattr(event, "seats", ()))
        if any(seat is not None and seat >= seats for seat in named):
            return True
        if isinstance(event, t.HoleDealt):
            held[event.seat] = held.get(event.seat, 0) + len(event.cards)
        changes = isinstance(event, t.CardSwapped) and event.old != event.new
        if changes and event.slot >= held.get(event.seat, 0):
            return True
    return False


class _Walk:
    """A hand as it stood before each event, and what its street has seen."""

    def __init__(self, leaf: Leaf, end: Hand, rules: Rulebook) -> None:
        self.leaf, self.end, self.rules = leaf, end, rules
        self.events: list[Any] = [one.event for one in leaf.recorded]
        self.game: Game | None = rules.of(end.start.ruleset)
        self.hand = replay(self.events[:1])
        self.held: list[tuple[str, ...]] = [()] * len(end.stacks)
        self.at = positions(end, self.events)
        self.dealt = 0  # cards of the board, as streets count them
        self.timed = leaf.recorded[0].at != leaf.recorded[-1].at
        self.step = ""
        self.street()

    def street(self) -> None:
        """New cards on the board."""
        self.place = self.raises = 0
        self.round: Round | None = None
        self.last: Row = {"action": None, "seat": None, "size": None, "share": None}

    def go_on(self, event: Any) -> None:
        """The event is counted."""
        if isinstance(event, t.HoleDealt):
            self.held[event.seat] += event.cards
        elif isinstance(event, t.CardSwapped):
            cards = self.held[event.seat]
            if event.slot < len(cards):
                after = cards[event.slot + 1 :]
                self.held[event.seat] = (*cards[: event.slot], event.new, *after)
        elif isinstance(event, t.Tossed):
            cards = self.held[event.seat]
            self.held[event.seat] = cards[: event.slot] + cards[event.slot + 1 :]
        if isinstance(event, t.BoardDealt):
            self.dealt += len(event.cards) + (self.dealt == 0 and tossing(self.leaf))
        self.hand = evolve(self.hand, event)
        if self.hand.round is not None:
            self.round = self.hand.round
        if isinstance(event, t.BoardDealt):
            self.street()
        elif isinstance(event, t.Tossed | t.StepEntered):
            self.round = None
        if isinstance(event, t.StepEntered):
            self.step = event.name

    def about(self, idx: int, seat: int) -> Row:
        """What every choice has: who, where, with what."""
        hand, start = self.hand, self.end.start
        match, number = split_stream(self.leaf.stream)
        hole, shown = self._hole(idx, seat)
        board = known(hand.board)
        others = [how for other, how in enumerate(hand.standing) if other != seat]
        return {
            "hand_seq": self.leaf.hand_seq,
            "match": match,
            "number": number,
            "game": start.game,
            "ruleset": start.ruleset,
            "idx": idx,
            "seat": seat,
            "player": start.players[seat],
            "position": self.at.get(seat),
            "street": STREETS[min(self.dealt, 5)],
            "rivals": sum(how != "folded" for how in others),
            "pot": hand.pot,
            "stack": hand.stacks[seat],
            "hole": " ".join(hole) if hole else None,
            "board": " ".join(board) if board else None,
            "shown": shown,
            "tenth": self._tenth(hole),
            "made": self._made(hole, board),
        }

    def row(self, idx: int, event: Any) -> Row | None:
        """What this kind of choice has beside it; None if the event is nobody's choice."""
        if type(event) in ACTIONS:
            return self._action(idx, event)
        before = {
            "raises": self.raises,
            "raiser": self.last["seat"],
            "faced_size": self.last["size"],
            "faced_share": self.last["share"],
        }
        none = ("to_call", "may_raise", "raise_min", "raise_max", "raised_to", "size", "share")
        row: Row = {**before, **dict.fromkeys(none), "amount": None, "all_in": None}
        row |= {"origin": None, "think_ms": None, "effective": None, "sealed": None}
        match event:
            case t.BidPlaced(seat=seat):
                stack = self.hand.stacks[seat]
                amount: Any = event.amount
                origin: Any = event.origin
                said = None if origin == "hidden" else origin
                row |= {"action": "bid", "faced": "auction", "amount": amount}
                row |= {"sealed": event.sealed}
                row |= {"origin": said if stack else "forced", "effective": self._effective(seat)}
            case t.BlindPosted(seat=seat, kind="straddle", origin=origin) if origin != "forced":
                row |= {"action": "straddle", "faced": "straddle", "origin": origin}
                row |= {"amount": event.amount, "raised_to": event.to}
                row |= {"all_in": event.amount == self.hand.stacks[seat]}
                row |= {"effective": self._effective(seat), "think_ms": self._thought(idx)}
            case t.Tossed(seat=seat, origin=origin):
                row |= {"action": "toss", "faced": "toss", "origin": origin}
                row |= {"effective": self._effective(seat), "think_ms": self._thought(idx)}
            case t.Shown():
                row |= {"action": "show", "faced": "showdown"}
            case t.Mucked():
                row |= {"action": "muck", "faced": "showdown"}
            case _:
                return None
        return row

    def _action(self, idx: int, event: Any) -> Row:
        """A fold, check, call, bet or raise."""
        hand, seat, now = self.hand, event.seat, self.round
        on = now is not None and now.opened
        kind, amount = ACTIONS[type(event)], getattr(event, "amount", 0)
        raising = kind in ("bet", "raise")
        owed = max(0, now.bet - now.bets[seat]) if now is not None and on else None
        low = high = may = None
        if now is not None and on and self.game is not None:
            may = veto(self.game, hand, now, seat) is None
            low, high = raise_range(self.game, hand, now, seat) if may else (None, None)
        size = amount - owed if raising and owed is not None else None
        pot = hand.pot + (owed or 0)
        row = {
            "action": kind,
            "faced": self._faced(kind),
            "faced_size": self.last["size"],
            "faced_share": self.last["share"],
            "to_call": None if owed is None else min(owed, max(0, hand.stacks[seat])),
            "effective": self._effective(seat),
            "raises": self.raises,
            "raiser": self.last["seat"],
            "may_raise": (True if raising else may) if on else None,
            "raise_min": low,
            "raise_max": high,
            "amount": amount,
            "raised_to": {"bet": amount, "raise": getattr(event, "to", None)}.get(kind),
            "size": size,
            "share": size / pot if size is not None and pot else None,
            "all_in": 0 < amount == hand.stacks[seat],
            "origin": event.origin,
            "sealed": None,
            "think_ms": self._thought(idx),
        }
        if raising:
            self.raises += 1
            self.last = row | {"seat": seat}
        return row

    def _faced(self, kind: str) -> str | None:
        """What is to be answered; outside every round a fold is one of what was asked for."""
        now = self.round  # it lasts until the next step, or new cards
        if now is None or not now.opened:
            missed = self.step if self.step in ("toss", "straddle") else None
            return missed if kind == "fold" else None
        return self.last["action"] or ("blind" if now.bet else "nothing")

    def _effective(self, seat: int) -> int:
        """Own chips, or what of them the deepest other seat can match: its bet and its stack."""
        hand = self.hand
        bets = hand.round.bets if hand.round is not None else (0,) * len(hand.stacks)
        reach = {"live": 1, "all_in": 0}  # who is out of time keeps his chips and bets no more
        others = [
            bets[other] + reach[how] * hand.stacks[other]
            for other, how in enumerate(hand.standing)
            if other != seat and how != "folded"
        ]
        return max(0, min(hand.stacks[seat], max(others, default=0) - bets[seat]))

    def _thought(self, idx: int) -> int | None:
        recorded = self.leaf.recorded
        return recorded[idx].at - recorded[idx - 1].at if self.timed else None

    def _hole(self, idx: int, seat: int) -> tuple[tuple[str, ...] | None, bool]:
        """His cards then, and if he turned those up for all, none of them swapped in between."""
        held, shown = self.held[seat], None
        dealt = self._last_change(idx, seat)
        for event in self.events[dealt + 1 :]:
            if isinstance(event, t.CardSwapped | t.Tossed) and event.seat == seat:
                break
            if isinstance(event, t.Shown) and event.seat == seat:
                shown = known(event.cards[: len(held)])
                break
        return shown or known(held), shown is not None

    def _last_change(self, idx: int, seat: int) -> int:
        """The event before this one by which the seat got a card."""
        kinds = (t.HoleDealt, t.CardSwapped, t.Tossed)
        every = range(idx - 1, 0, -1)
        mine = (at for at in every if isinstance(self.events[at], kinds))
        return next((at for at in mine if self.events[at].seat == seat), 0)

    def _tenth(self, hole: tuple[str, ...] | None) -> int | None:
        how = self.rules.showdown(self.end.start.ruleset)
        before = self.dealt < 3
        return tenth(hole, how) if how and hole and before else None

    def _made(self, hole: tuple[str, ...] | None, board: tuple[str, ...] | None) -> str | None:
        game = self.game
        if game is None or not hole or not board:
            return None
        if (game.kickers, game.flushes) != ("five_cards", "best"):
            return None
        if not 5 <= len({*hole, *board}) == len(hole) + len(board) <= 8 or len(board) > 5:
            return None
        by = {"straights": game.straights, "ranking": game.ranking, "hole_min": game.hole_min}
        return CATEGORIES[category(value(hole, board, **by))]  # type: ignore[arg-type]

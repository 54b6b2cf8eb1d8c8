"""Acts, ends and locks of an opponent report read event by event: slow, plain, and another way.

What the report itself asks in SQL (`opponent_acts.sql`, `opponent_results.sql`) is held to this.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from analytics.opponents.opponent_tables import HeadsUpHand, fold_costs
from analytics.replay.flags import STREETS
from analytics.replay.rules import Rulebook, dealt_in, positions
from engine.policies import per_chip
from events.cards import Cards, known
from events.evolve import evolve, replay
from events.state import Hand
from events.types import Bet, BidPlaced, Called, CardSwapped, Checked, Folded, Raised, Shown
from store.log.streams import Leaf, split_stream
from tests.analytics.walked_acts import Act, story, tossing
from tests.analytics.walked_decisions import tenth

Row = dict[str, Any]
_ACTS = (Folded, Checked, Called, Bet, Raised)


def street_of(leaf: Leaf, board: int) -> str:
    """The street with so many cards on the board; where cards are tossed a flop has two to four."""
    cards = (0, 2, 5, 6) if tossing(leaf) else (0, 3, 4, 5)
    return [name for name, low in zip(STREETS, cards, strict=True) if board >= low][-1]


def acts_of(leaf: Leaf, rules: Rulebook, me: str | None = None) -> Iterator[Row]:
    """The rows of one hand in order; with `me` only his checks count as ours (`after_check`).

    Not meant: what was forced or a default, and a fold instead of a straddle, outside every round.
    """
    end = leaf.hand
    if end is None or end.voided:
        return
    game = rules.of(end.start.ruleset)
    told = iter(story(leaf, end.start, game))
    walk = _Walk(leaf, end, me, per_chip(game.unit) if game else 1)
    how = rules.showdown(end.start.ruleset)
    for place, one in enumerate(leaf.recorded[1:], start=1):
        event: Any = one.event
        if isinstance(event, _ACTS):
            row = walk.act(place, event, next(told))
            if row["street"] == "preflop" and how is not None and row["hole"]:
                row["tenth"] = tenth(tuple(row["hole"].split()), how)
            yield row
        elif isinstance(event, BidPlaced):
            yield walk.bid(place, event)
        walk.go_on(event)


class _Walk:
    """A hand as it stood before each act, and what is remembered of a street."""

    def __init__(self, leaf: Leaf, end: Hand, me: str | None, unit: int) -> None:
        self.leaf, self.end, self.me, self.unit = leaf, end, me, unit
        self.events: list[Any] = [one.event for one in leaf.recorded]
        self.hand = replay(self.events[:1])
        self.at = positions(end, self.events)
        stamps = [one.at for one in leaf.recorded]
        self.timed = stamps[0] != stamps[-1]  # a hand that was written at once tells no times
        left = [seat for seat, how in enumerate(end.standing) if how != "folded"]
        self.showdown = left if len(left) > 1 else []
        self.street()

    def street(self) -> None:
        """What a round of betting begins with."""
        self.checked: set[int] = set()
        self.acted: set[int] = set()
        self.faced: float | None = None

    def go_on(self, event: Any) -> None:
        """The event is counted; new cards on the board open a new street, but past the river."""
        before = street_of(self.leaf, len(self.hand.board))
        self.hand = evolve(self.hand, event)
        if street_of(self.leaf, len(self.hand.board)) != before:
            self.street()

    def act(self, place: int, event: Any, told: Act) -> Row:
        """A fold, check, call, bet or raise."""
        row = self._about(place, event.seat)
        made = self._made(event) if told.raises else None
        row |= {"kind": told.kind, "meant": told.counts and told.asked, "owed": told.owed}
        row |= {"offered": told.offered if told.asked else False, "made_pct": made}
        row |= {"faced_pct": self.faced if told.owed else None}
        row |= {"after_check": self._after_check(event.seat, told), "chips": self._chips(event)}
        if made is not None:
            self.faced = 100 * made / (100 + made)
        elif told.kind == "check":
            self.checked.add(event.seat)
        self.acted.add(event.seat)
        return row

    def bid(self, place: int, event: BidPlaced) -> Row:
        """A bid; where nothing but 0 was possible it was not meant; hidden origins say nothing."""
        amount: Any = event.amount  # a bid that is hidden for good has no size
        chips = None if amount is None else amount / self.unit
        meant = event.origin not in ("forced", "default") and self.hand.stacks[event.seat] > 0
        row = {**self._about(place, event.seat), "street": "auction", "kind": "bid"}
        told: Row = {"owed": False, "offered": None, "made_pct": None, "faced_pct": None}
        return {**row, **told, "meant": meant, "after_check": None, "chips": chips}

    def _about(self, place: int, seat: int) -> Row:
        """Whose act it is, on which street, with what in front of him and in his hand."""
        hand, start = self.hand, self.end.start
        match, number = split_stream(self.leaf.stream)
        hole, board = self._hole(place, seat), known(hand.board)
        rivals = [
            len(cards)
            for other, cards in enumerate(hand.hole)
            if other != seat and hand.standing[other] != "folded"
        ]
        return {
            "hand_seq": self.leaf.hand_seq,
            "hand": self.leaf.stream,
            "match": match,
            "number": number,
            "game": start.game,
            "ruleset": start.ruleset,
            "place": place,
            "seat": seat,
            "player": start.players[seat],
            "position": self.at.get(seat),
            "street": street_of(self.leaf, len(hand.board)),
            "stack": hand.stacks[seat] / self.unit,
            "pot": hand.pot / self.unit,
            "per_chip": self.unit,
            "tenth": None,
            "hole": " ".join(hole) if hole else None,
            "board": " ".join(board) if board else None,
            "rival_cards": rivals[0] if len(rivals) == 1 else None,
            "equity": None,
            "showdown": seat in self.showdown,
            "think_ms": self._thought(place),
        }

    def _thought(self, place: int) -> int | None:
        """A sealed bid is told with the others, so it has no time of its own."""
        recorded = self.leaf.recorded
        if not self.timed or isinstance(recorded[place].event, BidPlaced):
            return None
        return recorded[place].at - recorded[place - 1].at

    def _hole(self, place: int, seat: int) -> Cards | None:
        """His cards then: seen, or shown later with none of his swapped in between."""
        held = self.hand.hole[seat]
        if (cards := known(held)) is not None:
            return cards
        for event in self.events[place:]:
            if isinstance(event, CardSwapped) and event.seat == seat:
                return None
            if isinstance(event, Shown) and event.seat == seat:
                return known(event.cards[: len(held)])
        return None

    def _made(self, event: Any) -> float | None:
        """The bet in hundredths of the pot; a raise is measured on top of the call."""
        now, seat = self.hand.round, event.seat
        if now is None:
            return None
        call = max(0, now.bet - now.bets[seat])
        pot = self.hand.pot + call
        return 100 * (event.amount - call) / pot if pot else None

    def _chips(self, event: Any) -> float | None:
        """What a bet or raise puts on top of the call."""
        now = self.hand.round
        if now is None or not isinstance(event, Bet | Raised):
            return None
        return (event.amount - max(0, now.bet - now.bets[event.seat])) / self.unit

    def _after_check(self, seat: int, told: Act) -> bool:
        """He could open a street after the flop, and we had checked to him."""
        if told.owed or told.street == 0 or seat in self.acted or not told.offered:
            return False
        players = self.end.start.players
        return any(self.me in (None, players[other]) for other in self.checked)


def ends_of(
    leaf: Leaf, rules: Rulebook, acts: Sequence[Row], faulty: frozenset[int] = frozenset()
) -> Iterator[Row]:
    """The rows of one hand in seat order; `acts` are its acts, `faulty` the seats that erred."""
    end = leaf.hand
    if end is None or end.voided:
        return
    game = rules.of(end.start.ruleset)
    unit = per_chip(game.unit) if game else 1
    events: list[Any] = [one.event for one in leaf.recorded]
    at = positions(end, events)
    match, number = split_stream(leaf.stream)
    left = [seat for seat, how in enumerate(end.standing) if how != "folded"]
    for seat in dealt_in(end):
        bets = [it["chips"] for it in acts if it["seat"] == seat and it["made_pct"] is not None]
        yield {
            "hand_seq": leaf.hand_seq,
            "hand": leaf.stream,
            "match": match,
            "number": number,
            "game": end.start.game,
            "seat": seat,
            "player": end.start.players[seat],
            "position": at.get(seat),
            "street": street_of(leaf, len(end.board)),
            "how": _how(seat, left),
            "net": (end.stacks[seat] - end.start.stacks[seat]) / unit,
            "bet_min": min(bets, default=None),
            "bet_max": max(bets, default=None),
            "known": _is_known(end, seat, events),
            "fault": seat in faulty,
            "state": None,
        }


def _how(seat: int, left: Sequence[int]) -> str:
    """For him: he folded, all others did, or there was a showdown."""
    if seat not in left:
        return "he_folds"
    return "showdown" if len(left) > 1 else "others_fold"


def _is_known(end: Hand, seat: int, events: Sequence[Any]) -> bool:
    """Whether his cards were seen: dealt to whoever looks, or shown. A hand of three, which has no
    class, counts as soon as he acts with it."""
    if known(end.hole[seat]) is not None:
        acted = any(isinstance(it, _ACTS) and it.seat == seat for it in events)
        return acted or len(end.hole[seat]) == 2
    return any(isinstance(it, Shown) and it.seat == seat and known(it.cards) for it in events)


def heads_up_hand(leaf: Leaf, rules: Rulebook) -> HeadsUpHand | None:
    """A hand as far as a lock needs it; nothing with other than two seats or unknown blinds."""
    end = leaf.hand
    if end is None or end.voided or len(end.stacks) != 2:
        return None
    game = rules.of(end.start.ruleset)
    blinds = fold_costs(game) if game else None
    match, number = split_stream(leaf.stream)
    if blinds is None or number is None or game is None:
        return None
    unit = per_chip(game.unit)
    start = end.start
    one, other = (after - had for after, had in zip(end.stacks, start.stacks, strict=True))
    players = (start.players[0], start.players[1])
    nets = (one / unit, other / unit)
    small, big = (cost / unit for cost in blinds)
    return HeadsUpHand(leaf.hand_seq, match, number, players, start.button, nets, small, big)

"""Facts the slow and obvious way: a hand is walked event by event, a seat and a flag at a time.

This is the oracle of `analytics/projections/facts.py`, which makes rows of many hands at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from analytics.projections.facts import SCHEMA
from analytics.projections.facts import stakes as stakes_of
from analytics.replay.flags import ACTION_COUNTS, FLAGS, STREETS
from analytics.replay.rules import STEALING, dealt_in, positions
from engine.game import Game
from engine.policies import per_chip
from events.state import Hand
from events.types import BlindPosted, BoardDealt, Folded, HoleDealt, PotSplit, Shown
from odds.ranges import hole_class
from store.log.streams import Leaf, split_stream
from tests.analytics.walked_acts import Act, story, tossing

Row = dict[str, bool | int | str | None]
Rules = Callable[[str], Game | None]


def table_of(leaves: Sequence[Leaf], rules: Rules) -> pa.Table:
    """The table of these hands."""
    rows = [row for leaf in leaves for row in rows_of(leaf, rules)]
    columns = [pa.array([row.get(one.name) for row in rows], one.type) for one in SCHEMA]
    return pa.table(columns, schema=SCHEMA)


def rows_of(leaf: Leaf, rules: Rules) -> Iterator[Row]:
    """The rows of one hand, in seat order; none for what is void or does not add up."""
    hand = leaf.hand
    if hand is None or hand.voided:
        return
    game = rules(hand.start.ruleset)
    seats = dealt_in(hand)
    events = [one.event for one in leaf.recorded]
    at = positions(hand, events)  # type: ignore[arg-type]
    acts = story(leaf, hand.start, game)
    rows: dict[int, Row] = {seat: dict.fromkeys(ACTION_COUNTS, 0) for seat in seats}
    _count(acts, rows)
    straddle(events, rows)
    before = preflop([act for act in acts if act.street == 0], at, rows)
    postflop([act for act in acts if act.street], before, rows)
    money(leaf, hand, rows)
    seen(leaf, hand, rows)
    big, bet = stakes(leaf, game)
    parts = None if game is None else per_chip(game.unit)
    match, number = split_stream(leaf.stream)
    for seat in seats:
        row = rows[seat]
        row |= {"hand_seq": leaf.hand_seq, "match": match, "number": number, "seat": seat}
        row |= {"game": hand.start.game, "player": hand.start.players[seat]}
        row |= {"players": len(seats), "position": at[seat]}
        row |= {"big_blind": big, "big_bet": bet, "per_chip": parts}
        row["pattern"] = pattern(row)
        yield row


def straddle(events: Sequence[object], rows: dict[int, Row]) -> None:
    """Who straddled when he might have folded has put chips in by choice, and raised nothing."""
    for event in events:
        match event:
            case BoardDealt():
                return
            case BlindPosted(seat=seat, kind="straddle", origin=origin) if seat in rows:
                if origin not in ("forced", "default"):
                    rows[seat] |= {"vpip": True, "pfr": False}


def stakes(leaf: Leaf, game: Game | None) -> tuple[int | None, int | None]:
    """The big blind (or straddle), and in a limit game the big bet."""
    if game is not None:
        return stakes_of(game)
    posts = (one.event for one in leaf.recorded)
    return max((it.to for it in posts if isinstance(it, BlindPosted)), default=None), None


def _count(done: Sequence[Act], rows: dict[int, Row]) -> None:
    """How often each seat chose each action on each street."""
    for act in done:
        row = rows.get(act.seat)
        if row is not None and act.counts:
            kind = "raise" if act.raises and act.street == 0 else act.kind
            name = f"{STREETS[act.street]}_{kind}s"
            row[name] = int(row[name] or 0) + 1


def chance(row: Row, name: str, offered: bool | None, done: bool) -> None:
    """An opportunity that the menu offered: it was taken, or it was not (yet)."""
    if offered:
        row[name] = bool(row.get(name)) or done


class Before(NamedTuple):
    """What the flop inherits: how many raises, who made the last, who called last of all."""

    raises: int
    aggressor: int | None
    callers: frozenset[int]


class _Pot:
    """Who is in so far, while the actions are read."""

    def __init__(self) -> None:
        self.raisers: list[int] = []
        self.callers = 0  # since the last raise, or limpers
        self.stealer: int | None = None
        self.last: dict[int, str] = {}

    @property
    def raises(self) -> int:
        return len(self.raisers)

    def add(self, act: Act, position: str) -> None:
        """The action is done."""
        if act.raises:
            unopened = not self.raisers and not self.callers
            self.stealer = act.seat if unopened and position in STEALING else None
            self.raisers.append(act.seat)
            self.callers = 0
        elif act.kind == "call":
            self.callers += 1
        self.last[act.seat] = act.kind


def preflop(done: Sequence[Act], at: Mapping[int, str], rows: dict[int, Row]) -> Before:
    """Fill the rows of the seats that acted; what is left empty was no opportunity."""
    pot = _Pot()
    for act in done:
        row = rows.get(act.seat)
        if row is not None and act.counts:
            raised = act.raises
            chance(row, "vpip", True, raised or act.kind == "call")
            chance(row, "pfr", True, raised)
            if act.asked:
                chance(row, "pfr_able", act.offered, raised)
                _FACING.get(pot.raises, _nothing)(row, act, pot, at[act.seat])
                if pot.raises == 0 and act.seat not in pot.last:
                    chance(row, "limp", act.owed, act.kind == "call")
        pot.add(act, at.get(act.seat, ""))
    callers = frozenset(seat for seat, kind in pot.last.items() if kind == "call")
    return Before(pot.raises, pot.raisers[-1] if pot.raisers else None, callers)


def _unraised(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """Nobody has raised; who comes after a limper opens nothing."""
    if pot.callers:
        return
    raised = act.raises
    chance(row, "rfi", act.offered, raised)
    if position in STEALING:
        chance(row, "steal", act.offered, raised)


def _raised_once(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """One raise to face, perhaps with callers, perhaps a steal."""
    raised = act.raises
    chance(row, "three_bet", act.offered, raised)
    if pot.callers:
        chance(row, "squeeze", act.offered, raised)
    elif pot.stealer is not None and position in ("SB", "BB"):
        chance(row, f"fold_to_steal_{position.lower()}", True, act.kind == "fold")
        chance(row, "resteal", act.offered, raised)


def _raised_twice(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """A 3-bet to face: as the opener, or cold."""
    raised, folded = act.raises, act.kind == "fold"
    chance(row, "four_bet", act.offered, raised)
    chance(row, "fold_to_3bet", True, folded)
    if act.seat == pot.raisers[0]:
        chance(row, "four_bet_opener", act.offered, raised)
        chance(row, "fold_to_3bet_opener", True, folded)
    if act.seat not in pot.raisers:
        chance(row, "cold_four_bet", act.offered, raised)


def _nothing(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """A fourth raise and those after it have no statistic."""


_FACING = {0: _unraised, 1: _raised_once, 2: _raised_twice}


class _Street:
    """One round of betting, while its actions are read."""

    def __init__(self, name: str, heir: int | None) -> None:
        self.name = name
        self.heir = heir  # who may make the continuation bet
        self.bets = 0
        self.continued = False
        self.checked: set[int] = set()
        self.acted: set[int] = set()

    def add(self, act: Act) -> None:
        """The action is done."""
        if act.raises:
            self.continued = self.bets == 0 and act.seat == self.heir
            self.bets += 1
        elif act.kind == "check":
            self.checked.add(act.seat)
        self.acted.add(act.seat)


def postflop(done: Sequence[Act], before: Before, rows: dict[int, Row]) -> None:
    """Fill the rows street by street; the right to a continuation bet passes on by betting."""
    heir = before.aggressor
    for number, name in enumerate(STREETS[1:], start=1):
        street = _Street(name, heir)
        made = False
        for act in done:
            if act.street != number or not act.asked:
                continue
            row = rows.get(act.seat)
            if row is not None and act.counts:
                if street.bets:
                    _facing(row, act, street)
                else:
                    _free(row, act, street)
                    if number == 1:
                        _caller(row, act, street, before)
            street.add(act)
            made = made or street.continued
        heir = heir if made else None


def _free(row: Row, act: Act, street: _Street) -> None:
    """Nobody has bet yet."""
    bet = act.raises
    if act.seat == street.heir:
        chance(row, f"cbet_{street.name}", act.offered, bet)
    if street.checked and act.seat not in street.acted:
        chance(row, f"bet_when_checked_to_{street.name}", act.offered, bet)


def _caller(row: Row, act: Act, street: _Street, before: Before) -> None:
    """Who called before the flop may lead into the last raiser, or float behind him."""
    raiser = before.aggressor
    if raiser is None or act.seat not in before.callers:
        return
    if raiser in street.checked:
        if before.raises == 1:
            chance(row, "float_bet", act.offered, act.raises)
    elif raiser not in act.all_in:
        chance(row, "donk", act.offered, act.raises)


def _facing(row: Row, act: Act, street: _Street) -> None:
    """A bet is to be answered: the continuation bet itself, or any after an own check."""
    if street.continued and street.bets == 1:
        chance(row, f"fold_to_cbet_{street.name}", True, act.kind == "fold")
    if act.seat in street.checked:
        chance(row, f"check_raise_{street.name}", act.offered, act.raises)


def money(leaf: Leaf, hand: Hand, rows: dict[int, Row]) -> None:
    """Fill in the chips; `won` asks what was collected, so whoever splits has won."""
    collected = [0] * len(hand.stacks)
    for one in leaf.recorded:
        if isinstance(one.event, PotSplit):
            for seat, share in zip(one.event.seats, one.event.shares, strict=True):
                collected[seat] += share
    owner, extra = _uncalled(hand)
    for seat, row in rows.items():
        back = min(extra, collected[seat]) if seat == owner else 0
        row["stack"] = hand.start.stacks[seat]
        row["put_in"] = hand.paid[seat] + hand.dead[seat] - back
        row["collected"] = collected[seat] - back
        row["net"] = hand.stacks[seat] - hand.start.stacks[seat]
        row["won"] = collected[seat] > back


def _uncalled(hand: Hand) -> tuple[int, int]:
    """Rulesets that leave an uncalled bet in the pot pay it out as one more side pot."""
    *_, matched, most = sorted(hand.paid)
    return hand.paid.index(most), most - matched


def _class(cards: tuple[str, ...]) -> str | None:
    """The class of the first two cards; None where one is unknown."""
    known = len(cards) >= 2 and not {"??", "hidden"} & {*cards[:2]}
    return hole_class(cards[:2]) if known else None


def seen(leaf: Leaf, hand: Hand, rows: dict[int, Row]) -> None:
    """Streets seen, all-in or not, showdown reached, and the class of hole cards."""
    saw = _saw(leaf, set(rows))
    left = sum(standing != "folded" for standing in hand.standing)
    for seat, row in rows.items():
        for street in (1, 2, 3):
            row[f"saw_{STREETS[street]}"] = seat in saw[street]
        row["showdown"] = left > 1 and hand.standing[seat] != "folded"
    for one in leaf.recorded:
        match one.event:
            case HoleDealt(seat=seat, cards=cards) if seat in rows and "cards" not in rows[seat]:
                rows[seat]["cards"] = _class(cards) if len(cards) <= 2 else None
            case Shown(seat=seat, cards=cards) if seat in rows:
                rows[seat]["shown"] = _class(cards)


def _saw(leaf: Leaf, seats: set[int]) -> list[set[int]]:
    """Who had not folded when a street's last card was dealt."""
    saw: list[set[int]] = [set(), set(), set(), set()]
    board, tosses = 0, tossing(leaf)
    for one in leaf.recorded:
        match one.event:
            case Folded(seat=seat):
                seats = seats - {seat}
            case BoardDealt(cards=cards):
                board += tosses and board == 0
                for street, size in enumerate((3, 4, 5), start=1):
                    if board < size <= board + len(cards):
                        saw[street] = seats
                board += len(cards)
    return saw


def pattern(row: Row) -> str:
    """A letter for each flag and other truth, and for each count."""
    truths = (*FLAGS, "saw_flop", "saw_turn", "saw_river", "showdown", "won")
    letters = {None: ".", False: "-", True: "+"}
    said = [letters[row.get(name)] for name in truths]  # type: ignore[index]
    return "".join(said + [chr(ord("0") + int(row[name] or 0)) for name in ACTION_COUNTS])

"""Undisturbed hands as columns of events, as their lines tell them, rules off.

What the lines do not say is counted (what a call moves) or guessed the usual way (that a raise is a
full one). Nobody relies on it: an import holds these events against the rules, and takes a hand
that is anything but what the rules make of it from `formats.hand_records`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from engine.game import Game, fingerprint
from engine.steps import Auction, Betting, Blinds, DealBoard, DealHole, Showdown, SwapHole
from events import types as t
from events.cards import DECK, UNKNOWN
from events.ledger import CARDS, Column, DictionaryColumn, KindColumns, some_of
from formats.mit import lines as say
from formats.mit.hand_columns import HandTotals

_STREETS = ("preflop", "flop", "turn", "river")
_WITHIN = 16  # more than the events of one line


class LogFacts(NamedTuple):
    """Game, players and stack of a log, and what hands assume in which a stack is put in."""

    game: Game
    players: tuple[str, ...]
    stack: int
    assumed: str


class _EventRows(NamedTuple):
    """Events of one kind: from which lines, their order among those of a line, their fields."""

    kind: type[t.Event]
    lines: Column
    within: int
    fields: dict[str, Any]


def has_event_columns(game: Game) -> bool:
    """Whether log lines stand for the steps of these rules; the batch audit sees to policies."""
    kinds = Counter(map(type, game.script))
    streets = [step.street for step in game.script if isinstance(step, Betting)]
    return (
        kinds.keys() <= {Blinds, DealHole, Betting, DealBoard, Auction, SwapHole, Showdown}
        and kinds[DealHole] == kinds[Showdown] == 1
        and (kinds[Auction], kinds[SwapHole]) in ((1, 0), (0, 2))
        and [step.total for step in game.script if isinstance(step, DealBoard)] == [3, 4, 5]
        and len(set(streets)) == len(streets)
        and set(streets) <= {*_STREETS}
    )


def event_columns(counted: HandTotals, which: Column, table: LogFacts) -> tuple[KindColumns, ...]:
    """The events of these hands, kind by kind; the hands are numbered anew, without gaps."""
    kinds = list(_EventBuilder(counted, table).events())
    if not which.all():
        chosen = which[counted.hand]
        for number, some in enumerate(kinds):
            rows = np.flatnonzero(chosen[some.lines])
            kinds[number] = _EventRows(
                some.kind, some.lines[rows], some.within, some_of(some.fields, rows)
            )
    lines = np.concatenate([some.lines for some in kinds])
    within = np.repeat([some.within for some in kinds], [len(some.lines) for some in kinds])
    place = np.empty(len(lines), dtype=np.int64)
    place[np.argsort(lines * _WITHIN + within)] = np.arange(len(lines))
    hand = (np.cumsum(which) - 1)[counted.hand[lines]]
    sizes = np.bincount(hand, minlength=int(which.sum()))
    index = place - (np.cumsum(sizes) - sizes)[hand]
    ends = np.cumsum([len(some.lines) for some in kinds])
    spans = [slice(end - len(some.lines), end) for some, end in zip(kinds, ends, strict=True)]
    return tuple(
        KindColumns(some.kind, hand[span], index[span], some.fields)
        for some, span in zip(kinds, spans, strict=True)
        if len(some.lines)
    )


class _EventBuilder:
    """Which lines make which events."""

    def __init__(self, counted: HandTotals, table: LogFacts) -> None:
        self.it, self.log, self.at, self.table = counted, counted.log, counted.at, table
        script = list(enumerate(table.game.script))
        self.bets = {step.street: at for at, step in script if isinstance(step, Betting)}
        self.boards = {step.total: at for at, step in script if isinstance(step, DealBoard)}
        self.swaps = [at for at, step in script if isinstance(step, SwapHole)]
        self.script = {type(step): at for at, step in script}

    def events(self) -> Iterator[_EventRows]:
        yield from self._begun()
        yield from self._acts()
        yield from self._rounds()
        yield from self._boards()
        if self.swaps:
            yield from self._swapped()
        if Auction in self.script:
            yield from self._auctions()
        yield from self._shown()
        yield from self._ended()

    def _begun(self) -> Iterator[_EventRows]:
        """A hand, its blinds, two cards for each."""
        it, log, game = self.it, self.log, self.table.game
        rounds = it.begins[:-1]
        start: dict[str, object] = {
            "game": game.name,
            "ruleset": fingerprint(game),
            "players": self.table.players,
            "stacks": (self.table.stack,) * 2,
            "played": "",
        }
        same = {name: _repeated(value, len(rounds)) for name, value in start.items()}
        reaches = it.reaches(self.table.stack).astype(np.int64)
        same["assumed"] = DictionaryColumn(reaches, ((), (self.table.assumed,)))
        dead = np.zeros(len(rounds), dtype=bool)
        yield _EventRows(
            t.HandStarted, rounds, 0, {**same, "button": it.button, "dead_small": dead}
        )
        posts = np.flatnonzero(it.of(say.POST))
        amount = log.first[posts]
        second = it.before[posts] == ord(say.POST)
        yield _EventRows(
            t.BlindPosted,
            posts,
            0,
            {
                "seat": log.seat[posts],
                "amount": amount,
                "to": amount,
                "kind": DictionaryColumn(second.astype(np.int64), ("small", "big")),
                "origin": _repeated("forced", len(posts)),
            },
        )
        yield self._entered(self.script[DealHole], "hole", rounds + 3)
        dealt = np.flatnonzero(it.of(say.DEALT))
        cards = DictionaryColumn(log.cards[dealt, :2], CARDS)
        yield _EventRows(t.HoleDealt, dealt, 1, {"seat": log.seat[dealt], "cards": cards})

    def _entered(self, step: int, name: str, lines: Column, within: int = 0) -> _EventRows:
        named = {"step": np.full(len(lines), step), "name": _repeated(name, len(lines))}
        return _EventRows(t.StepEntered, lines, within, named)

    # Betting.

    def _acts(self) -> Iterator[_EventRows]:
        """The choices; the next to act is the seat of the next line."""
        it, log = self.it, self.log
        next_seat = np.where(np.append(it.is_act[1:], False), np.append(log.seat[1:], 0), -1)
        lines = {letter: np.flatnonzero(it.of(letter)) for letter in "fkcbr"}
        seat = {letter: log.seat[rows] for letter, rows in lines.items()}

        def act(kind: type[t.Event], letter: str, **fields: object) -> _EventRows:
            rows = lines[letter]
            chosen = _repeated("chosen", len(rows))
            common = {"seat": seat[letter], "next": next_seat[rows], "origin": chosen}
            return _EventRows(kind, rows, 1, {**common, **fields})

        def moved(letter: str) -> Column:
            rows = lines[letter]
            return it.total[rows] - it.had[seat[letter], rows]

        full = self._full()
        yield act(t.Folded, say.FOLD)
        yield act(t.Checked, say.CHECK, origin=self._origin(lines[say.CHECK]))
        yield act(t.Called, say.CALL, amount=moved(say.CALL))
        yield act(t.Bet, say.BET, amount=moved(say.BET), full=full[lines[say.BET]])
        to = it.total[lines[say.RAISE]]
        yield act(t.Raised, say.RAISE, amount=moved(say.RAISE), to=to, full=full[lines[say.RAISE]])

    def _full(self) -> Column:
        """A bet or raise is full if none of its round was by more, nor the round's size is."""
        it = self.it
        by = it.total - np.append(0, it.largest[:-1])
        most = it.highest(np.where(it.of(say.BET, say.RAISE), by, 0))
        full: Column = by >= np.maximum(np.append(0, most[:-1]), self._sizes()[it.round])
        return full

    def _sizes(self) -> Column:
        """The size of each round."""
        script = self.table.game.script
        sizes = {step.street: step.size for step in script if isinstance(step, Betting)}
        return np.array([sizes.get(street, 0) for street in _STREETS])

    def _origin(self, checks: Column) -> DictionaryColumn:
        """Where one of the two has no chips left, a check is all there was to choose."""
        left = [self.table.stack - self.it.stake(checks, seat) for seat in (0, 1)]
        return DictionaryColumn(
            ((left[0] <= 0) | (left[1] <= 0)).astype(np.int64), ("chosen", "forced")
        )

    def _rounds(self) -> Iterator[_EventRows]:
        """A round opens with its first choice; after its last, what was not matched goes back."""
        it, log = self.it, self.log
        before, after = np.append(False, it.is_act[:-1]), np.append(it.is_act[1:], False)
        first = np.flatnonzero(it.is_act & ~before)
        number = it.round[first]
        steps = np.array([self.bets.get(street, -1) for street in _STREETS])
        opened = {
            "step": steps[number],
            "street": DictionaryColumn(number, _STREETS),
            "bet": it.largest[first - 1] * (number == 0),
            "size": self._sizes()[number],
            "next": log.seat[first],
        }
        yield _EventRows(t.BettingOpened, first, 0, opened)
        last = np.flatnonzero(it.is_act & ~after)
        bets = it.ends[it.hand[last], it.round[last]]
        more = bets[:, 1] - bets[:, 0]
        some = np.flatnonzero(more)
        back = {"seat": (more[some] > 0).astype(np.int64), "amount": np.abs(more[some])}
        yield _EventRows(t.UncalledReturned, last[some], 2, back)

    # Cards.

    def _boards(self) -> Iterator[_EventRows]:
        for total, place in ((3, self.at.flop), (4, self.at.turn), (5, self.at.river)):
            rows = place[place >= 0]
            yield self._entered(self.boards[total], _STREETS[total - 2], rows, 9)
            cards = self.log.cards[rows, total - 1 if total > 3 else 0 : total]
            yield _EventRows(t.BoardDealt, rows, 10, {"cards": DictionaryColumn(cards, CARDS)})

    def _swapped(self) -> Iterator[_EventRows]:
        """Each card at risk, the dealer's first, just before the street that shows what came."""
        it = self.it
        for step, place, (hands, was, now) in zip(
            self.swaps, (self.at.flop, self.at.turn), it.swaps, strict=True
        ):
            rows = place[hands]
            yield self._entered(step, "swap", rows)
            for count in range(4):
                slot = np.full(len(rows), count % 2)
                seat = it.button[hands] if count < 2 else 1 - it.button[hands]
                old, new = was[hands, seat, slot], now[hands, seat, slot]
                bankroll = np.full(len(rows), self.table.game.swap_seen == "both_told")
                fields: dict[str, object] = {"seat": seat, "slot": slot, "told": bankroll}
                fields |= {"old": DictionaryColumn(old, DECK), "new": DictionaryColumn(new, DECK)}
                yield _EventRows(t.CardSwapped, rows, 1 + count, fields)

    def _auctions(self) -> Iterator[_EventRows]:
        """Two bids, the first shown to who makes the second (A1); price, winners, their cards."""
        it, log, game = self.it, self.log, self.table.game
        hands = np.flatnonzero(it.auction)
        first = self.at.bid[hands]
        yield self._entered(self.script[Auction], "auction", first)
        for count, rows in enumerate((first, first + 1)):
            seat = log.seat[rows]
            left = self.table.stack - it.stake(rows, seat)
            origin = DictionaryColumn((left <= 0).astype(np.int64), ("chosen", "forced"))
            sealed = np.full(len(rows), count == 1)
            bid = {"seat": seat, "amount": log.first[rows], "sealed": sealed, "origin": origin}
            yield _EventRows(t.BidPlaced, rows, 1, bid)
        both = it.wins[hands].all(1)
        dealer, winner = it.button[hands], it.wins[hands].argmax(1)
        seats = np.stack([np.where(both, dealer, winner), np.where(both, 1 - dealer, -1)], axis=1)
        shown = game.bids_revealed == "after_auction"
        bids = it.bids[hands] if shown else np.full((len(hands), 1), -1)
        sealed = np.zeros(len(hands), dtype=bool)
        price = it.price[hands]
        settled = {"seats": seats, "price": price, "bids": bids, "sealed": sealed}
        yield _EventRows(t.AuctionSettled, first + 1, 2, settled)
        yield from self._thirds(hands)

    def _thirds(self, hands: Column) -> Iterator[_EventRows]:
        """Cards won: where the log names them; else with the price, the dealer's first."""
        it = self.it
        rows = np.flatnonzero(it.of(say.WON))
        won = {
            "seat": self.log.seat[rows],
            "cards": DictionaryColumn(self.log.cards[rows, :1], CARDS),
        }
        yield _EventRows(t.HoleDealt, rows, 0, won)
        for count in (0, 1):
            seat = it.button[hands] if count == 0 else 1 - it.button[hands]
            some = it.wins[hands, seat] & ~it.named[hands].any(1)
            mine, whose = hands[some], seat[some]
            card = it.third[mine, whose]
            card = np.where(card < 0, CARDS.index(UNKNOWN), card)[:, None]
            fields = {"seat": whose, "cards": DictionaryColumn(card, CARDS)}
            yield _EventRows(t.HoleDealt, self.at.bid[mine] + 1, 3 + count, fields)

    # The end.

    def _shown(self) -> Iterator[_EventRows]:
        """The showdown: the log names the dealer first, but the dealer shows last."""
        shows = self.at.shows[self.at.shows >= 0]
        yield self._entered(self.script[Showdown], "showdown", shows)
        for count, rows in enumerate((shows + 1, shows)):
            cards = DictionaryColumn(self.log.cards[rows, :3], CARDS)
            fields = {"seat": self.log.seat[rows], "cards": cards}
            yield _EventRows(t.Shown, shows, 1 + count, fields)

    def _ended(self) -> Iterator[_EventRows]:
        """What each award leaves above what was put in is a share of the pot."""
        it = self.it
        stayed = it.ends.min(2).sum(1)[:, None] + it.dead  # what nobody matched has gone back
        won = it.nets + stayed
        order = np.stack([1 - it.button, it.button], axis=1)
        shares = np.take_along_axis(won, order, axis=1)
        alone = shares[:, :1] == 0
        seats = np.where(alone, np.roll(order, -1, axis=1), order)
        shares = np.where(alone, np.roll(shares, -1, axis=1), shares)
        gone = shares == 0
        fields = {"seats": np.where(gone, -1, seats), "shares": np.where(gone, -1, shares)}
        rows = self.at.award
        yield _EventRows(
            t.PotSplit, rows, 0, {"pot": np.zeros(len(rows), dtype=np.int64), **fields}
        )
        yield _EventRows(t.HandEnded, rows, 1, {})


def _repeated(value: object, count: int) -> DictionaryColumn:
    """The same value in every row."""
    return DictionaryColumn(np.zeros(count, dtype=np.int64), (value,))

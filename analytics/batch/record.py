"""A record held against what the rules made of its choices: every event, in order, field by field.

What the lock-step replay found says how many events of which kind must follow one another. Where a
record has just those, each event's place is known, and what it says is compared as a column.
"""

import numpy as np

from analytics.batch.laid import Laid
from analytics.batch.marks import ACT, KIND, SHOW, mark
from analytics.batch.plan import ANTE, Line
from analytics.batch.replay import Replay
from analytics.batch.rows import ORIGINS, Column
from analytics.batch.why import Why

Told = Column | int | bool


class Stage:
    """Events of one kind in a row: how many each hand has, and where the first of them stands."""

    def __init__(self, kind: int, count: Column) -> None:
        self.kind, self.count = kind, count
        self.row: Column = count

    @property
    def there(self) -> Column:
        return self.count > 0


class Record:
    """The rows of some hands, beside their replay."""

    def __init__(
        self, laid: Laid, which: Column, played: Replay, pots: Column, rakes: Column
    ) -> None:
        self.laid, self.rows, self.which, self.played = laid, laid.rows, which, played
        self.words = laid.words
        self.plan = played.plan
        self.why = played.why
        self.stages: list[Stage] = []
        n, seats = played.n, self.plan.seats
        one = np.ones(n, dtype=np.int32)
        self.contenders = np.bitwise_count(played.stays).astype(np.int32)
        self.shown_down = (played.last < 0) & played.over
        self.start = self._stage("HandStarted", one)
        self.posts = self._stage("StepEntered", one * self.plan.announced)
        self.forced = [
            self._stage("AntePosted" if f.kind == ANTE else "BlindPosted", there)
            for f, there in zip(self.plan.forced, played.posted, strict=True)
        ]
        self.hole = self._stage("StepEntered", one), self._stage("HoleDealt", one * seats)
        self.parts = self._lines()
        self.rakes = self._stage("RakeTaken", rakes)
        self.splits = self._stage("PotSplit", pots)
        self.end = self._stage("HandEnded", one)
        self._place()

    def _stage(self, kind: str | int, count: Column) -> Stage:
        stage = Stage(KIND[kind] if isinstance(kind, str) else kind, count.astype(np.int32))
        self.stages.append(stage)
        return stage

    def _lines(self) -> list[tuple[Line, int, tuple[Stage, ...]]]:
        """The stages of each line of the script, beside the number of the last round before it."""
        played, number = self.played, -1
        found: list[tuple[Line, int, tuple[Stage, ...]]] = []
        stages: tuple[Stage, ...]
        for line in self.plan.lines:
            on = (played.last < 0) | (played.last > number)
            if line.does == "bet":
                number += 1
                stages = (
                    self._stage("BettingOpened", played.open_next[number] >= 0),
                    self._stage(ACT, played.played[number]),
                    self._stage("UncalledReturned", played.back[number] > 0),
                )
            elif line.does == "board":
                stages = self._stage("StepEntered", on), self._stage("BoardDealt", on)
            elif line.does == "auction":
                won = np.bitwise_count(played.winners)
                stages = (
                    self._stage("StepEntered", on),
                    self._stage("BidPlaced", on * 2),
                    self._stage("AuctionSettled", on),
                    self._stage("HoleDealt", on * won),
                )
            elif line.does == "swap":
                stages = self._stage("StepEntered", on), self._stage("CardSwapped", on * 4)
            else:
                shown = self.shown_down
                stages = (
                    self._stage("StepEntered", shown),
                    self._stage(SHOW, shown * self.contenders),
                )
            found.append((line, number, stages))
        return found

    def _place(self) -> None:
        """Where each stage begins, if the record has as many events as the replay made."""
        begins = self.rows.first[self.which]
        size = self.rows.first[self.which + 1] - begins
        row = begins.copy()
        for stage in self.stages:
            stage.row = row
            row = row + stage.count
        self.fail(row - begins != size, Why.SHAPE)

    def fail(self, where: Column, why: Why) -> None:
        """The first thing wrong with a hand is kept."""
        np.copyto(self.why, np.uint8(why), where=where & (self.why == 0))

    def cell(self, name: str, stage: Stage, place: Column | int = 0) -> Column:
        """What a column says in a stage's event; anything where a hand has none."""
        rows = stage.row if isinstance(place, int) and place == 0 else stage.row + place
        return self.rows.cells[name].take(rows, mode="clip")

    def hold(self, stage: Stage, why: Why, place: int = 0, /, **expected: Told) -> None:
        """A stage's event is there, and its mark says this."""
        rows = stage.row + place if place else stage.row
        there = stage.count > place
        unlike = (self.laid.marks.take(rows, mode="clip") != mark(stage.kind, **expected)) & there
        if unlike.any():
            self.fail(unlike, why)

    def chips(self, stage: Stage, why: Why, /, **expected: Told) -> None:
        """A stage's event has these amounts."""
        for name, value in expected.items():
            unlike = (self.cell(name, stage) != value) & stage.there
            if unlike.any():
                self.fail(unlike, why)

    def entered(self, stage: Stage, line: Line) -> None:
        """A step that waits says its number and its name."""
        self.hold(stage, Why.TOLD, step=line.at, street=self.words.number(line.name))

    def acted(self, stage: Stage) -> None:
        """Nothing but actions stands where the replay took them from."""
        upto = self.laid.acts_upto
        found = upto.take(stage.row + stage.count, mode="clip") - upto.take(stage.row, mode="clip")
        self.fail(found != stage.count, Why.SHAPE)

    # What the rules alone decide, cards and payment apart.

    def check(self) -> None:
        """Start, forced bets, rounds that open and close, auctions."""
        self.hold(self.start, Why.SHAPE)
        if self.plan.announced:
            self.entered(self.posts, Line("posts", 0, "posts"))
        self._forced()
        self.entered(self.hole[0], Line("hole", self.plan.deal, "hole"))
        for line, number, stages in self.parts:
            if line.does == "bet":
                self._round(line, number, stages)
            else:
                self.entered(stages[0], line)
            if line.does == "auction":
                self._auction(stages)
        self.hold(self.end, Why.SHAPE)

    def _round(self, line: Line, number: int, stages: tuple[Stage, ...]) -> None:
        """How a round opens, that only actions follow, and what goes back."""
        played = self.played
        opened, acts, back = stages
        street = self.words.number(line.name)
        self.hold(opened, Why.TOLD, step=line.at, street=street, next=played.open_next[number])
        self.chips(opened, Why.TOLD, bet=played.open_bet[number], size=played.hands.sizes[number])
        self.acted(acts)
        self.hold(back, Why.TOLD, seat=played.back_to[number])
        self.chips(back, Why.TOLD, amount=played.back[number])

    def _forced(self) -> None:
        played = self.played
        for number, (forced, stage) in enumerate(zip(self.plan.forced, self.forced, strict=True)):
            seat = (played.hands.button + 1 + forced.place) % self.plan.seats
            self.chips(stage, Why.START, amount=played.post[number])
            if forced.kind == ANTE:
                self.hold(stage, Why.START, seat=seat)
            else:
                self.chips(stage, Why.START, to=played.post_to[number])
                origin = ORIGINS["forced"]
                self.hold(stage, Why.START, seat=seat, blind=forced.kind, origin=origin)

    def _auction(self, stages: tuple[Stage, ...]) -> None:
        """Bids in order, sealed if they have to be; the price, the winners, and what is told."""
        played, game, bids = self.played, self.plan.game, self.played.hands.bids
        _, placed, settled, _ = stages
        dealer = played.hands.button
        there = settled.there
        every = np.ones(played.n, dtype=bool)
        for place, seat in enumerate((1 - dealer, dealer)):
            self.hold(placed, Why.BID, place, seat=seat)
            sealed = self.cell("sealed", placed, place)
            every &= sealed
            if game.bids == "sealed":
                self.fail(there & ~sealed, Why.BID)
            origin = self.cell("origin", placed, place)
            chips = played.bid_max[seat, np.arange(played.n)]
            usual = np.where(chips == 0, ORIGINS["forced"], ORIGINS["chosen"])
            usual = np.where(origin == ORIGINS["default"], origin, usual)
            self.fail(there & (origin != usual), Why.BID)
        self.hold(settled, Why.SHAPE)
        self.chips(settled, Why.BID, price=played.price, sealed=every)
        told, winners = self.rows.ragged["bids"], self.rows.ragged["seats"]
        row = settled.row
        shown = 2 if game.bids_revealed == "after_auction" else 0
        unlike = told.count.take(row) != shown
        for place in range(shown):
            unlike |= told.entry(row, place) != bids[place]
        won = np.bitwise_count(played.winners)
        unlike |= winners.count.take(row) != won
        first = np.where(played.winners >> dealer & 1, dealer, 1 - dealer)
        unlike |= winners.entry(row, 0) != first
        unlike |= (won == 2) & (winners.entry(row, 1) != 1 - dealer)
        self.fail(there & unlike, Why.BID)

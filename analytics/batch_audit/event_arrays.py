"""Event tables encoded as NumPy arrays for the batch audit: event codes, rounds, actions, cards.

All of this depends on the record alone, so it is made once, whatever rules are asked. Cards are
places in a 52-bit mask (`odds.rank.mask`), words are numbered. Replies that failed (`Faulted`) move
nothing and are left out; so are a match's records.

The code of an event is its kind, and what it says beside chips and cards, as one number. Two events
say the same if their codes are the same; fields that an event of its kind does not have are nothing
in its code. A value beyond what its field holds is cut to one that no rule expects.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.batch_audit.betting_check import BET, CALL, NO_SEAT, RAISE
from analytics.batch_audit.betting_state import Openings, PlanHands, RecordedActions
from analytics.batch_audit.plan import STEP_MAX, DoubtReason, RulesetPlan, Stakes
from analytics.replay.columns import BLINDS
from events.cards import DECK, UNKNOWN
from odds.rank import mask
from store.columns.numpy_columns import BAD, LARGE, Column, ColumnReader, Ragged
from store.tables.hand_columns import KIND, HandColumns

Values = Mapping[str, Column]
NO_CARD = -1
ACT, SHOW = 100, 101  # codes of any action, and of a hand shown or mucked
_SHARED_CODES = {"Folded": ACT, "Checked": ACT, "Called": ACT, "Bet": ACT, "Raised": ACT}
_SHARED_CODES |= {"Shown": SHOW, "Mucked": SHOW}
CODE = {name: _SHARED_CODES.get(name, code) for name, code in KIND.items()}
# Where a field begins, and how many bits it has; each is one more than its value. Fields of
# events of different kinds share their places.
_FIELD_BITS = {
    "seat": (8, 6),
    "blind": (14, 4),
    "origin": (18, 3),
    "whole": (21, 2),
    "cards": (14, 3),
    "slot": (14, 3),
    "told": (17, 2),
    "sealed": (14, 2),
    "step": (8, 7),
    "street": (15, 8),
    "next": (23, 6),
    "pot": (8, 7),
}
_TOO_LARGE = 1 << 30  # in no code of a record: what does not fit a field is like nothing
_FIELDS_OF_KIND = {
    "StepEntered": ("step", "street"),
    "BettingOpened": ("step", "street", "next"),
    "UncalledReturned": ("seat",),
    "AntePosted": ("seat",),
    "BlindPosted": ("seat", "blind", "origin", "whole"),
    "HoleDealt": ("seat", "cards"),
    "BoardDealt": ("cards",),
    "CardSwapped": ("seat", "slot", "told"),
    "BidPlaced": ("seat", "sealed", "origin"),
    "Shown": ("seat", "cards"),
    "Mucked": ("seat",),
    "RakeTaken": ("pot",),
    "PotSplit": ("pot",),
}


def event_code(kind: str | int, **fields: "Column | int | bool") -> "Column | int":
    """The code of an event of this kind with these fields; a column's numbers must fit."""
    found: Column | int = CODE[kind] if isinstance(kind, str) else kind
    for name, value in fields.items():
        begins, bits = _FIELD_BITS[name]
        if isinstance(value, np.ndarray):
            found = found + ((value.astype(np.int32) + np.int32(1)) << begins)
        else:
            most = (1 << bits) - 1
            found = found + (min(int(value) + 1, most) << begins) + (value + 1 >= most) * _TOO_LARGE
    return found


def code_field(codes: Column, name: str) -> Column:
    """One field of event codes, plus one; 0 where it is not given."""
    begins, bits = _FIELD_BITS[name]
    found: Column = codes >> begins & (1 << bits) - 1
    return found


def event_codes(kinds: Column, rows_of: Callable[[str], Column], values: Values) -> Column:
    """The code of every event, out of `values`, the columns that the fields are named after."""
    found: Column = np.array([*CODE.values(), 127], dtype=np.int32).take(kinds)
    for kind, names in _FIELDS_OF_KIND.items():
        rows = rows_of(kind)
        if not len(rows):
            continue
        codes = np.full(len(rows), CODE[kind], dtype=np.int32)
        for name in names:
            begins, bits = _FIELD_BITS[name]
            value = values[name].take(rows).astype(np.int32)
            value += 1
            codes |= np.minimum(np.maximum(value, 0), (1 << bits) - 1) << begins
        found[rows] = codes
    return found


ORIGINS = {"chosen": 0, "default": 1, "forced": 2, "recorded": 3}
UNKNOWN_CARD, FOREIGN = 52, 53
CARD_CODES = {card: mask((card,)).bit_length() - 1 for card in DECK} | {UNKNOWN: UNKNOWN_CARD}
NUMBERS = ("seat", "next", "amount", "to", "bet", "size", "step", "price", "pot", "slot")
BOOLEANS = {"full": True, "sealed": False, "told": False}
CARDS = ("card1", "card2", "card3", "card4", "card5", "old", "new")
LISTS = ("seats", "shares", "bids")
START_COLUMNS = (
    *("hand_seq", "match", "number", "game", "ruleset"),
    *("button", "dead_small", "assumed", "stacks"),
)
READ_COLUMNS = (  # of events: all others say nothing that a rule asks for
    *("type", "street", "origin", "kind", "more_cards"),
    *(*START_COLUMNS, *NUMBERS, *BOOLEANS, *CARDS, *LISTS),
)
STACK_MAX = LARGE >> 5  # a table of 23 still counts in 32 bits
CARD_BITS = np.array([0, *(1 << place for place in range(54))], dtype=np.int64)  # by card, and none
_STEP_NAMES = ("posts", "hole", "preflop", "flop", "auction", "swap", "turn", "river", "showdown")
_NOT_FOLLOWED = ("TimedOut", "Disconnected", "Reconnected", "HandVoided", "Announced", "Claimed")


class WordIds:
    """Numbers for words: a new word gets the next one; names of steps come first."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        for word in _STEP_NAMES:
            self.number(word)

    def number(self, word: str) -> int:
        """The number of a word."""
        if word not in self._numbers:
            self._numbers[word] = len(self._words)
            self._words.append(word)
        return self._numbers[word]

    def word(self, number: int) -> str:
        """The word of a number."""
        return self._words[number]


class EventArrays(HandColumns):
    """Tables of events as arrays; every hand is whole in its table.

    `values` has a small number for every event, column by column; `lists` has rows of numbers.
    `strange` are hands with a row that no rules could hold: a fault of a seat that is not there.
    `why` says which hands cannot be audited here, `kinds` which rulesets and tables there are.
    """

    def __init__(self, tables: Sequence[pa.Table], words: WordIds) -> None:
        strange: list[int] = []
        super().__init__(*(_without_faults(table, strange) for table in tables))
        self.words = words
        self.strange = np.isin(self.hand_seq, strange)
        self.first = np.append(self.heads, self.cells.size)  # row of each hand, and the end
        self._read_values()
        self.codes = event_codes(self.kind, self.of, self.values)
        self._collect_cards()
        self.unopened = self._order_rounds(self.kind)
        bids = self.of("BidPlaced")
        self.bids: Column = np.append(self.values["amount"].take(bids), [0, 0])
        self.bid_first: Column = np.searchsorted(bids, self.heads)
        self.why = self._find_doubts()
        self.kinds, self.which_kind = self._ruleset_kinds()

    def _read_values(self) -> None:
        """Read the columns of every event, and of the events that hands begin with."""
        cells, number = self.cells, self.words.number
        self.values: dict[str, Column] = {name: cells.small(name) for name in NUMBERS}
        self.values |= {name: cells.truths(name, missing=it) for name, it in BOOLEANS.items()}
        self.values |= {it: _word_codes(cells, it, CARD_CODES, FOREIGN, NO_CARD) for it in CARDS}
        self.values["street"] = cells.map_words("street", number, BAD)
        self.values["origin"] = _word_codes(cells, "origin", ORIGINS, 4)
        self.values["blind"] = _word_codes(cells, "kind", BLINDS, 9)
        self.values["whole"] = self.values["to"] == self.values["amount"]  # all of it is posted
        self.values["cards"] = cells.has_text("more_cards").astype(np.int8)  # how many
        for name in CARDS[:5]:
            self.values["cards"] += self.values[name] != NO_CARD
        self.lists: dict[str, Ragged] = {name: cells.ragged(name) for name in LISTS}
        starts = self.starts
        self.match, self.game, self.ruleset = (
            starts.map_words(name, number, BAD) for name in ("match", "game", "ruleset")
        )
        self.number, self.button = starts.numbers("number"), starts.small("button")
        self.dead_small = starts.truths("dead_small")
        self.assumes = _word_codes(starts, "assumed", {"[]": 0}, 1, 0).view(np.bool_)

    def _order_rounds(self, kind: Column) -> Column:
        """Order rounds, those with more actions first, and actions: first ones, then second ones.

        Returned are hands with a round without actions, or an action that follows no opening.
        """
        acting = (kind - KIND["Folded"]).view(np.uint8) <= RAISE
        acting[self.heads] = False
        others = np.flatnonzero(~acting)
        opening = np.flatnonzero(kind.take(others) == KIND["BettingOpened"])
        opens = others.take(opening)
        lengths = np.append(others, len(kind)).take(opening + 1) - opens - 1
        begins = np.searchsorted(opens, self.first)
        self.opened: Column = np.diff(begins)
        longest = int(lengths.max(initial=0))
        small = np.uint16 if longest < 1 << 16 else np.int64
        order = (longest - lengths).astype(small).argsort(kind="stable")  # sorts small ones fast
        first = (opens - opening).take(order)  # among the actions, as the record has them
        betting = (self.codes, self.values["bet"], self.values["size"])
        self.opens = Openings(opens.take(order), *(it.take(opens).take(order) for it in betting))
        self.lengths = lengths.take(order)
        self.round_hand = (
            np.arange(self.count).repeat(self.opened).take(order)
        )  # the hand of a round
        steps = self.values["step"].take(opens).take(order)
        self.steps = np.clip(steps, -1, STEP_MAX + 1)
        shorter = np.add.accumulate(np.bincount(lengths, minlength=1))
        self.counts: list[int] = (len(lengths) - shorter[:-1]).tolist()
        nth = [first[:count] + place for place, count in enumerate(self.counts)]
        turns = np.concatenate([first[:0], *nth])
        places = np.flatnonzero(acting)
        acts = self._recorded_actions(places, kind.take(places) - np.int8(KIND["Folded"]))
        self.acts = RecordedActions(*(column.take(turns) for column in acts))
        self.foreign = places.compress(self.values["origin"].take(places) > 3)
        lost = acting[1:] & ~acting[:-1] & (kind[:-1] != KIND["BettingOpened"])
        found = np.zeros(self.count, dtype=bool)
        found[self.round_hand.compress(self.lengths == 0)] = True
        found[self.hands_of(np.flatnonzero(lost) + 1)] = True
        return found

    def _collect_cards(self) -> None:
        """Collect each event's cards: their mask, their order, and how many nobody recorded."""
        cells = self.values
        at = np.flatnonzero(cells["card1"] != NO_CARD)
        size = len(cells["card1"])
        self.bits, self.order = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int32)
        self.blank = np.zeros(size, dtype=np.int8)
        bits, order = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int32)
        for place in range(5):
            cards = cells[f"card{place + 1}"]
            if (cards == NO_CARD).all():
                continue
            cards = cards.take(at)
            bits |= CARD_BITS.take(cards + 1)
            order |= (cards + 1).astype(np.int32) << 6 * place
            if (cards == UNKNOWN_CARD).any():
                self.blank[at] += cards == UNKNOWN_CARD
        self.bits[at], self.order[at] = bits, order

    def _find_doubts(self) -> Column:
        """Find hands with events that the batch audit does not follow, or that cannot begin."""
        kind, blinds = self.kind, self.of("BlindPosted")
        why = np.zeros(self.count, dtype=np.uint8)
        posts = blinds.compress(self.values["blind"].take(blinds) >= BLINDS["post"])
        second = np.minimum(self.heads + 1, len(kind) - 1)
        announced = kind.take(second) == KIND["StepEntered"]
        of = self.hands_of(posts)
        why[of[~announced[of]]] = DoubtReason.EVENTS
        for name in _NOT_FOLLOWED:
            why[self.hands_of(self.of(name))] = DoubtReason.EVENTS
        for name in ("amount", "to", "bet", "size", "price"):
            if (chips := self.values[name]).max(initial=0) >= LARGE:
                why[self.hands_of(np.flatnonzero(chips >= LARGE))] = DoubtReason.LARGE
        why[self.hands_of(self.foreign)] = DoubtReason.START
        why[self.dead_small] = DoubtReason.EVENTS
        self._check_seats(why)
        why[self.unopened & (why == 0)] = DoubtReason.SHAPE
        why[kind.take(self.heads) != KIND["HandStarted"]] = DoubtReason.START
        return why

    def hands_of(self, rows: Column) -> Column:
        """The hands of a few rows."""
        found: Column = np.searchsorted(self.heads, rows, side="right") - 1
        return found

    def _check_seats(self, why: Column) -> None:
        """Check that each seat brings a chip and not too many, and that the button is at a seat."""
        count = self.seats
        why[(self.button < 0) | (self.button >= count)] = DoubtReason.START
        seats = np.arange(count.max(initial=0))[:, None]
        stacks = np.append(self.stacks, BAD)
        brought = stacks.take(self.base + seats, mode="clip")  # of fewer seats, anything
        self.brought: Column = np.clip(brought, BAD, LARGE).astype(np.int32)
        for seat, chips in enumerate(self.brought):
            why[(count > seat) & (chips > STACK_MAX)] = DoubtReason.LARGE
            why[(count > seat) & (chips < 1)] = DoubtReason.START

    def plan_hands(
        self, plan: RulesetPlan, which: Column, members: list[Stakes], stakes: Column
    ) -> PlanHands:
        """Some hands of a plan as columns; none has a `why`."""
        owed: Column = np.array([one.forced for one in members], dtype=np.int32).T
        sizes: Column = np.array([one.sizes for one in members], dtype=np.int32).T.ravel()
        begins = self.bid_first.take(which)
        of, rounds, acts, counts = self._rounds_of(which)
        numbers = plan.numbers.take(self.steps[rounds])
        return PlanHands(
            plan,
            self.button.take(which),
            self.brought[: plan.seats].take(which, axis=1),
            owed.take(stakes, axis=1),
            RecordedActions(*(column[acts] for column in self.acts)),
            counts,
            self.opened.take(which),
            Openings(*(column[rounds] for column in self.opens)),
            of,
            numbers,
            sizes.take(np.minimum(numbers, plan.rounds - 1) * len(members) + stakes.take(of)),
            self.lengths[rounds],
            np.stack(
                [self.bids.take(begins, mode="clip"), self.bids.take(begins + 1, mode="clip")]
            ),
        )

    def _rounds_of(
        self, which: Column
    ) -> tuple[Column, "Column | slice", "Column | slice", list[int]]:
        """The hand of each round of some hands; the places of the rounds and of their actions; how
        many rounds have a first action, a second, and so on."""
        if len(which) == self.count:
            return self.round_hand, slice(None), slice(None), self.counts
        place = np.full(self.count, -1)
        place[which] = np.arange(len(which))
        of: Column = place.take(self.round_hand)
        rounds = np.flatnonzero(of >= 0)
        counts = [count for count in np.searchsorted(rounds, self.counts).tolist() if count]
        begins = np.cumsum([0, *self.counts])
        nth = [rounds[:count] + begin for count, begin in zip(counts, begins, strict=False)]
        return of.take(rounds), rounds, np.concatenate([rounds[:0], *nth]), counts

    def _recorded_actions(self, places: Column, what: Column) -> RecordedActions:
        """The recorded actions, cut to values that a table can have."""
        seat, asked, amount, to = (
            self.values[name].take(places) for name in ("seat", "next", "amount", "to")
        )
        seat[(seat < 0) | (seat > 22)] = NO_SEAT
        asked[(asked < -1) | (asked > 22)] = NO_SEAT
        return RecordedActions(
            what,
            seat.astype(np.int8),
            asked.astype(np.int8),
            self.values["full"].take(places) & (what >= BET),
            (self.values["origin"].take(places) & 3).astype(np.int8),
            amount * (what >= CALL),
            np.where(what == RAISE, to, amount) * (what >= BET),
        )

    def _ruleset_kinds(self) -> tuple[list[tuple[int, int, int]], Column]:
        """The different rulesets and table sizes, and which of them each hand has."""
        columns = (self.ruleset, self.game, self.seats)
        if not self.count:
            return [], self.seats
        new = np.ones(self.count, dtype=bool)
        new[1:] = np.any([one[1:] != one[:-1] for one in columns], axis=0)
        runs = np.flatnonzero(new)
        known: dict[tuple[int, int, int], int] = {}
        each = zip(*(column[runs].tolist() for column in columns), strict=True)
        of = [known.setdefault(kind, len(known)) for kind in each]
        return list(known), np.repeat(of, np.diff(np.append(runs, self.count)))


def _without_faults(table: pa.Table, strange: list[int]) -> pa.Table:
    """The rows of hands without their faults; the first row of a hand stays, whatever it is.

    To `strange` go hands with a fault of a seat that is not there.
    """
    # A dictionary may also have the words of rows that these were taken from.
    kinds = (
        chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        for chunk in table["type"].chunks
    )
    has_faults = (pc.index(words, "Faulted").as_py() >= 0 for words in kinds)
    if not table["number"].null_count and not any(has_faults):
        return table
    hands = HandColumns(table.filter(pc.is_valid(table["number"])))
    faults = hands.of("Faulted")
    of, seat = hands.hand_of.take(faults), hands.seat(faults)
    wrong = (seat < 0) | (seat >= hands.cells.ragged("stacks", hands.heads).count.take(of))
    strange += hands.hand_seq.take(of)[wrong].tolist()
    kept = np.ones(hands.cells.size, dtype=bool)
    kept[np.setdiff1d(faults, hands.heads)] = False
    return hands.rows.filter(pa.array(kept))


def _word_codes(
    columns: ColumnReader,
    name: str,
    codes: Mapping[str, int],
    other: int = -1,
    missing: int | None = None,
) -> Column:
    """A text column as the codes of its words, each in a byte."""
    missing = other if missing is None else missing
    return columns.map_words(name, lambda word: codes.get(word, other), missing, np.int8)

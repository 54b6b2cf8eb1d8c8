"""A hand on one line, as its viewer sees it: docs/one-line.md has the grammar.

    ursa 400 BTN 5d6h, lynx 400 | s1 b2 R6 C | Jd7c6c 12 [ursa 52>37 +Th] X B20 C | 207: lynx +19

It is made from seen events alone, in one pass. Who acts is not said, because the order of a table
says it; a card or a bid that may not be seen is a star, or is not there at all.

The hands of a page are read together where they lie together.
"""

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import cast

from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import RedactedEvents, masked_event
from events import types as t
from events import views
from events.cards import Cards
from events.evolve import evolve, replay
from events.state import Hand
from events.views import Hidden
from store.columns.codec import leaves_of
from store.folder.frames import Damaged
from store.log.streams import Leaf
from store.segments.reading import files_of

LEAVES_TOGETHER = 4  # hands of one row group for which all of it is decoded
HIDDEN_CARD = "*"  # a hidden card or bid
_FORCED_BETS = {"small": "s", "big": "b", "straddle": "st", "post": "p", "dead": "d"}
_PLAIN_NAME = re.compile(r"[\w./:+-]+", re.ASCII)


def one_line(redacted_hand: RedactedEvents) -> str:
    """A hand on one line, as far as it has come; a record that does not add up says so."""
    return events_line([event.seen for event in redacted_hand.events])


def events_line(seen: Sequence[views.Seen]) -> str:
    """The one line of visible events."""
    start, *rest = seen
    if not isinstance(start, t.HandStarted):
        return "does not add up"
    line = _Shorthand(start)
    try:
        for one in rest:
            line.add(one)
    except (LookupError, TypeError, ValueError):
        return line.text("does not add up")
    return line.text(None if line.ended else "...")


class _Shorthand:
    """The sections of the line so far, and the hand after the events so far."""

    def __init__(self, start: t.HandStarted) -> None:
        self.ended = False
        self._hand = replay((start,))
        self._names = tuple(
            name if _PLAIN_NAME.fullmatch(name) else json.dumps(name) for name in start.players
        )
        self._held: list[list[str]] = [[] for _ in start.players]  # as dealt, before the board
        self._sections: list[list[str]] = [[]]
        self._antes: list[int] = []
        self._pot = 0  # when it was last said
        self._bids: list[str] = []
        self._settled: list[str] | None = None  # an auction whose cards are still to come
        self._later: list[str] = []  # cards that were swapped, or dealt after somebody acted
        self._begun = False
        self._shows: list[str] = []
        self._paid = 0
        self._void: str | None = None

    def text(self, last: str | None) -> str:
        """All sections, and how the hand ended."""
        self._flush()
        sections = [self._table(), *map(" ".join, filter(None, self._sections))]
        if self._shows:
            sections.append(", ".join(self._shows))
        sections.append(self._end() if last is None else last)
        return " | ".join(sections)

    def add(self, seen: views.Seen) -> None:
        """Add an event to the line and to the hand."""
        before = self._hand
        self._hand = evolve(before, cast(t.Event, masked_event(seen)))
        match seen:
            case t.AntePosted(amount=amount):
                self._antes.append(amount)
            case t.BlindPosted(seat=seat, amount=amount, kind=kind):
                self._add_word(f"{_FORCED_BETS[kind]}{amount}", seat)
            case views.HoleDealtSeen(seat=seat, cards=cards):
                self._add_hole_cards(seat, tuple(map(_card, cards)))
            case t.BoardDealt(cards=cards):
                self._begin_street(cards, before.pot)
            case views.BidPlacedSeen(amount=amount):
                self._bids.append(HIDDEN_CARD if isinstance(amount, Hidden) else str(amount))
            case t.AuctionSettled():
                self._settle(seen)
            case views.CardSwappedSeen():
                self._swap(seen)
            case t.Tossed(seat=seat, cards=cards):
                self._later.append(f"{self._names[seat]} -{''.join(cards)}")
            case t.PotSplit(shares=shares):
                self._paid += sum(shares)
            case t.HandVoided(reason=reason):
                self.ended, self._void = True, reason
            case t.HandEnded():
                self.ended = True
            case _:
                self._add_action(seen, before)

    def _add_action(self, seen: views.Seen, before: Hand) -> None:
        """Add a player's action; other events add nothing."""
        match seen:
            case t.Folded(seat=seat):
                self._add_word(f"F{_fallback_mark(seen)}", seat)
            case t.Checked(seat=seat):
                self._add_word(f"X{_fallback_mark(seen)}", seat)
            case t.Called(seat=seat):
                self._add_word(f"C{_fallback_mark(seen)}", seat)
            case t.Bet(seat=seat, amount=amount):
                self._add_word(f"B{amount}{_fallback_mark(seen)}", seat)
            case t.Raised(seat=seat, to=to):
                self._add_word(f"R{to}{_fallback_mark(seen)}", seat)
            case t.TimedOut(seat=seat):
                self._add_word("T", seat, all_in=seen.all_in)
            case t.Announced(seat=seat, cards=cards):
                self._shows.append(f"{self._names[seat]} says {''.join(cards)}")
            case t.Shown(seat=seat, cards=cards):
                self._shows.append(f"{self._names[seat]} {''.join(cards)}")
            case t.Mucked(seat=seat):
                self._shows.append(f"{self._names[seat]} mucks")

    def _add_word(self, word: str, seat: int, *, all_in: bool = False) -> None:
        """Add an action's word, with a mark if it took the last chip."""
        self._flush()
        self._begun = self._begun or word[0] in "FXCBRT"
        moved = word[0] not in "FX"
        last = all_in or (moved and self._hand.stacks[seat] == 0)
        self._sections[-1].append(word + "!" * last)

    def _add_hole_cards(self, seat: int, cards: tuple[str, ...]) -> None:
        """Add hole cards: the first ones, those that an auction brought, or those of a later
        deal."""
        if self._settled is not None:
            self._settled += [f"+{card}" for card in cards]
        elif self._begun:
            self._later.append(f"{self._names[seat]} {' '.join(f'+{card}' for card in cards)}")
        elif HIDDEN_CARD not in cards:
            self._held[seat] += cards

    def _begin_street(self, cards: Cards, pot: int) -> None:
        """Begin a section for a street, with the pot if it has grown."""
        self._flush()
        self._sections.append(["".join(cards)])
        if pot != self._pot:
            self._sections[-1].append(str(pot))
            self._pot = pot

    def _settle(self, event: t.AuctionSettled) -> None:
        """`[ursa 52>37 +Th]`: the winner, all bids, his card; the price only if no bid tells it."""
        bids = sorted(event.bids, reverse=True)
        bids_text = "".join(
            f"{'' if not place else '=' if bid == bids[place - 1] else '>'}{bid}"
            for place, bid in enumerate(bids)
        )
        winners = "=".join(self._names[seat] for seat in event.seats) or "nobody"
        self._settled = [winners, bids_text]
        if event.seats and bids[1:2] != [event.price]:
            self._settled.append(f"@{event.price}")
        self._bids = []
        self._pot += event.price * len(event.seats)

    def _swap(self, seen: views.CardSwappedSeen) -> None:
        """Add a card that is known to have become another."""
        if seen.changed is True:
            self._later.append(f"{self._names[seen.seat]} {_card(seen.old)}>{_card(seen.new)}")

    def _flush(self) -> None:
        """Write what stands in brackets, where something else begins."""
        if self._antes:
            alike = len(self._antes) > 1 and len(set(self._antes)) == 1
            each = " ".join(f"a{amount}" for amount in self._antes)
            antes = f"a{self._antes[0]}x{len(self._antes)}" if alike else each
            self._sections[-1].append(antes)
            self._antes = []
        if self._bids:
            self._sections[-1].append(f"[bid {' '.join(self._bids)}]")
            self._bids = []
        if self._settled:
            self._sections[-1].append(f"[{' '.join(self._settled)}]")
            self._settled = None
        if self._later:
            self._sections[-1].append(f"[{', '.join(self._later)}]")
            self._later = []

    def _table(self) -> str:
        """`ursa 400 BTN 5d6h, lynx 400`"""
        start = self._hand.start
        return ", ".join(
            f"{name} {start.stacks[seat]}"
            + " BTN" * (seat == start.button)
            + (f" {''.join(self._held[seat])}" if self._held[seat] else "")
            for seat, name in enumerate(self._names)
        )

    def _end(self) -> str:
        """`207: lynx +19`: what was paid out, and who is better off for it."""
        if self._void is not None:
            return f"void: {self._void}"
        hand = self._hand
        nets = [left - had for left, had in zip(hand.stacks, hand.start.stacks, strict=True)]
        better = sorted((seat for seat, net in enumerate(nets) if net > 0), key=lambda s: -nets[s])
        gains = ", ".join(f"{self._names[seat]} +{nets[seat]}" for seat in better) or "even"
        rake = f" rake {hand.rake}" if hand.rake else ""
        return f"{self._paid}{rake}: {gains}"


def _card(card: str | Hidden) -> str:
    return HIDDEN_CARD if isinstance(card, Hidden) else card


def _fallback_mark(seen: t.Folded | t.Checked | t.Called | t.Bet | t.Raised) -> str:
    """A tilde after an action that nobody chose: it stood in for a reply that was of no use."""
    return "~" if seen.origin == "default" else ""


def hand_lines(viewed: LedgerView, hands: Sequence[str]) -> list[str | None]:
    """The one line of each hand; None for one that is not there."""
    known = {leaf.stream: leaf for leaf in _leaves_together(viewed, hands)}
    found: list[str | None] = []
    for hand in hands:
        if hand in known:
            found.append(one_line(viewed.redactor.redact(known[hand])))
            continue
        try:
            found.append(one_line(viewed.redacted_hand(hand)))
        except NotInLedger:
            found.append(None)
    return found


def _leaves_together(viewed: LedgerView, hands: Sequence[str]) -> list[Leaf]:
    """Leaves of sealed hands of which several lie in one row group; of others, nothing."""
    snapshot = viewed.snapshot
    files = files_of(snapshot.live.disk)
    segments = snapshot.parts().segments
    places = sorted(place for hand in hands if (place := snapshot.hand_seq(hand)) is not None)
    found: list[Leaf] = []
    try:
        for segment in segments:
            in_segment = [it for it in places if segment.first_seq <= it <= segment.last_seq]
            opened = files.open(segment, "events") if in_segment else None
            if opened is None:
                continue
            for group, few in groupby(in_segment, key=opened.group_of):
                seqs = set(few)
                if len(seqs) < LEAVES_TOGETHER:
                    continue
                rows = files.events(segment, group)
                ends = [min(seqs), max(seqs) + 1]
                start, end = rows["hand_seq"].to_numpy().searchsorted(ends).tolist()
                near = leaves_of(rows.slice(start, end - start))
                found += [leaf for leaf in near if leaf.hand_seq in seqs]
    except (FileNotFoundError, Damaged):
        return []  # compacted meanwhile: each is then looked for by itself
    return found

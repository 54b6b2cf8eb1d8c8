"""A leaf as a viewpoint may see it: the events that are left, their lines, the table after them.

An event that is hidden altogether leaves no gap: neither its place in the stream nor its position
in the ledger is told to anybody but an auditor. A seat may audit what it saw: the rules are given
cards that it may not see as unrecorded ones. The public may not, unless the match is open.

For all but an auditor lines and table are made from `Seen` events alone, so neither can tell what
the viewpoint may not know. What is hidden is said as `hidden`; `??` was never recorded at all.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from api.printable import PrintableText, aligned_lines, printable_lines
from api.viewpoints.hand_selection import match_records, players_of_hand
from api.viewpoints.viewer import PUBLIC, Viewer
from events import types as t
from events import views
from events.evolve import replay
from events.ledger import Record, Recorded, is_match
from events.match import Disclosure, Match, MatchEnded, MatchStarted
from events.notation import say
from events.state import Hand
from events.views import (
    FIELDS,
    Auditor,
    BidPlacedSeen,
    Hidden,
    MatchOpenness,
    Seen,
    Viewpoint,
    match_openness,
    see,
    see_one,
    viewpoint,
)
from store.columns.layout import fields
from store.log.streams import Leaf, split_stream
from store.reader import Snapshot
from store.sql.views import Units

HIDDEN_VALUES = {
    "number": None,
    "large": None,
    "truth": None,
}  # instead of a hidden value; else a word
HIDDEN = "hidden"
SEED_WARNING = (
    "Its deck was shuffled from a seed: hidden cards are only as hidden as the seed, and everybody"
    " who knows it knows the cards."
)
_EVENT_OF_SEEN = {views.seen_as(kind): kind for kind, hidden in FIELDS.items() if hidden.secrets}


def opened_by(records: Iterable[t.Event | Match]) -> MatchOpenness:
    """What a match's own records open to everybody, as was announced at its start."""
    disclosure: Disclosure | None = None
    over = mirrored = False
    for event in records:
        if isinstance(event, MatchStarted):
            disclosure = disclosure or event.disclosure
            mirrored = mirrored or event.deals > 1
        over = over or isinstance(event, MatchEnded)
    return match_openness(disclosure, mirrored=mirrored, over=over)


def withheld_sentence(match: str) -> str:
    """The sentence on why nobody but an auditor may see a hand."""
    return (
        f"{match} is a mirrored match, and each of its hands tells the cards of another: "
        "they are told to auditors alone until it is over and open to everybody"
    )


def viewpoint_of(view: str, players: tuple[str, ...], opened: bool) -> Viewpoint:
    """The viewpoint of a viewer at this table; an open hand every viewer sees as an auditor
    does."""
    who = viewpoint(view, players)
    return Auditor() if opened else who


def record_lines(record: Iterable[t.Event | Match], who: Viewpoint) -> list[str]:
    """A line for each event: `1 is dealt [hidden hidden]`; an auditor reads the record itself."""
    if isinstance(who, Auditor):
        return [say(event) for event in record]
    return [event_line(event) for event in see(record, who)]


def replay_seen(seen: Iterable[Seen]) -> Hand:
    """Replay the visible events of a hand; no card in it is more than was seen."""
    return replay(cast(t.Event, masked_event(event)) for event in seen)


def table_as_text(hand: Hand) -> PrintableText:
    """The table as text: stacks, bets and cards by seat; who must answer."""
    rows = [["", "stack", "bet", "cards", ""]]
    for seat, player in enumerate(hand.start.players):
        bet = hand.round.bets[seat] if hand.round else 0
        cards = " ".join(hand.hole[seat])
        # A seat that merely waits needs no words.
        words = "" if hand.standing[seat] == "live" else hand.standing[seat].replace("_", "-")
        if hand.round is not None and hand.round.next == seat:
            words = "to act"
        rows.append([player, str(hand.stacks[seat]), str(bet), cards, words])
    facts = [["street", hand.street], ["board", " ".join(hand.board)], ["pot", str(hand.pot)]]
    facts += [["rake", str(hand.rake)]] if hand.rake else []
    return printable_lines([*aligned_lines(facts), "", *aligned_lines(rows, (1, 2))])


def table_as_json(hand: Hand) -> dict[str, Any]:
    """The table as plain values; a hidden card looks as it does in events."""
    betting = hand.round
    return {
        "street": hand.street,
        "board": list(hand.board),
        "pot": hand.pot,
        "rake": hand.rake,
        "next": None if betting is None else betting.next,
        "over": hand.over,
        "void": hand.voided,
        "seats": [
            {
                "player": player,
                "stack": hand.stacks[seat],
                "bet": betting.bets[seat] if betting else 0,
                "cards": [
                    (msgspec.to_builtins(views.HIDDEN) if card == HIDDEN else card)
                    for card in hand.hole[seat]
                ],
                "standing": hand.standing[seat],
            }
            for seat, player in enumerate(hand.start.players)
        ],
    }


def event_line(seen: Seen) -> str:
    """The line of a visible event; that a card changed may be known where the cards are not."""
    line = say(masked_event(seen))
    if (
        isinstance(seen, views.CardSwappedSeen)
        and seen.old == views.HIDDEN
        and seen.changed != views.HIDDEN
    ):
        return f"{line}, {'another' if seen.changed else 'the same'} card"
    return line


def masked_event(seen: Seen) -> t.Event | Match:
    """The event with a word in place of whatever is hidden: for saying and counting only."""
    kind = _EVENT_OF_SEEN.get(type(seen))
    if kind is None:
        return cast(t.Event | Match, seen)
    shown = {
        name: _masked_value(getattr(seen, name))
        for name in kind.__struct_fields__
        if hasattr(seen, name)
    }
    if shown.get("origin") == HIDDEN:
        shown["origin"] = "chosen"  # the line of an origin that nobody remarks on
    return kind(**shown)


def _masked_value(value: Any) -> Any:
    if isinstance(value, Hidden):
        return HIDDEN
    return tuple(map(_masked_value, value)) if isinstance(value, tuple) else value


def timestamps(times: Sequence[int]) -> list[str]:
    """Milliseconds since 1970 as text; Arrow knows years that Python does not."""
    texts = pc.strftime(pa.array(times, pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ")
    words: list[str] = texts.to_pylist()
    return words


class NoAccess(Exception):
    """A viewpoint that has no access: its player sits nowhere here, or the hand is withheld."""


class RedactedEvent(NamedTuple):
    """An event as it is seen, and as a record with null or a word for every hidden value."""

    seen: Seen
    stored: Recorded
    hidden: tuple[str, ...]


class RedactedEvents(NamedTuple):
    """The visible events of a leaf."""

    hand_seq: int
    stream: str
    events: tuple[RedactedEvent, ...]
    open: bool

    @property
    def leaf(self) -> Leaf:
        """The visible events as a leaf."""
        return Leaf(self.hand_seq, tuple(event.stored for event in self.events))


class _Match(NamedTuple):
    """The players of a match, and what of it is open to everybody."""

    players: tuple[str, ...]
    opened: MatchOpenness


class Redactor:
    """Redacts leaves for one viewer."""

    def __init__(self, snapshot: Snapshot, viewer: Viewer) -> None:
        self.viewer = viewer
        self._snapshot = snapshot
        self._matches: dict[str, _Match] = {}

    @property
    def units(self) -> Units:
        """The units of amounts, by ruleset."""
        return self._snapshot.units()

    def ruleset(self, fingerprint: str) -> bytes | None:
        """The text of a ruleset, for tables of hands that were dealt by it."""
        return self._snapshot.ruleset(fingerprint)

    def check_seat(self, match: str) -> None:
        """Refuse the viewpoint of a seat if nobody of that name plays this match."""
        if self.viewer.player is not None and not self._sits(match, self.match(match).players):
            raise NoAccess(
                f"{self.viewer.view} is no viewpoint here: nobody of that name plays {match}"
            )

    def check_any_seat(self, matches: Iterable[str]) -> None:
        """Refuse the viewpoint of a seat if nobody of that name plays one of these matches."""
        if self.viewer.player is not None and not any(
            self._sits(match, self.match(match).players) for match in matches
        ):
            raise NoAccess(
                f"{self.viewer.view} is no viewpoint here: nobody of that name plays a match"
            )

    def match(self, name: str) -> _Match:
        """A match's players and what of it is open, as of the snapshot."""
        if name not in self._matches:
            records = [recorded.event for recorded in match_records(self._snapshot, name)]
            started = (record.players for record in records if isinstance(record, MatchStarted))
            players = next(started, None) or self._players_unannounced(name)
            rule = opened_by(records)
            secrets = rule.secrets and self._is_seed_open(name, records)
            self._matches[name] = _Match(players, rule._replace(secrets=secrets))
        return self._matches[name]

    def check_visible(self, stream: str) -> None:
        """Refuse a hand of a mirrored match that is still for auditors alone."""
        match = split_stream(stream)[0]
        if not self.may_know(stream):
            raise NoAccess(withheld_sentence(match))

    def may_know(self, stream: str) -> bool:
        """Whether the viewer may see anything of this stream."""
        return (
            self.viewer.auditor
            or is_match(stream)
            or not self.match(split_stream(stream)[0]).opened.withheld
        )

    def may_know_secrets(self, match: str) -> bool:
        """Whether the viewer may see a match's own secrets: its seed, its source's own words."""
        return self.viewer.auditor or self.match(match).opened.secrets

    def visible_leaves(self, leaves: Iterable[Leaf]) -> Iterator[Leaf]:
        """The leaves of which the viewer may see something."""
        return (leaf for leaf in leaves if self.may_know(leaf.stream))

    def _is_seed_open(self, match: str, records: list[Record]) -> bool:
        """Whether a match's seed is open: not while another match of that seed is sealed."""
        if not any(
            isinstance(record, MatchStarted) and record.seed is not None for record in records
        ):
            return True
        from api.viewpoints.withheld_events import (
            open_matches,  # asks the whole ledger: few need it
        )

        return match in open_matches(self._snapshot).secrets

    def _players_unannounced(self, match: str) -> tuple[str, ...]:
        """The players of a match that nobody announced: those of one of its hands."""
        segments, closed = self._snapshot.parts()
        numbers = (segment.numbers[match][0] for segment in segments if match in segment.numbers)
        hot = (one.stream for one in closed if not is_match(one.stream))
        named = chain(
            (f"{match}/{number}" for number in numbers),
            (stream for stream in hot if split_stream(stream)[0] == match),
        )
        hand = next(named, None)
        return () if hand is None else players_of_hand(self._snapshot, hand)

    def redact(self, leaf: Leaf) -> RedactedEvents:
        """Redact a leaf for this viewer; away from his tables he sees what the public sees."""
        self.check_visible(leaf.stream)
        name = split_stream(leaf.stream)[0]
        match = self.match(name)
        start = leaf.recorded[0].event
        players = start.players if isinstance(start, t.HandStarted) else ()
        opened = match.opened.secrets if is_match(leaf.stream) else match.opened.hands
        who = viewpoint_of(
            self.viewer.view if self._sits(name, players) else PUBLIC, players, opened
        )
        events: list[RedactedEvent] = []
        for recorded in leaf.recorded:
            seen = see_one(recorded.event, who)
            if seen is not None:
                place = len(events)
                if seen is recorded.event or isinstance(who, Auditor):  # nobody's secret is in it
                    whole = Recorded(place, recorded.stream, place, recorded.at, recorded.event)
                    events.append(RedactedEvent(seen, whole, ()))
                else:
                    events.append(_redacted_event(seen, recorded, place))
        return RedactedEvents(leaf.hand_seq, leaf.stream, tuple(events), isinstance(who, Auditor))

    def _sits(self, match: str, players: tuple[str, ...]) -> bool:
        """Whether the viewer is no seat, or the seat of one of these players in a match of his."""
        player = self.viewer.player
        return player is None or (self.viewer.sits_in(match) and player in players)


def _redacted_event(seen: Seen, recorded: Recorded, place: int) -> RedactedEvent:
    hidden = tuple(name for name in seen.__struct_fields__ if _is_hidden(getattr(seen, name)))
    event: Record = masked_event(seen)
    if hidden:
        forms = {field.name: field.form for field in fields(type(event))}
        blank: dict[str, Any] = {
            name: HIDDEN_VALUES.get(forms[name], HIDDEN)
            for name in hidden
            if name in forms and forms[name] != "cards"
        }
        event = replace(event, **blank)
    return RedactedEvent(seen, Recorded(place, recorded.stream, place, recorded.at, event), hidden)


def _is_hidden(value: Any) -> bool:
    return isinstance(value, Hidden) or (isinstance(value, tuple) and any(map(_is_hidden, value)))


def with_settled_bids(redacted_hand: RedactedEvents) -> Leaf:
    """The redacted hand as a leaf, with every bid that its auction's settlement told to all."""
    raw = [event.stored for event in redacted_hand.events]
    placed: list[int] = []
    for place, (seen, _, _) in enumerate(redacted_hand.events):
        if isinstance(seen, BidPlacedSeen):
            placed.append(place)
        if isinstance(seen, t.AuctionSettled):
            for bid, amount in zip(placed, seen.bids, strict=False):
                raw[bid] = replace(raw[bid], event=replace(raw[bid].event, amount=amount))
            placed = []
    return Leaf(redacted_hand.hand_seq, tuple(raw))

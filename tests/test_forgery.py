"""Every small forgery of a record is refused by reading, found by audit, or harmless.

A record is changed in one place: an event dropped, doubled or exchanged with its neighbour, one
field of one event given another value, its JSON damaged. **Harmless** means three things at once:
audit agrees with the forged record in every event, so it is the record of a hand that could have
been played; it pays every seat the same net; and the change is of one of the kinds below, which
are what nothing inside a hand can contradict:

    name        the hand's id, or a player's name: identity is for the ledger and its signatures
    brought     chips more or less in a stack, which nobody put at risk and no limit depended on
    unseen      another unused card for one that nobody turned up: dealt to a seat that never
                showed, or laid on a board when no hand was shown
    idle        another unused card for one that was turned up, and every award stays the same
    unrecorded  a card said to be unknown where it was dealt; if it is shown, it is named there
    origin      the same action, by a player or by default for him; a choice of one is "forced",
                so forced and chosen are never exchanged
    sealed      whether a bid was seen early, under a ruleset that allows both
    fault       why an action is a default: what a program replied and where, or that its clock ran
                out and it did not stay in for that; a note that moves nothing
    connection  that a seat dropped out or came back, and when
    post        who posted as a newcomer, live or dead: the table decides it between hands, so it
                comes into a hand from outside, as the button does; this kind may pay otherwise
    odd         which winner the dealer gives an odd chip, and who is named first, where that is
                his to say (U18); this kind may pay otherwise, by one chip a pot
    announced   another five cards that were announced, and win or lose all the same
    void        whatever else is legal in a hand that does not count: everything goes back

Anything else that audit lets pass is a hole in the rules. Run with -s for a table of outcomes.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise
from typing import Any, NamedTuple, get_args

import msgspec
import pytest

from engine.audit import audit
from engine.game import Game
from engine.verdict import judge
from events import types as t
from events.cards import DECK, UNKNOWN, is_card
from events.codec import Unreadable, decode, encode
from events.evolve import replay
from events.notation import say, say_all
from events.types import BlindKind, Event, Events, FaultKind, FaultPlace, Origin
from tests.hands import Played, seeded, some_games
from tests.profiles import sized


class Forged(NamedTuple):
    """A record with one change, and the kind under which it would be harmless, if any."""

    what: str
    lines: tuple[bytes, ...]
    harmless: str | None = None


@some_games
def test_no_forgery_passes_unseen(game: Game) -> None:
    _try(game, _shortest_that_show_everything(game))


@pytest.mark.slow
@some_games
def test_no_forgery_of_many_hands_passes_unseen(game: Game) -> None:
    _try(game, [seeded(game, f"forged {seed}") for seed in range(8)])


@some_games
def test_damaged_json_is_never_read(game: Game) -> None:
    lines = {encode(event) for hand in _shortest_that_show_everything(game) for event in hand}
    for line in sorted(lines):
        for damaged in _damaged(line):
            with pytest.raises(Unreadable):
                decode(damaged)


@cache
def _shortest_that_show_everything(game: Game) -> list[Events]:
    """Few short records with every kind of event that sixty hands reach: longer ones repeat it."""
    hands = sorted((seeded(game, str(seed)).record for seed in range(60)), key=len)
    missing = {type(event) for record in hands for event in record}
    chosen = []
    while missing:
        best = max(hands, key=lambda record: _news(record, missing))
        missing -= set(map(type, best))
        chosen.append(best)
    return chosen


def _news(record: Events, missing: set[type[Event]]) -> Fraction:
    """New kinds of event, by the square of what a record costs to forge."""
    return Fraction(len(set(map(type, record)) & missing), len(record) ** 2)


def _try(game: Game, records: list[Any]) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for played in records:
        record = played.record if isinstance(played, Played) else played
        nets = _nets(record)
        for forged in islice(_forgeries(game, record), 0, None, sized(3, 2, 1)):
            counted[forged.what.split(":")[0], _outcome(game, forged, nets)] += 1
    print(f"\n{game.name}")
    for (what, outcome), count in sorted(counted.items()):
        print(f"{count:7} {what:28} {outcome}")
    assert sum(counted.values()) > 100


def _outcome(game: Game, forged: Forged, nets: tuple[int, ...]) -> str:
    """What became of a forgery; one that passes and is not harmless fails the test."""
    try:
        record = tuple(decode(line) for line in forged.lines)
    except Unreadable:
        return "unreadable"
    told = f"{forged.what}\n{say_all(record)}"
    try:
        divergence = audit(game, record)
        verdict = judge(game, record).verdict
    except Exception as reason:
        raise AssertionError(f"auditing failed: {reason!r}: {told}") from reason
    if divergence is not None:
        # a card struck out that could decide who is paid: nobody can tell any more
        assert ("unknown" if divergence.undecided else "differ") == verdict, told
        return "found"
    assert forged.harmless is not None, f"nobody noticed: {told}"
    apart = max(abs(was - now) for was, now in zip(nets, _nets(record), strict=True))
    assert apart <= _MAY_PAY_OTHERWISE.get(forged.harmless, 0), f"paid otherwise: {told}"
    return f"harmless: {forged.harmless}"


def _nets(record: Events) -> tuple[int, ...]:
    hand = replay(record)
    return tuple(now - was for was, now in zip(hand.start.stacks, hand.stacks, strict=True))


def _forgeries(game: Game, record: Events) -> Iterator[Forged]:
    """Every change of one event."""
    lines = tuple(encode(event) for event in record)
    for at, event in enumerate(record):
        alone = _harmless_alone(record, event)
        yield Forged(f"drop: {say(event)}", (*lines[:at], *lines[at + 1 :]), alone)
        yield Forged(f"double: {say(event)}", (*lines[: at + 1], *lines[at:]), alone)
        for field in event.__struct_fields__:
            was = getattr(event, field)
            for value in _other_values(record, event, field):
                if value != was:
                    what = f"{type(event).__name__}.{field}: {was!r} -> {value!r}"
                    line = _with_field(lines[at], field, value)
                    harmless = _harmless(game, record, event, field, value)
                    yield Forged(what, (*lines[:at], line, *lines[at + 1 :]), harmless)
    for at, (first, second) in enumerate(pairwise(record)):
        if first != second:
            both = _harmless_alone(record, first) or _harmless_alone(record, second)
            what = f"exchange: {say(first)} | {say(second)}"
            changed = (*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :])
            yield Forged(what, changed, both)


def _with_field(line: bytes, field: str, value: Any) -> bytes:
    """The line of an event with one field changed, whether or not such an event may exist."""
    return _spelled({**msgspec.json.decode(line), field: value})


def _harmless_alone(record: Events, event: Event) -> str | None:
    """Events whose presence or place nothing else in a hand depends on."""
    if isinstance(record[-1], t.HandVoided):
        return "void"
    if isinstance(event, t.Faulted) or (isinstance(event, t.TimedOut) and not event.all_in):
        return "fault"
    if isinstance(event, t.Disconnected | t.Reconnected):
        return "connection"
    return "post" if _is_post(event) else None


def _is_post(event: Event) -> bool:
    return isinstance(event, t.BlindPosted) and event.kind in ("post", "dead")


def _harmless(game: Game, record: Events, event: Event, field: str, value: Any) -> str | None:
    """The kind under which this change of a field may pass."""
    if isinstance(event, t.HandStarted):
        return {"hand": "name", "players": "name", "stacks": "brought"}.get(field)
    if isinstance(event, t.HoleDealt | t.BoardDealt | t.CardSwapped) and field in _CARD_FIELDS:
        return _harmless_card(record, event, field, value)
    if field == "origin":
        return "origin" if "default" in (value, getattr(event, field)) else None
    if field == "sealed":
        return "sealed" if game.bids == "leaked" else None
    if isinstance(event, t.PotSplit):
        return "odd" if game.odd_chips == "dealer" and field in ("seats", "shares") else None
    if isinstance(event, t.Announced):
        return "announced" if field == "cards" else None
    return _harmless_alone(record, event)


def _harmless_card(record: Events, event: Event, field: str, value: Any) -> str | None:
    """A card may be another unused one, or one that nobody recorded; never one already in play."""
    was, now = getattr(event, field), value
    pairs = [(was, now)] if isinstance(was, str) else list(zip(was, now, strict=False))
    if isinstance(was, tuple) and len(was) != len(now):
        return None
    new = [after for before, after in pairs if before != after]
    old = [before for before, after in pairs if before != after]
    if UNKNOWN in new:
        return "unrecorded"
    if sorted(new) == sorted(old):  # two cards of one deal, exchanged
        return "idle"
    stays = isinstance(event, t.CardSwapped) and field == "new" and now == event.old
    if set(new) & _in_play(record) and not stays:
        return None
    shown = [e for e in record if isinstance(e, t.Shown | t.Announced)]
    on_board = isinstance(event, t.BoardDealt) and bool(shown)
    return "idle" if on_board or any(set(old) & set(e.cards) for e in shown) else "unseen"


def _in_play(record: Events) -> set[str]:
    """Every card that the record names anywhere."""
    named: set[str] = set()
    for event in record:
        named.update(getattr(event, "cards", ()))
        if isinstance(event, t.CardSwapped):
            named.update((event.old, event.new))
    return named


def _other_values(record: Events, event: Event, field: str) -> Iterator[Any]:
    """Several other values of a field: near ones, impossible ones, those of other seats."""
    value = getattr(event, field)
    if field in _NAMED:
        yield from _NAMED[field]
    elif field == "kind":
        yield from get_args(FaultKind if isinstance(event, t.Faulted) else BlindKind)
    elif isinstance(value, bool):
        yield not value
    elif field in ("seat", "next", "button"):
        yield from (*range(len(_start(record).stacks) + 1), 22, 23, None)
    elif isinstance(value, int):
        yield from (value - 1, value + 1, 0, value * 2, value + 1000, 2**53)
    elif isinstance(value, tuple):
        yield from _other_rows(record, value)
    elif is_card(value):
        yield from _other_cards(record, value)
        yield getattr(event, "old", value)
    else:
        yield from (f"{value}x", value.upper(), "")


def _other_rows(record: Events, row: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """One entry changed, left out or added; two neighbours exchanged."""
    for at, value in enumerate(row):
        for other in _other_entries(record, value):
            yield (*row[:at], other, *row[at + 1 :])
        yield (*row[:at], *row[at + 1 :])
        yield (*row[: at + 1], *row[at:])
        if at:
            yield (*row[: at - 1], value, row[at - 1], *row[at + 1 :])
    yield (*row, *_other_entries(record, row[0] if row else 1))


def _other_entries(record: Events, value: Any) -> tuple[Any, ...]:
    if isinstance(value, int):
        return (value - 1, value + 1, 0)
    return _other_cards(record, value) if is_card(value) else (f"{value}x", "")


def _other_cards(record: Events, card: str) -> tuple[str, ...]:
    """Two unused cards, two that are in play, one unknown, and one that does not exist."""
    used = _in_play(record)
    free = [other for other in DECK if other not in used]
    dealt = sorted(used - {card, UNKNOWN})
    return (*free[:1], *free[-1:], *dealt[:1], *dealt[-1:], UNKNOWN, "Xx", card.lower())


def _start(record: Events) -> t.HandStarted:
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return start


_MAY_PAY_OTHERWISE = {"post": 2**53, "odd": 1}
_CARD_FIELDS = ("cards", "old", "new")
_NAMED: dict[str, tuple[str, ...]] = {
    "origin": get_args(Origin),
    "where": get_args(FaultPlace),
}


def _damaged(line: bytes) -> Iterator[bytes]:
    """JSON that is nearly an event: fields lost, added, misnamed, of another type."""
    whole = msgspec.json.decode(line)
    yield from (_spelled({**whole, "colour": "red"}), _spelled({**whole, "Seat": 1}))
    yield from (line[:-1], line[1:], line + b" ", b" " + line, line + line, b"[" + line + b"]")
    yield line.replace(b":", b": ", 1)
    for field, value in whole.items():
        rest = {name: kept for name, kept in whole.items() if name != field}
        yield _spelled(rest)
        yield _spelled({**rest, field.title() if field.islower() else field.lower(): value})
        for wrong in _wrong_types(value):
            yield _spelled({**whole, field: wrong})


def _wrong_types(value: Any) -> tuple[Any, ...]:
    """A value of the right meaning in a wrong type, and of no meaning at all."""
    match value:
        case bool():
            return int(value), str(value).lower(), None
        case int():
            return str(value), value + 0.5, -1, [value], {}
        case str():
            return 7, [value], {"text": value}, None
        case list():
            return {}, value[0] if value else 0, [*value, {}], [*value, None], None
        case _:
            return "none", [], {}


def _spelled(whole: dict[str, Any]) -> bytes:
    return msgspec.json.encode(whole, order="sorted")

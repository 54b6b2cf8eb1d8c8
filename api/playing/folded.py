"""Why was I folded: every reply of a bot that could not be used, beside what it had been asked."""

from collections.abc import Iterator

from msgspec import Struct

from dealer.wire.words import WireTurn, command, dialect_of
from engine.game import Game
from engine.hand import decide, turn
from engine.turn import IllegalCommand, ToAct, ToBid
from events.evolve import evolve
from events.notation import say
from events.state import Hand, opened
from events.types import Event, Events, Faulted, HandStarted

_GONE = {
    "late": "it did not reply in time",
    "disconnected": "its connection broke",
    "": "it closed its connection, or sent an empty line",
}


class Unusable(Struct, frozen=True):
    """One bad reply: where it came, what could have been replied, and what was played instead."""

    hand: str
    player: str
    where: str
    kind: str
    asked: str
    reply: str
    because: str
    played: str | None


def unusable(game: Game, record: Events) -> Iterator[Unusable]:
    """Every bad reply of one hand, in order."""
    if not any(isinstance(event, Faulted) for event in record):
        return
    start = record[0]
    assert isinstance(start, HandStarted)
    hand = opened(start)
    for at, event in enumerate(record[1:], 1):
        if isinstance(event, Faulted):
            asked = None if event.where == "acknowledgement" else turn(game, hand)
            assert asked is None or isinstance(asked, ToAct | ToBid)
            yield Unusable(
                start.hand,
                start.players[event.seat],
                event.where,
                event.kind,
                _offered(asked),
                event.raw,
                _because(game, hand, asked, event),
                _played(event.seat, record[at + 1]) if asked else None,
            )
        hand = evolve(hand, event)


def _offered(asked: WireTurn | None) -> str:
    """The replies that were possible: `F, C, R8..400`."""
    if asked is None:
        return "K"
    if isinstance(asked, ToBid):
        return f"A0..{asked.bid_max}"
    words = ["K"] if asked.check else ["F", "C"]
    if asked.raise_min is not None:
        words.append(f"R{asked.raise_min}..{asked.raise_max}")
    return ", ".join(words)


def _because(game: Game, hand: Hand, asked: WireTurn | None, fault: Faulted) -> str:
    reply = fault.raw
    if fault.kind in _GONE:
        return _GONE[fault.kind]
    if fault.kind == "illegal" and asked is not None:
        answer = command(dialect_of(game), asked, reply, True)
        try:
            assert answer is not None
            decide(game, hand, answer)
        except IllegalCommand as why:
            return str(why)
    if fault.kind == "illegal":
        return "the end of a hand is answered with K"
    if not reply:
        return _GONE[""]
    if "\ufffd" in reply:
        return "it is no text in UTF-8"
    if reply.endswith("…"):
        return "it goes on without an end of line, or for too long"
    if reply[0] in ("RA" if dialect_of(game).bids else "R"):
        return f"there is no whole number behind its {reply[0]}"
    return f"no reply begins with {reply[0]!r}"


def _played(seat: int, event: Event) -> str:
    """The answer that stands in the record, without whose it is."""
    line = say(event).removeprefix(f"{seat} ")
    return line.partition(" (default)")[0]

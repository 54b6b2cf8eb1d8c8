"""A record as one viewpoint sees it: its lines, and the table that they add up to.

For all but an auditor both are made from `Seen` events alone, so neither can tell what the
viewpoint may not know. What is hidden is said as `hidden`; `??` was never recorded at all.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from api.printable import Page, page
from api.report import aligned
from events import types as t
from events import views
from events.evolve import replay
from events.match import Disclosure, Match, MatchEnded, MatchStarted
from events.notation import say
from events.state import Hand
from events.views import (
    FIELDS,
    HIDDEN,
    Auditor,
    Hidden,
    Opened,
    Seen,
    Viewpoint,
    opened,
    see,
    viewpoint,
)

_HIDDEN = "hidden"
OF_A_SEED = (
    "Its deck was shuffled from a seed: hidden cards are only as hidden as the seed, and everybody"
    " who knows it knows the cards."
)
_STORED = {views.seen_as(kind): kind for kind, hidden in FIELDS.items() if hidden.secrets}


def opened_by(records: Iterable[t.Event | Match]) -> Opened:
    """What is open of a match by its own records, as was announced at its start."""
    disclosure: Disclosure | None = None
    over = mirrored = False
    for event in records:
        if isinstance(event, MatchStarted):
            disclosure = disclosure or event.disclosure
            mirrored = mirrored or event.deals > 1
        over = over or isinstance(event, MatchEnded)
    return opened(disclosure, mirrored=mirrored, over=over)


def withheld_sentence(match: str) -> str:
    """Why nobody but an auditor may see a hand."""
    return (
        f"{match} is a mirrored match, and each of its hands tells the cards of another: "
        "they are told to auditors alone until it is over and open to everybody"
    )


def viewpoint_of(view: str, players: tuple[str, ...], opened: bool) -> Viewpoint:
    """The viewpoint of a viewer at this table; an open hand every viewer sees as an auditor
    does."""
    who = viewpoint(view, players)
    return Auditor() if opened else who


def lines(record: Iterable[t.Event | Match], who: Viewpoint) -> list[str]:
    """Each event on its line: `1 is dealt [hidden hidden]`; an auditor reads the record itself."""
    if isinstance(who, Auditor):
        return [say(event) for event in record]
    return [line_of(event) for event in see(record, who)]


def table_after(seen: Iterable[Seen]) -> Hand:
    """The hand that a viewpoint's events add up to; no card in it is more than was seen."""
    return replay(cast(t.Event, masked(event)) for event in seen)


def table_as_text(hand: Hand) -> Page:
    """Stacks, bets and cards by seat; who must answer."""
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
    return page([*aligned(facts), "", *aligned(rows, (1, 2))])


def table_as_json(hand: Hand) -> dict[str, Any]:
    """The same as plain values; a hidden card looks as it does in events."""
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
                    (msgspec.to_builtins(HIDDEN) if card == _HIDDEN else card)
                    for card in hand.hole[seat]
                ],
                "standing": hand.standing[seat],
            }
            for seat, player in enumerate(hand.start.players)
        ],
    }


def line_of(seen: Seen) -> str:
    """The line of what was seen; that a card changed may be known where the cards are not."""
    line = say(masked(seen))
    if isinstance(seen, views.CardSwappedSeen) and seen.old == HIDDEN and seen.changed != HIDDEN:
        return f"{line}, {'another' if seen.changed else 'the same'} card"
    return line


def masked(seen: Seen) -> t.Event | Match:
    """The event with a word in place of whatever is hidden: for saying and counting only."""
    kind = _STORED.get(type(seen))
    if kind is None:
        return cast(t.Event | Match, seen)
    shown = {
        name: _word(getattr(seen, name)) for name in kind.__struct_fields__ if hasattr(seen, name)
    }
    if shown.get("origin") == _HIDDEN:
        shown["origin"] = "chosen"  # the line of an origin that nobody remarks on
    return kind(**shown)


def _word(value: Any) -> Any:
    if isinstance(value, Hidden):
        return _HIDDEN
    return tuple(map(_word, value)) if isinstance(value, tuple) else value


def moments(times: Sequence[int]) -> list[str]:
    """Milliseconds since 1970 in words; Arrow knows years that Python does not."""
    texts = pc.strftime(pa.array(times, pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ")
    words: list[str] = texts.to_pylist()
    return words

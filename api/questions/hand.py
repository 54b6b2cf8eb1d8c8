"""One hand as a viewer sees it: a summary, its events as rows, its lines, and a log of it.

It is read from the ledger's files by its name and made from its `RedactedEvents` alone: no query
stands between, so that it is answered in a few milliseconds however large the ledger is.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from api.exporting.texts import CannotExport, ExportRequest, histories
from api.questions.frames import card, opening, spoken
from api.questions.one_line import one_line
from api.rules import UNKNOWN, Rules
from api.viewpoints.records import ended, started
from api.viewpoints.redaction import RedactedEvents
from api.viewpoints.rendering import masked
from api.viewpoints.selection import Unfinished
from api.viewpoints.times import moments
from api.viewpoints.viewer import Viewer
from api.viewpoints.views import UNCLOSED, Viewed
from engine.game import Game
from events import types as t
from events.evolve import replay
from events.state import Hand
from store.log.leaf import Leaf, split


def summary(viewed: Viewed, redacted_hand: RedactedEvents) -> dict[str, Any]:
    """Who played, what came, who won what, and the whole of it on one line."""
    match, number = split(redacted_hand.stream)
    hand = folded(redacted_hand)
    start = opening(redacted_hand)
    times = moments([redacted_hand.ones[0].stored.at, redacted_hand.ones[-1].stored.at])
    closed = redacted_hand.hand_seq != UNCLOSED
    return {
        "hand": redacted_hand.stream,
        "match": match,
        "number": number,
        "hand_seq": redacted_hand.hand_seq if closed else None,
        "game": start and start.game,
        "ruleset": start and start.ruleset,
        "view": view_of(viewed, redacted_hand),
        "seat": seat_of(viewed.viewer, redacted_hand),
        "open": redacted_hand.open,
        "closed": closed,
        "events": len(redacted_hand.ones),
        "players": start and list(start.players),
        "button": start and start.button,
        "stacks": start and list(start.stacks),
        "unit": start and viewed.redactor.units.get(start.ruleset),
        "played": (start and start.played) or None,
        **_outcome(redacted_hand, hand),
        "first": times[0],
        "at": times[1],
        "line": one_line(redacted_hand),
    }


def folded(redacted_hand: RedactedEvents) -> Hand | None:
    """What is seen of the hand, added up; nothing, if it does not add up."""
    if opening(redacted_hand) is None:
        return None
    try:
        return replay(cast(t.Event, masked(one.seen)) for one in redacted_hand.ones)
    except (LookupError, TypeError, ValueError):
        return None


def seat_of(viewer: Viewer, redacted_hand: RedactedEvents) -> int | None:
    """The viewer's own seat in this hand, if he has one."""
    start = opening(redacted_hand)
    if start is None or not viewer.sits_in(split(redacted_hand.stream)[0]):
        return None
    return start.players.index(viewer.player) if viewer.player in start.players else None


def view_of(viewed: Viewed, redacted_hand: RedactedEvents) -> str:
    """As whom the viewer looks at this hand: away from his own table he is the public."""
    at_home = viewed.viewer.auditor or seat_of(viewed.viewer, redacted_hand) is not None
    return viewed.viewer.view if at_home else "public"


def rules_of(viewed: Viewed, redacted_hand: RedactedEvents) -> Game | None:
    """The ruleset that the hand names, if the program or the ledger has it."""
    start = opening(redacted_hand)
    return None if start is None else Rules(viewed.snapshot, None).marked(start.ruleset)


def is_settled(viewed: Viewed, redacted_hand: RedactedEvents) -> bool:
    """Whether nothing that the viewer is told of this hand can ever change.

    A hand that is over stays as it is. More of it may be seen later, if its match is to be opened
    when it ends.
    """
    if redacted_hand.hand_seq == UNCLOSED:
        return False
    if redacted_hand.open:
        return True
    match = split(redacted_hand.stream)[0]
    announced = started(viewed.snapshot, match)
    sealed = announced is not None and announced.disclosure == "sealed"
    return sealed or ended(viewed.snapshot, match) is not None


def event_rows(redacted_hand: RedactedEvents) -> Iterator[dict[str, Any]]:
    """Each event as it is seen in its envelope: numbered as it is seen, without its position."""
    match, number = split(redacted_hand.stream)
    place = None if redacted_hand.hand_seq == UNCLOSED else redacted_hand.hand_seq
    envelope = {"hand": redacted_hand.stream, "match": match, "number": number, "hand_seq": place}
    times = moments([one.stored.at for one in redacted_hand.ones])
    for idx, (one, at) in enumerate(zip(redacted_hand.ones, times, strict=True)):
        yield {**msgspec.to_builtins(one.seen), **envelope, "idx": idx, "at": at}


def lines(redacted_hand: RedactedEvents) -> list[str]:
    """The hand in notation, as `muckrake replay` prints it."""
    return [spoken(one, whole=redacted_hand.open) for one in redacted_hand.ones]


def history(viewed: Viewed, redacted_hand: RedactedEvents) -> bytes:
    """The hand as a PHH document; a card that is hidden stands there as one that is not known."""
    if redacted_hand.hand_seq == UNCLOSED:
        raise Unfinished(
            f"{redacted_hand.stream} is not over: only hands that are over are exported"
        )

    def ruleset(record: t.Events) -> Game:
        game = rules_of(viewed, redacted_hand)
        if game is None:
            raise CannotExport(f"{redacted_hand.stream}: {UNKNOWN}")
        return game

    leaf = Leaf(redacted_hand.hand_seq, viewed.snapshot.read(redacted_hand.stream))
    asked = ExportRequest(viewed.snapshot, [leaf], viewed.redactor, ruleset, ".phh", lossy=False)
    return b"".join(histories(asked))


def _outcome(redacted_hand: RedactedEvents, hand: Hand | None) -> dict[str, Any]:
    """What it came to so far; nulls where a record does not add up."""
    if hand is None:
        names = ("street", "board", "cards", "pot", "rake", "net", "showdown", "void", "winners")
        return dict.fromkeys(names)
    nets = [left - had for left, had in zip(hand.stacks, hand.start.stacks, strict=True)]
    paid = sum(
        sum(one.seen.shares) for one in redacted_hand.ones if isinstance(one.seen, t.PotSplit)
    )
    over = hand.over or hand.voided
    return {
        "street": hand.street,
        "board": list(hand.board),
        "cards": [[card(one) for one in held] for held in hand.hole],
        "pot": (0 if hand.voided else paid + hand.rake) if over else hand.pot,
        "rake": hand.rake,
        "net": nets if over else None,
        "showdown": bool(hand.showing.shown),
        "void": hand.voided,
        "winners": [hand.start.players[s] for s, net in enumerate(nets) if net > 0] if over else [],
    }

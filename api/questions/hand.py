"""One hand as a viewer sees it: a summary, its events as rows, its lines, and a log of it.

It is read from the ledger's files by its name and made from its `Sight` alone: no query stands
between, so that it is answered in a few milliseconds however large the ledger is.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from api.exporting.texts import CannotExport, ExportRequest, histories
from api.questions.frames import card, opening, spoken
from api.questions.one_line import one_line
from api.rules import UNKNOWN, Rules
from api.viewpoints.moments import moments
from api.viewpoints.records import ended, started
from api.viewpoints.seen import masked
from api.viewpoints.sight import Sight
from api.viewpoints.viewer import Viewer
from api.viewpoints.views import UNCLOSED, Viewed
from api.viewpoints.wanted import Unfinished
from engine.game import Game
from events import types as t
from events.evolve import replay
from events.state import Hand
from store.log.leaf import Leaf, split


def summary(viewed: Viewed, sight: Sight) -> dict[str, Any]:
    """Who played, what came, who won what, and the whole of it on one line."""
    match, number = split(sight.stream)
    hand = folded(sight)
    start = opening(sight)
    times = moments([sight.ones[0].stored.at, sight.ones[-1].stored.at])
    closed = sight.hand_seq != UNCLOSED
    return {
        "hand": sight.stream,
        "match": match,
        "number": number,
        "hand_seq": sight.hand_seq if closed else None,
        "game": start and start.game,
        "ruleset": start and start.ruleset,
        "view": view_of(viewed, sight),
        "seat": seat_of(viewed.viewer, sight),
        "open": sight.open,
        "closed": closed,
        "events": len(sight.ones),
        "players": start and list(start.players),
        "button": start and start.button,
        "stacks": start and list(start.stacks),
        "unit": start and viewed.eyes.units.get(start.ruleset),
        "played": (start and start.played) or None,
        **_outcome(sight, hand),
        "first": times[0],
        "at": times[1],
        "line": one_line(sight),
    }


def folded(sight: Sight) -> Hand | None:
    """What is seen of the hand, added up; nothing, if it does not add up."""
    if opening(sight) is None:
        return None
    try:
        return replay(cast(t.Event, masked(one.seen)) for one in sight.ones)
    except (LookupError, TypeError, ValueError):
        return None


def seat_of(viewer: Viewer, sight: Sight) -> int | None:
    """The viewer's own seat in this hand, if he has one."""
    start = opening(sight)
    if start is None or not viewer.sits_in(split(sight.stream)[0]):
        return None
    return start.players.index(viewer.player) if viewer.player in start.players else None


def view_of(viewed: Viewed, sight: Sight) -> str:
    """As whom the viewer looks at this hand: away from his own table he is the public."""
    at_home = viewed.viewer.auditor or seat_of(viewed.viewer, sight) is not None
    return viewed.viewer.view if at_home else "public"


def rules_of(viewed: Viewed, sight: Sight) -> Game | None:
    """The ruleset that the hand names, if the program or the ledger has it."""
    start = opening(sight)
    return None if start is None else Rules(viewed.snapshot, None).marked(start.ruleset)


def is_settled(viewed: Viewed, sight: Sight) -> bool:
    """Whether nothing that the viewer is told of this hand can ever change.

    A hand that is over stays as it is. More of it may be seen later, if its match is to be opened
    when it ends.
    """
    if sight.hand_seq == UNCLOSED:
        return False
    if sight.open:
        return True
    match = split(sight.stream)[0]
    announced = started(viewed.snapshot, match)
    sealed = announced is not None and announced.disclosure == "sealed"
    return sealed or ended(viewed.snapshot, match) is not None


def event_rows(sight: Sight) -> Iterator[dict[str, Any]]:
    """Each event as it is seen in its envelope: numbered as it is seen, without its position."""
    match, number = split(sight.stream)
    place = None if sight.hand_seq == UNCLOSED else sight.hand_seq
    envelope = {"hand": sight.stream, "match": match, "number": number, "hand_seq": place}
    times = moments([one.stored.at for one in sight.ones])
    for idx, (one, at) in enumerate(zip(sight.ones, times, strict=True)):
        yield {**msgspec.to_builtins(one.seen), **envelope, "idx": idx, "at": at}


def lines(sight: Sight) -> list[str]:
    """The hand in notation, as `muckrake replay` prints it."""
    return [spoken(one, whole=sight.open) for one in sight.ones]


def history(viewed: Viewed, sight: Sight) -> bytes:
    """The hand as a PHH document; a card that is hidden stands there as one that is not known."""
    if sight.hand_seq == UNCLOSED:
        raise Unfinished(f"{sight.stream} is not over: only hands that are over are exported")

    def ruleset(record: t.Events) -> Game:
        game = rules_of(viewed, sight)
        if game is None:
            raise CannotExport(f"{sight.stream}: {UNKNOWN}")
        return game

    leaf = Leaf(sight.hand_seq, viewed.snapshot.read(sight.stream))
    asked = ExportRequest(viewed.snapshot, [leaf], viewed.eyes, ruleset, ".phh", lossy=False)
    return b"".join(histories(asked))


def _outcome(sight: Sight, hand: Hand | None) -> dict[str, Any]:
    """What it came to so far; nulls where a record does not add up."""
    if hand is None:
        names = ("street", "board", "cards", "pot", "rake", "net", "showdown", "void", "winners")
        return dict.fromkeys(names)
    nets = [left - had for left, had in zip(hand.stacks, hand.start.stacks, strict=True)]
    paid = sum(sum(one.seen.shares) for one in sight.ones if isinstance(one.seen, t.PotSplit))
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

"""Batch audit and engine on the same records: what each of them says of a hand, compared.

`fine` has to mean that the engine agrees, to the chip. A hand that the engine would refuse is never
fine, and a hand that it agrees with is never suspect. A reading that the batch audit does not
follow is left to the engine, so there a doubt may turn out to be none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from analytics.batch_audit.batches import BatchAuditor, BatchResult
from analytics.batch_audit.event_arrays import EventArrays, WordIds
from analytics.batch_audit.plan import DoubtReason
from analytics.replay.rules import RulesetLookup
from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.games import RULESETS
from engine.verdict import judge
from events import types as t
from events.codec import Unreadable, decode
from events.ledger import Recorded
from events.notation import say_all
from events.types import Events
from store.columns.codec import event_table
from store.log.streams import Leaf
from tests.hands import seeded
from tests.test_forgery import _forgeries

MARKED = {fingerprint(game): game for game in RULESETS.values()}
NOT_FOLLOWED = (t.TimedOut, t.Disconnected, t.Reconnected, t.HandVoided)
Counted = Counter[tuple[str, str]]


def batch_result(records: Sequence[Events], find: RulesetLookup = MARKED.get) -> BatchResult:
    """What the batch audit says of these records, as a ledger would store them."""
    leaves = [leaf(number, record) for number, record in enumerate(records)]
    words = WordIds()
    return BatchAuditor(find, words).judge(EventArrays([event_table(leaves)], words))


def is_judged(why: int) -> bool:
    """Whether the batch audit has judged the hand at all."""
    return why < DoubtReason.RULES


def agree(game: Game, records: Iterable[Events]) -> Counted:
    """Batch audit and engine on each of these records; how often which said what."""
    named = [_named(number, record) for number, record in enumerate(records)]
    found = batch_result(named, (MARKED | {fingerprint(game): game}).get)
    counted: Counted = Counter()
    for record, code, nets in zip(named, found.why.tolist(), found.nets.tolist(), strict=True):
        report = judge(game, record, partner_of(game))
        why = DoubtReason(code)
        counted[report.verdict, why.name] += 1
        told = f"{why.name}, {report.verdict}, {report.divergence}\n{say_all(record)}"
        if why is DoubtReason.FINE:
            start = record[0]
            assert isinstance(start, t.HandStarted)
            assert report.verdict == "agree", told
            assert report.recorded == tuple(nets[: len(start.stacks)]), told
        elif why is DoubtReason.READING:
            counts_all = not any(one.policy in ("split", "kickers") for one in game.readings)
            assert report.verdict == "contested" or not counts_all, told
        elif is_judged(why):
            assert report.verdict in ("differ", "unknown"), told
    return counted


def followed(game: Game, name: str) -> Iterator[Events]:
    """Seeded hands without what the batch audit leaves to the engine, whatever is played."""
    number = 0
    while True:
        record = seeded(game, f"{name} {number}").record
        number += 1
        posts = any(isinstance(e, t.BlindPosted) and e.kind in ("post", "dead") for e in record)
        if not posts and not any(isinstance(event, NOT_FOLLOWED) for event in record):
            yield record


def forged(game: Game, record: Events) -> Iterator[Events]:
    """Every small forgery of a record that can still be read."""
    for one in _forgeries(game, record):
        if not one.what.startswith("HandStarted.hand:"):  # the ledger names a hand by its stream
            with suppress(Unreadable):
                yield tuple(decode(line) for line in one.lines)


def _named(number: int, record: Events) -> Events:
    start = record[0]
    if not isinstance(start, t.HandStarted):
        return record
    return (replace(start, hand=f"m/{number}"), *record[1:])


def leaf(number: int, record: Events) -> Leaf:
    stream = f"m/{number}"
    return Leaf(number, tuple(Recorded(at, stream, at, 0, e) for at, e in enumerate(record)))

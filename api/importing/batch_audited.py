"""Import hands in columns: audit many at once, take those that are what their rules make of them.

A fine hand is what `formats.hand_records` would have made of it. Its verdict is `agree`, unless
that rests on what the hand assumes; the others are put to the rules one by one.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from analytics.batch_audit.batches import BatchAuditor
from analytics.batch_audit.event_arrays import EventArrays, WordIds
from analytics.batch_audit.plan import DoubtReason
from api.auditing.record import VERDICT_CODES
from api.importing.spill import BATCH_HANDS
from engine.assumptions import is_free
from engine.game import Game, fingerprint
from events.ledger import Append, Conflict, DictionaryColumn
from events.types import HandStarted
from formats.plain_records import PlainRecord, plain_record
from formats.source import SourceBatch, SourceHand
from store.columns.codec import rows_of
from store.columns.event_columns import EventColumns, columns_of_appends, columns_of_hands
from store.segments.staged_batches import check_values

GAMES_MAX = 1 << 12  # whose plans are kept: in some files each hand has its own stakes


def fine_batch(
    part: SourceBatch, match: str, players: tuple[str, ...], at: int, *, audited: bool
) -> tuple[EventColumns, Any]:
    """The hands of a source's batch that the batch audit finds fine, under these names of players,
    and the net results of each.

    That another reading of the rules could pay differently concerns only who wants a verdict.
    """
    by_kind = [
        it._replace(
            fields={**it.fields, "players": DictionaryColumn(np.zeros_like(it.hand), (players,))}
        )
        if it.kind is HandStarted
        else it
        for it in part.by_kind
    ]
    hands = columns_of_hands(match, np.asarray(part.numbers, dtype=np.int64), at, by_kind)
    if not by_kind:
        return hands, part.nets
    which = _fine_hands(hands, (part.game,), audited=audited)
    return hands.only(which), part.nets[which]


def fine_verdicts(hands: EventColumns) -> list[int]:
    """The `verdict_code` of each fine hand; not plain `agree` where it rests on an assumption."""
    verdicts = np.full(len(hands.number), VERDICT_CODES["agree"], dtype=np.uint8)
    for one in hands.by_kind:
        if one.kind is HandStarted:
            assumed = one.fields["assumed"]
            for code, words in enumerate(assumed.values):
                if words:
                    free = any(map(is_free, words))
                    mine = VERDICT_CODES["unknown"] if free else VERDICT_CODES["assuming"]
                    verdicts[one.hand[assumed.codes == code]] = mine
    return verdicts.tolist()


def fine_records(
    hands: Sequence[SourceHand], match: str, at: int, *, audited: bool
) -> tuple[EventColumns | None, Mapping[int, PlainRecord]]:
    """The plain hands among these that the batch audit finds fine, in columns and by number."""
    numbers = [hand.number for hand in hands]
    if numbers != sorted(set(numbers)):
        return None, {}
    records = {
        hand.number: one for hand in hands if (one := plain_record(hand, f"{match}/{hand.number}"))
    }
    if len(records) < BATCH_HANDS:
        return None, {}
    appends = [
        Append(f"{match}/{number}", 0, record.record, at) for number, record in records.items()
    ]
    try:
        columns = columns_of_appends(appends, check_values)
    except Conflict:  # `hand_record` will say the same of these hands
        return None, {}
    columns = columns.only(_fine_hands(columns, {hand.game for hand in hands}, audited=audited))
    return columns, {number: records[number] for number in columns.number.tolist()}


def _fine_hands(hands: EventColumns, games: Iterable[Game], *, audited: bool) -> Any:
    """Which of these hands are fine."""
    if len(_games) > GAMES_MAX:
        _games.clear()
        _auditor.cache_clear()
    _games.update((fingerprint(game), game) for game in games)
    auditor = _auditor()
    why = auditor.judge(EventArrays([rows_of(hands)], auditor.words)).why
    others = () if audited else (DoubtReason.READING,)
    return np.isin(why, [DoubtReason.FINE, DoubtReason.ASSUMED, *others])


_games: dict[str, Game] = {}  # by fingerprint, those that the batch audit knows


@cache
def _auditor() -> BatchAuditor:
    return BatchAuditor(_games.get, WordIds())

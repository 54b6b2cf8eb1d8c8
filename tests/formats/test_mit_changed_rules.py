"""Gamelogs in columns by changed rules: what passes so is what following each hand makes."""

from itertools import islice

import pytest
from msgspec.structs import replace

from api.importing import batch_audited
from engine.games import RULESETS
from events.types import Events
from formats.hand_records import hand_record
from formats.mit import read as reading
from formats.mit.dialects import ENGINES
from formats.mit.parts import LogPart
from formats.mit.read import LogReader
from formats.source import SourceHand
from tests.mutants import mutants
from tests.profiles import sized
from tests.test_import_columns import DIALECTS, log

Both = dict[str, tuple[tuple[object, ...], Events]]


def passed(parts: list[LogPart], reader: LogReader) -> Both:
    """Hands of a log that are taken in columns, and what comes of them one by one."""
    both: Both = {}
    for part in parts:
        batch = reader.batch(part)
        hands, _ = batch_audited.fine_batch(batch, "m", reader.players, 0, audited=False)
        for leaf in hands.leaves():
            told = batch.hand(int(leaf.stream.partition("/")[2]))
            assert isinstance(told, SourceHand)
            both[leaf.stream] = (
                tuple(it.event for it in leaf.recorded),
                hand_record(told, leaf.stream),
            )
    return both


HANDS = sized(4, 10, 24)
EVERY = sized(3, 2, 1)  # so many logs share the changes of the rules, and each has its own


@pytest.mark.parametrize(("at", "dialect"), enumerate(["A0", "A1", "S1"]))
def test_what_passes_in_columns_is_what_following_makes(
    at: int, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = log(dialect, HANDS)
    found, reader, _ = reading.survey_and_reader(text)
    parts = list(found.parts(text))
    usual = passed(parts, reader)
    assert len(usual) > HANDS / 2
    passing = 0
    for what, game in islice(mutants(RULESETS[DIALECTS[dialect]]), at % EVERY, None, EVERY):
        monkeypatch.setitem(ENGINES, dialect, replace(ENGINES[dialect], rules=game))
        changed = passed(parts, reader)
        assert {} == {name: what for name, (one, other) in changed.items() if one != other}
        passing += len(changed)
    assert passing > 20 * len(usual) / EVERY

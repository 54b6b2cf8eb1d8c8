"""Signed ledgers of every layout there has been: verified, answering as the same events do today,
audited, added to and merged."""

import shutil
from itertools import groupby
from pathlib import Path

import pytest

from analytics.batch_audit.batches import BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from dealer.play import play
from engine.game import fingerprint
from engine.games import GAMES
from events.ledger import Append
from store.columns.layout import blank_values
from store.folder import manifest
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader
from store.segments.parquet_files import NEVER_NULL, OpenedFile
from store.segments.reading import files_of
from store.sql.query import Query
from store.tables.projection import STANDARD
from store.verify import Verifier

FROZEN = sorted((Path(__file__).parent / "frozen").glob("signed-v*"))
VIEWS = ("hands", "events", "players", "bids", "swaps", "pots")
MARKED = {fingerprint(game): game for game in GAMES.values()}


@pytest.fixture(params=FROZEN, ids=lambda path: path.name)
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy, so that whatever is done to it is not done to the original."""
    found = tmp_path / "frozen"
    shutil.copytree(request.param, found)
    (found / "private").chmod(0o700)
    for key in (found / "private").iterdir():
        key.chmod(0o600)
    return found


def test_there_is_one_of_each_layout() -> None:
    assert [path.name for path in FROZEN] == ["signed-v1", "signed-v2"]
    assert [_layouts(path) for path in FROZEN] == [{1}, {2}]


def test_it_verifies(frozen: Path) -> None:
    _verified(frozen)


def test_it_answers_as_the_same_events_do_today(frozen: Path, tmp_path: Path) -> None:
    today = _written_today(frozen, tmp_path / "today")
    assert _answers(frozen) == _answers(today)
    assert _reasons(frozen) == _reasons(today)


def test_it_is_added_to_and_merged(frozen: Path) -> None:
    """Rows of an old layout and of today's lie in one file afterwards, and say what they said."""
    before = _reasons(frozen)
    ledger, lock = open_ledger(frozen, "test", STANDARD)
    for number, events in enumerate(play(GAMES["auction-2024"], "more", 4, "more"), start=1):
        ledger.append(Append(f"more/{number}", 0, events, 1_800_000_000_000))
    ledger.seal()
    beside = _answers(frozen)
    assert beside["events"]
    ledger.compact()
    ledger.close()
    lock.release()
    assert _layouts(frozen) == {2}
    assert _answers(frozen) == beside
    assert _reasons(frozen)[: len(before)] == before
    _verified(frozen)


def test_where_a_column_has_a_filler_no_cell_is_looked_for() -> None:
    """Which costs a reader as much as the values do; other columns may be empty."""
    for opened in _events_of(FROZEN[-1]):
        schema = opened.metadata.schema
        columns = [schema.column(place) for place in range(opened.metadata.num_columns)]
        certain = {one.name for one in columns if one.max_definition_level == 0}
        assert certain == {one.name for one in columns} & (NEVER_NULL | blank_values().keys())
        assert "card1" not in certain


def _events_of(folder: Path) -> list[OpenedFile]:
    disk = RealDisk(folder)
    now = manifest.read(disk)
    assert now is not None
    return [files_of(disk).open(segment, "events") for segment in now.segments]


def _layouts(folder: Path) -> set[int]:
    now = manifest.read(RealDisk(folder))
    assert now is not None
    return {segment.schema for segment in now.segments}


def _verified(folder: Path) -> None:
    nonces = SecretFolder(folder).nonces()
    assert nonces is not None
    verifier = Verifier(Reader(folder).snapshot(), nonces)
    for _ in verifier.leaves():
        pass
    found = verifier.verified()
    assert found.ok, found.wrong
    assert found.signed
    assert found.leaves == found.digests


def _answers(folder: Path) -> dict[str, list[dict[str, object]]]:
    query = Query(Reader(folder).snapshot(), STANDARD)
    return {name: query.rows(f"SELECT * FROM {name} ORDER BY ALL") for name in VIEWS}


def _reasons(folder: Path) -> list[int]:
    auditor = BatchAuditor(MARKED.get, WordIds())
    found = audited_batches(Reader(folder).snapshot(), auditor)
    return [why for batch in found for why in batch.result.why.tolist()]


def _written_today(old: Path, new: Path) -> Path:
    """The same events, appended as they closed and sealed in today's layout."""
    ledger, lock = open_ledger(new, "test", STANDARD)
    every = sorted(Reader(old).read_from(0), key=lambda one: one.pos)
    for stream, each in groupby(every, key=lambda one: one.stream):
        events = list(each)
        ledger.append(
            Append(stream, events[0].index, tuple(one.event for one in events), events[0].at)
        )
    ledger.seal()
    ledger.close()
    lock.release()
    return new

"""Staged batches, made apart from a ledger, come to the same ledger as the events would."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import GAMES
from events.ledger import Append, Conflict
from events.types import Called, Events, HandStarted, HoleDealt
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.proof.ledger_secrets import Secrets
from store.proof.notary import last_checkpoint
from store.proof.note import Signer
from store.segments.staged_batches import StagedBatch, decode_batch, encode_batch, make_batch
from store.tables.projection import STANDARD
from tests.store.small_hands import begun, ended, noted, whole

pytestmark = pytest.mark.usefixtures("salted")
SECRETS = Secrets(bytes(range(32)), Signer("m.local/batches", bytes(32)))
AT = 1_700_000_000_000


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[tuple[FileLedger, FileLedger]]:
    """Two of the same secrets: one for events, one for batches."""
    found = tuple(opened(tmp_path / name) for name in ("events", "batches"))
    yield found[0], found[1]
    for one in found:
        one.close()


def opened(folder: Path, secrets: Secrets = SECRETS) -> FileLedger:
    folder.mkdir(exist_ok=True)
    return FileLedger(RealDisk(folder), STANDARD, secrets=secrets)


def hands(game: str, match: str, count: int) -> list[Events]:
    return list(islice(play(GAMES[game], match, count, "runs"), count))


def appends(records: list[Events]) -> list[Append]:
    found = []
    for record in records:
        start = record[0]
        assert isinstance(start, HandStarted)
        found.append(Append(start.hand, 0, record, AT))
    return found


def batch_of(ledger: FileLedger, calls: list[Append]) -> StagedBatch:
    return decode_batch(encode_batch(make_batch(ledger.nonces, calls)))


@pytest.mark.parametrize("game", ["auction-2024-mit", "swap-2022-mit", "auction-2024"])
def test_a_run_comes_to_the_same_ledger_as_its_events(
    ledgers: tuple[FileLedger, FileLedger], game: str, tmp_path: Path
) -> None:
    """Positions, sequence numbers, every table and the root of the tree."""
    calls = [noted(0), *appends(hands(game, "m", 40)), noted(1, "more")]
    slow, fast = ledgers
    slow.append(*calls)
    slow.seal()
    fast.append_batches([batch_of(fast, calls[:20]), batch_of(fast, calls[20:])])
    assert list(slow.read_from(0)) == list(fast.read_from(0))
    assert slow.read("m/7") == fast.read("m/7")
    assert slow.read("m") == fast.read("m")
    old, new = (one._found.manifest for one in ledgers)
    for field in ("next_pos", "next_seq", "matches", "tree"):
        assert getattr(old, field) == getattr(new, field)
    (one,), (other,) = old.segments, new.segments
    for field in ("first_seq", "last_seq", "first_pos", "last_pos", "events", "numbers", "records"):
        assert getattr(one, field) == getattr(other, field)
    assert one.types == other.types
    for table in (it.name for it in STANDARD):
        rows = [
            pa.concat_tables(ledger._sealed._files.rows(segment, table, 0) for segment in segments)
            for ledger, segments in ((slow, old.segments), (fast, new.segments))
        ]
        assert rows[0].cast(plain := rows[1].schema).equals(rows[1].cast(plain))
    roots = [last_checkpoint(RealDisk(tmp_path / it)) for it in ("events", "batches")]
    assert roots[0] is not None
    assert roots[1] is not None
    assert roots[0].checkpoint == roots[1].checkpoint


def test_a_run_comes_after_all_that_closed_and_leaves_open_hands_open(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.append(whole(1), begun(2))
    ledger.append_batches([batch_of(ledger, [whole(3), noted(0)])])
    (answer,) = ledger.append(ended(2))
    assert (8, 3, 3) == (answer.pos, answer.version, answer.hand_seq)
    assert ["m/1", "m/2", "m/3", "m", "m/2"] == _streams(ledger)
    ledger.close()
    again = opened(tmp_path)
    assert [] == again.notes
    assert ["m/1", "m/2", "m/3", "m", "m/2"] == _streams(again)
    again.close()


def test_a_run_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    """A hand that is there, open or closed or twice in the batches; records out of their order."""
    ledger = opened(tmp_path)
    ledger.append(whole(1), begun(2), noted(0))
    for wrong, why in (
        ([whole(1)], "m/1 has 3 events, not 0"),
        ([whole(2)], "m/2 has 1 events, not 0"),
        ([whole(3), whole(3)], "m/3 has 3 events, not 0"),
        ([noted(0)], "m has 1 events, not 0"),
        ([noted(2)], "m has 1 events, not 2"),
    ):
        with pytest.raises(Conflict, match=why):
            ledger.append_batches([batch_of(ledger, [whole(9)]), batch_of(ledger, wrong)])
    assert 5 == ledger.next_pos
    ledger.append_batches([batch_of(ledger, [whole(9), noted(1)])])
    with pytest.raises(Conflict, match="m/9 has 3 events, not 0"):
        ledger.append_batches([batch_of(ledger, [whole(9)])])
    ledger.close()


def test_only_what_is_closed_and_can_be_read_again_makes_a_batch(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    with pytest.raises(Conflict, match="m/1 is not over"):
        batch_of(ledger, [begun(1)])
    with pytest.raises(Conflict, match="begins with one HandStarted"):
        batch_of(ledger, [replace(whole(1), events=whole(1).events[1:])])
    with pytest.raises(Conflict, match="is no stream"):
        batch_of(ledger, [replace(whole(1), stream="m/01")])
    start, *rest = whole(1).events
    for event in (HoleDealt(0, ("Xx",)), Called(0, 2**60, None), Called(0, 1, None, "whim")):  # type: ignore[arg-type]
        with pytest.raises(Conflict, match="cannot be written"):
            batch_of(ledger, [replace(whole(1), events=(start, event, *rest))])
    ledger.close()


def test_a_run_of_another_ledger_is_refused(tmp_path: Path) -> None:
    """Its digests were made with other nonces: nobody could verify them here."""
    other = opened(tmp_path / "a", SECRETS._replace(nonces=bytes(32)))
    ledger = opened(tmp_path / "b")
    with pytest.raises(Conflict, match="was not made for this ledger"):
        ledger.append_batches([batch_of(other, [whole(1)])])
    assert 0 == ledger.next_pos
    ledger.append_batches([])
    other.close()
    ledger.close()


def test_a_projection_left_out_of_a_run_is_made_by_compaction(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    calls = appends(hands("auction-2024-mit", "m", 5))
    ledger.append_batches([batch_of(ledger, calls)], without=("bids",))
    (before,) = ledger._found.manifest.segments
    ledger.compact()
    (after,) = ledger._found.manifest.segments
    assert {"bids"} == after.projections.keys() - before.projections.keys()
    ledger.close()


def test_a_run_tells_its_appends_again(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    calls = (*appends(hands("swap-2022-mit", "m", 5)), noted(3, "far on"))
    assert calls == batch_of(ledger, list(calls)).appends()
    ledger.close()


def _streams(ledger: FileLedger) -> list[str]:
    """Each stream where its events begin or go on."""
    streams = [one.stream for one in ledger.read_from(0)]
    return [name for name, before in zip(streams, [None, *streams], strict=False) if name != before]

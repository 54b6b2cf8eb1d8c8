"""What is withheld of bids, found in the small tables first: the same as in all events."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.playing.recording import ledger_projections
from api.viewpoints import withheld_events
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.games import named
from events import types as t
from events.ledger import Append
from events.types import Events
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader
from tests.exports import AT, start_of
from tests.hands import NAMES, seeded

VIEWERS = [Viewer(), Viewer(f"seat:{NAMES[0]}"), Viewer("auditor")]


def odd(record: Events) -> Iterator[Events]:
    """A hand with an auction as it was played, and as no rule would have it."""
    bids = [place for place, event in enumerate(record) if isinstance(event, t.BidPlaced)]
    (told,) = (it for it, event in enumerate(record) if isinstance(event, t.AuctionSettled))
    settled = record[told]
    assert isinstance(settled, t.AuctionSettled)
    others = tuple(bid + 1 for bid in settled.bids)
    yield record
    yield (*record[:told], replace(settled, bids=others), *record[told + 1 :])
    yield (*record[:told], replace(settled, bids=settled.bids[:1]), *record[told + 1 :])
    yield (*record[:told], settled, *record[told:])
    yield (*record[:told], *record[told + 1 :])
    yield (*record[: bids[0]], record[bids[0]], *record[bids[0] :])
    yield (*record[: bids[0]], settled, *record[bids[0] :])
    yield (*record[:told], t.HandVoided("the lights went out"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Segments in which every hand is as it should be, and one in which hardly any is."""
    folder = tmp_path_factory.mktemp("odd")
    ledger = FileLedger(RealDisk(folder), ledger_projections(folder))
    record = seeded(named("auction-2024-mit"), "odd").record
    for match, forms in enumerate(([record] * 3, [*odd(record)], [record])):
        for number, form in enumerate(forms, start=1):
            hand = f"m{match}/{number}"
            start = replace(start_of(form), hand=hand)
            ledger.append(Append(hand, 0, (start, *form[1:]), AT))
        ledger.seal()
    ledger.close()
    return folder


@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda one: one.view)
def test_bids_are_those_that_a_look_at_all_events_finds(
    folder: Path, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    quickly = LedgerView(Reader(folder).snapshot(), viewer)
    got = quickly.rows("FROM bids ORDER BY ALL")
    monkeypatch.setattr(withheld_events, "_candidate_hands", lambda *given: None)
    slowly = LedgerView(Reader(folder).snapshot(), viewer)
    assert slowly.rows("FROM bids ORDER BY ALL") == got
    assert got


def test_hands_in_which_all_was_told_are_not_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the segment that has odd hands has its events read, and of these only some."""
    looked_at: list[int] = []
    asked = withheld_events._query_rows

    def counted(finding, rows, hands=None):  # type: ignore[no-untyped-def]
        looked_at.append(0 if hands is None else hands.num_rows)
        return asked(finding, rows, hands)

    monkeypatch.setattr(withheld_events, "_query_rows", counted)
    found = withheld_events.announced_bids(Reader(folder).snapshot())
    assert [0, 4, 0] == looked_at
    assert {3 + place for place in (1, 2, 4, 5)} <= set(found["hand_seq"].to_pylist())

"""A page that a process makes tells nobody of secrets: neither while it is made, nor when it is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.serving import heavy_pages
from api.serving.answer_cache import AnswerHands, hands_of_scope, scope_of_answer
from api.viewpoints.viewer import Viewer
from tests.leaks.conftest import Pair
from tests.leaks.doors import Answer, answers, door
from tests.leaks.hidden_worlds import EYES, LYNX
from tests.profiles import sized

ADDRESSES = [
    *(f"/players/{LYNX}/{tab}" for tab in sized((), ("bids",), ("bids", "opponent", "winnings"))),
    "/hands?counts=now",
]
WAITS = {202: 0.0, 200: 120.0}  # seconds until progress is sent instead


@pytest.mark.ci
@pytest.mark.parametrize("name", sized(("public",), ("public",), ("public", "a player")))
def test_progress_and_page_are_alike_in_both_worlds(
    name: str, pair_of: Callable[[str], Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(name)
    for folder in pair.folders:  # what an auditor was made before is kept
        shutil.rmtree(folder / "jobs" / "pages", ignore_errors=True)
    for status, seconds in WAITS.items():
        monkeypatch.setattr(heavy_pages, "ANSWER_SOON_S", seconds)
        here, there, audited = (
            asked(folder, key)
            for folder, key in (
                *((folder, pair.key) for folder in pair.folders),
                (pair.folders[0], pair.auditor),
            )
        )
        assert {status} == {one.status for one in (*here, *there, *audited)}
        assert here == there
        assert here != audited


@pytest.mark.parametrize("name", sized(quick=("public",), ci=("public", "a player")))
def test_what_decides_that_a_page_is_kept_is_alike_in_both_worlds(
    name: str, pair_of: Callable[[str], Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else somebody could tell them apart by which page is there at once, and which is made."""
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path))  # an auditor has looked at one of the two
    here, there = (decided(folder, EYES[name].viewer) for folder in pair_of(name).folders)
    assert here == there
    kept = [one.digest for one in here.values() if one.digest]
    assert 4 == len(kept) == len(set(kept))


def decided(folder: Path, viewer: Viewer) -> dict[str, AnswerHands]:
    """How many hands each answer is about, and whether they are the same as before."""
    addresses = (
        *(f"/players/{LYNX}/bids", f"/players/{LYNX}", "/leagues/none"),
        *("/", "/hands?counts=now", "/hands?q=verdict%3Dagree", "/?judge=yes"),
    )
    service = LedgerService(Settings(folder, delay_s=0))
    try:
        with service.viewed(viewer) as viewed:
            split = ((one, *one.partition("?")[::2]) for one in addresses)
            return {
                one: hands_of_scope(viewed, of)
                for one, *at in split
                if (of := scope_of_answer(*at))
            }
    finally:
        service.close()


def asked(folder: Path, key: str | None) -> list[Answer]:
    """What a server is asked whose pages are made by processes."""
    all_heavy = {"heavy_valued": 0, "heavy_counted": 0, "heavy_data": 0, "heavy_spread": 0}
    app = door(folder, limits=Limits(rate=0, seconds=300, **all_heavy))
    try:
        return answers(app, ADDRESSES, key)
    finally:
        app.state.service.close()

"""A page that a process makes tells nobody of secrets: neither while it is made, nor when it is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from api.http.limits import Limits
from api.serving import heavy_pages
from tests.leaks.conftest import Pair
from tests.leaks.doors import Answer, answers, door
from tests.leaks.hidden_worlds import LYNX
from tests.profiles import sized

ADDRESSES = [f"/players/{LYNX}/{tab}" for tab in ("bids", *sized((), ("opponent", "winnings")))]
WAITS = {202: 0.0, 200: 120.0}  # seconds until progress is sent instead


@pytest.mark.parametrize("name", sized(quick=("public",), ci=("public", "a player")))
def test_progress_and_page_are_alike_in_both_worlds(
    name: str, pair_of: Callable[[str], Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(name)
    for folder in pair.folders:  # what an auditor was made before is kept
        shutil.rmtree(folder / "jobs" / "pages", ignore_errors=True)
    for status, seconds in WAITS.items():
        monkeypatch.setattr(heavy_pages, "SOON_S", seconds)
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


def asked(folder: Path, key: str | None) -> list[Answer]:
    """What a server is asked whose pages are made by processes."""
    app = door(folder, limits=Limits(rate=0, seconds=300, apart=0, apart_counted=0))
    try:
        return answers(app, ADDRESSES, key)
    finally:
        app.state.service.close()

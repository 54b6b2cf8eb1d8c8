"""The fairness of a whole ledger is tested by a job: who begins it, how far it is, what is kept."""

import sys

import pytest

from api.jobs.jobs import Job, Jobs, Progress, replace_file
from store.folder.disk import lock_file, now_ms
from store.ledger import open_ledger
from tests.http.clients import Site, over

GAME = "auction-2024-mit"


def test_the_page_of_fairness_tests_a_whole_ledger_by_a_job_and_keeps_what_it_found(
    new: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds what the route finds; the page of one match is another's."""
    writer, auditor = new.as_("writer"), new.as_("auditor")
    wanted = {"game": GAME, "hands": 8, "match": "scrim"}
    over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    monkeypatch.setattr(sys.modules["api.pages.matches"], "TESTED_MAX", 5)
    assert "Test them now" in auditor.get("/fairness").text
    begun = auditor.get("/fairness?run=yes", follow_redirects=False)
    assert (303, "/fairness") == (begun.status_code, begun.headers["location"])
    (job,) = auditor.get("/api/v1/jobs").json()["data"]
    told = over(auditor, f"/api/v1/jobs/{job['id']}")
    assert ("fairness", "done", 8, None) == tuple(
        map(told.get, ("kind", "state", "hands", "match"))
    )
    result = dict(told["result"])
    assert auditor.get("/api/v1/fairness").json() == result
    page = auditor.get("/fairness").text
    assert page.count('<tr class="few">') + page.count("<tr><th") >= len(result["tests"])
    assert "Test them again" in page
    assert "Test them now" in auditor.get("/fairness?match=scrim").text
    for who in (None, "ursa"):
        assert "for an auditor" in new.as_(who).get("/fairness?run=yes").text
    assert 1 == len(auditor.get("/api/v1/jobs").json()["data"])


def test_a_job_of_fairness_that_is_under_way_shows_how_far_it_is(
    new: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["api.pages.matches"], "TESTED_MAX", -1)
    jobs, auditor = Jobs(new.folder), new.as_("auditor")
    open_ledger(new.folder, "a test")[1].release()
    room = jobs.room()
    replace_file(room / "job.json", Job(room.name, "fairness", "", 0, now_ms(), None, {}))
    replace_file(room / "state.json", Progress("running", 3, 12, "reading hands", at=now_ms()))
    with (room / "lock").open("w") as alive:
        lock_file(alive.fileno())
        page = auditor.get("/fairness").text
        assert '<progress max="12" value="3"' in page
        assert "Reading hands: 3 of 12." in page
        assert 303 != auditor.get("/fairness?run=yes", follow_redirects=False).status_code
    assert "The last test came to no end: the process that did it is gone" in (
        auditor.get("/fairness").text
    )

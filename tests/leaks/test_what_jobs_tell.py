"""Who may begin a match and is no auditor is told what came of it, and nothing of bad replies."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.clients import Site, over, site_of
from tests.wire.misfits import bot

pytestmark = pytest.mark.usefixtures("jobs_are_forked")
GAME = "auction-2024-mit"
OF_A_BOT = ["player", "folder", "kept_apart", "not_kept_because"]


def no_auditor(site: Site) -> TestClient:
    """Who may write, and sees the jobs of others, too."""
    _, key = site.app.state.keys.make(("matches:write", "keys:admin"), "no auditor")
    client = site.as_()
    client.headers["Authorization"] = f"Bearer {key}"
    return client


def told_of(client: TestClient, job: dict[str, Any]) -> list[dict[str, Any]]:
    """What came of a job, by every door that there is to it."""
    where = f"/api/v1/jobs/{job['id']}"
    lines = client.get(where, headers={"Accept": "text/event-stream"}).text.splitlines()
    (listed,) = (one for one in client.get("/api/v1/jobs").json()["data"] if one["id"] == job["id"])
    followed = json.loads(lines[0].removeprefix("data: "))
    return [one["result"] for one in (client.get(where).json(), listed, followed)]


def test_of_bots_of_ours_the_events_are_not_counted(tmp_path: Path) -> None:
    site = site_of(tmp_path / "ledger")
    writer = site.as_("writer")
    wanted = {"game": GAME, "hands": 3, "match": "ours"}
    job = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    assert job["result"]["events"] > 3
    for result in told_of(no_auditor(site), job):
        assert job["result"] == result | {"events": job["result"]["events"]}
        assert "events" not in result
    assert [job["result"]] * 3 == told_of(site.as_("admin"), job)


@pytest.mark.ci
def test_of_bots_from_folders_nobody_learns_what_they_replied(tmp_path: Path) -> None:
    for name in ("ursa", "lynx"):
        bot(tmp_path / "bots", name)
    site = site_of(tmp_path / "ledger", bots=tmp_path / "bots")
    writer = site.as_("writer")
    wanted = {"game": GAME, "folders": ["ursa", "lynx"], "hands": 2, "match": "theirs"}
    job = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    for result in told_of(no_auditor(site), job):
        assert job["result"]["nets"] == result["nets"]
        assert {"events", "faults"} == job["result"].keys() - result.keys()
        assert [OF_A_BOT] * 2 == [list(one) for one in result["bots"]]

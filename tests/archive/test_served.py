"""An archive is served as its ledger is, and what writes is refused."""

from pathlib import Path

import pytest

from api.main import main
from store.archive.object_storage import StorageError
from store.folder.disk import archive_folder
from tests.http.clients import site_of


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger and its archive, for looking at only."""
    home = tmp_path_factory.mktemp("league")
    words = ("play", "auction-2024", "--hands", "30", "--seed", "7", "--match", "scrim")
    for each in (words, ("compact",), ("push", str(home / "archive"))):
        assert main([*each, "--ledger", str(home / "ledger")]) == 0
    return home


@pytest.fixture
def league(pushed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """They, and nothing of the archive was fetched yet."""
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    return pushed


@pytest.mark.ci
def test_an_archive_is_served_as_its_ledger_is(league: Path) -> None:
    ours = site_of(league / "ledger")
    theirs = site_of(archive_folder((league / "archive").as_uri()))
    with ours.as_("auditor") as here, theirs.as_("auditor") as there:
        for path in ("hands", "matches/scrim", "hands/scrim/3", "players/random-0/bids"):
            told, of = (client.get(f"/api/v1/{path}") for client in (there, here))
            assert (told.status_code, told.json()) == (of.status_code, of.json()), path
            assert told.status_code == 200
        asked = {"sql": "SELECT count(*) AS n FROM hands"}
        assert there.post("/api/v1/sql", json=asked).json() == (
            here.post("/api/v1/sql", json=asked).json()
        )


def test_what_writes_is_refused_over_http(league: Path) -> None:
    site = site_of(archive_folder((league / "archive").as_uri()))
    with site.as_("writer") as writer:
        wanted = {"game": "auction-2024", "hands": 3, "bots": ["random", "random"]}
        for answer in (
            writer.post("/api/v1/matches", json=wanted),
            writer.post("/api/v1/imports", content=b"x", headers={"Content-Type": "text/plain"}),
        ):
            assert answer.status_code == 409, answer.text
            told = answer.json()["detail"]
            assert told == "this server reads an archive: nothing is written there"
    assert not (site.folder / "manifest.json").exists()


def test_storage_that_does_not_answer_is_unavailable(
    league: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(archive_folder((league / "archive").as_uri()))

    def refuse(*_: object) -> bytes:
        raise StorageError("s3://somebody/secret: cannot read x: the server answered 503")

    monkeypatch.setattr("store.archive.object_storage.FolderStorage.range", refuse)
    with site.as_("auditor") as client:
        answer = client.get("/api/v1/hands/scrim/3")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "the ledger's storage does not answer: try again"

"""`muckrake push` and `pull` as a user has them: what they print, and how they end."""

from pathlib import Path

import pytest

from api.main import main
from tests.archive.ledgers import grow
from tests.sessions import printed, said, told

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    grow(tmp_path / "ledger", 1, 30)
    return str(tmp_path / "ledger")


def test_a_push_and_a_pull_say_what_they_did(capsys: Captured, ledger: str, tmp_path: Path) -> None:
    url = (tmp_path / "archive").as_uri()
    first = printed(capsys, "push", url, "--ledger", ledger)
    assert first.startswith(f"{url}: 30 closed streams in 1 segment; 3 objects sent, ")
    again = printed(capsys, "push", str(tmp_path / "archive"), "--ledger", ledger)
    assert again == f"{url}: 30 closed streams in 1 segment; nothing is newer here\n"
    copy = str(tmp_path / "copy")
    pulled = printed(capsys, "pull", url, "--ledger", copy)
    assert pulled.startswith(f"{copy}: 30 closed streams in 1 segment; 3 objects fetched, ")
    assert told(capsys, "pull", url, "--ledger", copy)["fetched"] == 0


def test_what_is_not_sealed_is_counted(capsys: Captured, ledger: str, tmp_path: Path) -> None:
    grow(Path(ledger), 40, 49, sealed=False)
    told_of = printed(capsys, "push", str(tmp_path / "archive"), "--ledger", ledger)
    assert "10 closed streams are not sealed yet: muckrake compact seals them" in told_of
    document = told(capsys, "push", str(tmp_path / "archive"), "--ledger", ledger)
    assert (document["closed"], document["unsealed"], document["is_new"]) == (30, 10, False)


def test_what_cannot_be_done_is_one_sentence(capsys: Captured, ledger: str, tmp_path: Path) -> None:
    push, pull = ("push", "--ledger", ledger), ("pull", "--ledger", str(tmp_path / "new"))
    nowhere = (tmp_path / "nowhere").as_uri()
    assert said(capsys, 5, *pull, nowhere) == (
        f"there is no archive at {nowhere}: muckrake push makes one"
    )
    assert "there are s3://, gs://, az://, file:// and folders" in said(capsys, 2, *push, "x://y")
    archive = str(tmp_path / "archive")
    printed(capsys, *push, archive)
    assert "is a ledger that is written here" in said(capsys, 1, "pull", archive, *push[1:])
    grow(tmp_path / "other", 1, 40)
    other = said(capsys, 1, "push", archive, "--ledger", str(tmp_path / "other"))
    assert "is the archive of another ledger: a checkpoint of muckrake.local/" in other
    segment = next((tmp_path / "archive/segments").glob("events-*"))
    segment.write_bytes(segment.read_bytes()[:-1])
    assert "ends at byte" in said(capsys, 3, *pull, archive)
    assert "there is no ledger in" in said(capsys, 5, "push", archive, "--ledger", nowhere[7:])


def test_watching_sends_what_is_newly_sealed(
    ledger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def beats(seconds: float | None) -> object:
        assert seconds == 0.5
        yield
        grow(Path(ledger), 40, 60)
        yield

    monkeypatch.setattr("api.cli.upkeep.repeat_every", beats)
    archive = str(tmp_path / "archive")
    words = ("push", archive, "--watch", "0.5", "--ledger", ledger)
    lines = printed(capsys, *words).splitlines()
    assert [line.split(": ")[1].split(";")[0] for line in lines] == [
        "30 closed streams in 1 segment",
        "51 closed streams in 2 segments",
    ]


def test_a_pulled_copy_of_an_older_archive_is_said_to_be_one(
    capsys: Captured, ledger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever puts an older index back into the bucket: the reader remembers a newer checkpoint."""
    archive = tmp_path / "archive"
    printed(capsys, "push", str(archive), "--ledger", ledger)
    old = (archive / "archive.json").read_bytes()
    grow(Path(ledger), 40, 60)
    printed(capsys, "push", str(archive), "--ledger", ledger)
    (archive / "archive.json").write_bytes(old)
    copy = ("--ledger", str(tmp_path / "copy"))
    printed(capsys, "pull", str(archive), *copy)
    monkeypatch.setenv("MUCKRAKE_WITNESS", str(tmp_path / "ledger.seen"))
    for words in (("pull", str(archive)), ("hands",)):
        assert main([*words, *copy]) == 0
        assert "its end is lost, or this is an older copy" in capsys.readouterr().err

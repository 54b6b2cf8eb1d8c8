"""Push and pull over S3, with all that a network and a bucket may do meanwhile."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import obstore
import pytest
from obstore.store import from_url

from bench.s3 import URL, Fault, Server
from store.archive import index
from store.archive.index import index_of, pull
from store.archive.object_storage import ObjectStorage, StorageError, storage_of
from store.folder import manifest
from store.folder.frames import Damaged
from store.reader import Reader
from tests.archive.ledgers import grow, index_in, push
from tests.archive.s3 import running, s3
from tests.profiles import in_turn
from tests.sessions import said

__all__ = ["running", "s3"]
Captured = pytest.CaptureFixture[str]
Asked = Callable[[str, str], Fault | None]


@pytest.fixture
def bucket(s3: Server) -> ObjectStorage:
    return storage_of(URL)


@pytest.fixture
def impatient(bucket: ObjectStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment of tries is enough for a server that never answers; but `bucket` is patient."""
    assert bucket.url == URL
    monkeypatch.setenv("MUCKRAKE_ARCHIVE_SECONDS", "0.1")


def closed(bucket: ObjectStorage) -> int:
    """How many closed streams a reader finds in the archive."""
    return manifest.decode_manifest(index_of(bucket).files[manifest.PATH].data).next_seq


def once(fault: Fault, method: str, part: str, times: int = 1) -> Asked:
    """A fault of the first requests of a kind."""
    left = [times]

    def found(asked: str, name: str) -> Fault | None:
        if asked == method and part in name and left[0]:
            left[0] -= 1
            return fault
        return None

    return found


def always(fault: Fault, method: str, part: str = "") -> Asked:
    return once(fault, method, part, -1)


def test_a_bucket_holds_what_a_folder_holds(
    ledger: Path, archive: Path, bucket: ObjectStorage, s3: Server, tmp_path: Path
) -> None:
    push(ledger, bucket)
    assert index_of(bucket) == index_in(archive)
    for file in index_of(bucket).files.values():
        for part in file.parts:
            data = (archive / part.object).read_bytes()
            assert bucket.range(part.object, 0, part.size) == data
            assert bucket.size(part.object) == part.size
    pull(bucket, tmp_path / "copy")
    assert Reader(tmp_path / "copy").snapshot().next_seq == 31
    assert all(one.name for one in s3.requests)  # nobody asks for a list, so none can be stale
    s3.requests.clear()
    assert not push(ledger, bucket).is_new
    assert [(one.method, one.name) for one in s3.requests] == [("GET", index.PATH)]


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD"])
def test_a_server_that_is_busy_for_a_moment_is_asked_again(
    ledger: Path, bucket: ObjectStorage, s3: Server, method: str
) -> None:
    with s3.faulty(once(Fault(503), method, "", 2)):
        push(ledger, bucket)
    assert closed(bucket) == 31


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("spoilt", "words"),
    in_turn(
        (
            (Fault(503), "the server answered 503"),
            (Fault(403), f"{URL}: there is no permission to read archive.json"),
            (Fault(cut=10), f"{URL}: cannot read archive.json: "),
            (Fault(seconds=0.3), f"{URL}: cannot read archive.json: "),
        ),
        (("push", URL), ("pull", URL)),
    ),
)
def test_what_a_server_refuses_to_the_end_is_one_sentence(
    ledger: Path,
    bucket: ObjectStorage,
    s3: Server,
    tmp_path: Path,
    capsys: Captured,
    spoilt: tuple[Fault, str],
    words: tuple[str, str],
) -> None:
    fault, sentence = spoilt
    push(ledger, bucket)
    place = ledger if words[0] == "push" else tmp_path / "copy"
    with s3.faulty(always(fault, "GET")):
        told = said(capsys, 1, *words, "--ledger", str(place))
    assert sentence in told
    assert len(told) < 300


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_not_there_and_a_bucket_that_is_not_are_one_sentence(
    ledger: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--ledger", str(ledger))
    assert "s3://nobody/x: there is no such bucket" in said(
        capsys, 1, "push", "s3://nobody/x", *place
    )
    monkeypatch.setenv("AWS_ALLOW_HTTP", "false")
    assert "AWS_ALLOW_HTTP=true" in said(capsys, 1, "push", URL, *place)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert f"{URL}: cannot read archive.json: " in said(capsys, 1, "push", URL, *place)


def test_without_permission_to_write_nothing_is_sent(
    ledger: Path, bucket: ObjectStorage, s3: Server, capsys: Captured
) -> None:
    with s3.faulty(always(Fault(403), "PUT")):
        told = said(capsys, 1, "push", URL, "--ledger", str(ledger))
    assert f"{URL}: there is no permission to write segments/" in told
    assert bucket.get(index.PATH) is None


def test_a_transfer_that_is_cut_is_begun_again(
    ledger: Path, bucket: ObjectStorage, s3: Server, tmp_path: Path
) -> None:
    push(ledger, bucket)
    with s3.faulty(once(Fault(cut=100), "GET", "segments/events")):
        pull(bucket, tmp_path / "copy")
    assert len(list(Reader(tmp_path / "copy").hands())) == 30


@pytest.mark.usefixtures("impatient")
def test_a_pull_that_never_gets_a_segment_makes_no_ledger(
    ledger: Path, bucket: ObjectStorage, s3: Server, tmp_path: Path
) -> None:
    push(ledger, bucket)
    with s3.faulty(always(Fault(cut=100), "GET", "segments/")), pytest.raises(StorageError):
        pull(storage_of(URL), tmp_path / "copy")
    assert not (tmp_path / "copy" / manifest.PATH).exists()


def test_a_writer_that_was_shown_an_old_index_replaces_no_newer_one(
    ledger: Path, bucket: ObjectStorage, s3: Server
) -> None:
    push(ledger, bucket)
    old = bucket.get(index.PATH)
    assert old
    grow(ledger, 40, 60)
    push(ledger, bucket)
    grow(ledger, 70, 80)
    with s3.faulty(once(Fault(stale=old[0]), "GET", index.PATH, 2)):
        push(ledger, bucket)
    assert closed(bucket) == Reader(ledger).snapshot().next_seq


def test_an_index_that_was_written_although_the_answer_was_an_error_counts(
    ledger: Path, bucket: ObjectStorage, s3: Server
) -> None:
    with s3.faulty(once(Fault(503, after=True), "PUT", index.PATH)):
        assert push(ledger, bucket).is_new
    grow(ledger, 40, 60)
    with s3.faulty(once(Fault(503, after=True), "PUT", index.PATH)):
        assert push(ledger, bucket).is_new
    assert not push(ledger, bucket).is_new


def test_of_many_pushers_at_once_none_undoes_what_another_did(
    ledger: Path, bucket: ObjectStorage, s3: Server
) -> None:
    grow(ledger, 40, 60)
    waiting = threading.Barrier(3, timeout=20)

    def together(method: str, name: str) -> Fault | None:
        if (method, name) == ("PUT", index.PATH) and waiting.n_waiting < 3 and not waiting.broken:
            waiting.wait()
            waiting.abort()
        return None

    def one(_: int) -> bool:
        return push(ledger, storage_of(URL)).is_new

    with s3.faulty(partial(_quietly, together)), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(one, range(3)))
    assert any(found)
    assert closed(bucket) == Reader(ledger).snapshot().next_seq
    assert not push(ledger, bucket).is_new


def _quietly(fault: Asked, method: str, name: str) -> Fault | None:
    try:
        return fault(method, name)
    except threading.BrokenBarrierError:
        return None


@pytest.mark.ci
def test_a_push_that_is_killed_leaves_the_old_archive_and_is_gone_on_with(
    ledger: Path, bucket: ObjectStorage, s3: Server, tmp_path: Path
) -> None:
    push(ledger, bucket)
    grow(ledger, 40, 60)
    reached = threading.Event()

    def hang(method: str, name: str) -> Fault | None:
        if method == "PUT" and name.startswith("tree/"):
            reached.set()
            return Fault(503, seconds=0.2)
        return None

    run = "import sys; from api.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", run, "push", URL, "--ledger", str(ledger)]
    with s3.faulty(hang):
        pusher = subprocess.Popen(words, stderr=subprocess.PIPE)
        assert reached.wait(30)
        os.kill(pusher.pid, signal.SIGKILL)
        pusher.communicate(timeout=20)
    assert closed(bucket) == 31
    pull(bucket, tmp_path / "copy")
    assert Reader(tmp_path / "copy").snapshot().next_seq == 31
    s3.requests.clear()
    assert push(ledger, bucket).sent == 1  # the tree: the segment's files are there
    assert closed(bucket) == Reader(ledger).snapshot().next_seq
    assert not [one for one in s3.requests if one.method == "PUT" and "segments/" in one.name]


def test_an_object_that_is_missing_is_named(
    ledger: Path, bucket: ObjectStorage, s3: Server, tmp_path: Path
) -> None:
    push(ledger, bucket)
    name = next(path for path in index_of(bucket).files if "events-" in path)
    obstore.delete(from_url(URL, client_options={"allow_http": True}), name)
    with pytest.raises(Damaged, match=f"{URL}/{name} is missing, and the archive names it"):
        pull(bucket, tmp_path / "copy")

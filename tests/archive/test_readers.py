"""Every reader takes an archive's URL in place of a folder, and fetches only what it needs."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.main import main
from bench.__main__ import report
from bench.s3 import URL, Fault, Server
from store.archive import index
from store.archive.cached_disk import ArchiveDisk
from store.archive.object_storage import storage_of
from store.folder.disk import archive_folder
from store.folder.frames import Damaged
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.reader import Reader
from tests.archive.ledgers import grow, push
from tests.archive.s3 import named, running
from tests.profiles import in_turn, sized
from tests.sessions import of_every_game, printed, said

__all__ = ["running"]
Captured = pytest.CaptureFixture[str]

NAMES = ("--hands", "24", "--seed", "7", "--match")


@pytest.fixture(scope="module")
def league(running: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A ledger that was played and pushed; the environment names the server."""
    folder = tmp_path_factory.mktemp("league") / "ledger"
    running.empty()
    with pytest.MonkeyPatch.context() as patched:
        named(running, patched)
        for match in ("scrim", "final"):
            assert main(["play", "auction-2024", *NAMES, match, "--ledger", str(folder)]) == 0
        of_every_game(folder)
        assert main(["compact", "--ledger", str(folder)]) == 0
        assert main(["push", URL, "--ledger", str(folder)]) == 0
        yield folder


@pytest.fixture(autouse=True)
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing was fetched yet, and a server that never answers is soon given up."""
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MUCKRAKE_ARCHIVE_SECONDS", "0.5")
    return tmp_path / "cache"


@pytest.mark.parametrize(
    "words",
    [
        "hands",
        "hands pot>20",
        "matches",
        "replay scrim/3",
        "replay final/23 --as public --at 5",
        "audit final/2",
        "audit --all",
        "stats",
        "export --to ndjson",
        "swaps --unit chip",
        "export scrim --to mit-gamelog",
        "get matches",
        "get hands/scrim/3",
    ],
)
def test_what_is_said_of_an_archive_is_what_is_said_of_its_ledger(
    capsys: Captured, league: Path, words: str
) -> None:
    ours = printed(capsys, *words.split(), "--ledger", str(league))
    theirs = printed(capsys, *words.split(), "--ledger", URL)
    assert ours == theirs
    assert ours


@pytest.mark.parametrize("view", ["events", "hands", "players", "bids", "pots", "decisions"])
def test_every_table_answers_sql_alike(capsys: Captured, league: Path, view: str) -> None:
    asked = "sql", f"SELECT * FROM {view} ORDER BY ALL LIMIT 300"
    assert printed(capsys, *asked, "--ledger", str(league)) == printed(
        capsys, *asked, "--ledger", URL
    )


def test_an_archive_is_verified_with_secrets_from_elsewhere_and_is_sound(
    capsys: Captured, league: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = ("verify", "--all", "--ledger")
    assert "nonce.key is not there: without it" in said(capsys, 1, *verify, URL)
    monkeypatch.setenv("MUCKRAKE_PRIVATE", str(league / "private"))
    assert printed(capsys, *verify, str(league), code=7) == printed(capsys, *verify, URL, code=7)
    doctor = printed(capsys, "doctor", "--ledger", URL)
    assert "every file is sound" in doctor
    assert URL in doctor


def test_the_environment_and_a_plain_folder_name_an_archive(
    capsys: Captured, league: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed(capsys, "push", str(tmp_path / "archive"), "--ledger", str(league))
    ours = printed(capsys, "hands", "--ledger", str(league))
    for place in (URL, str(tmp_path / "archive"), (tmp_path / "archive").as_uri()):
        monkeypatch.setenv("MUCKRAKE_LEDGER", place)
        assert printed(capsys, "hands") == ours


@pytest.mark.parametrize(
    "words",
    [
        "play auction-2024 --hands 3",
        "compact",
        "restored",
        "init",
        "pull file:///nowhere",
        "import LOG",
        "demo",
        "publish",
        "key replace",
        "key revoke 0123abcd",
        "key create --scope hands:read",
    ],
)
def test_what_writes_is_refused(
    capsys: Captured, league: Path, running: Server, words: str, tmp_path: Path
) -> None:
    (tmp_path / "log.txt").write_text("no log")
    words = words.replace("LOG", str(tmp_path / "log.txt"))
    running.requests.clear()
    sentence = said(capsys, 1 if "pull" not in words else 5, *words.split(), "--ledger", URL)
    if "pull" not in words:
        assert f"{URL} is an archive, which is only read: muckrake pull makes a ledger" in sentence
    assert not running.count("PUT", "POST", "DELETE")
    assert not (archive_folder(URL) / "private").exists()


# how much is fetched


def test_one_hand_takes_its_row_groups_and_no_more(league: Path, running: Server) -> None:
    running.requests.clear()
    folder = archive_folder(URL)
    hand = Reader(folder).read("scrim/3")
    assert hand == Reader(league).read("scrim/3")
    asked = [(one.method, one.name.split("-")[0]) for one in running.requests]
    assert asked == [
        ("GET", index.PATH),
        ("GET", "segments/hands"),
        ("GET", "segments/events"),
    ]
    sizes = {path.name: path.stat().st_size for path in (league / "segments").iterdir()}
    most = sum(size for name, size in sizes.items() if name.startswith(("hands-", "events-")))
    assert sum(one.size for one in running.requests[1:]) <= most
    running.requests.clear()
    assert Reader(folder).read("scrim/3") == hand
    assert [one.name for one in running.requests] == [index.PATH]


@pytest.mark.slow  # what each reader fetches is counted below
def test_the_bench_of_an_archive_counts_requests_and_bytes(running: Server) -> None:
    page = report("archive", rounds=1, seconds=0.001, hands=40)
    found = re.findall(r"^\| (`.+?) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", page, re.MULTILINE)
    only_the_index = {name: size == index for name, _, size, index in found}
    assert only_the_index == {
        "`audit HAND`": False,
        "`replay HAND`": False,
        "`replay` of the next hand, after it": True,
        "`sql` COUNT": False,
        "`sql` COUNT, again": True,
        "`audit --all`": False,
        "`audit --all --workers 2`": False,
    }


def test_of_many_hands_one_takes_a_few_blocks(running: Server, tmp_path: Path) -> None:
    """A footer and a row group of two tables, in blocks of 64 KiB, and the index."""
    many, url = tmp_path / "many", "s3://poker/many"
    words = ("auction-2024", "--hands", sized("1300", "2500"), "--seed", "3", "--match", "m")
    assert main(["play", *words, "--ledger", str(many)]) == 0
    assert main(["compact", "--ledger", str(many)]) == 0
    with pytest.MonkeyPatch.context() as patched:
        named(running, patched)
        push(many, storage_of(url))
        running.requests.clear()
        assert Reader(archive_folder(url)).read("m/1217") == Reader(many).read("m/1217")
    fetched = sum(one.size for one in running.requests)
    there = sum(path.stat().st_size for path in (many / "segments").iterdir())
    assert len(running.requests) <= 6
    assert fetched < there / 3, f"{fetched} bytes of {there}"


# when it fails


@pytest.mark.usefixtures("league")
@pytest.mark.parametrize(
    ("spoilt", "words"),
    in_turn(
        (
            (Fault(503), 1, "the server answered 503"),
            (Fault(403), 1, f"{URL}: there is no permission to read segments/"),
            (Fault(seconds=0.6), 1, f"{URL}: cannot read segments/"),
            (Fault(cut=10), 1, f"{URL}: cannot read segments/"),
            (Fault(404), 3, "is missing: it holds what closed as 0 to "),
        ),
        (("hands",), ("sql", "FROM hands"), ("replay", "scrim/3")),
    ),
)
def test_what_cannot_be_fetched_is_one_sentence(
    running: Server,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    spoilt: tuple[Fault, int, str],
) -> None:
    fault, code, sentence = spoilt

    def found(method: str, name: str) -> Fault | None:
        return fault if name.startswith("segments/") else None

    with running.faulty(found), monkeypatch.context() as patched:
        patched.setenv("MUCKRAKE_ARCHIVE_SECONDS", "0.25")
        told = said(capsys, code, *words, "--ledger", URL)
    assert sentence in told
    assert len(told) < 300
    printed(capsys, *words, "--ledger", URL)  # what was not fetched is fetched then


@pytest.mark.usefixtures("league")
def test_an_archive_that_is_not_there_is_not_found(capsys: Captured) -> None:
    told = said(capsys, 5, "hands", "--ledger", "s3://poker/other")
    assert told == "there is no archive at s3://poker/other: muckrake push makes one"


@pytest.mark.parametrize("kind", ["events-", "hands-"])
@pytest.mark.parametrize("words", [("hands",), ("sql", "FROM hands, events"), ("audit", "--all")])
def test_every_changed_byte_is_found_by_its_digest(
    capsys: Captured, league: Path, tmp_path: Path, kind: str, words: tuple[str, ...]
) -> None:
    archive = tmp_path / "archive"
    printed(capsys, "push", str(archive), "--ledger", str(league))
    path = next((archive / "segments").glob(f"{kind}*"))
    data = path.read_bytes()
    found = 0
    for at in (20, len(data) // 2, len(data) - 20):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        code = main([*words, "--ledger", str(archive)])
        _, err = capsys.readouterr()
        found += code == 3
        assert (code, "is not as it was sealed" in err) in ((3, True), (0, False))
    assert found == 3 or (words == ("hands",) and kind == "events-")


# while somebody pushes


def test_a_reader_goes_on_while_its_archive_grows_and_is_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.archive.cached_disk.FRESH_S", 0.0)
    folder, archive = tmp_path / "ledger", tmp_path / "archive"
    grow(folder, 1, 30)
    push(folder, archive)
    reader = Reader(archive_folder(archive.as_uri()))
    early = reader.snapshot()
    before = list(early.read_from(0))
    for first in (40, 60, 80):
        grow(folder, first, first + 10)
        push(folder, archive)
    assert reader.snapshot().next_seq == Reader(folder).snapshot().next_seq
    ledger, lock = open_ledger(
        folder, "compact", remembered=CheckpointMemory(tmp_path / "ledger.seen")
    )
    ledger.compact(grace_ms=-1)
    ledger.close()
    lock.release()
    push(folder, archive)
    for path in (archive / "segments").iterdir():  # whoever cleans up in the bucket
        if not (folder / "segments" / path.name).exists():
            path.unlink()
    shutil.rmtree(tmp_path / "cache" / "archives", ignore_errors=True)
    archive_folder(archive.as_uri())
    assert list(early.read_from(0)) == before
    assert list(reader.read_from(0)) == list(Reader(folder).read_from(0))


def test_a_stale_index_takes_a_reader_nowhere_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.archive.cached_disk.FRESH_S", 0.0)
    folder, archive = tmp_path / "ledger", tmp_path / "archive"
    grow(folder, 1, 30)
    push(folder, archive)
    old = (archive / index.PATH).read_bytes()
    grow(folder, 40, 60)
    push(folder, archive)
    reader = Reader(archive_folder(archive.as_uri()))
    now = reader.snapshot().as_of
    (archive / index.PATH).write_bytes(old)
    assert reader.snapshot().as_of == now


def test_an_archive_is_copied_to_another(capsys: Captured, league: Path, tmp_path: Path) -> None:
    printed(capsys, "push", str(tmp_path / "copy"), "--ledger", URL)
    found = storage_of(URL).get(index.PATH)
    assert found
    assert (tmp_path / "copy" / index.PATH).read_bytes() == found[0]


# the cache


def test_the_cache_is_bounded_and_what_went_is_fetched_again(
    league: Path, cold: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    limit = 200_000
    monkeypatch.setenv("MUCKRAKE_CACHE_BYTES", str(limit))
    for view in ("events", "hands", "players", "decisions", "bids", "swaps", "events"):
        asked = "sql", f"SELECT count(*) AS n FROM {view}"
        assert printed(capsys, *asked, "--ledger", URL) == printed(
            capsys, *asked, "--ledger", str(league)
        )
    printed(capsys, "hands", "--ledger", URL)
    kept = sum(it.stat().st_blocks * 512 for it in cold.rglob("objects/*") if it.suffix != ".map")
    assert kept <= limit + limit // 16 + 65_536


def test_a_torn_cache_mends_itself(league: Path, cold: Path, running: Server) -> None:
    reader = Reader(archive_folder(URL))
    hand = reader.read("scrim/3")
    for path in cold.rglob("objects/*"):
        if path.suffix != ".map":
            path.write_bytes(bytes(path.stat().st_size))
    running.requests.clear()
    assert Reader(archive_folder(URL)).read("scrim/3") == hand
    assert running.count("GET") > 1


def test_an_object_that_was_compared_is_not_replaced_by_another_behind_it(tmp_path: Path) -> None:
    """A block that had to go has the bytes that were compared when it comes again, or is damage."""
    folder, archive = tmp_path / "ledger", tmp_path / "archive"
    grow(folder, 1, 30)
    push(folder, archive)
    url = archive.as_uri()
    disk = ArchiveDisk(archive_folder(url), url)
    disk.names("")
    name = next(it for it in disk.names("segments") if it.startswith("events-"))
    data = disk.read(f"segments/{name}")
    (archive / "segments" / name).write_bytes(data[::-1])
    disk._cache._open.clear()
    shutil.rmtree(archive_folder(url) / "objects")
    (archive_folder(url) / "objects").mkdir()
    with pytest.raises(Damaged, match="is another object now than it was before"):
        disk.read(f"segments/{name}")

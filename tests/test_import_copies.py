"""A file that somebody overwrites, cuts, lengthens or replaces while it is imported: what is in the
ledger is all of one text, and its digest is of that text."""

import hashlib
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from api.importing import input_copies as copies
from api.importing import pool
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import inputs
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions, ImportOutcome
from bench.import_texts import phh_files, pokerstars_files
from events.match import SourceNoted
from events.types import HandStarted
from formats import file_parts, registry
from formats.source import Refused
from store.ledger import FileLedger
from tests.foreign import gamelog, opened
from tests.formats.test_format_irc import made_month
from tests.profiles import in_turn, sized

AT = 1_700_000_000_000
HANDS = 12
ACPC = "STATE:{}:cc/cc/cc/cc:{}|2c7d/Ts9s4h/3d/8c:4|-4:ursa|lynx\n"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, ...]]:
    """Of each format a text, and another that it is overwritten with."""
    folder = tmp_path_factory.mktemp("texts")
    log = gamelog(folder / "log", rounds=HANDS).read_bytes()
    made = {
        "mit-gamelog": (log, gamelog(folder / "other", rounds=HANDS, seed="8").read_bytes()),
        "acpc": tuple(
            "".join(ACPC.format(n, cards) for n in range(HANDS)).encode()
            for cards in ("AsKd", "QsJd")
        ),
    }
    for name, files in (("phh", phh_files), ("pokerstars", pokerstars_files)):
        text = next(files(folder / name, HANDS).iterdir()).read_bytes()
        made[name] = text, text.replace(b"ann", b"eve")
    return made


def in_place(path: Path, other: bytes) -> None:
    path.write_bytes(other)


def cut_off(path: Path, other: bytes) -> None:
    os.truncate(path, path.stat().st_size // 2)


def grown(path: Path, other: bytes) -> None:
    with path.open("ab") as file:
        file.write(other)


def renamed_over(path: Path, other: bytes) -> None:
    aside = path.with_name("aside")
    aside.write_bytes(other)
    aside.rename(path)


def linked_elsewhere(path: Path, other: bytes) -> None:
    aside = path.with_name("target")
    aside.write_bytes(other)
    path.unlink()
    path.symlink_to(aside)


def overwritten_and_dated_back(path: Path, other: bytes) -> None:
    """By somebody who gives it its old time again."""
    was = path.stat()
    path.write_bytes(other)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def removed(path: Path, other: bytes) -> None:
    path.unlink()


ATTACKS = (
    in_place,
    cut_off,
    grown,
    renamed_over,
    linked_elsewhere,
    overwritten_and_dated_back,
    removed,
)
Attack = Callable[[Path, bytes], None]


@pytest.fixture(autouse=True)
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are taken in pieces of 100 bytes, and two processes' work is done here."""
    monkeypatch.setattr(copies, "_BLOCK", 100)
    monkeypatch.setattr(file_parts, "PART_HANDS", 5)
    monkeypatch.setattr("formats.mit.parts.PART_HANDS", 5)
    monkeypatch.setattr(
        pool, "_in_processes", lambda works, tick, count: pool._in_this_process(works, tick)
    )


def imported(path: Path, folder: Path, processes: int = 1) -> tuple[ImportOutcome, list[Any]]:
    """What came of it, and all that is in the ledger then."""
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    with opened(folder / "ledger") as ledger:
        files = list(inputs([path], folder / "ledger"))
        read = outcomes(
            files, ImportOptions(), scratch, AT, ledger.nonces, lambda n: None, processes
        )
        ((found, _),) = ImportWriter(ledger, "sealed").write(read)
        assert [] == list(scratch.iterdir())
        return found, events(ledger)


def events(ledger: FileLedger) -> list[Any]:
    """All that is in a ledger, stream by stream, but for what a match is called."""
    found = []
    for one in sorted(ledger.read_from(0), key=lambda it: (it.stream, it.index)):
        told = {name: getattr(one.event, name) for name in one.event.__struct_fields__}
        found.append({**told, "hand": "", "match": ""} | {"type": type(one.event)})
    return found


def attacked_while_taken(
    monkeypatch: pytest.MonkeyPatch, path: Path, other: bytes, attack: Attack, block: int
) -> None:
    """Whoever takes the file's bytes is overtaken before this block, once."""
    blocks, done = copies._blocks, [False]

    def overtaken(raw: BinaryIO) -> Iterator[bytes]:
        for number, one in enumerate(blocks(raw)):
            if number == block and not done[0]:
                done[0] = True
                attack(path, other)
            yield one
        if block < 0 and not done[0]:
            done[0] = True
            attack(path, other)

    monkeypatch.setattr(copies, "_blocks", overtaken)


BLOCKS = [(block, large) for block in (0, 3, -1) for large in (False, True)]  # first, middle, end
FORMATS = ("mit-gamelog", "acpc", "phh", "pokerstars")
KINDS = [(format, large) for format in FORMATS for large in (False, True)]  # whole, in parts


@pytest.mark.parametrize(
    ("attack", "where"), sized(in_turn(ATTACKS, BLOCKS), [*product(ATTACKS, BLOCKS)])
)
def test_a_file_that_changes_while_it_is_taken_is_refused_or_is_one_text(
    attack: Attack,
    where: tuple[int, bool],
    texts: dict[str, tuple[bytes, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever reads it in parts looks at it again as a whole, when it may have come to rest."""
    block, large = where
    one, other = texts["mit-gamelog"]
    path = tmp_path / "log.txt"
    path.write_bytes(one)
    if large:
        monkeypatch.setattr(pool, "LARGE", 0)
    attacked_while_taken(monkeypatch, path, other, attack, block)
    found, there = imported(path, tmp_path / "attacked", 2 if large else 1)
    if found.refused is None:
        whole = path.read_bytes()
        assert large
        assert hashlib.sha256(whole).hexdigest() == found.digest
        alone = tmp_path / "alone" / path.name
        alone.parent.mkdir()
        alone.write_bytes(whole)
        assert imported(alone, tmp_path / "beside")[1] == there
    else:
        assert [] == there
        if not large:
            assert copies.CHANGED == found.refused.reason


@pytest.mark.parametrize(
    ("attack", "kind"), sized(in_turn(ATTACKS, KINDS), [*product(ATTACKS, KINDS)])
)
def test_what_was_hashed_is_what_is_read(
    attack: Attack,
    kind: tuple[str, bool],
    texts: dict[str, tuple[bytes, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file changes when its digest is known and none of its hands is."""
    format, large = kind
    one, other = texts[format]
    path = tmp_path / "hands.txt"
    path.write_bytes(one)
    expected, there = imported(path, tmp_path / "quiet")
    assert expected.refused is None
    assert HANDS == expected.hands
    if large:
        monkeypatch.setattr(pool, "LARGE", 0)
    done: list[bool] = []

    def overtaken(*words: Any) -> Any:
        if not done:
            done.append(True)
            attack(path, other)
        return registry.read(*words)

    monkeypatch.setattr("api.importing.worker.read", overtaken)
    found, now = imported(path, tmp_path / "attacked", 2 if large else 1)
    assert done
    assert hashlib.sha256(one).hexdigest() == found.digest
    assert there == now
    (file,) = (it for it in now if it["type"] is SourceNoted and it["dialect"] == "file")
    assert found.digest == file["footer"]


@pytest.mark.parametrize("attack", [in_place, grown, renamed_over, removed])
@pytest.mark.parametrize("part", ["hdb", "hroster", "pdb/pdb.a"])
def test_a_month_is_taken_as_it_was_at_one_moment(
    attack: Attack, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file changes when all of it was copied already, but not yet all of its month."""
    month = made_month(tmp_path / "199504")
    opened_files = copies._opened
    last = copies.irc_month_files(month)[-1]

    def overtaken(path: Path) -> BinaryIO:
        if path == last:
            attack(month / part, b"more\n")
        return opened_files(path)

    monkeypatch.setattr(copies, "_opened", overtaken)
    found, there = imported(month, tmp_path / "attacked")
    assert found.refused is not None
    assert copies.CHANGED == found.refused.reason
    assert [] == there


def test_a_month_that_changes_when_it_was_taken_is_the_month_that_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    month = made_month(tmp_path / "199504")
    expected, there = imported(month, tmp_path / "quiet")

    def overtaken(*words: Any) -> Any:
        for file in copies.irc_month_files(month):
            file.write_bytes(b"")
        return registry.read(*words)

    monkeypatch.setattr("api.importing.worker.read", overtaken)
    found, now = imported(month, tmp_path / "attacked")
    assert (expected.digest, None) == (found.digest, found.refused)
    assert there == now
    assert any(it["type"] is HandStarted for it in now)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was a file when it was looked at."""
    path = gamelog(tmp_path / "log.txt", rounds=2)
    opened_files = copies._opened

    def overtaken(path: Path) -> BinaryIO:
        path.unlink()
        os.mkfifo(path)
        return opened_files(path)

    monkeypatch.setattr(copies, "_opened", overtaken)
    found, there = imported(path, tmp_path / "attacked")
    assert found.refused is not None
    assert "this is no file" == found.refused.reason
    assert [] == there


def test_a_full_disk_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    path = gamelog(tmp_path / "log.txt", rounds=2)
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(Refused, match="no room beside the ledger for the copy that is read: No sp"),
    ):
        copies._copy_bytes(path, full.write)

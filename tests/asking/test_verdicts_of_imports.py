"""What an import has judged nobody judges again: pages and filters have it, and no audit does."""

import hashlib
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.importing import import_writer, pool
from api.jobs.jobs import Jobs
from api.main import main
from api.questions import verdicts
from api.questions.verdicts import UNJUDGED, Verdicts
from dealer.play import play
from engine.games import GAMES
from engine.verdict import VERDICTS
from formats.mit.write import write
from store.folder.disk import CACHE
from store.reader import Reader, Snapshot
from tests.asking.test_verdicts import by_hand, forged
from tests.http.clients import over, site_of
from tests.profiles import sized

HANDS = 150  # more than `RUN`: they wait in columns


def log(hands: int, seed: str) -> str:
    """A gamelog whose third hand pays a chip too much."""
    records = list(islice(play(GAMES["auction-2024-mit"], "m", hands, seed), hands))
    return write([*records[:2], forged(records[2]), *records[3:]])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "verdicts"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def imported(folder: Path, *files: tuple[str, str], words: tuple[str, ...] = ()) -> None:
    """Files of these names and texts, as the command imports them."""
    paths = [folder.with_name(name) for name, _ in files]
    for path, (_, text) in zip(paths, files, strict=True):
        path.write_text(text)
    code = main(["import", *map(str, paths), "--ledger", str(folder), *words])
    assert code in (0, 3)  # hands differ


def kept(folder: Path) -> dict[int, str]:
    """What is known by a process that has just begun."""
    known = Verdicts().known(Reader(folder).snapshot())
    assert 0 == known.left
    return by_hand(known.rows)


def anew(snapshot: Snapshot, scratch: Path) -> dict[int, str]:
    """The same, judged by somebody with no cache."""
    verdicts = Verdicts(scratch)
    for _ in verdicts.judge(snapshot):
        pass
    return by_hand(verdicts.known(snapshot).rows)


def same(folder: Path) -> bool:
    """Whether what is kept is what somebody would find who judges all of it."""
    known = kept(folder)
    return "differ" in known.values() and known == anew(
        Reader(folder).snapshot(), folder.with_name("anew")
    )


def _in_segments(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(import_writer, "CLOSE_HANDS", 100)


def _by_processes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pool, "LARGE", 4_000)
    patch.setattr(pool, "ALONE_BYTES", 0)
    patch.setattr("os.cpu_count", lambda: 2)


WAYS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "in the log": lambda patch: None,
    "in segments": _in_segments,
    "by several processes": _by_processes,
}


@pytest.mark.parametrize("way", sized([*WAYS][:2], [*WAYS]))
def test_an_import_keeps_what_it_has_judged(
    way: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WAYS[way](monkeypatch)
    imported(folder, ("long.txt", log(HANDS, "1")), ("short.txt", log(7, "2")))
    assert same(folder)


def test_what_comes_later_is_kept_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is sealed when more comes; what was kept of it is then believed of the segment."""
    imported(folder, ("short.txt", log(7, "2")))
    _in_segments(monkeypatch)
    imported(folder, ("long.txt", log(HANDS, "1")))
    imported(folder, ("other.txt", log(8, "3")))
    assert same(folder)


@pytest.mark.parametrize("seals", ["another import", "somebody who knows of no verdict"])
def test_a_log_that_is_sealed_is_still_known(
    seals: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _in_segments(monkeypatch)
    monkeypatch.setattr("store.ledger.CLOSE_HANDS", 100)
    imported(folder, ("short.txt", log(7, "2")))
    before = kept(folder)
    if seals == "another import":
        imported(folder, ("long.txt", log(100, "1")))
    else:
        words = ["--hands", "100", "--seed", "1", "--ledger", str(folder)]
        assert main(["play", "auction-2024", *words]) == 0
    snapshot = Reader(folder).snapshot()
    assert not snapshot.parts().closed
    assert before == {
        seq: it for seq, it in by_hand(Verdicts().known(snapshot).rows).items() if seq in before
    }


def test_compaction_takes_it_along(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _in_segments(monkeypatch)
    imported(folder, ("long.txt", log(HANDS, "1")))
    imported(folder, ("other.txt", log(HANDS, "3")))
    assert 1 < len(Reader(folder).snapshot().parts().segments)
    assert 0 == main(["compact", "--ledger", str(folder)])
    assert 1 == len(Reader(folder).snapshot().parts().segments)
    assert same(folder)


def test_without_an_audit_nothing_is_kept(folder: Path) -> None:
    imported(folder, ("long.txt", log(HANDS, "1")), words=("--no-audit",))
    snapshot = Reader(folder).snapshot()
    assert snapshot.next_seq == Verdicts().known(snapshot).left
    imported(folder, ("short.txt", log(7, "2")))  # nor does a later import speak for it
    known = Verdicts().known(Reader(folder).snapshot())
    assert (7, HANDS) == (known.rows.num_rows, len(list(snapshot.hands())))
    assert known.left >= HANDS


def test_a_hand_that_comes_again_is_judged_once(folder: Path) -> None:
    imported(folder, ("long.txt", log(HANDS, "1")))
    known = kept(folder)
    imported(folder, ("again.txt", log(HANDS, "1")))
    assert known == kept(folder)


@pytest.fixture
def nobody_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*asked: Any) -> Iterator[Any]:
        raise AssertionError("it was judged when it was imported")

    monkeypatch.setattr(Verdicts, "judge", judge)
    monkeypatch.setattr(verdicts, "audited_batches", judge)


@pytest.mark.usefixtures("nobody_judges")
def test_pages_and_filters_have_nothing_judged_after_an_import(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the home page it is three clicks to a disputed hand, its audit, and its evidence."""
    imported(folder, ("long.txt", log(HANDS, "1")), words=("--match", "scrim"))
    monkeypatch.setattr("api.questions.judging.JUDGED_UNASKED_MAX", 0)
    client = site_of(folder).as_("auditor")
    for path in ("/", "/matches/scrim", "/hands?q=verdict%3Ddiffer"):
        text = client.get(path).text
        assert re.search(r'href="/hands/scrim/3/audit(\?q=verdict%3Ddiffer)?"', text), path
        assert "judged yet" not in text
        assert "being judged" not in text
    bundle = "/api/v1/hands/scrim/3/proof?format=zip"
    assert f'href="{bundle}"' in client.get("/hands/scrim/3/audit").text
    assert 200 == client.get(bundle).status_code
    capsys.readouterr()
    assert 0 == main(["hands", "verdict=differ", "--ledger", str(folder)])
    told = capsys.readouterr()
    assert "scrim/3" in told.out
    assert "judging" not in told.err


@pytest.mark.ci
def test_an_import_over_http_keeps_it_too(folder: Path) -> None:
    writer = site_of(folder).as_("writer")
    begun = writer.post("/api/v1/imports?name=a.txt", content=log(HANDS, "1").encode())
    assert "done" == over(writer, begun.headers["location"])["state"]
    Jobs(folder).stop()
    assert same(folder)


def test_a_forged_cache_is_no_evidence(
    folder: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may write the cache can have lists say anything; whoever audits decides anew."""
    imported(folder, ("long.txt", log(HANDS, "1")), words=("--match", "scrim"))
    (file,) = cache.iterdir()
    told = msgspec.msgpack.decode(file.read_bytes()[32:], type=verdicts.SavedVerdicts)
    agreed = bytes(1 if code not in (0, UNJUDGED) else code for code in told.codes)
    body = msgspec.msgpack.encode(msgspec.structs.replace(told, codes=agreed))
    file.write_bytes(hashlib.sha256(body).digest() + body)
    assert {"agree"} == set(kept(folder).values())
    assert VERDICTS[0] == "agree"
    capsys.readouterr()
    assert 3 == main(["audit", "scrim/3", "--ledger", str(folder)])
    assert "DIFFER" in capsys.readouterr().out
    assert 3 == main(["audit", "--all", "--ledger", str(folder)])
    text = site_of(folder).as_("auditor").get("/hands/scrim/3/audit").text
    assert "the record is not what auction-2024-mit decides" in text


def test_another_record_in_the_same_place_is_not_believed(
    tmp_path: Path, folder: Path, cache: Path
) -> None:
    """What is kept of a log is named by its place only: its events must be the same, too."""
    imported(folder, ("short.txt", log(7, "2")))
    folder.rename(tmp_path / "moved")
    imported(folder, ("short.txt", log(7, "3")), words=("--no-audit",))
    snapshot = Reader(folder).snapshot()
    assert snapshot.next_seq == Verdicts().known(snapshot).left


def test_another_program_judges_imports_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(folder, ("long.txt", log(HANDS, "1")))
    monkeypatch.setattr(verdicts, "program_digest", lambda: "another")
    snapshot = Reader(folder).snapshot()
    assert snapshot.next_seq == Verdicts().known(snapshot).left

"""Every public corpus through the command: as many hands as its README counts, exceptions named.

Packed files are unpacked beside the ledger first, as somebody would who imports them.
"""

import gzip
import json
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sessions import Captured, printed

SHARED = Path(__file__).parents[2].parent / "shared/data"
COUNTED = ("hands", "imported", "agree", "assuming", "contested", "differ", "unknown")
Imported = Callable[..., list[dict[str, Any]]]


def _needs(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: its hands cannot be imported")
    return path


@pytest.fixture
def imported(capsys: Captured, tmp_path: Path) -> Imported:
    """The files of an import into an empty ledger."""

    def run(*paths: Path, code: int) -> list[dict[str, Any]]:
        words = ["import", *map(str, paths), "--json", "--ledger", str(tmp_path / "ledger")]
        files: list[dict[str, Any]] = json.loads(printed(capsys, *words, code=code))["files"]
        return files

    return run


def _sum(files: list[dict[str, Any]]) -> dict[str, int]:
    """The counts of all files together."""
    found = {name: sum(one[name] or 0 for one in files) for name in COUNTED}
    found["skipped"] = sum(len(one["skipped"]) for one in files if one["refused"] is None)
    found["refused"] = sum(one["refused"] is not None for one in files)
    return {name: count for name, count in found.items() if count}


def _unzipped(packed: Path, folder: Path) -> Path:
    path = folder / packed.name.removesuffix(".gz")
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def _untarred(packed: Path, folder: Path, most: int | None = None) -> Path:
    """The files of an archive, or the first of them."""
    with tarfile.open(packed) as tar:
        members = [member for member in tar if member.isfile()][:most]
        tar.extractall(folder, members)
    return folder


# MIT gamelogs.


def test_a_public_log_of_each_year(imported: Imported) -> None:
    year22 = next(_needs("mit/2022").glob("*3907de88*"))
    year24 = next(_needs("mit/2024").glob("*08eb8d3a*"))
    """No log says with how much its hands begin: 591 come to that."""
    files = imported(year22, year24, code=0)
    verdicts = {"agree": 1405, "assuming": 591, "contested": 4}
    assert {"hands": 2000, "imported": 2000} | verdicts == _sum(files)
    assert [("S1", "swap-2022-mit"), ("A2", "auction-2024-mit")] == [
        (one["dialect"], one["game"]) for one in files
    ]


def test_the_log_with_merge_markers_is_refused_and_others_are_not(imported: Imported) -> None:
    other = next(_needs("mit/made/2024").glob("raw-2024-tap.txt"))
    damaged, whole = imported(_needs("mit/damaged"), other, code=1)
    assert {"line": 6, "reason": damaged["refused"]["reason"]} == damaged["refused"]
    assert "git merge marker" in damaged["refused"]["reason"]
    assert 6 == whole["agree"]


@pytest.mark.slow
def test_every_public_log(imported: Imported, tmp_path: Path) -> None:
    """9,100 hands of 2022, one file of them with a stack of 400; 25,000 of 2024, 55 contested."""
    year24 = _needs("mit/2024")
    big = _unzipped(next(year24.glob("*.gz")), tmp_path)
    files = imported(_needs("mit/2022"), *sorted(year24.glob("*.txt")), big, code=0)
    verdicts = {"agree": 31706, "assuming": 2339, "contested": 55}
    assert {"hands": 34100, "imported": 34100} | verdicts == _sum(files)
    stacks = Counter(
        fact.partition(",")[0]
        for one in files[:10]
        for fact in one["inferred"]
        if fact.startswith("stack")
    )
    assert {"stack 200": 9, "stack 400": 1} == stacks
    dialects = Counter(one["dialect"] for one in files)
    assert {"S1": 10, "A0": 3, "A1": 6, "A2": 3, "A3": 2, "no auction": 2} == dialects


@pytest.mark.slow
def test_every_log_of_the_unmodified_engines(imported: Imported) -> None:
    """11,070 hands in 25 logs; what lies beside them, transcripts and outputs, is refused."""
    files = imported(_needs("mit/made"), code=1)
    logs = [one for one in files if one["refused"] is None]
    assert (25, 11070) == (len(logs), _sum(logs)["imported"])
    assert not any(one["differ"] for one in logs)
    assert {".stdout", ".wire"} == {Path(o["file"]).suffix for o in files if o["refused"]}


# PHH and ACPC.


@pytest.mark.ci  # test_format_phh_acpc_corpus.py holds hands of both before
def test_phh_files_agree_to_the_chip(imported: Imported, tmp_path: Path) -> None:
    packed = _untarred(_needs("phh/pluribus-visible.tar.gz"), tmp_path / "x", 100)
    files = imported(packed, _needs("phh/wsop-2023-43-5"), code=0)
    assert {"hands": 114, "imported": 114, "agree": 110, "assuming": 4} == _sum(files)


def test_phh_examples_are_read_or_refused_by_code(imported: Imported) -> None:
    badugi, dwan, sample = imported(_needs("phh/examples"), code=1)
    assert "FB is fixed-limit badugi" in badugi["refused"]["reason"]
    assert (1, 8) == (dwan["imported"], sample["imported"])


@pytest.mark.slow
def test_every_phh_file_of_pluribus(imported: Imported, tmp_path: Path) -> None:
    files = imported(_untarred(_needs("phh/pluribus-visible.tar.gz"), tmp_path / "x"), code=0)
    verdicts = {"agree": 3847, "assuming": 113}  # nothing but the hand says who shows first
    assert {"hands": 3960, "imported": 3960} | verdicts == _sum(files)


@pytest.mark.ci  # test_format_phh_acpc_corpus.py holds all its hands before
def test_the_limit_log_of_the_acpc(imported: Imported) -> None:
    files = imported(_needs("acpc/2p.limit.h1000.r0.log"), code=0)
    assert {"hands": 1000, "imported": 1000, "agree": 1000} == _sum(files)


@pytest.mark.slow
def test_every_acpc_log(imported: Imported, tmp_path: Path) -> None:
    acpc = _needs("acpc")
    deep = _unzipped(acpc / "deepstack-first10000.log.gz", tmp_path)
    files = imported(*sorted(acpc.glob("*.log")), deep, code=0)
    assert {"hands": 12000, "imported": 12000, "agree": 2000, "assuming": 10000} == _sum(files)
    assert ["dealer", "dealer", "deepstack"] == [one["dialect"] for one in files]


# IRC.


@pytest.mark.slow
def test_the_irc_month_is_one_entry(imported: Imported, tmp_path: Path) -> None:
    """9,982 hands exact; 12 lack a player's file, six all-in hands do not follow the rule."""
    (one,) = imported(_untarred(_needs("irc/199504-visible.tar.gz"), tmp_path / "x"), code=3)
    assert ("irc", 10000, 9982, 18) == (
        one["format"],
        one["hands"],
        one["imported"],
        len(one["skipped"]),
    )
    lacking = [left for left in one["skipped"] if "is not in a file" in left["reason"]]
    assert 12 == len(lacking)
    assert (9950, 31, 1) == (one["assuming"], one["differ"], one["unknown"])  # its stakes


# PokerStars.


@pytest.mark.ci  # test_format_pokerstars_corpora.py holds the same verdicts before
def test_fpdb_texts(imported: Imported) -> None:
    """516 hold'em hands and four of Omaha, of 35 texts; and three literals, which are no hands.
    No text says at which rate it was raked."""
    files = imported(_needs("pokerstars/fpdb"), code=1)
    counts = {"hands": 513, "imported": 511, "skipped": 2, "refused": 10}
    verdicts = {"agree": 452, "assuming": 48, "unknown": 10, "differ": 1}
    assert counts | verdicts == _sum(files)
    refused = Counter(Path(o["file"]).suffix for o in files if o["refused"])
    assert {".txt": 7, ".hp": 3} == refused


def test_hhsmithy_texts(imported: Imported) -> None:
    """Sixty texts repeat hands of others, and one has a number of another hand."""
    files = imported(_needs("pokerstars/hhsmithy"), code=1)
    verdicts = {"agree": 49, "assuming": 35, "unknown": 22, "differ": 2}
    assert {"hands": 108, "imported": 47, "refused": 19} | verdicts == _sum(files)


def test_texts_of_other_sites(imported: Imported) -> None:
    files = imported(_needs("pokerstars/fpdb_gt"), code=1)
    verdicts = {"agree": 1, "assuming": 2}
    assert {"hands": 3, "imported": 3, "refused": len(files) - 3} | verdicts == _sum(files)


@pytest.mark.slow
def test_pluribus_hands_as_text(imported: Imported, tmp_path: Path) -> None:
    packed = _needs("pokerstars/pluribus-visible.tar.gz")
    files = imported(_untarred(packed, tmp_path / "x"), code=0)
    assert {"hands": 3960, "imported": 3960, "agree": 3960} == _sum(files)


def test_open_hand_histories(imported: Imported) -> None:
    files = imported(_needs("ohh"), code=0)
    assert {"hands": 3, "imported": 3, "agree": 1, "assuming": 2} == _sum(files)

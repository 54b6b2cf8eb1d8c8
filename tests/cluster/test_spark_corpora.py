"""Over every corpus and a million made hands Spark comes to what one machine comes to: verdicts,
statistics, decisions."""

import gzip
import os
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from api.main import main
from bench.large import build
from tests.sessions import Captured, printed

SHARED = Path(__file__).parents[2].parent / "shared/data"
CORPORA = ("mit", "acpc", "phh", "pokerstars", "irc", "ohh")
MADE = 1_000_000
LOCAL = ("--on", "local[2]")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("spark_here")]


def _unpacked(folder: Path, into: Path) -> Path:
    """The files of a corpus as they were before they were packed."""
    for path in sorted(it for it in folder.rglob("*") if it.is_file()):
        place = into / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as packed:
                packed.extractall(place.with_suffix(""))
        elif path.suffix == ".gz":
            place.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        else:
            os.symlink(path, place)
    return into


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the public hand histories are not at {SHARED}")
def test_every_corpus(capsys: Captured, tmp_path: Path) -> None:
    """In one ledger; files that are refused are in none."""
    ledger = tmp_path / "ledger"
    for corpus in CORPORA:
        files = _unpacked(SHARED / corpus, tmp_path / corpus)
        words = ["import", str(files), "--ledger", str(ledger)]
        assert main(words) in (0, 1, 3)
    capsys.readouterr()
    assert _same(ledger, capsys, tmp_path) > 300_000


def test_made_hands(capsys: Captured, tmp_path: Path) -> None:
    build(tmp_path / "small", tmp_path / "large", MADE, MADE // 100)
    assert _same(tmp_path / "large", capsys, tmp_path) > MADE


def _same(ledger: Path, capsys: Captured, folder: Path) -> int:
    """Asked both ways, one machine and Spark print the same; how many decisions there are."""
    asked = (["audit", "--all"], ["stats"], ["stats", "--by", "game"])
    for words in asked:
        found = []
        for more in ((), LOCAL):
            code = main([*words, "--json", "--ledger", str(ledger), *more])
            found.append((code, capsys.readouterr().out))
        assert found[0] == found[1]
        assert found[0][0] in (0, 3)
    files = [folder / "here.parquet", folder / "there.parquet"]
    for path, on in zip(files, ((), LOCAL), strict=True):
        export = ("export", "--format", "parquet", "--table", "decisions", "--out", str(path))
        printed(capsys, *export, "--ledger", str(ledger), *on)
    here, there = map(pq.ParquetFile, files)
    assert here.schema_arrow == there.schema_arrow
    for name in here.schema_arrow.names:  # a million hands' whole rows would take the memory
        one, other = (it.read([name])[name] for it in (here, there))
        assert one.equals(other), name
    return int(here.metadata.num_rows)

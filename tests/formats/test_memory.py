"""A file of any length is read in the memory of a few of its hands."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from formats import irc, source
from formats.acpc.read import read as read_acpc
from formats.phh.read import read as read_phh
from formats.pokerstars import read as pokerstars
from formats.pokerstars import text as blocks
from formats.source import SourceFile
from tests.formats.test_format_irc import PDB, ROSTER, made_month
from tests.formats.test_format_phh import TWO
from tests.formats.test_format_pokerstars import CASH

HANDS = 120


def _phh(path: Path, hands: int) -> Path:
    path.write_text("".join(f"[{number}]{TWO}\n" for number in range(hands)))
    return path


def _acpc(path: Path, hands: int) -> Path:
    path.write_text("STATE:0:r200f:AsKd|2c7d:-100|100:A|B\n" * 3 * hands)
    return path


def _pokerstars(path: Path, hands: int) -> Path:
    path.write_text(CASH * hands)
    return path


def _irc(path: Path, hands: int) -> Path:
    """The first hand of the month again and again, at other times."""
    line = "100   1   1  3  2/45    2/65    2/65    2/105    Qc Ks 8s Jh Tc\n"
    first = {name: text.splitlines()[0] for name, text in PDB.items()}
    every = range(100, 100 + hands)
    return made_month(
        path,
        "".join(line.replace("100", str(number), 1) for number in every),
        "".join(f"{number} {ROSTER.splitlines()[0][4:]}\n" for number in every),
        **{
            name: "".join(f"{text.replace(' 100 ', f' {number} ')}\n" for number in every)
            for name, text in first.items()
        },
    )


FILES: dict[Callable[[Path], SourceFile], Callable[[Path, int], Path]] = {
    read_phh: _phh,
    read_acpc: _acpc,
    pokerstars.read: _pokerstars,
    irc.read: _irc,
}


@pytest.mark.parametrize("read", FILES, ids=["phh", "acpc", "pokerstars", "irc"])
def test_most_hands_of_a_long_file_are_not_in_memory(
    read: Callable[[Path], SourceFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pokerstars, "KEPT", HANDS // 10)
    monkeypatch.setattr(source, "_SMALL", 0)
    for module, name in ((source, "_BLOCK"), (blocks, "LINE_MAX")):
        monkeypatch.setattr(module, name, 1 << 12)
    file = FILES[read](tmp_path / "file", HANDS)
    assert 2 * _peak(read, file) < _peak(lambda path: _held(read(path)), file)


def _held(source: SourceFile) -> SourceFile:
    """The same with all hands in memory."""
    return replace(source, hands=tuple(source.hands))


def _peak(read: Callable[[Path], SourceFile], path: Path) -> int:
    """The most that is held at once while every hand is taken and let go; what Python keeps for
    later use is there from a reading before."""
    for _ in read(path).hands:
        pass
    tracemalloc.start()
    try:
        for _ in read(path).hands:
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

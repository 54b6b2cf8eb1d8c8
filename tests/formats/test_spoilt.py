"""Spoilt files of every format, each made of its seed alone; more by `./mr fuzz --spoilt N`."""

import pytest

from formats.registry import FORMATS
from tests import fuzz
from tests.formats import spoilt
from tests.profiles import sized


def test_every_reader_is_a_target() -> None:
    assert set(FORMATS) == set(spoilt.TARGETS)


@pytest.mark.parametrize("name", spoilt.TARGETS)
def test_a_spoilt_file_is_read_left_out_or_refused(name: str) -> None:
    assert 0 < sum(spoilt.trial(name, f"test/{number}") for number in range(sized(40, 150)))


def test_the_fuzzer_spoils_files_and_says_how_to_repeat_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == fuzz.main(["--spoilt", "2", "--seed", "s"])
    assert capsys.readouterr().out.startswith(f"{2 * len(FORMATS)} spoilt files, ")
    monkeypatch.setattr(spoilt, "SENTENCE_MAX", 0)
    assert 1 == fuzz.main(["--spoilt", "50", "--seed", "s"])
    assert "again: ./mr fuzz --seed s --spoilt 1 --only " in capsys.readouterr().out

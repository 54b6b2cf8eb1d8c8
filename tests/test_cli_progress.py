"""Whatever takes its time has a bar with the time to go, on a terminal and nowhere else."""

import os
import pty
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from api.cli.output import progress_bar
from api.main import main

BARS = {
    ("play", "auction-2024", "--hands", "30", "--match", "one"): "playing one",
    ("play", "swap-2022", "--matches", "2", "--hands", "2", "--match", "m"): "playing 2 matches",
    ("export", "--format", "mit-gamelog", "scrim", "--out", "log.txt"): "exporting",
    ("import", "log.txt", "--ledger", "imported"): "importing",
    ("export", "--format", "csv", "--out", "all.csv"): "exporting",
    ("verify", "--all"): "verifying",
    ("audit", "--all"): "judging",
    ("audit", "--match", "scrim"): "judging",
    ("audit", "--all", "--workers", "1"): "judging",
    ("compact",): "making tables",
    ("push", "archive"): "sending",
    ("pull", "archive", "--ledger", "pulled"): "fetching",
    ("bids", "--spots", "5"): "counting third cards",
    ("fairness",): "reading hands",
}


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Standard error is a terminal; what it was shown is complete afterwards."""
    shown: list[bytes] = []
    reading, writing = pty.openpty()

    def read() -> None:
        try:
            while some := os.read(reading, 1 << 16):
                shown.append(some)
        except OSError:  # the other end is closed
            pass

    reader = Thread(target=read, daemon=True)
    reader.start()
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "200")
        with open(writing, "w", closefd=True) as stderr:
            patch.setattr(sys, "stderr", stderr)
            yield shown
    reader.join(10)
    os.close(reading)


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("progress")
    words = ("play", "auction-2024-mit", "--hands", "12", "--seed", "5", "--match", "scrim")
    assert main([*words, "--ledger", str(folder / "ledger")]) == 0
    return folder


@pytest.mark.ci
def test_each_command_that_takes_its_time_has_a_bar_and_none_where_nobody_looks(
    at_work: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(at_work)
    monkeypatch.setenv("XDG_CACHE_HOME", str(at_work / "cache"))
    monkeypatch.delenv("MUCKRAKE_LEDGER", raising=False)
    for words, bar in BARS.items():
        with terminal(monkeypatch) as shown:
            code = main(list(words))
        text = b"".join(shown).decode()
        assert code in (0, 3, 7), (words, text)
        assert bar in text, (words, text)
        assert re.search(r"\d:\d\d", text), (words, text)
        if "scrim" not in words and words[0] != "compact":  # nobody has counted what will come
            assert "to go" in text, (words, text)
    capfd.readouterr()
    for words in (("audit", "--all"), ("verify", "--all"), ("export", "--format", "csv")):
        with terminal(monkeypatch) as shown:
            assert main([*words, "--quiet"]) in (0, 7)
        assert "to go" not in b"".join(shown).decode()
        assert main(list(words)) in (0, 7)
        assert "to go" not in capfd.readouterr().err


def test_a_bar_counts_to_its_end_and_says_what_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as shown, progress_bar("dealing [bold]", 4, "hands") as advance:
        for _ in range(4):
            advance(1, 1_000)
    text = b"".join(shown).decode()
    assert "dealing [bold]" in text
    assert "100%" in text
    assert "4,000 hands" in text

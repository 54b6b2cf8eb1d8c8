"""The unit for systemd: systemd takes it, calls it safe, and its command serves."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.processes import Popen

UNIT = Path(__file__).parents[1] / "docs" / "examples" / "muckrake.service"
PROGRAM = "/opt/muckrake/bin/muckrake"
LEDGER = "/var/lib/muckrake/ledger"
SERVE = "import sys; from api.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit_and_calls_its_exposure_small(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace(PROGRAM, sys.executable), "utf-8")
    verify = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True
    )
    own = [line for line in verify.stderr.splitlines() if UNIT.name in line]
    assert (0, []) == (verify.returncode, own), verify.stderr
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=30", unit],
        capture_output=True, text=True,
    )  # fmt: skip
    assert 0 == judged.returncode, judged.stdout[-600:] + judged.stderr


@contextmanager
def serving(words: list[str]) -> Iterator[str]:
    """The address at which these words of a command serve, at a free port; SIGTERM ends it well."""
    words[words.index("--port") + 1] = "0"
    command = [sys.executable, "-c", SERVE, *words]
    with Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()
    assert 0 == server.returncode


def test_the_command_of_the_unit_serves(tmp_path: Path) -> None:
    (line,) = re.findall("^ExecStart=(.*)$", UNIT.read_text("utf-8"), re.MULTILINE)
    program, *words = shlex.split(line.replace(LEDGER, str(tmp_path / "ledger")))
    assert PROGRAM == program
    with serving(words) as address, urlopen(f"{address}healthz", timeout=30) as answer:
        assert 200 == answer.status

"""A forked Python is a process: its words, streams, signals and ends are those of a started one."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Popen
from tests.profiles import sized

SAYS = """
import os, sys
from multiprocessing import parent_process
print(sys.argv, os.environ["ONLY"], os.getpid(), os.getsid(0) == os.getpid(), parent_process())
print("wrong", file=sys.stderr)
sys.exit(3)
"""
WAITS = "import time\nprint('up', flush=True)\ntime.sleep(60)"
PARENT = """
from multiprocessing import get_context
child = get_context("spawn").Process(target=print, args=("from a child",))
child.start()
child.join()
"""


FORKED: list[Any] = [Popen]
STARTS = sized(FORKED, FORKED, [*FORKED, subprocess.Popen])  # it does what the other does


@pytest.mark.parametrize("start", STARTS)
def test_it_is_as_it_was_ordered(start: type[Popen], tmp_path: Path) -> None:
    command = [sys.executable, "-c", SAYS, "one", "two"]
    options: dict[str, Any] = {"env": {**os.environ, "ONLY": "this"}, "text": True}
    options |= {"stdout": subprocess.PIPE, "start_new_session": True}
    with (
        (tmp_path / "errors").open("wb") as errors,
        start(command, **options, stderr=errors) as process,
    ):
        said, _ = process.communicate()
    assert f"['-c', 'one', 'two'] this {process.pid} True None\n" == said
    assert 3 == process.returncode
    assert "wrong\n" == (tmp_path / "errors").read_text()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_is_ended_by_a_signal_and_several_may_wait(start: type[Popen], number: int) -> None:
    with start([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "up\n" == process.stdout.readline()
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        waits = threading.Thread(target=process.wait)
        waits.start()
        process.send_signal(number)
        assert -number == process.wait(30)
        waits.join()
    assert -number == process.returncode


@pytest.mark.parametrize("start", STARTS)
def test_it_may_be_a_module_and_have_children(start: type[Popen]) -> None:
    with start(
        [sys.executable, "-m", "api.jobs.work"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as module:
        _, errors = module.communicate()
    assert 1 == module.returncode
    assert errors.rstrip().endswith(b"IndexError: list index out of range")
    with start([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert ("from a child\n", None) == parent.communicate()
    assert 0 == parent.returncode


FORKED_WITHOUT_CTRL_C = """
import signal, sys
from dealer.worker import ctrl_c_blocked
from tests.processes import FORKS, Popen

if __name__ == "__main__":
    with ctrl_c_blocked():  # as a server does when it has the first page made
        FORKS.Process(target=id, args=("",)).start()
    mask = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True)"
    Popen([sys.executable, "-c", mask]).wait(60)
"""


@pytest.mark.slow  # before, those of tests/test_cli_play_many.py hear it
def test_a_process_hears_ctrl_c_whoever_started_what_it_is_forked_from(tmp_path: Path) -> None:
    script = tmp_path / "forked.py"
    script.write_text(FORKED_WITHOUT_CTRL_C)
    kept = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    words = [sys.executable, str(script)]
    run = subprocess.run(words, capture_output=True, text=True, check=True, env=kept)
    assert "set()" == run.stdout.strip()

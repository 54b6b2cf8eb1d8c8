"""Work done in a process of its own, so that what it needs at most of memory is its own figure."""

import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

STATUS = Path("/proc/self/status")


class Spent(NamedTuple):
    """What the work answered, its seconds on the wall, and the most memory its process had."""

    answer: Any
    seconds: float
    peak: int


def apart(act: Callable[..., Any], *given: object) -> Spent:
    """Call it in a new Python, which inherits no memory from this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as one:
        return one.submit(_spend, act, given).result()


def _spend(act: Callable[..., Any], given: tuple[object, ...]) -> Spent:
    start = time.perf_counter()
    answer = act(*given)
    return Spent(answer, time.perf_counter() - start, _peak())


def _peak() -> int:
    """Bytes; Linux counts a parent's into `getrusage`, so there its own account is better."""
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024

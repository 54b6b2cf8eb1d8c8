"""What a burst of big answers took is given back: freed memory stays with a process otherwise.

Threads that answered leave what they freed to the allocator, in a heap of its own for each, and so
does Arrow. When enough was sent, and once more when nobody is being answered, both are asked to
give the system what nothing stands in.
"""

import asyncio
import ctypes
import gc
from collections.abc import Callable

import pyarrow as pa
from starlette.concurrency import run_in_threadpool

from api.http.metrics import Metrics

LOOK_S = 1.0
MUCH = 8 << 20  # bytes that were sent
HEAPS = 2  # that threads share, instead of eight for each core
_ARENA_MAX = -8  # of glibc's mallopt


def share_heaps() -> None:
    """Few heaps for all threads; where the C library is another one, it keeps its own way."""
    if (mallopt := _of_libc("mallopt")) is not None:
        mallopt(_ARENA_MAX, HEAPS)


def give_back() -> None:
    """What is free goes to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if (trim := _of_libc("malloc_trim")) is not None:
        trim(0)


async def given_back(metrics: Metrics) -> None:
    """Look at what was sent, again and again, for as long as the server runs."""
    before = metrics.sent
    while True:
        await asyncio.sleep(LOOK_S)
        if metrics.sent - before >= MUCH:
            idle = not metrics.now
            await run_in_threadpool(give_back)
            if idle:
                before = metrics.sent


def _of_libc(name: str) -> Callable[..., int] | None:
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return found

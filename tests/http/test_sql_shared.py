"""SQL over HTTP: who asks too much is told so in one sentence, and nobody else notices."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import anyio
import pytest

from api.http.limits import FairSemaphore, Limits
from tests.http.clients import site_of
from tests.http.served import get, said, served
from tests.profiles import sized

ENDLESS = "SELECT levenshtein(repeat('a', 100000000), repeat('b', 100000000))"
HUGE = "SELECT len(range(1000000000))"


@pytest.fixture(scope="module")
def port(house: Path) -> Iterator[int]:
    """A server for two questions at once."""
    site = site_of(house, limits=Limits(rate=0, sql_at_once=2, wait_s=30))
    with served(site.app) as found:
        asked(found, "SELECT 1")
        yield found


def asked(port: int, sql: str) -> tuple[int, dict[str, object]]:
    """The status and the document of an answer."""
    head, _, body = said(port, get(f"/api/v1/sql?q={quote(sql)}")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.ci  # before, such attacks stop nobody in tests/store/test_untrusted_query.py
def test_two_endless_questions_stop_nobody_else(port: int) -> None:
    """They took all SQL and the server's processor for minutes, and its memory with them."""
    refused: list[tuple[int, dict[str, object]]] = []
    threads = [
        threading.Thread(target=lambda sql=sql: refused.append(asked(port, sql)))
        for sql in (ENDLESS, HUGE, *sized((), (), (ENDLESS,)))
    ]
    began = time.monotonic()
    for one in threads:
        one.start()
    while any(one.is_alive() for one in threads):
        before = time.monotonic()
        assert said(port, get("/healthz")).startswith(b"HTTP/1.1 200")
        assert time.monotonic() - before < 5
        time.sleep(0.1)
    assert time.monotonic() - began < 90
    assert [400] * len(threads) == [status for status, _ in refused]
    for _, told in refused:
        assert str(told["detail"]).startswith("stopped: ")
    status, told = asked(port, "SELECT count(*) AS n FROM hands")
    assert 200 == status, told


def test_nobody_waits_behind_all_that_another_one_asks() -> None:
    """One of two places is free for others; who has fewest is next."""

    async def scene() -> list[str]:
        places, order = FairSemaphore(2, 1), []

        async def ask(asker: str) -> None:
            assert await places.acquire(asker, 30)
            order.append(asker)
            await anyio.sleep(0.05)
            places.release(asker)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask, "loud")
            await anyio.sleep(0.01)
            for asker in ("quiet", "shy"):
                group.start_soon(ask, asker)
        return order

    order = anyio.run(scene)
    assert ["loud", "quiet"] == order[:2]
    assert "shy" in order[2:4]
    assert 7 == len(order)


def test_who_waits_too_long_or_goes_takes_no_place() -> None:
    async def scene() -> list[object]:
        places = FairSemaphore(1, 1)
        assert await places.acquire("first", 1)
        found: list[object] = [await places.acquire("late", 0.01), places.why_full("late")]
        found.append(places.why_full("first"))
        async with anyio.create_task_group() as group:
            group.start_soon(places.acquire, "gone", 30)
            await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        places.release("first")
        return [*found, await places.acquire("next", 0.01)]

    late, full, own, following = anyio.run(scene)
    assert late is False
    assert following is True
    assert "1 such answers are being made, and as many is the most at once" == full
    assert "one such answer is being made for you, and as many is the most for each at once" == own

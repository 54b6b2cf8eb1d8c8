"""The example on docs/stream.md, followed across a restart."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fences import fences
from tests.http.servers import Server
from tests.http.test_serving import ids, match_at_play
from tests.profiles import sized

PAGE = Path(__file__).parents[2] / "docs" / "stream.md"


@pytest.mark.ci
def test_the_example_follows_a_match_across_a_restart(tmp_path: Path) -> None:
    folder, heard = tmp_path / "ledger", list[str]()
    said: dict[str, Any] = {}
    (example,) = (fence for fence in fences(PAGE) if fence.told == "follow")
    exec(compile(example.text, str(PAGE), "exec"), said)
    follow: Callable[[str], Iterator[dict[str, Any]]] = said["follow"]
    first = Server(folder, "--delay", "0")
    again = threading.Event()

    def listen() -> None:
        for told in follow(f"http://127.0.0.1:{first.port}/api/v1/stream?match=scrim"):
            heard.append(told["id"])
            if len(heard) == 200:
                again.set()

    with match_at_play(folder, sized(30, 60), 0.02):
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        assert again.wait(30)
        with first:
            first.stop()
        with Server(folder, "--delay", "0", "--port", str(first.port)):
            listener.join(30)
    assert heard == ids(folder)

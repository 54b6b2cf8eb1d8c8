"""Where Spark runs in tests, and why not, where it cannot."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.ledgers import mixed


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of many games, for looking at only."""
    return mixed(tmp_path_factory.mktemp("cluster") / "ledger")


@pytest.fixture(scope="session")
def spark_here() -> Iterator[None]:
    """Spark can be started here, or the test is skipped with the reason; `MUCKRAKE_SPARK=require`
    makes that an error.

    No Java of a test lives for long enough to be worth a second compiler: without it all of them
    take half the time of a processor.
    """
    from api.cluster.spark import NoSpark, session

    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    try:
        with session("local[2]"):
            yield
    except NoSpark as reason:
        if os.environ.get("MUCKRAKE_SPARK") == "require":
            raise
        pytest.skip(str(reason))

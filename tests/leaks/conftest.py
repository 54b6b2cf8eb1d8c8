"""Two worlds for each viewpoint that is not to tell one from the other, made once a process."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi import FastAPI

from tests.leaks.doors import Answer, answers, door
from tests.leaks.hidden_worlds import EYES, first_world, second_world, stubbed


class Pair(NamedTuple):
    """Who asks, the folders of his worlds, and their applications."""

    name: str
    key: str | None
    auditor: str
    folders: tuple[Path, Path]
    apps: tuple[FastAPI, FastAPI]

    def both(self, addresses: list[str]) -> list[tuple[Answer, Answer]]:
        """What he is answered here and there."""
        here, there = (answers(app, addresses, self.key) for app in self.apps)
        return list(zip(here, there, strict=True))


@pytest.fixture(scope="package")
def pair_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pair]]:
    """The two worlds of one of `EYES`, by name."""
    home = tmp_path_factory.mktemp("leaks")
    first: Path | None = None
    keys: dict[str, str] = {}
    apps: list[FastAPI] = []

    @cache
    def made(name: str) -> Pair:
        nonlocal first, keys
        if first is None:
            first, keys = first_world(home / "one")
        other = second_world(home / name, first, EYES[name].viewer)
        pair = door(first), door(other)
        apps.extend(pair)
        return Pair(name, keys.get(name), keys["auditor"], (first, other), pair)

    yield made
    for app in apps:
        app.state.service.close()


@pytest.fixture(autouse=True)
def commitments_that_tell_no_world_from_another() -> Iterator[None]:
    """For a test of this folder and no longer: others in the same process open real ones."""
    with stubbed():
        yield


@pytest.fixture(params=list(EYES))
def pair(request: pytest.FixtureRequest, pair_of: Callable[[str], Pair]) -> Pair:
    return pair_of(request.param)


@pytest.fixture
def public(pair_of: Callable[[str], Pair]) -> Pair:
    return pair_of("public")

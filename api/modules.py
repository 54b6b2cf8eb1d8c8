"""Imports modules of ours for processes of ours: fast, and without pandas, which Arrow would load.

Whoever has pandas beside muckrake would wait for it at every command: Arrow loads it when its first
array is made, to know a series if it meets one. Here it asks while we import, and is told that
there is none. Whoever wants a data frame of Arrow later still gets it, and a process that was not
begun by us, or has pandas by then, is left as it is.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

PANDAS = "pandas"


class _NoPandas:
    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == PANDAS:
            raise ModuleNotFoundError(f"no module of muckrake imports {name}", name=name)


@contextmanager
def _without_pandas() -> Iterator[None]:
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def imported(name: str) -> ModuleType:
    """A module of ours, and all that it needs: they stay, so no collection need look at them."""
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        with _without_pandas():
            module = import_module(name)
            if arrow := sys.modules.get("pyarrow"):
                arrow.array([""])  # of a type that it finds out: then it asks all that it ever will
            return module
    finally:
        gc.freeze()
        gc.enable()


def begin(module: str, function: str, *arguments: Any) -> None:
    """What another process begins with: its module, imported so, and a function of it."""
    getattr(imported(module), function)(*arguments)

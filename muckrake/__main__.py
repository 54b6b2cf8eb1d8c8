"""`python -m muckrake` is the command line, and begins each process that a command spawns.

With pandas installed beside muckrake every command would wait for it: Arrow loads it for its first
array, to know a series if it meets one. So it makes one here as soon as it is imported, and is told
that there is no pandas. A data frame that a program wants of Arrow later is still made, and a
program that imports muckrake as a library has Arrow as it is.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

ARROW, PANDAS = "pyarrow", "pandas"


def main(words: list[str] | None = None) -> int:
    """Run one command."""
    from api.main import main as run  # a process that a command spawns does without

    return run(words)


class _ArrowAlone:
    """Finds Arrow once, and has it ask for pandas, which is not found meanwhile."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name == PANDAS and ARROW in sys.modules:
            raise ModuleNotFoundError(f"{ARROW} need not have {name}", name=name)
        spec = PathFinder.find_spec(name, path) if name == ARROW else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(arrow: ModuleType) -> None:
            try:
                load(arrow)
                arrow.array([""])  # of a type that it finds out: so it asks all that it ever will
            finally:
                sys.meta_path.remove(self)

        spec.loader.exec_module = exec_module  # type: ignore[assignment]
        return spec


if not {ARROW, PANDAS} & sys.modules.keys():
    sys.meta_path.insert(0, _ArrowAlone())

if __name__ == "__main__":
    sys.exit(main())

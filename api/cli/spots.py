"""How many spots are counted where counting one takes its time: some, evenly spread, or all."""

from collections.abc import Callable
from typing import Any

import click

Door = Callable[..., Any]


class Spots(click.ParamType[int | None]):
    """A number of them, or all."""

    name = "N|all"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        if value == "all":
            return None
        if not str(value).isdecimal():
            self.fail(f"{value} is no number of them: 0, 200 and all are", param, ctx)
        return int(value)


def spots_option(default: int, meaning: str, name: str = "--spots") -> Callable[[Door], Door]:
    """An option that takes such a number; `meaning` says of what."""
    return click.option(name, type=Spots(), default=str(default), show_default=True, help=meaning)

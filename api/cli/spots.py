"""How many spots are counted where counting one takes its time: some, evenly spread, or all."""

from typing import Any

import click


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

"""The SQL files, one question each, as texts; and several that are answered in one pass.

Every file reads `chosen` and nothing else. Those of the statistics are sums over it for each player
and part, and begin and end alike: so one SELECT can have the columns of them all.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

SQL = Path(__file__).parent / "sql"
HEAD = "SELECT\n  player,\n  part,\n"
FOOT = "\nFROM chosen\nGROUP BY player, part\n"


@cache
def text_of(file: str) -> str:
    """The SQL of one question."""
    return (SQL / f"{file}.sql").read_text("utf-8")


def together(files: Iterable[str]) -> str:
    """One SELECT with the columns of several files that are sums."""
    columns = []
    for file in files:
        _, head, rest = text_of(file).partition(HEAD)
        assert head, f"{file}.sql begins as no sum does"
        assert rest.endswith(FOOT), f"{file}.sql ends as no sum does"
        columns.append(rest.removesuffix(FOOT))
    return HEAD + ",\n".join(columns) + FOOT

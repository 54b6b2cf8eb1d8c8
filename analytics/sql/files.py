"""The SQL files, one question each, as texts; and the columns of those that are sums.

Every file reads `chosen` and nothing else. Those of the statistics are sums over it for each player
and part, and begin and end alike: so their columns can be taken out of them (`sums`).
"""

import re
from functools import cache
from pathlib import Path

SQL = Path(__file__).parent
HEAD = "SELECT\n  player,\n  part,\n"
FOOT = "\nFROM chosen\nGROUP BY player, part\n"
_PLUS = ") + sum("
_COLUMN = re.compile(r"\bsum\((?P<what>.*?)\) AS (?P<name>\w+)")


@cache
def text_of(file: str) -> str:
    """The SQL of one question."""
    return (SQL / f"{file}.sql").read_text("utf-8")


@cache
def columns_of(file: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The name of each column of a file that is sums, and what is added up in it."""
    _, head, rest = text_of(file).partition(HEAD)
    assert head, f"{file}.sql begins as no sum does"
    assert rest.endswith(FOOT), f"{file}.sql ends as no sum does"
    columns = " ".join(rest.removesuffix(FOOT).split()).replace("( ", "(").replace(" )", ")")
    found = tuple((it["name"], tuple(it["what"].split(_PLUS))) for it in _COLUMN.finditer(columns))
    assert len(found) == columns.count(" AS "), f"{file}.sql has a column that is no sum"
    return found

"""The SQL files, one question each, as texts; every file reads `chosen` and nothing else."""

from functools import cache
from pathlib import Path

SQL = Path(__file__).parent


@cache
def text_of(file: str) -> str:
    """The SQL of one question."""
    return (SQL / f"{file}.sql").read_text("utf-8")

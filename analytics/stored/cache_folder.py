"""The user's folder for what can be made again: equities and values of cards, counted once."""

import os
from pathlib import Path

VARIABLE = "MUCKRAKE_CACHE"


def cache_folder() -> Path:
    """`$MUCKRAKE_CACHE`, else a user's own."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "muckrake"

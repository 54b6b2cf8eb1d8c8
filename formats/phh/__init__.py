"""PHH, the poker hand history format: `.phh` holds one hand, `.phhs` many; in and out."""

from formats.phh.read import read, unit_of
from formats.phh.write import write, write_all

__all__ = ["read", "unit_of", "write", "write_all"]

"""PHH, the poker hand history format: `.phh` holds one hand, `.phhs` many; in and out."""

from formats.phh.read import read
from formats.phh.write import write, write_all

__all__ = ["read", "write", "write_all"]

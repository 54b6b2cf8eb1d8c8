"""Foreign text for a terminal: what would steer it, or turn its lines about, is spelled out.

A player may be called anything, and so may a file; nothing of it may look like an answer of ours.
"""

import re

_STEERS = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text on one line, its control characters as in a Python string."""
    return _STEERS.sub(lambda found: ascii(found[0])[1:-1], text)

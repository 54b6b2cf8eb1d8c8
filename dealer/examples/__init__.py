"""Two small bots that speak the MIT protocol, to be read, copied and played against."""

from pathlib import Path

STEADY = Path(__file__).parent / "steady"  # in Python
GRUFF = Path(__file__).parent / "gruff"  # in a shell

"""What a program asks of muckrake: deal a hand by its rules, write it down, have it judged; ask a
ledger about its players.

`import muckrake`, or `python -m muckrake` for the command line. A wheel has all rooms inside this
package: there `engine.games` is `muckrake.engine.games`.
"""

from typing import TYPE_CHECKING, Any

from engine.games import GAMES, RULESETS
from engine.hand import begin, step
from engine.turn import Bid, Call, Check, Deal, Fold, Raise
from engine.verdict import judge
from events.evolve import replay
from events.notation import read, say_all

if TYPE_CHECKING:
    from analytics.ask import ask

__all__ = [
    "GAMES",
    "RULESETS",
    "Bid",
    "Call",
    "Check",
    "Deal",
    "Fold",
    "Raise",
    "ask",
    "begin",
    "judge",
    "read",
    "replay",
    "say_all",
    "step",
]


def __getattr__(name: str) -> Any:
    """Only who asks a ledger waits for DuckDB and Arrow to be imported."""
    if name == "ask":
        from analytics.ask import ask

        return ask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

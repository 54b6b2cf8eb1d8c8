"""What a program asks of muckrake: deal a hand by its rules, write it down, have it judged.

`import muckrake`, or `python -m muckrake` for the command line. Statistics are asked of
`analytics.ask`, ledgers of `store.reader`.
"""

from engine.games import GAMES, RULESETS
from engine.hand import begin, step
from engine.turn import Bid, Call, Check, Deal, Fold, Raise
from engine.verdict import judge
from events.evolve import replay
from events.notation import read, say_all

__all__ = [
    "GAMES",
    "RULESETS",
    "Bid",
    "Call",
    "Check",
    "Deal",
    "Fold",
    "Raise",
    "begin",
    "judge",
    "read",
    "replay",
    "say_all",
    "step",
]

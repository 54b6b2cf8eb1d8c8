"""What a program asks of muckrake: deal a hand by its rules, write it down, have it judged; ask a
ledger about its hands and players; count what cards are worth.

`import muckrake`, or `python -m muckrake` for the command line. A wheel has all rooms inside this
package: there `engine.games` is `muckrake.engine.games`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine import __name__ as _engine

if TYPE_CHECKING:
    from analytics.statistics.answers import ask, snapshot_of
    from api.main import main
    from dealer.bots.seen import Seen
    from dealer.learning.batch import Batch
    from dealer.learning.hand import learned
    from engine.games import GAMES, RULESETS
    from engine.hand import begin, step
    from engine.turn import Bid, Call, Check, Deal, Fold, Raise, Toss
    from engine.verdict import judge
    from events.cards import cards
    from events.evolve import replay
    from events.notation import read, say_all
    from muckrake.ledgers import answer, record, sql
    from muckrake.playing import environment, play
    from odds.batch import equities
    from odds.ranges import hands_in, range_equity
    from odds.third_card import third_card, third_card_known

__all__ = [
    "GAMES",
    "RULESETS",
    "Batch",
    "Bid",
    "Call",
    "Check",
    "Deal",
    "Fold",
    "Raise",
    "Seen",
    "Toss",
    "answer",
    "ask",
    "begin",
    "cards",
    "environment",
    "equities",
    "hands_in",
    "judge",
    "learned",
    "main",
    "play",
    "range_equity",
    "read",
    "record",
    "replay",
    "say_all",
    "snapshot_of",
    "sql",
    "step",
    "third_card",
    "third_card_known",
]

# Imported when they are first used: somebody who deals a hand does not wait for DuckDB and Arrow,
# and the command line not for rules that it does not ask.
_LATER = {
    **dict.fromkeys(("GAMES", "RULESETS"), "engine.games"),
    **dict.fromkeys(("begin", "step"), "engine.hand"),
    **dict.fromkeys(("Bid", "Call", "Check", "Deal", "Fold", "Raise", "Toss"), "engine.turn"),
    "judge": "engine.verdict",
    "cards": "events.cards",
    "replay": "events.evolve",
    **dict.fromkeys(("read", "say_all"), "events.notation"),
    **dict.fromkeys(("ask", "snapshot_of"), "analytics.statistics.answers"),
    **dict.fromkeys(("answer", "record", "sql"), "ledgers"),
    **dict.fromkeys(("third_card", "third_card_known"), "odds.third_card"),
    "Batch": "dealer.learning.batch",
    "learned": "dealer.learning.hand",
    "Seen": "dealer.bots.seen",
    **dict.fromkeys(("hands_in", "range_equity"), "odds.ranges"),
    "equities": "odds.batch",
    "main": "api.main",
    **dict.fromkeys(("environment", "play"), "playing"),
}
_TOP = _engine.removesuffix("engine")  # where the rooms are: a wheel moves them


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = _LATER[name]
    found = getattr(import_module(f"{_TOP if '.' in place else f'{__name__}.'}{place}"), name)
    globals()[name] = found
    return found

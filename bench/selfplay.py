"""Built-in bots against themselves: whole hands dealt, shown to each seat, decided and recorded.

First beside the peers' engines, where everybody calls to the end, heads-up with blinds of 5 and 10
and stacks of 1000. Ours tells every bot what its seat may see, and its record is complete; theirs
call the engine straight. Then each bot alone in no-limit hold'em and in the auction game: bots of
exact equity count every new spot, and keep what they counted.
"""

from collections.abc import Callable

from msgspec.structs import replace

from bench.peers import installed
from bench.play import PASS, pokerkit, texasholdem
from bench.runner import SEED, Bench, Contender, Target
from dealer.bots.built_in import BOTS
from dealer.deck import SeededDecks
from dealer.play import Plan, hand_records
from engine.games import named
from events.types import Bet, Called, Checked, Folded, Raised

DECISIONS = (Bet, Called, Checked, Folded, Raised)


def benches() -> list[Bench]:
    """Callers everywhere, then every bot of ours in two games."""
    callers = [Contender("muckrake", selfplay("probability-standard", "caller"))]
    if installed("pokerkit"):
        callers.append(Contender("pokerkit", pokerkit(2, call), "pokerkit"))
    if installed("texasholdem"):
        callers.append(Contender("texasholdem", texasholdem(2, call), "texasholdem"))
    targets = (Target("pokerkit", 2.0, "aim"), Target("texasholdem", 1.0, "aim"))
    title = "Two callers, heads-up no-limit"
    return [
        Bench(title, "hand", "decision", tuple(callers), targets),
        _bots("Every bot against itself, heads-up no-limit", "probability-standard"),
        _bots("Every bot against itself, the auction game", "auction-2024"),
    ]


def _bots(title: str, game: str) -> Bench:
    contenders = tuple(Contender(name, selfplay(game, name)) for name in BOTS)
    return Bench(title, "hand", "decision", contenders)


def selfplay(game: str, bot: str) -> Callable[[int], int]:
    """So many hands more of one match, new stacks in each; the bots keep what they have counted."""
    rules = replace(named(game), stacks="reset", broke="set_anew")
    played = 0

    def run(hands: int) -> int:
        nonlocal played
        seed = f"{SEED}/{bot}/{played}"
        played += 1
        match = Plan(rules, "bench", hands, seed, (bot, bot))
        records = hand_records(match, SeededDecks(seed))
        return sum(isinstance(event, DECISIONS) for record in records for event in record)

    return run


def call(owes: bool, low: int | None, high: int | None) -> int:
    """Check, or call."""
    return PASS

"""The appeal court: recorded no-limit hands decided again, and read under every other reading.

No peer has anything like it, so the fold of the same records stands beside it: what is divided
is the cost of asking the rules again.
"""

from collections.abc import Callable
from itertools import cycle, islice

from bench.play import GAME, hands
from bench.replay import SAMPLE, folded
from bench.runner import Bench, Contender
from engine.audit import audit
from engine.games import named
from engine.verdict import judge
from events.types import Events


def benches() -> list[Bench]:
    """Heads-up and six-handed."""
    return [_bench("heads-up", 2), _bench("six-handed", 6)]


def _bench(table: str, seats: int) -> Bench:
    contenders = (
        Contender("judge", _each(seats, _judged)),
        Contender("audit", _each(seats, _audited)),
        Contender("fold", folded(seats)),
    )
    return Bench(f"Judge and audit, {table} no-limit", "hand", "event", contenders)


def _each(seats: int, ask: Callable[[Events], None]) -> Callable[[int], int]:
    records = hands(seats, SAMPLE)

    def run(count: int) -> int:
        events = 0
        for record in islice(cycle(records), count):
            ask(record)
            events += len(record)
        return events

    return run


def _judged(record: Events) -> None:
    assert judge(GAME, record, PARTNER).divergence is None


def _audited(record: Events) -> None:
    assert audit(GAME, record) is None


PARTNER = named("probability")

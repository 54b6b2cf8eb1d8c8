"""Replay of recorded no-limit hands: what a record adds up to, with no rules asked.

pokerkit's way is PHH text loaded and played through its state, which does ask its rules: that is
the only replay it has. Ours is the fold alone, from events in memory, and from canonical bytes.
Both end with everybody's stacks; the hands are those of the random play.
"""

from collections.abc import Callable
from itertools import cycle, islice

from bench.peers import installed
from bench.phh import phh
from bench.play import hands
from bench.runner import Bench, Contender, Target
from events.codec import decode_hand, encode_hand
from events.evolve import replay

SAMPLE = 200


def benches() -> list[Bench]:
    """Heads-up and six-handed."""
    return [_bench("heads-up", 2), _bench("six-handed", 6)]


def _bench(table: str, seats: int) -> Bench:
    contenders = [
        Contender("muckrake, fold", folded(seats)),
        Contender("muckrake, bytes and fold", from_bytes(seats)),
    ]
    if installed("pokerkit"):
        contenders.append(Contender("pokerkit, load and replay", pokerkit(seats), "pokerkit"))
    targets = (Target("pokerkit, load and replay", 8.0),)
    return Bench(f"Replay, {table} no-limit", "hand", "event", tuple(contenders), targets)


def folded(seats: int) -> Callable[[int], int]:
    """Events in memory to a hand."""
    records = hands(seats, SAMPLE)

    def run(count: int) -> int:
        events = 0
        for record in islice(cycle(records), count):
            replay(record)
            events += len(record)
        return events

    return run


def from_bytes(seats: int) -> Callable[[int], int]:
    """Canonical lines, each validated and compared with its canonical form, to a hand."""
    texts = [encode_hand(record) for record in hands(seats, SAMPLE)]

    def run(count: int) -> int:
        events = 0
        for text in islice(cycle(texts), count):
            record = decode_hand(text)
            replay(record)
            events += len(record)
        return events

    return run


def pokerkit(seats: int) -> Callable[[int], int]:
    """PHH text to pokerkit's final state; the units are our events of the same hands."""
    from pokerkit import HandHistory

    texts = [(phh(record), len(record)) for record in hands(seats, SAMPLE)]

    def run(count: int) -> int:
        events = 0
        for text, length in islice(cycle(texts), count):
            for _ in HandHistory.loads(text):
                pass
            events += length
        return events

    return run

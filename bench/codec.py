"""Events to canonical bytes and back, beside the JSON of the standard library.

Our decoding validates every field and refuses another spelling of the same event; `json` only
makes dictionaries, which it then writes in the same canonical form.
"""

import json

from bench.play import hands
from bench.runner import Bench, Contender, one_by_one
from events.codec import decode, encode

SAMPLE = 200


def benches() -> list[Bench]:
    """Out, and in."""
    events = [event for record in hands(6, SAMPLE) for event in record]
    lines = [encode(event) for event in events]
    found = [json.loads(line) for line in lines]
    return [
        Bench(
            "Events to canonical bytes",
            "event",
            "event",
            (
                Contender("muckrake", one_by_one(encode, events)),
                Contender("json", one_by_one(_spelled, found)),
            ),
        ),
        Bench(
            "Canonical bytes to events",
            "event",
            "event",
            (
                Contender("muckrake", one_by_one(decode, lines)),
                Contender("json", one_by_one(json.loads, lines)),
            ),
        ),
    ]


def _spelled(found: dict[str, object]) -> bytes:
    return json.dumps(found, sort_keys=True, separators=(",", ":")).encode()

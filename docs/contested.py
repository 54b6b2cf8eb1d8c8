"""How many of 2,000 random hands of each ruleset are contested: the table of docs/rules.md.

Two minutes of play are too long for every test of the documents, so which hands are contested, and
by which readings, is kept in `contested.json`. A quick test plays the first hundred hands of each
ruleset again, a slow one all of them; `./mr accept tests/test_docs_contested.py --slow` writes the
file anew.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from dealer.play import play, usual_seats
from engine.game import Game
from engine.games import GAMES
from engine.verdict import judge

HANDS = 2_000
SEED = "contested"
KEPT = Path(__file__).with_name("contested.json")
Contested = dict[int, tuple[str, ...]]  # by number of the hand: the entries that pay otherwise


def count(game: Game, hands: int) -> Contested:
    """The contested ones of so many hands between random bots, one match after the other."""
    partner = GAMES.get(game.partner or "")
    found = {}
    for number, record in enumerate(play(game, SEED, hands, SEED), 1):
        report = judge(game, record, partner)
        if report.verdict == "contested":
            found[number] = tuple(other.entry for other in report.readings)
    return found


def kept() -> dict[str, Contested]:
    """Every ruleset's, as they were counted last."""
    return msgspec.json.decode(KEPT.read_bytes(), type=dict[str, Contested])


def keep(counted: Mapping[str, Contested]) -> None:
    """For the next time; a ruleset a line."""
    rows = [f"{_json(name)}: {_json(counted[name])}" for name in GAMES if name in counted]
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def contested() -> str:
    """Each ruleset with its contested hands, and how many of them each reading pays otherwise."""
    lines = [
        f"| ruleset | seats | of {HANDS:,} hands contested | by which reading |",
        "|---|---|---|---|",
    ]
    for name, found in kept().items():
        entries = Counter(entry for these in found.values() for entry in these)
        said = ", ".join(f"{entry} {times}" for entry, times in entries.most_common())
        lines.append(f"| `{name}` | {usual_seats(GAMES[name])} | {len(found)} | {said or '-'} |")
    return "\n".join(lines)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()

"""Random hands of every ruleset, to each log: read back they have the same nets, or are refused."""

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.game import Game
from engine.games import RULESETS
from engine.policies import per_chip
from events import types as t
from events.evolve import replay
from events.types import Events
from formats.acpc.read import read as read_acpc
from formats.hand_records import hand_record
from formats.mit.read import read as read_gamelog
from formats.ohh.read import read as read_ohh
from formats.phh.read import read as read_phh
from formats.pokerstars.read import read as read_pokerstars
from formats.source import Skipped, SourceFile, SourceHand
from tests.exports import exported, ledger_of, start_of
from tests.hands import seeded, some_rulesets
from tests.profiles import sized

HANDS = sized(6, 20)
READERS: dict[str, Callable[[str], SourceFile]] = {
    "phh": read_phh,
    "acpc": read_acpc,
    "ohh": read_ohh,
    "pokerstars": read_pokerstars,
}


def _walked(game: Game) -> tuple[Events, ...]:
    """Hands full of mishaps, each by a seed of its own; replies that failed only in every fifth."""
    records = []
    for number in range(1, HANDS + 1):
        start, *rest = seeded(game, f"log {number}").record
        assert isinstance(start, t.HandStarted)
        if number % 5:
            rest = [event for event in rest if not isinstance(event, t.Faulted)]
        records.append((replace(start, hand=f"m/{number}"), *rest))
    return tuple(records)


def _chips(record: Events, unit: str) -> Counter[Fraction]:
    """What the seats won and lost, in chips."""
    hand, per = replay(record), per_chip(unit)
    both = zip(hand.stacks, start_of(record).stacks, strict=True)
    return Counter(Fraction(after - before, per) for after, before in both)


def _read_back(source: SourceFile) -> list[Counter[Fraction]]:
    told = list(source.hands)
    assert not [one for one in told if isinstance(one, Skipped)]
    return [
        _chips(hand_record(hand, "m/1"), hand.game.unit)
        for hand in told
        if isinstance(hand, SourceHand)
    ]


@some_rulesets
@pytest.mark.parametrize("to", READERS)
@pytest.mark.parametrize("view", ["auditor", "public"])
def test_a_random_hand_comes_back_or_is_refused_by_name(
    game: Game, to: str, view: str, tmp_path: Path
) -> None:
    if (to, view) == ("acpc", "public"):
        return  # refused from there, whatever the hand: tests/test_cli_export_views.py
    records = _walked(game)
    snapshot = ledger_of(tmp_path, records)
    refused = []
    for record in records:
        name = start_of(record).hand
        text = exported(snapshot, to, view, names=(name,), games=(game,)).decode()
        if text.startswith(f"{name}: "):
            refused.append(text)
        else:
            assert [_chips(record, game.unit)] == _read_back(READERS[to](text)), text
    if to == "phh":  # what acpc can say at such tables is little: tests/test_cli_export_logs.py
        assert len(refused) < HANDS or all(" has no code for " in text for text in refused)


@pytest.mark.parametrize("seed", range(sized(1, 6)))
@pytest.mark.parametrize("name", ["auction-2024", "auction-2024-mit", "swap-2022", "swap-2022-mit"])
def test_a_match_with_bad_replies_comes_back_as_a_gamelog(
    name: str, seed: int, tmp_path: Path
) -> None:
    """Stacks as the engine has them, players who deal in turn, replies that fail."""
    game, chance = RULESETS[name], random.Random(f"{name} {seed}")
    records = tuple(_faulty(record, chance) for record in play(game, "m", 25, f"bad {seed}"))
    text = exported(ledger_of(tmp_path, records), "mit-gamelog", names=("m",))
    assert [_chips(record, "chip") for record in records] == _read_back(read_gamelog(text))


def _faulty(record: Events, chance: random.Random) -> Events:
    """Now and then a reply that failed before the check that stands for it, or after the end."""
    world: list[t.Event] = []
    for event in record:
        if isinstance(event, t.Checked) and chance.random() < 0.3:
            raw, kind = chance.choice((("R9999", "illegal"), ("", "malformed"), ("x", "malformed")))
            world.append(t.Faulted(event.seat, raw, kind, "action"))  # type: ignore[arg-type]
            event = replace(event, origin="default")
        world.append(event)
    if chance.random() < 0.3:
        world.append(t.Faulted(chance.randrange(2), "k", "malformed", "acknowledgement"))
    return tuple(world)

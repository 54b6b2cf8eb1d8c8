"""Whether what was dealt is as chance alone would have dealt it: a family of tests, for an auditor.

Every hand is read whole, so it takes its time: 10,000 hands need some seconds. Decks that
were dealt mirrored, or from a seed that came before, are told apart first.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from analytics.auctions.sniffing import pairs
from analytics.fairness import dealing as fairness
from analytics.fairness.cards import dealt
from analytics.fairness.dealing import Test
from analytics.luck.equities_kept import equities_in
from analytics.replay.rulebook import Rulebook
from analytics.stored.auctions import AUCTIONS
from analytics.stored.cache_folder import cache_folder
from analytics.stored.closed_betting import Closed
from analytics.stored.equity import lucks
from analytics.stored.played import played
from analytics.stored.risks import risks
from analytics.stored.row_head import Row
from api.evidence.dealt import Dealt
from api.viewpoints.progress import ShowProgress, without_progress
from api.viewpoints.selection import Absent, Wanted
from api.viewpoints.selection import leaves as read
from events.ledger import is_match
from events.types import MatchStarted
from store.log.leaf import Leaf, split
from store.proof.private import Private
from store.reader import Snapshot


def repeated(ledger: Snapshot) -> set[str]:
    """Matches dealt from a seed that an earlier one had: no shuffles of their own."""
    seeds: set[str] = set()
    found = set()
    for match in ledger.matches():
        for one in ledger.read(match):
            if isinstance(one.event, MatchStarted) and one.event.dealing == "seeded":
                seed = one.event.seed or match
                if seed in seeds:
                    found.add(match)
                seeds.add(seed)
    return found


def deals(ledger: Snapshot) -> dict[str, int]:
    """In how many hands in a row each match deals the same deck: more than one is mirrored."""
    found = {}
    for match in ledger.matches():
        for one in ledger.read(match):
            if isinstance(one.event, MatchStarted):
                found[match] = one.event.deals
    return found


RUNOUTS = 2_000  # hands closed with cards to come, evenly spread, whose equity is counted


class Fair(NamedTuple):
    """The tests, how hands were dealt, what had to be left out, and which decks are wrong."""

    hands: int
    tests: list[Test]
    dealing: dict[str, int]
    left_out: dict[str, int]
    repeated: tuple[str, ...]
    decks: dict[str, Any]

    @property
    def failed(self) -> list[Test]:
        """Those that chance would not explain."""
        return [one for one in self.tests if one.verdict == "NOT CHANCE"]


def dealt_fairly(
    ledger: Snapshot, folder: Path, match: str | None = None, watch: ShowProgress = without_progress
) -> Fair:
    """All hands of the ledger, or of one match; a deck that was dealt twice counts once."""
    if match is not None and next(ledger.hands(match), None) is None:
        raise Absent(f"there is no match {match}: muckrake matches lists those there are")
    total = ledger.next_seq
    every = watch(read(ledger, Wanted(match)), "reading hands", total)
    leaves = [leaf for leaf in every if not is_match(leaf.stream)]
    if not leaves:
        raise Absent("no hand was played here")
    again = repeated(ledger) if match is None else set()
    fresh = [leaf for leaf in leaves if split(leaf.stream)[0] not in again]
    tests, left_out = _tests(ledger, fresh, watch)
    decks, dealing = _decks(ledger, folder, leaves), _dealing(ledger, leaves)
    return Fair(len(leaves), tests, dealing, left_out, tuple(sorted(again)), decks)


def document(found: Fair) -> dict[str, Any]:
    """As plain values."""
    return {
        "hands": found.hands,
        "dealing": found.dealing,
        "left_out": found.left_out,
        "repeated": list(found.repeated),
        "decks": found.decks,
        "tests": rows(found),
    }


def rows(found: Fair) -> list[dict[str, Any]]:
    """A row a test."""
    return [{**msgspec.to_builtins(one), "verdict": one.verdict} for one in found.tests]


def _tests(
    ledger: Snapshot, leaves: Sequence[Leaf], watch: ShowProgress
) -> tuple[list[Test], dict[str, int]]:
    """Every test of the family."""
    found = dealt(leaves, deals(ledger))
    every = [
        *fairness.of_cards(found.deals),
        fairness.of_run_outs(_run_outs(ledger, leaves, watch)),
        *fairness.of_swaps(risks(ledger.ruleset).build(leaves).to_pylist()),
        *fairness.of_bids(pairs(AUCTIONS.build(leaves))),
    ]
    return fairness.judged(every), found.left_out


def _run_outs(ledger: Snapshot, leaves: Sequence[Leaf], watch: ShowProgress) -> Iterator[Row]:
    """What some hands that closed with cards to come were worth when they did."""
    table = played(ledger.ruleset).build(leaves)
    rows = table.filter(table["may_close"]).to_pylist()
    shut = [list(group) for _, group in groupby(rows, itemgetter("hand_seq"))]
    count = min(RUNOUTS, len(shut))
    some = [shut[at * len(shut) // count] for at in range(count)]
    rules, known = Rulebook(ledger.ruleset), equities_in(cache_folder())
    for hand in watch(some, "counting run-outs", count):
        first = hand[0] | {"hand": f"{hand[0]['match']}/{hand[0]['number']}"}
        if first["spot"] is not None:
            spot = msgspec.json.decode(first["spot"], type=Closed)
            for row, luck in zip(hand, lucks(first, spot, rules, known.worth), strict=False):
                yield row | luck


def _decks(ledger: Snapshot, folder: Path, leaves: Sequence[Leaf]) -> dict[str, Any]:
    """Hands beside the decks that were committed to: all must be what was dealt."""
    beside = Dealt(ledger, Private(folder))
    told = [(leaf.stream, beside.wrong(leaf)) for leaf in leaves]
    found = [f"{hand}: {sentence}" for hand, sentence in told if sentence]
    return {"checked": beside.checked + len(found), "wrong": found}


def _dealing(ledger: Snapshot, leaves: Sequence[Leaf]) -> dict[str, int]:
    """How many hands were dealt how: from a seed, from committed decks, or somewhere else."""
    hands = Counter(split(leaf.stream)[0] for leaf in leaves)
    how: Counter[str] = Counter()
    for match, count in hands.items():
        told = (one.event for one in ledger.read(match))
        kind = next((it.dealing for it in told if isinstance(it, MatchStarted)), "not told")
        how[kind] += count
    return dict(sorted(how.items()))

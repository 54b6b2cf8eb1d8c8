"""`muckrake fairness`: cards, swaps, bids and decks beside what chance alone would do."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import auditor_only, json_option, ledger_option, reading, view_option
from api.cli.output import NotFound, document, note, progress, wrong
from api.cli.tables import Cell, drawn

if TYPE_CHECKING:
    from analytics.fairness import Test
    from store.leaf import Leaf
    from store.reader import Snapshot


@click.command()
@click.option("--match", metavar="MATCH", help="Only this match's hands.")
@click.option("--csv", "csv", type=click.Path(dir_okay=False, path_type=Path), help="Into a file.")
@click.option(
    "--parquet", type=click.Path(dir_okay=False, path_type=Path), help="Into a Parquet file."
)
@view_option
@ledger_option
@json_option
def fairness(
    match: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Test what was dealt; one test a row, judged together. Exit code 3 if one fails."""
    auditor_only(view, "fairness")
    with reading(folder) as ledger:
        from api.sighted import hands, repeated
        from store.leaf import split

        leaves = list(hands(ledger, view, match))
        if not leaves:
            raise NotFound("no hand was played here")
        again = repeated(ledger) if match is None else set()
        fresh = [leaf for leaf in leaves if split(leaf.stream)[0] not in again]
        tests, left_out = _tests(ledger, fresh)
        decks = _decks(ledger, folder, leaves)
        dealing = _dealing(ledger, leaves)
    if csv or parquet:
        from api.cli.players import written

        written([_plain(one) for one in tests], csv, parquet)
    elif as_document:
        document(
            "muckrake.fairness/1",
            hands=len(leaves),
            dealing=dealing,
            left_out=left_out,
            repeated=sorted(again),
            decks=decks,
            tests=[_plain(one) for one in tests],
        )
    else:
        _drawn(tests, len(leaves), dealing, left_out, decks, again)
    failed = [one for one in tests if one.verdict == "NOT CHANCE"]
    if failed or decks["wrong"]:
        names = ", ".join(f"{one.name} ({one.about})" for one in failed)
        decks_told = ", ".join(decks["wrong"][:3])
        wrong(f"not as chance would have it: {', '.join(filter(None, (names, decks_told)))}")


def _tests(ledger: "Snapshot", leaves: "Sequence[Leaf]") -> "tuple[list[Test], dict[str, int]]":
    """Every test of the family."""
    from analytics import bids_rows, fairness, luck_rows, swaps_rows
    from analytics.bids_sniffing import pairs
    from analytics.fairness_cards import dealt
    from analytics.luck_rules import Rulebook
    from api.sighted import deals

    rules, times = Rulebook(ledger.ruleset), deals(ledger)
    found = dealt(leaves, times)
    bids: list[Any] = []
    played: list[Any] = []
    risks: list[Any] = []
    for leaf in progress(leaves, "counting run-outs", len(leaves)):
        bids += bids_rows.rows_of(leaf)
        risks += swaps_rows.rows_of(leaf, rules)
        played += luck_rows.rows_of(leaf, rules, times)
    every = [
        *fairness.of_cards(found.deals),
        fairness.of_run_outs(played),
        *fairness.of_swaps(risks),
        *fairness.of_bids(pairs(bids)),
    ]
    return fairness.judged(every), found.left_out


def _decks(ledger: "Snapshot", folder: Path, leaves: "Sequence[Leaf]") -> dict[str, Any]:
    """Hands beside the decks that were committed to: all must be what was dealt."""
    from api.evidence.dealt import Dealt
    from store.private import Private

    beside = Dealt(ledger, Private(folder))
    told = [(leaf.stream, beside.wrong(leaf)) for leaf in leaves]
    found = [f"{hand}: {sentence}" for hand, sentence in told if sentence]
    return {"checked": beside.checked + len(found), "wrong": found}


def _dealing(ledger: "Snapshot", leaves: "Sequence[Leaf]") -> dict[str, int]:
    """How many hands were dealt how: from a seed, from committed decks, or somewhere else."""
    from events.types import MatchStarted
    from store.leaf import split

    hands = Counter(split(leaf.stream)[0] for leaf in leaves)
    how: Counter[str] = Counter()
    for match, count in hands.items():
        told = (one.event for one in ledger.read(match))
        kind = next((it.dealing for it in told if isinstance(it, MatchStarted)), "not told")
        how[kind] += count
    return dict(sorted(how.items()))


def _plain(test: "Test") -> dict[str, Any]:
    import msgspec

    return {**msgspec.to_builtins(test), "verdict": test.verdict}


def _drawn(
    tests: "Sequence[Test]",
    hands: int,
    dealing: dict[str, int],
    left_out: dict[str, int],
    decks: dict[str, Any],
    again: set[str],
) -> None:
    """A line a test, and what may not be concluded."""
    lines = []
    for one in tests:
        freedom = "" if one.freedom is None else f" ({one.freedom})"
        cells = (
            one.name,
            one.about,
            f"{one.n:,}",
            "" if one.statistic is None else f"{one.statistic:.3g}{freedom}",
            "" if one.p is None else f"{one.p:.3g}",
            "" if one.counted is None else f"{one.counted:.3g}",
            "" if one.effect is None else f"{one.effect:.3g} {one.unit}",
            one.verdict,
        )
        lines.append(tuple(Cell(text, few=one.p is None) for text in cells))
    how = ", ".join(f"{count:,} {kind}" for kind, count in dealing.items())
    columns = ("test", "of", "n", "statistic", "p", "p of all", "would see", "")
    made = sum(one.p is not None for one in tests)
    foot = f"{made} tests judged together (Holm, 1 %); seen four times in five: `would see`"
    drawn(columns, lines, right=(2, 3, 4, 5), head=f"{hands:,} hands: {how}", foot=foot)
    if decks["checked"]:
        right = decks["checked"] - len(decks["wrong"])
        note(f"committed decks: {right} of {decks['checked']} hands are what was committed to")
    for kind, count in left_out.items():
        note(f"{count} matches without all {kind} cards: left out of tests of those")
    if again:
        note(f"left out, dealt from a seed that another match had: {', '.join(sorted(again))}")
    if dealing.get("seeded"):
        note("seeded decks are a simulation: whatever stands here, it is no claim of fairness")

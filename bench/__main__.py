"""`python -m bench [NAME...]`: measure, print the tables, and with --write keep them."""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import repeat

from bench import (
    archive,
    batch,
    codec,
    imports,
    judge,
    leagues,
    learners,
    ledger,
    ledger_large,
    match_cost,
    play,
    rank,
    replay,
    screen,
    selfplay,
    serve_answers,
    serve_hands,
    serve_pages,
    serve_players,
    serve_sql,
    serve_stream,
    spark,
    start,
    statistics,
    trust,
    wire,
)
from bench.peers import label
from bench.runner import measure, table

BENCHES = {
    "play": play,
    "replay": replay,
    "judge": judge,
    "rank": rank,
    "batch": batch,
    "screen": screen,
    "selfplay": selfplay,
    "learners": learners,
    "codec": codec,
    "trust": trust,
}
LEDGERS = {
    "ledger": ledger,
    "ledger-large": ledger_large,
    "imports": imports,
    "leagues": leagues,
    "match-cost": match_cost,
    "statistics": statistics,
    "wire": wire,
    "serve-answers": serve_answers,
    "serve-hands": serve_hands,
    "serve-pages": serve_pages,
    "serve-players": serve_players,
    "serve-sql": serve_sql,
    "serve-stream": serve_stream,
    "archive": archive,
    "spark": spark,
    "start": start,
}
USUAL = (*BENCHES, "ledger", "imports", "wire")
RESULTS = Path(__file__).parent / "results"


def main(words: Sequence[str]) -> int:
    asked = _asked(words)
    for name in asked.names or USUAL:
        page = report(name, asked.rounds, asked.seconds, asked.hands, asked.folder)
        print(page)
        if asked.write:
            (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    return 0


def report(
    name: str, rounds: int, seconds: float, hands: int | None = None, folder: Path | None = None
) -> str:
    """One page: what is measured, on what, and a table for each bench of this name."""
    if name in LEDGERS:
        return _report_on_disk(name, rounds, seconds, hands or LEDGERS[name].HANDS, folder)
    lines = _head(name, BENCHES[name].__doc__)
    for bench in BENCHES[name].benches():
        names = {contender.name: label(contender) for contender in bench.contenders}
        lines += [table(bench, measure(bench, rounds, seconds), names), ""]
    lines.append(
        f"Medians of {rounds} rounds of {seconds:g} s of process CPU time for each in turn, one"
        " thread; in brackets the smallest and largest ratio of a round."
    )
    return "\n".join(lines) + "\n"


def _report_on_disk(name: str, rounds: int, seconds: float, hands: int, folder: Path | None) -> str:
    """The same, for what is written to a disk and is large: files go where `TMPDIR` says, or stay
    in a folder, where a large ledger is measured again."""
    rounds = min(rounds, getattr(LEDGERS[name], "MOST", rounds))
    made = TemporaryDirectory(prefix="muckrake-bench-") if folder is None else nullcontext(folder)
    with made as scratch:
        sections = LEDGERS[name].sections(Path(scratch), hands, rounds, seconds)
    return "\n".join(
        [
            *_head(name, LEDGERS[name].__doc__),
            *sections,
            f"Medians of {rounds} rounds on the wall where there are ratios.",
            "",
        ]
    )


def _head(name: str, about: str | None) -> list[str]:
    return [f"# {name}", "", (about or "").strip(), "", _machine(), ""]


def _machine() -> str:
    """What it is, and how fast an empty loop is there: files of two machines can be told apart."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    turns = 1_000_000
    took = min(repeat(f"for _ in range({turns}): pass", number=1, repeat=7))
    loop = f"An empty loop turns {turns / took / 1e6:.0f} million times a second"
    return f"{python}, {os.cpu_count()} cores. {loop}."


def _asked(words: Sequence[str]) -> argparse.Namespace:
    names = [*BENCHES, *LEDGERS]
    parser = argparse.ArgumentParser(prog="./mr bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--write", action="store_true", help="rewrite bench/results/NAME.md")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each, a round")
    parser.add_argument("--folder", type=Path, help="where a ledger is made, and stays")
    parser.add_argument("--hands", type=int, help="how many a ledger is measured with")
    asked = parser.parse_args(words)
    for name in asked.names:
        if name not in names:
            parser.error(f"no bench is called {name}: there are {', '.join(names)}")
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

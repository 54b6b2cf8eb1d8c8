"""`python -m bench [NAME...]`: measure, print the tables, and with --write keep them."""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import codec, judge, play, rank, replay
from bench.peers import label
from bench.runner import measure, table

BENCHES = {"play": play, "replay": replay, "judge": judge, "rank": rank, "codec": codec}
RESULTS = Path(__file__).parent / "results"


def main(words: Sequence[str]) -> int:
    asked = _asked(words)
    for name in asked.names or BENCHES:
        page = report(name, asked.rounds, asked.seconds)
        print(page)
        if asked.write:
            (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    return 0


def report(name: str, rounds: int, seconds: float) -> str:
    """One page: what is measured, on what, and a table for each bench of this name."""
    lines = [f"# {name}", "", (BENCHES[name].__doc__ or "").strip(), "", _machine(), ""]
    for bench in BENCHES[name].benches():
        names = {contender.name: label(contender) for contender in bench.contenders}
        lines += [table(bench, measure(bench, rounds, seconds), names), ""]
    lines.append(
        f"Medians of {rounds} rounds of {seconds:g} s of process CPU time for each in turn, one"
        " thread; in brackets the smallest and largest ratio of a round."
    )
    return "\n".join(lines) + "\n"


def _machine() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {os.cpu_count()} cores."


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./mr bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--write", action="store_true", help="rewrite bench/results/NAME.md")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU seconds of each, a round")
    asked = parser.parse_args(words)
    for name in asked.names:
        if name not in BENCHES:
            parser.error(f"no bench is called {name}: there are {', '.join(BENCHES)}")
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

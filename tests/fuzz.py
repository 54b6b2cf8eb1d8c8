"""Random hands against the laws until time or hands run out: `./mr fuzz --seed S --hands N`.

It plays every ruleset in turn, prints the first hand that breaks a law in notation, and the words
that play just this hand again.
"""

import argparse
import random
import sys
import time
import traceback

from tests.hands import RULESETS, Played, seeded
from tests.laws import LAWS


def main(words: list[str] | None = None) -> int:
    """0 if every law held, 1 at the first that did not."""
    wanted = _parser().parse_args(words)
    if wanted.power_losses:
        return _lose_power(wanted.power_losses, wanted.seed, wanted.only)
    if wanted.spoilt:
        return _spoil(wanted.spoilt, wanted.seed, wanted.only)
    seed = wanted.seed if wanted.seed is not None else str(random.SystemRandom().randrange(10**9))
    games = [wanted.game] if wanted.game else list(RULESETS)
    numbers = [wanted.only] if wanted.only is not None else range(wanted.hands)
    print(f"seed {seed}: {len(numbers)} hands of each of {len(games)} rulesets", file=sys.stderr)
    since, events = time.perf_counter(), 0
    for number in numbers:
        for name in games:
            broken, length = try_hand(name, f"{seed}/{number}")
            events += length
            if broken:
                print(f"{broken}\nagain: ./mr fuzz --seed {seed} --game {name} --only {number}")
                return 1
    took = time.perf_counter() - since
    hands = len(numbers) * len(games)
    print(f"{hands} hands, {events} events, {len(LAWS)} laws: none broken in {took:.1f} s")
    return 0


def try_hand(name: str, seed: str) -> tuple[str | None, int]:
    """What the first broken law has to say, if any; and how many events the hand had."""
    played: Played | None = None
    broken = "no hand could be played"
    try:
        played = seeded(RULESETS[name], seed)
        for law in LAWS:
            broken = f"{law.__name__.replace('_', ' ')}: {law.__doc__}"
            law(played)
    except Exception:  # whatever goes wrong, the hand and its seed are what helps
        told = repr(played) if played else ""
        return f"{name}: {broken}\n{told}\n{traceback.format_exc()}", 0
    return None, len(played.record)


def _lose_power(trials: int, seed: str | None, only: int | None) -> int:
    """So many random writers of a ledger on disks that fail them; see tests/store/power_trials."""
    from tests.store.cheap_segments import cheap_segments
    from tests.store.power_trials import trial

    seed = seed if seed is not None else str(random.SystemRandom().randrange(10**9))
    print(f"seed {seed}: {trials} writers lose power", file=sys.stderr)
    since, crashes = time.perf_counter(), 0
    for number in [only] if only is not None else range(trials):
        try:
            with cheap_segments():
                crashes += trial(f"{seed}/{number}")
        except Exception:  # whatever goes wrong, the seed is what helps
            words = f"--seed {seed} --power-losses 1 --only {number}"
            print(f"{traceback.format_exc()}\nagain: ./mr fuzz {words}")
            return 1
    took = time.perf_counter() - since
    print(f"{trials} writers, {crashes} crashes: nothing acknowledged was lost in {took:.1f} s")
    return 0


def _spoil(trials: int, seed: str | None, only: int | None) -> int:
    """So many spoilt files for every reader of a format; see tests/formats/spoilt.py."""
    from tests.formats.spoilt import TARGETS, trial

    seed = seed if seed is not None else str(random.SystemRandom().randrange(10**9))
    print(f"seed {seed}: {trials} spoilt files for each of {len(TARGETS)} readers", file=sys.stderr)
    since, told = time.perf_counter(), 0
    for number in [only] if only is not None else range(trials):
        for name in TARGETS:
            try:
                told += trial(name, f"{seed}/{number}")
            except Exception:  # whatever goes wrong, the seed is what helps
                words = f"--seed {seed} --spoilt 1 --only {number}"
                print(f"{name}: {traceback.format_exc()}\nagain: ./mr fuzz {words}")
                return 1
    took = time.perf_counter() - since
    files = (1 if only is not None else trials) * len(TARGETS)
    print(f"{files} spoilt files, {told} hands told: all else was refused in {took:.1f} s")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mr fuzz", description="random hands against the laws")
    parser.add_argument("--seed", help="replay a run; without it, one is drawn and printed")
    parser.add_argument("--hands", type=int, default=200, help="hands of each ruleset (200)")
    parser.add_argument("--game", choices=list(RULESETS), help="only this ruleset")
    parser.add_argument(
        "--power-losses", type=int, metavar="N", help="instead: N writers of a ledger lose power"
    )
    parser.add_argument(
        "--spoilt", type=int, metavar="N", help="instead: N spoilt files for every reader"
    )
    parser.add_argument("--only", type=int, metavar="N", help="only the Nth hand, writer or file")
    return parser


if __name__ == "__main__":
    sys.exit(main())

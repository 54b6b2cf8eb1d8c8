"""`muckrake demo`: play every ruleset, keep, replay and judge every hand; say what that proved.

It ends with a disputed pot, its evidence, and how to look at all of it.
"""

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

import click
import msgspec

from api.cli.demo_hands import (
    DISPUTED,
    SPOKEN,
    DemoFailed,
    Evidence,
    KeptLedger,
    Occupied,
    Shown,
    Tally,
    Undisputed,
    shown,
)
from api.cli.ledger import Place, json_option, refuse_archive
from api.cli.options import quiet_option, rules_of, rules_options, settings_of
from api.cli.output import document, note, progress, say, wrong
from api.printable import page
from api.report import aligned, as_json, as_text
from engine.changes import as_far
from engine.game import Game
from engine.games import GAMES
from engine.parameters import Impossible


@click.command()
@click.option(
    "--hands", metavar="N", type=click.IntRange(min=1), default=100, show_default=True, help="Each."
)
@click.option(
    "--seed", metavar="SEED", default="1", show_default=True, help="Decides every card and choice."
)
@rules_options()
@click.option(
    "--ledger",
    "folder",
    type=Place(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to keep it: a new folder, or an earlier demo's; else one in your cache folder.",
)
@json_option
@quiet_option
def demo(
    hands: int,
    seed: str,
    rules: str | None,
    settings: tuple[str, ...],
    folder: Path | None,
    as_document: bool,
) -> None:
    """Play seeded hands of every ruleset, keep, replay and judge each; show a contested one.

    A --ruleset is played besides; --set changes every ruleset that has such a parameter. A
    freeze-out is played with broke=set_anew, so that it has as many hands as the others.
    """
    if folder is not None:
        refuse_archive(folder)
    more = [] if rules is None else [rules_of(None, rules, ())]
    meant = _changed([*GAMES.values(), *more], settings)
    games = progress(meant, "playing, judging and keeping every ruleset", len(meant))
    try:
        result = shown(games, hands, seed, folder, note)
    except (Occupied, Undisputed) as reason:
        raise click.ClickException(str(reason)) from None
    except DemoFailed as failure:
        if failure.record:
            say(failure.record, err=True)
        wrong(str(failure))
    if as_document:
        example = as_json(result.disputed, result.game, result.report)
        example["events"] = msgspec.to_builtins(result.disputed)
        document(
            "muckrake.demo/1",
            seed=seed,
            rulesets=[tally._asdict() for tally in result.tallies],
            wire=result.wire._asdict(),
            ledger=result.kept._asdict(),
            example=example,
            evidence=result.evidence._asdict(),
        )
        return
    rows = [list(Tally._fields), *([str(field) for field in tally] for tally in result.tallies)]
    say(page(aligned(rows, numbers=range(1, len(rows[0])))))
    say(page(_ledger_lines(result, seed)))
    say(as_text(result.game, result.disputed, result.report))
    say(page(_evidence_lines(result.evidence, result.kept)))


def _changed(games: list[Game], settings: tuple[str, ...]) -> list[Game]:
    """Every ruleset with the settings that it has parameters for; each must fit one at least."""
    wanted = settings_of(settings)
    try:
        tried = [as_far(game, wanted) for game in games]
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None
    for name in wanted:
        if all(name in refused for _, refused in tried):
            why = tried[-1][1][name]
            raise click.UsageError(f"no ruleset that is played could be changed so: {why}")
    return [game for game, _ in tried]


def _ledger_lines(result: Shown, seed: str) -> list[str]:
    """What the two processes did, or why one of them did not; what was written, and looked at."""
    wire, kept, tallies = result.wire, result.kept, result.tallies
    nets = ", ".join(f"{name} {net:+d}" for name, net in zip(wire.players, wire.nets, strict=True))
    hands, events = sum(tally.hands for tally in tallies), sum(tally.events for tally in tallies)
    each = kept.segment_bytes // kept.hands
    return [
        "",
        f"Two programs, one in Python and one in a shell, played {wire.hands} hands of {SPOKEN}",
        f"by the protocol of MIT Pokerbots, {wire.replies} replies: {nets}.",
        *(f"One did not play to the end. {sentence}." for sentence in wire.trouble),
        "",
        f"{hands:,} hands and {events:,} events (seed {seed}). Each record was written as bytes",
        "and as notation and read back the same, replayed with no chip made or lost, and",
        "decided again by its ruleset.",
        f"All were appended to a ledger on disk and sealed, {each} bytes a hand; read from its",
        "files, every hand was the same to the byte.",
        "None differed. Contested means that another reading of the rules pays differently;",
        f"this is the first such hand of {DISPUTED}:",
        "",
    ]


def _evidence_lines(evidence: Evidence, kept: KeptLedger) -> list[str]:
    """What can be given to somebody who trusts nobody, and where to look."""
    return [
        "",
        f"Its evidence is in {evidence.file}. The verify.py in it, run by a",
        "Python with nothing else, says:",
        *(f"  {line}" for line in evidence.lines),
        "",
        "Look at all of it:",
        f"  {_program()} serve --ledger {shlex.quote(kept.folder)} --web",
        "and then at this pot:",
        f"  /hands/{evidence.hand}/audit",
    ]


def _program() -> str:
    """How this reader starts us again: the checkout's `mr`, the command by its name where that is
    on PATH and leads here (`uvx` puts it there for one run only), else a path."""
    mr = Path(__file__).parents[2] / "mr"
    if mr.exists():
        return "./mr" if mr.parent == Path.cwd() else shlex.quote(str(mr))
    installed = shutil.which("muckrake", path=sysconfig.get_path("scripts"))
    if installed is None:
        return f"{shlex.quote(sys.executable)} -m muckrake"
    command = shutil.which("muckrake")
    if command and Path(command).samefile(installed) and "UV" not in os.environ:
        return "muckrake"
    return shlex.quote(installed)

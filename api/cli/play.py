"""`muckrake play`: matches between our own bots, written into the ledger."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from api.cli import completion
from api.cli.ledger import json_option, ledger_option, witness_option, writing
from api.cli.options import (
    Option,
    disclosure_option,
    quiet_option,
    rules_of,
    rules_options,
    tag_records,
    tags_option,
)
from api.cli.output import (
    INTERRUPTED,
    errors_as,
    note,
    print_json,
    progress,
    progress_bar,
    say,
    stop_flag,
)
from api.jobs.requests import ENDLESS, THINK_MS, dealing_of, match_plans, stage_of
from api.playing.matches import (
    SEEDED_BOTS,
    SEEDED_DECKS,
    MatchTerms,
    OpenMatch,
    begin_match,
    play_here,
    play_in_processes,
    play_live,
    taken_match,
)
from api.playing.recording import STOPPED, MatchResult, match_summary
from api.printable import printable_lines
from dealer.bots.python_bots import UnknownBot, bot_maker
from dealer.play import Plan
from dealer.worker import WorkerGone
from events.match import Dealing
from events.notation import say as notation_of
from store.proof.ledger_secrets import SecretFolder

ShouldStop = Callable[[], bool]
PlayedMatch = tuple[Plan, MatchResult]


@click.command()
@click.argument("game", required=False, shell_complete=completion.games)
@rules_options()
@click.option(
    "--hands",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many; else as its document says (1000 of an auction), all of a freeze-out, "
    "else 1, or one deck in a mirrored match. It is the same with --live.",
)
@click.option(
    "--seed",
    metavar="SEED",
    help="Decides every card and choice, of committed decks the choices only; drawn and printed if "
    "not given.",
)
@click.option(
    "--bots",
    metavar="A,B,...",
    shell_complete=completion.bots,
    help="The bots, seat by seat, and again from the first for more seats; else random. "
    "MODULE:CLASS is one of your own.",
)
@click.option(
    "--seats", metavar="N", type=int, help="How many players; as many as the game seats, up to six."
)
@click.option(
    "--match", metavar="MATCH", help="The match's name; drawn, and printed, if not given."
)
@tags_option("one player at a time, by his name in the match")
@click.option(
    "--matches",
    metavar="N",
    type=click.IntRange(1, 9_999),
    help="So many matches at once over all cores: NAME-1, NAME-2, ...",
)
@click.option(
    "--dealing",
    type=click.Choice(["seeded", "committed"]),
    help="Decks of the seed, or decks that the dealer commits to before the players add to them; "
    "seeded if not given, committed with --live and no --seed.",
)
@click.option("--mirror", is_flag=True, help="Deal every deck once to each seat's player.")
@click.option(
    "--freeze-out/--no-freeze-out",
    default=None,
    help="Play until one player has it all, or then set the table anew; else as the game says.",
)
@disclosure_option
@click.option(
    "--live", is_flag=True, help="One table under a real clock, written answer by answer."
)
@click.option(
    "--think-ms",
    metavar="MS",
    type=click.IntRange(0, 10_000),
    help=f"About how long a bot thinks with --live; else {THINK_MS}.",
)
@click.option(
    "--turn",
    "clock",
    cls=Option,
    formerly=["--clock"],
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="How long a turn is with --live; else 30, a third of it silent.",
)
@click.option(
    "--news",
    multiple=True,
    metavar="WHAT:PLAYER@HAND",
    help="With --live a player is: silent, lost, back, sits-out, returns, leaves, joins; "
    "may be given several times.",
)
@click.option("--print", "printing", is_flag=True, help="Print every hand in notation.")
@ledger_option
@witness_option
@json_option
@quiet_option
def play(folder: Path, as_document: bool, printing: bool, game: str | None, **options: Any) -> None:
    """Play hands of GAME, or by the rules of a file, between bots, into the ledger."""
    ruleset = rules_of(game, options["rules"], options["settings"])
    own = tuple(bot for bot in (options["bots"] or "").split(",") if ":" in bot)
    if own and options["live"]:
        raise click.UsageError(f"--live seats built-in bots: leave out {own[0]}")
    with errors_as(click.UsageError, UnknownBot):
        for bot in own:  # each is found before anything is written
            bot_maker(bot)
    plans = match_plans(ruleset, options, own)
    many = options["matches"] is not None
    if many and printing:
        raise click.UsageError("--print shows the hands of one match: leave out --matches")
    usual: Dealing = "committed" if options["live"] else "seeded"
    tags = tag_records(options["tags"], {name: name for name in plans[0].players})
    terms = MatchTerms(
        dealing_of(options["dealing"], options["seed"], usual), options["disclosure"], tags
    )
    stage = stage_of(plans[0], options)
    since = time.monotonic()
    shown: list[Any] = []
    failed: str | None = None
    with writing(folder, f"play {plans[0].match}") as ledger, stop_flag() as stop:
        if name := taken_match(ledger, plans):  # all are looked up before the first is begun
            raise click.ClickException(
                f"there is a match {name} in {folder} already: give this one another name"
            )
        begin = partial(begin_match, ledger, SecretFolder(folder), terms=terms)
        if many:
            ended = _play_in_processes(begin, plans, stop)
        else:
            match = begin(plans[0])
            if options["live"]:
                think_ms = THINK_MS if options["think_ms"] is None else options["think_ms"]
                dealt = play_live(match, ledger, think_ms, stop, stage, note)
            else:
                dealt = play_here(match, stop)
            total = None if match.plan.hands == ENDLESS else match.plan.hands
            hands = progress(dealt, f"playing {match.plan.match}", total)
            for number, hand in enumerate(hands):  # each is durable
                if printing and as_document:
                    shown.append(msgspec.to_builtins(hand))
                elif printing:
                    if number:
                        say("")
                    say(printable_lines(notation_of(event) for event in hand))
            ended = [(match.plan, match.end())]
            failed = match.failed
    matches = [
        {"seed": plan.seed, "disclosure": terms.disclosure, **msgspec.to_builtins(played)}
        for plan, played in ended
    ]
    if not as_document:
        for plan, played in ended:
            say(match_summary(played, plan.seed, terms.dealing), err=printing)
    elif many:
        print_json("muckrake.play-matches/1", matches=matches)
    else:
        print_json("muckrake.play/1", **matches[0], **({"records": shown} if printing else {}))
    if terms.dealing == "seeded" or options["seed"] is not None:
        note(SEEDED_DECKS if terms.dealing == "seeded" else SEEDED_BOTS)
    if failed is not None:
        raise click.ClickException(failed)
    reasons = {played.reason for _, played in ended}
    if STOPPED in reasons or len(ended) < len(plans):
        reason = STOPPED
    else:
        reason = reasons.pop() if len(reasons) == 1 else "every match is over"
    count = sum(played.hands for _, played in ended)
    note(f"{reason}: {count} in {folder}, {time.monotonic() - since:.1f} s")
    if reason == STOPPED:
        raise click.exceptions.Exit(INTERRUPTED)


def _play_in_processes(
    begin: Callable[[Plan], OpenMatch], plans: list[Plan], stop: ShouldStop
) -> list[PlayedMatch]:
    """Play matches in as many processes as there are cores; in the order of their numbers."""
    ended: dict[str, MatchResult] = {}
    cores = os.cpu_count() or 1
    total = sum(match.hands for match in plans)
    bar = progress_bar(f"playing {len(plans)} matches", total, "hands")
    with errors_as(click.ClickException, WorkerGone), bar as advance:
        for hands, played in play_in_processes(begin, plans, cores, stop):
            advance(hands, hands)
            if played:
                ended[played.match] = played
    return [(match, ended[match.match]) for match in plans if match.match in ended]

"""`muckrake games`: every ruleset there is, or one of them in full."""

from pathlib import Path

import click

from api.cli import completing
from api.cli.ledger import ledger_option, reading
from api.cli.output import NotFound, document, say, table
from api.cli.parameters import rules_of, rules_options
from api.printable import Page, page
from api.questions import games as asking
from api.report import aligned
from engine.catalogue import CATALOGUE, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled


@click.command()
@click.argument("game", required=False, shell_complete=completing.games)
@rules_options
@ledger_option
@click.option("--json", "as_document", is_flag=True, help="One document, every field of a ruleset.")
def games(
    game: str | None,
    rules: Path | None,
    settings: tuple[str, ...],
    folder: Path,
    as_document: bool,
) -> None:
    """List the rulesets, or show one GAME in full, perhaps changed, with its parameters.

    GAME is a name or a fingerprint, also of a ruleset that only the ledger keeps.
    """
    one = bool(game or rules or settings)
    shown = [_wanted(game, rules, settings, folder)] if one else list(RULESETS.values())
    if as_document:
        document("muckrake.games/1", games=[asking.as_json(one) for one in shown])
    elif one:
        say(in_full(shown[0]))
    else:
        columns = (
            "ruleset",
            "fingerprint",
            "for",
            "seats",
            "stack",
            "partner",
            "document",
            "script",
        )
        table(columns, [row(one) for one in shown])


def _wanted(game: str | None, rules: Path | None, settings: tuple[str, ...], folder: Path) -> Game:
    """What the words mean, or what a ledger kept under this name."""
    try:
        return rules_of(game, rules, settings)
    except NotFound:
        kept = None if rules or settings or not folder.exists() else _kept(game or "", folder)
        if kept is None:
            raise
        return kept


def _kept(name: str, folder: Path) -> Game | None:
    """The ruleset that only this ledger has, by its name or fingerprint."""
    with reading(folder) as ledger:
        texts = {mark: ledger.ruleset(mark) for mark in ledger.rulesets()}
        marks = [mark for mark, text in texts.items() if text and _has(name, mark, text)]
        if len(marks) > 1:
            there = ", ".join(sorted(marks))
            raise NotFound(f"{folder} has several rulesets called {name}: name one of {there}")
        return asking.game_of(marks[0], ledger.ruleset) if marks else None


def _has(name: str, mark: str, text: bytes) -> bool:
    """Whether this is the name or the fingerprint of a ruleset that a ledger keeps."""
    game = kept_game(text, mark)
    return game is not None and name in (mark, game.name)


def game_of(name: str) -> Game:
    """The ruleset of this name; an unknown one is a failure with its own exit code."""
    try:
        return asking.game_of(name)
    except asking.NoGame as unknown:
        raise NotFound(str(unknown)) from None


def row(game: Game) -> tuple[str, ...]:
    """A ruleset on one line."""
    script = f"{len(game.script)} steps"
    seats = f"{game.seats_min}-{game.seats_max}"
    stack, partner = str(game.stack), game.partner or ""
    use = "play" if is_dealt(game) else "records"
    return (game.name, fingerprint(game), use, seats, stack, partner, game.document, script)


def in_full(game: Game) -> Page:
    """Everything that makes the ruleset, for reading."""
    said = [f"{game.name}   {game.document}", ""]
    said += aligned([[name, value] for name, value in _facts(game)])
    said += ["", "script"]
    said += [f"  {number:2}  {line_of(step)}" for number, step in enumerate(game.script)]
    said += ["", "parameters, changed by --set NAME=VALUE"]
    rows = [[it.name, it.said, it.kind.may] for it in parameters(game).values()]
    said += ["  " + line for line in aligned(rows)]
    said += ["", "policies"]
    said += ["  " + line for line in aligned([_policy(game, name) for name in CATALOGUE])]
    if game.readings:
        said += ["", "readings tried on every hand"]
    for one in game.readings:
        said.append(f"  {one.entry}  {one.policy} {one.value}: {one.sentence}")
    return page(said)


def line_of(step: object) -> str:
    """A line of a script as it is written: DealBoard(total=3)."""
    return repr(step)


def _facts(game: Game) -> list[tuple[str, str]]:
    """What is neither script nor policy."""
    hands = "any number" if game.hands is None else str(game.hands)
    partner = partner_of(game)
    return [
        ("fingerprint", fingerprint(game)),
        ("partner", partner.name if partner else "none"),
        ("seats", f"{game.seats_min} to {game.seats_max}"),
        ("stack", str(game.stack)),
        ("hands of a match", hands),
    ]


def _policy(game: Game, name: str) -> list[str]:
    policy, value = CATALOGUE[name], getattr(game, name)
    return [name, spelled(value), policy.kind, " ".join(policy.entries), meaning(name, value)]

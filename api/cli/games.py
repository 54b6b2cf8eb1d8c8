"""`muckrake games`: list the rulesets, or show one in full."""

from pathlib import Path
from typing import Annotated

import click
import msgspec

from api.cli import completion
from api.cli.ledger import ledger_option, reading
from api.cli.options import rules_of, rules_options
from api.cli.output import NotFound, print_struct, print_table, say
from api.cli.serve import web_page
from api.printable import PrintableText, aligned_lines, printable_lines
from api.questions import games as rulesets
from api.questions.json_types import GameDocument
from engine.catalogue import CATALOGUE, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled


class Games(msgspec.Struct, frozen=True, tag_field="schema", tag="muckrake.games/1"):
    """Rulesets in full."""

    games: Annotated[
        list[GameDocument],
        msgspec.Meta(description="as `/api/v1/games/{game}` answers, a member for each ruleset"),
    ]


@click.command()
@click.argument("game", required=False, shell_complete=completion.games)
@rules_options()
@ledger_option
@click.option("--json", "as_document", is_flag=True, help="One document, every field of a ruleset.")
@web_page(lambda to, values: to.game(values["game"]) if values["game"] else to.games())
def games(
    game: str | None, rules: str | None, settings: tuple[str, ...], folder: Path, as_document: bool
) -> None:
    """List the rulesets, or show one GAME in full, perhaps changed, with its parameters.

    GAME is a name or a fingerprint, also of a ruleset that only the ledger keeps.
    """
    one = bool(game or rules or settings)
    shown = [_ruleset(game, rules, settings, folder)] if one else list(RULESETS.values())
    if as_document:
        print_struct(Games([rulesets.game_document(one) for one in shown]))
    elif one:
        say(as_text(shown[0]))
    else:
        columns = "ruleset fingerprint for seats stack partner document script"
        print_table(columns.split(), [row(one) for one in shown])


def _ruleset(name: str | None, rules: str | None, settings: tuple[str, ...], folder: Path) -> Game:
    """The ruleset of the options, or one that only the ledger has, by name or fingerprint."""
    try:
        return rules_of(name, rules, settings)
    except NotFound:
        if rules or settings or not folder.exists():
            raise
        fingerprints = []
        with reading(folder) as ledger:
            for mark in ledger.rulesets():
                text = ledger.ruleset(mark)
                kept = kept_game(text, mark) if text else None
                if kept is not None and name in (mark, kept.name):
                    fingerprints.append(mark)
            if len(fingerprints) > 1:
                choices = ", ".join(sorted(fingerprints))
                sentence = f"{folder} has several rulesets called {name}: name one of {choices}"
                raise NotFound(sentence) from None
            game = rulesets.game_of(fingerprints[0], ledger.ruleset) if fingerprints else None
        if game is None:
            raise
        return game


def row(game: Game) -> tuple[str, ...]:
    """The columns of a ruleset in the list."""
    script = f"{len(game.script)} steps"
    seats = f"{game.seats_min}-{game.seats_max}"
    stack, partner = str(game.stack), game.partner or ""
    use = "play" if is_dealt(game) else "records"
    return (game.name, fingerprint(game), use, seats, stack, partner, game.document, script)


def as_text(game: Game) -> PrintableText:
    """The whole ruleset as text."""
    partner = partner_of(game)
    facts = [
        ["fingerprint", fingerprint(game)],
        ["partner", partner.name if partner else "none"],
        ["seats", f"{game.seats_min} to {game.seats_max}"],
        ["stack", str(game.stack)],
        ["hands of a match", "any number" if game.hands is None else str(game.hands)],
    ]
    lines = [f"{game.name}   {game.document}", "", *aligned_lines(facts), "", "script"]
    lines += [f"  {number:2}  {step!r}" for number, step in enumerate(game.script)]
    lines += ["", "parameters, changed by --set NAME=VALUE"]
    rows = [
        [parameter.name, parameter.text, parameter.kind.may]
        for parameter in parameters(game).values()
    ]
    lines += ["  " + line for line in aligned_lines(rows)]
    lines += ["", "policies"]
    policies = [
        [name, spelled(value), it.kind, " ".join(it.entries), meaning(name, value)]
        for name, it in CATALOGUE.items()
        for value in [getattr(game, name)]
    ]
    lines += ["  " + line for line in aligned_lines(policies)]
    if game.readings:
        lines += ["", "readings tried on every hand"]
    for other in game.readings:
        lines.append(f"  {other.entry}  {other.policy} {other.value}: {other.sentence}")
    return printable_lines(lines)

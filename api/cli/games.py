"""`muckrake games`: every ruleset there is, or one of them in full."""

import click

from api.asking import games as asking
from api.cli import completing
from api.cli.ledger import no_ledger_option
from api.cli.output import NotFound, document, table
from api.report import aligned
from engine.catalogue import CATALOGUE, meaning
from engine.game import Game, fingerprint
from engine.games import GAMES, RULESETS


@click.command()
@click.argument("game", required=False, shell_complete=completing.games)
@no_ledger_option
@click.option("--json", "as_document", is_flag=True, help="One document, every field of a ruleset.")
def games(game: str | None, as_document: bool) -> None:
    """List the rulesets, or show one GAME in full."""
    shown = [game_of(game)] if game else list(RULESETS.values())
    if as_document:
        document("muckrake.games/1", games=[asking.as_json(one) for one in shown])
    elif game:
        click.echo(in_full(shown[0]), nl=False)
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
    use = "play" if game.name in GAMES else "records"
    return (game.name, fingerprint(game), use, seats, stack, partner, game.document, script)


def in_full(game: Game) -> str:
    """Everything that makes the ruleset, for reading."""
    said = [f"{game.name}   {game.document}", ""]
    said += aligned([[name, value] for name, value in _facts(game)])
    said += ["", "script"]
    said += [f"  {number:2}  {line_of(step)}" for number, step in enumerate(game.script)]
    said += ["", "policies"]
    said += ["  " + line for line in aligned([_policy(game, name) for name in CATALOGUE])]
    if game.readings:
        said += ["", "readings tried on every hand"]
    for reading in game.readings:
        said.append(f"  {reading.entry}  {reading.policy} {reading.value}: {reading.sentence}")
    return "\n".join(said) + "\n"


def line_of(step: object) -> str:
    """A line of a script as it is written: DealBoard(total=3)."""
    return repr(step)


def _facts(game: Game) -> list[tuple[str, str]]:
    """What is neither script nor policy."""
    hands = "any number" if game.hands is None else str(game.hands)
    return [
        ("fingerprint", fingerprint(game)),
        ("partner", game.partner or "none"),
        ("seats", f"{game.seats_min} to {game.seats_max}"),
        ("stack", str(game.stack)),
        ("hands of a match", hands),
    ]


def _policy(game: Game, name: str) -> list[str]:
    policy, value = CATALOGUE[name], getattr(game, name)
    return [name, said(value), policy.kind, " ".join(policy.entries), meaning(name, value)]


def said(value: object) -> str:
    """A value as it is spoken: yes for True."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)

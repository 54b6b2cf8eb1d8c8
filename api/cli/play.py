"""`muckrake play`: seeded hands between random bots, in notation."""

import secrets

import click
import msgspec

from api.cli.games import game_of
from api.cli.output import document, note
from dealer.play import play as play_hands
from engine.game import Game
from events.notation import say_all


@click.command()
@click.argument("game")
@click.option("--hands", type=click.IntRange(min=1), default=1, show_default=True, help="How many.")
@click.option("--seed", help="Decides every card and choice; drawn, and told, if not given.")
@click.option("--seats", type=int, help="How many players; as many as the game seats, up to six.")
@click.option("--json", "as_document", is_flag=True, help="One document, the events as objects.")
def play(game: str, hands: int, seed: str | None, seats: int | None, as_document: bool) -> None:
    """Deal seeded hands of GAME to random bots and print them in notation."""
    rules = game_of(game)
    _seatable(rules, seats)
    if seed is None:
        seed = secrets.token_hex(4)
        note(f"seed {seed}")
    dealt = play_hands(rules, "play", hands, seed, seats)
    if as_document:
        events = [msgspec.to_builtins(hand) for hand in dealt]
        document("muckrake.play/1", game=rules.name, seed=seed, hands=events)
        return
    for number, hand in enumerate(dealt):
        click.echo(("\n" if number else "") + say_all(hand), nl=False)


def _seatable(game: Game, seats: int | None) -> None:
    if seats is not None and not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise click.UsageError(f"{game.name} seats {allowed} players, not {seats}")

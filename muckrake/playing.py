"""A program has hands played: between bots, into a ledger if it names one, or by what learns."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from click import ClickException

from dealer.bots import own
from dealer.deck import SeededDecks
from dealer.learning.hand import Sizes
from dealer.play import Plan, dealt, usual_seats
from engine.game import Game
from engine.turn import IllegalCommand
from events.match import Disclosure
from events.types import Events

if TYPE_CHECKING:
    from dealer.learning.aec import HandEnv


def play(
    game: Game,
    match: str,
    hands: int,
    seed: str,
    seats: int | None = None,
    *,
    bots: Sequence[object] = ("random",),
    ledger: str | Path | None = None,
    disclosure: Disclosure = "sealed",
) -> Iterator[Events]:
    """Seeded hands at one table, one freeze-out after the other, each played when it is asked for.

    `bots` sit down chair by chair, and again from the first for more seats. Each is the name of a
    built-in bot, `module:Class`, a class with `choose(seen)`, or a function of what is seen. With
    a `ledger` the match is written there, every hand before it is given; a freeze-out then ends it.
    """
    if not bots:
        raise own.NoBot("a table without bots plays nothing: name one at least")
    if seats is None:
        seats = usual_seats(game) if len(bots) == 1 else max(len(bots), game.seats_min)
    if not game.seats_min <= seats <= game.seats_max or seats < len(bots):
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise IllegalCommand(f"{game.name} seats {allowed}, and {len(bots)} bots not at {seats}")
    around = [bots[chair % len(bots)] for chair in range(seats)]
    makers = [own.maker(bot) for bot in around]
    plan = Plan(game, match, hands, seed, tuple(own.name(bot) for bot in around))
    if ledger is not None:
        return _written(Path(ledger), plan, makers, disclosure)
    return _on_and_on(plan, makers)


def _on_and_on(plan: Plan, makers: Sequence[own.Maker]) -> Iterator[Events]:
    """As many hands as were asked for: after a freeze-out comes the next."""
    played = 0
    while played < plan.hands:
        for record in dealt(plan, SeededDecks(plan.seed), played + 1, makers):
            played += 1
            yield record


def _written(
    folder: Path, plan: Plan, makers: Sequence[own.Maker], disclosure: Disclosure
) -> Iterator[Events]:
    """The match in the ledger of this folder; who goes no further ends it there."""
    from api.cli.ledger import writing
    from api.jobs.plans import named
    from api.playing.matches import Terms, begun, here, taken
    from store.proof.private import Private

    try:
        with writing(folder, f"play {named(plan.match)}") as ledger:
            if taken(ledger, [plan]):
                raise ValueError(f"there is a match {plan.match} in {folder} already")
            match = begun(ledger, Private(folder), plan, Terms("seeded", disclosure))
            try:
                yield from here(match, lambda: False, makers)
            finally:
                match.end()
    except ClickException as why:
        raise ValueError(why.format_message()) from None
    if match.failed is not None:
        raise own.BotFailed(match.failed)


def environment(game: Game, seats: int | None = None, sizes: Sizes = "some") -> "HandEnv":
    """A game as PettingZoo has it (AEC); it needs the extra `learners`."""
    try:
        from dealer.learning.aec import HandEnv
    except ModuleNotFoundError as why:
        sentence = f"{why.name} is not installed: install muckrake-poker[learners]"
        raise ModuleNotFoundError(sentence, name=why.name) from None
    return HandEnv(game, seats, sizes)

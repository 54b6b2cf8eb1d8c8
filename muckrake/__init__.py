"""What a program asks of muckrake: deal a hand by its rules, write it down, have it judged; ask a
ledger about its hands and players; count what cards are worth.

`import muckrake`, or `python -m muckrake` for the command line. A wheel has all rooms inside this
package: there `engine.games` is `muckrake.engine.games`.

Everything is imported when it is first used: somebody who deals a hand does not wait for DuckDB and
Arrow, and the command line not for rules that it does not ask.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from engine import __name__ as _engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from analytics.statistics.compute import ask, snapshot_of
    from api.main import main
    from dealer.bots.python_bots import BotMaker
    from dealer.bots.seat_view import Seen
    from dealer.learning.aec import HandEnv
    from dealer.learning.batch import Batch
    from dealer.learning.hand import Sizes, learned
    from dealer.play import Plan
    from engine.game import Game
    from engine.games import GAMES, RULESETS
    from engine.hand import begin, step
    from engine.turn import Bid, Call, Check, Deal, Fold, Raise, Toss
    from engine.verdict import judge
    from events.cards import cards
    from events.evolve import replay
    from events.match import Disclosure
    from events.notation import read, say_all
    from events.types import Events
    from odds.batch import equities
    from odds.ranges import hands_in, range_equity
    from odds.third_card import third_card, third_card_known
    from store.reader import Snapshot

__all__ = [
    "GAMES",
    "RULESETS",
    "Batch",
    "Bid",
    "Call",
    "Check",
    "Deal",
    "Fold",
    "Raise",
    "Seen",
    "Toss",
    "answer",
    "ask",
    "begin",
    "cards",
    "environment",
    "equities",
    "hands_in",
    "judge",
    "learned",
    "main",
    "play",
    "range_equity",
    "read",
    "record",
    "replay",
    "say_all",
    "snapshot_of",
    "sql",
    "step",
    "third_card",
    "third_card_known",
]

_LATER = {
    **dict.fromkeys(("GAMES", "RULESETS"), "engine.games"),
    **dict.fromkeys(("begin", "step"), "engine.hand"),
    **dict.fromkeys(("Bid", "Call", "Check", "Deal", "Fold", "Raise", "Toss"), "engine.turn"),
    "judge": "engine.verdict",
    "cards": "events.cards",
    "replay": "events.evolve",
    **dict.fromkeys(("read", "say_all"), "events.notation"),
    **dict.fromkeys(("ask", "snapshot_of"), "analytics.statistics.compute"),
    **dict.fromkeys(("third_card", "third_card_known"), "odds.third_card"),
    "Batch": "dealer.learning.batch",
    "learned": "dealer.learning.hand",
    "Seen": "dealer.bots.seat_view",
    **dict.fromkeys(("hands_in", "range_equity"), "odds.ranges"),
    "equities": "odds.batch",
    "main": "api.main",
}
_TOP = _engine.removesuffix("engine")  # where the rooms are: a wheel moves them


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{_TOP}{_LATER[name]}"), name)
    globals()[name] = found
    return found


# A ledger.


def record(ledger: str | Path | Snapshot, hand: str) -> Events:
    """The events of a hand as they were written; its name is MATCH/NUMBER."""
    from analytics.statistics.compute import snapshot_of
    from api.viewpoints.hand_selection import NotInLedger
    from events.ledger import is_match

    found = () if is_match(hand) else snapshot_of(ledger).read(hand)
    if not found:
        raise NotInLedger(f"there is no hand {hand}: a hand is called MATCH/NUMBER")
    return cast("Events", tuple(one.event for one in found))


def sql(ledger: str | Path | Snapshot, query: str) -> pa.Table:
    """The answer to a SELECT over the tables of `muckrake sql`, for Polars, DuckDB and pandas."""
    from analytics.statistics.compute import snapshot_of, snapshot_query

    tables = snapshot_query(snapshot_of(ledger))
    try:
        return tables.ask(query)
    finally:
        tables.close()


def answer(
    question: str, ledger: str | Path | Snapshot, *, view: str = "auditor", **given: Any
) -> Any:
    """What the command of this name answers with these options; `view` is its `--as`."""
    from msgspec import ValidationError, convert

    from analytics.statistics.compute import snapshot_of
    from api.questions import declared
    from api.viewpoints.hand_selection import NotInLedger
    from api.viewpoints.ledger_view import LedgerView
    from api.viewpoints.viewer import viewer_of, without_progress

    if question not in declared.question_names():
        raise NotInLedger(
            f"there is no question {question}: {', '.join(declared.question_names())}"
        )
    declaration = declared.question(question)
    kinds = get_type_hints(declaration.params, include_extras=True)
    if unknown := given.keys() - kinds.keys():
        raise ValueError(f"{question} has no {min(unknown)}: {', '.join(kinds)}")
    try:
        wanted = declaration.params(
            **{name: convert(it, kinds[name]) for name, it in given.items()}
        )
    except (TypeError, ValidationError) as reason:
        raise ValueError(f"{question} cannot be asked so: {reason}") from None
    viewed = LedgerView(snapshot_of(ledger), viewer_of(view))
    try:
        return declaration.ask(viewed.narrowed(given.get("unit")), wanted, without_progress)
    finally:
        viewed.close()


# Hands to be played.


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
    from dealer.bots import python_bots
    from dealer.play import Plan, freeze_outs, usual_seats
    from engine.turn import IllegalCommand

    if not bots:
        raise python_bots.UnknownBot("a table without bots plays nothing: name one at least")
    if seats is None:
        seats = usual_seats(game) if len(bots) == 1 else max(len(bots), game.seats_min)
    if not game.seats_min <= seats <= game.seats_max or seats < len(bots):
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise IllegalCommand(f"{game.name} seats {allowed}, and {len(bots)} bots not at {seats}")
    around = [bots[chair % len(bots)] for chair in range(seats)]
    makers = [python_bots.bot_maker(bot) for bot in around]
    plan = Plan(game, match, hands, seed, tuple(python_bots.bot_name(bot) for bot in around))
    if ledger is None:
        return freeze_outs(plan, makers)
    return _written(ledger, plan, makers, disclosure)


def _written(
    ledger: str | Path, plan: Plan, makers: Sequence[BotMaker], disclosure: Disclosure
) -> Iterator[Events]:
    """The match in a ledger; who goes no further ends it there."""
    from pathlib import Path

    from click import ClickException

    from api.cli.ledger import writing
    from api.jobs.requests import valid_match_name
    from api.playing.matches import MatchTerms, begin_match, play_here, taken_match
    from dealer.bots.python_bots import BotFailed
    from store.proof.ledger_secrets import SecretFolder

    folder = Path(ledger)
    try:
        with writing(folder, f"play {valid_match_name(plan.match)}") as written:
            if taken_match(written, [plan]):
                raise ValueError(f"there is a match {plan.match} in {folder} already")
            match = begin_match(
                written, SecretFolder(folder), plan, MatchTerms("seeded", disclosure)
            )
            try:
                yield from play_here(match, lambda: False, makers)
            finally:
                match.end()
    except ClickException as why:
        raise ValueError(why.format_message()) from None
    if match.failed is not None:
        raise BotFailed(match.failed)


def environment(game: Game, seats: int | None = None, sizes: Sizes = "some") -> HandEnv:
    """A game as PettingZoo has it (AEC); it needs the extra `learners`."""
    try:
        from dealer.learning.aec import HandEnv
    except ModuleNotFoundError as why:
        sentence = f"{why.name} is not installed: install muckrake-poker[learners]"
        raise ModuleNotFoundError(sentence, name=why.name) from None
    return HandEnv(game, seats, sizes)

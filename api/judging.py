"""A record held against a ruleset: what the command line and every other door calls an audit."""

from typing import NamedTuple, cast

from msgspec.structs import replace

from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.verdict import Report, judge
from events.types import Events, HandStarted


class Judged(NamedTuple):
    """A record, the ruleset it was held against, and what came of it."""

    record: Events
    game: Game
    report: Report


def by_rules(record: Events, game: Game) -> Judged:
    """The verdict under this ruleset; under another than its own, the start is told so."""
    start, mark = cast(HandStarted, record[0]), fingerprint(game)
    held = record
    if start.ruleset != mark:
        held = (replace(start, game=game.name, ruleset=mark), *record[1:])
    return Judged(record, game, judge(game, held, partner_of(game)))

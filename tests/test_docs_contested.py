"""The table of contested hands in docs/rules.md is what counting again finds."""

import pytest

from docs.contested import HANDS, contested, count, keep, kept
from engine.game import Game
from engine.games import GAMES
from tests.hands import every_game
from tests.profiles import sized

FIRST = sized(25, 100)
ANEW = "./mr accept tests/test_docs_contested.py --slow, then tests/test_docs.py, count anew"


@every_game
def test_the_first_hands_are_contested_as_they_were_counted(game: Game) -> None:
    assert game.name in kept(), ANEW
    early = {number: by for number, by in kept()[game.name].items() if number <= FIRST}
    assert early == count(game, FIRST), ANEW


@pytest.mark.slow
@every_game
def test_all_hands_are_contested_as_they_were_counted(game: Game, accept: bool) -> None:
    found = count(game, HANDS)
    if accept:
        keep(kept() | {game.name: found})
    assert kept()[game.name] == found, ANEW


def test_the_table_has_every_ruleset_and_adds_up_what_was_counted() -> None:
    assert list(GAMES) == list(kept())
    _, _, *rows = contested().splitlines()
    for row, (name, found) in zip(rows, kept().items(), strict=True):
        _, ruleset, _, times, entries, _ = (cell.strip() for cell in row.split("|"))
        assert (f"`{name}`", str(len(found))) == (ruleset, times)
        assert max(found, default=1) <= HANDS
        told = dict(one.rsplit(" ", 1) for one in entries.split(", ") if one != "-")
        every = [entry for these in found.values() for entry in these]
        assert {entry: str(every.count(entry)) for entry in every} == told

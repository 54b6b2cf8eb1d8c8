"""One player's overview is asked in one go; asked one thing after the other it says the same."""

from pathlib import Path

import msgspec
import pytest

from api.main import main
from api.questions.declared.player import PlayerParams, player
from api.questions.declared.players import PlayersParams, players
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer, without_progress
from store.reader import Reader

PLAYED = (
    ("auction-2024", "--hands", "12", "--seed", "1", "--match", "scrim"),
    ("site-nl", "--hands", "9", "--seed", "4", "--seats", "5", "--match", "a.ring"),
    ("auction-2024", "--hands", "3", "--seed", "2", "--match", "again"),
)
GAMES = """
SELECT game, count(*) AS hands, count(DISTINCT match) AS matches,
    sum(CAST(net AS DOUBLE) / per_chip) AS net, any_value(unit) AS unit
FROM facts WHERE player = '{}' GROUP BY game ORDER BY hands DESC, game
"""
OPPONENTS = """
SELECT o.player, count(*) AS hands, sum(CAST(f.net AS DOUBLE) / f.per_chip) AS net,
    any_value(f.unit) AS unit
FROM facts AS f JOIN facts AS o ON f.hand_seq = o.hand_seq AND f.seat <> o.seat
WHERE f.player = '{}' GROUP BY o.player ORDER BY hands DESC, o.player
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Matches of two rulesets, at one of which there are five."""
    folder = tmp_path_factory.mktemp("overview") / "ledger"
    for words in PLAYED:
        assert main(["play", *words, "--ledger", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("view", ["auditor", "public", "seat:random-1"])
def test_an_overview_says_what_plain_questions_say(view: str, folder: Path) -> None:
    viewed = LedgerView(Reader(folder).snapshot(), Viewer(view))
    every = msgspec.to_builtins(players(viewed, PlayersParams(), without_progress).rows)
    assert 5 == len(every)
    for row in every:
        told = msgspec.to_builtins(player(viewed, PlayerParams(row["player"]), without_progress))
        games = viewed.rows(GAMES.format(row["player"]))
        opponents = viewed.rows(OPPONENTS.format(row["player"]))
        about = {"schema": "muckrake.player/1", "as": view}
        assert told == {**about, **row, "games": games, "opponents": opponents}
        assert [*about, *row, "opponents"] == list(told)


def test_who_was_dealt_nothing_has_no_overview(folder: Path) -> None:
    viewed = LedgerView(Reader(folder).snapshot(), Viewer("auditor"))
    with pytest.raises(NotInLedger, match="nobody called nobody's was dealt a hand"):
        player(viewed, PlayerParams("nobody's"), without_progress)

"""What players did, exports and SQL over HTTP: nobody is told what he may not see, by any door.

Two worlds that a viewpoint may not tell apart are asked the same, and every answer must be alike
to the byte, headers and all. And what the commands say as JSON is what HTTP says.
"""

import io
import json
import random
import shutil
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from api.exporting.table_files import TABULAR
from api.http.cursors import cursor_key
from api.http.routes.exports import DATASETS
from api.main import main
from api.questions.games import game_rows
from dealer.play import play
from engine.game import Game
from engine.games import GAMES
from events import types as t
from events.types import Events
from store.folder.disk import CACHE
from store.reader import Reader
from tests.exports import exported, ledger_of, start_of, started
from tests.hands import NAMES, seeded
from tests.http.clients import Site, site_of
from tests.profiles import in_turn, sized
from tests.sessions import Captured, told
from tests.test_cli_export_views import _who, _world

# tests/leaks asks for every format
EVERY = sized(quick=("json",), ci=("json",), slow=("json", "csv", "arrow"))
OTHER = "v1.2/stats"
ODD = "a/b ü%2F?#. &+='\""
SEAT = f"seat:{NAMES[0]}"
WORLDS = (("auction-2024", SEAT), ("auction-2024", "public"), ("swap-2022-mit", SEAT))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that are kept for later are this test's own."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))


def _questions(player: str, match: str) -> Iterator[str]:
    """Every route of the families, their splits and formats."""
    name = quote(player, safe="")
    yield "players"
    yield "players?limit=1"
    yield f"players/{name}"
    splits = ("split=street", "split=opponent", "split=position", "")
    for number, query in enumerate((*splits[: sized(1, 2, 4)], "field=1", "format=csv")):
        yield f"players/{name}/stats?{query}"
        if number % sized(2, 1) == 0:
            yield f"players/{name}/stats?as_of={match}/4&{query}"
    for kind in ("json", "csv"):
        yield f"players/{name}/grid?format={kind}"
    for kind in EVERY:
        if sized(False, True):
            yield f"players/{name}/bids?spots=1&format={kind}"
        yield f"players/{name}/bids?spots=0&split=strength&format={kind}"
        yield f"players/{name}/swaps?spots=1&runouts=2&format={kind}"
    for kind in EVERY[:2]:
        for about in sized(("runouts=3",), ("points=20", "runouts=3")):
            yield f"players/{name}/winnings?{about}&format={kind}"
    yield f"players/{name}/opponent?spots=2"
    for number, dataset in enumerate(DATASETS):
        some = islice(cycle(TABULAR), 2 * number, 2 * number + 2)  # all, by two datasets
        for kind in sized((*TABULAR,)[:1], some, TABULAR):
            yield f"exports/{dataset}?format={kind}"
        yield f"exports/{dataset}?format=csv&match={match}&as_of={match}/2"
    yield "fairness"
    for sql in (
        "SELECT hole, count(*) AS n FROM players GROUP BY hole ORDER BY hole",
        "SELECT max(amount) AS most, count(DISTINCT origin) AS n FROM bids",
        "SELECT count(changed) AS n, max(old) AS old FROM swaps",
        "SELECT 1 / (SELECT count(*) FROM players WHERE hole LIKE 'A%') AS x",
        "SELECT CAST(hole AS INTEGER) FROM players",
        "SELECT nothing FROM players",
    ):
        for kind in EVERY:
            yield f"sql?q={quote(sql)}&format={kind}"


def _answers(site: Site, scope: str | None, paths: list[str]) -> dict[str, Any]:
    """Status, headers and body of each."""
    headers = {}
    if scope is not None:
        _, spelled = site.app.state.keys.make((scope,))
        headers = {"Authorization": f"Bearer {spelled}"}
    client = TestClient(site.app, "http://127.0.0.1:8000", headers=headers)
    found = {}
    for path in paths:
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code < 500, (path, answer.text)
        about = {k: v for k, v in answer.headers.items() if k not in ("x-request-id", "date")}
        found[path] = (answer.status_code, about, answer.content)
    return found


@pytest.mark.slow  # before, tests/leaks asks two such worlds, and test_cli_export_views exports
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(("game", "view"), sized(WORLDS[1:], WORLDS[1:2], WORLDS))
def test_two_worlds_are_answered_alike_to_whom_they_differ_in_secret(
    game: str, view: str, tmp_path: Path
) -> None:
    records, chance = _records(GAMES[game]), random.Random(f"{game} {view}")
    others = tuple(_world(record, _who(view, record), chance) for record in records)
    assert records != others
    start = started(records[0], NAMES)
    for name, hands, first in (
        ("here", records, start),
        ("there", others, replace(start, seed="another")),
    ):
        ledger_of(tmp_path / name, hands, (first,))
    cursor_key(tmp_path / "here")
    shutil.copy2(tmp_path / "here/private/cursor.key", tmp_path / "there/private/cursor.key")
    here, there = site_of(tmp_path / "here"), site_of(tmp_path / "there")
    paths = list(_questions(NAMES[0], "m"))
    scope = None if view == "public" else view
    one, two = _answers(here, scope, paths), _answers(there, scope, paths)
    assert [] == [path for path in paths if one[path] != two[path]]
    assert {200} == {one[path][0] for path in paths if not path.startswith(("sql", "fairness"))} - {
        404
    }
    cards = "exports/players?format=csv"
    every = [_answers(world, "audit:read", [cards])[cards] for world in (here, there)]
    assert every[0] != every[1]


def _records(game: Game) -> tuple[Events, ...]:
    """Hands that were walked through every corner, as one match."""
    records = []
    for number in range(1, 7):
        start, *rest = seeded(game, f"answers {number}").record
        assert isinstance(start, t.HandStarted)
        records.append((replace(start, hand=f"m/{number}"), *rest))
    return tuple(records)


# By both doors the same


VIEWS = ("auditor", "seat:lynx", "public")
WORDS = (
    (("stats", "lynx"), "players/lynx/stats"),
    (
        ("stats", "lynx", "--vs", "ursa", "--by", "match"),
        "players/lynx/stats?vs=ursa&split=match",
    ),
    (
        ("stats", "ursa", "--before", "holdem/7", "--street", "flop"),
        "players/ursa/stats?as_of=holdem/7&street=flop",
    ),
    (("grid", "lynx", "--match", "open"), "players/lynx/grid?match=open"),
    (("bids", "lynx", "--spots", "2"), "players/lynx/bids?spots=2"),
    (
        ("bids", "ursa", "--spots", "0", "--by", "seat"),
        "players/ursa/bids?spots=0&split=seat",
    ),
    (
        ("swaps", "ursa", "--spots", "1", "--runouts", "3"),
        "players/ursa/swaps?spots=1&runouts=3",
    ),
    (("opponent", "ursa", "--spots", "2"), "players/ursa/opponent?spots=2"),
    (("sql", "SELECT * FROM players ORDER BY ALL"), "sql?q=SELECT * FROM players ORDER BY ALL"),
)


@pytest.mark.parametrize(("asked", "view"), in_turn(WORDS[:: sized(2, 1)], VIEWS))
def test_a_command_says_as_json_what_http_says(
    asked: tuple[tuple[str, ...], str], view: str, house: Path, site: Site, capsys: Captured
) -> None:
    words, path = asked
    said = told(capsys, *words, "--as", view, "--json", "--ledger", str(house))
    answer = site.as_("auditor").get(f"/api/v1/{path}", params={"as": view} | _query(path))
    found = answer.json()
    for document in (said, found):
        document.pop("counted", None)
        document.pop("definitions", None)
        document.pop("schema", None)
    assert said == found


def _query(path: str) -> dict[str, str]:
    """The parameters that stand in the path: a client that is given others would drop them."""
    pairs = (pair.partition("=") for pair in path.partition("?")[2].split("&") if pair)
    return {name: value for name, _, value in pairs}


def test_fairness_is_the_same_by_both_doors(house: Path, site: Site, capsys: Captured) -> None:
    said = told(capsys, "fairness", "--json", "--ledger", str(house))
    found = site.as_("auditor").get("/api/v1/fairness").json()
    assert said == {name: found[name] for name in said}


def test_some_rulesets_is_listed_and_told_in_full(site: Site, capsys: Captured) -> None:
    said = told(capsys, "games", "--json")["games"]
    client = site.as_()
    assert said == [client.get(f"/api/v1/games/{one['name']}").json() for one in said]
    assert [one["name"] for one in said] == [one["name"] for one in game_rows()]


@pytest.mark.parametrize(("dataset", "view"), in_turn(DATASETS, VIEWS))
def test_an_export_holds_what_the_command_exports(
    dataset: str, view: str, house: Path, site: Site
) -> None:
    client, snapshot = site.as_("auditor"), Reader(house).snapshot()
    answer = client.get(f"/api/v1/exports/{dataset}?format=parquet&as={view}").content
    mine = pq.read_table(io.BytesIO(answer))
    theirs = pq.read_table(io.BytesIO(exported(snapshot, "parquet", view, dataset)))
    assert theirs.column_names == mine.column_names
    assert theirs.num_rows
    assert _rows(theirs) == _rows(mine)
    data = client.get(f"/api/v1/exports/{dataset}?format=arrow&as={view}").content
    assert _rows(theirs) == _rows(pa.ipc.open_stream(data).read_all())
    marks = {b"muckrake.table": dataset.encode(), b"muckrake.view": view.encode()}
    assert marks.items() <= mine.schema.metadata.items()


def _rows(table: pa.Table) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in table.to_pylist())


def test_events_as_lines_are_those_of_the_command(house: Path, site: Site) -> None:
    snapshot = Reader(house).snapshot()
    for view in ("auditor", "public"):
        answer = site.as_("auditor").get(f"/api/v1/exports/events?format=ndjson&as={view}")
        assert exported(snapshot, "ndjson", view) == answer.content


def test_an_export_ends_with_the_hand_that_it_is_as_of(site: Site) -> None:
    client = site.as_("auditor")
    for dataset in DATASETS:
        answer = client.get(f"/api/v1/exports/{dataset}?as_of=auction/5&match=auction")
        numbers = pq.read_table(io.BytesIO(answer.content))["number"].to_pylist()
        known = {number for number in numbers if number is not None}
        assert known <= {1, 2, 3, 4, 5}
        assert known or dataset == "swaps"


# Names


def test_a_player_may_be_called_anything(tmp_path: Path) -> None:
    records = [
        (replace(start_of(hand), players=(ODD, OTHER)), *hand[1:])
        for hand in play(GAMES["auction-2024"], "m", 3, "2")
    ]
    ledger_of(tmp_path / "ledger", records, (started(records[0], (ODD, OTHER)),))
    client = site_of(tmp_path / "ledger").as_("auditor")
    for name in (ODD, OTHER):
        path = f"/api/v1/players/{quote(name, safe='')}"
        assert name == client.get(path).json()["player"]
        for about in ("stats", "grid", "bids?spots=0", "swaps?spots=0"):
            answer = client.get(f"{path}/{about}")
            assert 200 == answer.status_code
            told = answer.json()
            assert name == (told["players"][0] if "players" in told else told)["player"]


def test_the_commands_and_http_refuse_in_the_same_words(
    house: Path, site: Site, capsys: Captured
) -> None:
    for words, path in (
        (("stats", "puma"), "players/puma/stats"),
        (("bids", "puma"), "players/puma/bids"),
        (("swaps", "puma"), "players/puma/swaps"),
        (("stats", "lynx", "--match", "x"), "players/lynx/stats?match=x"),
        (("bids", "lynx", "--match", "x"), "players/lynx/bids?match=x"),
        (("stats", "lynx", "--vs", "lynx"), "players/lynx/stats?vs=lynx"),
        (("sql", "SELECT x"), "sql?q=SELECT x"),
    ):
        assert main([*words, "--ledger", str(house)]) in (1, 2, 5)
        _, err = capsys.readouterr()
        problem = site.as_("auditor").get(f"/api/v1/{path}").json()
        assert problem["detail"] in err

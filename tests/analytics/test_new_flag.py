"""A flag is one declaration and a statistic a row and a question, however many there are.

They are added to a copy of `analytics/`, as CONTRIBUTING.md says it; the program with the copy is
asked about a ledger that the program without it wrote.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from analytics.projections import facts as facts_module
from analytics.projections.facts import SCHEMA, VERSION, facts_projection
from analytics.projections.flag_encoding import SpotFlags
from analytics.replay import flags
from analytics.replay.flags import FLAGS
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from events.types import HandStarted
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader
from tests.analytics.auction_pages import recorded
from tests.analytics.walked_acts import Act, story
from tests.fences import fences
from tests.sessions import Captured, told
from tests.test_docs_contributing import ROOT, change, follow

GAME = "site-nl"
HANDS = 120
PLAYER = "random-0"
ASKED = """
import contextlib
import io
import json
import sys

from pathlib import Path
from analytics.statistics.compute import snapshot_query
from api.main import main
from store.reader import Reader

folder, commands = json.loads(sys.argv[1])
for words in commands:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if words[0] == "facts":
            said.write(json.dumps(snapshot_query(Reader(Path(folder)).snapshot()).rows(words[1])))
        elif words[0] == "get":
            assert main([*words, "--output", "said.json", "--ledger", folder]) == 0, words
            said.write(Path("said.json").read_text())
            Path("said.json").unlink()
        else:
            assert main([*words, "--ledger", folder]) == 0, words
    print(json.dumps(said.getvalue()))
"""
Count = tuple[int, int]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hands of two matches in two segments with the facts of this program."""
    folder = tmp_path_factory.mktemp("before")
    held = FileLedger(RealDisk(folder), (facts_projection(lambda mark: None),), seal_hands=1 << 40)
    for number, events in enumerate(_hands(), 1):
        held.append(Append(f"m/{number}", 0, events, 0))
        if number in (HANDS // 2, HANDS - 5):
            held.seal()
    held.close()
    return folder


def _hands() -> Iterator[Any]:
    return play(GAMES[GAME], "m", HANDS, "flags", seats=4)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of `analytics/`, which comes before the project's own."""
    shutil.copytree(
        ROOT / "analytics", tmp_path / "analytics", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def asked(copy: Path, ledger: Path, *commands: list[str]) -> list[Any]:
    """What the program with this copy says in JSON of a ledger; `facts` is SQL over that view."""
    path = os.pathsep.join((str(copy), str(ROOT)))
    script = copy / "asked.py"
    script.write_text(ASKED, "utf-8")
    told = subprocess.run(
        [sys.executable, str(script), json.dumps([str(ledger), commands])],
        env={**os.environ, "PYTHONPATH": path},
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    said = [json.loads(line) for line in told.stdout.splitlines()]
    return [json.loads(one) if one.startswith(("[", "{")) else one for one in said]


def walked(wanted: Callable[[list[Act], int], bool], took: tuple[str, ...]) -> dict[str, Count]:
    """The plain walk: in how many hands each player had the chance, and took it."""
    found: dict[str, list[int]] = {}
    for players, acts in _stories():
        hand: dict[int, bool] = {}
        for at, act in enumerate(acts):
            if act.counts and wanted(acts, at):
                hand[act.seat] = hand.get(act.seat, False) or act.kind in took
        for seat, done in hand.items():
            counted = found.setdefault(players[seat], [0, 0])
            counted[0] += done
            counted[1] += 1
    return {player: (k, n) for player, (k, n) in found.items()}


@cache
def _stories() -> list[tuple[tuple[str, ...], list[Act]]]:
    """The players of every hand, and what they did."""
    found = []
    for seq, events in enumerate(_hands()):
        leaf = recorded(seq, events, "m")
        start = leaf.recorded[0].event
        assert isinstance(start, HandStarted)
        found.append((start.players, story(leaf, start, GAMES[GAME])))
    return found


def limped_before(acts: list[Act], at: int) -> bool:
    """It is his first action before the flop, something is to call, others have only called."""
    act, before = acts[at], [it for it in acts[:at] if it.street == 0]
    fresh = all(it.seat != act.seat for it in before)
    limped = any(it.kind == "call" for it in before) and not any(it.raises for it in before)
    return act.street == 0 and act.asked and act.owed and fresh and limped


@pytest.mark.ci  # copies the house, and starts it three times
def test_a_flag_is_one_declaration_and_a_statistic_a_row_and_a_question(
    copy: Path, ledger: Path
) -> None:
    """As CONTRIBUTING.md says, with a flag and without one; a ledger with the facts of before is
    answered as the walk counts."""
    for fence in fences(ROOT / "CONTRIBUTING.md"):
        if "flags.py" in fence.told or "catalogue" in fence.told or fence.language == "sql":
            follow(fence, copy)
    expected = walked(limped_before, ("call",))
    k, n = expected[PLAYER]
    assert 0 < k < n, "the hands say something"
    flag = "count(limp_behind) AS n, count(CASE WHEN limp_behind THEN 1 END) AS k"
    sql = f"SELECT player, {flag} FROM facts GROUP BY player ORDER BY player"
    won = "count(CASE WHEN net > 0 THEN 1 END) AS k, count(*) AS n"
    unseen = f"SELECT player, {won} FROM facts WHERE NOT showdown GROUP BY player"
    one, every, parts, rows, http, field, report, quiet = asked(
        copy,
        ledger,
        ["stats", PLAYER, "--json"],
        ["stats", "--json"],
        ["stats", PLAYER, "--by", "position", "--json"],
        ["facts", sql],
        ["get", f"/api/v1/players/{PLAYER}/stats"],
        ["get", f"/api/v1/players/{PLAYER}/stats?field=true"],
        ["opponent", PLAYER, "--json"],
        ["facts", unseen],
    )
    assert {row["player"]: _count(row) for row in quiet} == {
        row["player"]: _count(row["stats"]["unseen_win"]) for row in every["players"]
    }
    assert expected == {
        row["player"]: _count(row["stats"]["limp_behind"])
        for row in every["players"]
        if row["stats"]["limp_behind"]["n"]
    }
    told = [answer["players"][0]["stats"]["limp_behind"] for answer in (one, http, field)]
    assert [(k, n)] * 3 == [_count(it) for it in told]
    others = [expected[it] for it in expected if it != PLAYER]
    assert tuple(map(sum, zip(*others, strict=True))) == _count(told[-1]["field"])
    split = [_count(row["stats"]["limp_behind"]) for row in parts["players"]]
    assert len(split) > 2
    assert (k, n) == tuple(map(sum, zip(*split, strict=True)))
    assert expected == {row["player"]: _count(row) for row in rows if row["n"]}
    meant = http["definitions"]["limp_behind"]
    (part,) = report["parts"]
    assert (k, n) == _count(part["statistics"]["limp_behind"])
    assert ("Limp behind", "first action is a call") == (meant["title"], meant["done"])


def _count(said: dict[str, Any]) -> Count:
    return said["k"], said["n"]


# Forty more, and what becomes of the facts of before.

PREFLOP = """PREFLOP += tuple(
    Flag(f"pre_{raises}_{callers}_{take}", "x", "y",
         {"asked": 1, "raises": raises, "callers": callers}, (take,))
    for raises in range(3) for callers in range(2) for take in (FOLD, CALL, RAISE)
)
"""
POSTFLOP = """POSTFLOP += tuple(
    Flag(f"post_{street}_{bets}_{acted}_{take}", "x", "y",
         {"street": street, "bets": bets, "acted": acted}, (take,))
    for street in (1, 2, 3) for bets in range(2) for acted in range(2)
    for take in (RAISE, FOLD if bets else CHECK)
)
"""
KINDS = (("fold",), ("check",), ("call",), ("bet", "raise"))  # FOLD, CHECK, CALL, RAISE


@pytest.mark.slow
def test_forty_flags_more_at_once_are_all_right(copy: Path, ledger: Path, capsys: Captured) -> None:
    change(
        copy / "analytics/replay/flags.py",
        "@@\n"
        + "".join(f"+{line}\n" for line in (PREFLOP + POSTFLOP).splitlines())
        + " FLAGS = {one.name: one for one in (*PREFLOP, *POSTFLOP)}\n",
    )
    expected = {
        f"pre_{raises}_{callers}_{take}": walked(_before_flop(raises, callers), KINDS[take])
        for raises, callers, take in product(range(3), range(2), (0, 2, 3))
    } | {
        f"post_{street}_{bets}_{acted}_{take}": walked(
            _after_flop(street, bets, acted), KINDS[take]
        )
        for street, bets, acted in product((1, 2, 3), range(2), range(2))
        for take in (3, 0 if bets else 1)
    }
    assert len(expected) == 42
    assert sum(any(n for _, n in each.values()) for each in expected.values()) > 35
    _add_statistics(copy, expected)
    counts = ", ".join(
        f"count({it}) AS {it}_n, count(CASE WHEN {it} THEN 1 END) AS {it}_k" for it in expected
    )
    sql = f"SELECT player, {counts} FROM facts GROUP BY player"
    every, one, rows = asked(
        copy,
        ledger,
        ["stats", "--json"],
        ["get", f"/api/v1/players/{PLAYER}/stats"],
        ["facts", sql],
    )
    found = {row["player"]: row["stats"] for row in every["players"]}
    (mine,) = one["players"]
    assert mine["stats"] == found[PLAYER]
    told = {player: iter(row) for player, *row in [[*row.values()] for row in rows]}
    for name, each in expected.items():
        for player, stats in found.items():
            k, n = each.get(player, (0, 0))
            assert (k, n) == _count(stats[name]), (player, name)
            assert (n, k) == (next(told[player]), next(told[player])), (player, name)
    before = _stats(capsys, ledger)
    assert before == {
        player: {name: stats[name] for name in before[player]} for player, stats in found.items()
    }


def _before_flop(raises: int, callers: int) -> Callable[[list[Act], int], bool]:
    """Facing so many raises, the last of them called by nobody, or by somebody."""

    def wanted(acts: list[Act], at: int) -> bool:
        before = [it for it in acts[:at] if it.street == 0]
        last = max((place for place, it in enumerate(before) if it.raises), default=-1)
        called = any(it.kind == "call" for it in before[last + 1 :])
        made = sum(it.raises for it in before)
        return acts[at].street == 0 and acts[at].asked and (raises, callers) == (made, called)

    return wanted


def _after_flop(street: int, bets: int, acted: int) -> Callable[[list[Act], int], bool]:
    """After so many bets of a street, having acted in it or not."""

    def wanted(acts: list[Act], at: int) -> bool:
        before = [it for it in acts[:at] if it.street == street and it.asked]
        made = sum(it.raises for it in before)
        mine = any(it.seat == acts[at].seat for it in before)
        here = acts[at].street == street and acts[at].asked
        return here and (bets, acted) == (made, mine)

    return wanted


def _add_statistics(copy: Path, names: Iterable[str]) -> None:
    """A row for each, and one question for all."""
    rows = "".join(f'+    _flag("{name}", "Title", "forty"),\n' for name in names)
    last = '     _flag("rfi", "Raise first in", "preflop_entry"),\n'
    change(copy / "analytics/statistics/catalogue.py", "@@\n" + last + rows)
    columns = ",\n  ".join(
        f"count(CASE WHEN {it} THEN 1 END) AS {it}_k, count({it}) AS {it}_n" for it in names
    )
    sql = f"SELECT player, part, {columns}\nFROM filtered GROUP BY player, part\n"
    (copy / "analytics/sql/forty.sql").write_text(sql, "utf-8")


def _stats(capsys: Captured, ledger: Path) -> dict[str, Any]:
    """What the program of the project says."""
    said = told(capsys, "stats", "--ledger", str(ledger))
    return {row["player"]: row["stats"] for row in said["players"]}


@pytest.mark.ci
def test_facts_of_either_program_are_made_anew_by_the_other(
    copy: Path, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    mine = tmp_path / "ledger"
    shutil.copytree(ledger, mine)
    before = _stats(capsys, mine)
    for fence in fences(ROOT / "CONTRIBUTING.md"):
        if "flags.py" in fence.told:
            follow(fence, copy)
    sql = ["facts", "SELECT count(limp_behind) AS n, count(*) AS rows FROM facts"]
    first, _, again = asked(copy, mine, sql, ["compact"], sql)
    assert first == again
    n = sum(n for _, n in walked(limped_before, ("call",)).values())
    assert [n] == [row["n"] for row in again]
    for segment in Reader(mine).snapshot().parts().segments:
        assert segment.projections["facts"] != VERSION
    assert before == _stats(capsys, mine)


def test_another_meaning_is_another_version_and_other_words_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody has a number to remember."""

    def with_limp(**changed: Any) -> int:
        monkeypatch.setattr(
            facts_module, "FLAGS", {**FLAGS, "limp": FLAGS["limp"]._replace(**changed)}
        )
        return facts_module._version()

    assert VERSION == with_limp(done="limped", opportunity="might have limped")
    changes: tuple[dict[str, Any], ...] = (
        {"when": {}},
        {"takes": (2, 3)},
        {"straddled": True},
        {"name": "limps"},
    )
    found = {with_limp(**it) for it in changes}
    assert len(changes) == len(found - {VERSION})


def test_no_column_of_facts_is_named_twice() -> None:
    assert len(SCHEMA.names) == len(set(SCHEMA.names))
    assert len(FLAGS) == len(flags.PREFLOP) + len(flags.POSTFLOP)


@pytest.mark.parametrize(
    ("when", "sentence"),
    [
        ({"bets": 1}, "the flag odd asks for bets: kind, asked"),
        ({"raises": 4}, "the flag odd has no opportunity in any spot"),
    ],
)
def test_a_flag_of_no_spot_is_refused(when: dict[str, int], sentence: str) -> None:
    odd = flags.Flag("odd", "", "", when)
    with pytest.raises(AssertionError, match=sentence):
        SpotFlags(flags.PREFLOP_FIELDS, (odd,))

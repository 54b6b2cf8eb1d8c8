"""Every bench runs, small, with the peers that are here; the play it measures is the same play."""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import bench
import bench.__main__ as command_line
from bench import ledger_bulk, ledger_lookup, ledger_size, serve_stream
from bench.apart import Spent, apart
from bench.large import build, name_of
from bench.play import FOLD, GAME, PASS, choose, hands
from bench.runner import Bench, Contender, Measured, Target, measure, one_by_one, table
from engine.audit import audit
from events.evolve import replay
from events.types import HandStarted
from store.ledger import open_ledger
from store.reader import Reader
from store.sql.query import Query
from store.tables.projection import STANDARD

LONG = {
    "batch",
    "learners",
    "leagues",
    "ledger-large",
    "match-cost",
    "rank",
    "start",
    "statistics",
    "trust",
    "screen",
    "serve-answers",
    "serve-hands",
    "serve-pages",
    "serve-players",
    "serve-sql",
    "serve-stream",
    "wire",
}  # slow to set up


QUICK = {"play"}  # the others measure by the same runner


ELSEWHERE = {"archive", "spark"}  # run by tests/archive and tests/cluster


def _marked(names: Iterable[str]) -> list[Any]:
    """A few, the others from profile `ci` on, those that are slow to set up in `slow`.

    Sorted: pytest-xdist refuses to run where two processes collect a set in two orders.
    """
    marks = {one: [pytest.mark.slow if one in LONG else pytest.mark.ci] for one in sorted(names)}
    return [pytest.param(one, marks=[] if one in QUICK else marks[one]) for one in marks]


@pytest.mark.parametrize("name", sorted(it.stem for it in Path(bench.__file__).parent.glob("*.py")))
def test_each_bench_can_be_imported(name: str) -> None:
    import_module(f"bench.{name}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # eval7 uses an older pyparsing
@pytest.mark.parametrize("name", _marked(command_line.BENCHES))
def test_each_bench_runs_and_names_its_versions(name: str) -> None:
    page = command_line.report(name, rounds=1, seconds=0.001)
    assert f"# {name}\n" in page
    assert "CPython" in page or "PyPy" in page
    assert re.search("(hands|events|decisions)/s", page)


@pytest.mark.parametrize("name", _marked({*command_line.LEDGERS} - ELSEWHERE))
def test_each_bench_of_the_ledger_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ledger_bulk, ledger_lookup):  # a new Python for each step takes its time
        monkeypatch.setattr(module, "apart", _spend_here)
    monkeypatch.setattr(ledger_lookup, "LOOKUPS", 10)
    monkeypatch.setattr(serve_stream, "RUNS", ((2, 1),))
    page = command_line.report(name, rounds=1, seconds=0.001, hands=40)
    assert f"# {name}\n" in page
    assert "File system " in page
    assert "goal: " in page


def test_sizes_are_told_beside_every_other_way_to_keep_a_hand(tmp_path: Path) -> None:
    page = "\n".join(ledger_size.sections(tmp_path, 20))
    for peer in ("Parquet, pyarrow's defaults", "JSON lines", "MIT text", "PHH, without bids"):
        assert f"| {peer}" in page


def _spend_here(act: Callable[..., object], *given: object) -> Spent:
    return Spent(act(*given), 1.0, 1)


def test_work_done_apart_says_what_it_needed() -> None:
    found = apart(len, "four")
    assert found.answer == 4
    assert 0 <= found.seconds
    assert 1_000_000 < found.peak < 1_000_000_000


def test_a_disk_that_waits_is_measured_by_the_clock_on_the_wall() -> None:
    ticks = iter(range(1_000))
    idle = one_by_one(len, ["x"])
    one = Bench("who", "hand", "hand", (Contender("ours", idle),), clock=lambda: next(ticks))
    assert {"ours": Measured((1.0, 1.0), (1.0, 1.0))} == measure(one, rounds=2, seconds=1.0)


@pytest.mark.ci
def test_a_large_ledger_reads_as_if_it_had_been_played(tmp_path: Path) -> None:
    """Else a look-up in ten million hands would find out nothing."""
    each = build(tmp_path / "small", tmp_path / "large", 40, distinct=10, together=20)
    assert each == 10
    played, copied = Reader(tmp_path / "small"), Reader(tmp_path / "large").snapshot()
    assert [f"{name_of(copy)}/{n}" for copy in range(4) for n in range(1, 11)] == [
        one.hand for one in copied.hands()
    ]
    for number in range(1, 11):
        first, third = played.read(f"bench/{number}"), copied.read(f"{name_of(3)}/{number}")
        assert [one.event for one in first][1:] == [one.event for one in third][1:]
        start = third[0].event
        assert isinstance(start, HandStarted)
        assert ("p006", "p007") == start.players
    assert list(range(copied.next_pos)) == [one.pos for one in copied.read_from(0)]
    query = Query(copied)
    nets = query.rows("SELECT player, sum(net) AS net FROM players GROUP BY 1 ORDER BY 1")
    assert [f"p{number:03}" for number in range(8)] == [row["player"] for row in nets]
    assert 0 == sum(row["net"] for row in nets)
    query.close()
    ledger, lock = open_ledger(tmp_path / "large", "test", STANDARD)
    (note,) = ledger.notes  # no writer has left its marks on it: the first one takes it over
    assert "Nobody vouches for 40 closed streams" in note
    ledger.close()
    lock.release()


def test_every_round_runs_every_contender_in_turn() -> None:
    ran: list[str] = []

    def said(name: str) -> Callable[[int], int]:
        def run(count: int) -> int:
            ran.append(name)
            return 3 * count

        return run

    pair = Bench(
        "who", "hand", "event", (Contender("ann", said("ann")), Contender("ben", said("ben")))
    )
    results = measure(pair, rounds=3, seconds=0.0)
    assert ["ann", "ben"] * 3 == ran[-6:]
    assert {"ann", "ben"} == set(results)
    for measured in results.values():
        assert [3.0] * 3 == [
            pytest.approx(units / items)
            for items, units in zip(measured.items, measured.units, strict=True)
        ]


def test_a_table_says_rates_ratios_and_which_targets_were_met() -> None:
    idle = one_by_one(len, ["x"])
    contenders = (Contender("ours", idle), Contender("theirs", idle))
    targets = (Target("theirs", 2), Target("theirs", 4.5, "aim"), Target("absent", 1))
    found = {
        "ours": Measured((100.0, 300.0, 200.0), (800.0, 1200.0, 1000.0)),
        "theirs": Measured((50.0, 75.0, 60.0), (200.0, 300.0, 250.0)),
    }
    expected = """\
## who is faster

| | hands/s | events/s | events a hand | ours is (rounds) |
|---|---:|---:|---:|---:|
| ours | 200 | 1,000 | 5.0 |  |
| theirs 2.1 | 60 | 250 | 4.2 | **4.00** × (4.00..4.00) |

- goal: 1,500 events/s: **missed**, 1,000
- target: at least 2 × theirs: met, 4.00
- aim: at least 4.5 × theirs: **missed**, 4.00
- target: at least 1 × absent: not measured, it is not installed
"""
    bench = Bench("who is faster", "hand", "event", contenders, targets, goal=1_500)
    assert expected == table(bench, found, {"ours": "ours", "theirs": "theirs 2.1"}) + "\n"


def test_the_chooser_takes_every_kind_that_is_offered_and_no_other() -> None:
    free = {choose(False, None, None) for _ in range(50)}
    assert {PASS} == free
    owing = {choose(True, None, None) for _ in range(200)}
    assert {FOLD, PASS} == owing
    sizes = {choose(False, 20, 22) for _ in range(500)}
    assert {PASS, 20, 21, 22} == sizes


@pytest.mark.parametrize("seats", [2, 6])
def test_the_hands_that_are_measured_are_legal(seats: int) -> None:
    for record in hands(seats, 30):
        assert audit(GAME, record) is None


@pytest.mark.parametrize("seats", [2, 6])
def test_pokerkit_replays_our_hands_to_our_stacks(seats: int) -> None:
    """Else the two replays that are compared would not do the same work."""
    pokerkit = pytest.importorskip("pokerkit")
    from bench.phh import phh

    for record in hands(seats, 60):
        start = record[0]
        assert isinstance(start, HandStarted)
        *_, state = pokerkit.HandHistory.loads(phh(record))
        ours = replay(record).stacks
        from_left = [ours[(start.button + 1 + place) % seats] for place in range(seats)]
        assert from_left == list(state.stacks), phh(record)


def test_results_are_kept_where_write_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "RESULTS", tmp_path)
    monkeypatch.setattr(command_line, "report", lambda name, *how: f"# {name}, {how}\n")
    tiny = ["codec", "--rounds", "1", "--seconds", "0.001"]
    assert command_line.main(tiny) == 0
    assert [] == list(tmp_path.iterdir())
    assert command_line.main([*tiny, "--write"]) == 0
    printed = capsys.readouterr().out
    assert "# codec, (1, 0.001, None, None)\n" == (tmp_path / "codec.md").read_text()
    assert printed.endswith((tmp_path / "codec.md").read_text() + "\n")


def test_a_bench_nobody_wrote_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        command_line.main(["chess"])
    assert refusal.value.code == 2
    assert "no bench is called chess: there are play, replay" in capsys.readouterr().err

"""Verdicts of whole ledgers: the engine's own, kept in files, not believed when damaged."""

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from msgspec.structs import replace

from api import version as module
from api.questions.judging import visible_rows
from api.questions.verdicts import Progress, Verdicts
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.game import fingerprint, to_json
from engine.games import GAMES, RULESETS
from engine.steps import Blinds
from engine.verdict import judge
from events import types as t
from events.ledger import Append
from events.types import Events
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader, Snapshot
from tests.asking.seen_ledgers import NEVER, Kept, ledger_of, matches
from tests.exports import AT, start_of
from tests.profiles import sized

PLAYED_GAMES = (
    *("auction-2024", "swap-2022", "probability"),
    *sized((), ("auction-2024-mit", "site-nl")),
)


def forged(record: Events) -> Events:
    """The winner of the last pot is paid a chip that nobody put in."""
    splits = [place for place, one in enumerate(record) if isinstance(one, t.PotSplit)]
    if not splits:
        return record
    split = cast(t.PotSplit, record[splits[-1]])
    more = replace(split, shares=(split.shares[0] + 1, *split.shares[1:]))
    return (*record[: splits[-1]], more, *record[splits[-1] + 1 :])


def _with_a_forgery(one: Kept) -> Kept:
    first, *rest = one.hands
    return one._replace(hands=(forged(first), *rest))


PLAYED = tuple(map(_with_a_forgery, matches(GAMES[name] for name in PLAYED_GAMES)))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return ledger_of(tmp_path_factory.mktemp("judged") / "ledger", PLAYED)


def judged(snapshot: Snapshot, verdicts: Verdicts) -> dict[int, str]:
    """Every verdict, after all were judged."""
    *_, last = verdicts.judge(snapshot)
    assert last.done == last.total
    known = verdicts.known(snapshot)
    assert 0 == known.left
    return by_hand(known.rows)


def by_hand(rows: Any) -> dict[int, str]:
    return dict(zip(rows["hand_seq"].to_pylist(), rows["verdict"].to_pylist(), strict=True))


@cache
def by_engine(snapshot: Snapshot) -> dict[int, str]:
    """What the engine says of each hand, without any batch audit."""
    found: dict[int, str] = {}
    for one in snapshot.hands():
        record = cast(Events, tuple(it.event for it in snapshot.read(one.hand)))
        game = RULESETS[start_of(record).game]
        found[one.hand_seq] = judge(game, record, GAMES.get(game.partner or "")).verdict
    return found


def test_they_are_what_the_engine_says(snapshot: Snapshot, tmp_path: Path) -> None:
    expected = by_engine(snapshot)
    assert {"agree", "contested", "differ"} <= set(expected.values())
    assert expected == judged(snapshot, Verdicts(tmp_path))


def test_nothing_is_known_before_somebody_judges(snapshot: Snapshot, tmp_path: Path) -> None:
    known = Verdicts(tmp_path).known(snapshot)
    assert (0, snapshot.next_seq) == (known.rows.num_rows, known.left)


def test_a_few_that_are_left_are_judged_at_once(snapshot: Snapshot, tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path)
    assert snapshot.next_seq == verdicts.known(snapshot, snapshot.next_seq - 1).left
    assert 0 == verdicts.known(snapshot, snapshot.next_seq).left


def test_progress_counts_to_its_end(snapshot: Snapshot, tmp_path: Path) -> None:
    told = list(Verdicts(tmp_path).judge(snapshot))
    assert told[0] == Progress(0, snapshot.next_seq)
    assert told[-1] == Progress(snapshot.next_seq, snapshot.next_seq)
    assert told == sorted(told)


def test_who_stops_keeps_what_was_judged(snapshot: Snapshot, tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path)
    begun = verdicts.judge(snapshot)
    assert 0 == next(begun).done
    done = next(begun).done
    cast(Any, begun).close()
    assert 0 < done < snapshot.next_seq
    assert snapshot.next_seq - done == verdicts.known(snapshot).left
    assert by_engine(snapshot) == judged(snapshot, verdicts)


def test_some_hands_are_judged_before_all_others(snapshot: Snapshot, tmp_path: Path) -> None:
    verdicts, expected = Verdicts(tmp_path), by_engine(snapshot)
    some = np.array(sorted(expected)[::-7])
    assert Progress(len(some), len(some)) == list(verdicts.judge(snapshot, some))[-1]
    known = by_hand(verdicts.known(snapshot).rows)
    assert {seq: expected[seq] for seq in some.tolist()}.items() <= known.items()
    passed = known.keys() - set(some.tolist())
    assert {"agree"} == {known[seq] for seq in passed}
    assert expected == judged(snapshot, verdicts)


def sealed(snapshot: Snapshot) -> int:
    """How many closed hands and records are in segments."""
    return snapshot.parts().segments[-1].last_seq + 1


def test_sealed_hands_are_kept_for_the_next_process(snapshot: Snapshot, tmp_path: Path) -> None:
    expected = judged(snapshot, Verdicts(tmp_path))
    known = Verdicts(tmp_path).known(snapshot)
    assert snapshot.next_seq - sealed(snapshot) == known.left
    kept = {seq: verdict for seq, verdict in expected.items() if seq < sealed(snapshot)}
    assert kept == by_hand(known.rows)
    assert len(list(tmp_path.iterdir())) == len(snapshot.parts().segments)


def test_what_another_process_kept_meanwhile_is_found(snapshot: Snapshot, tmp_path: Path) -> None:
    waiting = Verdicts(tmp_path)
    assert snapshot.next_seq == waiting.known(snapshot).left
    judged(snapshot, Verdicts(tmp_path))
    assert snapshot.next_seq - sealed(snapshot) == waiting.known(snapshot).left


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a bit": lambda whole: bytes((*whole[:-1], whole[-1] ^ 1)),
    "the digest": lambda whole: bytes((whole[0] ^ 1, *whole[1:])),
    "the end": lambda whole: whole[:-1],
    "all but a few bytes": lambda whole: whole[:20],
    "everything": lambda whole: b"",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_file_is_not_believed(what: str, snapshot: Snapshot, tmp_path: Path) -> None:
    damage = DAMAGES[what]
    expected = judged(snapshot, Verdicts(tmp_path))
    for file in tmp_path.iterdir():
        file.write_bytes(damage(file.read_bytes()))
    assert snapshot.next_seq == Verdicts(tmp_path).known(snapshot).left
    assert expected == judged(snapshot, Verdicts(tmp_path))
    assert snapshot.next_seq > Verdicts(tmp_path).known(snapshot).left


def test_a_file_of_another_segment_is_not_believed(snapshot: Snapshot, tmp_path: Path) -> None:
    judged(snapshot, Verdicts(tmp_path))
    first, second = sorted(tmp_path.iterdir())[:2]
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(whole)
    lost = snapshot.next_seq - sealed(snapshot) < Verdicts(tmp_path).known(snapshot).left
    assert lost


def test_another_program_judges_anew_and_leaves_no_old_files(
    snapshot: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = judged(snapshot, Verdicts(tmp_path))
    before = {file.name for file in tmp_path.iterdir()}
    monkeypatch.setattr("api.questions.verdicts.program_digest", lambda: "another")
    assert snapshot.next_seq == Verdicts(tmp_path).known(snapshot).left
    assert expected == judged(snapshot, Verdicts(tmp_path))
    after = {file.name for file in tmp_path.iterdir()}
    assert len(before) == len(after)
    assert not before & after


def test_whatever_decides_a_verdict_is_in_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, readings, batch audit, how events are read: change a file, and the key is another."""
    assert all((module.ROOT / place).exists() for place in module.VERDICT_SOURCES)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for place in module.VERDICT_SOURCES:
        file = tmp_path / place / "rules.py" if "." not in place else tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("one = 1")
    keys = [_program()]
    for place in module.VERDICT_SOURCES:
        (file,) = {tmp_path / place, tmp_path / place / "rules.py"} & set(tmp_path.rglob("*.py"))
        file.write_text("one = 2")
        keys.append(_program())
    for place in ("odds/preflop.bin", "engine/steps.sql", "analytics/replay/page.css"):
        (tmp_path / place).write_bytes(b"3")
        keys.append(_program())
    assert len(keys) == len(set(keys))
    assert keys[-1] == _program()


ASKING = ("api/questions/verdicts.py", "api/importing/worker.py", "api/importing/batch_audited.py")
JUDGES_NOTHING = {  # what these ask for otherwise
    "api/importing/input_copies.py": "which files there are",
    "api/importing/index.py": "what a hand is called",
    "api/importing/spill.py": "where it waits",
    "api/playing/names.py": "what a player is called",
    "api/playing/recording.py": "what a stream begins with",
}


def test_whatever_a_verdict_comes_from_is_among_what_decides() -> None:
    """Imports are followed: of a module that decides all that it imports decides, too."""
    root, deciding = module.ROOT, module.VERDICT_SOURCES
    asking = [root / name for name in ASKING]
    begun = [file for place in deciding for file in _files(root / place) if file not in asking]
    found, waiting = set(begun), list(begun)
    while waiting:
        new = set(imported(waiting.pop(), root)) - found
        found |= new
        waiting += new
    names = {
        file.relative_to(root).as_posix()
        for file in found.union(*(imported(it, root) for it in asking))
    }
    outside = {
        name
        for name in names
        if not any(name == it or name.startswith(f"{it}/") for it in deciding)
    }
    assert JUDGES_NOTHING.keys() == outside
    asked = {"api/auditing/record.py", "engine/verdict.py", "analytics/batch_audit/payout_check.py"}
    assert asked <= names


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(place.rglob("*.py"))


def imported(file: Path, root: Path) -> Iterator[Path]:
    """The files of this house that a file imports when it is run."""
    tree = ast.parse(file.read_text())
    names = set[str]()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update((f"{node.module}", *(f"{node.module}.{it.name}" for it in node.names)))
    for name in names:
        place = root.joinpath(*name.split("."))
        yield from (it for it in (place.with_suffix(".py"), place / "__init__.py") if it.exists())


def statements(inside: ast.AST) -> Iterator[ast.AST]:
    """All in it that may import when it is run, in whatever block; no expression can."""
    for node in ast.iter_child_nodes(inside):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from statements(node)


def _program() -> str:
    module.program_digest.cache_clear()
    try:
        return module.program_digest()
    finally:
        module.program_digest.cache_clear()


def test_many_at_once_come_to_the_same(snapshot: Snapshot, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: judged(snapshot, Verdicts(tmp_path)), range(4)))
    assert [by_engine(snapshot)] * 4 == told
    assert [] == [file.name for file in tmp_path.iterdir() if file.suffix != ".bin"]


def test_one_for_many_threads_comes_to_the_same(snapshot: Snapshot, tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: judged(snapshot, verdicts), range(4)))
    assert [by_engine(snapshot)] * 4 == told


def test_without_a_folder_they_are_known_all_the_same(snapshot: Snapshot, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    assert by_engine(snapshot) == judged(snapshot, Verdicts(file / "verdicts"))


def test_sealing_loses_nothing(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path / "ledger"), (), seal_hands=NEVER)
    verdicts = Verdicts(tmp_path / "cache")
    hands = [hand for one in PLAYED for hand in one.hands]
    left = []
    for start in range(0, 20, 5):
        ledger.append(*(Append(start_of(hand).hand, 0, hand, AT) for hand in hands[start:][:5]))
        snapshot = Reader(tmp_path / "ledger").snapshot()
        left.append(verdicts.known(snapshot).left)
        judged(snapshot, verdicts)
        ledger.seal()
        left.append(verdicts.known(Reader(tmp_path / "ledger").snapshot()).left)
    ledger.close()
    assert [5, 0] * 4 == left


def test_a_hand_whose_rules_nobody_has_is_judged_when_somebody_has_them(tmp_path: Path) -> None:
    game = GAMES["probability"]
    other = replace(game, script=tuple(map(_doubled, game.script)))
    (one,) = (it for it in PLAYED if it.name == "closed-probability")
    first, *rest = one.hands[1]
    record = (replace(cast(t.HandStarted, first), ruleset=fingerprint(other)), *rest)
    ledger = FileLedger(RealDisk(tmp_path / "ledger"), (), seal_hands=NEVER)
    ledger.append(Append(start_of(record).hand, 0, record, AT))
    ledger.seal()
    ledger.close()
    snapshot = Reader(tmp_path / "ledger").snapshot()
    assert {} == judged(snapshot, Verdicts(tmp_path / "cache"))
    assert 0 == Verdicts(tmp_path / "cache").known(snapshot).left
    folder = tmp_path / "ledger" / "rulesets"
    folder.mkdir(exist_ok=True)
    (folder / f"{fingerprint(other)}.json").write_bytes(to_json(other))
    snapshot = Reader(tmp_path / "ledger").snapshot()
    assert {0: "differ"} == judged(snapshot, Verdicts(tmp_path / "cache"))


def _doubled(step: Any) -> Any:
    if not isinstance(step, Blinds):
        return step
    return replace(step, small=2 * step.small, big=2 * step.big)


@pytest.mark.parametrize("view", ["public", "seat:ursa"])
def test_a_viewer_is_told_of_hands_that_are_open_to_all(
    view: str, snapshot: Snapshot, tmp_path: Path
) -> None:
    verdicts = Verdicts(tmp_path)
    expected = judged(snapshot, verdicts)
    viewed = LedgerView(snapshot, Viewer(view))
    told = by_hand(visible_rows(verdicts.known(snapshot), viewed))
    matches = {one.hand_seq: one.hand.rpartition("/")[0] for one in snapshot.hands()}
    open_to_all = {seq for seq, match in matches.items() if match.startswith(("open-", "after-"))}
    assert {seq: expected[seq] for seq in open_to_all} == told
    assert told


def test_an_auditor_is_told_of_all(snapshot: Snapshot, tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path)
    expected = judged(snapshot, verdicts)
    assert expected == by_hand(
        visible_rows(verdicts.known(snapshot), LedgerView(snapshot, Viewer("auditor")))
    )

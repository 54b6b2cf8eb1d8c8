"""`audit --all` by batch audit and by the engine alone: one document, on every public corpus.

How much of a corpus the batch audit answers for is said too: if it left everything to the engine,
it would agree with it just as well.
"""

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analytics.batch_audit.batches import BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from api.auditing.batches import passed_entry
from api.auditing.record import RulesetLookup
from store.reader import Reader
from tests import profiles
from tests.sessions import Captured, printed

SHARED = Path(__file__).parents[2].parent / "shared/data"
Take = Callable[[Path], list[Path]]


def _all(path: Path) -> list[Path]:
    return [path]


def _ending(end: str) -> Take:
    return lambda path: sorted(path.glob(f"*{end}"))[:1]


def _needs(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: its hands cannot be imported")
    return path


def _unpacked(path: Path, folder: Path, most: int | None) -> Path:
    """A packed file beside the ledger, or the first files of an archive."""
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as tar:
            members = [member for member in tar if member.isfile()][:most]
            tar.extractall(folder, members)
        return folder
    target = folder / path.name.removesuffix(".gz")
    folder.mkdir()
    target.write_bytes(gzip.decompress(path.read_bytes()))
    return target


def _same(capsys: Captured, folder: Path, fewest: float) -> None:
    """The same document, and from `ci` on the same table (`tests/test_cli_parameters.py` has one);
    and of so many hands the batch audit alone has judged."""
    words = ("audit", "--all", "--ledger", str(folder))
    document = _printed(capsys, *words, "--json")
    assert document == _printed(capsys, *words, "--engine", "--json")
    if profiles.chosen() != "quick":
        assert _printed(capsys, *words) == _printed(capsys, *words, "--engine")
    snapshot = Reader(folder).snapshot()
    auditor = BatchAuditor(RulesetLookup(snapshot, None).by_fingerprint, WordIds())
    found = list(audited_batches(snapshot, auditor))
    hands = sum(map(len, found))
    left = sum(passed_entry(one, place) is None for one in found for place in range(len(one)))
    assert hands == len(json.loads(document)["hands"])
    print(f"\n{hands} hands, {left} of them to the engine")
    assert hands - left >= fewest * hands


def _printed(capsys: Captured, *words: str) -> str:
    from api.main import main

    main(list(words))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("corpus", "take", "fewest"),
    [
        pytest.param("mit/2022", _ending(".txt"), 0.9, marks=pytest.mark.ci),
        ("mit/2024", _ending(".txt"), 0.9),
        pytest.param("mit/made/2024", _all, 0.9, marks=pytest.mark.slow),
        pytest.param("acpc/2p.limit.h1000.r0.log", _all, 0.9, marks=pytest.mark.ci),
        ("phh/wsop-2023-43-5", _all, 0.0),
        # The same site's files are in `hhsmithy`, fewer of them.
        pytest.param("pokerstars/fpdb", _all, 0.3, marks=pytest.mark.slow),
        ("pokerstars/hhsmithy", _all, 0.2),
    ],
)
def test_a_corpus_is_judged_alike(
    corpus: str, take: Take, fewest: float, capsys: Captured, tmp_path: Path
) -> None:
    files = take(_needs(corpus))
    ledger = tmp_path / "ledger"
    _printed(capsys, "import", *map(str, files), "--no-audit", "--ledger", str(ledger))
    _same(capsys, ledger, fewest)


@pytest.mark.parametrize(
    ("corpus", "most", "fewest"),
    [
        ("phh/pluribus-visible.tar.gz", 60, 0.9),
        pytest.param("irc/199504-visible.tar.gz", None, 0.5, marks=pytest.mark.slow),
        pytest.param("acpc/deepstack-first10000.log.gz", None, 0.9, marks=pytest.mark.slow),
        pytest.param("pokerstars/pluribus-visible.tar.gz", None, 0.5, marks=pytest.mark.slow),
        pytest.param("phh/pluribus-visible.tar.gz", None, 0.9, marks=pytest.mark.slow),
    ],
)
def test_a_packed_corpus_is_judged_alike(
    corpus: str, most: int | None, fewest: float, capsys: Captured, tmp_path: Path
) -> None:
    path = _unpacked(_needs(corpus), tmp_path / "unpacked", most)
    ledger = tmp_path / "ledger"
    _printed(capsys, "import", str(path), "--no-audit", "--ledger", str(ledger))
    _same(capsys, ledger, fewest)


def test_a_ledger_of_our_own_is_judged_alike(capsys: Captured, folder: Path) -> None:
    _same(capsys, folder, 0.7)  # twelve of its hands are of URCS, for the engine


def test_hands_before_and_after_a_seal_are_judged(capsys: Captured, tmp_path: Path) -> None:
    ledger = ("--ledger", str(tmp_path / "ledger"))
    for number in range(3):
        words = ("auction-2024", "--hands", "5", "--seed", str(number), "--match", f"m{number}")
        printed(capsys, "play", *words, *ledger)
        if number == 1:
            printed(capsys, "compact", *ledger)
    _same(capsys, tmp_path / "ledger", 0.8)


def test_other_rules_are_asked_of_the_batch_audit_too(capsys: Captured, folder: Path) -> None:
    words = ("audit", "--all", "--json", "--ledger", str(folder), "--ruleset", "auction-2024-mit")
    assert _printed(capsys, *words) == _printed(capsys, *words, "--engine")


def test_the_engine_is_chosen_for_all_or_not_at_all(capsys: Captured, folder: Path) -> None:
    from api.main import main

    assert 2 == main(["audit", "scrim/1", "--engine", "--ledger", str(folder)])
    assert "--engine is for --all" in capsys.readouterr().err

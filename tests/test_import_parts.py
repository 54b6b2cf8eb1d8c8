"""A very large file is read in parts, by several processes: nobody can tell by what comes of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from api.importing import pool
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import InputFile, inputs
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions, ImportOutcome
from bench.import_texts import phh_files, pokerstars_files
from events.ledger import Record
from formats import file_parts, registry
from formats.source import AS_READ, Refused, Skipped, SourceHand
from store.ledger import FileLedger
from tests.foreign import opened

AT = 1_700_000_000_000
HANDS = 23  # of a file; of a part 5


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_parts, "PART_HANDS", 5)
    monkeypatch.setattr(pool, "LARGE", 0)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A file of each format that can be cut."""
    folder = tmp_path_factory.mktemp("texts")
    made = {
        "phh": phh_files(folder / "phh", HANDS),
        "pokerstars": pokerstars_files(folder / "ps", HANDS),
    }
    return {name: next(path.iterdir()).read_text("utf-8") for name, path in made.items()}


ODD: dict[str, tuple[str, Callable[[str], str]]] = {
    "a file as it ought to be": ("phh", str),
    "another": ("pokerstars", str),
    "lines that end as on Windows": ("pokerstars", lambda text: text.replace("\n", "\r\n")),
    "a mark before the first line": ("pokerstars", lambda text: "\ufeff" + text),
    "names beyond ASCII": ("phh", lambda text: text.replace("'ann'", "'Zoë'")),
    "an amount of half a chip in the last hand": (
        "phh",
        lambda text: "1010.5".join(text.rpartition("1000")[::2]),
    ),
    "a hand that is left out": ("phh", lambda text: text.replace("'NT'", "'PO'", 8)),
    "a hand of another site": (
        "pokerstars",
        lambda text: text.replace("\n\n", "\n\nEvery Poker Hand #12: x\n\n", 9),
    ),
    "the header of a hand in the middle of a line": (
        "pokerstars",
        lambda text: text.replace("\nPokerStars Hand #6:", "\nx PokerStars Hand #6:"),
    ),
    "a table of a name that is there": ("phh", lambda text: text.replace("[17]", "[2]")),
    "a line like a header inside an array": (
        "phh",
        lambda text: text.replace("[12]\n", "[12]\n_note = [\n[6]\n]\n").replace(
            "[6]\nv", "[6 ]\nv"
        ),
    ),
    "a header that is written otherwise": ("phh", lambda text: text.replace("[3]", "[ '3' ] # x")),
    "a comment before everything": ("phh", lambda text: f"# by hand\n\n{text}"),
    "a table without fields": ("phh", lambda text: text.replace("[9]\n", "[90]\n\n[9]\n")),
    "bytes of another encoding": ("pokerstars", lambda text: text.replace("ann", "an\udce9")),
    "a line that ends in the old way": (
        "pokerstars",
        lambda text: text.replace("\n\n", "\r\n\n\r"),
    ),
    "a file cut off": ("phh", lambda text: text[:-40]),
    "damage in the middle": ("pokerstars", lambda text: text.replace("Hand #14", "Ha\0nd #14")),
}


@pytest.fixture
def files(texts: dict[str, str], tmp_path: Path) -> list[InputFile]:
    """A file for each oddity."""
    for number, (format, change) in enumerate(ODD.values()):
        text = change(texts[format])
        path = tmp_path / "files" / f"{number:02}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return list(inputs([tmp_path / "files"], tmp_path / "ledger"))


def told(
    path: Path, format: str, part: file_parts.FilePart | None = None
) -> list[SourceHand | Skipped]:
    return list(registry.read(path, registry.FORMATS[format], AS_READ, part).hands)


@pytest.mark.parametrize("odd", ODD)
def test_the_parts_tell_what_the_whole_tells(odd: str, files: list[InputFile]) -> None:
    """Or one of them is refused, or holds other hands than were counted."""
    format, path = ODD[odd][0], files[list(ODD).index(odd)].path
    try:
        parts = file_parts.split_file(path, format)
        found = [told(path, format, part) for part in parts]
    except Refused:
        return
    if parts and [len(some) for some in found] == [part.hands for part in parts]:
        assert told(path, format) == [one for some in found for one in some]


def test_ordinary_files_are_cut(files: list[InputFile]) -> None:
    ordinary = (0, 1, 2, 3, 4, 5, 6)
    formats = [format for format, _ in ODD.values()]
    sizes = [
        [part.hands for part in file_parts.split_file(files[at].path, formats[at])]
        for at in ordinary
    ]
    assert [[5, 5, 5, 5, 3]] * len(ordinary) == sizes


def test_what_comes_of_a_file_is_the_same(
    files: list[InputFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is odd about it, and every stream to the last word; no spool is left."""
    monkeypatch.setattr(
        pool, "_in_processes", lambda works, tick, count: pool._in_this_process(works, tick)
    )
    came = []
    for processes in (1, 2):
        scratch = tmp_path / f"scratch-{processes}"
        scratch.mkdir()
        with opened(tmp_path / f"ledger-{processes}") as ledger:
            read = outcomes(
                files, ImportOptions(), scratch, AT, ledger.nonces, lambda n: None, processes
            )
            done = [
                (told_of(one), count) for one, count in ImportWriter(ledger, "sealed").write(read)
            ]
            came.append((done, streams(ledger)))
        assert [] == list(scratch.iterdir())
    assert came[0] == came[1]


def streams(ledger: FileLedger) -> dict[str, list[Record]]:
    """Every stream; in which order hands closed is a matter of how many came together."""
    found: dict[str, list[Record]] = {}
    for one in ledger.read_from(0):
        found.setdefault(one.stream, []).append(one.event)
    return found


def told_of(found: ImportOutcome) -> dict[str, object]:
    """All that a report is made of: where its events waited is nobody's business."""
    kept = (name for name in found.__struct_fields__ if name not in ("spill", "chunks"))
    return {name: getattr(found, name) for name in kept}

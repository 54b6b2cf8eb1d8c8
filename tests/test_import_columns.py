"""Gamelogs in columns: what is taken so is, to the byte, what comes of them hand by hand."""

import random
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import asdict, replace

from api.importing import pool, spill, worker
from api.importing.input_copies import inputs
from api.importing.spill import read_chunk
from api.importing.worker import ImportOptions, ImportOutcome
from dealer.play import play
from engine.games import RULESETS
from events.ledger import Append
from events.state import Hand
from events.types import Events
from formats import hand_records, registry
from formats.mit.dialects import LogNote, source_note
from formats.mit.write import write
from formats.source import SourceHand
from store.proof.ledger_secrets import SaltedSecret
from store.segments.staged_batches import StagedBatch, StagedLeaf, decode_batch
from tests.profiles import sized

OPTIONS = ImportOptions(audit=False)
AT = 1_700_000_000_000
MIT = Path(__file__).parents[1].parent / "shared/data/mit"
DIALECTS = {
    "A0": "auction-2024-a0",
    "A1": "auction-2024-mit",
    "A2": "auction-2024-mit",
    "A3": "auction-2024-mit",
    "S1": "swap-2022-mit",
    "S2": "swap-2022-mit",
    "S3": "swap-2022-mit",
}
HANDS = sized(24, 60)  # of a log
COURSES = {"A": "6.9630", "S": "6.176"}


def log(dialect: str, rounds: int = HANDS, seed: str = "columns", stack: int | None = None) -> str:
    """Hands of random bots, as the engine of that dialect would have written them."""
    game = RULESETS[DIALECTS[dialect]]
    game = game if stack is None else replace(game, stack=stack)
    records = list(islice(play(game, "m", rounds, seed), rounds))
    header = f"{COURSES[dialect[0]]} MIT Pokerbots - random-0 vs random-1"
    footer = "\nrandom-0 flop bets EV: 0" if dialect in ("A3", "S3") else ""
    return write(records, source_note(LogNote(dialect, header, footer)))


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that short logs are worth columns too."""
    monkeypatch.setattr(worker, "BATCH_HANDS", 1)
    monkeypatch.setattr(spill, "BATCH_HANDS", 1)


def imported(
    path: Path, scratch: Path, options: ImportOptions, *, columns: bool
) -> tuple[ImportOutcome, list[StagedBatch]]:
    """What comes of a file, in columns as far as it can, or hand by hand."""

    def hand_by_hand(*asked: Any) -> Any:
        return replace(registry.read(*asked), batches=None)

    with pytest.MonkeyPatch.context() as patch:
        if not columns:
            patch.setattr(worker, "read", hand_by_hand)
        (file,) = inputs([path], scratch)
        with spill.open_spill(scratch / "spool", AT, SaltedSecret(b"s" * 32)) as out:
            found = worker.import_file(file, options, out, lambda hands: None)
        batches = [decode_batch(read_chunk(chunk)[1]) for chunk in found.chunks]
    return replace(found, chunks=[]), batches


def alike(text: str | bytes, scratch: Path, options: ImportOptions | None = None) -> ImportOutcome:
    """Both ways tell the same, and make the same events, rows and digests."""
    path = scratch / "log.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    options = options or OPTIONS
    slow, slow_batches = imported(path, scratch, options, columns=False)
    fast, fast_batches = imported(path, scratch, options, columns=True)
    assert asdict(slow) == asdict(fast)
    assert leaves(slow_batches) == leaves(fast_batches)
    assert appends(slow_batches) == appends(fast_batches)
    assert [] == [name for batch in fast_batches for name in repeating(batch.rows)]
    if len(slow_batches) == len(fast_batches) == 1:
        slow_rows, fast_rows = slow_batches[0].rows, fast_batches[0].rows
        assert slow_rows.to_pylist() == fast_rows.to_pylist()
        assert slow_rows.schema.names == fast_rows.schema.names
    return fast


def leaves(batches: list[StagedBatch]) -> list[StagedLeaf]:
    return [leaf for batch in batches for leaf in batch.leaves]


def repeating(events: pa.Table) -> list[str]:
    """Columns with a word that is numbered twice: Parquet would write all of their cells out, in
    more bytes, and not twice in the same ones."""
    columns = (it for it in events.schema if pa.types.is_dictionary(it.type))
    told = ((it.name, chunk.dictionary) for it in columns for chunk in events[it.name].chunks)
    return [name for name, words in told if len(words) != len(words.unique())]


def appends(batches: list[StagedBatch]) -> list[Append]:
    return [one for batch in batches for one in batch.appends()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_comes_to_the_same(dialect: str, tmp_path: Path) -> None:
    found = alike(log(dialect), tmp_path)
    assert (dialect, HANDS, []) == (found.dialect, found.hands, found.skipped)


@pytest.mark.parametrize("dialect", ["A1", "S3"])
def test_an_audit_says_the_same(dialect: str, tmp_path: Path) -> None:
    found = alike(log(dialect), tmp_path, ImportOptions(audit=True))
    assert HANDS == sum(found.verdicts.values())


def test_stacks_of_millions_come_to_the_same(tmp_path: Path) -> None:
    """Two bids and their price are too much for one number, by which rows are told apart."""
    found = alike(log("A3", stack=30_000_000), tmp_path)
    assert (HANDS, None) == (found.hands, found.refused)


def test_players_are_called_what_was_asked_for(tmp_path: Path) -> None:
    found = alike(log("A3"), tmp_path, ImportOptions(names={"random-0": "ursa"}, audit=False))
    assert ["ursa", "random-1"] == list(found.nets)
    both = ImportOptions(names={"random-0": "ursa", "random-1": "ursa"}, audit=False)
    refused = alike(log("A3"), tmp_path, both).refused
    assert refused is not None
    assert "play one hand" in refused.reason


def test_hands_pass_as_columns_unless_something_is_odd_about_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of the other tests: nearly all that random bots do needs no second look."""
    looked_at: list[int] = []

    def followed(hand: SourceHand, name: str) -> tuple[Events, Hand]:
        looked_at.append(hand.number)
        return hand_records.hand_record_and_state(hand, name)

    monkeypatch.setattr(worker, "hand_record_and_state", followed)
    for dialect in sized(("A3", "S3"), DIALECTS):
        (tmp_path / "log.txt").write_text(log(dialect, 30))
        imported(tmp_path / "log.txt", tmp_path, OPTIONS, columns=True)
    assert len(looked_at) < 5


def test_a_log_in_many_parts_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a hand, or an empty line, is cut by the end of what is read at once."""
    monkeypatch.setattr("formats.mit.parts.PART_HANDS", 7)
    monkeypatch.setattr("formats.mit.read._KEPT_MAX", 20)
    for piece in sized((64,), (997, 64, 1 << 16)):
        monkeypatch.setattr("formats.mit.parts._PIECE", piece)
        monkeypatch.setattr("formats.mit.parts._KNOWN_MAX", piece)
        alike(log("A2", 40), tmp_path)


@pytest.mark.parametrize("dialect", sized(["S1"], ["A3", "S1"]))
def test_a_large_log_read_in_parts_comes_to_the_same(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part with nothing but what is known of the whole log, as another process reads it."""
    monkeypatch.setattr("formats.mit.parts.PART_HANDS", 11)
    monkeypatch.setattr(pool, "LARGE", 1)
    text = damaged(dialect, random.Random("large"), 5, 60).replace("random-0", "Zoë")
    (tmp_path / "log.txt").write_text(text)
    whole, whole_batches = imported(tmp_path / "log.txt", tmp_path, OPTIONS, columns=True)
    (file,) = inputs([tmp_path / "log.txt"], tmp_path)
    ticks: list[int] = []
    cut = pool.split_large(file, OPTIONS, tmp_path / "copy", ticks.append)
    assert (6, 7) == (len(cut), len(ticks))
    found = []
    for at, part in enumerate(cut):
        with spill.open_spill(tmp_path / f"{at}.spill", AT, SaltedSecret(b"s" * 32)) as out:
            found.append(worker.import_file(part, OPTIONS, out, lambda hands: None))
    batches = [decode_batch(read_chunk(chunk)[1]) for one in found for chunk in one.chunks]
    (joined,) = pool.joined_outcomes([found], lambda file: pytest.fail("a part was refused"))
    assert asdict(whole) == asdict(replace(joined, file=file, chunks=[], spill=whole.spill))
    assert leaves(whole_batches) == leaves(batches)
    assert appends(whole_batches) == appends(batches)


@pytest.mark.parametrize("encoded", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_ends_of_lines_come_to_the_same(encoded: str, tmp_path: Path) -> None:
    text = log("S1", 40).replace("random-0", "Zoë II")
    found = alike(text.replace("\n", "\r\n").encode(encoded), tmp_path)
    assert (40, None) == (found.hands, found.refused)


# Hands with something odd about them.


def damaged(dialect: str, dice: random.Random, share: int, hands: int = HANDS) -> str:
    """Every so many hands something is changed; banks and the final line are summed up anew, so
    that the log as a whole still fits."""
    header, *rounds, final = log(dialect, hands).split("\n\n")
    damages = DAMAGES + (SWAPPED if dialect[0] == "S" else ())
    found = [header]
    banks = {"random-0": 0, "random-1": 0}
    for number, one in enumerate(rounds, 1):
        lines = one.split("\n")[1:]
        if not dice.randrange(share):
            dice.choice(damages)(lines, dice)
        order = sorted(banks, reverse=number % 2 == 0)
        told = ", ".join(f"{name} ({banks[name]})" for name in order)
        found.append("\n".join([f"Round #{number}, {told}", *lines]))
        for name in banks:
            awards = (re.fullmatch(rf"{name}(?: .swapped.)? awarded (.*)", it) for it in lines)
            banks[name] += sum(int(award[1]) for award in awards if award)
    order = sorted(banks, reverse=len(rounds) % 2 == 1)
    told = ", ".join(f"{name} ({banks[name]})" for name in order)
    footer = "".join(final.partition("\n")[1:])
    return "\n\n".join([*found, f"Final, {told}{footer}"])


def _some(lines: list[str], dice: random.Random, pattern: str) -> int | None:
    places = [at for at, line in enumerate(lines) if at > 3 and re.search(pattern, line)]
    return dice.choice(places) if places else None


def _in(pattern: str, new: Callable[[random.Random, str], str]) -> "Damage":
    """A damage: where a line has this, it has something else."""

    def damage(lines: list[str], dice: random.Random) -> None:
        at = _some(lines, dice, pattern)
        if at is not None:
            found = re.search(pattern, lines[at])
            assert found is not None
            lines[at] = lines[at][: found.start()] + new(dice, found[0]) + lines[at][found.end() :]

    return damage


def _left_out(lines: list[str], dice: random.Random) -> None:
    at = _some(lines, dice, "folds|checks|calls|bets|raises|bids|shows|hand:|won|Turn|River")
    if at is not None:
        del lines[at]


def _twice(lines: list[str], dice: random.Random) -> None:
    at = _some(lines, dice, "folds|checks|calls|bets|raises|Flop|Turn|River|hand:|shows")
    if at is not None:
        lines.insert(at, lines[at])


def _swapped_order(lines: list[str], dice: random.Random) -> None:
    at = _some(lines[:-3], dice, "folds|checks|calls|bets|raises|bids|shows|hand:|won")
    if at is not None and not re.search("awarded|Flop", lines[at + 1]):
        lines[at], lines[at + 1] = lines[at + 1], lines[at]


def _wrong_award(lines: list[str], dice: random.Random) -> None:
    by = dice.choice([1, -1, 7])
    for at, line in enumerate(lines):
        if found := re.fullmatch(r"(.* awarded )(.*)", line):
            lines[at] = f"{found[1]}{int(found[2]) + by}"
            by = -by


def _bad_reply(lines: list[str], dice: random.Random) -> None:
    at = _some(lines, dice, " (folds|checks)$")
    if at is not None:
        name = lines[at].partition(" ")[0]
        lines.insert(at, f"{name} attempted illegal CallAction")


def _gone(lines: list[str], dice: random.Random) -> None:
    if not dice.randrange(20):
        at = _some(lines, dice, " (folds|checks)$")
        if at is not None:
            lines.insert(at, f"{lines[at].partition(' ')[0]} ran out of time")


def _other_card(dice: random.Random, card: str) -> str:
    return dice.choice("23456789TJQKA") + dice.choice("cdhs")


def _other_number(dice: random.Random, number: str) -> str:
    return str(max(0, int(number) + dice.choice([-1, 1, 1, 2, 100, 3_000_000_000])))


Damage = Callable[[list[str], random.Random], None]
DAMAGES: tuple[Damage, ...] = (
    _left_out,
    _twice,
    _swapped_order,
    _wrong_award,
    _bad_reply,
    _gone,
    _in(r"\b[2-9TJQKA][cdhs]\b", _other_card),
    _in(r"(?<=raises to )\d+|(?<=bets )\d+|(?<=bids )\d+", _other_number),
    _in(r"(?<=\()\d+(?=\)$)", _other_number),
    _in(r"(?<=bids of )\d+", _other_number),
    _in(r"folds$|checks$|calls$", lambda dice, it: dice.choice(["folds", "checks", "calls"])),
    _in(r"^random-\d(?= (folds|checks|calls|bets|raises|bids))", lambda dice, it: "random-0"),
    _in(r"bets|raises to", lambda dice, it: "bets" if it == "raises to" else "raises to"),
)
SWAPPED: tuple[Damage, ...] = (
    _in(r"(?<=\d) awarded", lambda dice, it: " (swapped) awarded"),
    _in(r" .swapped. awarded", lambda dice, it: " awarded"),
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_damaged_hands_come_to_the_same(dialect: str, tmp_path: Path) -> None:
    """Left out, claimed or contested: what is said of them, and what is recorded."""
    dice = random.Random(dialect)
    found = [
        alike(damaged(dialect, dice, share), tmp_path) for share in sized((2,), (2, 20), (2, 6, 20))
    ]
    assert any(one.skipped or one.refused for one in found)


@pytest.mark.parametrize("seed", range(sized(3, 4, 6)))
def test_a_damaged_file_comes_to_the_same(seed: int, tmp_path: Path) -> None:
    """Lines lost, doubled or garbled: mostly it is refused, with the same line and reason."""
    dice = random.Random(seed)
    text = log(dice.choice(list(DIALECTS)), 12)
    for _ in range(8):
        lines = text.split("\n")
        at = dice.randrange(2, len(lines))
        lines[at : at + 1] = dice.choice(
            [[], [lines[at]] * 2, [""], [lines[at][:-1]], [f"{lines[at]}0"], [lines[at - 1]]]
        )
        alike("\n".join(lines), tmp_path)


# Logs that others wrote.


def _public() -> list[Path]:
    return sorted([*MIT.glob("20*/*.txt"), *MIT.glob("made/*/*.txt"), *MIT.glob("damaged/*.txt")])


@pytest.mark.skipif(not MIT.is_dir(), reason=f"the public gamelogs are not at {MIT}")
@pytest.mark.slow
@pytest.mark.parametrize("path", _public(), ids=lambda path: path.name)
def test_public_logs_come_to_the_same(path: Path, tmp_path: Path) -> None:
    alike(path.read_bytes(), tmp_path)

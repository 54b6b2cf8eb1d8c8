"""Plain hands in columns: what is vouched for is, to the byte, what comes of following each."""

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from api.importing import batch_audited, spill, worker
from api.importing.input_copies import inputs
from api.importing.spill import read_chunk
from api.importing.worker import ImportOptions, ImportOutcome
from bench.import_texts import phh_files, pokerstars_files
from dealer.play import play
from engine.games import RULESETS
from engine.policies import Rake
from formats import registry
from formats.hand_records import hand_record_and_state
from formats.phh.documents import write_all as write_all_phh
from formats.plain_records import plain_record
from formats.source import AS_READ, SourceHand
from store.proof.ledger_secrets import SaltedSecret
from store.segments.staged_batches import decode_batch
from tests.profiles import in_turn

AT = 1_700_000_000_000
OPTIONS = ImportOptions(audit=False)
SHARED = Path(__file__).parents[1].parent / "shared/data"


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that short files are worth columns too."""
    for module in (worker, spill, batch_audited):
        monkeypatch.setattr(module, "BATCH_HANDS", 1)


def tables(name: str, count: int, seats: int, seed: str = "plain") -> str:
    """Hands of random bots as a file of many tables; some of them with a rake."""
    game = RULESETS[name]
    raked = replace(game, rake=Rake(percent=5, of=100))
    hands = [
        (one, record, None)
        for one in (game, raked)
        for record in islice(play(one, "m", count, seed, seats), count)
    ]
    return "".join(write_all_phh(hands))


def imported(
    path: Path, options: ImportOptions, *, columns: bool
) -> tuple[ImportOutcome, list[Any]]:
    """What comes of a file, in columns as far as it can, or hand by hand."""

    def nothing(*asked: Any, audited: bool) -> tuple[None, Mapping[int, Any]]:
        return None, {}

    with pytest.MonkeyPatch.context() as patch:
        if not columns:
            patch.setattr(batch_audited, "fine_records", nothing)
        (file,) = inputs([path], path.parent / "ledger")
        with spill.open_spill(path.parent / "spool", AT, SaltedSecret(b"s" * 32)) as out:
            found = worker.import_file(file, options, out, lambda hands: None)
        chunks = [read_chunk(chunk) for chunk in found.chunks]
    return replace(found, chunks=[]), [(notes, decode_batch(hands)) for notes, hands in chunks]


def alike(text: str | bytes, folder: Path, options: ImportOptions = OPTIONS) -> ImportOutcome:
    """Both ways tell the same, chunk by chunk: notes, leaves, digests, every row."""
    path = folder / "hands.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    slow, slow_chunks = imported(path, options, columns=False)
    fast, fast_chunks = imported(path, options, columns=True)
    assert asdict(slow) == asdict(fast)
    assert list(slow.nets) == list(fast.nets)
    for (notes, batch), (told, made) in zip(slow_chunks, fast_chunks, strict=True):
        assert notes == told
        assert batch.leaves == made.leaves
        assert batch.rows.schema == made.rows.schema
        assert batch.rows.to_pylist() == made.rows.to_pylist()
    return fast


@pytest.mark.parametrize(
    ("name", "seats"), in_turn(("phh-nt", "phh-ft", "site-nl", "pokerstars-fl"), (2, 3, 6))
)
def test_hands_of_every_kind_come_to_the_same(name: str, seats: int, tmp_path: Path) -> None:
    found = alike(tables(name, 12, seats), tmp_path)
    assert (24, []) == (found.hands, found.skipped)


def test_tables_of_several_sizes_come_to_the_same(tmp_path: Path) -> None:
    texts = [tables("phh-nt", 8, seats, f"{seats}") for seats in (2, 9, 3)]
    text = "\n".join(one.replace("[", f"[{at}", 1) for at, one in enumerate(texts))
    numbered = (f"[{n}]\n{one}" for n, one in enumerate(_each(text), 1))
    found = alike("\n".join(numbered), tmp_path, ImportOptions(audit=True))
    assert found.hands == sum(found.verdicts.values()) > 40


def test_pokerstars_hands_come_to_the_same(tmp_path: Path) -> None:
    """There a hand thrown away at the showdown is nobody's: such hands are followed."""
    (path,) = pokerstars_files(tmp_path / "stars", 40).iterdir()
    for audit in (False, True):
        found = alike(path.read_text(), tmp_path, ImportOptions(audit=audit))
        assert (40, []) == (found.hands, found.skipped)


def test_players_are_called_what_was_asked_for(tmp_path: Path) -> None:
    text = tables("phh-nt", 5, 3)
    found = alike(text, tmp_path, ImportOptions(names={"random-0": "ursa"}, audit=False))
    assert {"ursa", "random-1", "random-2"} == found.nets.keys()
    both = ImportOptions(names={"random-0": "ursa", "random-1": "ursa"}, audit=False)
    refused = alike(text, tmp_path, both).refused
    assert refused is not None
    assert "play one hand" in refused.reason


@pytest.mark.parametrize("strict", [False, True])
def test_chunks_end_where_they_did(
    strict: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where some hands are left out, or so long that a chunk is full before its time."""
    for hands, events in ((7, 1000), (100, 190), (9, 150)):
        monkeypatch.setattr(spill, "CHUNK_HANDS", hands)
        monkeypatch.setattr(spill, "_EVENTS", events)
        alike(
            damaged(3, random.Random(hands), 3), tmp_path, ImportOptions(audit=False, strict=strict)
        )


def test_nearly_every_hand_needs_no_second_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of the other tests."""
    looked_at: list[int] = []

    def looked(hand: SourceHand, name: str) -> Any:
        looked_at.append(hand.number)
        return hand_record_and_state(hand, name)

    monkeypatch.setattr(worker, "hand_record_and_state", looked)
    (path,) = phh_files(tmp_path / "phh", 60).iterdir()
    imported(path, OPTIONS, columns=True)
    assert not looked_at


# Hands with something odd about them.


def _each(text: str) -> Iterator[str]:
    for one in text.split("\n\n"):
        yield one.partition("\n")[2].strip("\n") + "\n"


def damaged(seats: int, dice: random.Random, share: int) -> str:
    """Every so many hands something is changed in its actions, or in what was won."""
    found = []
    for number, one in enumerate(_each(tables("phh-nt", 15, seats, str(dice.random()))), 1):
        if not dice.randrange(share):
            one = _damage(one, dice)
        found.append(f"[{number}]\n{one}")
    return "\n".join(found)


def _damage(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    place = next(at for at, line in enumerate(lines) if line.startswith("actions"))
    actions = lines[place].split('"')[1::2]
    dice.choice(DAMAGES)(actions, dice)
    lines[place] = f"actions = {actions!r}"
    if dice.randrange(2):
        lines = [line for line in lines if not line.startswith("finishing_stacks")]
    return "\n".join(lines)


def _left_out(actions: list[str], dice: random.Random) -> None:
    del actions[dice.randrange(len(actions))]


def _twice(actions: list[str], dice: random.Random) -> None:
    at = dice.randrange(len(actions))
    actions.insert(at, actions[at])


def _other_place(actions: list[str], dice: random.Random) -> None:
    actions.insert(dice.randrange(len(actions)), actions.pop(dice.randrange(len(actions))))


def _other_seat(actions: list[str], dice: random.Random) -> None:
    at = dice.randrange(len(actions))
    actions[at] = actions[at].replace("p1", "p2").replace("p3", "p1")


def _other_size(actions: list[str], dice: random.Random) -> None:
    """Often one that the rules do not allow."""
    for at, one in enumerate(actions):
        if " cbr " in one:
            actions[at] = f"{one[:2]} cbr {dice.randrange(11, 60)}"


def _other_card(actions: list[str], dice: random.Random) -> None:
    """Often one that is dealt already."""
    dealt = [one for one in actions if one.startswith("d ")]
    at = actions.index(dice.choice(dealt))
    actions[at] = actions[at][:-2] + dice.choice([dice.choice(dealt)[-2:], "??"])


def _mucked(actions: list[str], dice: random.Random) -> None:
    for at, one in enumerate(actions):
        if " sm " in one and dice.randrange(2):
            actions[at] = one[:5].strip()


def _unseen(actions: list[str], dice: random.Random) -> None:
    for at, one in enumerate(actions):
        if one.startswith("d dh") and dice.randrange(2):
            actions[at] = f"{one[:-4]}????"


Damage = Callable[[list[str], random.Random], None]
DAMAGES: tuple[Damage, ...] = (
    _left_out,
    _twice,
    _other_place,
    _other_seat,
    _other_size,
    _other_card,
    _mucked,
    _unseen,
)


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_damaged_hands_come_to_the_same(seats: int, tmp_path: Path) -> None:
    """Left out, claimed or contested: what is said of them, and what is recorded."""
    dice = random.Random(f"plain {seats}")
    for share in (1, 2, 6):
        found = alike(damaged(seats, dice, share), tmp_path, ImportOptions(audit=share == 2))
        assert found.hands or found.refused


def test_what_is_made_of_a_plain_hand_is_what_the_rules_make_of_it(tmp_path: Path) -> None:
    """Of hands that nobody damaged the batch audit need not catch any."""
    same = 0
    for seats in (2, 4, 9):
        (tmp_path / "hands.txt").write_text(tables("phh-nt", 20, seats))
        for told in registry.FORMATS["phh"].read(tmp_path / "hands.txt", AS_READ).hands:
            assert isinstance(told, SourceHand)
            record, end = hand_record_and_state(told, "m/1")
            if made := plain_record(told, "m/1"):
                assert record == made.record
                assert end.stacks == tuple(map(sum, zip(told.stacks, made.nets, strict=True)))
                same += 1
    assert same > 40


# Hands that others wrote.


def _public() -> Iterator[Path]:
    for folder in ("phh", "pokerstars", "acpc"):
        found = (SHARED / folder).rglob("*")
        yield from (it for it in sorted(found) if it.suffix in (".phh", ".phhs", ".txt", ".log"))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the public hand histories are not at {SHARED}")
@pytest.mark.slow
def test_public_hands_come_to_the_same(tmp_path: Path) -> None:
    for path in _public():
        alike(path.read_bytes(), tmp_path)
        alike(path.read_bytes(), tmp_path, ImportOptions(audit=True))

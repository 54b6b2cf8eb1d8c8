"""The bundle as the project writes it: the verifier believes it, and a hostile zip is not read."""

import contextlib
import io
import json
import stat
import struct
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.evidence.bundle import Evidence, OpenDeck, bundle_bytes, zip_bytes
from api.evidence.verify import BUNDLE_MAX, FILE_MAX, Refusal, read_bundle, unzipped, verify
from engine.game import Game, to_json
from engine.games import GAMES
from events import types as t
from events.ledger import Recorded
from events.lines import leaf_bytes, lines, nonces_of, openings
from events.types import Events, HandStarted
from events.views import viewpoint
from store.proof import checkpoint
from store.proof.note import Signer, sign
from store.proof.tree import Frontier, inclusion, leaf_hash
from store.receipts import Receipt
from tests.hands import some_games
from tests.profiles import sized
from tests.trust.own_bundles import AT, SECRET, Draft, hands, views, with_kinds
from tests.trust.test_verify_py_deck import _deck, _match

SIGNER = Signer("muckrake.local/0a1b2c3d", bytes([1]) * 32)
PLACE, SIZE = 7, 12


def _recorded(record: Events) -> tuple[Recorded, ...]:
    start = record[0]
    assert isinstance(start, HandStarted)
    return tuple(
        Recorded(index, start.hand, index, AT + index * 250, event)
        for index, event in enumerate(record)
    )


def _note(text: str) -> bytes:
    return sign(text, SIGNER)


@cache
def _tree(leaf: bytes) -> bytes:
    """A receipt for this leaf among others, from the project's own tree."""
    leaves = [f"leaf {number}".encode() for number in range(SIZE)]
    leaves[PLACE] = leaf
    hashes = [leaf_hash(one) for one in leaves]

    def known(level: int, index: int) -> bytes:
        return Frontier().added(hashes[index << level : (index + 1) << level]).root()

    head = checkpoint.Checkpoint(SIGNER.key.name, SIZE, Frontier().added(hashes).root())
    signed = checkpoint.sign(head, SIGNER)
    return Receipt(PLACE, inclusion(PLACE, SIZE, known), signed).format()


def evidence(record: Events, view: str, game: Game | None = None) -> Evidence:
    """What the project says of a hand to this reader."""
    recorded, start = _recorded(record), record[0]
    assert isinstance(start, HandStarted)
    nonces = nonces_of(SECRET, start.hand.rpartition("/")[0])
    leaf = leaf_bytes(PLACE, recorded, nonces)
    return Evidence(
        hand=start.hand,
        view=view,
        record=b"\n".join(lines(recorded, nonces)),
        openings=openings(recorded, nonces, viewpoint(view, start.players)),
        leaf=leaf,
        receipt=_tree(leaf),
        ruleset=to_json(game or GAMES[start.game]),
        key=SIGNER.key.text(),
    )


def _bundle(view: str = "auditor") -> bytes:
    return bundle_bytes(evidence(with_kinds("auction-2024", t.BidPlaced, t.Shown), view), _note)


@some_games
def test_what_the_project_writes_is_proved(game: Game) -> None:
    for record in hands(game.name, sized(quick=2, ci=4, slow=8)):
        start = record[0]
        assert isinstance(start, HandStarted)
        for view in views(start.players):
            files = unzipped(bundle_bytes(evidence(record, view), _note))
            assert () == verify(files).problems


@some_games
def test_two_programs_that_share_no_line_write_the_same_files(game: Game) -> None:
    """tests/trust/own_bundles.py follows docs/record-format.md, and knows none of our modules."""
    for record in hands(game.name, sized(2, 8)):
        start = record[0]
        assert isinstance(start, HandStarted)
        for view in views(start.players):
            ours = unzipped(bundle_bytes(evidence(record, view), _note))
            draft = Draft(record, view)
            draft.more = {"README.txt": ours["README.txt"]}
            draft.openings.sort(key=lambda one: (one["line"], one["field"]))
            assert draft.files() == ours


def test_the_same_hand_makes_the_same_bytes() -> None:
    assert _bundle() == _bundle()


def test_an_auditor_gets_the_report_and_nobody_else_may() -> None:
    whole = evidence(with_kinds("auction-2024", t.BidPlaced, t.Shown), "auditor")
    with_report = replace(whole, report=("AGREE\n", b'{"verdict":"agree"}'))
    files = unzipped(bundle_bytes(with_report, _note))
    assert (b"AGREE\n", b'{"verdict":"agree"}') == (files["report.txt"], files["report.json"])
    assert () == verify(files).problems
    with pytest.raises(AssertionError, match="a report names every card"):
        bundle_bytes(replace(with_report, view="public"), _note)


def test_an_opened_deck_is_checked() -> None:
    rules, records, played = _match("auction-2024")
    told = _deck(records)
    nonces = tuple((one[0], one[1]) for one in told["nonces"])
    deck = OpenDeck(told["commitment"], 1, told["number"], told["secret"], nonces)
    whole = replace(evidence(played[2], "public", rules), deck=deck)
    found = verify(unzipped(bundle_bytes(whole, _note)))
    assert () == found.problems
    assert "The deck is opened" in found.proved[3]
    other = replace(whole, deck=replace(deck, nonces=nonces[::-1]))
    assert "and the deck deals" in verify(unzipped(bundle_bytes(other, _note))).problems[0]


def test_the_readme_says_in_three_sentences_what_to_do() -> None:
    text = unzipped(_bundle("public"))["README.txt"].decode()
    assert "evidence of the hand scrim/2, as public may see it." in text
    assert "`python3 verify.py --key KEY`" in text
    assert 3 == text.count(".\n")


def test_it_can_be_unpacked_by_anybody(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(_bundle())) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert () == verify(files).problems


def test_a_bundle_that_somebody_packed_again_is_as_good() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in unzipped(_bundle()).items():
            archive.writestr(name, text)
    assert unzipped(_bundle()) == unzipped(output.getvalue())


def test_a_changed_byte_of_the_zip_changes_nothing_or_is_refused() -> None:
    whole, clean = _bundle(), unzipped(_bundle())
    places = [*range(0, len(whole), 211), *range(len(whole) - 900, len(whole))]
    for at in places:
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        try:
            files = unzipped(bytes(changed))
        except Refusal:
            continue
        assert files == clean or verify(files).problems, at


def _zip(*entries: tuple[str, bytes], **fields: Any) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            for field, value in fields.items():
                setattr(entry, field, value)
            archive.writestr(entry, text)
    return output.getvalue()


def _refused(whole: bytes) -> str:
    with pytest.raises(Refusal) as refusal:
        unzipped(whole)
    return str(refusal.value)


@pytest.mark.parametrize(
    "name", ["../verify.py", "/etc/passwd", "bundle/key", "bundle/", "a\\b", "C:x", "..", "\u00e9"]
)
def test_a_name_that_is_a_path_is_refused(name: str) -> None:
    assert "is no name of a file: a bundle has no folders" in _refused(_zip((name, b"x")))


def test_a_link_is_refused() -> None:
    link = _zip(("key", b"/etc/passwd"), external_attr=(stat.S_IFLNK | 0o777) << 16)
    assert '"key" is not a plain file' == _refused(link)


def test_a_name_that_stands_there_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = _zip(("key", b"1"), ("key", b"2"))
    assert '"key" is in this zip more than once' == _refused(twice)


def test_too_many_files_are_refused() -> None:
    many = _zip(*((f"{number}", b"") for number in range(33)))
    assert "33 files are in this zip: no bundle has more than 32" == _refused(many)


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    """A thousand times as large as it looks: what it would be is read in its list, and no more."""
    bomb = _zip(("key", bytes(FILE_MAX + 1)))
    assert len(bomb) < 20_000
    assert '"key" would have 8388609 bytes, and may have 8388608' == _refused(bomb)
    bombs = _zip(*((f"{number}", bytes(FILE_MAX)) for number in range(5)))
    assert "this zip would unpack to more than 33554432 bytes" == _refused(bombs)


def test_a_bomb_that_lies_about_its_size_is_refused() -> None:
    bomb = bytearray(_zip(("key", bytes(FILE_MAX + 1))))
    true, lie = struct.pack("<I", FILE_MAX + 1), struct.pack("<I", 10)
    assert 2 == bomb.count(true)
    assert "this is not a whole zip file: " in _refused(bytes(bomb.replace(true, lie)))


def test_an_encrypted_file_is_refused() -> None:
    locked = bytearray(_zip(("key", b"x")))
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    assert '"key" is encrypted: a bundle is for everybody who has it' == _refused(bytes(locked))


@pytest.mark.parametrize("text", [b"", b"PK", b"not a zip" * 99, b"PK\x05\x06" + bytes(9)])
def test_what_is_no_zip_is_refused(text: bytes) -> None:
    assert "this is not a whole zip file: " in _refused(text)


def test_any_byte_of_a_zips_own_lists_may_be_anything() -> None:
    """The reader of zips is not ours: whatever it says of a hostile one becomes a sentence."""
    for whole in (zip_bytes({"key": b"x" * 30, "contents": b"y" * 40}), _zip(("key", b"x" * 50))):
        for at in range(len(whole)):
            for value in (0, 255, whole[at] ^ 1, whole[at] ^ 128):
                changed = bytearray(whole)
                changed[at] = value
                with contextlib.suppress(Refusal):
                    unzipped(bytes(changed))


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.999])
def test_a_zip_that_was_cut_short_is_refused(kept: float) -> None:
    whole = _bundle()
    assert "this is not a whole zip file: " in _refused(whole[: int(len(whole) * kept)])


def test_a_file_is_read_only_if_it_is_not_huge(tmp_path: Path) -> None:
    path = tmp_path / "hand.zip"
    path.write_bytes(_bundle())
    assert unzipped(_bundle()) == read_bundle(str(path))
    with open(path, "r+b") as file:
        file.truncate(BUNDLE_MAX + 1)
    with pytest.raises(
        Refusal, match=r"hand\.zip is larger than 33554432 bytes: that is no bundle"
    ):
        read_bundle(str(path))


def test_a_bundle_is_as_small_as_its_script_and_its_hand() -> None:
    files = unzipped(_bundle())
    told = sum(len(text) for name, text in files.items() if name != "verify.py")
    assert told < 40_000
    assert json.loads(files["openings.json"])["view"] == "auditor"
    assert len(zip_bytes(files)) < sum(map(len, files.values())) + 2_000

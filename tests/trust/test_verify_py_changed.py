"""A bundle of which a single byte was changed, with and without a log that signs it again."""

from functools import cache

import pytest

from api.evidence import verify as script
from events.types import BidPlaced, Shown
from tests.profiles import sized
from tests.trust.own_bundles import Draft, Files, problem, with_kinds

WHOLE = sized(
    quick=200, ci=500, slow=1200
)  # files up to here are tried byte for byte, larger ones at so many places
NAMES = sorted((*script.REQUIRED_FILES, "report.txt", "report.json"))


@pytest.fixture(autouse=True)
def _signatures_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question about a signature has the same answer: a change elsewhere asks it again."""
    monkeypatch.setattr(script, "is_signed", cache(script.is_signed))


@cache
def _draft() -> Draft:
    draft = Draft(with_kinds("auction-2024", BidPlaced, Shown), "auditor")
    draft.more = {"report.txt": b"AGREE\n", "report.json": b'{"verdict":"agree"}'}
    return draft


@cache
def _files() -> Files:
    return _draft().files()


def _changed(name: str, at: int) -> Files:
    text = bytearray(_files()[name])
    text[at] ^= 1 << at % 8
    return {**_files(), name: bytes(text)}


def _places(name: str, most: int) -> range:
    size = len(_files()[name])
    return range(0, size, max(1, size // most) if size > most else 1)


def test_the_bundle_itself_is_whole() -> None:
    assert not script.verify(_files()).problems


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_is_refused(name: str) -> None:
    for at in _places(name, WHOLE if name != "contents" else WHOLE // 4):
        assert "" != problem(_changed(name, at)), (name, at)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_changed_byte_is_refused(name: str) -> None:
    for at in range(len(_files()[name])):
        assert "" != problem(_changed(name, at)), (name, at)


def test_a_changed_file_is_named() -> None:
    expected = (
        "README.txt was changed: its digest is not the one that muckrake.local/0a1b2c3d signed"
    )
    assert expected == problem(_changed("README.txt", 3))


PROVED = ("checkpoint", "events.jsonl", "key", "leaf.json", "openings.json", "receipt.tlog-proof")


@pytest.mark.parametrize("name", PROVED)
def test_a_changed_byte_is_refused_even_if_the_log_signs_the_contents_again(name: str) -> None:
    for at in _places(name, sized(quick=40, ci=80, slow=150)):
        changed = _changed(name, at)
        del changed["contents"]
        found = script.verify(_draft().sealed(changed))
        assert found.problems, (name, at)


@pytest.mark.parametrize("name", [*script.REQUIRED_FILES])
def test_a_file_cut_short_or_drawn_out_is_refused(name: str) -> None:
    whole = _files()[name]
    for text in (b"", whole[:-1], whole + b"\n", whole + b"x", whole * 2):
        assert "" != problem({**_files(), name: text})


@pytest.mark.parametrize("name", [*script.REQUIRED_FILES])
def test_a_missing_file_is_missed(name: str) -> None:
    files = {other: text for other, text in _files().items() if other != name}
    assert f"the bundle is not whole: it lacks {name}" == problem(files)

"""What others wrote is what its list says, with its licence, and names no registry."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from docs.ages import LIST as AGES
from docs.ages import LOCKS, YEAR, pins
from docs.ages import wrong as wrong_ages
from docs.vendor import FOLDERS, LIST, ROOT, packages, wrong

every_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parts[-4:][0])


@every_folder
def test_every_vendored_file_is_the_one_that_is_pinned(folder: Path) -> None:
    assert [] == list(wrong(folder))


@every_folder
def test_every_package_comes_with_its_licence_and_stands_in_the_page(folder: Path) -> None:
    page = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    for package in packages(folder):
        row = rf"^\| {re.escape(package.name)} \| {package.version} \| {package.licence} \|"
        assert re.search(row, page, re.MULTILINE), package.name
        assert any("LICENSE" in file.name for file in package.files)


@every_folder
def test_no_package_is_older_than_a_year_without_a_sentence_why(folder: Path) -> None:
    looked = tomllib.loads(AGES.read_text("utf-8"))["locked"]
    for package in packages(folder):
        aged = looked - package.released > YEAR
        assert aged == (len(package.old) >= 20), f"{package.name}, of {package.released}"


def test_no_locked_version_is_older_than_a_year_without_a_sentence_why() -> None:
    """`./mr lock` writes how old they are; the sentences are written by hand."""
    locked = {str(pin) for lock in LOCKS for pin in pins(lock.read_text("utf-8"))}
    assert len(locked) > 50
    assert [] == list(wrong_ages(tomllib.loads(AGES.read_text("utf-8")), locked))


def test_an_old_version_a_new_one_and_a_stray_sentence_would_be_found() -> None:
    listed = {
        "locked": date(2026, 11, 1),
        "released": {
            "a==1": date(2025, 1, 1),
            "b==1": date(2026, 1, 1),
            "gone==1": date(2026, 1, 1),
        },
        "old": {"b==1": "a sentence for something that is not old", "c==1": "another sentence"},
    }
    assert [
        "nobody knows when new==2 was released: ./mr lock writes it down",
        "gone==1 is not locked any more: ./mr lock takes it out",
        "a==1 was a year old when it was locked (2025-01-01), and no sentence says why",
        "b==1 is not old: its sentence goes",
        "c==1 is not locked: its sentence goes",
    ] == list(wrong_ages(listed, {"a==1", "b==1", "new==2"}))


@every_folder
def test_a_list_names_no_host(folder: Path) -> None:
    assert "://" not in (folder / LIST).read_text("utf-8")


@every_folder
def test_source_maps_are_not_vendored(folder: Path) -> None:
    assert [] == list(folder.glob("*.map"))


def test_a_changed_file_and_a_stray_one_are_found(tmp_path: Path) -> None:
    for path in FOLDERS[1].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert [] == list(wrong(tmp_path))
    (tmp_path / "axe.min.js").write_bytes(b"alert(1)")
    (tmp_path / "axe.LICENSE").unlink()
    (tmp_path / "stray.js").write_bytes(b"")
    assert [
        "axe.min.js is not the one of axe-core 4.14.1",
        "axe.LICENSE is missing",
        "stray.js is on no list",
    ] == list(wrong(tmp_path))

"""What others wrote is what its list says, with its licence, and names no registry."""

import re
from pathlib import Path

import pytest

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

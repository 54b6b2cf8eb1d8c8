"""What the browser tests do where there is no browser: skip in one sentence, or fail if told to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import chromium

pytest.importorskip("pytest_playwright", reason=chromium.NO_PLAYWRIGHT)
ROOT = Path(__file__).resolve().parents[1]
ONE = "tests/browser/test_pages_look.py::test_every_page_is_looked_at"


def ran(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """One browser test, in a process that finds no browser on its path."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("MUCKRAKE_")}
    words = [sys.executable, "-m", "pytest", ONE, "-v", "-rs", "-p", "no:cacheprovider"]
    words += ["-p", "pytest_playwright.pytest_playwright"]
    environment = {**known, "PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the others take seconds to load
    return subprocess.run(
        words, cwd=ROOT, env=environment | variables, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.skipif(bool(chromium.drivers_trouble()), reason="the browser's driver cannot start")
@pytest.mark.skipif(any(map(os.path.exists, chromium.ON_A_MAC)), reason="this Mac has a browser")
def test_without_a_browser_its_tests_are_skipped_in_one_sentence(tmp_path: Path) -> None:
    run = ran(tmp_path)
    assert 0 == run.returncode, run.stdout
    assert f"browser: {chromium.NONE}" in run.stdout
    assert "1 skipped" in run.stdout


@pytest.mark.slow
@pytest.mark.skipif(bool(chromium.drivers_trouble()), reason="the browser's driver cannot start")
@pytest.mark.skipif(any(map(os.path.exists, chromium.ON_A_MAC)), reason="this Mac has a browser")
def test_where_a_browser_is_required_its_absence_is_an_error(tmp_path: Path) -> None:
    run = ran(tmp_path, MUCKRAKE_BROWSER="require")
    assert 1 == run.returncode
    assert chromium.NONE in run.stdout


@pytest.mark.slow
def test_where_the_browsers_driver_cannot_start_its_tests_are_skipped_with_the_reason(
    tmp_path: Path,
) -> None:
    """A bare Debian 12 or 13: what node itself says there."""
    said = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object"
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    node.chmod(0o755)
    run = ran(tmp_path, PLAYWRIGHT_NODEJS_PATH=str(node))
    assert 0 == run.returncode, run.stdout + run.stderr
    assert f"browser: {chromium.NO_DRIVER.format(said)}" in run.stdout
    assert "1 skipped" in run.stdout


def test_a_browser_is_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "drivers_trouble", lambda: "")
    program = tmp_path / "own-chromium"
    program.touch(0o755)
    monkeypatch.setenv("MUCKRAKE_CHROMIUM", str(program))
    assert chromium.Found(str(program)) == chromium.found.__wrapped__()
    monkeypatch.setenv("MUCKRAKE_CHROMIUM", str(tmp_path / "none"))
    nobody = chromium.found.__wrapped__()
    assert (None, f"MUCKRAKE_CHROMIUM={tmp_path / 'none'} is no program") == nobody


def test_only_root_goes_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--no-sandbox" in chromium.flags()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--no-sandbox" not in chromium.flags()

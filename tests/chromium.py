"""Which Chromium the browser tests drive, and what is said where there is none."""

import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "brave-browser",
)
ON_A_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
)
NONE = (
    "no Chromium found: `sudo apt install chromium`, or `python -m playwright install --with-deps"
    " chromium`, or set MUCKRAKE_CHROMIUM=..."
)
NO_DRIVER = "the browser's driver cannot start ({}): `sudo apt install libatomic1` may help"
NO_PLAYWRIGHT = "pytest-playwright is not installed: ./mr check installs it"
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Found(NamedTuple):
    """A browser, or why there is none."""

    file: str | None
    reason: str = ""


@cache
def found() -> Found:
    """The one that is named, on the path, among a Mac's applications, or Playwright's own."""
    if find_spec("pytest_playwright") is None:
        return Found(None, NO_PLAYWRIGHT)
    if trouble := drivers_trouble():
        return Found(None, NO_DRIVER.format(trouble))
    if named := os.environ.get("MUCKRAKE_CHROMIUM"):
        there = shutil.which(named)
        return Found(there, f"MUCKRAKE_CHROMIUM={named} is no program" if there is None else "")
    on_path = (shutil.which(name) for name in NAMES)
    there = next((file for file in on_path if file is not None), None)
    there = there or next((file for file in ON_A_MAC if Path(file).exists()), None) or _own()
    return Found(there, "" if there else NONE)


def flags() -> list[str]:
    """No network of its own, no first-run pages; root has no sandbox."""
    return [*FLAGS, *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])]


def required() -> bool:
    """Whether a test that cannot run is an error, so that green never means that nothing ran."""
    return os.environ.get("MUCKRAKE_BROWSER") == "require"


def drivers_trouble() -> str:
    """Why Playwright's own node does not run, in its words; nothing if it does."""
    if find_spec("playwright") is None:
        return ""
    from playwright._impl._driver import compute_driver_executable

    try:
        run = subprocess.run(
            [compute_driver_executable()[0], "--version"], capture_output=True, text=True
        )
    except OSError as problem:
        return str(problem)
    return run.stderr.strip().rpartition("\n")[2] if run.returncode else ""


def _own() -> str | None:
    """What `playwright install` has put into its cache."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        file = playwright.chromium.executable_path
    return file if Path(file).exists() else None

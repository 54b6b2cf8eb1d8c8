"""README's picture is what the audit page of its contested hand shows, in light and in dark.

What a picture says cannot be read out of it, so the words of the page stand beside it, without the
time of the hand: where they part from the page, `./mr accept` takes both pictures again.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.main import main
from tests.browser.conftest import Site, logged_in, served, settled
from tests.fences import fences, typed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
README = ROOT / "README.md"
SIZE: "ViewportSize" = {"width": 900, "height": 760}
MOST = 100_000  # bytes of a picture
SCHEMES = ("light", "dark")


@pytest.fixture
def shown(
    tmp_path: Path, browser: "Browser", new_context: Callable[..., "BrowserContext"]
) -> Iterator[Site]:
    """The ledger of README's own commands."""
    (played,) = (
        command.words[1:]
        for fence in fences(README)
        if fence.language == "console"
        for command in typed(fence.text)
        if command.words[1] == "play"
    )
    ledger = tmp_path / "ledger"
    assert main([*played, "--ledger", str(ledger)]) == 0
    with served(ledger) as base:
        site = Site(base, ledger, logged_in(browser, base, ledger), new_context)
        yield site
        assert [] == site.wrong


@pytest.mark.ci
def test_the_picture_shows_what_the_page_says(shown: Site, tmp_path: Path, accept: bool) -> None:
    hand = "/hands/scrim/24/audit"
    assert "muckrake audit scrim/24" in README.read_text("utf-8").replace("./mr", "muckrake")
    taken, words = {}, set()
    for scheme in SCHEMES:
        page = shown.open(hand, viewport=SIZE, color_scheme=scheme)
        settled(page)
        taken[scheme] = tmp_path / f"audit-{scheme}.png"
        page.screenshot(path=taken[scheme])
        words.add(_words(page))
        nav = page.locator(".nav")
        assert nav.evaluate("nav => nav.scrollWidth <= nav.clientWidth"), "all of it is in view"
    (said,) = words
    if accept:
        (PICTURES / "audit.txt").write_text(said, "utf-8")
        for path in taken.values():
            shutil.copy(path, PICTURES / path.name)
    elif folder := os.environ.get("MUCKRAKE_SCREENSHOTS"):
        for path in taken.values():
            shutil.copy(path, Path(folder) / path.name)
    assert said == (PICTURES / "audit.txt").read_text("utf-8")
    for scheme in SCHEMES:
        kept = (PICTURES / f"audit-{scheme}.png").read_bytes()
        assert _size(kept) == _size(taken[scheme].read_bytes()) == (900, 760)
        assert len(kept) < MOST


def test_readme_shows_both_and_says_what_is_on_them() -> None:
    """Somebody who sees no picture reads the verdict."""
    text = README.read_text("utf-8")
    alt = re.search(r'<img src="docs/pictures/audit-light.png" width="\d+" alt="([^"]+)">', text)
    assert alt is not None
    assert 'media="(prefers-color-scheme: dark)" srcset="docs/pictures/audit-dark.png"' in text
    page = " ".join((PICTURES / "audit.txt").read_text("utf-8").split())
    for sentence in re.findall(
        r"The record is what .*? pays|another reading pays differently", alt[1]
    ):
        assert sentence in page


def _words(page: "Page") -> str:
    """What stands in the picture, without the time at which the hand was played."""
    time = re.compile(r"\d+ \w+ \d{4}, \d\d:\d\d")
    return "".join(f"{line}\n" for line in page.evaluate(IN_VIEW) if not time.fullmatch(line))


IN_VIEW = """() => {
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const seen = walker.currentNode.parentElement.offsetWidth !== 1;  // some is only read aloud
    const text = walker.currentNode.textContent.replace(/\\s+/g, " ").trim();
    if (seen && text && box.width > 1 && box.height > 1 && box.top < innerHeight) lines.push(text);
  }
  return lines;
}"""


def _size(png: bytes) -> tuple[int, int]:
    """Width and height, from the first chunk."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")

"""A match is watched while it is played: each act of it, its end, and that nobody goes on."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.http.credentials import login_url
from events.match import MatchEnded
from store.reader import NoLedger, Reader
from tests.browser.conftest import PHONE, Site, complaints, expect, named
from tests.http.servers import MUCKRAKE, Server
from tests.processes import Popen

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

SIZES: "dict[str, ViewportSize]" = {
    "phone": PHONE,
    "tablet": {"width": 820, "height": 1180},
    "desktop": {"width": 1440, "height": 1000},
}
WATCHED = "/live?match=duel"
TO_ACT = re.compile(r"^Hand (\d) of 2 caller-[01] is to act since")
RECORDED = """() => {
  const texts = (those) => [...document.querySelectorAll(those)].map((one) => one.textContent);
  const look = () => {
    const now = texts(".now").join(" ").replace(/\\s+/g, " ").trim();
    if (now === window.told.at(-1)?.now) return;
    const [above, around] = [".now span .name", ".seat.next .name"].map((it) => texts(it).sort());
    window.told.push({ now, above, around, open: texts(".hole .card:not(.back)") });
  };
  window.told = [];
  look();
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
"""What the page says of the table, each time that it says something else."""


@contextmanager
def playing(folder: Path, hands: int, think_ms: int) -> Iterator[Popen]:
    """Two bots who think, in a process of their own; it has begun when the first hand has."""
    words = ["play", "auction-2024", "--live", "--bots", "caller", "--match", "duel"]
    words += ["--hands", str(hands), "--think-ms", str(think_ms), "--ledger", str(folder)]
    with Popen([*MUCKRAKE, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def watching(new_context: Callable[..., "BrowserContext"]) -> Callable[..., "Page"]:
    """Opens the page of the match; through the eyes of these scopes, if there are any."""

    def opened(server: Server, folder: Path, *scopes: str) -> "Page":
        base = f"http://127.0.0.1:{server.port}"
        page = new_context(base_url=base).new_page()
        if scopes:
            page.goto(login_url(folder, base, scopes))
        page.goto(WATCHED)
        return page

    return opened


@pytest.mark.ci
def test_a_table_is_followed_from_act_to_act_to_its_end(
    tmp_path: Path, watching: Callable[..., "Page"], site: Site
) -> None:
    folder = tmp_path / "ledger"
    with Server(folder, "--delay", "0") as server:
        page = watching(server, folder)
        expect(page.get_by_role("status")).to_have_text("following")
        page.evaluate(RECORDED)
        with playing(folder, 2, 200) as process:
            expect(page.locator(".seat.next").first).to_be_visible()
            process.send_signal(signal.SIGSTOP)  # they wait while it is looked at
            for name, size in SIZES.items():
                page.set_viewport_size(size)
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                    site.shot(page, f"{named(WATCHED)}-playing-{name}-{scheme}")
            assert [] == complaints(page)
            process.send_signal(signal.SIGCONT)
            over = "This match is over: every hand was played."
            expect(page.locator(".now")).to_contain_text(over, timeout=60_000)
            assert process.wait(30) == 0
        acts = [one for one in page.evaluate("told") if TO_ACT.match(one["now"])]
        assert ["1", "2"] == sorted({one["now"][5] for one in acts})
        assert {("caller-0",), ("caller-1",)} <= {tuple(one["above"]) for one in acts}
        assert all(one["above"] == one["around"] and not one["open"] for one in acts)
        expect(page.get_by_role("status")).to_have_text("over")
        expect(page.locator("#list tbody tr[data-of^=HandEnded]")).to_have_count(2)
        nets = _nets(folder)
        told = page.locator(".bankrolls td").all_inner_texts()
        signed = [f"{net:+d}".replace("-", "\N{MINUS SIGN}") for net in nets]
        assert [one if one != "+0" else "0" for one in signed] == [
            one.replace("\N{NARROW NO-BREAK SPACE}", "") for one in told
        ]


@pytest.mark.ci
def test_a_player_sees_his_own_cards_and_an_auditor_all(
    tmp_path: Path, watching: Callable[..., "Page"]
) -> None:
    folder = tmp_path / "ledger"
    with Server(folder) as server, playing(folder, 3, 4000):
        until_dealt(folder)
        his, whole = (
            watching(server, folder, *scopes)
            for scopes in (("seat:caller-1",), ("audit:read", "hands:read"))
        )
        seats = his.locator(".seat")
        expect(seats.filter(has_text="caller-1").locator(".card").first).to_be_visible()
        expect(seats.filter(has_text="caller-1").locator(".back")).to_have_count(0)
        expect(seats.filter(has_text="caller-0").locator(".card:not(.back)")).to_have_count(0)
        expect(whole.locator(".hole .card").first).to_be_visible()
        expect(whole.locator(".hole .back")).to_have_count(0)
        public = watching(server, folder)
        expect(public.locator(".hole .card:not(.back)")).to_have_count(0)  # it is shown 30 s later


@pytest.mark.ci
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (signal.SIGINT, "This match was stopped."),
        (signal.SIGKILL, "This match has no end: its writer is gone"),
    ],
)
def test_nobody_waits_for_a_match_that_does_not_go_on(
    sent: signal.Signals, said: str, tmp_path: Path, watching: Callable[..., "Page"]
) -> None:
    folder = tmp_path / "ledger"
    with Server(folder, "--delay", "0") as server, playing(folder, 400, 100) as process:
        page = watching(server, folder)
        expect(page.locator(".seat.next")).to_have_count(1)
        process.send_signal(sent)
        expect(page.locator(".now")).to_contain_text(said)
        expect(page.get_by_role("status")).to_have_text("over")
        expect(page.locator(".seat.next")).to_have_count(0)


def test_a_table_is_whole_without_a_script(site: Site) -> None:
    page = site.open("/live?match=swap", java_script_enabled=False)
    expect(page.locator(".now")).to_contain_text("This match is over: every hand was played.")
    expect(page.locator(".seat")).to_have_count(2)
    expect(page.locator(".bankrolls polyline")).to_have_count(2)
    page.get_by_role("link", name="Look again").click()
    expect(page).to_have_url(re.compile(r"/live\?match=swap$"))


def until_dealt(folder: Path) -> None:
    """Wait for the first hand."""
    while True:
        with suppress(NoLedger):
            if Reader(folder).snapshot().begun_last("duel"):
                return
        time.sleep(0.05)


def _nets(folder: Path) -> list[int]:
    """What each player won, by the end of the match."""
    records = [one.event for one in Reader(folder).read("duel")]
    return list(next(one.nets for one in records if isinstance(one, MatchEnded)))

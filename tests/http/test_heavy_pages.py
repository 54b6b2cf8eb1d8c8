"""Heavy pages: how far they are, how long they are kept, and what becomes of one that fails."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from api.http.limits import Limits
from api.main import main
from api.questions.question import API
from api.serving import answer_cache, heavy_pages
from api.serving.answer_cache import CachedAnswer, read_cached, write_cached
from api.serving.heavy_pages import HeavyPages
from tests.http.clients import Site, site_of
from tests.profiles import in_turn, sized

APART = Limits(
    rate=0,
    heavy_valued=0,
    heavy_counted=0,
    heavy_data=0,
    heavy_spread=0,
)
COUNTED = "/hands?q=pot%3E10&counts=now"
GRID, RATINGS = "/players/lynx/grid", "/ratings"
PAGE = CachedAnswer("", {}, b"page", sha256(b"page").hexdigest())
SAID = "This page is being made"


@contextmanager
def asking(site: Site, who: str | None = None) -> Iterator[TestClient]:
    """A client of one running server."""
    with site.as_(who) as client:
        yield client


def drawn(client: TestClient, address: str) -> Any:
    """The answer when it is no progress any more."""
    until = time.monotonic() + 60
    while (answer := client.get(address)).status_code == 202 and time.monotonic() < until:
        time.sleep(0.02)
    return answer


def kept_in(folder: Path) -> list[Path]:
    return sorted((folder / "jobs" / "pages").iterdir())


@pytest.fixture
def large(own: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Its pages are made by processes, however few hands it has, and none comes at once."""
    monkeypatch.setattr(heavy_pages, "ANSWER_SOON_S", 0)
    return site_of(own, limits=APART)


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Processes that come to no end; the addresses of their pages."""
    begun: list[str] = []

    async def endless(self: HeavyPages, making: Any, wanted: Any, *given: Any) -> None:
        begun.append(wanted.path)
        await anyio.sleep_forever()

    monkeypatch.setattr(HeavyPages, "_run_process", endless)
    return begun


def test_a_page_is_first_its_progress_and_then_itself(large: Site, own: Path) -> None:
    """At the same address; it asks again by itself, and is what the server would have sent."""
    whole = site_of(own)
    asked = ((None, GRID), ("lynx", COUNTED), ("auditor", "/players/lynx/bids"), (None, RATINGS))
    for who, address in asked[: sized(2, 2, 4)]:
        with asking(whole, who) as client:
            plain = client.get(address)
        with asking(large, who) as client:
            first = client.get(address)
            assert (202, "no-store") == (first.status_code, first.headers["cache-control"])
            assert SAID in first.text
            assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in first.text
            answer = drawn(client, address)
        assert (200, plain.text) == (answer.status_code, answer.text)
        assert plain.headers["etag"] == answer.headers["etag"]


DATA = "/hands?facets=1", "/players/lynx/stats?format=csv", "/players/lynx/bids?spots=1"


@pytest.mark.parametrize(("address", "who"), in_turn(DATA[: sized(2, 3)], (None, "auditor")))
def test_data_is_waited_for_and_comes_as_the_server_would_have_sent_it(
    address: str, who: str | None, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        heavy_pages, "ANSWER_DATA_S", 200
    )  # a machine may have more to do than this
    large = site_of(own, limits=replace(APART, seconds=300))
    names = ("content-type", "etag", "cache-control", "vary")
    with asking(site_of(own), who) as client:
        plain = client.get(f"{API}{address}")
    with asking(large, who) as client:
        for _ in range(2):  # made, and kept
            answer = client.get(f"{API}{address}")
            assert (200, plain.content) == (answer.status_code, answer.content)
            assert [plain.headers[it] for it in names] == [answer.headers[it] for it in names]
        known = {"If-None-Match": plain.headers["etag"]}
        assert 304 == client.get(f"{API}{address}", headers=known).status_code
    assert 1 == len(kept_in(own))


def test_data_that_does_not_come_in_time_is_said_to_be_made(
    large: Site, never: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_pages, "ANSWER_DATA_S", 0.1)
    with asking(large) as client:
        answers = [client.get(f"{API}{GRID}") for _ in range(2)]
        assert 200 == client.get("/matches").status_code
    assert [(503, "1")] * 2 == [(it.status_code, it.headers["retry-after"]) for it in answers]
    assert "this answer is being made: ask again" == answers[0].json()["detail"]
    assert [f"{API}{GRID}"] == never


def test_the_counts_of_hands_come_into_their_page_when_they_are_made(own: Path) -> None:
    """The list is there at once; a script puts the counts beside it, and a link does without."""
    with asking(site_of(own, limits=APART)) as client:
        page = client.get("/hands?q=pot%3E10")
        assert (200, True) == (page.status_code, 'id="list"' in page.text)
        assert f'href="{COUNTED.replace("&", "&amp;")}"' in page.text
        part = client.get(COUNTED, headers={"HX-Request": "true"})
        assert (200, True) == (part.status_code, '<details class="narrow">' in part.text)
    (path,) = kept_in(own)
    with asking(site_of(own, limits=APART)) as client:
        path.write_bytes(path.read_bytes())
        assert part.text == client.get(COUNTED, headers={"HX-Request": "true"}).text
    assert [path] == kept_in(own)


def test_a_match_is_verified_by_a_process_and_anew_each_time(large: Site, own: Path) -> None:
    address = "/matches/holdem?verify=yes"
    with asking(site_of(own), "auditor") as client:
        plain = client.get(address).text
    with asking(large, "auditor") as client:
        assert 202 == client.get(address).status_code
        assert plain == drawn(client, address).text
        assert 200 == client.get("/matches/holdem").status_code
    with asking(large) as client:
        assert 403 == drawn(client, address).status_code
    assert [] == kept_in(own)


def test_a_frame_shows_its_progress_and_then_itself_where_it_may_stand(own: Path) -> None:
    path, club = "/embed/players/lynx/winnings", "https://club.example"
    with asking(site_of(own, frame_origins=(club,))) as client:
        plain = client.get(path)
    with asking(site_of(own, frame_origins=(club,), limits=APART), "auditor") as client:
        first = client.get(path)
        answer = drawn(client, path)
    assert (202, 200) == (first.status_code, answer.status_code)
    for one in (first, answer):
        assert f"frame-ancestors {club};" in one.headers["content-security-policy"]
        assert "x-frame-options" not in one.headers
        assert "<nav" not in one.text
    assert 'href="/players/lynx/winnings?as=public"' in first.text
    assert plain.text == answer.text


def test_pages_about_few_hands_come_at_once(own: Path, never: list[str]) -> None:
    """Of a large ledger, too; and what values many cards does not, however small the ledger is."""
    site = site_of(own, limits=replace(APART, heavy_valued=13, heavy_counted=53))
    with asking(site, "auditor") as client:
        assert 200 == client.get(GRID).status_code
        assert 200 == client.get("/players/lynx/bids?match=auction").status_code
        assert 404 == client.get("/players/nobody/grid").status_code
        assert [] == never
        assert 202 == client.get("/players/lynx/bids").status_code


def test_what_a_page_refuses_it_refuses_in_its_own_words(large: Site, own: Path) -> None:
    address = "/players/nobody/grid"
    with asking(site_of(own)) as client:
        plain = client.get(address)
    with asking(large) as client:
        answer = drawn(client, address)
    assert (404, plain.text) == (answer.status_code, answer.text)
    assert [] == kept_in(own)


def test_a_page_that_was_made_needs_no_process_after_a_restart(
    large: Site, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is for its viewpoint alone, and for nobody else on this machine."""
    with asking(large) as client:
        page = drawn(client, GRID).text
    (path,) = kept_in(own)
    assert (0o600, 0o700) == (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777)
    monkeypatch.setattr(HeavyPages, "_run_process", _none)
    with asking(site_of(own, limits=APART)) as client:
        assert page == client.get(GRID).text
    with asking(site_of(own, limits=APART), "auditor") as client:
        assert 202 == client.get(GRID).status_code


async def _none(self: HeavyPages, *given: Any) -> None:
    await anyio.sleep_forever()


def test_a_page_is_kept_until_its_own_hands_change(own: Path) -> None:
    """Other matches leave a player's page as it is; one of his own makes it anew."""

    def played(match: str, bots: str) -> None:
        words = ("play", "auction-2024-mit", "--hands", "2", "--match", match, "--bots", bots)
        assert 0 == main([*words, "--ledger", str(own)])

    def shown() -> str:
        with asking(site_of(own, limits=APART, delay_s=0)) as client:
            return str(drawn(client, "/players/random-0/grid").text)

    played("first", "random,bidder")
    assert "random-0" in shown()
    (path,) = kept_in(own)
    kept = read_cached(path)
    assert kept is not None
    write_cached(path, replace(kept, body=b"kept", digest=sha256(b"kept").hexdigest()))
    played("others", "bidder,bidder")
    assert "kept" == shown()
    played("second", "random,bidder")
    assert "random-0" in shown()


def test_a_spoilt_file_is_no_page(large: Site, own: Path) -> None:
    with asking(large) as client:
        page = drawn(client, GRID).text
    (path,) = kept_in(own)
    path.write_bytes(path.read_bytes().replace(b"lynx", b"ursa", 1))
    assert read_cached(path) is None
    with asking(site_of(own, limits=APART)) as client:
        assert page == drawn(client, GRID).text


def test_two_who_may_see_the_same_wait_for_one_process(large: Site, never: list[str]) -> None:
    with asking(large) as client:
        for _ in range(3):
            assert 202 == client.get(GRID).status_code
        assert 202 == client.get(GRID + "?show=net").status_code
    assert [GRID, GRID] == never


def test_nobody_waits_for_what_another_asks(own: Path, never: list[str]) -> None:
    """Neither for another page, nor, with all places taken, for a word of progress."""
    large = site_of(own, limits=replace(APART, page_processes=1))
    with asking(large, "ursa") as one:
        other = TestClient(large.app, "http://127.0.0.1:8000")
        other.portal = one.portal
        assert 202 == one.get(GRID).status_code
        begun = time.monotonic()
        assert 200 == other.get("/matches").status_code
        answer = other.get(RATINGS)
        assert (202, True) == (answer.status_code, SAID in answer.text)
        assert time.monotonic() - begun < 5
    assert [GRID] == never


def test_a_caller_waits_for_so_many_pages_at_most(
    large: Site, never: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_pages, "QUEUE_MAX", 2)
    monkeypatch.setattr(heavy_pages, "ANSWER_SOON_S", 0)
    with asking(large) as client:
        shows = [client.get(f"{GRID}?show={it}").status_code for it in ("net", "n", "vpip")]
    assert [202, 202, 429] == shows


def test_a_process_that_is_killed_is_said_and_the_page_is_made_when_asked_again(
    large: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_pages, "ABANDONED_S", 0.5)
    monkeypatch.setattr(heavy_pages, "ANSWER_SOON_S", 0)
    with asking(large) as client:
        with monkeypatch.context() as patched:
            patched.setattr(heavy_pages, "make_answer", asleep)
            before = running()
            assert 202 == client.get(GRID).status_code
            until = time.monotonic() + 30
            while not (running() - before) and time.monotonic() < until:
                time.sleep(0.001)
            for one in active_children():
                if one.pid not in before:
                    one.kill()
            answer = drawn(client, GRID)
        assert 503 == answer.status_code
        assert "has ended before it was done: ask again" in answer.text
        time.sleep(0.5)
        assert 200 == drawn(client, GRID).status_code


def test_what_nobody_waits_for_gives_way(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as somebody else has no place; who comes back has it made anew."""
    monkeypatch.setattr(heavy_pages, "KEPT_AFTER_S", 0.3)
    monkeypatch.setattr(heavy_pages, "make_answer", asleep)
    large = site_of(own, limits=replace(APART, page_processes=1))
    with asking(large, "ursa") as client:
        other = large.as_("lynx")
        other.portal = client.portal
        others = running()  # of tests before
        assert 202 == client.get(GRID).status_code
        until = time.monotonic() + 30
        while not (first := running() - others) and time.monotonic() < until:
            time.sleep(0.001)
        while running() - others in (first, set()) and time.monotonic() < until:
            assert 202 == other.get(RATINGS).status_code
        assert first
        assert not first & running()
        assert 202 == client.get(GRID).status_code


def running() -> set[int | None]:
    return {one.pid for one in active_children()}


def asleep(*given: Any) -> None:
    time.sleep(60)


def test_where_nothing_can_be_written_pages_are_kept_in_memory(
    large: Site, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "jobs").mkdir(exist_ok=True)
    (own / "jobs" / "pages").write_bytes(b"no folder")
    with asking(large) as client:
        page = drawn(client, GRID)
        assert 200 == page.status_code
        monkeypatch.setattr(HeavyPages, "_run_process", _none)
        assert page.text == client.get(GRID).text


def test_on_a_full_disk_no_half_page_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "page"
    aside = path.with_suffix(f".{os.getpid()}")
    aside.symlink_to("/dev/full")  # a file on which every write fails with ENOSPC
    write_cached(path, PAGE)
    assert [] == list(tmp_path.iterdir())
    write_cached(path, PAGE)
    assert PAGE == read_cached(path)


def test_files_of_pages_do_not_become_more_and_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cache, "CACHED_MAX", 3)
    for at in range(5):
        write_cached(tmp_path / f"page-{at}", PAGE)
        os.utime(tmp_path / f"page-{at}", (at, at))
    assert ["page-2", "page-3", "page-4"] == sorted(one.name for one in tmp_path.iterdir())

"""A login link is opened once, by whichever worker, and its session outlives them all."""

import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from api.http.credentials import (
    LINK_S,
    SESSION_S,
    Sessions,
    login_url,
)
from tests.http.clients import Site, site_of

AUDITOR = ("audit:read",)


def test_of_many_who_open_a_link_at_once_one_gets_in(tmp_path: Path) -> None:
    link = Sessions(tmp_path).make_link(AUDITOR)
    entered: list[str | None] = []
    begin = threading.Barrier(8)

    def enter() -> None:
        worker = Sessions(tmp_path)
        begin.wait()
        entered.append(worker.open_link(link))

    workers = [threading.Thread(target=enter) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert 7 == entered.count(None)


def test_a_session_is_good_at_every_worker_and_after_a_restart(tmp_path: Path) -> None:
    session = Sessions(tmp_path).open_link(Sessions(tmp_path).make_link(AUDITOR))
    assert session is not None
    found = Sessions(tmp_path).find(session)
    assert found is not None
    assert AUDITOR == found.scopes


def test_links_and_sessions_end(tmp_path: Path) -> None:
    logins = Sessions(tmp_path)
    link = logins.make_link(AUDITOR)
    assert logins.open_link(link, now=4e9) is None
    assert logins.open_link(link) is None, "a link that came too late is used up too"
    session = logins.open_link(logins.make_link(AUDITOR), now=1_000)
    assert session is not None
    assert logins.find(session, now=1_000 + SESSION_S - 1) is not None
    assert logins.find(session, now=1_000 + SESSION_S) is None


def test_no_token_is_kept(tmp_path: Path) -> None:
    logins = Sessions(tmp_path)
    link = logins.make_link(AUDITOR)
    held = (tmp_path / "private" / "logins").read_text()
    session = logins.open_link(link)
    assert session is not None
    held += (tmp_path / "private" / "logins").read_text()
    assert link not in held
    assert session not in held
    assert 0o600 == (tmp_path / "private" / "logins").stat().st_mode & 0o777


def test_a_link_is_no_session_and_a_session_no_link(tmp_path: Path) -> None:
    logins = Sessions(tmp_path)
    link = logins.make_link(AUDITOR)
    assert logins.find(link) is None
    session = logins.open_link(link)
    assert session is not None
    assert logins.open_link(session) is None


def test_what_has_ended_is_swept_away(tmp_path: Path) -> None:
    logins = Sessions(tmp_path)
    logins.make_link(AUDITOR, seconds=-1)
    logins.make_link(AUDITOR)
    assert 1 == (tmp_path / "private" / "logins").read_text().count("link")


def test_two_ledgers_on_one_host_have_two_cookies(tmp_path: Path) -> None:
    assert Sessions(tmp_path / "one").cookie_name != Sessions(tmp_path / "other").cookie_name


def test_the_link_that_is_printed(tmp_path: Path) -> None:
    url = login_url(tmp_path, "http://127.0.0.1:8000/", AUDITOR, "/hands/scrim/1#12")
    parts = urlsplit(url)
    asked = parse_qs(parts.query)
    assert ("/login", ["/hands/scrim/1#12"]) == (parts.path, asked["to"])
    assert Sessions(tmp_path).open_link(asked["once"][0]) is not None
    assert 60 <= LINK_S <= 3600


@pytest.mark.parametrize(
    "to",
    ["//elsewhere.example/", "http://elsewhere.example/", "/\\elsewhere.example", "javascript:1"],
)
def test_a_link_leads_nowhere_else(to: str, mine: Site) -> None:
    link = mine.app.state.sessions.make_link(AUDITOR)
    answer = mine.as_(follow_redirects=False).get("/login", params={"once": link, "to": to})
    assert (303, "/") == (answer.status_code, answer.headers["location"])


def test_another_application_over_the_ledger_knows_the_session(mine: Site) -> None:
    """As after a restart, or in another worker."""
    client = mine.as_()
    client.get("/login", params={"once": mine.app.state.sessions.make_link(AUDITOR)})
    again = site_of(mine.folder)
    cookies = dict(client.cookies)
    answer = again.as_(cookies=cookies).get("/api/v1/")
    assert "auditor" == answer.json()["viewpoint"]["view"]


def test_a_page_with_an_ended_login_says_so_and_is_the_publics_after(mine: Site) -> None:
    client = mine.as_()
    client.get("/login", params={"once": mine.app.state.sessions.make_link(AUDITOR)})
    mine.app.state.sessions.end(client.cookies[mine.app.state.sessions.cookie_name])
    ended = client.get("/", headers={"Accept": "text/html"})
    assert (401, "text/html; charset=utf-8") == (ended.status_code, ended.headers["content-type"])
    assert 200 == client.get("/", headers={"Accept": "text/html"}).status_code


def test_static_files_ask_nobody_who_he_is(site: Site) -> None:
    """The page that says that a login has ended has its style, too."""
    cookies = {site.app.state.sessions.cookie_name: "ended"}
    assert 200 == site.as_(cookies=cookies).get("/static/style.css").status_code
    assert 401 == site.as_(cookies=cookies).get("/api/v1/").status_code

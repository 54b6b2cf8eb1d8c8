"""Pages that another site may frame: those made for it, where it is named, as the public sees."""

from pathlib import Path

import pytest

from api.main import main
from tests.http.clients import Site, site_of
from tests.sessions import Captured, said

CLUB = "https://club.example"
FRAMED = ("/embed/live?match=auction", "/embed/players/lynx/winnings?match=auction")


@pytest.fixture(scope="module")
def club(house: Path) -> Site:
    """A server whose pages two sites may frame."""
    return site_of(house, frame_origins=(CLUB, "http://127.0.0.1:9000"))


@pytest.mark.parametrize("path", FRAMED)
def test_a_named_site_may_frame_what_is_made_for_it(path: str, club: Site) -> None:
    answer = club.as_().get(path)
    assert 200 == answer.status_code
    policy = answer.headers["content-security-policy"]
    assert f"frame-ancestors {CLUB} http://127.0.0.1:9000;" in policy
    assert "x-frame-options" not in answer.headers
    again = club.as_().get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (304, policy) == (again.status_code, again.headers["content-security-policy"])


@pytest.mark.parametrize("path", ["/", "/live", "/players/lynx/winnings", "/hands", "/api/v1/"])
def test_no_other_page_stands_in_a_frame(path: str, club: Site) -> None:
    headers = club.as_().get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", FRAMED)
def test_where_no_site_is_named_none_may(path: str, site: Site) -> None:
    headers = site.as_().get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", FRAMED)
@pytest.mark.parametrize("who", ["auditor", "lynx"])
def test_a_frame_shows_what_the_public_sees_whoever_looks(who: str, path: str, club: Site) -> None:
    assert club.as_(who).get(path).text == club.as_().get(path).text


@pytest.mark.parametrize("path", FRAMED)
def test_a_frame_has_no_menu_and_its_links_open_beside_it(path: str, club: Site) -> None:
    page = club.as_().get(path).text
    assert '<base target="_blank">' in page
    assert "<nav" not in page
    assert ">All of it at muckrake</a>" in page


@pytest.mark.parametrize("path", FRAMED)
def test_the_page_itself_says_what_to_write_elsewhere(path: str, club: Site, site: Site) -> None:
    whole = path.removeprefix("/embed")
    page = club.as_().get(whole).text
    assert f"&lt;iframe src=&#34;http://127.0.0.1:8000{path}&#34;" in page
    assert "<iframe" not in page
    assert "iframe" not in site.as_().get(whole).text


@pytest.mark.parametrize(
    "origin",
    ["club.example", "https://club.example/page", "*", "https://a.example; script-src *", "null"],
)
def test_a_site_that_is_none_is_refused(origin: str, tmp_path: Path, capsys: Captured) -> None:
    """It would stand in a header, where more words would allow more."""
    words = ("serve", "--port", "0", "--ledger", str(tmp_path), "--frame-origin", origin)
    assert said(capsys, 2, *words).startswith(
        f"--frame-origin {origin} is none: https://club.example is one"
    )


def test_no_name_ends_the_snippet(club: Site) -> None:
    page = club.as_().get("/live?match=%22%3E%3Cscript%3E").text
    assert "<script>" not in page.partition('class="embed"')[2].partition("</details>")[0]


def test_the_command_says_what_it_takes(capsys: Captured) -> None:
    assert main(["serve", "--help"]) == 0
    assert "--frame-origin SITE" in capsys.readouterr().out

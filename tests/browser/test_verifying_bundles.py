"""A bundle on the page `/verify`: judged there, under the key that is known; nothing is asked."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.evidence.bundle import make_bundle, zip_bytes
from api.evidence.verify import check_bundle, unzipped
from store.reader import Reader
from tests.browser.conftest import CONTESTED, Site, complaints, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request


@pytest.fixture
def bundle(house: Path) -> bytes:
    return make_bundle(Reader(house).snapshot(), CONTESTED, "public")


def _put(page: "Page", whole: bytes) -> None:
    page.locator("#bundle").set_input_files(
        {"name": "hand.zip", "mimeType": "application/zip", "buffer": whole}
    )


def _said(page: "Page", code: int) -> list[str]:
    expect(page.locator(f'#verdict[data-code="{code}"]')).to_be_visible()
    return page.locator("#sentences li").all_inner_texts()


def test_a_bundle_is_judged_without_any_request(site: Site, house: Path, bundle: bytes) -> None:
    page = site.page(as_auditor=False)
    site.go(page, "/verify")
    expect(page.locator("#checker")).to_be_visible()
    expect(page.locator("#unscripted")).to_be_hidden()
    expect(page.locator("#verdict")).to_be_hidden()
    asked: list[str] = []

    def hear(request: "Request") -> None:
        asked.append(request.url)

    page.context.on("request", hear)
    page.context.set_offline(True)
    _put(page, bundle)
    found = check_bundle(lambda: unzipped(bundle))
    assert [*found.proved] == _said(page, 7)[:-1]
    assert "Nothing says whose key this is" in _said(page, 7)[-1]
    page.locator("#keys").fill((house / "keys").read_text())
    assert "a key that you know" in _said(page, 0)[-1]
    page.locator("#keys").fill("nonsense")
    assert ["the box of keys line 1 is not one line NAME+HASH+KEY"] == _said(page, 1)
    page.locator("#keys").fill("")
    with zipfile.ZipFile(BytesIO(bundle)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    record = files["events.jsonl"].replace(b'"seat":0', b'"seat":1')
    lied = zip_bytes({**files, "events.jsonl": record})
    _put(page, lied)
    assert [*check_bundle(lambda: unzipped(lied)).problems] == _said(page, 3)
    site.shot(page, "verify-wrong")
    assert [] == asked


def test_a_bundle_may_be_dropped(site: Site, bundle: bytes) -> None:
    page = site.open("/verify")
    dropped = page.evaluate_handle(
        """(bytes) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes)], "hand.zip"));
          return data;
        }""",
        list(bundle),
    )
    page.dispatch_event("body", "drop", {"dataTransfer": dropped})
    assert "Hand " in _said(page, 7)[0]


def test_the_pages_policy_lets_nothing_out(site: Site) -> None:
    page = site.page(as_auditor=False)
    answer = page.goto("/verify")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "connect-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert page.evaluate("fetch('/api/v1/health').then(() => 'sent', () => 'refused')") == "refused"
    assert any("Content Security Policy" in one for one in site.wrong)
    site.wrong.clear()


@pytest.mark.ci
def test_a_verdict_is_readable_in_the_light_and_in_the_dark(site: Site, bundle: bytes) -> None:
    page = site.open("/verify", bypass_csp=True, reduced_motion="reduce")
    _put(page, bundle)
    _said(page, 7)
    site.shot(page, "verify-held-light")
    assert [] == complaints(page)
    page.emulate_media(color_scheme="dark")
    site.shot(page, "verify-held-dark")
    assert [] == complaints(page, "color-contrast")


def test_without_a_script_the_page_says_what_to_do(site: Site) -> None:
    page = site.open("/verify", java_script_enabled=False)
    expect(page.locator("#unscripted")).to_contain_text("python3 verify.py hand.zip --key KEY")
    expect(page.locator("#checker")).to_be_hidden()

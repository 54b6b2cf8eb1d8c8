"""Every page in the light, in the dark and on a phone: whole, quiet, readable, to axe's taste."""

import pytest
from fastapi.routing import APIRoute

from api.pages import PAGES
from tests.browser.conftest import PHONE, Site, complaints, named, settled
from tests.browser.looked_at import PATHS, WRONG
from tests.profiles import sized

ROUTES = [it for router in PAGES for it in router.routes if isinstance(it, APIRoute)]
FIRST = {
    route.path: path
    for path in reversed(PATHS)
    for route in ROUTES
    if route.path_regex.match(path.partition("?")[0].partition("#")[0])
}


@pytest.mark.parametrize("path", sized(quick=tuple(FIRST.values()), ci=PATHS))
def test_a_page_is_readable_in_the_light_in_the_dark_and_on_a_phone(path: str, site: Site) -> None:
    page = site.open(path, bypass_csp=True, reduced_motion="reduce")
    site.shot(page, f"{named(path)}-light")
    assert [] == complaints(page)
    page.emulate_media(color_scheme="dark")
    settled(page)
    site.shot(page, f"{named(path)}-dark")
    assert [] == complaints(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    settled(page)
    site.shot(page, f"{named(path)}-phone")
    assert PHONE["width"] == page.evaluate("document.documentElement.scrollWidth")


def test_every_page_is_whole_without_a_script(site: Site) -> None:
    page = site.page(java_script_enabled=False)
    for path in PATHS:
        page.goto(path)
        assert 1 == page.locator("h1").count(), path
        assert page.locator("main").inner_text().strip(), path


@pytest.mark.parametrize(("path", "status"), WRONG)
def test_what_cannot_be_shown_is_said_on_a_page(path: str, status: int, site: Site) -> None:
    page = site.open(path, status=status, bypass_csp=True)
    site.shot(page, f"{named(path)}-light")
    assert [] == complaints(page)


def test_every_page_is_looked_at() -> None:
    assert {route.path for route in ROUTES} == FIRST.keys()

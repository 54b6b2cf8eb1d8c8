"""An auditor's afternoon: the verdict, the money, the bundle, and the verifier in it."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.browser.conftest import CONTESTED, Site, expect

AUDIT = f"/hands/{CONTESTED}/audit"


def test_a_contested_hand_is_explained_without_a_script(site: Site) -> None:
    page = site.open(AUDIT, java_script_enabled=False)
    assert 0 == page.locator("script").count()
    ruling = page.locator(".ruling")
    expect(ruling.locator("strong")).to_have_text("Contested")
    expect(ruling).to_contain_text(
        "The record is what auction-2024 pays; another reading pays differently."
    )
    accounts = page.locator(".accounts tbody tr")
    expect(accounts.nth(0)).to_contain_text("recorded")
    expect(accounts.nth(2)).to_contain_text("A9")
    expect(page.locator(".cite").first).to_contain_text(
        "the 2024 engine splits the pot: the payer of the auction loses half its price"
    )
    for title in ("Award", "Readings", "Cards", "Showdown", "Auction", "Money in", "Pots"):
        expect(page.locator("section.part h2", has_text=title)).to_have_count(1)


def test_all_chips_that_came_in_are_paid_out_on_the_page(site: Site) -> None:
    page = site.open(AUDIT)
    money = page.locator("section", has_text="Money in").last.locator("tr.sum td").all_inner_texts()
    pots = page.locator("section.part", has=page.locator("h2", has_text="Pots"))
    paid = pots.locator("tbody td.n:not([rowspan])").all_inner_texts()
    assert sum(map(_chips, money[:-1])) == _chips(money[-1]) == sum(map(_chips, paid))


def test_the_evidence_is_verified_by_the_program_inside_it(site: Site, tmp_path: Path) -> None:
    page = site.open(AUDIT)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Evidence bundle").click()
    bundle = tmp_path / downloading.value.suggested_filename
    assert bundle.name == f"{CONTESTED.replace('/', '-')}.zip"
    downloading.value.save_as(bundle)
    zipfile.ZipFile(bundle).extractall(tmp_path / "evidence")
    alone = [sys.executable, "-I", "verify.py"]
    ran = subprocess.run(alone, cwd=tmp_path / "evidence", capture_output=True, text=True)
    assert 7 == ran.returncode, ran.stderr  # nobody said which key is the log's
    for sentence in page.locator(".checks li").all_inner_texts():
        assert sentence.strip() in " ".join(ran.stdout.split())


def test_an_audit_is_printed_without_what_is_for_a_screen(site: Site) -> None:
    page = site.page()
    site.go(page, AUDIT)
    page.emulate_media(media="print")
    for screen in (".nav", ".viewpoints", ".tabs", ".btns"):
        expect(page.locator(screen).first).to_be_hidden()
    expect(page.locator(".ruling")).to_be_visible()


def test_who_may_not_see_a_hand_is_told_what_he_may(site: Site) -> None:
    page = site.open(AUDIT, as_auditor=False)
    expect(page.locator(".ruling")).to_contain_text("Judged from what the public may see")
    expect(page.locator(".checks")).to_contain_text("This bundle is for public")


def test_a_match_is_verified_on_demand_and_by_auditors_only(site: Site) -> None:
    page = site.open("/matches/scrim")
    page.get_by_role("link", name="Verify now").click()
    expect(page.locator(".checks li").first).to_have_text(
        "72 of 72 records are as they were when they were signed"
    )
    site.open("/matches/scrim?verify=yes", as_auditor=False, status=403)


def _chips(text: str) -> int:
    return int("".join(filter(str.isdecimal, text)))

"""The site of the documentation: every page in its place, no link, picture or source missing."""

import fcntl
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

import pytest

from docs.site import NAVIGATION, ROOT, build, write_source
from events.match import Match
from events.types import Event

SOURCES = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "srcset")}
SOURCES |= {("iframe", "src"), ("video", "src"), ("audio", "src"), ("object", "data")}
BROKEN = {
    "a page": ("nowhere.md", "[there](nowhere.md)"),
    "an anchor": ("nothing-of-the-kind", "[there](docs/rules.md#nothing-of-the-kind)"),
    "a picture": ("nowhere.png", "![of it](docs/pictures/nowhere.png)"),
}


class Page(HTMLParser):
    """What a built page loads, where it leads and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in SOURCES:
                self.sources.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif name == "id":
                self.anchors.add(value or "")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `./mr docs` builds it: once for all workers of a run, who find it beside their
    own folders."""
    needs_the_generator()
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    with out.with_suffix(".lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not out.exists():
            run = subprocess.run(
                [sys.executable, "-m", "docs.site", out], cwd=ROOT, capture_output=True, text=True
            )
            assert (0, "", f"{out}/index.html\n") == (run.returncode, run.stderr, run.stdout)
    return out


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in sorted(built.rglob("*.html"))}


def needs_the_generator() -> None:
    if find_spec("sphinx") is None:
        missing = "the site's generator is not installed here: ./mr docs installs it"
        if os.environ.get("MUCKRAKE_SITE") == "require":
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)


def test_every_page_of_ours_has_one_place_in_the_order_of_reading(tmp_path: Path) -> None:
    """Without the generator: the Markdown that it is given."""
    write_source(tmp_path)
    named = [os.path.normpath(f"docs/{page}") for some in NAVIGATION.values() for page in some]
    ours = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    pages = {str(path.relative_to(ROOT).with_suffix("")) for path in ours} - {"README"}
    made = {"docs/openapi-routes", "docs/openapi-shapes", "bench/results/index"}
    assert sorted(named) == sorted(pages | made), "docs/site.py has the order"
    assert [] == [name for name in named if not (tmp_path / f"{name}.md").is_file()]
    first = (tmp_path / "index.md").read_text("utf-8")
    assert first.startswith("# muckrake\n")
    assert 2 == first.count("```{image} docs/pictures/")


def test_every_route_and_every_shape_of_openapi_is_in_it(tmp_path: Path) -> None:
    write_source(tmp_path)
    document = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    routes = (tmp_path / "docs" / "openapi-routes.md").read_text("utf-8")
    shapes = (tmp_path / "docs" / "openapi-shapes.md").read_text("utf-8")
    for path, methods in document["paths"].items():
        for method in methods:
            assert 1 == routes.count(f"\n### `{method.upper()} {path}`\n")
    for name, schema in document["components"]["schemas"].items():
        assert 1 == shapes.count(f"\n## {name}\n")
        assert all(f"| `{member}` |" in shapes for member in schema.get("properties", {}))


def test_a_folder_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_the_generator()
    (tmp_path / "letters").write_text("of mine")
    assert 2 == build(tmp_path)
    said = f"docs.site: {tmp_path} holds something else than a site: name another\n"
    assert said == capsys.readouterr().err
    assert "of mine" == (tmp_path / "letters").read_text()


@pytest.mark.ci
def test_nothing_that_a_page_loads_comes_from_another_host(
    built: Path, pages: dict[Path, Page]
) -> None:
    assert len(pages) > 40
    foreign = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
    assert [] == [it for page in pages.values() for it in page.sources if foreign.match(it)]
    for path in (*built.rglob("*.css"), *built.rglob("*.js")):
        fetched = re.findall(
            r"(?:url\(|import |fetch\(|src *= *)[\"']?(?:https?:)?//[^\"')]*", path.read_text()
        )
        assert [] == fetched, path


@pytest.mark.ci
def test_every_link_leads_to_a_file_and_an_anchor_and_every_source_is_there(
    pages: dict[Path, Page],
) -> None:
    wrong = []
    for path, page in pages.items():
        for link in (*page.links, *page.sources):
            if re.match(r"https?:|mailto:|data:", link):
                continue
            file, _, anchor = unquote(link.partition("?")[0]).partition("#")
            leads = (path.parent / file).resolve() if file else path
            if not leads.is_file() or (leads in pages and anchor not in pages[leads].anchors):
                wrong.append(f"{path.name}: {link}")
    assert [] == wrong


@pytest.mark.ci
def test_every_event_can_be_searched_for(built: Path) -> None:
    index = (built / "searchindex.js").read_text("utf-8").lower()
    for kind in (*get_args(Event), *get_args(Match)):
        assert kind.__name__.lower() in index


@pytest.mark.ci
@pytest.mark.parametrize("what", BROKEN)
def test_what_leads_nowhere_stops_the_build_and_the_site_of_before_stays(
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    needs_the_generator()
    named, text = BROKEN[what]
    out = tmp_path / "built"
    out.mkdir()
    (out / ".buildinfo").touch()
    (out / "index.html").write_text("the site of before")

    def write_broken(folder: Path) -> None:
        (folder / "docs").mkdir()
        (folder / "index.md").write_text(
            f"# First\n\n{text}\n\n```{{toctree}}\n:hidden:\n\ndocs/rules\n```\n"
        )
        (folder / "docs" / "rules.md").write_text("# Rules\n")

    monkeypatch.setattr("docs.site.write_source", write_broken)
    assert 0 != build(out)
    assert named in capsys.readouterr().err
    assert "the site of before" == (out / "index.html").read_text()

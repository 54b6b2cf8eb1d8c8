"""The documentation as a site: `./mr docs [FOLDER]` builds it, for a browser and no network.

Sphinx reads Markdown by myst-parser and draws it by furo. Tried beside it in November 2026:
Material for MkDocs, whose search without a server loads a script of another host, on an MkDocs that
had its last version in August 2024; Zensical, whose search needs a server. Here a page opened from
a folder has everything, and a link, an anchor or an image that leads nowhere stops the build.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.openapi_pages import routes, shapes

ROOT = Path(__file__).parents[1]
OUT = ROOT / "dist" / "docs"

# The pages in the order in which readers need them; a page that is missing here stops the build.
NAVIGATION = {
    "An auditor": ("for-auditors", "rules", "trust", "record-format", "differences"),
    "A competitor": (
        *("for-competitors", "bots", "leagues", "import", "rakes", "statistics", "auctions"),
        *("opponents", "results", "decisions", "library", "learners"),
    ),
    "A dashboard author": (
        *("for-dashboards", "http", "openapi-routes", "openapi-shapes", "stream", "export"),
        "questions",
    ),
    "The games": ("games", "policies", "deals"),
    "The record": ("events", "one-line", "filters", "ledger", "archive", "live"),
    "Running it": ("install", "cli", "serving", "security", "spark", "scale"),
    "Words": ("glossary",),
    "The project": (
        *("../ARCHITECTURE", "../CONTRIBUTING", "../CHANGELOG", "../SECURITY"),
        *("../THIRD_PARTY", "../bench/results/index"),
    ),
}
SETTINGS = {
    "project": "muckrake",
    "html_title": "muckrake",
    "extensions": ["myst_parser"],
    "root_doc": "index",
    "html_theme": "furo",
    "html_show_sphinx": False,
    "html_copy_source": False,
    "html_use_index": False,
    "html_show_search_summary": False,  # it would ask a server for each page that is found
    "myst_heading_anchors": 4,
    "myst_links_external_new_tab": True,
    "highlight_language": "text",
    "suppress_warnings": [
        "misc.highlighting_failure",  # blocks of our own notations
        "myst.header",  # generated tables of rakes begin at the third level
    ],
}
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="(?P<dark>[^"]+)">\s*'
    r'<img src="(?P<light>[^"]+)"[^>]*?alt="(?P<alt>[^"]+)">\s*</picture>'
)


def write_source(folder: Path) -> None:
    """The pages, what they link to, OpenAPI, and the order of reading."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    linked = {path for page in pages for path in _linked(page)} - set(pages)
    for path in linked:
        if path.is_dir():
            within = sorted(path.glob("*.md"))
            _write_listing(folder, path, within)
            pages += within
        elif path.suffix == ".md":
            pages.append(path)
        else:
            _copy(path, folder)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        _copy(picture, folder)
    for page in dict.fromkeys(pages):
        _place(page, folder).write_text(_page(page), "utf-8")
    _copy(ROOT / "docs" / "openapi.json", folder)
    document = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    text = routes(document, "openapi-shapes.md")
    text = text.replace("\n\n", "\n\n[As it is for programs](openapi.json).\n\n", 1)
    (folder / "docs" / "openapi-routes.md").write_text(text, "utf-8")
    (folder / "docs" / "openapi-shapes.md").write_text(shapes(document), "utf-8")


def build(out: Path) -> int:
    """The site in a folder, which is replaced; what is wrong is said, and nothing changed then."""
    try:
        from sphinx.application import Sphinx
    except ModuleNotFoundError:
        print("docs.site: Sphinx is not installed here: ./mr docs installs it", file=sys.stderr)
        return 2
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        print(f"docs.site: {out} holds something else than a site: name another", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as aside:
        source, made = Path(aside, "source"), Path(aside, "made")
        source.mkdir()
        write_source(source)
        app = Sphinx(
            source,
            confdir=None,
            outdir=made,
            doctreedir=Path(aside, "doctrees"),
            buildername="html",
            confoverrides=SETTINGS,
            status=None,
            warning=sys.stderr,
            warningiserror=True,
        )
        app.build()
        if app.statuscode:
            return int(app.statuscode)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)
    print(out / "index.html")
    return 0


def _linked(page: Path) -> Iterator[Path]:
    """The files and folders of ours that a page links to."""
    for path, _ in _LINK.findall(page.read_text("utf-8")):
        found = (page.parent / path).resolve()
        if found.is_relative_to(ROOT) and found.exists():
            yield found


def _page(page: Path) -> str:
    """A page's text, with what only GitHub understands written as myst-parser does."""
    text = page.read_text("utf-8")
    text = re.sub(r'^<a id="([^"]+)"></a>', r"(\1)=\n", text, flags=re.MULTILINE)
    text = _PICTURE.sub(_pictures, text)
    text = _LINK.sub(lambda link: f"]({_target(page, link[1])}{link[2] or ''})", text)
    if page == ROOT / "README.md":
        text += "".join(_chapters())
    elif page.parent not in (ROOT, ROOT / "docs"):
        text = f"---\norphan: true\n---\n\n{text}"
    return text


def _target(page: Path, path: str) -> str:
    """README is the first page, and a folder is the list of its pages."""
    found = (page.parent / path).resolve()
    if found == ROOT / "README.md":
        return os.path.relpath(ROOT / "index.md", page.parent)
    return f"{path.rstrip('/')}/index.md" if found.is_dir() else path


def _pictures(found: re.Match[str]) -> str:
    shown = "```{{image}} {}\n:class: only-{}\n:alt: {}\n```\n"
    each = (shown.format(found[theme], theme, found["alt"]) for theme in ("light", "dark"))
    return "\n".join(each)


def _chapters() -> Iterator[str]:
    for caption, pages in NAVIGATION.items():
        names = "\n".join(os.path.normpath(f"docs/{page}") for page in pages)
        yield f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n"


def _write_listing(folder: Path, path: Path, pages: list[Path]) -> None:
    """A folder that is linked to, as a page: its pages, in order."""
    place = folder / path.relative_to(ROOT) / "index.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    names = "\n".join(page.stem for page in pages)
    title = f"# {path.relative_to(ROOT)}"
    place.write_text(f"{title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n", "utf-8")


def _copy(path: Path, folder: Path) -> None:
    shutil.copy(path, _place(path, folder))


def _place(path: Path, folder: Path) -> Path:
    """Where a file of ours stands among the source."""
    inside = path.relative_to(ROOT)
    place = folder / ("index.md" if path == ROOT / "README.md" else inside)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


if __name__ == "__main__":
    sys.exit(build((Path(sys.argv[1]) if sys.argv[1:] else OUT).resolve()))

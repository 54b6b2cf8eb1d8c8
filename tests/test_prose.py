"""The prose of documents and help reads at once: who does what, in words that everybody knows."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from api.main import muckrake

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
    if page.name != "CHANGELOG.md"  # what was written of old releases stays
)
FENCES = re.compile(r"^( *)(`{3,}).*?^\1\2`*$", re.MULTILINE | re.DOTALL)
TEMPLATES = sorted((ROOT / "api" / "pages" / "templates").glob("*.html"))
GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)")
# `What is hidden is null` makes a reader look for what does something: `A hidden value is null`.
RIDDLE = re.compile(
    r"(?:^(?:[-*|>]+ |\d+\. )?|[.!?:;|] +|[.!?:;] ?\n)((?:Whoever|Who|What)\s[^.?!|]*[.?!|]?)",
    re.MULTILINE,
)
PRIVATE = re.compile(
    r"\b(told|tells|hears?|heard|walked|laid|lots|untold|unheeding|vouched|sighted|whoever)\b",
    re.IGNORECASE,
)
WIDE = 120
OUR_OWN = {"ARCHITECTURE.md", "CONTRIBUTING.md"}  # of the code, which may name it

every_document = pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)


def riddles(prose: str) -> list[str]:
    """Sentences that begin with Whoever, Who or What and ask nothing."""
    found = (sentence.strip() for sentence in RIDDLE.findall(prose))
    return [sentence for sentence in found if not sentence.endswith("?")]


def private(prose: str) -> list[str]:
    """Words that mean something else to everybody outside this project."""
    return PRIVATE.findall(prose)


@every_document
def test_no_sentence_of_a_page_is_a_riddle(document: Path) -> None:
    assert [] == riddles(_prose(document))


@every_document
def test_no_page_speaks_a_private_language(document: Path) -> None:
    if document.name not in OUR_OWN:
        assert [] == private(CODE.sub("", _prose(document)))


@every_document
def test_a_line_of_prose_fits_a_screen(document: Path) -> None:
    """Rows of tables, HTML and what stands as it was printed have the width that they need."""
    lines = _prose(document).splitlines()
    wide = [line for line in lines if len(line) > WIDE and not re.match(r" {4}|\s*[|<]", line)]
    assert [] == wide


def test_the_glossary_has_at_most_twenty_words_and_the_guides_lead_to_it() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = re.findall(r"^\| (?!word |---)", glossary, flags=re.MULTILINE)
    assert 10 <= len(words) <= 20
    for guide in ("for-auditors", "for-competitors", "for-dashboards"):
        assert "(glossary.md)" in (ROOT / "docs" / f"{guide}.md").read_text("utf-8"), guide


def test_the_auditors_guide_begins_with_a_zip_and_needs_no_copy_of_ours() -> None:
    """What an auditor without a checkout can do comes before the first command of ours."""
    page = (ROOT / "docs" / "for-auditors.md").read_text("utf-8")
    before = page[: page.index("./mr ")]
    assert "## You were sent a ZIP" in before
    assert "python3 verify.py tie-24.zip --key KEY" in before


def test_help_of_every_command_and_option_reads_at_once() -> None:
    wrong = {
        f"{command} {name}": [*riddles(text), *private(text)]
        for command, name, text in _helps(muckrake, "muckrake")
    }
    assert {} == {where: found for where, found in wrong.items() if found}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_page_in_a_browser_reads_at_once(template: Path) -> None:
    text = re.sub(r"{%.*?%}|{#.*?#}", "", template.read_text("utf-8"), flags=re.DOTALL)
    shown = re.sub(r"{{.*?}}", "0", text, flags=re.DOTALL)
    shown = re.sub(r"<(script|style|h\d)\b.*?</\1>|<[^>]*>", "\n", shown, flags=re.DOTALL)
    assert [] == private(shown)
    assert [] == [sentence for sentence in riddles(shown) if sentence.endswith(".")]


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("What is hidden is null.", ["What is hidden is null."]),
        ("It ends. Whoever reads\nit knows.", ["Whoever reads\nit knows."]),
        ("- Who asks gets it.", ["Who asks gets it."]),
        ("| row | What it is |", ["What it is |"]),
        ("Who is right? Nobody knows what is hidden.", []),
    ],
)
def test_a_riddle_is_found(prose: str, found: list[str]) -> None:
    assert found == riddles(prose)


def test_a_private_word_is_found_and_code_is_none() -> None:
    assert ["told", "Whoever"] == private(CODE.sub("", "He is told. Whoever asks `told` once."))


def _helps(group: click.Group, called: str) -> Iterator[tuple[str, str, str]]:
    """The help of each command of a group and of its options, and of groups in it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{called} {name}", "", command.help or ""
        for one in command.params:
            yield f"{called} {name}", one.name or "", getattr(one, "help", None) or ""
        if isinstance(command, click.Group):
            yield from _helps(command, f"{called} {name}")


def _prose(document: Path) -> str:
    """What people wrote: no examples, no titles, and nothing that the code writes."""
    text = GENERATED.sub("", FENCES.sub("", document.read_text("utf-8")))
    return re.sub(r"^#+ .*", "", text, flags=re.MULTILINE)

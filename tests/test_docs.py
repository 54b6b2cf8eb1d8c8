"""The documents tell what the code does: generated parts, examples, names, paths and links."""

import contextlib
import io
import re
import runpy
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import get_args

import click
import pytest

from api.main import main, muckrake
from docs.generate import PARTS, written
from engine.catalogue import CATALOGUE
from engine.games import RULESETS
from engine.steps import AnyStep
from events.match import Match
from events.types import Event
from tests.fences import Fence, fences, same, typed
from tests.profiles import sized
from tests.test_tidy import FLOORS, MAY_IMPORT

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
GENERATED = [page for page in PAGES if "<!-- generated: " in page.read_text("utf-8")]
TOP = click.Context(muckrake)
APART = {  # what they add is not here
    "CONTRIBUTING.md": "tests/test_docs_contributing.py",
    "questions.md": "tests/test_declared.py",
}
MR = runpy.run_path(str(ROOT / "mr"))["VERBS"]
# What its examples ask, tests/test_library.py asks before.
RUN = [pytest.param(it, marks=pytest.mark.ci) if it.name == "library.md" else it for it in PAGES]

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_what_is_written_from_the_code_is_up_to_date(page: Path, accept: bool) -> None:
    text = page.read_text("utf-8")
    if accept:
        page.write_text(written(text), "utf-8")
    assert page.read_text("utf-8") == written(text), f"./mr accept writes {page.name}"


def test_every_part_that_can_be_written_stands_on_some_page() -> None:
    told = re.findall(r"<!-- generated: (\S+) -->", _all_words())
    assert sorted(PARTS) == sorted(told)


def test_every_name_that_a_user_meets_is_in_the_documents() -> None:
    names = [kind.__name__ for kind in (*get_args(Event), *get_args(Match), *get_args(AnyStep))]
    names += [*RULESETS, *CATALOGUE, *(f"muckrake {one}" for one in muckrake.list_commands(TOP))]
    words = _all_words()
    assert [] == [name for name in names if not re.search(rf"{name}\b(?<!\w{name})", words)]


def test_every_option_of_every_command_is_in_the_documents() -> None:
    words = _all_words()
    for command in _commands(muckrake):
        for one in command.params:
            assert one.opts[0] in words or one.human_readable_name in words
            told = not isinstance(one, click.Option) or one.help
            assert told, f"{command.name} {one.name} needs help"


def test_every_console_example_prints_what_its_page_says_one_page_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one folder, README first and then each page where its links lead; the first of them in
    profile `quick`."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    wrong: list[str] = []
    for page in _reading_order()[: sized(1, None)]:
        if page.name not in APART:
            for fence in fences(page):
                if fence.language == "console":
                    wrong += _typed(page, fence, tmp_path)
    assert not wrong, "\n\n".join(wrong)


def test_every_page_is_reached_from_the_readme() -> None:
    """Changes and how to report a hole are not read one after the other."""
    assert {"CHANGELOG.md", "SECURITY.md", "THIRD_PARTY.md"} >= {
        page.name for page in {*PAGES} - {*_reading_order()}
    }


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_every_python_example_prints_what_the_page_says(page: Path) -> None:
    blocks = list(fences(page))
    for fence, after in zip_longest(blocks, blocks[1:]):
        if fence.language == "python" and not fence.told:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(fence.text, f"{page}:{fence.line}", "exec"), {})
            assert after is not None, f"{page}:{fence.line}: show below what it prints"
            assert same(after.text, printed.getvalue()), printed.getvalue()


@every_page
def test_every_path_that_is_named_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    links += re.findall(r'(?:src|srcset)="(?!https?:)([^"]+)"', text)
    missing = [link for link in links if not (page.parent / link).exists()]
    rooms = "events|odds|engine|store|dealer|api|tests|docs"
    prose = "".join(re.split(r"^(`{3,}).*?^\1", text, flags=re.MULTILINE | re.DOTALL)[::2])
    missing += [
        path
        for path in re.findall(rf"`((?:{rooms})/[\w./-]*)`", prose)
        if not (ROOT / path).exists()
    ]
    assert [] == missing


def test_the_architecture_names_every_room_and_the_rooms_inside() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rooms = {*MAY_IMPORT, *(inner for floors in FLOORS.values() for inner in floors)} - {""}
    named = {*re.findall(r"(?:^|`)(\w+)(?:/|\.py)", text, flags=re.MULTILINE)}
    assert [] == sorted(rooms - named)
    assert len(text.splitlines()) <= 150


def test_the_example_in_the_readme_is_about_ten_lines() -> None:
    example = next(fence for fence in fences(ROOT / "README.md") if fence.language == "python")
    assert len(example.text.strip().splitlines()) <= 14


def test_the_changelog_has_room_for_what_is_not_released() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def _reading_order() -> list[Path]:
    """README, then the pages in the order of its links, then those that only they link to."""
    order = [ROOT / "README.md"]
    for page in order:
        for link in re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text("utf-8")):
            if (linked := (page.parent / link).resolve()) not in order and linked in PAGES:
                order.append(linked)
    return order


def _typed(page: Path, fence: Fence, folder: Path) -> Iterator[str]:
    """Type the commands of a block; say of each that fails or prints something else."""
    for command in typed(fence.text):
        assert command.words[0] in ("./mr", "muckrake"), f"{page}:{fence.line}: whose command?"
        words = [re.sub("^/tmp/", f"{folder}/", word) for word in command.words[1:]]
        words = [re.sub("^ledger/", f"{folder}/ledger/", word) for word in words]
        if words[0] in MR:  # a check of the project runs as itself, not inside another
            continue
        raw = io.BytesIO()  # some commands print bytes
        with contextlib.redirect_stdout(io.TextIOWrapper(raw, "utf-8")) as out:
            code = main(words)
            out.flush()
        printed = raw.getvalue().decode().replace(f"{folder}/", "/tmp/")
        if code or (command.printed and not same(command.printed, printed)):
            said = " ".join(command.words)
            yield f"{page.name}:{fence.line}: {said}\n(exit code {code})\n{printed[:2000]}"


def _commands(group: click.Group) -> Iterator[click.Command]:
    """Every command, and those of commands that have some."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from _commands(command)


def _all_words() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)

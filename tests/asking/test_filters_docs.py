"""Every example in docs/filters.md finds as many hands as the page says, or fails as it says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.main import main
from api.questions.declared.hands import read_hands
from api.questions.filters_hands import facets
from api.questions.filters_parser import WrongFilter, parse_filter
from api.questions.filters_tree import FIELDS, FLAGS, Compare, terms
from api.questions.filters_values import parse_pattern
from api.questions.verdicts import Verdicts
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from store.reader import Reader
from tests.fences import fences, typed
from tests.profiles import sized

PAGE = Path(__file__).parents[2] / "docs" / "filters.md"


def table(heading: str) -> Iterator[tuple[str, ...]]:
    """The rows of the table under a heading."""
    text = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for line in re.findall(r"^\| `.*$", text, flags=re.MULTILINE):
        yield tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])


EXAMPLES = [(found.strip("`"), count) for found, _, count in table("Examples")]
MISTAKES = [(written.strip("`"), answer) for written, answer in table("Mistakes")]


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> LedgerView:
    """The ledger that the page plays."""
    folder = tmp_path_factory.mktemp("filters") / "ledger"
    for fence in fences(PAGE):
        for command in typed(fence.text) if fence.language == "console" else ():
            if command.words[1] == "play":
                assert 0 == main([*command.words[1:], "--ledger", str(folder)])
    return LedgerView(Reader(folder).snapshot(), Viewer("auditor"))


def test_every_example_finds_what_the_page_says(
    viewed: LedgerView, accept: bool, tmp_path: Path
) -> None:
    judged = Verdicts(tmp_path).known(viewed.snapshot, viewed.snapshot.next_seq)
    assert len(EXAMPLES) > 12
    found = {}
    for at, (text, _) in enumerate(EXAMPLES):
        found[text] = len(read_hands(viewed, parse_filter(text), None, 1_000, judged=judged).rows)
        if at % sized(5, 1) == 0:
            assert found[text] == facets(viewed, parse_filter(text), judged).hands
    if accept:
        PAGE.write_text(_counted(PAGE.read_text("utf-8"), found), "utf-8")
    assert {text: int(count) for text, count in EXAMPLES} == found, "./mr accept counts anew"


def _counted(text: str, found: dict[str, int]) -> str:
    for one, count in found.items():
        cell = re.escape(f"| `{one.replace('|', chr(92) + '|')}` |")
        text = re.sub(rf"({cell}.*\| )\d+ \|\n", rf"\g<1>{count} |\n", text)
    return text


@pytest.mark.parametrize(("text", "answer"), MISTAKES)
def test_every_mistake_is_answered_as_the_page_says(text: str, answer: str) -> None:
    with pytest.raises(WrongFilter) as wrong:
        parse_filter(text)
    assert answer == str(wrong.value)


def test_every_pattern_of_the_page_is_one() -> None:
    told = re.findall(r"^\| `(\S+)` \| ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    cards = [one for one in told if re.fullmatch(r"(?:[2-9TJQKA?][cdhs?]?)+[so]?", one)]
    assert len(cards) > 6
    assert [] == [one for one in cards if parse_pattern(one) is None]


def test_every_field_and_flag_is_in_an_example_or_a_table() -> None:
    used = {
        term.field if isinstance(term, Compare) else term.name
        for text, _ in EXAMPLES
        for term in terms(parse_filter(text))
    }
    assert {*FIELDS, *FLAGS} - used <= {"game", "player", "ruleset"}

"""Names are nouns that a new engineer would search for: words that were taken out do not come back.

A name is refused if one of its words, which `_` parts, is in `NO_WORDS`: names in Python, and
variables of templates. Words of events, policies and JSON stay, because users know them. Docstrings
and comments name who acts: a caller, a viewer, a player.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.test_tidy import HELLO, MAY_IMPORT, ROOT, Found, Module, complaints

# Each with what to look for instead.
NO_WORDS = {
    "told": "a text, a sentence, a document or an answer",
    "said": "a text, or options",
    "laid": "columns",
    "lots": "event columns",
    "heard": "received",
    "sighted": "mirrored",
    "wishes": "query parameters",
    "eyes": "a viewpoint",
    "beside": "a neighbour, a join or the other table",
    "apart": "what is parted, or by how much",
    "whoever": "a caller, a viewer or a player",
    "untold": "hidden",
    "vouched": "a batch-audited import",
    "docket": "disputed hands",
    "feet": "row group digests",
}
NO_PHRASES = {
    "whoever": "a caller, a client, a viewer or a player",
    "what is there": "a noun",
    "what there is": "a noun",
}
USERS_KNOW = frozenset({"told_at", "kept_apart", "both_told"})  # of JSON, and a policy's value
EVENTS = "events/types.py"  # whose fields are members of JSON
TEMPLATES = "api/pages/templates"
_WORD = re.compile(f"(?<![a-z])(?:{'|'.join(NO_WORDS)})(?![a-z])")  # a file without is not parsed
_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[A-Za-z_]\w*")


def words_that_name_something(module: Module) -> Found:
    """A variable, a parameter, a field and a function have a noun that others know, too."""
    if module.room in MAY_IMPORT and module.path != EVENTS and _WORD.search(module.text.lower()):
        for line, name in names(module.nodes):
            if name not in USERS_KNOW:
                yield from ((line, f"{name} names nothing: {it}?") for it in _instead(name))


def names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every name that a module gives to something of its own."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)):
                yield node.lineno, name
            case ast.MatchStar(name=str(name)):
                yield node.lineno, name


def phrases_that_name_somebody(module: Module) -> Found:
    """Docstrings and comments say who does what to what."""
    whole = " ".join(module.text.lower().split())
    if module.room in MAY_IMPORT and any(phrase in whole for phrase in NO_PHRASES):
        for line, text in prose(module):
            words = " ".join(text.lower().split())
            for phrase, other in NO_PHRASES.items():
                if re.search(rf"\b{phrase}\b", words):
                    yield line, f"'{phrase}' names nobody and nothing: {other}?"


def prose(module: Module) -> Iterator[tuple[int, str]]:
    """Docstrings and comments."""
    for node in module.nodes:
        match node:
            case ast.Module() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def variables(template: str) -> Iterator[tuple[int, str]]:
    """Every name in the code of a template, but for texts."""
    for code in _CODE.finditer(template):
        for token in _TOKEN.finditer(code[0]):
            if token[0][0] not in "\"'":
                yield template.count("\n", 0, code.start() + token.start()) + 1, token[0]


def _instead(name: str) -> Iterator[str]:
    return (NO_WORDS[word] for word in name.lower().split("_") if word in NO_WORDS)


def test_names_are_plain_nouns_and_prose_names_who_acts() -> None:
    def plain(module: Module) -> Found:
        yield from words_that_name_something(module)
        yield from phrases_that_name_somebody(module)

    assert [] == complaints(ROOT, plain)


def test_variables_of_templates_are_plain_nouns() -> None:
    found = [
        f"{file.name}:{line}: {name} names nothing: {it}?"
        for file in sorted((ROOT / TEMPLATES).iterdir())
        for line, name in variables(file.read_text("utf-8"))
        for it in _instead(name)
    ]
    assert [] == found


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("api/a.py", "told = 1", "2: told names nothing: a text"),
        ("odds/a.py", "def _said(one: int): ...", "2: _said names nothing: a text"),
        ("store/a.py", "def f(not_told: int): ...", "2: not_told names nothing"),
        ("engine/a.py", "for _, said in x: ...", "2: said names nothing"),
        ("dealer/a.py", "class A:\n    eyes: int", "3: eyes names nothing: a viewpoint"),
        ("events/a.py", "import cards as told", "2: told names nothing"),
        ("formats/a.py", "match x:\n    case told: ...", "3: told names nothing"),
        ("formats/a.py", "match x:\n    case 1, *said: ...", "3: said names nothing"),
        ("analytics/a.py", "a.beside = 1", "2: beside names nothing"),
        ("muckrake/a.py", "f = lambda told: told", "2: told names nothing"),
    ],
)
def test_a_bad_name_is_found(path: str, text: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir()
    file.write_text(f"{HELLO}{text}\n")
    (complaint,) = complaints(tmp_path, words_that_name_something)
    assert complaint.startswith(f"{path}:{expected}")


@pytest.mark.parametrize(
    "text",
    [
        'def f() -> None:\n    """Answer whoever\n    asks."""',
        "x = 1  # what is there",
        'class A:\n    """All of it, or what\n    there is."""',
    ],
)
def test_a_bad_phrase_is_found(text: str, tmp_path: Path) -> None:
    file = tmp_path / "api" / "a.py"
    file.parent.mkdir()
    file.write_text(f"{HELLO}{text}\nx = 'whoever: a sentence for users'\n")
    (complaint,) = complaints(tmp_path, phrases_that_name_somebody)
    assert complaint.startswith("api/a.py:2: '")


def test_a_bad_variable_of_a_template_is_found() -> None:
    template = 'told <b id="said">{{ x["said"] }}\n{% if one.told %}{{ said | f }}</b>'
    assert ["told", "said"] == [name for _, name in variables(template) if any(_instead(name))]
    assert {2} == {line for line, name in variables(template) if any(_instead(name))}

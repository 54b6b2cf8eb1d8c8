"""The declared questions, a file each, which holds `QUESTION`; a file in this folder needs no other
line.

Their names and sentences are known without importing them.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from api.questions.question import Question, first_sentence


def question_names() -> list[str]:
    """The names of questions, in alphabetical order."""
    return sorted(one.name for one in iter_modules(__path__))


def sentence(name: str) -> str:
    """The first sentence of a question's file."""
    spec = find_spec(f"{__name__}.{name}")
    assert spec is not None
    assert spec.origin is not None
    return first_sentence(Path(spec.origin).read_text("utf-8").split('"""')[1])


def question(name: str) -> Question:
    """The question of this name."""
    declaration = import_module(f"{__name__}.{name}").QUESTION
    assert isinstance(declaration, Question)
    assert declaration.name == name
    return declaration


def all_questions() -> list[Question]:
    """Every question."""
    return [question(name) for name in question_names()]

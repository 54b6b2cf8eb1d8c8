"""The catalogue describes every policy there is and every value it can take, and no other."""

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from engine.catalogue import CATALOGUE, KINDS, RAKE, meaning
from engine.games import RULESETS
from engine.policies import Policies, Rake

FIELDS: tuple[str, ...] = Policies.__struct_fields__
EVERY = [(Policies, name) for name in FIELDS] + [(Rake, name) for name in Rake.__struct_fields__]
DESCRIBED = CATALOGUE | RAKE


def test_every_policy_is_described_and_in_the_order_of_the_rules() -> None:
    assert list(FIELDS) == list(CATALOGUE)
    assert list(Rake.__struct_fields__) == list(RAKE)


@pytest.mark.parametrize(("shape", "name"), EVERY)
def test_every_value_that_a_policy_can_take_has_its_sentence(shape: type, name: str) -> None:
    described, possible = DESCRIBED[name].values, values_of(get_type_hints(shape)[name])
    if possible is not None:  # else a parameter: any value of its type
        assert sorted(map(repr, possible)) == sorted(map(repr, described))


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_policy_asks_a_question_and_names_its_entries(name: str) -> None:
    policy = DESCRIBED[name]
    assert policy.question.endswith("?")
    assert policy.entries
    assert policy.kind in KINDS


@pytest.mark.parametrize("game", RULESETS.values(), ids=lambda game: game.name)
def test_every_answer_that_a_ruleset_gives_has_a_meaning(game: Policies) -> None:
    silent = [
        name
        for name in FIELDS
        if values_of(get_type_hints(Policies)[name]) is not None
        and not meaning(name, getattr(game, name))
    ]
    assert [] == silent


def values_of(hint: Any) -> tuple[Any, ...] | None:
    """The values that a type lists; None if it lists none, as `int` does."""
    if hint is bool:
        return (True, False)
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        parts = [values_of(part) for part in get_args(hint) if part is not type(None)]
        if all(part is not None for part in parts):
            return (None, *(value for part in parts if part for value in part))
    return None

"""The laws, tried on hands that Hypothesis draws from every ruleset, dealt or recorded."""

from typing import Literal, get_args, get_origin, get_type_hints

from hypothesis import given
from msgspec.structs import replace

from engine.game import Game, fingerprint, from_json, to_json
from engine.policies import Policies
from tests.hands import RULESETS, every_ruleset, sources, walk
from tests.laws import LAWS
from tests.profiles import examples


@every_ruleset
@examples(4, 8)
@given(source=sources)
def test_random_hands_keep_every_law(game: Game, source: bytes) -> None:
    played = walk(game, source)
    for law in LAWS:
        law(played)


@every_ruleset
def test_a_game_is_a_value(game: Game) -> None:
    again = from_json(to_json(game))
    assert game == again
    assert to_json(game) == to_json(again)
    assert fingerprint(game) == fingerprint(again)


def test_two_rulesets_never_share_a_fingerprint() -> None:
    assert len(RULESETS) == len({fingerprint(game) for game in RULESETS.values()})


def test_every_ruleset_stands_under_its_own_name() -> None:
    assert list(RULESETS) == [game.name for game in RULESETS.values()]
    partners = {game.partner for game in RULESETS.values() if game.partner}
    assert partners <= set(RULESETS)


@every_ruleset
def test_another_value_of_any_policy_is_another_ruleset(game: Game) -> None:
    for policy in Policies.__struct_fields__:
        for value in _values(policy):
            other = replace(game, **{policy: value})
            same = value == getattr(game, policy)
            assert same == (fingerprint(game) == fingerprint(other)), policy


def _values(policy: str) -> tuple[object, ...]:
    """Every value of a policy that has named ones; of a number, two that differ."""
    kind = get_type_hints(Policies)[policy]
    if kind in (bool, int):
        return (False, True) if kind is bool else (1, 5)
    return get_args(kind) if get_origin(kind) is Literal else ()

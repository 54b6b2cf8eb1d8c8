"""Statistics ask of rules what they know of them: each policy is changed, and unheard-of ones are.

Whether a raise was allowed is held against the engine's own menu; what columns do not know of a
ruleset, they say nothing of.
"""

import msgspec
import pytest
from msgspec.structs import replace

from analytics.projections.equity import unsupported_rule
from analytics.replay import betting_rounds
from analytics.replay.rules import BettingPolicies, Rulebook, betting_policies
from engine.catalogue import CATALOGUE
from engine.followed import of_other_kinds, unknown
from engine.game import Game, fingerprint, fingerprint_of, kept_game, to_json
from engine.games import GAMES, RULESETS
from engine.policies import Rake
from events.types import Events
from store.log.streams import Leaf
from tests.analytics.test_decisions import alike
from tests.analytics.test_facts_walked import recorded
from tests.mutants import dealt, distinct, mutants, strangers

RULES = distinct()
PLAYED = (
    *("urcs-1998", "auction-2024", "swap-2022", "probability", "site-fl", "site-pl", "site-nl"),
    *("acpc-limit", "irc-limit", "listed"),
)


class Several(Rulebook):
    """These rulesets, and no others."""

    def __init__(self, games: list[Game]) -> None:
        super().__init__(lambda mark: None)
        self._known = {fingerprint(game): game for game in games}


@pytest.mark.parametrize("name", PLAYED)
def test_whether_a_raise_was_allowed_is_what_the_engine_says_by_changed_rules(name: str) -> None:
    games, records = list[Game](), list[Events]()
    for what, game in mutants(RULES[name]):
        policy = CATALOGUE.get(what.partition("=")[0])
        if policy is not None and policy.kind in ("menu", "order"):
            assert betting_policies(game) is not None
            games.append(game)
            records += dealt(game, what, 1)
    rows = alike(recorded(records), Several(games))
    assert {True, False} <= {row["may_raise"] for row in rows}


IGNORED = (
    ("site-nl", "raise_needs_responder", False),
    ("site-nl", "raise_cap", 1),
    ("site-fl", "cap_counts", "bets"),
    ("site-fl", "cap_scope", "player"),
    ("site-fl", "cap_lift", "two_remain"),
    ("site-fl", "reopen", "always"),
    ("site-nl", "check_raise", False),
    ("site-nl", "short_raise", "forbidden"),
    ("site-nl", "sizing", "pot_limit"),
    ("site-nl", "min_raise", "more_than"),
    ("site-nl", "min_raise_after_short", "last_full_total"),
    ("auction-2024", "raise_ceiling", "own_stack"),
    ("site-pl", "pot_limit_base", "all_pots"),
)


@pytest.mark.parametrize(("name", "policy", "value"), IGNORED)
def test_a_policy_that_columns_ignore_is_found(
    name: str, policy: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = replace(RULES[name], raise_cap=1) if policy.startswith("cap_") else RULES[name]
    usual = getattr(base, policy)
    game = replace(base, **{policy: value})

    def ignoring(one: Game | None) -> BettingPolicies | None:
        return betting_policies(one and replace(one, **{policy: usual}))

    def is_found(hands: list[Leaf]) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(betting_rounds, "betting_policies", ignoring)
            try:
                alike(hands, Several([game]))
            except AssertionError:
                return True
        return False

    for number in range(20):
        hands = recorded(dealt(game, f"ignored {number}", 10))
        alike(hands, Several([game]))
        if is_found(hands):
            return
    pytest.fail("200 hands are told alike without this policy")


@pytest.mark.parametrize("name", ["site-nl", "urcs-1998"])
def test_of_rules_that_nobody_has_heard_of_nothing_is_said(name: str) -> None:
    kinds = {"menu": 0, "rank": 0, "pay": 0}
    for what, game in strangers(RULESETS[name]):
        policy = CATALOGUE.get(what.partition("=")[0])
        kind = policy.kind if policy else None
        if kind in ("menu", "order", None) and not what.startswith("line"):
            assert None is betting_policies(game), what
        if kind in ("rank", None) and not what.startswith("line"):
            assert None is Several([game]).showdown(fingerprint(game)), what
        if kind in ("pay", "deal", None) and not what.startswith("line"):
            assert None is not unsupported_rule(game), what
        kinds[kind or "menu"] = kinds.get(kind or "menu", 0) + 1
    assert min(kinds.values()) > 0


def test_columns_do_not_compare_all_seven_cards() -> None:
    game = GAMES["site-nl"]
    other = replace(game, kickers="all_seven")
    assert None is Several([other]).showdown(fingerprint(other))
    assert None is not Several([game]).showdown(fingerprint(game))


def test_a_card_that_goes_back_into_the_deck_is_not_counted_as_gone() -> None:
    game = GAMES["swap-2022"]
    assert None is unsupported_rule(game)
    assert "swap_discard returned" == unsupported_rule(replace(game, swap_discard="returned"))
    assert "split expectation" == unsupported_rule(replace(game, split="expectation"))
    assert None is unsupported_rule(replace(game, rake=Rake(percent=5)))


def test_a_policy_in_no_catalogue_is_unknown_to_all() -> None:
    class Newer(Game, frozen=True, kw_only=True):
        invented: str = "as before"

    game = GAMES["site-nl"]
    known = {name: getattr(game, name) for name in Game.__struct_fields__}
    for kinds in (("pay", "rank"), ("menu", "order")):
        apart = of_other_kinds(*kinds)
        mine = {name: (getattr(game, name), Rake) for name in known if name not in apart}
        assert None is unknown(Newer(**known), mine, apart)
        assert "invented otherwise" == unknown(Newer(**known, invented="otherwise"), mine, apart)


NEWER: dict[str, object] = {
    "invented": "otherwise",  # a policy
    "reopen": "unheard-of",  # a value
    "script": [{"type": "Unheard"}],  # a step
}


@pytest.mark.parametrize("field", NEWER)
def test_a_ruleset_that_a_later_program_wrote_judges_nothing(field: str) -> None:
    """Read without what is not known here, it would be another ruleset."""
    values = msgspec.json.decode(to_json(replace(GAMES["site-nl"], name="later")))
    text = msgspec.json.encode(values | {field: NEWER[field]}, order="sorted")
    mark = fingerprint_of(text)
    assert None is kept_game(text, mark)
    assert None is Rulebook({mark: text}.get).of(mark)
    plain = to_json(replace(GAMES["site-nl"], name="later"))
    assert kept_game(plain, fingerprint_of(plain)) == replace(GAMES["site-nl"], name="later")
    assert None is kept_game(plain, mark)
    assert None is kept_game(b"no ruleset", mark)
    assert None is kept_game(None, mark)

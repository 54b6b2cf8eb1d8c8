"""Fast paths fail closed: whatever a ruleset changes, they come to what the engine does, or refuse.

Every policy, part of a rake and step of every ruleset is changed in turn (`mutants.py`). Then each
thing that a path refuses is let in, and the same comparison has to find what goes wrong by it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec.structs import replace

from analytics.batch_audit import payout_check, plan
from analytics.batch_audit.plan import DoubtReason
from engine.changes import changed, partner_of
from engine.followed import EITHER, FOLLOWED_BY_ALL, Followed, unfollowed
from engine.game import Game, fingerprint
from engine.games import RULESETS
from engine.hand import begin
from engine.policies import Policies
from engine.steps import Betting, Blinds, DealHole, Showdown
from engine.turn import IllegalCommand
from formats import plain_records as plain_module
from formats.hand_records import hand_record
from formats.plain_records import plain_record
from tests.analytics.held import batch_result
from tests.formats.test_hand_records import told_of as told_hand
from tests.hands import covering
from tests.mutants import (
    LISTED,
    Case,
    Mutant,
    dealt,
    disagreements,
    distinct,
    mutants,
    rereadings,
    strangers,
    told_of,
)
from tests.profiles import sized

PATHS: dict[str, Followed] = {"batch": plan.FOLLOWED, "plain": plain_module.FOLLOWED}
RULES = distinct()
COVER = covering(RULES)
every_rules = pytest.mark.parametrize("name", sized(quick=COVER, ci=COVER, slow=RULES))
TIMES = sized(3, 4)  # how many rulesets are changed in one way; in `slow` all of them
FEW, MANY = 1, 60  # hands of each mutant, those that are dealt by it and those that are not
OWN = sized(1, 1, 3)  # times as many of the ruleset itself


@pytest.fixture(autouse=True)
def forget_what_was_followed() -> Iterator[None]:
    plain_module.is_plain_game.cache_clear()
    yield
    plain_module.is_plain_game.cache_clear()


def is_followed(game: Game) -> bool:
    """Whether the batch audit follows these rules at any table."""
    seats = range(game.seats_min, min(game.seats_max, 9) + 1)
    return any(isinstance(plan.plan_ruleset(game, one, partner_of(game)), tuple) for one in seats)


Change = Callable[[Game], Iterator[Mutant]]


def some(name: str, change: Change) -> Iterator[Mutant]:
    """A ruleset changed in every way; before `slow` in those which only a few before it know."""
    before = Counter[str]()
    for other in takewhile(lambda one: one != name, sized(quick=RULES, ci=RULES, slow={})):
        before.update(_names(other, change))
    return (one for one in change(RULES[name]) if before[one.what] < TIMES)


@cache
def _names(name: str, change: Change) -> tuple[str, ...]:
    return tuple(one.what for one in change(RULES[name])) if name in COVER else ()


def cases(name: str, others: Iterator[Mutant], count: int, *, play: bool = True) -> list[Case]:
    """Hands of the ruleset itself as if each mutant had been played, and hands of the mutant."""
    game, found = RULES[name], list[Case]()
    own = dealt(game, "own", OWN * count)
    for what, other in others:
        if is_followed(other):
            found += [Case(what, other, told_of(other, record)) for record in own]
            found += [Case(what, other, it) for it in (dealt(other, what, count) if play else ())]
    return found


# The batch audit.


@every_rules
def test_the_batch_audit_says_of_changed_rules_what_the_engine_does_or_nothing(name: str) -> None:
    assert [] == disagreements(cases(name, some(name, mutants), FEW))


@every_rules
def test_the_batch_audit_leaves_what_another_reading_may_pay_to_the_engine(name: str) -> None:
    others = some(name, rereadings)
    assert [] == disagreements(cases(name, others, 4 * FEW, play=False))


@pytest.mark.slow
@every_rules
def test_the_batch_audit_and_the_engine_over_many_hands_of_changed_rules(name: str) -> None:
    assert [] == disagreements(cases(name, mutants(RULES[name]), MANY))
    assert [] == disagreements(cases(name, rereadings(RULES[name]), 4 * MANY, play=False))


# Each thing that is refused: by which ruleset a hand shows that it has to be.
REFUSED = (
    ("acpc-limit", "cap_scope", "player"),
    ("site-nl", "live_option", False),
    ("site-nl", "all_in_face_up", True),
    ("site-nl", "show_first", "first_bettor"),
    ("site-nl", "muck", "forfeits"),
    ("site-nl", "kickers", "all_seven"),
    ("site-nl", "announce", "announced"),
    ("site-nl", "split", "expectation"),
    ("site-nl", "split", "snapshot"),
    ("site-nl", "odd_scope", "total"),
    ("site-nl", "odd_chips", "first_seat"),
    ("site-nl", "odd_chips", "dropped"),
    ("auction-2024", "auction_all_in", "skipped"),
    ("auction-2024", "dead_chips", "stake"),
    ("swap-2022", "swap_runout", False),
)


@pytest.mark.parametrize(("name", "policy", "value"), REFUSED)
def test_a_policy_let_into_the_batch_audit_is_found(
    name: str, policy: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = replace(RULES[name], **{policy: value}, readings=(), partner=None)
    assert not is_followed(game)
    let_in(monkeypatch, plan.FOLLOWED, policy, value)
    assert is_followed(game)
    for part in range(10):
        own = dealt(RULES[name], f"own {part}", 40)
        found = [Case(policy, game, told_of(game, one)) for one in own]
        found += [Case(policy, game, one) for one in dealt(game, f"let in {part}", 15)]
        if disagreements(found):
            return
    pytest.fail("550 hands are judged as by the engine, which this policy should prevent")


def let_in(patch: pytest.MonkeyPatch, path: Followed, policy: str, value: object) -> None:
    """One more value, as if the path knew what it means."""
    known = dict(path[Game])
    known[policy] = (*known.get(policy, (RULES["site-nl"].__getattribute__(policy),)), value)
    assert isinstance(path, dict)
    patch.setitem(path, Game, known)


COUNTED = (
    ("site-nl", "odd_chips", "first_seat"),
    ("site-nl", "odd_chips", "dropped"),
    ("pokerstars-nl", "split", "expectation"),
    ("probability", "split_unit", 5),
)


@pytest.mark.parametrize(("name", "policy", "value"), COUNTED)
def test_a_reading_let_into_the_batch_audit_is_found(
    name: str, policy: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = next(it for it in rereadings(RULES[name]) if it.game.readings[0].policy == policy)
    reading = replace(one.game.readings[0], value=value)
    game = replace(one.game, readings=(reading,))
    found = [Case(policy, game, told_of(game, it)) for it in dealt(RULES[name], "own", 200)]
    assert [] == disagreements(found)
    monkeypatch.setitem(payout_check._FOLLOWED, policy, (value,))
    assert disagreements(found)


# A script whose course the batch audit does not know.
COURSES = ("line 3: DealBoard twice", "line 4: Betting twice", "line 7: DealBoard total=4")


@pytest.mark.parametrize("what", COURSES)
def test_a_course_let_into_the_batch_audit_is_found(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = next(one.game for one in mutants(RULES["site-nl"]) if one.what == what)
    assert not is_followed(game)
    monkeypatch.setattr(plan, "is_usual_course", lambda kinds, totals: True)
    assert is_followed(game)
    assert disagreements([Case(what, game, one) for one in dealt(game, "course", 40)])


def test_stakes_that_no_column_holds_are_for_the_engine() -> None:
    game = changed(RULESETS["site-nl"], {"big": "5000000000", "stack": "1000000000000"})
    assert "script small 2500000000 is for the engine" == plan.plan_ruleset(game, 2, None)
    record = dealt(game, "large", 1)[0]
    assert [DoubtReason.RULES] == batch_result([record], {fingerprint(game): game}.get).why.tolist()


def test_forced_bets_of_another_table_are_refused_in_a_sentence() -> None:
    players, stacks = ("ursa", "lynx", "puma"), (100,) * 3
    game = replace(LISTED, seats_min=2)
    with pytest.raises(IllegalCommand, match="forced bets of 4 seats, and 3 play"):
        begin(game, "m/1", 0, players, stacks)
    assert "listed does not seat 3" == plan.plan_ruleset(game, 3, None)


# Hands in one pass.


@every_rules
def test_a_hand_in_one_pass_is_what_following_it_makes_or_is_followed(name: str) -> None:
    assert [] == differences(name, FEW)


@pytest.mark.slow
@every_rules
def test_many_hands_in_one_pass_are_what_following_makes(name: str) -> None:
    assert [] == differences(name, MANY)


def differences(name: str, count: int) -> list[str]:
    """Where a hand made in one pass is another than the rules make of it.

    A told hand that its rules forbid may be made all the same: then the batch audit finds it out.
    """
    game, wrong, forbidden = RULES[name], list[str](), list[Case]()
    own = dealt(game, "own", 2 * count)
    for what, other in mutants(game):
        if not plain_module.is_plain_game(other):
            continue
        for record in dealt(other, what, count):
            told = told_hand(other, record)
            made = plain_record(told, "m/0")
            if made is not None and made.record != hand_record(told, "m/0"):
                wrong.append(f"{name} {what}: {made.record}")
        for record in own:
            told = told_hand(other, record)
            if (made := plain_record(told, "m/0")) and made.record != hand_record(told, "m/0"):
                forbidden.append(Case(what, other, made.record))
    return wrong + disagreements(forbidden)


PASSED = (
    ("site-nl", "hole_order", "pairs_from_dealer"),
    ("site-nl", "all_in_face_up", True),
    ("site-nl", "show_first", "first_bettor"),
    ("site-nl", "split", "snapshot"),
    ("site-fl-standard", "ask_when_closed", True),
    ("site-fl-standard", "short_raise", "forbidden"),
)


@pytest.mark.parametrize(("name", "policy", "value"), PASSED)
def test_a_policy_let_into_the_one_pass_is_found(
    name: str, policy: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = replace(RULES[name], **{policy: value}, readings=(), partner=None)
    assert not plain_module.is_plain_game(game)
    plain_module.is_plain_game.cache_clear()
    let_in(monkeypatch, plain_module.FOLLOWED, policy, value)
    assert plain_module.is_plain_game(game)
    told = [told_hand(game, record) for record in dealt(game, "let in", 80)]
    made = [(one, it) for one in told if (it := plain_record(one, "m/0"))]
    assert any(it.record != hand_record(one, "m/0") for one, it in made)


# What nobody has told a path of.


@every_rules
def test_no_path_follows_what_nobody_has_heard_of(name: str) -> None:
    for what, game in strangers(RULES[name]):
        assert not is_followed(game), what
        assert not plain_module.is_plain_game(game), what


class Newer(Game, frozen=True, kw_only=True):
    """The rules of a later program, which knows one more policy."""

    invented: str = "as before"


def test_a_policy_that_came_later_is_followed_at_its_default_only() -> None:
    known = {name: getattr(LISTED, name) for name in Game.__struct_fields__}
    for path in PATHS.values():
        told: Followed = {**path, Newer: path[Game]}
        assert None is unfollowed(Newer(**known), told)
        assert "invented otherwise" == unfollowed(Newer(**known, invented="otherwise"), told)
        assert "Newer" == unfollowed(Newer(**known), path)


def test_a_field_without_a_default_is_followed_only_if_it_is_named() -> None:
    assert "small 5" == unfollowed(Blinds(5, 10), {Blinds: {}})
    assert None is unfollowed(Blinds(5, 10), {Blinds: {"small": (int,), "big": (10,)}})
    assert "ante 1" == unfollowed(Blinds(5, 10, 1), {Blinds: {"small": (int,), "big": (10,)}})


def test_values_are_followed_by_their_type_and_a_row_entry_by_entry() -> None:
    follows: Followed = {Betting: {"street": (str,), "size": (range(1, 9),)}, Showdown: {}}
    assert None is unfollowed(Betting("flop", 8), follows)
    assert "size 9" == unfollowed(Betting("flop", 9), follows)
    assert "size True" == unfollowed(Betting("flop", True), follows)
    assert "DealHole" == unfollowed(DealHole(2), follows)
    script: Mapping[str, Any] = {**FOLLOWED_BY_ALL, "script": (Betting, Showdown)}
    game = replace(RULESETS["phh-nt"], script=(Betting("flop", 8), Showdown()))
    some = {name: (getattr(game, name),) for name in Policies.__struct_fields__}
    some["blind_rounds"] = (int,)
    assert None is unfollowed(game, {**follows, Game: {**some, **script}})
    longer = replace(game, script=(*game.script, Betting("flop", 10)))
    assert "script size 10" == unfollowed(longer, {**follows, Game: {**some, **script}})
    foreign = replace(game, script=(*game.script, DealHole(2)))
    assert "script DealHole" == unfollowed(foreign, {**follows, Game: {**some, **script}})


@pytest.mark.parametrize("path", PATHS.values(), ids=list(PATHS))
def test_what_is_followed_is_there(path: Followed) -> None:
    """A name that no struct has, or a value that no policy has, would say nothing."""
    for kind, known in path.items():
        hints = get_type_hints(kind)
        assert known.keys() <= {field.name for field in msgspec.structs.fields(kind)}
        for name, may in known.items():
            if hints[name] is bool:
                assert set(may) <= set(EITHER)
            elif str(get_origin(hints[name])) == "typing.Literal":
                assert set(may) <= set(get_args(hints[name])), name

"""Batch audit and engine, each the other's test: random hands of every ruleset, and forged ones."""

from collections import Counter
from itertools import islice
from typing import Literal

import pytest
from hypothesis import given
from msgspec.structs import replace

from analytics.batch_audit.plan import DoubtReason
from engine.catalogue import CATALOGUE
from engine.game import Game, fingerprint
from engine.games import GAMES, named
from engine.policies import Rake
from events import types as t
from events.types import Events
from tests.analytics.held import Counted, agree, batch_result, followed, forged, is_judged
from tests.hands import seeded, some_rulesets, sources, walk
from tests.profiles import sized

UNFOLLOWED = {"urcs-1998", "urcs-1998-standard", "river-2023-mit"}
UNFOLLOWED |= {"toss-2026-mit", "bounty-2025-mit"}
OWN, THEIRS = sized((2, 3), (4, 5), (16, 20))
RANDOM, FORGED = sized(8, 10, 40), sized(40, 60, 160)  # of each ruleset; `--slow` forges 100,000


@some_rulesets
def test_they_agree_on_random_hands(game: Game) -> None:
    counted = agree(game, [seeded(game, f"screened {seed}").record for seed in range(RANDOM)])
    assert RANDOM == counted.total()


# Where pots may be cut otherwise (T8), with a house that takes its cut of the hand or of each pot.
SITES = [name for name in GAMES if name.startswith("site-")]
TAKEN: list[Literal["hand", "pot"] | None] = [None, "hand", "pot"]


@pytest.mark.parametrize("scope", TAKEN)
@pytest.mark.parametrize("name", SITES)
def test_they_agree_where_pots_may_be_cut_otherwise(
    name: str, scope: Literal["hand", "pot"] | None
) -> None:
    _cut_otherwise(name, scope, sized(24, 30, 60))


@pytest.mark.slow
@pytest.mark.parametrize("scope", TAKEN)
@pytest.mark.parametrize("name", SITES)
def test_they_agree_on_twenty_thousand_hands_whose_pots_may_be_cut_otherwise(
    name: str, scope: Literal["hand", "pot"] | None
) -> None:
    _cut_otherwise(name, scope, 1_200)


def _cut_otherwise(name: str, scope: Literal["hand", "pot"] | None, count: int) -> None:
    rake = scope and Rake(percent=5, caps_by_players=((2, 7), (4, 20)), scope=scope)
    game = replace(GAMES[name], rake=rake)
    counted = agree(game, islice(followed(game, f"cut {scope}"), count))
    assert counted["agree", "FINE"] > count / 2
    assert counted["contested", "READING"] > count / 40


@some_rulesets
def test_what_the_batch_audit_follows_it_judges(game: Game) -> None:
    records = list(islice(followed(game, "followed"), 20))
    judged = [is_judged(why) for why in batch_result(records).why.tolist()]
    assert [game.name not in UNFOLLOWED] * 20 == judged


@some_rulesets
def test_they_agree_on_forged_hands(game: Game) -> None:
    _forge(game, FORGED, "few")


@pytest.mark.slow
@some_rulesets
def test_they_agree_on_a_hundred_thousand_forged_hands(game: Game) -> None:
    _forge(game, 4_900, "many")


def _forge(game: Game, count: int, name: str) -> None:
    """Forgeries spread over several hands, so that no long one takes them all."""
    records: list[Events] = []
    for record in islice(followed(game, name), 1 + count // 110):
        some = list(forged(game, record))
        records += some[:: max(1, len(some) // 110)]
    counted = agree(game, islice(records, count))
    print(f"\n{game.name} {dict(counted)}")
    assert counted.total() > count * 0.8
    assert sum(many for (verdict, _), many in counted.items() if verdict == "differ") > count / 4


@pytest.mark.parametrize("name", ["auction-2024", "probability", "acpc-nl", "pokerstars-pl"])
@given(source=sources)
def test_no_random_hand_is_fine_that_the_engine_refuses(name: str, source: bytes) -> None:
    agree(named(name), [walk(named(name), source).record])


def test_hands_of_several_rulesets_are_told_apart() -> None:
    games = [GAMES["auction-2024"], GAMES["probability"], GAMES["swap-2022"]] * 5
    records = [next(followed(game, f"mixed {n}")) for n, game in enumerate(games)]
    found = batch_result(records)
    names = [found.names[place] for place in found.ruleset.tolist()]
    assert [game.name for game in games] == names
    assert not found.why.any() or set(found.why.tolist()) <= {DoubtReason.FINE, DoubtReason.READING}


def test_a_hand_of_nobody_knows_which_rules_is_not_judged() -> None:
    record = next(followed(GAMES["auction-2024"], "homeless"))
    start = record[0]
    assert isinstance(start, t.HandStarted)
    foreign = t.HandStarted("m/0", "poker", "0" * 16, start.button, start.players, start.stacks)
    assert [DoubtReason.RULES] == batch_result([(foreign, *record[1:])]).why.tolist()


def test_a_failed_reply_moves_nothing() -> None:
    record = next(followed(GAMES["auction-2024-mit"], "fault"))
    note = t.Faulted(0, "R85.0", "malformed", "action")
    assert [DoubtReason.FINE] == batch_result([(*record, note)]).why.tolist()
    nobody = t.Faulted(2, "R85.0", "malformed", "action")
    assert [DoubtReason.START] == batch_result([(*record, nobody)]).why.tolist()


@pytest.mark.parametrize(
    "name",
    ["pokerstars-pl", *sized((), (), ("auction-2024", "probability", "acpc-limit"))],
)
def test_they_agree_on_hands_played_by_another_rule(name: str) -> None:
    """Nothing in such a hand contradicts the rest of it: only the rules say what is wrong."""
    game = replace(named(name), readings=(), partner=None)
    own = list(islice(followed(game, "own"), OWN))
    counted: Counted = Counter()
    actions = [name for name, entry in CATALOGUE.items() if entry.kind in ("menu", "order")]
    every = [(one, value) for one in actions for value in CATALOGUE[one].values]
    for policy, value in every[:: sized(2, 1)]:
        other = replace(game, **{policy: value})
        counted += agree(other, [_told_of(other, one) for one in own])
        theirs = islice(followed(other, "other"), THEIRS)
        counted += agree(game, [_told_of(game, one) for one in theirs])
    assert counted["agree", "FINE"] > counted.total() / 2
    assert sum(many for (verdict, _), many in counted.items() if verdict == "differ") > THEIRS


def _told_of(game: Game, record: Events) -> Events:
    """The same hand, as if it had been played by these rules."""
    return (replace(record[0], game=game.name, ruleset=fingerprint(game)), *record[1:])

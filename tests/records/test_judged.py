"""What a seat is told of an audit is a judgement of what it sees, and of nothing else."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.auditing.hand_report import audit_entry, audit_text
from api.auditing.record import audit_record
from api.questions.hand import UnfinishedHand, UnknownRuleset, judge_visible, visible_record
from engine.game import Game
from engine.games import GAMES
from events import types as t
from events.ledger import closes
from events.views import Auditor, Seated
from store.reader import Snapshot
from tests.hands import seeded, some_games, sources, walk
from tests.profiles import examples
from tests.redacted_hands import sight_of
from tests.worlds import other_world, viewers


@some_games
@examples(2)
@given(source=sources)
def test_no_honest_hand_differs_for_anybody_who_saw_it(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    whole = audit_record(record, game).report.verdict
    assert whole in ("agree", "contested")
    for who in viewers(record):
        verdict = audit_record(visible_record(sight_of(record, who), game), game).report.verdict
        assert verdict in (whole, "unknown")


@some_games
@examples(2)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_are_judged_alike(game: Game, source: bytes, seed: int) -> None:
    record = walk(game, source).record
    chance = random.Random(seed)
    for who in viewers(record):
        told = []
        for world in (record, other_world(record, who, chance)):
            found = audit_record(visible_record(sight_of(world, who), game), game)
            text = audit_text(game, found.record, found.report)
            told.append((audit_entry(*found), text))
        assert told[0] == told[1]


def test_a_bounty_whose_rank_is_hidden_is_never_agreed_to() -> None:
    """Any payment would fit some rank: whoever does not see it is told that he cannot know."""
    game = GAMES["bounty-2025-mit"]
    for number in range(20):
        record = seeded(game, f"bounty {number}").record
        paid = {one.seat for one in record if isinstance(one, t.BountySettled)}
        for who in viewers(record):
            report = audit_record(visible_record(sight_of(record, who), game), game).report
            mine = {who.seat} if isinstance(who, Seated) else set()
            if paid - mine:
                assert report.verdict == "unknown", (number, who)
                assert any("which is hidden" in one for one in report.assumed)


def test_a_pot_that_went_to_the_wrong_seat_differs_for_whoever_saw_both_hands() -> None:
    game = GAMES["site-nl-standard"]
    record = next(
        found
        for found in (seeded(game, str(seed)).record for seed in range(200))
        if len(found[0].stacks) == 2  # type: ignore[union-attr]
        and sum(isinstance(one, t.Shown) for one in found) == 2
        and sum(isinstance(one, t.PotSplit) and len(one.seats) == 1 for one in found) == 1
    )
    forged = tuple(
        replace(one, seats=(1 - one.seats[0],)) if isinstance(one, t.PotSplit) else one
        for one in record
    )
    for who in (Auditor(), Seated(0), Seated(1)):
        redacted_hand = sight_of(forged, who)
        seen = forged if isinstance(who, Auditor) else visible_record(redacted_hand, game)
        assert audit_record(seen, game).report.verdict == "differ"


def test_a_hand_is_judged_when_it_is_over_and_by_rules_that_are_here() -> None:
    class Nothing:
        def ruleset(self, mark: str) -> None:
            return None

    nothing: Snapshot = Nothing()  # type: ignore[assignment]
    record = seeded(GAMES["auction-2024"], "3").record
    assert closes("auction-2024/1", record)
    redacted_hand = sight_of(record, Auditor())
    assert judge_visible(nothing, redacted_hand).report.verdict in ("agree", "contested")
    assert (
        judge_visible(nothing, redacted_hand, "auction-2024-mit").report.ruleset
        == "auction-2024-mit"
    )
    with pytest.raises(UnknownRuleset, match="no ruleset is called nonsense"):
        judge_visible(nothing, redacted_hand, "nonsense")
    start = record[0]
    assert isinstance(start, t.HandStarted)
    foreign = (replace(start, ruleset="0" * 16), *record[1:])
    with pytest.raises(UnknownRuleset, match="no ruleset here has this fingerprint"):
        judge_visible(nothing, sight_of(foreign, Auditor()))
    with pytest.raises(UnfinishedHand, match="it cannot be judged yet"):
        judge_visible(nothing, sight_of(record[:-1], Auditor()))

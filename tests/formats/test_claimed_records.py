"""What a source says that no chips can be is kept as a claim, and its hand differs."""

import random

import pytest
from msgspec.structs import replace

from engine.audit import nets_of
from engine.game import Game, to_json
from engine.games import RULESETS
from engine.verdict import judge
from events import types as t
from events.evolve import replay
from events.notation import read, say
from formats.hand_records import hand_record
from formats.phh.read import read as read_phh
from formats.source import Act, Board, Holds, Item, Paid, Shows, SourceHand
from tests.formats.test_format_phh import ONE, UNSEEN, changed
from tests.trust.in_node import judged_in_node
from tests.trust.own_bundles import Draft, verdict


def told(text: str = ONE) -> SourceHand:
    (hand,) = read_phh(text).hands
    assert isinstance(hand, SourceHand)
    return hand


CARDS = (("2c", "7d"), ("As", "Ah"), ("Qs", "Qh"))
FAIR = hand_record(told(), "m/1")
PLAIN = replace(told(), nets=None, rake=None)


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"nets": (100, -101, 0)}, "-101"),  # a loser is charged more than he put in
        ({"nets": (200, -100, 0)}, "+100, -100, 0"),  # an award over the pot
        ({"nets": (100, -100, 5)}, "+100, -100, 0"),  # nets that do not add up
        ({"nets": (99, -100, 0)}, "+100, -100, 0"),
        ({"nets": (100, -100, 0), "rake": 1}, "the house 0"),
        ({"paid": (Paid(0, 201),)}, "+100, -100, 0"),
        ({"paid": (Paid(0, 200), Paid(1, 1))}, "+100, -100, 0"),
        ({"paid": (Paid(0, 1),)}, "+100, -100, 0"),
        ({"paid": ()}, "+100, -100, 0"),
    ],
)
def test_no_lie_about_who_was_paid_is_left_out(lie: dict[str, object], sentence: str) -> None:
    hand = replace(PLAIN, **lie)
    record = hand_record(hand, "m/1")
    report = judge(hand.game, record)
    assert "differ" == report.verdict
    assert report.divergence is not None
    assert report.divergence.refusal is not None
    assert sentence in f"{report.divergence.recorded} {report.divergence.refusal}"
    assert isinstance(report.divergence.recorded, t.Claimed)
    if "rake" not in lie:
        assert report.recorded != report.decided
        assert report.moves
    assert sum(nets_of(record)) == 0  # the record itself makes and loses no chip
    assert nets_of(FAIR) == nets_of(record)


def test_where_the_rules_cannot_tell_the_hand_does_not_count() -> None:
    hand = told(changed(UNSEEN, ('"p1 sm KcKd"', '"p1 sm ????"')))
    hand = replace(hand, nets=(500, 500))
    record = hand_record(hand, "m/1")
    assert replay(record).voided
    report = judge(hand.game, record)
    assert ("differ", (500, 500)) == (report.verdict, report.recorded)


def test_a_claim_that_is_so_changes_nothing() -> None:
    """Somebody may have written it: it is held against what was paid."""
    for claim, expected in (
        (t.Claimed((100, -100, 0), 0), "agree"),
        (t.Claimed((100, -100, 0), 1), "differ"),
        (t.Claimed((100, -100), 0), "differ"),
    ):
        assert expected == judge(told().game, (*FAIR[:-1], claim, FAIR[-1])).verdict


def test_chance_falsifies_nets_and_every_one_differs() -> None:
    """Of 851 falsified ACPC nets 340 were left out: here none is."""
    chance = random.Random("claims")
    for _ in range(200):
        nets = list(nets_of(FAIR))
        seat = chance.randrange(3)
        nets[seat] += chance.choice([-1, 1]) * chance.choice([1, 2, 50, 100, 1000])
        hand = replace(PLAIN, nets=tuple(nets))
        assert "differ" == judge(hand.game, hand_record(hand, "m/1")).verdict


def test_its_line_is_read_back() -> None:
    for claim in (t.Claimed((3, -5, 0), 0), t.Claimed((), 7)):
        assert claim == read(say(claim))
    assert "the source claims 3, -5, 0, rake 2" == say(t.Claimed((3, -5, 0), 2))


def test_a_bundle_with_a_claim_holds_in_both_verifiers() -> None:
    record = hand_record(replace(PLAIN, nets=(200, -100, 0)), "m/1")
    start = record[0]
    assert isinstance(start, t.HandStarted)
    draft = Draft((replace(start, game="site-nl"), *record[1:]), "public")
    draft.lines[0]["game"] = start.game
    draft.ruleset = to_json(told().game)
    assert () == verdict(draft).problems
    assert verdict(draft) == judged_in_node(draft.files())


def folded_all_in(game: Game) -> SourceHand:
    """A seat whose blind took its only chip, and who folds although his aces would have won."""
    cards = (("As", "Ah"), ("2c", "7d"), ("Qs", "Qh"))
    streets: list[Item] = []
    for street in (("Kd", "9h", "4s"), ("4d",), ("Js",)):
        streets += [Board(street), Act(1, "check"), Act(2, "check")]
    return SourceHand(
        game=game,
        number=1,
        line=1,
        source_id="",
        button=2,
        players=("ann", "bob", "cyd"),
        stacks=(1, 200, 200),
        items=(
            *(Holds(seat, cards) for seat, cards in enumerate(cards)),
            *(Act(2, "call"), Act(0, "fold"), Act(1, "check")),
            *streets,
            *(Shows(1, cards[1]), Shows(2, cards[2])),
        ),
        nets=(-1, -10, 11),
    )


def test_a_fold_of_who_is_all_in_differs_by_what_he_would_have_won() -> None:
    hand = folded_all_in(RULESETS["site-nl"])
    record = hand_record(hand, "m/1")
    assert any(isinstance(event, t.Folded) and event.seat == 0 for event in record)
    report = judge(hand.game, record)
    assert ("differ", 3) == (report.verdict, report.moves)
    assert ((2, -10, 8), (-1, -10, 11)) == (report.decided, report.recorded)
    (other,) = report.readings
    assert ("site-nl with forced_all_in may_fold", (-1, -10, 11)) == (other.ruleset, other.nets)

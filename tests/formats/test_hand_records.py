"""A told hand becomes a record: the rules' own where they agree, else the source's claim."""

import random
import re
from typing import Any

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.audit import posts_of
from engine.game import Game
from engine.games import RULESETS
from engine.games.site import at_stakes
from engine.verdict import judge
from events import types as t
from events.cards import UNKNOWN
from events.evolve import replay
from events.notation import say_all
from formats.hand_records import hand_record
from formats.source import (
    Act,
    AuctionBid,
    Board,
    CardToss,
    DropsOut,
    Fault,
    HasBounty,
    Holds,
    Item,
    Mucks,
    Paid,
    Shows,
    SourceHand,
)
from tests.hands import some_rulesets


def told_of(game: Game, record: t.Events) -> SourceHand:
    """The inverse of following: a record as a source would tell it."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    hand = replay(record)
    splits = [event for event in record if isinstance(event, t.PotSplit)]
    return SourceHand(
        game=game,
        number=1,
        line=1,
        source_id="1",
        button=start.button,
        players=start.players,
        stacks=start.stacks,
        posts=posts_of(record),
        dead_small=start.dead_small,
        items=tuple(_told(record)),
        paid=tuple(
            Paid(seat, share, split.pot)
            for split in splits
            for seat, share in zip(split.seats, split.shares, strict=True)
        ),
        nets=tuple(now - was for was, now in zip(start.stacks, hand.stacks, strict=True)),
        rake=hand.rake,
    )


def _told(record: t.Events) -> list[Item]:
    told: list[Item] = []
    hands: dict[int, tuple[str, ...]] = {}
    for at, event in enumerate(record):
        hand = replay(record[: at + 1])
        match event:
            case t.HoleDealt(seat=seat):
                told.append(Holds(seat, hand.hole[seat]))
            case t.BountyDrawn(seat=seat, rank=rank):
                told.append(HasBounty(seat, rank))
            case t.CardSwapped(seat=seat):
                hands[seat] = hand.hole[seat]
                if not isinstance(record[at + 1], t.CardSwapped):
                    told.extend(Holds(one, held) for one, held in hands.items())
            case t.Announced(seat=seat, cards=cards):
                told.append(Shows(seat, cards))
            case t.Shown(seat=seat, cards=cards):
                if not isinstance(record[at - 1], t.Announced):
                    told.append(Shows(seat, cards))
            case _:
                told.extend(_choice(event))
    return told


def _choice(event: t.Event) -> list[Item]:
    late = getattr(event, "origin", "") == "default"
    match event:
        case t.BlindPosted(seat=seat, to=to, kind="straddle", origin=origin) if origin != "forced":
            return [Act(seat, "raise", to=to, default=late)]
        case t.Folded(seat=seat):
            return [Act(seat, "fold", default=late)]
        case t.Checked(seat=seat):
            return [Act(seat, "check", default=late)]
        case t.Called(seat=seat, amount=amount):
            return [Act(seat, "call", amount=amount, default=late)]
        case t.Bet(seat=seat, amount=to) | t.Raised(seat=seat, to=to):
            return [Act(seat, "raise", to=to, default=late)]
        case t.BidPlaced(seat=seat, amount=amount, sealed=sealed):
            return [AuctionBid(seat, amount, sealed, default=late)]
        case t.Tossed(seat=seat, cards=(card,)):
            return [CardToss(seat, card)]
        case t.BoardDealt(cards=cards):
            return [Board(cards)]
        case t.Mucked(seat=seat):
            return [Mucks(seat)]
        case t.TimedOut(seat=seat, all_in=True):
            return [DropsOut(seat, all_in=True)]
        case t.Disconnected(seat=seat):
            return [DropsOut(seat)]
        case t.Faulted(seat=seat, raw=raw, kind=kind, where=where):
            return [Fault(seat, raw, kind, where)]
    return []


def adds_up(record: t.Events) -> bool:
    hand = replay(record)
    return hand.pot == 0 and sum(hand.start.stacks) == sum(hand.stacks) + hand.rake


@some_rulesets
def test_a_record_told_and_followed_is_the_same_record(game: Game) -> None:
    game = _splitting(game)
    for record in play(game, "m", 40, "told"):
        told = told_of(game, record)
        for shape in (told, replace(told, paid=None), replace(told, nets=None, rake=None)):
            assert record == hand_record(shape, "m/" + _number(record)), say_all(record)


def _splitting(game: Game) -> Game:
    """Random bots leave pots that no declared unit divides; those are not the question here."""
    return replace(game, odd_chips="clockwise_each") if game.odd_chips == "fractional" else game


def _number(record: t.Events) -> str:
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return start.hand.partition("/")[2]


@some_rulesets
def test_cards_named_only_when_shown_are_dealt_known_and_all_others_unknown(game: Game) -> None:
    of_cards = game.name.startswith(("swap", "toss")) or game.bounty != "none"
    if of_cards or game.announce == "announced":
        pytest.skip("what was dealt, or a bounty hit, does not follow from what is shown")
    game = _splitting(game)
    for record in play(game, "m", 30, "late"):
        told = told_of(game, record)
        blind = tuple(item for item in told.items if not isinstance(item, Holds))
        seen = {event.seat for event in record if isinstance(event, t.Shown)}
        expected = tuple(
            replace(event, cards=(UNKNOWN,) * len(event.cards))
            if isinstance(event, t.HoleDealt) and event.seat not in seen
            else event
            for event in record
        )
        assert expected == hand_record(replace(told, items=blind), "m/" + _number(record))


BASE = at_stakes(RULESETS["phh-nt"], 1, 2)
DEALT = (Holds(0, ("As", "Ad")), Holds(1, ("Kc", "Kd")))
FLOP, TURN, RIVER = Board(("2c", "7d", "9h")), Board(("Jc",)), Board(("3s",))


def _hand(*items: Item, **fields: Any) -> SourceHand:
    """Two seats with 100 each at 1/2; seat 0 has the button and the better hand."""
    said = {
        "game": BASE,
        "number": 1,
        "line": 1,
        "source_id": "1",
        "button": 0,
        "players": ("ada", "bob"),
        "stacks": (100, 100),
    }
    return SourceHand(**{**said, "items": (*DEALT, *items), **fields})


def _lines(hand: SourceHand) -> list[str]:
    """What was recorded after the cards were dealt."""
    return say_all(hand_record(hand, "m/1")).splitlines()[6:]


def test_an_illegal_raise_is_recorded_as_the_source_claims_it_and_the_rest_only_counted() -> None:
    hand = _hand(
        Act(0, "raise", to=3), Act(1, "call", amount=1), FLOP, Act(1, "fold"), nets=(3, -3)
    )
    assert _lines(hand) == [
        "step 2: preflop betting, 2 to match, raise by 2, 0 to act",
        "0 raises 2 to 3, short (recorded), 1 to act",
        "1 calls 1 (recorded)",
        "step 3: flop",
        "board [2c 7d 9h]",
        "step 4: flop betting, 0 to match, raise by 2, 1 to act",
        "1 folds (recorded)",
        "pot 0: 6 to 0",
        "hand over",
    ]


def test_an_award_that_the_rules_would_not_make_is_recorded() -> None:
    streets = [item for board in (FLOP, TURN, RIVER) for item in (board, *_checks())]
    hand = _hand(Act(0, "call"), Act(1, "check"), *streets, nets=(-2, 2))
    record = hand_record(hand, "m/1")
    assert record[-2:] == (t.PotSplit(0, (1,), (4,)), t.HandEnded())
    report = judge(BASE, record)
    assert ("differ", (-2, 2), (2, -2)) == (report.verdict, report.recorded, report.decided)


def _checks() -> tuple[Act, Act]:
    return Act(1, "check"), Act(0, "check")


def test_a_rake_that_the_ruleset_does_not_know_is_recorded_per_pot() -> None:
    hand = _hand(
        Act(0, "raise", to=10),
        Act(1, "call"),
        FLOP,
        *_checks(),
        TURN,
        *_checks(),
        RIVER,
        *_checks(),
        paid=(Paid(0, 19),),
        rake=1,
    )
    assert hand_record(hand, "m/1")[-3:] == (
        t.RakeTaken(0, 1),
        t.PotSplit(0, (0,), (19,)),
        t.HandEnded(),
    )


def test_a_hand_thrown_away_that_the_rules_would_show_stays_unseen() -> None:
    hand = _hand(
        Act(0, "call"),
        Act(1, "check"),
        FLOP,
        *_checks(),
        TURN,
        *_checks(),
        RIVER,
        *_checks(),
        Shows(0, ("Ad", "As")),
        Mucks(1),
        nets=(2, -2),
    )
    record = hand_record(hand, "m/1")
    assert t.Mucked(1) in record
    assert not any(isinstance(event, t.Shown) and event.seat == 1 for event in record)


def test_faults_stand_before_the_default_they_cause_and_those_at_the_end_after_it() -> None:
    hand = _hand(
        Fault(0, "R500", "illegal", "action"),
        Act(0, "fold", default=True),
        Fault(1, "", "malformed", "acknowledgement"),
    )
    assert _lines(hand) == [
        "step 2: preflop betting, 2 to match, raise by 2, 0 to act",
        "0 replies R500, illegal as action",
        "0 folds (default)",
        "1 takes back 1",
        "pot 0: 2 to 1",
        "hand over",
        '1 replies "", malformed as acknowledgement',
    ]


@pytest.mark.parametrize(
    ("hand", "sentence"),
    [
        (
            _hand(Act(0, "raise", to=3)),
            (
                "seat 0 may raise to 4..100, not 3; rules and source part, "
                "and the source does not say who was paid"
            ),
        ),
        (_hand(Act(0, "call", amount=500)), "Called: the chips for it are not there"),
        (_hand(Act(7, "fold")), "there is no seat 7: the seats are 0..1"),
    ],
)
def test_a_hand_that_does_not_balance_is_left_out_in_one_sentence(
    hand: SourceHand, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        hand_record(hand, "m/1")


@some_rulesets
def test_whatever_a_source_tells_the_record_adds_up_or_is_refused_in_a_sentence(game: Game) -> None:
    chance, game = random.Random(game.name), _splitting(game)
    for record in play(game, "m", 25, "forged"):
        told = told_of(game, record)
        for _ in range(4):
            forged = _forged(told, chance)
            try:
                made = hand_record(forged, "m/1")
            except ValueError:
                continue
            assert adds_up(made)
            assert isinstance(made[0], t.HandStarted)
            assert 1 == sum(isinstance(event, t.HandEnded | t.HandVoided) for event in made)
            claims = [event.nets for event in made if isinstance(event, t.Claimed)]
            if forged.nets is not None:
                assert forged.nets in (told_of(game, made).nets, *claims)


def _forged(hand: SourceHand, chance: random.Random) -> SourceHand:
    """Something left out, told twice, exchanged or made larger; sometimes the payment too."""
    told = list(hand.items)
    at = chance.randrange(len(told))
    item = told[at]
    match chance.randrange(5):
        case 0:
            del told[at]
        case 1:
            told.insert(at, chance.choice(told))
        case 2:
            other = chance.randrange(len(told))
            told[at], told[other] = told[other], item
        case 3 if isinstance(item, Act):
            told[at] = Act(item.seat, "raise", to=chance.randrange(60))
        case _ if isinstance(item, Act | AuctionBid | Mucks | Shows):
            told[at] = replace(item, seat=chance.randrange(len(hand.stacks)))
    nets = hand.nets
    if nets is not None and chance.random() < 0.3:
        nets = (*nets[:-2], nets[-2] - 1, nets[-1] + 1)
    return replace(hand, items=tuple(told), nets=nets, paid=None)

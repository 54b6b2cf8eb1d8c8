"""Recorded cards beside the committed deck: every game agrees, every other card is named."""

import random
from itertools import pairwise
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dealer.deck import DealCheck, check_deal
from engine.game import Game
from engine.games import GAMES
from events import types as t
from events.cards import DECK
from events.match import DeckCommitted, DeckOpened, Match, MatchStarted, NonceGiven
from tests.trust.committed_matches import played

CARDS = (t.HoleDealt, t.BoardDealt, t.CardSwapped)


some_games = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)


@some_games
def test_every_hand_was_dealt_from_its_deck(game: Game) -> None:
    rules, records, hands = played(game)
    for number, hand in enumerate(hands, start=1):
        said = check_deal(rules, records, hand)
        assert DealCheck("agree", f"m/{number} was dealt from the committed deck") == said


@pytest.mark.parametrize("name", ["auction-2024", "swap-2022", "auction-2024-mit", "swap-2022-mit"])
def test_mirrored_hands_have_the_same_cards_in_every_seat_and_every_player_sits_there(
    name: str,
) -> None:
    rules, records, hands = played(GAMES[name], mirrored=True)
    assert "fixed" == rules.deck_slots
    for hand in hands:
        assert "agree" == check_deal(rules, records, hand).verdict
    for one, other in list(pairwise(hands))[::2]:
        first, second = cast(Any, one[0]), cast(Any, other[0])
        assert (first.button, first.stacks) == (second.button, second.stacks)
        assert first.players == second.players[::-1]
        assert holes(one) == holes(other)
        assert all(card == again for card, again in zip(board(one), board(other), strict=False))


def holes(hand: t.Events) -> list[t.Event]:
    """The first cards of every seat."""
    return [event for event in hand[:6] if isinstance(event, t.HoleDealt)]


def board(hand: t.Events) -> list[str]:
    """The board as far as the hand came."""
    return [card for event in hand if isinstance(event, t.BoardDealt) for card in event.cards]


@some_games
def test_every_card_that_was_not_in_the_deck_there_is_named(game: Game) -> None:
    rules, records, hands = played(game)
    chance = random.Random(game.name)
    for hand in hands:
        places = [at for at, event in enumerate(hand) if isinstance(event, CARDS)]
        at = chance.choice(places)
        event = hand[at]
        field = "new" if isinstance(event, t.CardSwapped) else "cards"
        held = getattr(event, field)
        card = held if isinstance(held, str) else held[-1]
        other = chance.choice([one for one in DECK if one not in _told(hand)])
        forged = other if isinstance(held, str) else (*held[:-1], other)
        record = (*hand[:at], replace(event, **{field: forged}), *hand[at + 1 :])
        said = check_deal(rules, records, record)
        assert ("differ", at) == (said.verdict, said.at)
        assert said.sentence.startswith(f"event {at}: ")
        assert said.sentence.endswith(f" has {other} where the deck deals {card}")


def _told(hand: t.Events) -> set[str]:
    """Every card that the record names."""
    found: set[str] = set()
    for event in hand:
        found.update(getattr(event, "cards", ()))
        if isinstance(event, t.CardSwapped):
            found.update((event.old, event.new))
    return found


def test_a_swap_that_the_luck_did_not_give_is_named() -> None:
    rules, records, hands = played(GAMES["swap-2022"])
    hand = next(one for one in hands if any(isinstance(event, t.CardSwapped) for event in one))
    at, event = next(
        (at, event)
        for at, event in enumerate(hand)
        if isinstance(event, t.CardSwapped) and event.old == event.new
    )
    unused = next(card for card in DECK if card not in _told(hand))
    said = check_deal(rules, records, (*hand[:at], replace(event, new=unused), *hand[at + 1 :]))
    assert said == DealCheck(
        "differ",
        f"event {at}: seat {event.seat}, slot {event.slot}, has {unused} "
        f"where the deck deals {event.old}",
        at,
    )


def test_another_hands_cards_are_not_this_hands() -> None:
    rules, records, (one, other, *_) = played(GAMES["auction-2024"])
    moved = (replace(cast(t.HandStarted, other[0]), hand="m/1"), *other[1:])
    assert "differ" == check_deal(rules, records, moved).verdict
    assert "agree" == check_deal(rules, records, one).verdict


def test_cards_that_were_never_dealt_are_missed() -> None:
    rules, records, hands = played(GAMES["probability"])
    hand = next(one for one in hands if any(isinstance(event, t.BoardDealt) for event in one))
    at = next(at for at, event in enumerate(hand) if isinstance(event, t.HoleDealt))
    said = check_deal(rules, records, (*hand[:at], *hand[at + 1 :]))
    assert "differ" == said.verdict
    assert " gets nothing" in said.sentence or " has " in said.sentence


@pytest.mark.parametrize(
    ("change", "verdict", "sentence"),
    [
        ("unopened", "unopened", "the deck of m/3 is not opened"),
        ("uncommitted", "unopened", "nobody committed to the deck of m/3"),
        ("secret", "differ", "the secret of deck 6 does not lead back to "),
        ("nonce", "differ", "event "),
        ("match", "differ", "event "),
        ("ruleset", "differ", "m/3 names "),
    ],
)
def test_what_an_opening_cannot_prove_is_said(change: str, verdict: str, sentence: str) -> None:
    rules, records, hands = played(GAMES["auction-2024"])
    if change == "ruleset":
        rules = replace(rules, burn=1)
    said = check_deal(
        rules, [one for record in records for one in _changed(change, record)], hands[2]
    )
    assert verdict == said.verdict
    assert said.sentence.startswith(sentence)


def _changed(change: str, record: Match) -> tuple[Match, ...]:
    match change, record:
        case ("unopened", DeckOpened()) | ("uncommitted", DeckCommitted()):
            return ()
        case ("secret", DeckOpened()):
            return (replace(record, secret="00" * 32),)
        case ("nonce", NonceGiven()):
            return (replace(record, nonce=record.nonce + "x"),)
        case ("match", MatchStarted()):
            return (replace(record, match="n"),)
        case _:
            return (record,)

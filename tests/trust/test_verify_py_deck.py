"""A bundle whose deck is opened: every known card is held against the deck, for every game."""

import hashlib
from functools import cache
from typing import Any

import pytest

from api.evidence import verify as script
from engine.game import Game, to_json
from engine.games import GAMES
from events.match import DeckCommitted, DeckOpened, Match, MatchStarted, NonceGiven
from events.types import Events
from tests.hands import some_games
from tests.profiles import sized
from tests.trust.committed_matches import played
from tests.trust.own_bundles import Draft, commitment, problem, spelled, verdict


@cache
def _match(name: str, mirrored: bool = False) -> tuple[Game, tuple[Match, ...], tuple[Events, ...]]:
    rules, records, hands = played(GAMES[name], mirrored=mirrored)
    return rules, tuple(records), tuple(hands)


def _deck(records: tuple[Match, ...]) -> dict[str, Any]:
    """deck.json of a match of one chain, opened to its end."""
    began, made, *rest = records
    assert isinstance(began, MatchStarted)
    assert isinstance(made, DeckCommitted)
    opened = rest[-1]
    assert isinstance(opened, DeckOpened)
    nonces = [[one.player, one.nonce] for one in rest if isinstance(one, NonceGiven)]
    return {
        "commitment": made.commitment,
        "deals": began.deals,
        "first": 1,
        "nonces": nonces,
        "number": opened.number,
        "secret": opened.secret,
        "v": 1,
    }


def _draft(
    name: str, hand: int, view: str = "auditor", mirrored: bool = False, **told: Any
) -> Draft:
    rules, records, hands = _match(name, mirrored)
    draft = Draft(hands[hand], view)
    draft.ruleset = to_json(rules)
    draft.more = {"deck.json": spelled({**_deck(records), **told})}
    return draft


@some_games
@pytest.mark.parametrize("view", ["auditor", "public"])
def test_every_hand_is_of_its_deck(game: Game, view: str) -> None:
    for hand in range(len(_match(game.name, False)[2])):
        found = verdict(_draft(game.name, hand, view))
        assert () == found.problems
        assert found.proved[3].startswith("The deck is opened: the cards known here are those")


@pytest.mark.parametrize("name", ["auction-2024", "swap-2022", "auction-2024-mit", "swap-2022-mit"])
def test_mirrored_hands_are_of_the_deck_that_both_were_dealt(name: str) -> None:
    for hand in range(len(_match(name, True)[2])):
        assert () == verdict(_draft(name, hand, mirrored=True)).problems


LIES_APART = sized(quick=6, ci=3, slow=1)  # of the lines that deal, those that lie in turn


@some_games
def test_every_known_card_that_is_another_is_refused(game: Game) -> None:
    """A log that lied about a card from the beginning, and is held against its own deck."""
    for hand in range(len(_match(game.name, False)[2])):
        dealt = [
            place
            for place, line in enumerate(_draft(game.name, hand).lines)
            if line["type"] in ("HoleDealt", "BoardDealt", "CardSwapped")
        ]
        for place in dealt[hand % LIES_APART :: LIES_APART]:
            lied = _draft(game.name, hand)
            _other_card(lied, place)
            found = script.verify(lied.files())
            assert found.problems, (hand, place)


def _other_card(draft: Draft, place: int) -> None:
    """The line tells a card that is nowhere else, in the clear or behind its commitment."""
    line = draft.lines[place]
    cards = [one for one in draft.openings if one["line"] == place and one["field"] != "old"]
    known = str(draft.lines) + str(draft.openings)
    new = next(card for card in script.DECK if f"'{card}'" not in known)
    if line["type"] == "BoardDealt":
        line["cards"] = [new, *line["cards"][1:]]
        return
    (one,) = cards
    one["value"] = new if one["field"] == "new" else [new, *one["value"][1:]]
    line[one["field"]]["commitment"] = commitment(bytes.fromhex(one["nonce"]), one["value"])


def test_another_secret_nonce_or_number_makes_another_deck() -> None:
    other = hashlib.sha256(b"another").hexdigest()
    nonces = _deck(_match("auction-2024")[1])["nonces"]
    expected = "deck.json: the secret does not lead back to the commitment"
    assert expected == problem(_draft("auction-2024", 2, secret=other).files())
    assert expected == problem(_draft("auction-2024", 2, commitment=other).files())
    assert expected == problem(_draft("auction-2024", 2, number=5).files())
    for told in ({"nonces": nonces[::-1]}, {"nonces": nonces[:1]}, {"deals": 2}):
        sentence = problem(_draft("auction-2024", 3, **told).files())
        assert "and the deck deals" in sentence


def test_a_deck_of_other_hands_is_refused() -> None:
    expected = "deck.json opens the decks 5..6, and this hand's is 3"
    assert expected == problem(_draft("auction-2024", 2, first=5).files())
    assert "opens the decks 0..6" in problem(_draft("auction-2024", 2, first=0).files())
    assert "opens the decks 1..2147483647" in problem(
        _draft("auction-2024", 2, number=2**31 - 1).files()
    )


@pytest.mark.parametrize(
    "told",
    [
        {"secret": "00"},
        {"nonces": [["ursa"]]},
        {"nonces": [["ursa", 1]]},
        {"deals": 0},
        {"deals": 24},
        {"v": 2},
        {"more": 1},
        {"number": -1},
        {"nonces": [["ursa", "x" * 70_000]]},
    ],
)
def test_a_deck_in_another_form_is_refused(told: dict[str, Any]) -> None:
    assert "deck.json" in problem(_draft("auction-2024", 2, **told).files())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"burn":0', b'"burn":"x"'),
        (b'"hole_order":"pairs_from_dealer",', b""),
        (b'"chance":10', b'"chance":null'),
        (b'"of":100', b'"of":0'),
        (b'"of":100', b'"of":99999999999'),
    ],
)
def test_rules_that_cannot_be_dealt_by_are_refused(old: bytes, new: bytes) -> None:
    """The log signs nonsense as the rules, under their own fingerprint."""
    drafts = (_draft("swap-2022", hand) for hand in range(6))
    draft = next(one for one in drafts if "CardSwapped" in str(one.lines))
    assert old in draft.ruleset
    draft.ruleset = draft.ruleset.replace(old, new)
    rules = script.read_json("", draft.ruleset, 8)
    said = {key: v for key, v in rules.items() if key not in ("document", "partner", "readings")}
    draft.lines[0]["ruleset"] = hashlib.sha256(script.canonical(said)).hexdigest()[:16]
    assert "deals what the rules do not deal" in problem(draft.files())

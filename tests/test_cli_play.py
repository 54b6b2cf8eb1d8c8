"""`muckrake play` beyond a seeded match: named bots, committed and mirrored decks, freeze-outs."""

import os
import stat
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from api.jobs.requests import ENDLESS, match_plans
from api.main import main
from api.playing.recording import ALL_PLAYED
from dealer.bots.built_in import BOTS
from dealer.deck import SeededDecks, check_deal
from dealer.play import hand_records, plan
from engine.game import Game, fingerprint, from_json
from engine.games import GAMES
from events import types as t
from events.deck import committed, unfit
from events.evolve import replay
from events.match import DeckOpened, MatchEnded, MatchStarted
from events.types import Events
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader
from tests.profiles import sized
from tests.sessions import kept, printed, said, told

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger for each test."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def played(home: Path, *words: str) -> tuple[MatchStarted, list[Any], list[Events]]:
    """The match `m` of these words: its start, its other records, its hands."""
    assert main(["play", "--match", "m", "--seed", "7", *words]) == 0
    start, *records = kept(home, "m")
    assert isinstance(start, MatchStarted)
    hands: list[Events] = []
    while hand := kept(home, f"m/{len(hands) + 1}"):
        hands.append(hand)
    return start, records, hands


def players(hand: Events) -> tuple[str, ...]:
    return cast(t.HandStarted, hand[0]).players


# Bots.


def test_a_new_ledger_is_for_its_owner_alone(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every card is in it; who has opened the folder to others before has chosen to."""
    umask = os.umask(0o022)  # where it is 077, other folders are for their owner alone as well
    request.addfinalizer(lambda: os.umask(umask))
    new, opened = tmp_path / "room" / "ledger", tmp_path / "opened"
    opened.mkdir(0o755)
    for folder in (new, opened):
        assert main(["play", "site-nl", "--hands", "1", "--ledger", str(folder)]) == 0
    assert 0o700 == stat.S_IMODE(new.stat().st_mode)
    assert 0o755 == stat.S_IMODE(opened.stat().st_mode)
    assert new.parent.stat().st_mode & 0o077, "only the ledger itself"


def test_bots_sit_down_in_the_order_of_their_names(home: Path) -> None:
    start, _, hands = played(home, "site-nl", "--bots", "caller,random,random", "--hands", "3")
    assert ("caller-0", "random-1", "random-2") == start.players == players(hands[0])


def test_bots_go_round_the_table_until_every_seat_is_taken(home: Path) -> None:
    words = ("--bots", "caller,random", "--seats", "5", "--hands", "1")
    start, _, _ = played(home, "probability", *words)
    assert ("caller-0", "random-1", "caller-2", "random-3", "caller-4") == start.players


def test_one_name_alone_fills_the_smallest_table(home: Path) -> None:
    start, _, _ = played(home, "auction-2024", "--bots", "caller", "--hands", "1")
    assert ("caller-0", "caller-1") == start.players


def test_a_bot_plays_as_its_name_says(home: Path) -> None:
    _, _, hands = played(home, "auction-2024", "--bots", "caller,random", "--hands", "40")
    raised: dict[str, int] = {"caller-0": 0, "random-1": 0}
    for hand in hands:
        for event in hand:
            if isinstance(event, t.Raised | t.Bet):
                raised[players(hand)[event.seat]] += 1
    assert 0 == raised["caller-0"]
    assert raised["random-1"] > 0


def test_an_unknown_bot_is_refused_and_the_known_ones_are_named(capsys: Captured) -> None:
    sentence = said(capsys, 2, "play", "auction-2024", "--bots", "random,shark")
    assert sentence.startswith(f"no bot is called shark: there are {', '.join(BOTS)}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("auction-2024 --bots random,random,random", "auction-2024 seats 2..2 players, not 3"),
        ("site-nl --seats 2 --bots random,random,caller", "3 bots are named for 2 seats"),
        ("auction-2024 --bots ,", "no bot is called : there are "),
        ("auction-2024 --mirror --hands 7", "each deck is dealt 2 times: 7 hands are no multiple"),
        ("site-nl --mirror", "site-nl carries stacks from hand to hand: a mirrored hand needs"),
        ("probability --mirror", "probability carries stacks from hand to hand: a mirrored hand"),
        ("auction-2024 --freeze-out", "auction-2024 gives every hand new stacks: nobody can ever"),
        ("site-nl --set broke=buys_in --freeze-out", "is no freeze-out by broke=buys_in: say one"),
        ("site-nl --set broke=leaves --no-freeze-out", "is a freeze-out by broke=leaves: say one"),
        ("auction-2024 --dealing recorded", "'recorded' is not one of 'seeded', 'committed'"),
        ("auction-2024 --matches 2 --print", "--print shows the hands of one match: leave out"),
        ("auction-2024 --matches 0", "0 is not in the range 1<=x<=9999"),
        (f"auction-2024 --matches 10 --match {'x' * 62}", "cannot name a match"),
    ],
)
def test_what_makes_no_sense_is_refused(capsys: Captured, words: str, sentence: str) -> None:
    assert sentence in said(capsys, 2, "play", *words.split())


# Committed decks.


def rules_of(home: Path, hand: Events) -> Game:
    """The ruleset that a hand names, from the ledger itself."""
    named = cast(t.HandStarted, hand[0]).ruleset
    return from_json((home / "rulesets" / f"{named}.json").read_bytes())


def test_play_simulates_unless_it_is_told_to_commit(home: Path) -> None:
    start, records, _ = played(home, "auction-2024", "--hands", "1")
    assert "seeded" == start.dealing
    assert ["MatchEnded"] == [type(record).__name__ for record in records]
    assert () == SecretFolder(home).chains("m")


@pytest.mark.parametrize("disclosure", ["open", "open-after-match"])
@pytest.mark.parametrize(
    "words", ["swap-2022 --hands 20", "probability --hands 6", "auction-2024 --mirror --hands 20"]
)
def test_every_hand_of_an_opened_match_is_checked_by_a_stranger(
    home: Path, words: str, disclosure: str
) -> None:
    start, records, hands = played(
        home, *words.split(), "--dealing", "committed", "--disclosure", disclosure
    )
    assert "committed" == start.dealing
    kinds = [type(record).__name__ for record in records]
    seats = len(start.players)
    assert ["DeckCommitted", *["NonceGiven"] * seats] == kinds[: seats + 1]
    assert "DeckOpened" in kinds
    for hand in hands:
        assert "agree" == check_deal(rules_of(home, hand), [start, *records], hand).verdict


def test_the_players_are_heard_after_the_commitment_and_before_the_first_card(home: Path) -> None:
    played(home, "auction-2024", "--dealing", "committed", "--hands", "3")
    seen = [(one.stream, type(one.event).__name__) for one in Reader(home).snapshot().read_from(0)]
    order = ["MatchStarted", "DeckCommitted", "NonceGiven", "NonceGiven", "HandStarted"]
    assert order == [kind for _, kind in seen][:5]


def test_a_sealed_match_opens_nothing_and_the_auditor_holds_the_secret(home: Path) -> None:
    start, records, hands = played(home, "auction-2024", "--dealing", "committed", "--hands", "9")
    assert "sealed" == start.disclosure
    assert not [record for record in records if isinstance(record, DeckOpened)]
    (made,) = committed([start, *records])
    (chain,) = SecretFolder(home).chains("m")
    assert 9 == chain.hands == made.hands
    opened = DeckOpened(9, chain.secret)
    assert unfit(made, opened) is None
    for hand in hands:
        assert "agree" == check_deal(rules_of(home, hand), [start, *records, opened], hand).verdict
    path = home / "private" / "decks" / "m"
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)


def test_after_the_match_one_secret_opens_all_of_it(home: Path) -> None:
    words = ("--dealing", "committed", "--disclosure", "open-after-match", "--hands", "9")
    _, records, _ = played(home, "auction-2024", *words)
    opened, ended = records[-2:]
    assert opened == DeckOpened(9, SecretFolder(home).chains("m")[0].secret)
    assert isinstance(ended, MatchEnded)


def test_the_seed_of_a_committed_match_decides_no_card(home: Path, capsys: Captured) -> None:
    words = ("play", "auction-2024", "--hands", "1", "--dealing", "committed", "--seed", "7")
    for name in ("one", "two"):
        printed(capsys, *words, "--match", name)
    dealt = [
        [event for event in kept(home, f"{name}/1") if isinstance(event, t.HoleDealt)]
        for name in ("one", "two")
    ]
    assert dealt[0] != dealt[1]


# Mirrored decks.


def test_mirrored_hands_are_told_apart_and_together_by_the_record(
    home: Path, capsys: Captured
) -> None:
    start, _, hands = played(home, "auction-2024", "--mirror", "--hands", "8")
    assert 2 == start.deals
    for one, other in zip(hands[::2], hands[1::2], strict=True):
        assert players(one) == players(other)[::-1]
        assert holes(one) == holes(other)
    assert 4 == len({holes(hand) for hand in hands})
    text = printed(capsys, "replay", "m/1")
    assert "of auction-2024 " in text
    verdicts = {hand["verdict"] for hand in told(capsys, "audit", "--all")["hands"]}
    assert verdicts <= {"agree", "contested"}


def holes(hand: Events) -> tuple[t.Event, ...]:
    return tuple(event for event in hand[:6] if isinstance(event, t.HoleDealt))


def test_a_mirrored_deck_is_dealt_to_everybody() -> None:
    """Where the article's stacks are made anew for every hand: that is another ruleset."""
    game = replace(GAMES["probability"], stacks="reset", broke="set_anew")
    match = plan(game, "m", 4, "7", ("random",) * 4, mirrored=True)
    hands = list(hand_records(match, SeededDecks("7", match.deals)))
    assert 1 == len({holes(hand) for hand in hands})
    for seat in range(4):
        assert set(match.players) == {players(hand)[seat] for hand in hands}


# How long a match is.


ANEW = replace(GAMES["probability"], stacks="reset", broke="set_anew")
CARRIED = replace(GAMES["probability"], broke="buys_in")


@pytest.mark.parametrize(
    ("game", "words", "hands"),
    [
        (GAMES["auction-2024"], {}, 1000),
        (GAMES["auction-2024-mit"], {"mirror": True}, 1000),
        (GAMES["swap-2022"], {"live": True}, 1000),
        (GAMES["urcs-1998"], {}, ENDLESS),
        (GAMES["probability"], {"live": True}, ENDLESS),
        (GAMES["urcs-1998"], {"freeze_out": False}, 1),
        (GAMES["site-nl"], {}, 1),
        (GAMES["site-nl"], {"freeze_out": True}, ENDLESS),
        (GAMES["site-nl"], {"freeze_out": True, "hands": 3}, 3),
        (ANEW, {"mirror": True, "seats": 4}, 4),
        (CARRIED, {}, 1),
    ],
)
def test_without_hands_a_match_is_as_long_as_its_document_says(
    game: Game, words: dict[str, Any], hands: int
) -> None:
    """ "Rounds: 1000" of auctions and swaps; of a freeze-out "the game continues until one player
    has won the money"; other documents say nothing."""
    options = [
        "hands",
        "seed",
        "bots",
        "seats",
        "match",
        "matches",
        "dealing",
        "mirror",
        "freeze_out",
        "live",
        "think_ms",
    ]
    (match,) = match_plans(game, dict.fromkeys(options) | words)
    assert hands == match.hands


def test_an_auction_is_a_thousand_hands(home: Path, capsys: Captured) -> None:
    document = told(capsys, "play", "auction-2024-mit", "--seed", "7", "--bots", "caller")
    assert (1000, ALL_PLAYED) == (document["hands"], document["reason"])


# Freeze-outs.


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("urcs-1998", "--seats 2"),
        ("probability", "--seats 4"),
        ("site-nl", "--seats 3 --freeze-out"),
    ],
)
def test_a_freeze_out_ends_when_one_player_has_it_all(home: Path, game: str, words: str) -> None:
    """ "We will be playing freeze out poker: each player buys in to the game with some amount of
    cash, and the game continues until one player has won the money." """
    start, records, hands = played(home, game, *words.split(), "--seed", "4")
    ended = records[-1]
    won = [place for place, net in enumerate(ended.nets) if net > 0]
    assert 1 == len(won)
    assert f"{start.players[won[0]]} has it all" == ended.reason
    last = replay(hands[-1])
    assert 1 == sum(stack > 0 for stack in last.stacks)
    assert all(sum(stack > 0 for stack in replay(hand).stacks) > 1 for hand in hands[:-1])
    worth = sum(replay(hands[0]).start.stacks)
    assert {worth} == {sum(replay(hand).start.stacks) for hand in hands}


def test_who_has_nothing_left_is_dealt_no_more_hands(home: Path) -> None:
    _, _, hands = played(home, "site-nl", "--freeze-out", "--bots", "random", "--seats", "4")
    out: set[str] = set()
    for hand in hands:
        assert set() == out & set(players(hand))
        state = replay(hand)
        out |= {
            player for player, left in zip(players(hand), state.stacks, strict=True) if not left
        }
    assert 3 == len(out)


def test_a_freeze_out_takes_no_more_hands_than_it_may(home: Path) -> None:
    _, records, hands = played(home, "urcs-1998", "--hands", "3")
    assert 3 == len(hands)
    assert ALL_PLAYED == records[-1].reason


def test_without_a_freeze_out_the_table_is_set_anew(home: Path) -> None:
    """And that is another ruleset: who has lost all waits, until one player has it all."""
    count = sized(140, 200)
    words = ("--no-freeze-out", "--bots", "aggressive", "--seats", "3", "--hands", str(count))
    start, records, hands = played(home, "urcs-1998", *words)
    assert (count, ALL_PLAYED) == (len(hands), records[-1].reason)
    states = [replay(hand) for hand in hands]
    over = [at for at, hand in enumerate(states) if sum(stack > 0 for stack in hand.stacks) == 1]
    assert len(over) > 1
    for at in over[:-1]:
        assert (1000, 1000, 1000) == states[at + 1].start.stacks
    assert "set_anew" == rules_of(home, hands[0]).broke
    assert "urcs-1998.broke-set_anew" == start.game
    assert fingerprint(GAMES["urcs-1998"]) != start.ruleset


def test_what_is_no_freeze_out_may_be_told_so(home: Path) -> None:
    start, _, _ = played(home, "auction-2024", "--no-freeze-out", "--hands", "1")
    assert fingerprint(GAMES["auction-2024"]) == start.ruleset

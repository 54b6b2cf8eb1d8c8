"""ACPC logs: who acts without being named, hand totals, fractions of a chip, and the score."""

import random
from contextlib import suppress

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import IMPORTED, RULESETS
from engine.games.site import at_stakes
from engine.verdict import judge
from events import types as t
from events.evolve import replay
from formats.acpc.log import definition_text, parse_definition, public_definition, ruleset, write
from formats.acpc.read import read
from formats.hand_records import hand_record
from formats.site_stakes import Inexpressible
from formats.source import Refused, SourceHand

NO_LIMIT = """# name/game/hands/seed made holdem.nolimit.2p.reverse_blinds.game 3 0
STATE:0:r300r900c/r2250f:AcJs|3d2d/Kc5sQc:900|-900:Ann|Bob
STATE:1:r20000c///:AhAs|KhKs/2c7d8h/Ts/4c:20000|-20000:Bob|Ann
STATE:2:f:As8d|8c3h:50|-50:Ann|Bob
SCORE:-19050|19050:Ann|Bob
"""
LIMIT = """# name/game/hands/seed made holdem.limit.3p.game 1 0
STATE:0:ccc/crcc/rfc/rf:5d5c|9hQd|8dAs/7s8s4h/6d/2c:-20|60|-40:Ann|Bob|Cyd
"""
PLURIBUS = (
    "STATE:7:ffr250fcc/ccc/ccc/ccc:2cAc|AhAd|4c6s|Ks2d|AsTd|Jh5d/Qs9c4s/8s/8d:"
    "-250|375|0|0|-125|0:A|B|C|D|E|F\n"
)
SPLIT = "STATE:0:cfc/cc/cc/cc:AhAd|AsAc|2c3c/4h5h7s/8d/9c:25|25|-50:Ann|Bob|Cyd\n"


def hands(text: str) -> list[SourceHand]:
    found = list(read(text).hands)
    assert all(isinstance(hand, SourceHand) for hand in found), found
    return [hand for hand in found if isinstance(hand, SourceHand)]


def refusal(text: str | bytes) -> str:
    with pytest.raises(Refused) as refused:
        list(read(text).hands)
    return str(refused.value)


def test_of_two_players_position_1_is_the_button_and_acts_first() -> None:
    for hand in hands(NO_LIMIT):
        events = hand_record(hand, "m/1")
        assert judge(hand.game, events).verdict == "agree"
        blinds = [(e.seat, e.amount, e.kind) for e in events if isinstance(e, t.BlindPosted)]
        assert [(1, 100, "small"), (0, 200, "big")] == blinds


def test_a_raise_is_a_total_over_the_hand() -> None:
    first = hands(NO_LIMIT)[0]
    raises = [e for e in hand_record(first, "m/1") if isinstance(e, t.Bet | t.Raised)]
    assert [600, 1800, 2700] == [e.to if isinstance(e, t.Raised) else e.amount for e in raises]


def test_a_limit_log_names_no_amounts() -> None:
    (hand,) = hands("STATE:0:ccc/ccc/crff:5d5c|9hQd|8dAs/7s8s4h/6d:-10|20|-10:A|B|C\n")
    assert ("acpc-limit", ("game",)) == (hand.game.name, hand.inferred)
    assert ("blinds 10/20", "level 20/40", "stack 1000") == hand.assumed
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "assuming"


def test_without_a_raise_what_was_lost_tells_whether_there_is_a_limit() -> None:
    """A walk of one line: the blinds are 5 and 10, or 50 and 100."""
    for players in (2, 3, 6):
        names = "|".join("ABCDEF"[:players])
        line = f"STATE:0:{'f' * (players - 1)}:{'|' * (players - 1)}:%s:{names}\n"
        results = ["0"] * players
        for small, kind in ((5, "acpc-limit"), (50, "acpc-nl" if players < 6 else "pluribus")):
            sign = 1 if players == 2 else -1
            results[:2] = [str(sign * small), str(-sign * small)]
            (hand,) = hands(line % "|".join(results))
            assert kind == hand.game.name
            assert "assuming" == judge(hand.game, hand_record(hand, "m/1")).verdict


def test_an_endless_word_is_quoted_in_part() -> None:
    for old, new in (("r300", "r" + "9" * 9000), ("900|-900", f"{'9' * 9000}|-900")):
        assert 150 > len(refusal(NO_LIMIT.replace(old, new)))


def test_the_public_games_are_the_corpus_rulesets() -> None:
    """Half chips: blinds of 5 and 10 are 10 and 20."""
    for limit, players, name in (
        (True, 2, "acpc-limit"),
        (True, 3, "acpc-limit"),
        (False, 2, "acpc-nl"),
        (False, 3, "acpc-nl"),
        (False, 6, "pluribus"),
    ):
        game, stack = ruleset(public_definition(limit, players), 2)
        assert (IMPORTED[name], game.stack) == (game, stack)
        assert public_definition(limit, players) == parse_definition(
            definition_text(public_definition(limit, players))
        )


def test_fractions_make_the_unit_small_enough() -> None:
    (hand,) = hands(SPLIT.replace("25|25|-50", "16.666667|16.666667|-33.333333"))
    assert "1/6 chip" == hand.game.unit
    (hand,) = hands(SPLIT.replace("25|25|-50", "25.5|24.5|-50"))
    assert ("half chip", (51, 49, -100)) == (hand.game.unit, hand.nets)


def test_results_that_do_not_add_up_are_kept_as_a_claim() -> None:
    (hand,) = hands(SPLIT.replace("25|25", "25|26"))
    record = hand_record(hand, "m/1")
    assert t.Claimed(hand.nets or (), 0) in record
    assert "differ" == judge(hand.game, record).verdict


def test_deepstack_adds_a_time_and_repeats_its_numbers() -> None:
    line = "STATE:3:f:Jd2c|2d2h:50|-50:DeepStack|qin # 1478520319.01331\r\n"
    source = read(line + line.replace("DeepStack|qin", "qin|DeepStack"))
    first, second = source.hands
    assert isinstance(first, SourceHand)
    assert isinstance(second, SourceHand)
    assert ("deepstack", "3", "3") == (source.dialect, first.source_id, second.source_id)
    assert (1, 2) == (first.line, second.line)


def test_six_players_are_pluribus() -> None:
    source = read(PLURIBUS)
    assert ("pluribus", ("A", "B", "C", "D", "E", "F")) == (source.dialect, source.players)
    (hand,) = source.hands
    assert isinstance(hand, SourceHand)
    assert ("pluribus", (20000,) * 6) == (hand.game.name, hand.stacks)


REFUSED = [
    ("", "there is no hand in the file"),
    (NO_LIMIT.replace("-19050|19050", "-19051|19051"), "line 5: SCORE gives Ann -19051"),
    (NO_LIMIT + "STATE:3:f:As8d|8c3h:50|-50:Ann|Bob\n", "line 6: the log goes on after its SCORE"),
    (NO_LIMIT[:150], "line 3: a STATE line has 6 fields, not"),
    ("<<<<<<< HEAD\n" + NO_LIMIT, "line 1: a git merge marker: two logs are mixed"),
    ("HEAD\n" + NO_LIMIT, "line 1: 'HEAD' begins no line of a dealer log"),
    ("# name/game/hands/seed k kuhn.limit.2p.game 1 0\nSTATE:0:cc:Qs|Js:1|-1:A|B\n", "kuhn.limit"),
    ("STATE:0:cc:Qs|Js:1|-1:A|B\n", "line 1: 'Qs' is not 2 cards"),
    (NO_LIMIT.replace("r300", "r"), "line 2: r lacks its amount"),
    (LIMIT.replace("crcc", "cr30cc"), "line 2: r30 has an amount"),
    (NO_LIMIT.replace("r20000", "r20001"), "r20001 is not between what was put in before"),
    (NO_LIMIT.replace("r300", "b300"), "is no betting"),
    (NO_LIMIT.replace("r20000c///", "r20000cc///"), "goes on although nobody can act any more"),
    (NO_LIMIT.replace("AcJs", "AcJx"), "'AcJx' is not 2 cards"),
    (NO_LIMIT.replace("3d2d/Kc5sQc", "3d2d"), "2 streets of betting and 0 of cards do not fit"),
    (NO_LIMIT.replace("Ann|Bob\nSTATE:1", "Ann|Bob|Cyd\nSTATE:1"), "the hands have 3"),
    (NO_LIMIT.replace("900|-900", "900|-9oo"), "'-9oo' is no amount of chips"),
    (NO_LIMIT.replace("reverse_blinds.", ""), "has other blinds than the public logs"),
    ("STATE:0:20000|20000:100|50:f:As8d|8c3h:50|-50:A|B\n", "this is a freeze-out log"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_a_log_that_is_none_is_refused_with_line_and_reason(text: str, reason: str) -> None:
    assert reason in refusal(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("numHoleCards = 2", "numHoleCards = 4", "only Texas hold'em is read"),
        ("limit\n", "potlimit\n", "a game is limit or nolimit, not potlimit"),
        ("3 4 4 4", "3 3 3 3", "maxRaises is one more after the first round"),
        ("10 10 20 20", "10 20 20 40", "a limit game has one raise size for two rounds"),
        ("blind = 5 10 0", "blind = 5 0 10", "the blinds are posted by the first two positions"),
        ("firstPlayer = 3", "firstPlayer = 1", "is not left of the big blind"),
        ("END GAMEDEF", "", "a game definition stands between GAMEDEF and END GAMEDEF"),
    ],
)
def test_a_definition_of_another_game_is_refused_by_name(old: str, new: str, reason: str) -> None:
    text = definition_text(public_definition(True, 3))
    assert old in text
    with pytest.raises(ValueError, match=reason):
        parse_definition(text.replace(old, new))


def test_a_log_is_written_again_to_the_byte() -> None:
    for text in (NO_LIMIT, PLURIBUS):
        source = read(text)
        told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
        records = [(hand.game, hand_record(hand, f"m/{hand.source_id}")) for hand in told]
        if text == NO_LIMIT:
            assert text == "".join(write(records, source.note))
        assert text.count("STATE") == len(records)


@pytest.mark.parametrize("seats", [2, 3, 6])
@pytest.mark.parametrize("name", ["acpc-nl", "acpc-limit"])
def test_pokerkit_reads_what_we_write_to_the_same_results(name: str, seats: int) -> None:
    """At stakes of our own, which the comments define; no odd chip is split."""
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    high = 40 if name == "acpc-limit" else None
    game = at_stakes(RULESETS[name], 10, 20, high)
    game = replace(game, stack=2000, unit="chip", odd_chips="clockwise_each")
    records = [(game, events) for events in play(game, "m", 20, f"acpc {seats}", seats)]
    records = [one for one in records if _splits_evenly(one[1])]
    lines = list(write(records))
    again = [hand for hand in read("".join(lines)).hands if isinstance(hand, SourceHand)]
    for hand, (_, events) in zip(again, records, strict=True):
        assert judge(hand.game, hand_record(hand, "m/1")).verdict == "agree"
        results = sorted(2 * (stack - 2000) for stack in replay(events).stacks)
        assert results == sorted(hand.nets or ())
    if name == "acpc-limit":
        peer = pokerkit.FixedLimitTexasHoldem((), True, 0, (10, 20), 20, 40)
    else:
        peer = pokerkit.NoLimitTexasHoldem((), True, 0, (10, 20), 20)
    states = "".join(line for line in lines if line.startswith("STATE"))
    peers = list(pokerkit.HandHistory.from_acpc_protocol(peer, 2000, states, error_status=True))
    for hand, one in zip(again, peers, strict=True):
        assert hand.nets == tuple(2 * (stack - 2000) for stack in list(one)[-1].stacks)


def _splits_evenly(events: t.Events) -> bool:
    return all(len(set(e.shares)) == 1 for e in events if isinstance(e, t.PotSplit))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("site-pl", "ACPC has no code for pot-limit hold'em"),
        ("auction-2024", "ACPC has no code for auction-2024: its sequence of play is its own"),
        ("urcs-1998", "ACPC has no code for urcs-1998: its sequence of play is its own"),
        ("site-nl-standard", "ACPC gives every seat the same stack"),
    ],
)
def test_what_acpc_cannot_say_is_refused_in_one_sentence(name: str, reason: str) -> None:
    game = RULESETS[name]
    seats = min(3, game.seats_max)
    records = [(game, events) for events in play(game, "m", 9, "refused", seats)]
    with pytest.raises(Inexpressible, match=reason.split(":")[0]):
        list(write(records, lossy=True))


def test_antes_and_rake_are_refused() -> None:
    game = at_stakes(RULESETS["acpc-nl"], 100, 200, ante=20)
    (events,) = play(game, "m", 1, "antes", 3)
    with pytest.raises(Inexpressible, match="ACPC has no word for antes and straddles"):
        list(write([(game, events)]))


def test_mutated_logs_are_refused_or_read() -> None:
    chance = random.Random("acpc")
    junk = ["|", "/", ":", "r", "f", "c", "9" * 20, ".5", "-", "\n", "#", "AcAd", "SCORE:", "\0"]
    for _ in range(3000):
        text = chance.choice([NO_LIMIT, LIMIT, PLURIBUS, SPLIT])
        for _ in range(chance.randint(1, 4)):
            at, cut = chance.randrange(len(text)), chance.randrange(8)
            text = text[:at] + chance.choice([*junk, ""]) + text[at + cut :]
        with suppress(Refused):
            list(read(text).hands)

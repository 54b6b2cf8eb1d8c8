"""PHH: the grammar, the order trap of two players, units, and files that pokerkit reads alike."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.game import Game
from engine.games.imported import PHH_NT
from engine.policies import Rake
from engine.steps import Posts
from engine.verdict import judge
from events import types as t
from events.evolve import replay
from formats.hand_records import hand_record
from formats.phh.read import PhhHand, read
from formats.source import Act, Refused, Skipped

ONE = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [200, 100, 100]
actions = [
  "d dh p1 AcAd", "d dh p2 KcKd", "d dh p3 ????",  # a remark that is no data
  "p3 f # out of position", "p1 cbr 6", "  p2   cc ", "# nothing happens",
  "d db 2c3d4h", "p1 cc", "p2 cbr 8", "p1 cc",
  "d db 5s", "p1 cc", "p2 cc", "d db Th", "p1 cbr 186", "p2 cc", "p2 sm KcKd", "p1 sm -",
]
players = ["Ann", "Bob", "Cyd"]
finishing_stacks = [300, 0, 100]
hand = 7
author = "nobody"
_weather = {rain = true, drops = [1, 2.50]}
"""
TWO = """
variant = "FT"
antes = [0, 0]
blinds_or_straddles = [5, 10]
small_bet = 10
big_bet = 20
starting_stacks = [500, 400]
actions = ["d dh p1 AcAd", "d dh p2 KcKd", "p2 cbr 20", "p1 f"]
"""
UNSEEN = """
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [5, 10]
min_bet = 10
starting_stacks = [400, 500]
actions = ["d dh p1 ????", "d dh p2 ????", "p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc",
  "d db 5s", "p1 cc", "p2 cc", "d db Th", "p1 cbr 20", "p2 cc", "p1 sm KcKd", "p2 sm ????"]
"""


def told(text: str, game: Game | None = None) -> PhhHand:
    (hand,) = read(text, game).hands
    assert isinstance(hand, PhhHand), hand
    return hand


def record(text: str) -> t.Events:
    return hand_record(told(text), "m/1")


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def refusal(text: str | bytes) -> str:
    with pytest.raises(Refused) as refused:
        list(read(text).hands)
    return str(refused.value)


def test_a_hand_is_read_to_the_chip_and_agrees() -> None:
    hand = told(ONE)
    assert (200, 100, 100) == hand.stacks
    assert (100, -100, 0) == hand.nets
    assert ("Ann", "Bob", "Cyd", "7") == (*hand.players, hand.source_id)
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "agree"


def test_cc_is_a_check_or_a_call_and_cbr_the_total_of_the_street() -> None:
    acts = [item for item in told(ONE).items if isinstance(item, Act)]
    verbs = "fold raise call check raise call check check raise call"
    assert verbs == " ".join(act.verb for act in acts)
    assert [6, 8, 186] == [act.to for act in acts if act.to is not None]


def test_of_two_players_the_last_is_the_button_and_posts_the_first_amount() -> None:
    """Heads-up, antes and blinds arrays are written SB-first but apply reversed."""
    events = record(TWO)
    blinds = [(e.seat, e.amount) for e in events if isinstance(e, t.BlindPosted)]
    assert [(1, 5), (0, 10)] == blinds
    assert (490, 410) == replay(events).stacks


def test_a_big_blind_ante_is_nobodys_stake() -> None:
    """At a showdown with a small blind who only called, nothing of the ante goes back."""
    text = changed(
        ONE,
        ("antes = [0, 0, 0]", "antes = [0, 3, 0]"),
        ("p1 cbr 186", "p1 cbr 83"),
        ("[300, 0, 100]", "[300, 0, 100]"),
    )
    hand = told(text)
    assert isinstance(hand.game.script[0], Posts)
    events = hand_record(hand, "m/1")
    assert judge(hand.game, events).verdict == "agree"
    assert not [e for e in events if isinstance(e, t.UncalledReturned) and e.seat == 1]


def test_straddles_and_posts_are_kept_apart() -> None:
    text = """
variant = "NT"
antes = [0, 0, 0, 0, 0]
blinds_or_straddles = [1, 2, 4, 0, -2]
min_bet = 2
starting_stacks = [100, 100, 100, 100, 100]
actions = ["d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "d dh p4 ????", "d dh p5 ????",
  "p4 f", "p5 f", "p1 f", "p2 f"]
finishing_stacks = [99, 98, 105, 100, 98]
"""
    hand = told(text)
    events = hand_record(hand, "m/1")
    kinds = [(e.seat, e.amount, e.kind) for e in events if isinstance(e, t.BlindPosted)]
    assert [(0, 1, "small"), (1, 2, "big"), (2, 4, "straddle"), (4, 2, "post")] == kinds
    assert judge(hand.game, events).verdict == "agree"
    assert ("p1", "p2", "p3", "p4", "p5") == hand.players
    assert ("players",) == hand.inferred


def test_decimals_become_whole_numbers_of_a_unit() -> None:
    cents = told(changed(TWO, ("[500, 400]", "[500.25, 400.1]")))
    assert ("cent", (50025, 40010)) == (cents.game.unit, cents.stacks)
    halves = told(changed(TWO, ("[5, 10]", "[2.5, 5]"), ("small_bet = 10", "small_bet = 7.5")))
    assert ("half chip", (1000, 800)) == (halves.game.unit, halves.stacks)


def test_halves_that_only_the_result_shows_are_shares_of_a_pot() -> None:
    text = changed(
        ONE,
        ("????", "AhAs"),
        ("p3 f # out of position", "p3 cc"),
        ('"p1 cbr 6"', '"p1 f"'),
        ('"  p2   cc "', '"p2 cc"'),
        ('"p1 cc", "p2 cbr 8", "p1 cc"', '"p2 cc", "p3 cc"'),
        (
            '"p1 cc", "p2 cc", "d db Th", "p1 cbr 186", "p2 cc"',
            '"p2 cc", "p3 cc", "d db 6h", "p2 cc", "p3 cc"',
        ),
        ('"p2 sm KcKd", "p1 sm -"', '"p2 sm KcKd", "p3 sm AhAs"'),
        ("[300, 0, 100]", "[199.0, 100.5, 100.5]"),
    )
    hand = told(text)
    assert ("half chip", "fractional") == (hand.game.unit, hand.game.odd_chips)
    assert (-2, 1, 1) == hand.nets
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "agree"


def test_who_folds_for_nothing_leaves_the_last_with_chips_nothing_to_answer() -> None:
    """Bob is all-in; Ann folds to no bet on the river, and Cyd, alone with chips, owes nobody."""
    text = changed(
        ONE,
        ("[200, 100, 100]", "[200, 6, 100]"),
        ("????", "QcQd"),
        ("p3 f # out of position", "p3 cc"),
        ('"  p2   cc "', '"  p2   cc ", "p3 cc"'),
        ('"p1 cc", "p2 cbr 8", "p1 cc"', '"p1 cc", "p3 cc"'),
        ('"d db 5s", "p1 cc", "p2 cc"', '"d db 5s", "p1 cc", "p3 cc"'),
        ('"p1 cbr 186", "p2 cc"', '"p1 f"'),
        ("p1 sm -", "p3 sm QcQd"),
        ("[300, 0, 100]", "[194, 18, 94]"),
    )
    hand = told(text)
    assert (-6, 12, -6) == hand.nets
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "agree"


def test_an_unknown_stack_is_larger_than_any_bet() -> None:
    hand = told(changed(TWO, ("[500, 400]", "[inf, 400]")))
    assert ("players",) == hand.inferred
    assert (f"stack {hand.stacks[0]} of seat 0",) == hand.assumed
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "agree"


def test_a_rake_is_what_the_finishing_stacks_lack() -> None:
    hand = told(changed(ONE, ("[300, 0, 100]", "[295, 0, 100]")))
    assert (5, ("shortfall 5 is the house's",)) == (hand.rake, hand.assumed)
    report = judge(hand.game, hand_record(hand, "m/1"))
    assert ("unknown", hand.assumed) == (report.verdict, report.assumed)


@pytest.mark.parametrize("paid", [295, 200, 1, 0])
def test_whatever_is_missing_no_winner_agrees_to_it(paid: int) -> None:
    """Chips that are missing were called rake, so that aces which were paid nothing agreed."""
    hand = told(changed(ONE, ("[300, 0, 100]", f"[{paid}, 0, 100]")))
    assert judge(hand.game, hand_record(hand, "m/1")).verdict == "unknown"


def test_a_rake_that_was_asked_for_is_held_against_the_hand() -> None:
    """Under `--game` with a rake nothing is assumed: what is missing is that rake, or differs."""
    raked = replace(PHH_NT, rake=Rake(percent=10, of=100, increment=1))
    for paid, verdict in ((280, "agree"), (279, "differ"), (281, "differ"), (300, "differ")):
        hand = told(changed(ONE, ("[300, 0, 100]", f"[{paid}, 0, 100]")), raked)
        assert () == hand.assumed
        assert verdict == judge(hand.game, hand_record(hand, "m/1")).verdict


def test_winnings_are_never_an_oracle() -> None:
    one, other = told(ONE), told(f"{ONE}winnings = [0, 0, 0]\n")
    assert one == replace(other, note=one.note, text=one.text)


def test_where_claim_and_rules_part_the_claim_is_recorded() -> None:
    hand = told(changed(ONE, ("p1 cbr 6", "p1 cbr 3"), ("[300, 0, 100]", "[297, 3, 100]")))
    report = judge(hand.game, hand_record(hand, "m/1"))
    assert "differ" == report.verdict
    assert report.divergence is not None
    assert "seat 0 may raise to 4..200, not 3" == report.divergence.refusal


REFUSED = [
    ("", "there is no hand in the file"),
    (changed(TWO, ('"FT"', '"FB"')), "variant FB is fixed-limit badugi"),
    (changed(TWO, ('"FT"', '"PL"')), "variant is 'PL': no code of the specification"),
    (changed(TWO, ('variant = "FT"', "")), "the field variant is missing"),
    (changed(TWO, ("[500, 400]", "[500, 0]")), "starting_stacks must all be more than 0"),
    (changed(TWO, ("[500, 400]", "[500, true]")), "starting_stacks is True: a number is needed"),
    (changed(TWO, ("[500, 400]", "[500, 1e300]")), "no number of chips"),
    (changed(TWO, ("[5, 10]", "[5]")), "blinds_or_straddles has 1 amounts for 2 players"),
    (changed(TWO, ("big_bet = 20", "")), "the field big_bet is missing"),
    (changed(TWO, ("p1 AcAd", "p1 AcAx")), "Ax in 'd dh p1 AcAx' is not a card"),
    (changed(TWO, ("p1 f", "p7 f")), "'p7 f' names a player beyond the 2 of the hand"),
    (changed(TWO, ("p1 f", "p1 sd AcAd")), "is no action of hold'em"),
    (changed(TWO, ("p2 cbr 20", "p2 cbr lots")), "'p2 cbr lots' raises to no number"),
    (changed(TWO, (', "p1 f"', "")), "the actions stop in the middle of the hand"),
    (changed(TWO, ("antes", "<<<<<<< HEAD\nantes")), "line 3: a git merge marker: two files"),
    (changed(TWO, ("antes", "=======\nantes")), "line 3: a git merge marker: two files"),
    (changed(TWO, ("[500, 400]", f"[500, {'9' * 5000}]")), "line 7: a number of more than 4000"),
    (changed(TWO, ("p1 AcAd", "p1 AcAdAh")), "'d dh p1 AcAdAh' deals 3 of the 2 cards of a hand"),
    (changed(TWO, ("p1 AcAd", "p1 Ac")), "'d dh p1 Ac' deals 1 of the 2 cards of a hand"),
    (changed(TWO, ("p1 AcAd", 'p1 AcAd", "d dh p1 QcQd')), "a second hand to the same player"),
    (
        changed(TWO, ('cbr 20", "p1 f', 'cc", "p1 cc", "d db 2c3d')),
        "'d db 2c3d' deals 2 cards to the board, where 3 are due",
    ),
    (TWO[:-30], "this is not TOML"),
    ("x = " + "[" * 100_000, "this is no TOML that anybody wrote: it nests too deep"),
    (b"\x81\x00\xff", "this is no text: neither UTF-8 nor UTF-16 nor cp1252"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_a_file_that_is_none_is_refused_with_line_and_reason(
    text: str | bytes, reason: str
) -> None:
    assert reason in refusal(text)


def test_what_begins_with_a_line_is_no_hand() -> None:
    text = f'_author = "me"\n_kept = {{a = 1}}\n[1]{TWO}\n[_source]\nurl = "x"\n\n[2]{ONE}'
    first, second = read(text).hands
    assert isinstance(first, PhhHand)
    assert isinstance(second, PhhHand)
    assert (2, 7) == (len(first.players), int(second.source_id))


def test_the_keys_of_hands_come_in_any_order_but_once() -> None:
    keys = ("7", "1024", "0", "1", "01", "99999999999999999999", "x", "2048", "'1 '")
    text = "".join(f"[{key}]{TWO}\n" for key in keys)
    assert len(keys) == len(list(read(text).hands))
    for key in keys:
        assert "stands there twice" in refusal(f"{text}[{key}]{TWO}")


def test_the_line_of_a_refusal_is_that_of_the_field_or_the_action() -> None:
    wrong = changed(TWO, ('"p1 f"', '\n"p1 fold"'))
    assert refusal(wrong).startswith("line 9: 'p1 fold' is no action")
    assert refusal(changed(TWO, ("[5, 10]", "[5]"))).startswith("line 4: blinds_or_straddles has")
    assert refusal(changed(TWO, ("big_bet = 20", ""))).startswith("line 1: the field big_bet is")
    assert refusal(f"[1]{TWO}[2]{wrong}[3]{TWO}").startswith("line 17: 'p1 fold' is no action")


def test_an_endless_action_is_quoted_in_part() -> None:
    text = changed(TWO, ("p2 cbr 20", "p2 cbr " + "9" * 100_000))
    assert 150 > len(refusal(text))


def test_many_hands_are_read_one_by_one_and_a_foreign_one_is_left_out() -> None:
    badugi = changed(TWO, ('"FT"', '"FB"'))
    text = f"# a remark\n[1]{ONE}\n[2]{badugi}\n['x y']{TWO}_rows = [\n[1],\n[2]\n]\n"
    first, second, third = read(text).hands
    assert isinstance(first, PhhHand)
    assert isinstance(third, PhhHand)
    assert isinstance(second, Skipped)
    assert (1, 2, 3, 20) == (first.number, first.line, third.number, second.line)
    assert "only NT and FT" in second.reason


def test_a_hand_that_stands_there_twice_refuses_the_file() -> None:
    assert "the hand [1] stands there twice" in refusal(f"[1]{TWO}[1]{TWO}")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_any_encoding_and_line_end_is_text(encoding: str) -> None:
    text = ONE.replace("Ann", "Änn")
    for end in ("\n", "\r\n", "\r"):
        (hand,) = read(text.strip().replace("\n", end).encode(encoding)).hands
        assert isinstance(hand, PhhHand)
        assert "Änn" == hand.players[0]


def test_mutated_files_are_refused_or_read() -> None:
    chance = random.Random("phh")
    junk = ["inf", "-1", "[1]\n", '"', "'", "??", "p9", "sm", "\0", "9" * 30, "0.1", "#", "]", "d"]
    many = f"[1]{ONE}\n[2]{TWO}"
    for _ in range(1500):
        text = chance.choice([ONE, TWO, many])
        for _ in range(chance.randint(1, 4)):
            at, cut = chance.randrange(len(text)), chance.randrange(12)
            text = text[:at] + chance.choice([*junk, ""]) + text[at + cut :]
        with suppress(Refused):
            list(read(text).hands)


def test_a_path_is_read_as_its_text(tmp_path: Path) -> None:
    file = tmp_path / "two.phhs"
    file.write_text(f"[1]{ONE}[2]{TWO}")
    assert list(read(file.read_text()).hands) == list(read(file).hands)

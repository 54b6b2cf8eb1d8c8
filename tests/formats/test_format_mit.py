"""Gamelogs of our own making: every dialect, every kind of line, every way to be refused."""

import random
from itertools import islice

import pytest

from dealer.play import play
from engine.audit import audit
from engine.games import RULESETS
from engine.games.swap_2022 import SWAP_2022_MIT
from events import types as t
from events.notation import say_all
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.mit.write import encoded_log, write
from formats.source import AS_READ, Fault, ImportRules, Refused, Skipped, SourceHand

AUCTION = """\
6.9630 MIT Pokerbots - ada vs ada II

Round #1, ada (0), ada II (0)
ada posts the blind of 1
ada II posts the blind of 2
ada dealt [As Kd]
ada II dealt [2c 7d]
ada calls
ada II checks
Flop [3h 4h 9s], ada (2), ada II (2)
ada II response misformatted: A1.6
ValueError
ada II bids 0
ada bids 5
ada won the auction and was dealt [Qc]
Flop [3h 4h 9s], ada (2), ada II (2)
ada II checks
ada bets 4
ada II calls
Turn [3h 4h 9s 9d], ada (6), ada II (6)
ada II checks
ada checks
River [3h 4h 9s 9d Jc], ada (6), ada II (6)
ada II attempted illegal RaiseAction with amount 1000
ada II checks
ada checks
ada shows [As Kd Qc]
ada II shows [2c 7d]
ada awarded 6
ada II awarded -6
Players submitted bids of 5 and 0
ada response misformatted: k
KeyError

Round #2, ada II (-6), ada (6)
ada II posts the blind of 1
ada posts the blind of 2
ada II dealt [5s 5d]
ada dealt [Ts Td]
ada II ran out of time
ada II folds
ada II awarded -1
ada awarded 1
Players did not reach flop. No auction occured.

Final, ada (7), ada II (-7)"""

FOOTER = "".join(
    f"\n{name} {street} bets EV: {worth}"
    for name, worth in (("ada", 7), ("ada II", -7))
    for street in ("preflop", "flop", "turn")
)
WON = "ada won the auction and was dealt [Qc]\n"
AGAIN = "Flop [3h 4h 9s], ada (2), ada II (2)\nada II checks\nada bets 4\nada II calls\n"

SWAP = """\
6.176 MIT Pokerbots - 1.1 vs a vs b

Round #1, 1.1 (0), a vs b (0)
1.1 posts the blind of 1
a vs b posts the blind of 2
1.1 dealt [As Kd]
a vs b dealt [2c 7d]
1.1 raises to 4
a vs b calls
Flop [3h 4h 9s], 1.1 (4), a vs b (4)
1.1's hand: [As 6d]
a vs b's hand: [2c 7d]
a vs b checks
1.1 bets 10
a vs b calls
Turn [3h 4h 9s 9d], 1.1 (14), a vs b (14)
1.1's hand: [8c 6d]
a vs b's hand: [2c 7d]
a vs b response misformatted: A5
a vs b checks
1.1 checks
River [3h 4h 9s 9d Jc], 1.1 (14), a vs b (14)
a vs b checks
1.1 checks
1.1 shows [8c 6d]
a vs b shows [2c 7d]
1.1 awarded 14
a vs b awarded -14

Final, a vs b (-14), 1.1 (14)"""


DIALECTS = {
    "A3": AUCTION + FOOTER,
    "A2": AUCTION,
    "A1": AUCTION.replace(WON, ""),
    "A0": AUCTION.replace(WON, "")
    .replace(AGAIN, "")
    .replace("(6), ada II (6)\nada II", "(2), ada II (2)\nada II")
    .replace("ada awarded 6\nada II awarded -6", "ada awarded 2\nada II awarded -2")
    .replace("(-6), ada (6)", "(-2), ada (2)")
    .replace("ada (7), ada II (-7)", "ada (3), ada II (-3)"),
    "S1": SWAP,
    "S2": SWAP.replace("1.1 awarded", "1.1 (swapped) awarded"),
    "S3": SWAP.replace("1.1 awarded", "1.1 (swapped) awarded") + "\na vs b flop bets EV: 0",
}


def _follow(text: str | bytes, rules: ImportRules = AS_READ) -> list[t.Events]:
    return [
        hand_record(hand, f"m/{hand.number}")
        for hand in read(text, rules).hands
        if isinstance(hand, SourceHand)
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("end", ["", "\n"])
def test_every_dialect_is_told_apart_and_written_again_to_the_byte(dialect: str, end: str) -> None:
    text = DIALECTS[dialect] + end
    source = read(text)
    records = _follow(text)
    assert (dialect, text) == (source.dialect, write(records, source.note))
    assert [None] * len(records) == [
        audit(RULESETS[record[0].game], record)
        for record in records
        if isinstance(record[0], t.HandStarted)
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_other_encodings_and_line_ends_come_back_to_the_byte(encoding: str, newline: str) -> None:
    text = DIALECTS["A3"].replace("ada II", "zoë").replace("\n", newline)
    written = text.encode(encoding)
    source = read(written)
    assert source.players == ("ada", "zoë")
    assert encoded_log(write(_follow(written), source.note), source.note) == written


def test_a_bad_reply_stands_before_the_default_it_causes_or_after_the_end() -> None:
    faults = [
        (hand.number, item)
        for hand in read(AUCTION).hands
        if isinstance(hand, SourceHand)
        for item in hand.items
        if isinstance(item, Fault)
    ]
    assert faults == [
        (1, Fault(1, "A1.6", "malformed", "bid")),
        (1, Fault(1, "RaiseAction with amount 1000", "illegal", "action")),
        (1, Fault(0, "k", "malformed", "acknowledgement")),
        (2, Fault(1, "", "late", "action")),
    ]
    first, second = (say_all(record).splitlines() for record in _follow(AUCTION))
    assert "1 bids 0, open (default)" in first
    assert "0 replies k, malformed as acknowledgement" == first[-1]
    assert "1 folds (default)" in second


def test_an_exception_that_does_not_follow_from_the_reply_is_kept() -> None:
    text = AUCTION.replace("k\nKeyError", "k\nIndexError")
    source = read(text)
    assert source.note is not None
    assert source.note.header.splitlines()[1:] == ["exception 1.2 IndexError"]
    assert write(_follow(text), source.note) == text


def test_third_cards_of_older_engines_are_known_if_shown_and_else_unknown() -> None:
    folded = DIALECTS["A1"].partition("Turn")[0].replace("ada II calls\n", "ada II folds\n")
    text = folded + AUCTION[AUCTION.index("ada awarded 6") :]
    text = text.replace("awarded 6", "awarded 2").replace("awarded -6", "awarded -2")
    text = text.replace("(-6), ada (6)", "(-2), ada (2)").replace(
        "(7), ada II (-7)", "(3), ada II (-3)"
    )
    assert "0 is dealt [Qc]" in say_all(_follow(DIALECTS["A1"])[0]).splitlines()
    assert "0 is dealt [??]" in say_all(_follow(text)[0]).splitlines()
    assert text == write(_follow(text), read(text).note)


def test_players_of_one_name_are_told_apart_by_order() -> None:
    text = AUCTION.replace("ada II", "ada")
    source = read(text)
    assert (("ada", "ada"), text) == (source.players, write(_follow(text), source.note))
    said = say_all(_follow(text)[0]).splitlines()
    assert "1 bids 0, open (default)" in said
    assert "0 bids 5" in said


def test_a_log_without_an_auction_is_recorded_as_undetermined() -> None:
    text = """\
6.9630 MIT Pokerbots - ada vs bob

Round #1, ada (0), bob (0)
ada posts the blind of 1
bob posts the blind of 2
ada dealt [5s 5d]
bob dealt [Ts Td]
ada folds
ada awarded -1
bob awarded 1
Players did not reach flop. No auction occured.

Final, bob (1), ada (-1)"""
    source = read(text)
    assert ("no auction", text) == (source.dialect, write(_follow(text), source.note))
    swap = text.replace("6.9630", "6.176").replace(
        "\nPlayers did not reach flop. No auction occured.", ""
    )
    source = read(swap, ImportRules(SWAP_2022_MIT))
    assert ("no flop", swap) == (
        source.dialect,
        write(_follow(swap, ImportRules(SWAP_2022_MIT)), source.note),
    )


def test_a_log_that_no_line_tells_from_other_years_is_no_log_of_2022() -> None:
    """River of Blood begins with the same line, and every hand of it may end before the flop."""
    text = "\n".join(
        [
            "6.176 MIT Pokerbots - a vs b\n",
            "Round #1, a (0), b (0)\na posts the blind of 1\nb posts the blind of 2",
            "a dealt [5s 5d]\nb dealt [Ts Td]\na folds\na awarded -1\nb awarded 1\n",
            "Final, b (1), a (-1)",
        ]
    )
    games = "Swap (2022), River of Blood (2023), Blotto (2021) or a year before"
    with pytest.raises(Refused) as refused:
        read(text)
    asked = "--ruleset swap-2022-mit says that it is Swap"
    assert refused.value.reason == f"no hand reaches a flop, so this may be {games}: {asked}"
    assert read(text, ImportRules(SWAP_2022_MIT)).dialect == "no flop"
    with pytest.raises(Refused) as refused:
        read(text.replace("6.176", "6.9630"))
    needed = "no bid, bounty or toss is in it, and logs since 2024 have one of them"
    assert refused.value.reason == needed


REFUSALS = {
    "": "line 1: no gamelog begins with this line",
    "PokerStars Hand #1: Hold'em": "line 1: this is a PokerStars hand history",
    "STATE:0:cc:AsKd": "line 1: this is an ACPC log",
    "variant = 'NT'": "line 1: this is a PHH file",
    "<html><body>": "line 1: this is a web page: save the log itself, not the page around it",
    "Bot A is invalid, so B wins.": "line 1: this is the note that no match was played",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_what_is_no_gamelog_is_refused_by_name(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        read(text)
    assert REFUSALS[text] == str(refusal.value)


OTHERS = {
    "ada posts the blind of 1 on board 1": "Blotto (2021)",
}


@pytest.mark.parametrize("line", OTHERS)
def test_other_years_are_refused_by_name(line: str) -> None:
    with pytest.raises(Refused) as refusal:
        read(AUCTION.replace("ada calls\n", f"{line}\n", 1))
    only = "only 2022 to 2026 are read"
    assert f"line 8: this is a log of {OTHERS[line]}: {only}" == str(refusal.value)


def test_a_hand_that_contradicts_itself_is_left_out_with_its_reason() -> None:
    first, second = read(AUCTION.replace("9d], ada (6)", "9d], ada (9)")).hands
    assert first == Skipped(3, "round #1: a total of 9 where 6 were put in")
    assert isinstance(second, SourceHand)
    first, _ = read(AUCTION.replace("shows [2c 7d]", "shows [2c 8d]")).hands
    assert first == Skipped(3, "round #1: a hand is shown that was not held")


@pytest.mark.parametrize(
    "name", ["auction-2024-mit", "auction-2024", "swap-2022-mit", "swap-2022", "auction-2024-a0"]
)
def test_hands_of_our_own_are_written_as_a_log_that_can_be_read(name: str) -> None:
    game = RULESETS[name]
    text = write(play(game, "m", 60, "mine"))
    source = read(text)
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    assert 60 == len(told)
    assert text == write([hand_record(hand, f"m/{hand.number}") for hand in told], source.note)


def test_a_log_too_long_to_keep_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list(read(AUCTION).hands)
    monkeypatch.setattr("formats.mit.read._KEPT_MAX", 1)
    assert kept == list(read(AUCTION).hands)


def test_what_no_gamelog_can_say_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="a gamelog has two players, not 6"):
        write(play(RULESETS["site-nl"], "m", 1, "x"))
    with pytest.raises(ValueError, match="there is no gamelog of site-nl"):
        write(play(RULESETS["site-nl"], "m", 1, "x", seats=2))
    (record,) = play(RULESETS["swap-2022"], "m", 1, "x")
    with pytest.raises(ValueError, match="m/1 was voided: no gamelog can say so"):
        write([(*record[:-1], t.HandVoided("recovery"))])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_mutated_logs_are_refused_or_read_and_never_anything_else(dialect: str) -> None:
    chance = random.Random(dialect)
    for _ in range(300):
        text = _mutated(DIALECTS[dialect], chance)
        try:
            hands = list(islice(read(text).hands, 10))
        except Refused:
            continue
        for hand in hands:
            if isinstance(hand, SourceHand):
                try:
                    hand_record(hand, "m/1")
                except ValueError:
                    continue


def _mutated(text: str, chance: random.Random) -> bytes:
    """A line lost, doubled or moved, a digit or a byte changed, the end cut off."""
    lines = text.split("\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = "".join(
                chance.choice("0123456789") if c.isdigit() else c for c in lines[at]
            )
        case 4:
            return text.encode()[: chance.randrange(len(text))]
        case _:
            raw = bytearray("\n".join(lines).encode())
            raw[chance.randrange(len(raw))] = chance.randrange(256)
            return bytes(raw)
    return "\n".join(lines).encode()

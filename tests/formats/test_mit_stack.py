"""With how many chips the hands of a gamelog begin: what most hands say, or what was set."""

import pytest
from msgspec.structs import replace

from engine.assumptions import rests_on
from engine.audit import audit
from events.types import AuctionSettled
from formats.hand_records import hand_record
from formats.mit.grammar import NO_AUCTION
from formats.mit.read import read
from formats.mit.write import write
from formats.source import AS_READ, ImportRules, Refused, SourceHand
from tests.foreign import records


def _log(*mosts: int, folded: int = 0) -> str:
    """A log of 2024 in which the dealer goes to so much, and is called, or folded to; then both
    only check."""
    banks, rounds = [0, 0], []
    for number, most in enumerate(mosts, 1):
        seats = (0, 1) if number % 2 else (1, 0)
        name, other = ("ab"[seat] for seat in seats)
        dealer, rest = (banks[seat] for seat in seats)
        bets = f"{name} calls\n{other} checks\n"
        if most > 2:
            bets = f"{name} raises to {most}\n{other} calls\n"
        checks = f"{other} checks\n{name} checks\n"
        tied = most > 30  # nobody can pay for a card if his chips are in
        won = f"{name} won the auction and was dealt [Qc]\n"
        won += f"{other} won the auction and was dealt [Js]\n" * tied
        third, bid = (" Js", 0) if tied else ("", 1)
        rounds.append(
            f"Round #{number}, {name} ({dealer}), {other} ({rest})\n"
            f"{name} posts the blind of 1\n{other} posts the blind of 2\n"
            f"{name} dealt [As Ad]\n{other} dealt [2c 7d]\n{bets}"
            f"Flop [3h 4h 9s], {name} ({most}), {other} ({most})\n"
            f"{other} bids 0\n{name} bids {bid}\n{won}"
            f"Flop [3h 4h 9s], {name} ({most}), {other} ({most})\n{checks}"
            f"Turn [3h 4h 9s Td], {name} ({most}), {other} ({most})\n{checks}"
            f"River [3h 4h 9s Td Jc], {name} ({most}), {other} ({most})\n{checks}"
            f"{name} shows [As Ad Qc]\n{other} shows [2c 7d{third}]\n"
            f"{name} awarded {most}\n{other} awarded -{most}\n"
            f"Players submitted bids of {bid} and 0\n"
        )
        if most == folded:
            begun, _, _ = rounds[-1].partition(f"{other} calls")
            most = 2
            end = f"{name} awarded 2\n{other} awarded -2\n{NO_AUCTION}\n"
            rounds[-1] = f"{begun}{other} folds\n{end}"
        banks[seats[0]] += most
        banks[seats[1]] -= most
    ends = [f"a ({banks[0]})", f"b ({banks[1]})"]
    last = f"Final, {', '.join(ends[::-1] if len(mosts) % 2 else ends)}"
    return "\n".join(("6.9630 MIT Pokerbots - a vs b\n", *rounds, last))


def _stack(text: str, rules: ImportRules = AS_READ) -> tuple[int, str]:
    """The stack that all hands of a log begin with, and what the reader says of it."""
    source = read(text, rules)
    stacks = {hand.stacks for hand in source.hands if isinstance(hand, SourceHand)}
    ((stack, _),) = stacks
    return stack, source.inferred[1]


def _differing(text: str) -> list[int]:
    """The rounds that are not what the rules make of them."""
    found = []
    for hand in read(text).hands:
        assert isinstance(hand, SourceHand)
        if audit(hand.game, hand_record(hand, "m/1")):
            found.append(hand.number)
    return found


def test_a_hand_assumes_the_stack_just_where_its_verdict_rests_on_it() -> None:
    """Those of random bots go all-in, and bid all they have, often enough."""
    some = 0
    for game in ("auction-2024-mit", "swap-2022-mit"):
        for hand in read(write(records(game, 120, "3"))).hands:
            assert isinstance(hand, SourceHand)
            said = (f"stack {hand.stacks[0]}",)
            assert hand.assumed in ((), said)
            assert hand.assumed == rests_on(hand_record(replace(hand, assumed=said), "m/1"))
            some += bool(hand.assumed)
    assert 20 < some < 220


USUAL = "the usual one of that engine"


def test_a_stack_is_what_most_hands_say_it_is() -> None:
    assert _stack(_log(2, 30, 400, 400)) == (400, f"stack 400, {USUAL}")
    assert _stack(_log(2, 30, 310)) == (400, f"stack 400, {USUAL}")
    more = "stack 800, because 2 hands put in more than the usual 400"
    assert _stack(_log(2, 30, 500, 800, 30)) == (800, more)
    over = "stack 800, because 3 hands put in more than the usual 400"
    outlier = "; 1 hand put in more than that: 850 in round #4"
    assert _stack(_log(600, 30, 600, 850)) == (800, over + outlier)
    odd = "stack 1000, because 4 hands put in more than the usual 400"
    assert _stack(_log(850, 30, 900, 1000, 1000)) == (1000, odd)
    less = "stack 200, where 10 hands stop, less than the usual 400"
    assert _stack(_log(*(200,) * 10, 30)) == (200, less)
    assert _stack(_log(*(200,) * 9, 30)) == (400, f"stack 400, {USUAL}")


def test_one_line_does_not_set_the_stack_of_a_log() -> None:
    """A bet of 999 in a log of 400 differs, and the honest all-ins beside it agree."""
    text = _log(400, 30, 999, 400, 2, 400, 400, folded=999)
    outlier = "1 hand put in more than that: 999 in round #3"
    assert _stack(text) == (400, f"stack 400, {USUAL}; {outlier}")
    assert _differing(text) == [3]
    called = _log(400, 30, 999, 400, 2, 400, 400)
    assert _differing(called) == [3]
    for hand in read(called).hands:  # nobody pays less than nothing for a card
        assert isinstance(hand, SourceHand)
        prices = [it.price for it in hand_record(hand, "m/1") if isinstance(it, AuctionSettled)]
        assert prices == [0]
    alone = _log(30, 999, 30, folded=999)
    assert _stack(alone)[0] == 400
    assert _differing(alone) == [2]


def test_an_illegal_bid_does_not_set_the_stack_of_a_log_either() -> None:
    """Two bids of more than anybody has make a price of 401, in one round of five."""
    text = _log(2, 30, 2, 30, 2)
    text = text.replace("bids 0", "bids 401", 1).replace("bids 1", "bids 402", 1)
    text = text.replace("bids of 1 and 0", "bids of 402 and 401", 1)
    text = text.replace("Flop [3h 4h 9s], a (2)", "Flop [3h 4h 9s], a (403)", 2)
    text = text.replace("a (403)", "a (2)", 1)
    for street in ("Turn [3h 4h 9s Td]", "River [3h 4h 9s Td Jc]"):
        text = text.replace(f"{street}, a (2)", f"{street}, a (403)", 1)
    outlier = "1 hand put in more than that: 403 in round #1"
    assert _stack(text) == (400, f"stack 400, {USUAL}; {outlier}")
    assert _differing(text) == [1]


def test_a_stack_that_is_set_decides() -> None:
    text = _log(400, 30, 999, 400, 2)
    said = "stack 999, as it was set"
    assert _stack(text, ImportRules(settings=(("stack", "999"),))) == (999, said)
    few = (
        "stack 300, as it was set; 3 hands put in more than that: 400 in round #1, 999 in round #3"
    )
    assert _stack(text, ImportRules(settings=(("stack", "300"),))) == (300, few)
    with pytest.raises(Refused, match="--set: stack of auction-2024-mit may be a whole number"):
        read(text, ImportRules(settings=(("stack", "many"),)))

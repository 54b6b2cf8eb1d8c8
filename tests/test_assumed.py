"""What a record assumes stands in its own first event, and only where there is something to say."""

from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.assumptions import WORDS, rests_on
from engine.audit import audit
from engine.games import RULESETS
from engine.policies import Rake
from engine.verdict import judge
from events.codec import Unreadable, decode, encode
from events.ledger import Recorded
from events.lines import Nonces, lines, plain
from events.notation import read, say
from events.types import AntePosted, BidPlaced, Events, HandEnded, HandStarted, PotSplit
from formats.hand_records import hand_record
from formats.phh.read import read as read_phh
from formats.source import Act, Board, Holds, Item, Shows, SourceHand
from tests.store.test_event_columns import alike
from tests.trust.in_node import judged_in_node
from tests.trust.own_bundles import Draft, problem, verdict

START = HandStarted("h", "g", "r", 0, ("ursa", "lynx"), (400, 400))
SAID = ("stack 400", 'rake 5 %, "at":-1 up to 3,00')
OLD = (
    b'{"button":0,"dead_small":false,"game":"g","hand":"h","players":["ursa","lynx"],'
    b'"ruleset":"r","stacks":[400,400],"type":"HandStarted"}'
)


def test_a_hand_that_assumes_nothing_is_spelled_as_before() -> None:
    assert OLD == encode(START)
    assert START == decode(OLD)
    assert "assum" not in say(START)


def test_what_is_assumed_is_spelled_and_said() -> None:
    start = replace(START, assumed=SAID)
    assert OLD.replace(
        b'{"button"', b'{"assumed":["stack 400","rake 5 %, \\"at\\":-1 up to 3,00"],"button"'
    ) == encode(start)
    assert start == decode(encode(start))
    assert say(start).endswith('; assuming "stack 400", "rake 5 %, \\"at\\":-1 up to 3,00"')
    assert start == read(say(start))


def test_that_nothing_is_assumed_is_not_written() -> None:
    with pytest.raises(Unreadable, match="canonical"):
        decode(OLD.replace(b'{"button"', b'{"assumed":[],"button"'))


def test_its_public_line_has_the_time_in_its_place() -> None:
    start = replace(START, assumed=SAID)
    line = lines([Recorded(0, "h", 0, 17, start)], Nonces(b"k"))[0]
    assert encode(start).replace(b'],"button"', b'],"at":17,"button"') == line
    assert [line] == plain([start], 17)
    assert OLD.replace(b'{"button"', b'{"at":17,"button"') == plain([START], 17)[0]


def hands(count: int = 3) -> list[Events]:
    return list(islice(play(RULESETS["site-nl"], "m", count, "assumed", 3), count))


def assuming(record: Events, *said: str) -> Events:
    start = record[0]
    assert isinstance(start, HandStarted)
    return (replace(start, assumed=said), *record[1:])


def test_columns_tell_it_and_hands_beside_it_assume_nothing() -> None:
    first, second, third = hands()
    alike([first, second, third])
    alike([first, assuming(second, *SAID), third])
    alike([assuming(first, "stack 1"), assuming(second, *SAID), assuming(third, "stack 1")])


def test_no_rule_asks_what_is_assumed() -> None:
    record = hands(1)[0]
    game = RULESETS["site-nl"]
    assert audit(game, record) is None
    assert audit(game, assuming(record, *SAID)) is None


def test_a_bundle_tells_it_and_both_verifiers_read_it() -> None:
    draft = Draft(assuming(hands(1)[0], *SAID), "public")
    assert SAID == draft.lines[0]["assumed"]
    assert () == verdict(draft).problems
    assert verdict(draft) == judged_in_node(draft.files())


@pytest.mark.parametrize("wrong", [[], "stack 400", [400]])
def test_a_bundle_that_tells_it_wrongly_is_refused(wrong: object) -> None:
    draft = Draft(hands(1)[0], "public")
    draft.lines[0]["assumed"] = wrong
    assert "cannot be its assumed" in problem(draft.files())


def test_each_word_is_explained() -> None:
    page = (Path(__file__).parents[1] / "docs/import.md").read_text()
    rows = [
        line.split("`")[1]
        for line in page.split("## What is assumed")[1].split("\n## ")[0].split("\n")
        if line.startswith("| `")
    ]
    assert sorted(WORDS) == sorted(rows)


def of_site(*, shoves: bool, raked: int = 0) -> Events:
    """Two with 200 each: a raise to 30, or to all there is, is called, and checked down."""
    to = 200 if shoves else 30
    game = replace(RULESETS["site-nl"], rake=Rake(percent=raked, of=100))
    streets = [] if shoves else [Act(seat, "check") for seat in (1, 0)]
    told: list[Item] = [Holds(0, ("As", "Ah")), Holds(1, ("2c", "7d"))]
    told += [Act(0, "raise", to), Act(1, "call")]
    for cards in (("Kd", "9h", "4s"), ("4d",), ("Js",)):
        told += [Board(cards), *streets]
    told += [Shows(0, ("As", "Ah"))]
    hand = SourceHand(
        game=game,
        number=1,
        line=1,
        source_id="",
        button=0,
        players=("ursa", "lynx"),
        stacks=(200, 200),
        items=tuple(told),
        assumed=(
            "stack 200",
            "rake 5 %",
            "odd-chips clockwise",
            "showing the aggressor",
            "moon full",
        ),
    )
    return hand_record(hand, "m/1")


@pytest.mark.parametrize(
    ("shoves", "raked", "words"),
    [
        (False, 0, {"showing", "moon"}),
        (True, 0, {"stack", "showing", "moon"}),
        (False, 5, {"rake", "showing", "moon"}),
    ],
)
def test_a_verdict_rests_on_what_could_have_changed_it(
    shoves: bool, raked: int, words: set[str]
) -> None:
    """A stack that nobody reached does not count; a word that nobody knows always does."""
    record = of_site(shoves=shoves, raked=raked)
    found = rests_on(record)
    assert words == {one.partition(" ")[0] for one in found}


def test_shares_that_are_not_alike_rest_on_who_gets_odd_chips() -> None:
    def split(*shares: int) -> Events:
        start = replace(START, assumed=("odd-chips clockwise",))
        return (start, PotSplit(0, (0, 1), shares), HandEnded())

    assert () == rests_on(split(5, 5))
    assert ("odd-chips clockwise",) == rests_on(split(6, 5))


def test_a_bid_of_a_whole_stack_rests_on_the_stack() -> None:
    def bid(amount: int) -> Events:
        start = replace(START, assumed=("stack 400",))
        posted = AntePosted(0, 10)
        return (start, posted, BidPlaced(0, amount, True), BidPlaced(1, 399, True))

    assert () == rests_on(bid(389))
    assert ("stack 400",) == rests_on(bid(390))


RIVER = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [100, 100, 100]
actions = ["d dh p1 AcAd", "d dh p2 KcKd", "d dh p3 QcQd", "p3 cc", "p1 cc", "p2 cc",
  "d db 2c3d4h", "p1 cc", "p2 cc", "p3 cc", "d db 5s", "p1 cc", "p2 cc", "p3 cc",
  "d db Th", "p1 cc", "p2 cc", "p3 cbr 10", "p1 cc", "p2 cc", SHOWN]
finishing_stacks = [124, 88, 88]
"""


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        ('"p1 sm AcAd", "p2 sm KcKd", "p3 sm QcQd"', "agree"),
        ('"p3 sm QcQd", "p1 sm AcAd", "p2 sm KcKd"', "assuming"),
    ],
)
def test_an_order_of_showing_that_only_the_hand_itself_shows_is_assumed(
    shown: str, verdict: str
) -> None:
    """The habit was taken from the hand and then said to agree with it."""
    (hand,) = read_phh(RIVER.replace("SHOWN", shown)).hands
    assert isinstance(hand, SourceHand)
    assert verdict == judge(hand.game, hand_record(hand, "h/1")).verdict

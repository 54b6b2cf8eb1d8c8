"""The report on a hand: its text for the hand of A9, and its sums for every hand."""

from msgspec.structs import replace

from api.auditing.hand_report import audit_entry, audit_text, chips_by_round, verdict_sentence
from engine.audit import before_payment
from engine.game import Game
from engine.games import GAMES
from engine.hand import begin, step
from engine.turn import Bid, Call, Check, Command, Deal, Raise
from engine.verdict import judge
from events.cards import cards
from events.types import Events, HandEnded, HandStarted, PotSplit, Raised
from tests.hands import seeded, some_games
from tests.profiles import sized

MIT = GAMES["auction-2024-mit"]
DOCUMENT = GAMES["auction-2024"]


def dealt(text: str) -> Deal:
    return Deal(cards(text))


def tie_after_an_auction() -> Events:
    """The example of A9: dealer 122, of them 37 for a card, big blind 85, and both hold a straight.

    "dealer -19, big blind +19", where the document says that bankrolls do not change.
    """
    answers: tuple[Command, ...] = (
        dealt("5d 6h Tc 5s"),
        Raise(0, 6),
        Call(1),
        dealt("Jd 7c 6c"),
        Bid(1, 37, sealed=False),
        Bid(0, 52, sealed=False),
        dealt("Th"),
        Check(1),
        Raise(0, 20),
        Call(1),
        dealt("8h"),
        Raise(1, 59),
        Call(0),
        dealt("4c"),
        Check(1),
        Check(0),
    )
    record, hand = begin(MIT, "scrim-17/412", 0, ("ursa", "lynx"), (400, 400))
    for answer in answers:
        events, hand = step(MIT, hand, answer)
        record += events
    return record


REPORT = """\
scrim-17/412   auction-2024-mit   2 players, button ursa, 400 each

 board      Jd 7c 6c | 8h | 4c
 cards      ursa  5d 6h + Th
            lynx  Tc 5s
 money in             preflop  auction  flop  turn  river  total
            ursa            6       37    20    59      0    122
            lynx            6        0    20    59      0     85
            together       12       37    40   118      0    207
 auction    lynx bid 37, ursa bid 52: ursa pays 37
            open bids: the first bid was visible to the second bidder
 showdown   lynx  straight, eight high  8h 7c 6c 5s 4c  tie
            ursa  straight, eight high  8h 7c 6h 5d 4c  tie
 pots       pot 0: 104 to lynx, 103 to ursa
 layers     pot 0  0 to 85  207 chips  37 dead; 1 odd to lynx (clockwise_each)
 award                ursa  lynx
            recorded   -19   +19
            decided    -19   +19  auction-2024-mit (declared)
            A9           0     0  auction-2024-mit with showdown_tie no_change
            partner      0     0  auction-2024
 readings   A9       "In the case of a tie, players' bankrolls do not change."
            partner  Auction Hold'em, Pokerbots 2024
 verdict    CONTESTED: the record is what auction-2024-mit pays; another reading pays differently
"""


def test_a_contested_hand_shows_every_reading_beside_the_recorded_one() -> None:
    record = tie_after_an_auction()
    assert REPORT == audit_text(MIT, record, judge(MIT, record, DOCUMENT))


def test_the_same_in_json() -> None:
    record = tie_after_an_auction()
    told = audit_entry(record, MIT, judge(MIT, record, DOCUMENT))
    assert ("scrim-17/412", "contested", None) == (told["hand"], told["verdict"], told["at"])
    assert (-19, 19) == told["recorded"] == told["decided"]
    assert [("A9", (0, 0)), ("partner", (0, 0))] == [
        (other["entry"], other["nets"]) for other in told["readings"]
    ]


def test_a_wrong_award_is_told_with_both_events() -> None:
    *before, _, over = tie_after_an_auction()
    forged = (*before, PotSplit(0, (1,), (207,)), over)
    text = audit_text(MIT, forged, judge(MIT, forged, DOCUMENT))
    decided = "auction-2024-mit decides lynx wins 104, ursa wins 103 from the pot"
    due = "ursa should have 103 more, lynx 103 less"
    assert f"DIFFER: event 33, lynx wins 207 from the pot: {decided}; {due}" in text


def test_a_refusal_names_the_player_and_not_the_seat() -> None:
    record = tie_after_an_auction()
    at = next(at for at, event in enumerate(record) if isinstance(event, Raised))
    forged = (*record[:at], replace(record[at], amount=2, to=3), *record[at + 1 :])
    said = verdict_sentence(judge(MIT, forged, DOCUMENT), forged)
    assert f"event {at}, ursa raises to 3: ursa may raise to " in said


def test_events_that_say_the_same_to_a_player_are_told_in_the_notation() -> None:
    record = tie_after_an_auction()
    at = next(at for at, event in enumerate(record) if isinstance(event, Raised))
    forged = (*record[:at], replace(record[at], next=0), *record[at + 1 :])
    said = verdict_sentence(judge(MIT, forged, DOCUMENT), forged)
    assert "0 raises 5 to 6, 0 to act: auction-2024-mit decides 0 raises 5 to 6, 1 to act" in said


def test_a_record_that_cannot_be_counted_is_refused_in_one_line() -> None:
    start = replace(tie_after_an_auction()[0], ruleset="0" * 16)
    forged = (start, HandEnded(), start)
    text = audit_text(MIT, forged, judge(MIT, forged, DOCUMENT))
    assert "DIFFER: event 0, ursa has 400, lynx has 400; the button is ursa: " in text
    assert "money in" not in text


@some_games
def test_the_table_of_money_adds_up_to_what_each_seat_put_in(game: Game) -> None:
    for seed in range(20):
        played = seeded(game, str(seed))
        hand = before_payment(played.record)
        if hand is not None:
            columns = chips_by_round(played.record).values()
            put_in = [sum(seat) for seat in zip(*columns, strict=True)]
            assert put_in == [a + b for a, b in zip(hand.paid, hand.dead, strict=True)], played


@some_games
def test_every_kind_of_hand_can_be_reported(game: Game) -> None:
    for seed in range(20):
        played = seeded(game, str(seed))
        partner = GAMES.get(played.game.partner or "")
        text = audit_text(played.game, played.record, judge(played.game, played.record, partner))
        assert "\n verdict " in text, played


@some_games
def test_a_report_on_a_wrong_record_is_a_report_and_no_exception(game: Game) -> None:
    """Whatever stands in it: an event lost, said twice, out of order, or of a seat far away."""
    record = seeded(game, "3").record
    for at in range(1, len(record), sized(6, 1)):
        far = replace(record[at], seat=9) if hasattr(record[at], "seat") else record[at]
        for forged in (
            (*record[:at], *record[at + 1 :]),
            (*record[: at + 1], *record[at:]),
            (*record[: at - 1], record[at], record[at - 1], *record[at + 1 :]),
            (*record[:at], far, *record[at + 1 :]),
        ):
            if isinstance(forged[0], HandStarted):
                assert "\n verdict " in "\n" + audit_text(game, forged, judge(game, forged))

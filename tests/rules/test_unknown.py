"""A card that nobody recorded: the verdict is unknown only where it could change who is paid."""

from engine.games import GAMES
from engine.hand import begin, step
from engine.turn import Call, Check, Command, Deal, Fold
from engine.verdict import judge
from events.types import Checked, HandEnded, PotSplit, Shown, StepEntered

GAME = GAMES["probability"]
DEALT = Deal(("As", "Kd", "Ah", "Kc"))


def test_an_unknown_board_at_a_showdown_leaves_the_payment_unknown() -> None:
    record, hand = begin(GAME, "h/1", 0, ("a", "b"), (100, 100))
    answers: list[Command] = [DEALT, Call(0), Check(1)]
    for street in (("2c", "7d", "9h"), ("3s",), ("??",)):
        answers += [Deal(street), Check(1), Check(0)]
    for answer in answers[:-1]:
        events, hand = step(GAME, hand, answer)
        record += events
    end = (
        *record,
        Checked(0, None),
        StepEntered(9, "showdown"),
        Shown(1, hand.hole[1]),
        Shown(0, hand.hole[0]),
        PotSplit(0, (1,), (20,)),
        HandEnded(),
    )
    report = judge(GAME, end)
    assert ("unknown", None) == (report.verdict, report.decided)
    assert report.divergence is not None
    assert "a card of seat 0 or of the board was never recorded" == report.divergence.refusal


def test_an_uncontested_pot_is_never_unknown() -> None:
    record, hand = begin(GAME, "h/1", 0, ("a", "b"), (100, 100))
    for answer in (Deal(("??", "??", "??", "??")), Fold(0)):
        events, hand = step(GAME, hand, answer)
        record += events
    assert "agree" == judge(GAME, record).verdict

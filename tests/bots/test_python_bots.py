"""Bots that somebody writes in Python: seated by `muckrake.play`, or by `--bots module:Class`."""

from pathlib import Path

import numpy as np
import pytest

import muckrake
from api.main import main
from dealer.bots.python_bots import BotFailed, UnknownBot
from dealer.bots.seat_view import Seen
from engine.audit import audit
from engine.turn import Bid, Call, Check, Command, Deal, Fold, Raise, ToAct, ToBid
from events.types import Bet, BidPlaced, Called, Checked, Events, Faulted, Folded, Raised
from tests.sessions import Captured, printed

AUCTION = muckrake.GAMES["auction-2024"]


class Caller:
    """Bids nothing, checks or calls; counts what it was asked, from hand to hand."""

    asked = 0

    def choose(self, seen: Seen) -> Command:
        type(self).asked += 1
        if isinstance(seen.asked, ToBid):
            return Bid(seen.seat, 0)
        assert isinstance(seen.asked, ToAct)
        return Check(seen.seat) if seen.asked.check else Call(seen.seat)


def test_a_class_and_a_function_play_as_the_built_in_bot_that_does_the_same() -> None:
    """What a caller does follows from the rules alone, so records are alike but for the names."""

    def caller(seen: Seen) -> Command:
        return Caller().choose(seen)

    def changes(bots: list[object]) -> list[Events]:
        return [hand[1:] for hand in muckrake.play(AUCTION, "m", 20, "7", bots=bots)]

    assert changes(["caller", "caller"]) == changes([Caller, caller])
    assert ("Caller-0", "caller-1") == muckrake.replay(
        next(muckrake.play(AUCTION, "m", 1, "7", bots=[Caller, caller]))
    ).start.players


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda seen: Raise(seen.seat, 100_000), "illegal"),
        (lambda seen: Fold(1 - seen.seat), "illegal"),
        (lambda seen: Bid(seen.seat, -1), "illegal"),
        (lambda seen: Raise(seen.seat, "4"), "malformed"),  # type: ignore[arg-type]
        (lambda seen: Deal(("As",)), "malformed"),
        (lambda seen: None, "malformed"),
        (lambda seen: "call", "malformed"),
    ],
)
def test_what_the_rules_refuse_is_noted_and_the_default_follows(answer: object, kind: str) -> None:
    """`Faulted`, then: bid 0, else check, else fold (A8); and the audit agrees with the record."""
    for hand in muckrake.play(AUCTION, "m", 5, "7", bots=[answer, "caller"]):
        assert audit(AUCTION, hand) is None
        noted = [at for at, one in enumerate(hand) if isinstance(one, Faulted)]
        assert noted
        for at in noted:
            note, done = hand[at], hand[at + 1]
            assert isinstance(note, Faulted)
            assert isinstance(done, BidPlaced | Checked | Folded)
            assert (kind, "default") == (note.kind, done.origin)
            assert ("bid" if isinstance(done, BidPlaced) else "action") == note.where
            assert not isinstance(done, BidPlaced) or 0 == done.amount


def test_chips_may_be_whole_numbers_of_numpy() -> None:
    def bold(seen: Seen) -> Command:
        if isinstance(seen.asked, ToBid):
            return Bid(np.int64(seen.seat), np.int32(min(3, seen.asked.bid_max)))  # type: ignore[arg-type]
        assert isinstance(seen.asked, ToAct)
        if seen.asked.raise_min is not None:
            return Raise(seen.seat, np.int64(seen.asked.raise_min))  # type: ignore[arg-type]
        return Check(seen.seat) if seen.asked.check else Call(seen.seat)

    (hand,) = muckrake.play(AUCTION, "m", 1, "7", bots=[bold])
    assert not any(isinstance(one, Faulted) for one in hand)
    assert {int} == {type(one.amount) for one in hand if isinstance(one, Bet | Raised | Called)}


@pytest.mark.parametrize("name", ["urcs-1998", "swap-2022", "site-fl"])
def test_a_bot_that_answers_nothing_gets_through_every_question(name: str) -> None:
    game = muckrake.GAMES[name]
    for hand in muckrake.play(game, "m", 10, "7", 4 if game.seats_max > 2 else 2, bots=[print]):
        assert audit(game, hand) is None


def test_a_bot_that_raises_is_named_and_the_hands_before_are_kept(tmp_path: Path) -> None:
    class Breaks:
        def __init__(self) -> None:
            self.hands: set[str] = set()

        def choose(self, seen: Seen) -> Command:
            self.hands.add(seen.hand)
            if len(self.hands) == 3:
                raise KeyError("no such hand")
            return Caller().choose(seen)

    ledger = tmp_path / "ledger"
    sentence = "the bot Breaks raised KeyError: 'no such hand', in hand m/3"
    with pytest.raises(BotFailed, match=sentence):
        list(muckrake.play(AUCTION, "m", 9, "7", bots=[Breaks, "caller"], ledger=ledger))
    assert [{"hands": 2}] == muckrake.sql(ledger, "SELECT count(*) AS hands FROM hands").to_pylist()


def test_a_match_of_own_bots_is_in_the_ledger_as_it_was_played(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    hands = list(muckrake.play(AUCTION, "m", 4, "7", bots=[Caller, "tight"], ledger=ledger))
    assert hands == [muckrake.record(ledger, f"m/{number}") for number in range(1, 5)]
    assert hands == list(muckrake.play(AUCTION, "m", 4, "7", bots=[Caller, "tight"]))
    with pytest.raises(ValueError, match="there is a match m in"):
        list(muckrake.play(AUCTION, "m", 4, "7", ledger=ledger))
    with pytest.raises(ValueError, match="cannot name a match"):
        list(muckrake.play(AUCTION, "m/1", 4, "7", ledger=ledger))


def test_what_is_no_bot_is_refused_in_one_sentence() -> None:
    for bots, sentence in (
        ([], "a table without bots plays nothing"),
        ([7], "7 is no bot: a class with choose\\(seen\\) or a function is one"),
        ([int], "int is no bot: a class has choose\\(seen\\)"),
        (["shark"], "no bot is called shark: there are random, .*, and module:Class"),
        (["tests.sessions:Shark"], "there is no Shark in the module tests.sessions"),
        (["no.such:Bot"], "the bot no.such:Bot raised ModuleNotFoundError"),
    ):
        with pytest.raises(UnknownBot, match=sentence):
            muckrake.play(AUCTION, "m", 1, "7", bots=bots)


def test_the_command_line_seats_a_class_by_its_module(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_table.py").write_text(
        "from muckrake import Bid\n"
        "class Bidder:\n"
        "    def choose(self, seen):\n"
        "        return Bid(seen.seat, 1)\n"
        "def broken(seen):\n"
        "    return 1 / 0\n"
    )
    play = ["play", "auction-2024", "--hands", "2", "--seed", "7", "--ledger", "ledger"]
    told = printed(capsys, *play, "--match", "m", "--bots", "own_table:Bidder,caller")
    assert "Bidder-0" in told
    assert 1 == main([*play, "--bots", "own_table:broken,caller"])
    assert "the bot broken raised ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert 2 == main([*play, "--bots", "own_table:Bidder", "--live"])
    assert "--live seats built-in bots: leave out own_table:Bidder" in capsys.readouterr().err
    assert 2 == main([*play, "--bots", "own_table:Nobody"])
    assert "there is no Nobody in the module own_table" in capsys.readouterr().err

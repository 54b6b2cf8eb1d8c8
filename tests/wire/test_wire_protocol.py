"""The protocol as text: what a bot is told, what its replies mean, and who may know a bid early."""

import random
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dealer.deck import Deck, SeededDecks, deck_of_key, seeded_deck
from dealer.wire.match import play
from dealer.wire.player import Connection, OverlongLine, Reply
from dealer.wire.program import NoBotFolder, named_programs, read_program
from dealer.wire.protocol import (
    Dialect,
    acknowledgement_fault,
    default_answer,
    reply_command,
    wire_plan,
)
from engine.games import GAMES
from engine.turn import (
    Bid,
    Call,
    Check,
    Command,
    Fold,
    Raise,
    ToAct,
    ToBid,
    ToDeal,
    Toss,
    ToSwap,
    ToToss,
)
from events.cards import DECK
from events.evolve import replay
from events.types import AuctionSettled, BidPlaced, Events, HoleDealt
from tests.wire.links import pair

AUCTION, SWAP = Dialect(bids=True, swaps=False), Dialect(bids=False, swaps=True)
TOSS = Dialect(tosses=True)
ACT = ToAct(0, fold=True, check=False, call=2, raise_min=8, raise_max=400)
CLOSED = ToAct(0, fold=False, check=True, call=0)


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("F", Fold(0)),
        ("Fold", Fold(0)),
        ("C", Call(0)),
        ("Kfoo", Check(0)),
        ("R8", Raise(0, 8)),
        ("R1_0", Raise(0, 10)),
        ("R 8", Raise(0, 8)),
        ("R+6", Raise(0, 6)),
        ("A3", Bid(0, 3)),
        ("R7.0", None),
        ("Rabc", None),
        ("R", None),
        ("A1.6", None),
        ("", None),
        ("k", None),
        ("D3", None),
    ],
)
def test_only_the_first_letter_counts_and_a_number_as_python_reads_it(
    reply: str, meant: Command | None
) -> None:
    assert meant == reply_command(AUCTION, ACT, reply, True)


def test_the_game_of_2022_knows_no_bids_and_looks_at_no_number_that_is_not_offered() -> None:
    assert reply_command(SWAP, ACT, "A5", True) is None
    assert reply_command(SWAP, CLOSED, "Rabc", True) == Raise(0, 0)
    assert reply_command(AUCTION, CLOSED, "Rabc", True) is None
    assert ["illegal", "malformed"] == [
        acknowledgement_fault(dialect, "Rabc") for dialect in (SWAP, AUCTION)
    ]
    assert ["malformed", "illegal"] == [
        acknowledgement_fault(dialect, "A5") for dialect in (SWAP, AUCTION)
    ]


def test_the_game_of_2026_knows_tosses() -> None:
    asked = ToToss(0, 3)
    assert [Toss(0, 2), Toss(0, 7), None, None, Check(0)] == [
        reply_command(TOSS, asked, reply, True) for reply in ("D2", "D7", "D", "Dx", "K")
    ]
    assert [Toss(0, 0), None] == [
        reply_command(TOSS, CLOSED, reply, True) for reply in ("Dx", "A3")
    ]
    assert default_answer(asked, True) == Fold(0, "default")
    assert ["illegal", "illegal", "malformed", None] == [
        acknowledgement_fault(TOSS, reply) for reply in ("D1", "Rabc", "A5", "K")
    ]


class Tosser:
    """Tosses its first card, checks and calls; keeps every line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def ask(self, told: str) -> Reply:
        self.lines.append(told)
        last = told.split()[-1]
        if last[0] == "B" and last.count(",") in (1, 2):
            return Reply("D0")
        return Reply("C" if last == "G" and "P0" in told else "K")


def test_a_hand_of_2026_is_told_as_its_bots_expect_it() -> None:
    """A `G` after three cards; a toss is `D`, its answer a check; `A` says what was won."""
    players = (Tosser(), Tosser())
    match = wire_plan(GAMES["toss-2026-mit"], "m", ("a", "b"), 1)
    ((record, _),) = play(match, range(1, 2), SeededDecks("4"), players)
    hand = replay(record)
    holes = [event.cards for event in record if isinstance(event, HoleDealt)]
    one, two = (",".join(cards) for cards in holes)
    board = [",".join(hand.board[:count]) for count in range(7)]
    (shown, other), net = (map(",".join, hand.hole)), hand.stacks[0] - 400
    assert players[0].lines == [
        f"P0 H{one} G",
        f"C K B{board[2]} D0",
        f"K B{board[3]}",
        f"D0 K B{board[4]} K",
        f"K B{board[5]} K",
        f"K B{board[6]} K",
        f"K O{other} A{net}",
    ]
    assert players[1].lines == [
        f"P1 H{two} G C",
        f"K B{board[2]}",
        f"D0 K B{board[3]} D0",
        f"K B{board[4]}",
        f"K K B{board[5]}",
        f"K K B{board[6]}",
        f"K K O{shown} A{-net}",
    ]


def test_the_default_is_a_bid_of_nothing_else_a_check_else_a_fold() -> None:
    assert default_answer(ToBid(1, 400), True) == Bid(1, 0, True, "default")
    assert default_answer(CLOSED, True) == Check(0, "default")
    assert default_answer(ACT, True) == Fold(0, "default")


class Bidder:
    """Checks and calls, and bids a number of its own; keeps every line."""

    def __init__(self, bid: int) -> None:
        self._bid = f"A{bid}"
        self.lines: list[str] = []

    def ask(self, told: str) -> Reply:
        self.lines.append(told)
        last = told.split()[-1]
        if last[0] in "BA" and " N" not in told:
            return Reply(self._bid)
        return Reply("C" if " P0 H" in f" {told}" and last[0] == "H" else "K")


def _met(open_bids: bool, game: str = "auction-2024-mit") -> tuple[list[Events], Bidder, Bidder]:
    bots = (Bidder(37), Bidder(52))
    match = wire_plan(GAMES[game], "m", ("ada", "ben"), 2, open_bids=open_bids)
    return [hand.record for hand in play(match, match.legs[0], SeededDecks("3"), bots)], *bots


def test_a_sealed_bid_is_told_to_nobody_before_both_are_in() -> None:
    (first, second), ada, ben = _met(open_bids=False)
    assert ada.lines[1].endswith(" A-1")
    assert [] == [line for line in ada.lines[:2] if "52" in line]
    assert ada.lines[2].startswith("A37 P0 N398,361_37,52_")
    for record in (first, second):
        assert [True, True] == [e.sealed for e in record if isinstance(e, BidPlaced)]
        assert [True] == [e.sealed for e in record if isinstance(e, AuctionSettled)]
    dealt_by_ben = [line for line in ben.lines if "A-1" in line]
    assert len(dealt_by_ben) == 1


def test_an_open_bid_is_told_to_the_dealer_and_the_record_says_so() -> None:
    (first, _), ada, _ = _met(open_bids=True)
    assert ada.lines[1].endswith(" A52")
    assert [False, True] == [e.sealed for e in first if isinstance(e, BidPlaced)]
    assert [False] == [e.sealed for e in first if isinstance(e, AuctionSettled)]


def test_a_seeded_deck_is_shuffled_as_python_shuffles() -> None:
    for seed in map(str, range(200)):
        order = list(DECK)
        random.Random(seed).shuffle(order)
        assert tuple(order) == seeded_deck(seed).deal(ToDeal(52, "board")).cards


@pytest.mark.parametrize("made", [lambda: seeded_deck("x"), lambda: deck_of_key(b"x" * 32)])
def test_a_fork_of_a_deck_deals_what_the_deck_will_deal(made: Callable[[], Deck]) -> None:
    swap = ToSwap(((0, 0), (0, 1), (1, 0), (1, 1)), 50, 100)
    deck, untouched = made(), made()
    for asked in (ToDeal(3, "board"), ToDeal(1, "board", place="bottom"), ToDeal(2, "board")):
        forks = deck.fork(), deck.fork()
        tried = [(fork.deal(asked), fork.swap(swap), fork.swap(swap)) for fork in forks]
        dealt = (deck.deal(asked), deck.swap(swap))
        assert tried[0] == tried[1]
        assert tried[0][:2] == dealt == (untouched.deal(asked), untouched.swap(swap))


def test_swapped_cards_are_told_on_flop_and_turn_and_never_on_the_river() -> None:
    _, ada, _ = _met(open_bids=False, game="swap-2022-mit")
    streets = [line for line in ada.lines if "B" in line]
    assert [5, 5] == [len(line.split("U")[1].split()[0]) for line in streets if "U" in line][:2]
    assert [] == [line for line in streets if "U" in line and line.count(",") > 6]


def test_a_mirrored_match_deals_each_deck_to_both_sides_and_never_twice_in_a_leg() -> None:
    match = wire_plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 8, mirrored=True)
    assert ((1, 4, 5, 8), (2, 3, 6, 7)) == match.legs
    decks, bots = SeededDecks("3", match.deals), (Bidder(5), Bidder(5))
    played = [hand.record for leg in match.legs for hand in play(match, leg, decks, bots)]
    hands = dict(zip((number for leg in match.legs for number in leg), played, strict=True))
    for number in (1, 3, 5, 7):
        one, two = replay(hands[number]), replay(hands[number + 1])
        assert (0, 1) == (one.start.button, two.start.button)
        assert (one.hole, one.board) == (two.hole[::-1], two.board)
    with pytest.raises(ValueError, match="each deck is dealt twice: 3 hands are no pairs"):
        wire_plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 3, mirrored=True)


@pytest.mark.parametrize(
    ("sent", "replies"),
    [
        (b"K\nC\n", [b"K", b"C"]),
        (b"K\r\nC\r\n", [b"K", b"C"]),
        (b"K\rC\r\n", [b"K", b"C"]),
        (b"\n\nC\n", [b"", b"", b"C"]),
        (b"K\nlast words", [b"K", b"last words", b""]),
    ],
)
def test_lines_end_as_text_streams_have_them_and_early_ones_wait(
    sent: bytes, replies: list[bytes]
) -> None:
    ours, theirs = pair()
    with theirs:
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        link = Connection(ours, 100)
        assert replies == [link.ask(b"?\n", 1) for _ in replies]
        link.close()


def test_a_line_without_end_is_not_read_for_ever() -> None:
    ours, theirs = pair()
    with theirs:
        theirs.sendall(b"x" * 1_000)
        link = Connection(ours, 100)
        with pytest.raises(OverlongLine) as flood:
            link.ask(b"?\n", 1)
        assert flood.value.head == b"x" * 100
        link.close()


def test_a_reply_that_never_comes_is_not_waited_for() -> None:
    ours, theirs = pair()
    with theirs:
        link = Connection(ours, 100)
        with pytest.raises(TimeoutError):
            link.ask(b"?\n", 0.05)
        link.close()


def test_who_reads_nothing_is_given_up_in_time_even_with_a_line_half_sent() -> None:
    ours, theirs = pair()
    with theirs:
        link = Connection(ours, 100)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            link.ask(b"x" * 20_000_000, 0.05)
        assert time.monotonic() - begun < 10
        link.close()


def test_a_reply_that_comes_byte_by_byte_has_no_more_time_than_a_whole_one() -> None:
    ours, theirs = pair()
    over = threading.Event()

    def trickle() -> None:
        while not over.wait(0.02):
            theirs.sendall(b"x")

    with theirs:
        bot = threading.Thread(target=trickle)
        bot.start()
        link = Connection(ours, 1_000)
        with pytest.raises(TimeoutError):
            link.ask(b"?\n", 0.1)
        over.set()
        bot.join()
        link.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "holds no bot: there is no commands.json in it"),
        ("{", "commands.json cannot be used: Input data was truncated"),
        ('{"run": ["x"]}', "commands.json cannot be used: Object missing required field `build`"),
        ('{"build": "make", "run": ["x"]}', "Expected `array`, got `str` - at `$.build`"),
        ('{"build": [], "run": []}', 'commands.json cannot be used: "run" names no command'),
    ],
)
def test_a_folder_that_holds_no_bot_is_named_with_the_reason(
    text: str | None, why: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "commands.json").write_text(text)
    with pytest.raises(NoBotFolder) as refused:
        read_program(tmp_path, "x")
    assert why in str(refused.value)


def test_players_are_named_after_their_folders(tmp_path: Path) -> None:
    for name in ("old/my bot", "new/my bot", "ursa"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "commands.json").write_text('{"build": [], "run": ["x"]}')
    both = named_programs(tmp_path / "old/my bot", tmp_path / "new/my bot")
    assert ["my-bot", "my-bot-2"] == [one.name for one in both]
    assert "ursa" == named_programs(tmp_path / "ursa", tmp_path / "old/my bot")[0].name
    with pytest.raises(NoBotFolder, match="is no folder: a bot is a folder"):
        named_programs(tmp_path / "ursa", tmp_path / "nobody")

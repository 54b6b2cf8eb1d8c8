"""What every ledger promises, in memory or on disk, sealed at once or not at all."""

import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from dealer.play import play
from engine.games import GAMES
from events.ledger import Append, Appended, Conflict, Ledger, Record, Recorded
from events.match import MatchEnded, MatchStarted, NonceGiven
from events.types import Event, Folded, HandEnded, HandStarted, HandVoided, StepEntered
from store.folder.disk import RealDisk
from store.ledger import VOID, FileLedger
from tests.store.memory import MemoryLedger

Events = tuple[Record, ...]
NEVER = 10**9
LEDGERS: dict[str, Callable[[Path], MemoryLedger | FileLedger]] = {
    "in memory": lambda folder: MemoryLedger(),
    "on disk": lambda folder: FileLedger(RealDisk(folder), seal_hands=NEVER),
    "sealed at once": lambda folder: FileLedger(RealDisk(folder), seal_hands=1),
}
DISKS = {"never sealed": NEVER, "sealed at once": 1}


@pytest.fixture(params=LEDGERS.values(), ids=list(LEDGERS))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryLedger | FileLedger]:
    """A new ledger of each sort."""
    opened = request.param(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=DISKS.values(), ids=list(DISKS))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], FileLedger]:
    """The same folder's ledger, opened again and again."""
    known: list[FileLedger] = []

    def again() -> FileLedger:
        for one in known:
            one.close()
        known[:] = [FileLedger(RealDisk(tmp_path), seal_hands=request.param, clock=lambda: 99)]
        return known[0]

    return again


def whole(name: str, middle: int = 2) -> Events:
    """A hand of a few events; a ledger asks no rules."""
    return (*begun(name, middle), HandEnded())


def begun(name: str, middle: int = 2) -> Events:
    """A hand that is not over."""
    start = HandStarted(name, "game", "f", 0, ("a", "b"), (10, 10))
    return (start, *(StepEntered(step, "deal") for step in range(middle)))


def started(match: str) -> Events:
    """The record that a match begins with."""
    return (MatchStarted(match, "game", "f", ("a", "b"), "seeded", "open", True),)


def held(ledger: Ledger, pos: int = 0) -> list[Recorded]:
    """Everything from a position on."""
    return list(ledger.read_from(pos))


def events_of(recorded: tuple[Recorded, ...]) -> Events:
    """What was recorded, without its envelope."""
    return tuple(one.event for one in recorded)


def test_an_append_is_answered_with_its_place(ledger: Ledger) -> None:
    assert (Appended("m/1", 0, 4, 0),) == ledger.append(Append("m/1", 0, whole("m/1"), 7))
    assert (Appended("m/2", 4, 3, None),) == ledger.append(Append("m/2", 0, begun("m/2"), 7))
    assert (Appended("m/2", 7, 4, 1),) == ledger.append(Append("m/2", 3, (HandEnded(),), 8))


def test_what_is_read_is_what_was_appended(ledger: Ledger) -> None:
    for number, events in enumerate(play(GAMES["auction-2024-mit"], "m", 5, "seed"), start=1):
        ledger.append(Append(f"m/{number}", 0, events, 1000 + number))
        found = ledger.read(f"m/{number}")
        assert events == events_of(found)
        assert list(range(len(events))) == [one.index for one in found]
        assert {(f"m/{number}", 1000 + number)} == {(one.stream, one.at) for one in found}


@pytest.mark.parametrize("game", GAMES)
def test_some_games_comes_back_as_it_went_in(game: str, tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=2)
    hands = list(play(GAMES[game], "m", 4, "seed"))
    for number, events in enumerate(hands, start=1):
        ledger.append(Append(f"m/{number}", 0, events, number))
    assert hands == [events_of(ledger.read(f"m/{number}")) for number in range(1, 5)]
    assert [event for hand in hands for event in hand] == [one.event for one in held(ledger)]


def test_positions_are_dense_and_in_order_of_appending(ledger: Ledger) -> None:
    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    ledger.append(Append("m/2", 0, whole("m/2"), 2))
    ledger.append(Append("m/1", 3, (HandEnded(),), 3))
    found = held(ledger)
    assert list(range(8)) == [one.pos for one in found]
    assert ["m/1"] * 3 + ["m/2"] * 4 + ["m/1"] == [one.stream for one in found]
    assert found[5:] == held(ledger, 5)
    assert [] == held(ledger, 8)
    assert [] == held(ledger, 100)


def test_an_unknown_stream_is_empty(ledger: Ledger) -> None:
    assert () == ledger.read("m/1")
    assert () == ledger.read("m")
    assert [] == held(ledger)
    assert () == ledger.append()


def test_a_call_is_taken_as_a_whole_or_not_at_all(ledger: Ledger) -> None:
    with pytest.raises(Conflict, match=r"^m/2 has 0 events, not 1: it does not exist$"):
        ledger.append(Append("m/1", 0, whole("m/1"), 1), Append("m/2", 1, (HandEnded(),), 1))
    assert [] == held(ledger)
    both = (Append("m/1", 0, begun("m/1"), 1), Append("m/1", 3, (HandEnded(),), 2))
    assert (Appended("m/1", 0, 3, None), Appended("m/1", 3, 4, 0)) == ledger.append(*both)
    assert whole("m/1") == events_of(ledger.read("m/1"))


def test_a_writer_who_is_late_hears_where_the_stream_is(ledger: Ledger) -> None:
    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    with pytest.raises(Conflict, match=r"^m/1 has 3 events, not 2: read it again$"):
        ledger.append(Append("m/1", 2, (HandEnded(),), 1))
    with pytest.raises(Conflict, match=r"^m/1 has 3 events, not 0: read it again$"):
        ledger.append(Append("m/1", 0, whole("m/1"), 1))
    with pytest.raises(Conflict, match=r"^m/1 has 3 events, not 9: read it again$"):
        ledger.append(Append("m/1", 9, (HandEnded(),), 1))
    assert begun("m/1") == events_of(ledger.read("m/1"))


@pytest.mark.parametrize("last", [HandEnded(), HandVoided("rain")], ids=["ended", "voided"])
def test_a_hand_that_is_over_stays_over(ledger: Ledger, last: Event) -> None:
    ledger.append(Append("m/1", 0, (*begun("m/1"), last), 1))
    with pytest.raises(Conflict, match=r"^m/1 is closed: nothing can be added to it$"):
        ledger.append(Append("m/1", 4, (StepEntered(9, "more"),), 1))
    with pytest.raises(Conflict, match=r"^m/1 has 4 events, not 0: read it again$"):
        ledger.append(Append("m/1", 0, whole("m/1"), 1))


def test_a_hand_that_is_over_stays_over_within_one_call(ledger: Ledger) -> None:
    after = Append("m/1", 4, (Folded(0, None),), 1)
    with pytest.raises(Conflict, match=r"^m/1 is closed: nothing can be added to it$"):
        ledger.append(Append("m/1", 0, whole("m/1"), 1), after)
    assert [] == held(ledger)


def test_an_append_holds_something(ledger: Ledger) -> None:
    with pytest.raises(Conflict, match=r"^an append to m/1 holds no events$"):
        ledger.append(Append("m/1", 0, (), 1))


def test_a_hand_begins_with_its_own_start(ledger: Ledger) -> None:
    begins = r"^m/1 begins with one HandStarted, and has no other$"
    with pytest.raises(Conflict, match=begins):
        ledger.append(Append("m/1", 0, (HandEnded(),), 1))
    with pytest.raises(Conflict, match=begins):
        ledger.append(Append("m/1", 0, begun("m/1") * 2, 1))
    with pytest.raises(Conflict, match=r"^m/1 is not the hand that its start names: m/2$"):
        ledger.append(Append("m/1", 0, whole("m/2"), 1))


def test_hands_are_counted_in_the_order_they_close(ledger: Ledger) -> None:
    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    ledger.append(Append("m/2", 0, begun("m/2"), 1))
    answers = ledger.append(
        Append("m/2", 3, (HandEnded(),), 1),
        Append("m/3", 0, whole("m/3"), 1),
        Append("m/1", 3, (HandVoided("rain"),), 1),
    )
    assert [0, 1, 2] == [one.hand_seq for one in answers]


def test_a_match_stream_closes_with_every_append_and_is_never_over(ledger: Ledger) -> None:
    first = ledger.append(Append("m", 0, started("m"), 1))
    hand = ledger.append(Append("m/1", 0, whole("m/1"), 1))
    nonces = (NonceGiven("a", "x"), NonceGiven("b", "y"))
    second = ledger.append(Append("m", 1, nonces, 2))
    third = ledger.append(Append("m", 3, (MatchEnded((1, -1), "done"),), 3))
    assert [0, 1, 2, 3] == [one.hand_seq for (one,) in (first, hand, second, third)]
    found = ledger.read("m")
    assert (*started("m"), *nonces, MatchEnded((1, -1), "done")) == events_of(found)
    assert [0, 1, 2, 3] == [one.index for one in found]
    assert [0, 5, 6, 7] == [one.pos for one in found]
    with pytest.raises(Conflict, match=r"^m has 4 events, not 1: read it again$"):
        ledger.append(Append("m", 1, nonces, 2))


def test_a_repeated_append_is_answered_again_and_adds_nothing(ledger: Ledger) -> None:
    append = Append("m/1", 0, whole("m/1"), 1, "importer", 5)
    first = ledger.append(append)
    assert first == ledger.append(append)
    assert 4 == len(held(ledger))
    with pytest.raises(Conflict, match=r"^importer is at 5: 4 was answered before$"):
        ledger.append(Append("m/2", 0, whole("m/2"), 1, "importer", 4))
    with pytest.raises(Conflict, match=r"^importer used 5 for other events before$"):
        ledger.append(Append("m/2", 0, whole("m/2"), 1, "importer", 5))
    ledger.append(Append("m/2", 0, whole("m/2"), 1, "somebody else", 5))
    ledger.append(Append("m/3", 0, whole("m/3"), 1, "importer", 6))
    assert 12 == len(held(ledger))


def test_a_repeated_call_is_answered_as_a_whole(ledger: Ledger) -> None:
    call = [Append(f"m/{one}", 0, whole(f"m/{one}"), 1, "importer", 1) for one in range(5)]
    assert ledger.append(*call) == ledger.append(*call)
    assert 20 == len(held(ledger))
    mixed = (Append("m/8", 0, whole("m/8"), 1, "a", 1), Append("m/9", 0, whole("m/9"), 1, "b", 1))
    one_each = r"^the appends of one call have one producer and one sequence number$"
    with pytest.raises(Conflict, match=one_each):
        ledger.append(*mixed)


def test_a_refused_append_is_not_remembered_as_answered(ledger: Ledger) -> None:
    with pytest.raises(Conflict):
        ledger.append(Append("m/1", 3, (HandEnded(),), 1, "importer", 1))
    answer = ledger.append(Append("m/1", 0, whole("m/1"), 1, "importer", 1))
    assert (Appended("m/1", 0, 4, 0),) == answer


def test_time_may_go_backwards_positions_do_not(ledger: Ledger) -> None:
    ledger.append(Append("m/1", 0, whole("m/1", 0), 2_000))
    ledger.append(Append("m/2", 0, whole("m/2", 0), 1_000))
    assert [(0, 2_000), (1, 2_000), (2, 1_000), (3, 1_000)] == [
        (one.pos, one.at) for one in held(ledger)
    ]


def test_a_reader_of_the_past_does_not_stand_in_a_writers_way(ledger: Ledger) -> None:
    ledger.append(Append("m/1", 0, whole("m/1"), 1))
    slow = ledger.read_from(0)
    next(slow)
    done = threading.Thread(target=ledger.append, args=(Append("m/2", 0, whole("m/2"), 1),))
    done.start()
    done.join(5)
    assert not done.is_alive()
    assert [1, 2, 3] == [one.pos for one in slow]


def test_who_follows_misses_nothing_and_hears_nothing_twice(ledger: Ledger) -> None:
    heard: list[Recorded] = []

    def listen() -> None:
        heard.extend(islice(ledger.follow(2), 122 - 2))

    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    for number in range(2, 31):
        ledger.append(Append(f"m/{number}", 0, whole(f"m/{number}"), 1))
        if isinstance(ledger, FileLedger) and number % 7 == 0:
            ledger.seal()
    ledger.append(Append("m/1", 3, (StepEntered(2, "deal"), StepEntered(3, "deal")), 1))
    ledger.append(Append("m/1", 5, (HandEnded(),), 1))
    listener.join(10)
    assert not listener.is_alive()
    assert held(ledger, 2)[:120] == heard
    assert list(range(2, 122)) == [one.pos for one in heard]


def test_following_ends_when_the_ledger_is_closed(ledger: MemoryLedger | FileLedger) -> None:
    heard: list[Recorded] = []
    ledger.append(Append("m/1", 0, whole("m/1"), 1))
    listener = threading.Thread(target=lambda: heard.extend(ledger.follow(0)), daemon=True)
    listener.start()
    ledger.append(Append("m/2", 0, whole("m/2"), 1))
    ledger.close()
    listener.join(5)
    assert not listener.is_alive()
    assert list(range(len(heard))) == [one.pos for one in heard]


def test_writers_who_come_together_are_all_served(ledger: Ledger) -> None:
    answers: list[Appended] = []

    def write(writer: int) -> None:
        for number in range(10):
            name = f"w{writer}/{number}"
            answers.extend(ledger.append(Append(name, 0, begun(name), 1)))
            answers.extend(ledger.append(Append(name, 3, (HandEnded(),), 1)))

    writers = [threading.Thread(target=write, args=(one,)) for one in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert list(range(160)) == [one.pos for one in held(ledger)]
    closed = [one.hand_seq for one in sorted(answers, key=lambda one: one.pos)]
    assert list(range(40)) == [one for one in closed if one is not None]


def test_one_of_two_writers_who_race_wins(ledger: Ledger) -> None:
    refused: list[str] = []

    def write(number: int) -> None:
        try:
            ledger.append(Append("m/1", 0, whole("m/1", number), 1))
        except Conflict as reason:
            refused.append(str(reason))

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    size = len(held(ledger))
    assert 7 * [f"m/1 has {size} events, not 0: read it again"] == refused


def test_all_is_there_again_when_it_is_opened_again(reopen: Callable[[], FileLedger]) -> None:
    ledger = reopen()
    ledger.append(Append("m", 0, started("m"), 1))
    ledger.append(Append("m/1", 0, whole("m/1"), 1))
    ledger.append(Append("m/2", 0, whole("m/2"), 2, "importer", 8))
    before = held(ledger)
    again = reopen()
    assert before == held(again)
    assert [] == again.notes
    assert whole("m/2") == events_of(again.read("m/2"))
    assert (Appended("m/2", 5, 4, 2),) == again.append(
        Append("m/2", 0, whole("m/2"), 2, "importer", 8)
    )
    with pytest.raises(Conflict, match=r"^m/1 is closed: nothing can be added to it$"):
        again.append(Append("m/1", 4, (StepEntered(9, "more"),), 1))
    assert (Appended("m", 9, 2, 3),) == again.append(Append("m", 1, (NonceGiven("a", "x"),), 3))


def test_a_hand_left_open_is_voided_when_it_is_opened_again(
    reopen: Callable[[], FileLedger],
) -> None:
    ledger = reopen()
    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    ledger.append(Append("m/2", 0, whole("m/2"), 1))
    again = reopen()
    assert (*begun("m/1"), HandVoided(VOID)) == events_of(again.read("m/1"))
    assert ["m/1 was open: voided after 3 events"] == again.notes
    assert list(range(8)) == [one.pos for one in held(again)]
    assert [] == reopen().notes


def test_an_open_hand_is_carried_over_every_seal(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=NEVER)
    ledger.append(Append("m/1", 0, begun("m/1"), 1, "dealer", 1))
    for number in (2, 3):
        ledger.append(Append(f"m/{number}", 0, whole(f"m/{number}"), 1))
        ledger.seal()
        assert begun("m/1") == events_of(ledger.read("m/1"))
    (answer,) = ledger.append(Append("m/1", 3, (HandEnded(),), 1))
    assert Appended("m/1", 11, 4, 2) == answer
    ledger.seal()
    assert whole("m/1") == events_of(ledger.read("m/1"))
    assert [0, 1, 2, 11] == [one.pos for one in ledger.read("m/1")]
    assert list(range(12)) == [one.pos for one in held(ledger)]
    assert held(ledger)[5:] == held(ledger, 5)


def test_a_retry_is_known_after_a_seal(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=NEVER)
    open_hand = Append("m/1", 0, begun("m/1"), 1, "dealer", 1)
    imported = Append("m/2", 0, whole("m/2"), 1, "importer", 1)
    before = [ledger.append(open_hand), ledger.append(imported)]
    ledger.seal()
    assert before == [ledger.append(open_hand), ledger.append(imported)]
    ledger.close()
    again = FileLedger(RealDisk(tmp_path), seal_hands=NEVER)
    assert before == [again.append(open_hand), again.append(imported)]
    assert 8 == len(held(again))

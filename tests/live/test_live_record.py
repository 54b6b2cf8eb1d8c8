"""What a live hand leaves in the ledger: each answer before the next question, once, in order."""

import threading
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from dealer.deck import CommittedDecks, Committer, SeededDecks, check_deal
from dealer.live.bots import ThinkingBot
from dealer.live.clock import Joins, Question
from dealer.live.table import LiveTable, with_site_clock
from dealer.play import hand_records, plan
from engine.game import Game, fingerprint
from engine.games import GAMES, named
from engine.verdict import judge
from events import types as t
from events.evolve import replay
from events.ledger import Append, Appended, Conflict, DeckChain, Record
from events.match import Match, MatchStarted
from events.types import Events
from store.ledger import open_ledger
from store.reader import Reader
from tests.live.stepped import Noted, Scene, SteppedClock, never
from tests.store.memory import MemoryLedger

CLOCKED = [with_site_clock(game) for game in GAMES.values()]
some_games = pytest.mark.parametrize("game", CLOCKED, ids=lambda game: game.name)


def _bots(game: Game, kinds: tuple[str, ...], clock: SteppedClock, table: LiveTable) -> None:
    for chair, kind in enumerate(kinds):
        name = f"{kind}-{chair}"
        table.meet(name, ThinkingBot(kind, name, "7", 900, clock.send))
        clock.send(Joins(name, chair, game.stack))


@some_games
def test_bots_who_answer_in_time_play_the_match_that_play_deals(game: Game) -> None:
    """The clock changes nothing but the time: the records are the same to the last event."""
    kinds = ("random", "aggressive", "caller")[: min(3, game.seats_max)]
    clock = SteppedClock()
    table = LiveTable(game, "m", len(kinds), Noted(), SeededDecks("7"), clock)
    _bots(game, kinds, clock, table)
    for record in hand_records(plan(game, "m", 12, "7", kinds), SeededDecks("7")):
        assert record == tuple(chain.from_iterable(table.hand()))
        if 0 in replay(record).stacks and game.stacks == "carried":
            break  # from here on tables differ: who has lost all may buy in again


@some_games
def test_a_live_record_is_what_its_rules_pay(game: Game) -> None:
    """Judged like any other: `agree`, or a reading of the document differs (then `contested`)."""
    scene = Scene(game, (game.stack,) * min(4, game.seats_max), bot="random")
    slow = scene.sitters["bob"]
    verdicts = []
    for number in range(8):
        scene.plans["bob"] = never if number % 3 == 1 else scene.answers("bob")
        if scene.table.ready():
            report = judge(game, scene.hand(), GAMES.get(game.partner or ""))
            verdicts.append(report.verdict)
    assert slow.questions
    assert {"agree"} <= set(verdicts) <= {"agree", "contested"}


def test_every_append_expects_what_was_written_before_and_times_never_go_back() -> None:
    scene = Scene(named("site-nl"), (1000, 1000, 1000))
    record = scene.hand()
    written = 0
    for one in scene.ledger.appends:
        assert ("m/1", written) == (one.stream, one.expected)
        written += len(one.events)
    assert len(record) == written
    times = [one.at for one in scene.ledger.appends]
    assert times == sorted(times)
    assert 1_000 * len(_questions(scene)) == times[-1] - times[0]


def test_nobody_is_asked_before_what_he_is_asked_about_is_durable() -> None:
    """The record that a question shows is the record that the ledger has."""
    scene = Scene(named("site-nl"), (1000, 1000, 1000), bot="random")
    seen: list[bool] = []
    for name in scene.sitters:
        usual = scene.answers(name)

        scene.plans[name] = _looking(scene, usual, seen)
    scene.hand()
    assert seen
    assert all(seen)


def test_whoever_else_writes_into_the_hand_stops_the_table() -> None:
    """ "scrim/7 has 22 events, not 21: read it again": two tables cannot play one hand."""
    scene = Scene(named("site-nl"), (1000, 1000))
    playing = scene.table.hand()
    next(playing)
    stored = len(scene.recorded(1))
    scene.ledger.append(Append("m/1", stored, (t.Disconnected(1),), 5))
    with pytest.raises(Conflict, match=rf"m/1 has {stored + 1} events, not {stored}"):
        next(playing)


def test_what_is_not_durable_has_not_happened() -> None:
    """A ledger that fails ends the hand, and nobody has been told of the answer."""

    class Failing(Noted):
        def append(self, *appends: Append) -> tuple[Appended, ...]:
            if len(self.appends) == 4:
                raise OSError("the disk is full")
            return super().append(*appends)

    scene = Scene(named("site-nl"), (1000, 1000))
    scene.table._loop._ledger = failing = Failing()
    with pytest.raises(OSError, match="the disk is full"):
        scene.hand()
    history = [len(question.seen.history) for question in _questions(scene)]
    assert max(history) <= len(failing.read("m/1"))


def test_a_watcher_of_the_ledger_sees_every_event_once_and_in_order() -> None:
    scene = Scene(named("site-nl"), (1000, 1000, 1000))
    told: list[tuple[str, int, Record]] = []

    def watch() -> None:
        told.extend((one.stream, one.index, one.event) for one in scene.ledger.follow(0))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    played = {f"m/{number}": scene.hand() for number in (1, 2, 3)}
    scene.ledger.close()
    watcher.join(10)
    expected = [(s, i, e) for s, record in played.items() for i, e in enumerate(record)]
    assert expected == told


def test_a_reader_of_the_folder_sees_a_hand_grow_and_recovery_voids_what_was_left(
    tmp_path: Path,
) -> None:
    """Another process may look at a hand that is not over; a crash in it gives everything back."""
    folder = tmp_path / "ledger"
    ledger, lock = open_ledger(folder, "a test")
    clock = SteppedClock()
    table = LiveTable(named("site-nl"), "m", 3, ledger, SeededDecks("7"), clock)
    _bots(named("site-nl"), ("caller",) * 3, clock, table)
    playing, reader = table.hand(), Reader(folder)
    written: list[t.Event] = []
    for _ in range(5):
        written += next(playing)
        assert written == [one.event for one in reader.read("m/1")]
    ledger.close()
    lock.release()
    again, lock = open_ledger(folder, "another")
    last = again.read("m/1")[-1].event
    again.close()
    lock.release()
    assert isinstance(last, t.HandVoided)


def test_live_hands_are_dealt_from_committed_decks() -> None:
    """ "verifiable": bound before anybody adds to it, and opened afterwards."""
    game, records, kept = named("site-nl"), list[Match](), Kept()
    records.append(
        MatchStarted("m", game.name, fingerprint(game), ("ann", "bob"), "committed", "open", True)
    )
    committer = Committer("m", kept, records.extend, lambda said: [("ann", "a"), ("bob", None)])
    decks = CommittedDecks("m", committer.chain, 10)
    scene = Scene(game, (1000, 1000), decks=decks)
    hands = [scene.hand() for _ in range(3)]
    records += decks.opened(3, over=True)
    assert ["agree"] * 3 == [check_deal(game, records, hand).verdict for hand in hands]


def test_a_live_table_needs_no_file() -> None:
    """Only what `events/ledger.py` promises is asked of a ledger."""
    clock = SteppedClock()
    ledger = MemoryLedger()
    table = LiveTable(named("site-nl"), "m", 2, ledger, SeededDecks("7"), clock)
    _bots(named("site-nl"), ("caller",) * 2, clock, table)
    record: Events = tuple(chain.from_iterable(table.hand()))
    assert record == tuple(one.event for one in ledger.read("m/1"))


class Kept:
    """Deck secrets in memory."""

    def __init__(self) -> None:
        self._chains: list[DeckChain] = []

    def keep(self, match: str, chain: DeckChain) -> None:
        self._chains.append(chain)

    def chains(self, match: str) -> tuple[DeckChain, ...]:
        return tuple(self._chains)


def _looking(
    scene: Scene, usual: Callable[[Question], None], seen: list[bool]
) -> Callable[[Question], None]:
    def plan(question: Question) -> None:
        seen.append(len(scene.recorded(1)) == len(question.seen.history))
        usual(question)

    return plan


def _questions(scene: Scene) -> list[Question]:
    return [question for sitter in scene.sitters.values() for question in sitter.questions]

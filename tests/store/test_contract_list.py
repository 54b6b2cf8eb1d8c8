"""A ledger beside a plain list of events: whatever is done to both, they hold the same."""

from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from events.ledger import Append, Appended, Conflict, Record
from events.match import NonceGiven
from events.types import HandEnded, HandVoided
from store.ledger import VOID, FileLedger
from tests.profiles import sized
from tests.store.test_contract import LEDGERS, Events, begun, events_of, held


class Machine(RuleBasedStateMachine):
    """A ledger and a plain list do the same, and hold the same."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[str, Record]] = []
        self.streams: dict[str, list[Record]] = {}
        self.closed: list[str] = []
        self.told: dict[str, tuple[Append, tuple[Appended, ...]]] = {}

    @initialize(kind=strategies.sampled_from(sorted(LEDGERS)))
    def open(self, kind: str) -> None:
        self.folder = Path(mkdtemp(dir=FOLDERS[0]))
        self.kind = kind
        self.ledger = LEDGERS[kind](self.folder)

    @rule(
        number=strategies.integers(1, 4),
        middle=strategies.integers(0, 2),
        ends=strategies.booleans(),
        late=strategies.sampled_from([0, 0, 0, 1]),
        producer=strategies.sampled_from(["", "p", "q"]),
    )
    def append(self, number: int, middle: int, ends: bool, late: int, producer: str) -> None:
        name = f"m/{number}"
        known = self.streams.get(name, [])
        new = begun(name, middle) if not known else begun(name, middle + 1)[1:]
        events = (*new, HandEnded()) if ends else new
        sequence = self.told[producer][0].sequence + 1 if producer in self.told else 1
        append = Append(name, len(known) + late, events, 5, producer, sequence)
        if late or name in self.closed:
            with pytest.raises(Conflict):
                self.ledger.append(append)
            return
        answer = self.ledger.append(append)
        self.count(name, events)
        seq = len(self.closed) - 1 if ends else None
        size = len(self.streams[name])
        assert (Appended(name, len(self.all) - len(events), size, seq),) == answer
        if producer:
            self.told[producer] = (append, answer)

    @rule(size=strategies.integers(1, 3))
    def note(self, size: int) -> None:
        records = tuple(NonceGiven("a", str(one)) for one in range(size))
        (answer,) = self.ledger.append(Append("m", len(self.streams.get("m", [])), records, 5))
        self.count("m", records)
        assert len(self.closed) - 1 == answer.hand_seq

    @precondition(lambda self: self.told)
    @rule(data=strategies.data())
    def retry(self, data: strategies.DataObject) -> None:
        append, answer = self.told[data.draw(strategies.sampled_from(sorted(self.told)))]
        assert answer == self.ledger.append(append)

    @precondition(lambda self: self.kind != "in memory")
    @rule()
    def seal(self) -> None:
        assert isinstance(self.ledger, FileLedger)
        self.ledger.seal()

    @precondition(lambda self: self.kind != "in memory")
    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = LEDGERS[self.kind](self.folder)
        for name in [one for one in self.streams if one != "m" and one not in self.closed]:
            self.count(name, (HandVoided(VOID),))

    @rule(pos=strategies.integers(0, 40))
    def read_from(self, pos: int) -> None:
        expected = list(enumerate(self.all))[pos:]
        assert expected == [(one.pos, (one.stream, one.event)) for one in held(self.ledger, pos)]

    @invariant()
    def streams_are_the_same(self) -> None:
        for name in ("m", "m/1", "m/2", "m/3", "m/4"):
            assert tuple(self.streams.get(name, [])) == events_of(self.ledger.read(name))

    def count(self, name: str, events: Events) -> None:
        self.all += [(name, event) for event in events]
        self.streams.setdefault(name, []).extend(events)
        if name == "m" or isinstance(events[-1], HandEnded | HandVoided):
            self.closed.append(name)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()


FOLDERS: list[Path] = []


def test_a_ledger_does_what_a_list_would(tmp_path: Path) -> None:
    FOLDERS[:] = [tmp_path]
    case = Machine.TestCase
    case.settings = settings(max_examples=sized(8, 25), stateful_step_count=20)
    case().runTest()

"""What is hidden of every event, and from whom: our code beside an oracle made by hand."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import fields, replace

from api.evidence import verify
from docs.generate import EVENT_LINES, RECORD_LINES
from events import types as t
from events.ledger import Recorded
from events.lines import lines, nonces_of, openings
from events.match import Match, MatchStarted
from events.notation import read, read_record
from events.types import FaultPlace
from events.views import Auditor, Hidden, Public, Seated, see_one
from tests.hidden_fields import EVERYBODY, UNTIL, WHO_SEES, hidden, is_there, sees, values

KINDS = (*get_args(t.Event), *get_args(Match))
KEY = nonces_of(bytes(32), "m")
VIEWERS = (None, 0, 1, 2)
SWAP, BID = t.CardSwapped(1, 0, "As", "Kd"), t.BidPlaced(1, 7, True, "default")
MATCH = MatchStarted("m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, "4711")
EVENTS: tuple[t.Event | Match, ...] = (
    *map(read, EVENT_LINES),
    *map(read_record, RECORD_LINES),
    *(SWAP, replace(SWAP, new="As"), replace(SWAP, told=True), replace(SWAP, new="As", told=True)),
    *(BID, replace(BID, sealed=False), replace(BID, sealed=False, origin="chosen")),
    *(t.Faulted(1, "A999", "illegal", where) for where in get_args(FaultPlace)),
    *(MATCH, replace(MATCH, seed=None), replace(MATCH, disclosure="open", deals=2)),
)


def test_the_oracle_has_every_field_of_every_event() -> None:
    """A field that is new is nobody's until somebody says whose, here and in docs/events.md."""
    told = {kind.__name__: {one.name for one in fields(kind)} for kind in KINDS}
    told["CardSwapped"] = told["CardSwapped"] - {"told"} | {"changed"}
    assert told == {name: set(known) for name, known in WHO_SEES.items()}
    assert {type(event) for event in EVENTS} == set(KINDS)


def test_the_oracle_is_what_the_document_says() -> None:
    page = Path("docs/events.md").read_text("utf-8")
    section = page.partition("## Who sees what")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+) \|$", section, re.MULTILINE)
    assert rows == [
        (name, field, rule)
        for name, known in WHO_SEES.items()
        for field, rule in known.items()
        if rule != EVERYBODY
    ]
    means = {
        "never": (False, False),
        "at once": (True, True),
        "when the match is over": (False, True),
    }
    told = re.findall(r"^\| `([a-z-]+)` \| ([a-z ]+) \| ([a-z ]+) \|$", section, re.MULTILINE)
    assert UNTIL == {how: (means[hands], means[own]) for how, hands, own in told}


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_a_viewpoint_sees_what_the_oracle_says(event: t.Event | Match) -> None:
    known = values(event)
    for viewer in VIEWERS:
        seen = see_one(event, Public() if viewer is None else Seated(viewer))
        assert is_there(event, viewer) == (seen is not None)
        if seen is not None:
            told = {name: getattr(seen, name) for name in WHO_SEES[type(event).__name__]}
            assert hidden(event, viewer) == [name for name in told if _is_hidden(told[name])]
            assert {name: known[name] for name in told if sees(event, name, viewer)} == {
                name: told[name] for name in told if not _is_hidden(told[name])
            }
            spelled = json.loads(msgspec.json.encode(seen))
            assert {"type": type(event).__name__, **told}.keys() - spelled.keys() <= _left_out(
                event
            )


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_nothing_is_hidden_from_an_auditor(event: t.Event | Match) -> None:
    seen = see_one(event, Auditor())
    assert {name: getattr(seen, name) for name in WHO_SEES[type(event).__name__]} == {
        name: value
        for name, value in values(event).items()
        if name in WHO_SEES[type(event).__name__]
    }


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_a_public_line_commits_to_what_the_public_does_not_see(event: t.Event | Match) -> None:
    """And has everything else as it is; a hand's bids and its end commit to replies, too."""
    recorded = [Recorded(0, "m/1", 0, 7, event)]
    found = lines(recorded, KEY)
    assert len(found) == is_there(event, None)
    for line in map(json.loads, found):
        committed = {name for name, value in line.items() if isinstance(value, dict)} - {"faults"}
        assert committed == set(hidden(event, None)) - {"changed"}
        assert ("changed" in line) == (type(event) is t.CardSwapped and event.told)
        clear = {name: value for name, value in line.items() if name not in committed}
        known = json.loads(msgspec.json.encode(values(event) | {"at": 7, "type": line["type"]}))
        assert clear == {name: known.get(name, clear[name]) for name in clear}
        assert known.keys() - line.keys() <= {"changed"} | _left_out(event)


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_what_a_viewpoint_sees_of_what_is_committed_to_it_can_open(
    event: t.Event | Match,
) -> None:
    recorded = [Recorded(0, "m/1", 0, 7, event)]
    own = set(hidden(event, None)) - {"changed"} if is_there(event, None) else set()
    assert own == _opened(recorded, Auditor())
    for viewer in VIEWERS[1:]:
        assert own - set(hidden(event, viewer)) == _opened(recorded, Seated(viewer))
    assert set() == _opened(recorded, Public())


def test_the_program_in_a_bundle_knows_the_same_commitments() -> None:
    """It shares no line with us, and was written from docs/record-format.md."""
    for name, known in WHO_SEES.items():
        told = {field for field, rule in known.items() if rule != EVERYBODY} - {"changed"}
        if name in verify.EVENTS:
            assert told == set(verify.HIDDEN_FIELDS.get(name, ())) - {"faults"}


def _opened(recorded: list[Recorded], who: Any) -> set[str]:
    return {one.field for one in openings(recorded, KEY, who)} - {"faults"}


def _left_out(event: t.Event | Match) -> set[str]:
    """Late fields that say nothing are not spelled."""
    late = event.__struct_config__.omit_defaults
    return {
        one.name for one in fields(type(event)) if late and one.default == getattr(event, one.name)
    }


def _is_hidden(value: Any) -> bool:
    return value == Hidden() or (isinstance(value, tuple) and value[:1] == (Hidden(),))

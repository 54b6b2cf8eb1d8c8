"""The public lines of a record: the same bytes for everybody, and nothing hidden in them."""

import hashlib
import hmac
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Game
from events import types as t
from events.cards import DECK
from events.ledger import Recorded
from events.lines import NONCES, SALTED, commitment, digest, leaf_bytes, lines, nonces_of, openings
from events.match import Match, MatchStarted, SourceNoted
from events.types import Events
from events.views import Auditor, Hidden, Public, Seated, Viewpoint, see, see_one
from tests.hands import some_games, sources, walk
from tests.profiles import examples
from tests.worlds import other_world, viewers

SECRET = bytes(range(32))
KEY = nonces_of(SECRET, "m")
AT = 1_790_000_000_000
RAW = t.Faulted(0, 'X"\n', "malformed", "bid")


@some_games
@examples(4)
@given(source=sources)
def test_a_line_is_canonical_json_by_its_specification(game: Game, source: bytes) -> None:
    for line in lines(_recorded(walk(game, source).record), KEY):
        assert rfc8785.dumps(json.loads(line)) == line


@some_games
@examples(4)
@given(source=sources)
def test_the_public_sees_as_many_events_as_there_are_lines(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    assert len(see(record, Public())) == len(lines(_recorded(record), KEY))


@some_games
@examples(4)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_differ_in_commitments_alone(game: Game, source: bytes, seed: int) -> None:
    record = walk(game, source).record
    world = other_world(record, Public(), random.Random(seed))
    here, there = (lines(_recorded(one), KEY) for one in (record, world))
    assert [_masked(line) for line in here] == [_masked(line) for line in there]


@some_games
@examples(4)
@given(source=sources)
def test_no_secret_stands_in_a_line(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    open_cards = {
        card
        for event in record
        if isinstance(event, t.BoardDealt | t.Tossed | t.Shown | t.Announced)
        for card in event.cards
    }
    text = b"\n".join(lines(_recorded(record), KEY)).decode()
    assert [] == [card for card in set(DECK) - open_cards if f'"{card}"' in text]


@pytest.mark.parametrize(
    "event",
    [
        t.HoleDealt(0, ("As", "Kd")),
        t.BountyDrawn(0, "T"),
        t.BidPlaced(0, 7, True),
        t.CardSwapped(0, 1, "As", "Kd"),
        t.CardSwapped(0, 1, "As", "Kd", told=True),
        t.Faulted(0, "R900", "illegal", "action"),
        MatchStarted("m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, "4711"),
        MatchStarted("m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, None),
        SourceNoted("phh", "hand 7", "seed 4711", ""),
        t.Called(0, 2, 1),
        t.Shown(0, ("As", "Kd")),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_line_says_what_the_public_sees(event: t.Event | Match) -> None:
    """What the views hide is committed to; what they show stands in the clear."""
    seen: Any = see_one(event, Public())
    (line,) = lines([Recorded(0, "m/1", 0, AT, event)], KEY)
    told = json.loads(line)
    shown = {field: getattr(seen, field) for field in seen.__struct_fields__}
    changed = shown.pop("changed", None)
    for field, value in shown.items():
        hidden = isinstance(value, Hidden) or (isinstance(value, tuple) and Hidden() in value)
        assert (field, hidden) == (field, isinstance(told[field], dict))
    assert told.get("changed") == (None if isinstance(changed, Hidden) else changed)


def test_a_bid_that_failed_leaves_no_trace_but_is_bound() -> None:
    """That a sealed bid failed would tell that it counts as 0."""
    bid = t.BidPlaced(0, 0, True, "default")
    clean = lines(_recorded((_start(), bid, t.HandEnded())), KEY)
    failed = lines(_recorded((_start(), RAW, bid, t.HandEnded())), KEY)
    assert [_masked(line) for line in clean] == [_masked(line) for line in failed]
    assert digest(clean) != digest(failed)


def test_a_failure_that_no_bid_follows_is_bound_by_the_end_of_the_hand() -> None:
    record = (_start(), RAW, t.HandVoided("the writer was gone"))
    assert 2 == len(lines(_recorded(record), KEY))
    last = openings(_recorded(record), KEY, Auditor())[-1]
    assert (1, "faults", [[0, AT, RAW.raw, "malformed"]]) == last[:3]


def test_a_failure_after_the_end_has_a_line_of_its_own() -> None:
    """Nothing that was recorded may be outside the digest."""
    record = (_start(), t.HandEnded(), RAW)
    assert 3 == len(lines(_recorded(record), KEY))


@some_games
@examples(4)
@given(source=sources, seed=st.integers(0, 2**16))
def test_every_event_is_bound_by_the_digest(game: Game, source: bytes, seed: int) -> None:
    record = walk(game, source).record
    whole = digest(lines(_recorded(record), KEY))
    at = random.Random(seed).randrange(1, len(record))
    without = record[:at] + record[at + 1 :]
    assert whole != digest(lines(_recorded(without), KEY))
    for who in viewers(record):
        world = other_world(record, who, random.Random(seed))
        assert (world == record) == (whole == digest(lines(_recorded(world), KEY)))


@some_games
@examples(4)
@given(source=sources)
def test_every_opening_opens_what_stands_in_its_line(game: Game, source: bytes) -> None:
    recorded = _recorded(walk(game, source).record)
    record = [json.loads(line) for line in lines(recorded, KEY)]
    opened = openings(recorded, KEY, Auditor())
    assert len(opened) == sum(len(_commitments(line)) for line in record)
    for line, field, value, nonce in opened:
        assert record[line][field]["commitment"] == commitment(nonce, value)


@some_games
@examples(4)
@given(source=sources)
def test_nobody_opens_more_than_he_may_see(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in viewers(record):
        shown = list(_shown(record, who))
        for line, field, value, _ in openings(_recorded(record), KEY, who):
            if field == "faults":
                assert who == Seated(shown[line].seat)
                continue
            assert value == getattr(shown[line], field)
    assert () == openings(_recorded(record), KEY, Public())


def test_what_was_disclosed_is_open_to_everybody() -> None:
    recorded = _recorded((_start(), t.HoleDealt(0, ("As", "Kd")), t.HandEnded()))
    whole = openings(recorded, KEY, Auditor())
    assert whole == openings(recorded, KEY, Public(), disclosed=True)


@pytest.mark.parametrize("salt", [b"", b"s" * 32])
def test_nonces_of_other_fields_events_hands_and_matches_are_others(salt: bytes) -> None:
    """Of equal values, too."""
    record = (_start(), t.BidPlaced(0, 7, True), t.BidPlaced(1, 7, True), t.HandEnded())
    mine, other = (nonces_of(SECRET, match, salt) for match in ("m", "n"))
    nonces = [one.nonce for one in openings(_recorded(record), mine, Auditor())]
    nonces += [one.nonce for one in openings(_recorded(record, "m/2"), mine, Auditor())]
    nonces += [one.nonce for one in openings(_recorded(record), other, Auditor())]
    assert len(nonces) == len(set(nonces))


def test_since_version_two_another_value_and_another_salt_have_another_nonce() -> None:
    """Of version one it was the same: what opened one value gave away the nonce of the other."""
    old, one, other = (nonces_of(SECRET, "m", salt) for salt in (b"", b"s" * 32, b"t" * 32))
    assert old.of("m/1", 7, "amount", 3) == old.of("m/1", 7, "amount", 4)
    found = {key.of("m/1", 7, "amount", bid) for key in (one, other) for bid in range(500)}
    assert 1_000 == len(found)


def test_a_nonce_is_hmac_as_the_standard_library_has_it() -> None:
    key = hmac.digest(SECRET, NONCES + b"m", "sha256")
    assert hmac.digest(key, b"m/1\n7\ncards", "sha256") == KEY.of("m/1", 7, "cards", ("As",))
    salt = b"s" * 32
    key = hmac.digest(SECRET, SALTED + salt + b"m", "sha256")
    expected = hmac.digest(key, b'm/1\n7\ncards\n["As"]', "sha256")
    assert expected == nonces_of(SECRET, "m", salt).of("m/1", 7, "cards", ("As",))


def test_no_text_of_an_event_is_taken_for_a_commitment() -> None:
    """A voided hand's reason is somebody's text, and it may look like anything."""
    for reason in ('"commitment":"faults"', '"at":-1', "%d %s %%", "\\", '{"commitment":"faults"}'):
        record = (_start(), t.HandVoided(reason))
        told = json.loads(lines(_recorded(record), KEY)[1])
        assert (reason, AT, 64) == (told["reason"], told["at"], len(told["faults"]["commitment"]))


def test_a_leaf_names_its_record() -> None:
    recorded = _recorded((_start(), t.HandEnded()))
    text = b"\n".join(lines(recorded, KEY))
    told: dict[str, Any] = {"first": 0, "hand_seq": 41, "lines": 2, "stream": "m/1", "v": 1}
    told["record_sha256"] = hashlib.sha256(text).hexdigest()
    assert told == json.loads(leaf_bytes(41, recorded, KEY))
    assert rfc8785.dumps(told) == leaf_bytes(41, recorded, KEY)


def _start() -> t.HandStarted:
    return t.HandStarted("m/1", "auction-2024", "0" * 16, 0, ("ursa", "lynx"), (400, 400), False)


def _recorded(record: Events, stream: str = "m/1") -> tuple[Recorded, ...]:
    return tuple(Recorded(at, stream, at, AT, event) for at, event in enumerate(record))


def _commitments(line: dict[str, Any]) -> list[str]:
    return [field for field, value in line.items() if isinstance(value, dict)]


def _masked(line: bytes) -> Any:
    told = json.loads(line)
    for field in _commitments(told):
        assert 64 == len(told[field].pop("commitment"))
    return told


def _shown(record: Events, who: Viewpoint) -> Iterator[Any]:
    """What a viewpoint sees of each event that has a line."""
    for event in record:
        if not (isinstance(event, t.Faulted) and event.where == "bid"):
            yield see_one(event, who)

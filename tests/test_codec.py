"""Canonical bytes: equal to RFC 8785, one spelling only, and errors that name the field."""

import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Game
from events import types as t
from events.codec import (
    Unreadable,
    decode,
    decode_hand,
    decode_record,
    encode,
    encode_hand,
)
from events.match import Match
from tests.hands import some_games, sources, walk
from tests.profiles import examples
from tests.test_notation import RECORDS, SPOKEN

FOLDED = t.Folded(1, 0)
BYTES = b'{"next":0,"origin":"chosen","seat":1,"type":"Folded"}'


def test_an_event_is_one_object_with_sorted_keys() -> None:
    assert BYTES == encode(FOLDED)
    assert FOLDED == decode(BYTES)


@some_games
@examples(3)
@given(source=sources)
def test_bytes_of_random_hands_are_canonical(game: Game, source: bytes) -> None:
    rfc8785 = pytest.importorskip("rfc8785")
    for event in walk(game, source).record:
        assert rfc8785.dumps(msgspec.to_builtins(event)) == encode(event)


@pytest.mark.parametrize("event", [*SPOKEN.values(), *RECORDS.values()], ids=str)
def test_bytes_of_every_kind_are_canonical(event: t.Event | Match) -> None:
    rfc8785 = pytest.importorskip("rfc8785")
    assert rfc8785.dumps(msgspec.to_builtins(event)) == encode(event)
    assert event == (decode_record if isinstance(event, get_args(Match)) else decode)(encode(event))


@given(name=st.text())
def test_any_text_has_one_canonical_form(name: str) -> None:
    """Names hold whatever people type: quotes, control characters, other alphabets."""
    rfc8785 = pytest.importorskip("rfc8785")
    event = t.HandStarted(name, "g", "r", 0, (name, "lynx"), (1, 2))
    assert rfc8785.dumps(msgspec.to_builtins(event)) == encode(event)
    assert event == decode(encode(event))


def test_a_lone_surrogate_is_no_text() -> None:
    """RFC 8785 3.2.2.2: invalid Unicode is an error, and half a pair has no UTF-8."""
    with pytest.raises(UnicodeEncodeError):
        encode(t.HandVoided("\ud800"))
    with pytest.raises(Unreadable):
        decode(rb'{"reason":"\ud800","type":"HandVoided"}')


@some_games
@examples(3)
@given(source=sources)
def test_a_hand_survives_its_lines(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    assert record == decode_hand(encode_hand(record))


REFUSED = {
    b"": "Input data was truncated",
    b"x": "JSON is malformed: invalid character (byte 0)",
    b"[]": "Expected `object`, got `array`",
    b"{}": "Object missing required field `type`",
    b'{"type":"Folding"}': "Invalid value 'Folding' - at `$.type`",
    b'{"type":"folded"}': "Invalid value 'folded' - at `$.type`",
    b'{"next":null,"origin":"chosen","type":"Folded"}': "Object missing required field `seat`",
    b'{"next":null,"origin":"chosen","seat":"1","type":"Folded"}': (
        "Expected `int`, got `str` - at `$.seat`"
    ),
    b'{"next":null,"origin":"chosen","seat":-1,"type":"Folded"}': (
        "Expected `int` >= 0 - at `$.seat`"
    ),
    b'{"next":null,"origin":"chosen","seat":23,"type":"Folded"}': (
        "Expected `int` <= 22 - at `$.seat`"
    ),
    b'{"next":null,"origin":"chosen","seat":1.5,"type":"Folded"}': (
        "Expected `int`, got `float` - at `$.seat`"
    ),
    b'{"next":null,"origin":"hoped","seat":1,"type":"Folded"}': (
        "Invalid enum value 'hoped' - at `$.origin`"
    ),
    b'{"next":null,"origin":"chosen","seat":1,"seen":true,"type":"Folded"}': (
        "Object contains unknown field `seen`"
    ),
    b'{"cards":["1h"],"type":"BoardDealt"}': "matching regex",
    b'{"cards":["Ahh"],"type":"BoardDealt"}': "at `$.cards[0]`",
    b'{"cards":["ah"],"type":"BoardDealt"}': "at `$.cards[0]`",
    b'{"amount":9007199254740992,"pot":0,"type":"RakeTaken"}': "at `$.amount`",
    b'{"pot":0,"seats":[1,2],"shares":[5],"type":"PotSplit"}': "2 seats are paid 1 shares",
    b'{"button":0,"dead_small":false,"game":"g","hand":"h","players":["ursa"],"ruleset":"r",'
    b'"stacks":[],"type":"HandStarted"}': "1 players bring 0 stacks",
}


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: REFUSED[line])
def test_a_refusal_names_the_field(line: bytes) -> None:
    with pytest.raises(Unreadable) as refusal:
        decode(line)
    assert REFUSED[line] in str(refusal.value)


OTHER_SPELLINGS = {
    "a space": b'{"next":0, "origin":"chosen","seat":1,"type":"Folded"}',
    "a newline": BYTES + b"\n",
    "another order": b'{"type":"Folded","next":0,"origin":"chosen","seat":1}',
    "a key twice": b'{"next":0,"next":0,"origin":"chosen","seat":1,"type":"Folded"}',
    "a key twice, first another": b'{"next":2,"next":0,"origin":"chosen","seat":1,"type":"Folded"}',
    "a default left out": b'{"next":0,"seat":1,"type":"Folded"}',
    "an escaped letter": rb'{"next":0,"origin":"\u0063hosen","seat":1,"type":"Folded"}',
    "an escaped key": rb'{"next":0,"origin":"chosen","\u0073eat":1,"type":"Folded"}',
    "a fraction": b'{"next":0,"origin":"chosen","seat":1.0,"type":"Folded"}',
    "an exponent": b'{"next":0,"origin":"chosen","seat":1e0,"type":"Folded"}',
    "minus nothing": b'{"next":-0,"origin":"chosen","seat":1,"type":"Folded"}',
    "a byte order mark": b"\xef\xbb\xbf" + BYTES,
}


@pytest.mark.parametrize("spelling", OTHER_SPELLINGS)
def test_the_same_event_spelled_otherwise_is_refused(spelling: str) -> None:
    with pytest.raises(Unreadable):
        decode(OTHER_SPELLINGS[spelling])


def test_another_spelling_of_a_name_is_refused() -> None:
    assert "é" == json.loads(rb'"\u00e9"')
    with pytest.raises(Unreadable, match="not in canonical form"):
        decode(rb'{"reason":"\u00e9","type":"HandVoided"}')
    with pytest.raises(Unreadable, match="not in canonical form"):
        decode(rb'{"reason":"a\/b","type":"HandVoided"}')


def test_a_bad_line_of_a_hand_is_refused_by_its_number() -> None:
    with pytest.raises(Unreadable, match=r"^line 2: Object missing required field `type`$"):
        decode_hand(BYTES + b"\n{}\n")


def test_an_event_is_no_match_record_and_a_match_record_no_event() -> None:
    for line in map(encode, RECORDS.values()):
        with pytest.raises(Unreadable, match=r"at `\$\.type`"):
            decode(line)
    with pytest.raises(Unreadable, match=r"at `\$\.type`"):
        decode_record(BYTES)

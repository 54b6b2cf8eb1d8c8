"""Files made to hurt a reader: every one is refused with a sentence, at once, and nothing else."""

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from engine.games import GAMES
from events.types import BidPlaced, Shown
from tests.hands import sources, walk
from tests.profiles import sized
from tests.trust.own_bundles import Draft, Log, b64, problem, spelled, verdict, with_kinds

CANONICAL = "is not one object in canonical JSON"


def _draft(view: str = "public") -> Draft:
    return Draft(with_kinds("auction-2024", BidPlaced, Shown), view)


def _line(text: bytes, at: int = 19) -> str:
    """What is said of a record in which this stands as a line, signed by its log."""
    draft = _draft()
    draft.lines[at] = text
    return problem(draft.files())


CHECKED = b'{"at":1790000004750,"next":1,"origin":"chosen","seat":0,"type":"Checked"}'
SPELLED_OTHERWISE = {
    "a blank": CHECKED.replace(b",", b", "),
    "keys in another order": CHECKED.replace(b'"next":1,', b"").replace(b"}", b',"next":1}'),
    "a key twice": CHECKED.replace(b'"next":1', b'"next":1,"next":1'),
    "a key twice, told otherwise": CHECKED.replace(b'"next":1', b'"next":0,"next":1'),
    "an escape": CHECKED.replace(b"chosen", b"\\u0063hosen"),
    "half a surrogate": CHECKED.replace(b"chosen", b"\\ud800"),
    "a float": CHECKED.replace(b'"seat":0', b'"seat":0.0'),
    "an exponent": CHECKED.replace(b'"seat":0', b'"seat":0e0'),
    "minus zero": CHECKED.replace(b'"seat":0', b'"seat":-0'),
    "not a number": CHECKED.replace(b'"seat":0', b'"seat":NaN'),
    "without end": CHECKED.replace(b'"seat":0', b'"seat":Infinity'),
    "a number nobody reads alike": CHECKED.replace(b"1790000004750", b"9007199254740993"),
    "a number of a megabyte": CHECKED.replace(b"1790000004750", b"9" * 1_000_000),
    "a deep row": CHECKED.replace(b'"seat":0', b'"seat":' + b"[" * 100_000 + b"]" * 100_000),
    "a deep object": CHECKED.replace(b'"seat":0', b'"seat":' + b'{"a":' * 100_000),
    "a row of five levels": CHECKED.replace(b'"seat":0', b'"seat":[[[[[]]]]]'),
    "no UTF-8": CHECKED.replace(b"chosen", b"chos\xe9n"),
    "a mark of byte order": b"\xef\xbb\xbf" + CHECKED,
    "UTF-16": CHECKED.decode().encode("utf-16"),
    "a carriage return": CHECKED + b"\r",
    "a row": b"[" + CHECKED + b"]",
    "nothing": b"",
    "a word": b"true",
    "two objects": CHECKED + CHECKED,
    "cut short": CHECKED[:-1],
    "a null byte": CHECKED + b"\x00",
}  # fmt: skip


@pytest.mark.parametrize("text", SPELLED_OTHERWISE.values(), ids=list(SPELLED_OTHERWISE))
def test_a_line_in_another_spelling_is_refused(text: bytes) -> None:
    assert f"events.jsonl line 20 {CANONICAL}" == _line(text)


OTHER_FIELDS = {
    b'"seat":0': (b'"seat":false', "events.jsonl line 20: false cannot be its seat"),
    b'"seat"': (b'"seat":0,"street"', "has not exactly the fields at, next, origin, seat, type"),
    b'"next":1,': (b"", "has not exactly the fields at, next, origin, seat, type"),
    b'"next":1': (b'"next":23', "23 cannot be its next"),
    b'"chosen"': (b'"willed"', '"willed" cannot be its origin'),
    b'"Checked"': (b'"MatchStarted"', '"MatchStarted" is no kind of event of a hand'),
    b'"type":"Checked"': (b'"type":["Checked"]', '["Checked"] is no kind of event of a hand'),
    b"1790000004750": (b"-1", "-1 cannot be its at"),
}


@pytest.mark.parametrize("old", OTHER_FIELDS)
def test_a_line_with_other_fields_is_refused(old: bytes) -> None:
    new, expected = OTHER_FIELDS[old]
    assert expected in _line(CHECKED.replace(old, new))


def test_what_is_hidden_must_be_a_commitment() -> None:
    for hidden in (
        ["As", "Kd"],
        {"commitment": "0" * 64},
        {"commitment": "0" * 63, "count": 2},
        {"commitment": "G" * 64, "count": 2},
        {"commitment": "0" * 64, "count": 2.0},
        {"commitment": "0" * 64, "count": 53},
        {"commitment": "0" * 64, "count": 2, "hint": "As"},
        None,
    ):
        draft = _draft()
        draft.lines[4]["cards"] = hidden
        expected = "cannot be its cards" if "2.0" not in str(hidden) else CANONICAL
        assert expected in problem(draft.files()), hidden


@pytest.mark.parametrize("name", ["openings.json", "ruleset.json", "leaf.json"])
@pytest.mark.parametrize(
    "text",
    [b"", b"{}", b"[]", b"null", b'{"a":1,"a":1}', b"[" * 200_000, b'{"v":1e400}', b"\xff"],
    ids=["empty", "{}", "[]", "null", "twice", "deep", "large", "no text"],
)
def test_other_json_files_are_read_with_the_same_care(name: str, text: bytes) -> None:
    draft = _draft()
    files = draft.files()
    del files["contents"]
    assert name in problem(draft.sealed({**files, name: text}))


def test_openings_of_other_shapes_are_refused() -> None:
    whole = _draft("auditor").openings[0]
    one = {key: whole[key] for key in ("field", "line", "nonce", "value")}
    for wrong in (
        {**one, "line": -1},
        {**one, "line": True},
        {**one, "nonce": "zz"},
        {**one, "field": ["cards"]},
        {**one, "more": 1},
        [one],
        None,
    ):
        draft = _draft("auditor")
        files = draft.files()
        del files["contents"]
        told = {"openings": [wrong], "v": 1, "view": "public"}
        assert "openings.json" in problem(draft.sealed({**files, "openings.json": spelled(told)}))


NO_KEYS = (
    "", "x", "a+b+c", "muckrake.local/0a1b2c3d+00000000+AAAA", "a b+00000000+AQ==", "a+0+AQ==",
    "a+00000000+" + b64(b"\x02" + bytes(32)), "a+00000000+" + b64(b"\x01" + bytes(32)),
)  # fmt: skip


@pytest.mark.parametrize("key", NO_KEYS)
def test_what_is_no_key_is_refused(key: str) -> None:
    for text in (f"{key}\n", key):
        assert problem({**_draft().files(), "key": text.encode()}).startswith("key")


NO_NOTES = {
    "no signature": "text\n\n",
    "no blank line": "text\n\u2014 a AAAA\n",
    "a hyphen": "text\n\n- a AAAAAAAA\n",
    "no base64": "text\n\n\u2014 a ?\n",
    "base64 with bits to spare": "text\n\n\u2014 a AAAAAB==\n",
    "a control character": "te\x1bxt\n\n\u2014 a AAAAAAAA\n",
    "no newline": "text\n\n\u2014 a AAAAAAAA",
    "too many": "text\n\n" + "\u2014 a AAAAAAAA\n" * 101,
}


@pytest.mark.parametrize("note", NO_NOTES.values(), ids=list(NO_NOTES))
def test_what_is_no_note_is_refused(note: str) -> None:
    assert "contents" in problem({**_draft().files(), "contents": note.encode()})


def test_a_thousand_wrong_openings_make_few_sentences() -> None:
    draft = _draft("auditor")
    draft.openings = [{**draft.openings[0], "line": line + 40} for line in range(1000)]
    found = verdict(draft)
    assert 21 == len(found.problems)
    assert "980 more things are wrong" == found.problems[-1]


def test_a_hostile_word_reaches_no_terminal() -> None:
    draft = _draft()
    draft.lines[0]["hand"] = "\x1b[31mred\u202e\n"
    assert problem(draft.files()).isprintable()
    assert problem(draft.files()).isascii()


def test_a_name_cannot_be_taken_for_a_sentence_of_the_verdict() -> None:
    """Somebody signs with a key of his own, and calls a player after the key that you know."""
    draft = _draft()
    said = f"ursa. Signed by {Log(2).key}: compare it with the key you know"
    draft.lines[0]["players"] = (said, "lynx")
    draft.view = f"seat:{said}"
    proved = verdict(draft).proved
    assert f"Signed by {Log().key}: compare it with the key you know." == proved[-1]
    assert proved[2].startswith('This bundle is for "seat:ursa. Signed by muckrake.local')
    assert Log(2).key not in " ".join(proved)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**54) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(at=st.integers(0, 36), which=st.integers(0, 9), value=values)
def test_a_log_that_writes_anything_anywhere_gets_a_verdict(
    at: int, which: int, value: Any
) -> None:
    """Never anything but a verdict: no exception leaves the script, whatever a log signs."""
    draft = _draft("auditor")
    line = draft.lines[at]
    line[sorted(line)[which % len(line)]] = value
    found = verdict(draft)
    assert bool(found.problems) != bool(found.proved)


@given(
    which=st.integers(0, 60), key=st.sampled_from(["field", "line", "nonce", "value"]), value=values
)
def test_openings_of_anything_get_a_verdict(which: int, key: str, value: Any) -> None:
    draft = _draft("auditor")
    one = dict(draft.openings[which % len(draft.openings)])
    one[key] = value
    draft.openings = [one]
    draft.view = "public"
    found = verdict(draft)
    assert bool(found.problems) != bool(found.proved)


@given(value=values)
def test_its_canonical_json_is_that_of_the_specification(value: Any) -> None:
    if _is_plain(value):
        assert rfc8785.dumps(value) == script.canonical(value)
        assert json.loads(script.canonical(value)) == value


@given(source=sources)
def test_every_hand_that_the_rules_allow_is_proved(source: bytes) -> None:
    """Disconnections, time-outs, bad replies, void hands: nobody is accused of what is allowed."""
    apart = sized(4, 1)
    for game in [*GAMES.values()][len(source) % apart :: apart]:
        found = verdict(Draft(walk(game, source).record, "auditor"))
        assert () == found.problems


def _is_plain(value: Any) -> bool:
    """Whether it is of the kind that a record holds: ASCII keys, numbers that all read alike."""
    if isinstance(value, dict):
        return all(key.isascii() and _is_plain(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return not isinstance(value, int) or abs(value) <= script.INTEGER_MAX

"""The verifier in JavaScript beside that in Python: one verdict and code on every bundle."""

import hashlib
import json
import re
import subprocess
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from api.evidence.bundle import zip_bytes
from engine.game import Game
from events.types import HandStarted
from tests.hands import some_games
from tests.profiles import sized
from tests.sessions import Captured
from tests.trust import test_verify_py_hostile as hostile
from tests.trust import test_verify_py_lies as lies
from tests.trust.in_node import VERIFY_JS, node, same
from tests.trust.own_bundles import Draft, Log, hands, views
from tests.trust.test_verify_py_changed import NAMES, PROVED, _changed, _draft, _files, _places
from tests.trust.test_verify_py_deck import _draft as deck_draft
from tests.trust.test_verify_py_deck import _match, _other_card
from tests.trust.test_verify_py_hostile import values

KNOWN = (script.read_key("known", f"{Log().key}\n".encode()),)


@pytest.fixture(autouse=True, scope="module")
def _node_is_there() -> None:
    node()


@pytest.fixture(autouse=True)
def _signatures_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "is_signed", cache(script.is_signed))


# Whole bundles.


@some_games
def test_every_hand_is_proved_to_everybody_by_both(game: Game) -> None:
    for record in hands(game.name, sized(quick=1, ci=2, slow=4)):
        start = record[0]
        assert isinstance(start, HandStarted)
        for view in views(start.players):
            assert 7 == same(Draft(record, view).files()).code


HANDS_APART = sized(quick=2, ci=1)  # of the hands of a match, those that are looked at
LIES_APART = sized(quick=6, ci=4, slow=1)  # of the lines that deal, those that lie in turn


@some_games
def test_every_opened_deck_is_dealt_alike(game: Game) -> None:
    for hand in range(0, len(_match(game.name, False)[2]), HANDS_APART):
        draft = deck_draft(game.name, hand)
        assert 7 == same(draft.files()).code
        dealt = [
            place
            for place, line in enumerate(draft.lines)
            if line["type"] in ("HoleDealt", "BoardDealt", "CardSwapped")
        ]
        for place in dealt[hand % LIES_APART :: LIES_APART]:
            lied = deck_draft(game.name, hand)
            _other_card(lied, place)
            assert 3 == same(lied.files()).code


def test_a_known_key_is_believed_and_another_is_not() -> None:
    files = _files()
    assert 0 == same(files, KNOWN).code
    for log in (Log(2), Log(1, "elsewhere.example")):
        other = (script.read_key("known", f"{log.key}\n".encode()),)
        assert 3 == same(files, other).code


@pytest.mark.parametrize("version", ["2", "999999999", "0", "x"])
def test_a_later_version_is_told_alike(version: str) -> None:
    note = Log().note(f"muckrake evidence v{version}\n")
    assert same({**_files(), "contents": note}).code in (1, 3)


@pytest.mark.parametrize("name", ["auction-2024", "swap-2022", "auction-2024-mit", "swap-2022-mit"])
def test_mirrored_hands_are_dealt_alike(name: str) -> None:
    for hand in range(0, len(_match(name, True)[2]), HANDS_APART):
        assert 7 == same(deck_draft(name, hand, mirrored=True).files()).code


# The same changed bundles.


PLACES = sized(quick=8, ci=12, slow=60)  # about so many of a file


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_is_told_alike(name: str) -> None:
    for at in _places(name, PLACES):
        assert 3 == same(_changed(name, at)).code


@pytest.mark.parametrize("name", PROVED)
def test_a_changed_byte_under_signed_contents_is_told_alike(name: str) -> None:
    for at in _places(name, PLACES):
        changed = _changed(name, at)
        del changed["contents"]
        assert 3 == same(_draft().sealed(changed)).code


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVED)
def test_every_changed_byte_under_signed_contents_is_told_alike(name: str) -> None:
    for at in range(len(_files()[name])):
        changed = _changed(name, at)
        del changed["contents"]
        same(_draft().sealed(changed))


@pytest.mark.parametrize("name", script.REQUIRED_FILES)
def test_files_cut_short_drawn_out_or_missing_are_told_alike(name: str) -> None:
    whole = _files()[name]
    same({other: text for other, text in _files().items() if other != name})
    for text in (b"", whole[:-1], whole + b"\n", whole + b"x", whole * 2, b"\xef\xbb\xbf" + whole):
        changed = {**_files(), name: text}
        same(changed)
        if name not in ("contents", "key"):
            del changed["contents"]
            same(_draft().sealed(changed))


@pytest.mark.parametrize(
    "text", hostile.SPELLED_OTHERWISE.values(), ids=list(hostile.SPELLED_OTHERWISE)
)
def test_other_spellings_of_a_line_are_told_alike(text: bytes) -> None:
    draft = hostile._draft()
    draft.lines[19] = text
    assert 3 == same(draft.files()).code


@pytest.mark.parametrize("old", hostile.OTHER_FIELDS)
def test_other_fields_of_a_line_are_told_alike(old: bytes) -> None:
    draft = hostile._draft()
    draft.lines[19] = hostile.CHECKED.replace(old, hostile.OTHER_FIELDS[old][0])
    assert 3 == same(draft.files()).code


@pytest.mark.parametrize(("change", "expected"), lies.LIES.values(), ids=list(lies.LIES))
def test_lies_are_told_alike(change: Any, expected: str) -> None:
    for view in ("public", "auditor"):
        draft = lies._draft(view)
        change(draft)
        same(draft.files())


@pytest.mark.parametrize("note", hostile.NO_NOTES.values(), ids=list(hostile.NO_NOTES))
def test_what_is_no_note_is_told_alike(note: str) -> None:
    assert 3 == same({**_files(), "contents": note.encode()}).code


@pytest.mark.parametrize("key", hostile.NO_KEYS)
def test_what_is_no_key_is_told_alike(key: str) -> None:
    assert 3 == same({**_files(), "key": f"{key}\n".encode()}).code


OTHER_JSON = (
    b"", b"{}", b"[]", b"null", b'{"a":1,"a":1}', b"[" * 200_000, b'{"v":1e400}', b"\xff",
    b'{"__proto__":1}', b'{"\xc3\xa9":1}', b'{"10":1,"9":2}', b'{"v":-1}',
)  # fmt: skip


@pytest.mark.parametrize("name", ["openings.json", "ruleset.json", "leaf.json", "deck.json"])
def test_other_json_is_told_alike(name: str) -> None:
    draft = _draft()
    for text in OTHER_JSON:
        files = {**_files(), name: text}
        del files["contents"]
        assert 3 == same(draft.sealed(files)).code


@given(at=st.integers(0, 36), which=st.integers(0, 9), value=values)
def test_anything_that_a_log_writes_anywhere_is_told_alike(at: int, which: int, value: Any) -> None:
    draft = hostile._draft("auditor")
    line = draft.lines[at]
    line[sorted(line)[which % len(line)]] = value
    same(draft.files())


@given(
    which=st.integers(0, 60), key=st.sampled_from(["field", "line", "nonce", "value"]), value=values
)
def test_openings_of_anything_are_told_alike(which: int, key: str, value: Any) -> None:
    draft = hostile._draft("auditor")
    one = dict(draft.openings[which % len(draft.openings)])
    one[key] = value
    draft.openings = [one]
    draft.view = "public"
    same(draft.files())


@given(
    field=st.sampled_from(
        ["burn", "hole_order", "third_card", "script", "swap_order", "deck_slots", "swap_discard"]
    ),
    value=values,
)
def test_rules_of_anything_are_told_alike(field: str, value: Any) -> None:
    for name in ("swap-2022", "auction-2024"):
        draft = deck_draft(name, 2)
        rules = {**json.loads(draft.ruleset), field: value}
        _ruled(draft, rules)
        same(draft.files())


@given(field=st.sampled_from(["chance", "of"]), value=values)
def test_chances_of_anything_are_told_alike(field: str, value: Any) -> None:
    drafts = (deck_draft("swap-2022", hand) for hand in range(6))
    draft = next(one for one in drafts if "CardSwapped" in str(one.lines))
    rules = json.loads(draft.ruleset)
    for step in rules["script"]:
        if field in step:
            step[field] = value
    _ruled(draft, rules)
    same(draft.files())


def _ruled(draft: Draft, rules: dict[str, Any]) -> None:
    """The log signs these rules under their own fingerprint."""
    text = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    with_surrogates = text.encode("utf-8", "replace")
    draft.ruleset = with_surrogates
    said = {key: v for key, v in rules.items() if key not in ("document", "partner", "readings")}
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    draft.lines[0]["ruleset"] = hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()[
        :16
    ]


@pytest.mark.parametrize("told", [
    {"secret": "00"}, {"nonces": [["ursa"]]}, {"nonces": [["ursa", 1]]}, {"deals": 0},
    {"deals": 24}, {"v": 2}, {"more": 1}, {"number": -1}, {"first": 5},
    {"nonces": [["ursa", "x" * 70_000]]}, {"first": 0}, {"number": 2**31 - 1}, {"number": 5},
    {"secret": "0" * 64}, {"deals": 2},
])  # fmt: skip
def test_other_decks_are_told_alike(told: dict[str, Any]) -> None:
    same(deck_draft("auction-2024", 2, **told).files())


# Alone.


def test_under_node_it_has_the_words_of_the_other(tmp_path: Path, capsys: Captured) -> None:
    """All are asked at once; the other, which is a program by itself elsewhere, in this process."""
    whole = tmp_path / "hand.zip"
    whole.write_bytes(zip_bytes(_files()))
    with zipfile.ZipFile(whole) as archive:
        archive.extractall(tmp_path / "hand")
    (tmp_path / "known").write_text(f"# ours\n{Log().key}\n")
    every: tuple[tuple[str | Path, ...], ...] = (
        (whole,), (tmp_path / "hand",), (whole, "--key", Log().key),
        (f"--key={tmp_path}/known", whole), (whole, "--key", Log(2).key), ("/nowhere.zip",),
        ("--bad",), ("a", "b"), (whole, "--key"), (VERIFY_JS,), ("/dev/null",), ("--key", "x"),
    )  # fmt: skip
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen([node(), VERIFY_JS, *words], stdout=pipe, stderr=pipe, text=True)
        for words in every
    ]
    for words, process in zip(every, started, strict=True):
        out, err = process.communicate()
        js = (process.returncode, out, err.replace("verify.js", "verify.py"))
        code = script.main([str(word) for word in words])
        assert js == (code, *capsys.readouterr()), words


def test_it_asks_nothing_of_anybody() -> None:
    """One file, no import, nothing that reaches a network; the page's policy forbids it besides."""
    text = VERIFY_JS.read_text("utf-8")
    for word in (
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "import ",
        "WebSocket",
        "sendBeacon",
        "eval(",
        "crypto.",
    ):
        assert word not in re.sub(r"//.*", "", text), word
    assert {"node:fs"} == set(re.findall(r'require\("(.*?)"\)', text))

"""A bundle with the match's own records: what came first is proved, and no lie about it passes."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.evidence.bundle import make_bundle
from api.evidence.verify import unzipped, verify
from api.main import main
from api.viewpoints.redaction import SEED_WARNING
from engine.game import to_json
from store.reader import Reader
from tests.trust.in_node import judged_in_node
from tests.trust.naive_tree import path
from tests.trust.own_bundles import AT, Draft, Files, Line, b64, problem, spelled, verdict
from tests.trust.test_verify_py_deck import _deck, _match

Lie = Callable[["Told"], None]


class Told(Draft):
    """A hand with the records of its match, written from docs/record-format.md alone."""

    def __init__(self, hand: int = 2, *, opened: bool = False, mirrored: bool = False) -> None:
        rules, records, hands = _match("auction-2024", mirrored)
        super().__init__(hands[hand], "public")
        self.ruleset = to_json(rules)
        began, made, *rest = [msgspec.to_builtins(one) | {"at": AT} for one in records]
        nonces = [one | {"drawn_by": "player"} for one in rest if one["type"] == "NonceGiven"]
        self.appends: list[tuple[int, list[Line]]] = [(0, [began]), (2, [made]), (3, nonces)]
        self.stream = "m"
        self.firsts: list[int] | None = None
        self.rows: Callable[[list[Line]], Any] = lambda rows: rows
        if opened:
            self.more["deck.json"] = spelled(_deck(records))

    def signed(self, record: bytes, leaf: bytes, leaves: list[bytes], proof: list[bytes]) -> Files:
        made = []
        for place, (seq, lines) in enumerate(self.appends):
            digest = hashlib.sha256(b"\n".join(map(spelled, lines))).hexdigest()
            first = sum(len(before) for _, before in self.appends[:place])
            first = self.firsts[place] if self.firsts else first
            told = {"first": first, "hand_seq": seq, "lines": len(lines), "stream": self.stream}
            made.append({**told, "record_sha256": digest, "v": 1})
            if 0 <= seq < len(leaves):
                leaves[seq] = spelled(made[-1])
        rows = [
            {"leaf": one, "lines": lines, "proof": [b64(each) for each in path(seq, leaves)]}
            for one, (seq, lines) in zip(made, self.appends, strict=True)
        ]
        self.more["match.json"] = spelled({"records": self.rows(rows), "v": 1})
        return super().signed(record, leaf, leaves, path(self.place, leaves))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_what_was_committed_to_is_before_the_hand(opened: bool, mirrored: bool) -> None:
    for hand in range(6):
        files = Told(hand, opened=opened, mirrored=mirrored).files()
        found = verify(files)
        assert () == found.problems
        assert found == judged_in_node(files)
        sentence = next(one for one in found.proved if "committed to in leaf 2" in one)
        assert "the nonces came in leaf 3 and the hand closed as leaf 7" in sentence
        assert "a checkpoint of more than 3 leaves before its first card" in sentence


def test_a_seeded_hand_says_that_it_is_as_hidden_as_its_seed() -> None:
    draft = Told()
    _set(0, "dealing", "seeded")(draft)
    draft.appends = draft.appends[:1]
    assert any("only as hidden as the seed" in one for one in verdict(draft).proved)


def test_records_from_before_anybody_told_who_drew_a_nonce_are_read() -> None:
    draft = Told()
    for line in draft.appends[2][1]:
        del line["drawn_by"]
    assert () == verdict(draft).problems


def _set(place: int, field: str, value: Any) -> Lie:
    def lie(draft: Told) -> None:
        draft.appends[place][1][0][field] = value

    return lie


def _placed(place: int, seq: int) -> Lie:
    def lie(draft: Told) -> None:
        draft.appends[place] = (seq, draft.appends[place][1])

    return lie


def _rows(change: Callable[[list[Line]], Any]) -> Lie:
    def lie(draft: Told) -> None:
        draft.rows = change

    return lie


def _without(place: int) -> Lie:
    def lie(draft: Told) -> None:
        del draft.appends[place]

    return lie


def _field(name: str, value: Any) -> Lie:
    return lambda draft: setattr(draft, name, value)


LIES: dict[str, tuple[Lie, str]] = {
    "nonces after the hand": (_placed(2, 9), "the nonces were given after the hand was over"),
    "nonces before the commitment": (_placed(2, 1), "not in the order in which they closed"),
    "an event twice": (_field("firsts", [0, 1, 1]), "not in the order in which they closed"),
    "no nonce": (_without(2), "shows no commitment to deck 3, or no nonce that followed it"),
    "no commitment": (_without(1), "shows no commitment to deck 3"),
    "no announcement": (_without(0), "does not begin with MatchStarted of this match"),
    "of another match": (_set(0, "match", "n"), "does not begin with MatchStarted of this match"),
    "in another stream": (_field("stream", "n"), 'holds a record of "n", not of "m"'),
    "for other hands": (_set(1, "hands", 2), "shows no commitment to deck 3"),
    "drawn by nobody": (_set(2, "drawn_by", "house"), "match.json: "),
    "a line more": (_rows(lambda it: [_more(it[0]), *it[1:]]), "and not these"),
    "other lines": (_rows(lambda it: [_other(it[0]), *it[1:]]), "are not those it names"),
    "another proof": (_rows(lambda it: [{**it[0], "proof": it[1]["proof"]}]), "does not lead"),
    "a short proof": (_rows(lambda it: [{**it[0], "proof": []}]), "fewer hashes"),
    "no hash": (_rows(lambda it: [{**it[0], "proof": ["x"]}]), "is not base64"),
    "a field more": (_rows(lambda it: [{**it[0], "more": 1}]), "match.json"),
    "no row": (_rows(lambda it: it[0]), "match.json"),
    "no object": (_rows(lambda it: [1]), "a record is no object"),
    "no record": (_rows(lambda it: []), "does not begin with MatchStarted"),
    "no lines": (_rows(lambda it: [{**it[0], "lines": []}]), "and not these"),
    "a hand's event": (_set(1, "type", "Mucked"), '"Mucked" is no kind of record of a match'),
    "a later leaf": (_rows(lambda it: [_later(it[0])]), "the checkpoint is too old"),
}


def _more(row: Line) -> Line:
    return {**row, "lines": row["lines"] * 2}


def _other(row: Line) -> Line:
    return {**row, "lines": [{**row["lines"][0], "dealing": "recorded"}]}


def _later(row: Line) -> Line:
    return {**row, "leaf": {**row["leaf"], "hand_seq": 99}}


@pytest.mark.parametrize("name", LIES)
def test_every_lie_about_what_came_first_is_refused(name: str) -> None:
    lie, sentence = LIES[name]
    draft = Told()
    lie(draft)
    files = draft.files()
    assert sentence in problem(files)
    assert verify(files) == judged_in_node(files)


@pytest.mark.parametrize("field", ["commitment", "deals", "first", "nonces"])
def test_the_opened_deck_is_the_one_that_the_records_have(field: str) -> None:
    """Signed for both, a deck and records that fit themselves, and not each other."""
    draft = Told(opened=True)
    other = {"commitment": "ab" * 32, "deals": 2, "first": 2, "nonces": [["ann", "x"]]}[field]
    deck = msgspec.json.decode(draft.more["deck.json"]) | {field: other}
    draft.more["deck.json"] = spelled(deck)
    files = draft.files()
    assert "deck.json opens another deck than match.json has committed to" in problem(files)
    assert verify(files) == judged_in_node(files)


@pytest.mark.parametrize(
    ("words", "dealing"),
    [("--dealing committed", "committed to in leaf 1"), ("--seed 7", "only as hidden as the seed")],
)
def test_every_bundle_of_ours_holds_what_its_deck_rests_on(
    words: str, dealing: str, tmp_path: Path
) -> None:
    folder = tmp_path / "ledger"
    play = ["play", "auction-2024", "--hands", "3", "--match", "m", *words.split()]
    assert main([*play, "--ledger", str(folder)]) == 0
    snapshot = Reader(folder).snapshot()
    for view in ("public", "seat:random-0", "auditor"):
        files = unzipped(make_bundle(snapshot, "m/2", view))
        found = verify(files)
        assert () == found.problems
        assert found == judged_in_node(files)
        assert any(dealing in one for one in found.proved)
        assert (SEED_WARNING in files["README.txt"].decode()) == ("seed" in dealing)
        records = msgspec.json.decode(files["match.json"])["records"]
        lines = [line for one in records for line in one["lines"]]
        drawn = [one["drawn_by"] for one in lines if one["type"] == "NonceGiven"]
        assert (["dealer"] * 2 if "leaf" in dealing else []) == drawn


def test_a_later_chain_is_held_against_its_own_commitment() -> None:
    """A match of two chains: hand 3 is covered by the second, and the first comes along."""
    draft = Told()
    began, (_, (made,)), nonces = draft.appends
    first = [{**made, "commitment": "cd" * 32, "hands": 2}]
    draft.appends = [began, (1, first), (2, [made]), (3, nonces[1])]
    assert () == verdict(draft).problems
    draft.appends = [began, (2, [made]), (3, nonces[1]), (4, first)]
    assert "goes on after the commitment to this deck" in problem(draft.files())

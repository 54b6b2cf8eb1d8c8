"""The ledger keeps each ruleset once, so that an old hand is judged by its own rules."""

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import fields, replace

from analytics.batch_audit.batches import BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from api.auditing.record import RulesetLookup
from api.main import main
from api.playing.recording import Recording, finished_hand, seeded_start
from dealer.play import play
from engine.game import LATER, Game, fingerprint, fingerprint_of, to_json
from engine.games import GAMES
from engine.policies import Policies
from engine.verdict import judge
from events.ledger import Append
from events.types import Events, HandStarted
from store.ledger import open_ledger
from store.reader import Reader
from tests.sessions import Captured, told

HOUSE = replace(GAMES["probability"], name="house-rules", odd_chips="clockwise_each")


def _hand(record: Events) -> str:
    start = record[0]
    assert isinstance(start, HandStarted)
    return start.hand


def test_a_ruleset_is_kept_once_and_read_again(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset("abc", b"first")
    ledger.keep_ruleset("abc", b"second")
    ledger.close()
    lock.release()
    snapshot = Reader(tmp_path).snapshot()
    assert b"first" == snapshot.ruleset("abc")
    assert None is snapshot.ruleset("def")


def test_a_fingerprint_is_that_of_the_text() -> None:
    assert fingerprint(HOUSE) == fingerprint_of(to_json(HOUSE))
    reworded = json.loads(to_json(HOUSE)) | {"document": "said otherwise", "readings": []}
    assert fingerprint(HOUSE) == fingerprint_of(json.dumps(reworded).encode())
    changed = json.loads(to_json(HOUSE)) | {"odd_chips": "fractional"}
    assert fingerprint(HOUSE) != fingerprint_of(json.dumps(changed).encode())


class Newer(Game, frozen=True, kw_only=True):
    """The rules of a later program, which knows one more policy."""

    invented: str = "as before"


def test_a_policy_that_came_later_changes_no_older_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.game.LATER", (*LATER, "invented"))
    newer = Newer(**{name: getattr(HOUSE, name) for name in HOUSE.__struct_fields__})
    assert to_json(newer) == to_json(HOUSE)
    assert fingerprint(newer) == fingerprint(HOUSE)
    assert msgspec.json.decode(to_json(HOUSE), type=Newer) == newer
    changed = replace(newer, invented="otherwise")
    assert fingerprint(changed) != fingerprint(HOUSE)
    assert msgspec.json.decode(to_json(changed), type=Newer) == changed


def test_what_came_later_is_a_policy_with_a_default() -> None:
    assert not set(LATER) - {one.name for one in fields(Policies) if not one.required}


def test_a_hand_is_judged_by_rules_that_only_its_ledger_knows(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint(HOUSE), to_json(HOUSE))
    for record in play(HOUSE, "home", 5, "1"):
        ledger.append(Append(_hand(record), 0, record, 1))
    ledger.close()
    lock.release()
    assert 0 == main(["audit", "--all", "--ledger", str(tmp_path)])


# What these rulesets were called before they said what becomes of who has nothing left, and before
# the article's stacks were carried.
BEFORE = {
    "urcs-1998": "6cbefc47103c8190",
    "urcs-1998-standard": "2ed141869c30f39e",
    "probability": "465be30721b3f1c8",
    "probability-standard": "33c0d0a72bbbf5ee",
}


@pytest.mark.parametrize("name", BEFORE)
def test_a_ledger_of_older_rules_is_audited_and_verified_as_before(
    tmp_path: Path, capsys: Captured, name: str
) -> None:
    carried = "carried" if name.startswith("urcs") else "reset"
    old = replace(GAMES[name], stacks=carried, broke="set_anew")
    assert BEFORE[name] == fingerprint(old) != fingerprint(GAMES[name])
    assert b"broke" not in to_json(old)
    records = list(play(old, "old", 40, "1", 4))
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint(old), to_json(old))
    recording = Recording(ledger, seeded_start("old", records[0], "1", "open"), old)
    assert 40 == sum(1 for _ in recording.keep(map(finished_hand, records), lambda: False))
    recording.end("played")
    ledger.close()
    lock.release()
    where = ("--ledger", str(tmp_path))
    hands = told(capsys, "audit", "--all", *where)["hands"]
    partner = GAMES[GAMES[name].partner or ""]
    assert [judge(old, record, partner).verdict for record in records] == [
        one["verdict"] for one in hands
    ]
    assert {"agree", "contested"} >= {one["verdict"] for one in hands}
    snapshot = Reader(tmp_path).snapshot()
    auditor = BatchAuditor(RulesetLookup(snapshot, None).by_fingerprint, WordIds())
    fine = sum(sum(batch.fine().values()) for batch in audited_batches(snapshot, auditor))
    assert (fine > 0) == name.startswith("probability")  # the batch audit leaves URCS to the engine
    assert 0 == main(["verify", "--all", "--key", str(tmp_path / "keys"), *where])


def test_a_kept_text_that_is_not_what_its_name_says_judges_nothing(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint(HOUSE), to_json(GAMES["probability"]))
    for record in play(HOUSE, "home", 1, "1"):
        ledger.append(Append(_hand(record), 0, record, 1))
    ledger.close()
    lock.release()
    assert 1 == main(["audit", "--all", "--ledger", str(tmp_path)])


def test_a_ruleset_with_a_policy_of_a_later_program_is_unknown(
    tmp_path: Path, capsys: Captured
) -> None:
    """One hand or all: nobody judges by what is left of it without the policy."""
    later = json.loads(to_json(HOUSE)) | {"invented": "otherwise"}
    text = json.dumps(later).encode()
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint_of(text), text)
    for record in play(HOUSE, "home", 5, "1"):
        start = record[0]
        assert isinstance(start, HandStarted)
        played = (replace(start, ruleset=fingerprint_of(text)), *record[1:])
        ledger.append(Append(_hand(record), 0, played, 1))
    ledger.close()
    lock.release()
    for words in (("--all",), ("home/1",)):
        assert 0 != main(["audit", *words, "--ledger", str(tmp_path)])
        assert "no ruleset here has this fingerprint" in "".join(capsys.readouterr())

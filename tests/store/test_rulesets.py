"""The ledger keeps each ruleset once, so that an old hand is judged by its own rules."""

import json
from pathlib import Path

from msgspec.structs import replace

from api.main import main
from dealer.play import play
from engine.game import fingerprint, fingerprint_of, to_json
from engine.games import GAMES
from events.ledger import Append
from events.types import Events, HandStarted
from store.ledger import open_ledger
from store.reader import Reader

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


def test_a_hand_is_judged_by_rules_that_only_its_ledger_knows(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint(HOUSE), to_json(HOUSE))
    for record in play(HOUSE, "home", 5, "1"):
        ledger.append(Append(_hand(record), 0, record, 1))
    ledger.close()
    lock.release()
    assert 0 == main(["audit", "--all", "--ledger", str(tmp_path)])


def test_a_kept_text_that_is_not_what_its_name_says_judges_nothing(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.keep_ruleset(fingerprint(HOUSE), to_json(GAMES["probability"]))
    for record in play(HOUSE, "home", 1, "1"):
        ledger.append(Append(_hand(record), 0, record, 1))
    ledger.close()
    lock.release()
    assert 1 == main(["audit", "--all", "--ledger", str(tmp_path)])

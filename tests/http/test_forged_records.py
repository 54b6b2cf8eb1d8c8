"""No record, however forged, makes a question or a page fail: some of each change are asked of."""

import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.auditing.hand_report import audit_entry, audit_text
from api.auditing.record import audit_record
from api.playing.recording import ledger_projections
from api.questions.declared.results import ResultsParams, results
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of, without_progress
from engine.game import Game, fingerprint, to_json
from events import types as t
from events.ledger import Append, Conflict
from events.types import Events
from store.ledger import open_ledger
from store.reader import Reader
from tests.analytics.held import forged
from tests.hands import RULESETS, every_ruleset, seeded
from tests.http.clients import site_of
from tests.profiles import sized

FORGED, FAULTED, LOOKED_AT = sized((4, 3, 1), (10, 6, 2), (30, 20, 3))  # of each ruleset
EVERYTHING = sized(False, False, True)  # else pages by an auditor, and questions by the public
OF_PLAYERS = ("", "bids", "grid", "opponent", "swaps", "winnings")
OF_HANDS = ("", "audit", "events")
PAGES = ("/", "/hands", "/hands?q=verdict%3Ddiffer", "/matches/m", "/players", "/fairness")
API = ("hands", "matches", "matches/m", "players", "fairness", "matches/m/fairness")


def faulted(record: Events) -> Iterator[Events]:
    """A reply that failed at every place, of every seat and of some that are not there."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    for at in range(1, len(record) + 1):
        for seat in (*range(len(start.stacks) + 1), 22):
            for where in ("action", "bid", "acknowledgement"):
                yield (*record[:at], t.Faulted(seat, "R9", "illegal", where), *record[at:])


def kept(folder: Path, game: Game, records: Iterable[Events]) -> int:
    """A ledger of those of these hands that it takes, which are nearly all; how many there are."""
    ledger, lock = open_ledger(folder, "a forger", ledger_projections(folder))
    ledger.keep_ruleset(fingerprint(game), to_json(game))
    count = 0
    try:
        for start, *rest in records:
            hand = f"m/{count + 1}"
            with suppress(Conflict):  # it does not end where it says so
                ledger.append(Append(hand, 0, (replace(start, hand=hand), *rest), 1000))
                count += 1
    finally:
        ledger.close()
        lock.release()
    return count


SOME = ("swap-2022-mit", *sized((), (), ("pokerstars-nl", "auction-2024")))


@pytest.mark.slow  # before, forged records are judged and reported: tests/test_audit_report.py
@pytest.mark.parametrize("name", SOME)
def test_no_forgery_is_a_failure_of_ours(name: str, tmp_path: Path) -> None:
    _ask(RULESETS[name], tmp_path)


@pytest.mark.slow
@every_ruleset
def test_no_forgery_of_any_ruleset_is_a_failure_of_ours(game: Game, tmp_path: Path) -> None:
    _ask(game, tmp_path)


def _ask(game: Game, tmp_path: Path) -> None:
    """Everything that can be asked about forged hands of a ruleset."""
    chance = random.Random(f"asked {game.name}")
    record = seeded(game, "asked forgery 1").record
    every = [one for one in forged(game, record) if isinstance(one[0], t.HandStarted)]
    every = [one for one in every if isinstance(one[-1], t.HandEnded | t.HandVoided | t.Faulted)]
    some = chance.sample(every, min(FORGED, len(every)))
    records = [*some, *chance.sample(list(faulted(record)), FAULTED), record]
    for one in records:
        judged = audit_record(one, game)
        audit_text(judged.game, judged.record, judged.report)
        audit_entry(judged.record, judged.game, judged.report)
    count = kept(tmp_path / "ledger", game, records)
    assert count > 0.8 * len(records)
    start = record[0]
    assert isinstance(start, t.HandStarted)
    asked = [*PAGES, *(f"/api/v1/{one}" for one in API)]
    for page in (*OF_PLAYERS, "stats"):
        asked += [f"{at}/players/{start.players[0]}/{page}" for at in ("", "/api/v1")]
    for number in chance.sample(range(1, count + 1), LOOKED_AT):
        asked += [f"{at}/hands/m/{number}/{page}" for page in OF_HANDS for at in ("", "/api/v1")]
    site = site_of(tmp_path / "ledger")
    failed = []
    for key in ("auditor", None):
        client = site.as_(key, raise_server_exceptions=False)
        paths = asked if EVERYTHING else [it for it in asked if it.startswith("/api") == (not key)]
        found = {path: client.get(path.rstrip("/") or "/").status_code for path in paths}
        assert {200} <= set(found.values())
        failed += [(key, path, code) for path, code in found.items() if code >= 500]
    assert not failed
    for view in ("auditor", "public"):  # luck street by street, which only the command line tells
        results(
            LedgerView(Reader(tmp_path / "ledger").snapshot(), viewer_of(view)),
            ResultsParams(),
            without_progress,
        )

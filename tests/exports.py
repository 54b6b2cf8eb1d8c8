"""What the tests of exports share: ledgers made of records, and their exports as bytes."""

import io
from collections.abc import Iterable
from pathlib import Path

from api.cli.export import LOGS
from api.exporting.hand_logs import TEXT_FORMATS, CannotExport, ExportRequest
from api.exporting.redacted_tables import write_view
from api.viewpoints.hand_selection import leaves, selections
from api.viewpoints.redaction import Redactor
from api.viewpoints.viewer import Viewer
from engine.game import Game, fingerprint
from engine.games import RULESETS
from events.ledger import Append, Record
from events.match import Disclosure, MatchEnded, MatchStarted
from events.types import Events, HandStarted
from store.ledger import open_ledger
from store.reader import Reader, Snapshot

AT = 1_700_000_000_000
_BY_MARK = {fingerprint(game): game for game in RULESETS.values()}


def start_of(record: Events) -> HandStarted:
    """The first event of a hand."""
    start = record[0]
    assert isinstance(start, HandStarted)
    return start


def started(
    record: Events, players: tuple[str, ...] = (), disclosure: Disclosure = "sealed"
) -> MatchStarted:
    """The beginning of the match of this hand, with a seed that nobody but an auditor may know."""
    start = start_of(record)
    match = start.hand.rpartition("/")[0]
    seated = players or start.players
    return MatchStarted(
        match, start.game, start.ruleset, seated, "seeded", disclosure, True, "s3cr3t"
    )


def ledger_of(
    folder: Path, records: Iterable[Events], own: Iterable[Record] = (), end: bool = True
) -> Snapshot:
    """A ledger of one match: its own records, its hands, its end."""
    hands = list(records)
    match = start_of(hands[0]).hand.rpartition("/")[0]
    own = tuple(own)
    ledger, lock = open_ledger(folder, "a test")
    if own:
        ledger.append(Append(match, 0, own, AT))
    ledger.append(*(Append(start_of(hand).hand, 0, hand, AT) for hand in hands))
    if own and end:
        over = MatchEnded((0,) * len(start_of(hands[0]).players), "over")
        ledger.append(Append(match, len(own), (over,), AT))
    ledger.close()
    lock.release()
    return Reader(folder).snapshot()


def exported(
    snapshot: Snapshot,
    to: str,
    view: str = "auditor",
    table: str = "events",
    names: tuple[str, ...] = (),
    games: Iterable[Game] = (),
) -> bytes:
    """The bytes of an export, or the sentence of its refusal."""
    redactor = Redactor(snapshot, Viewer(view))
    told = (leaf for one in selections(snapshot, names) for leaf in leaves(snapshot, one))
    known = {**_BY_MARK, **{fingerprint(game): game for game in games}}
    if to not in LOGS:
        sink = io.BytesIO()
        write_view(sink, to, told, table, redactor)
        return sink.getvalue()
    asked = ExportRequest(
        snapshot, told, redactor, lambda record: known[start_of(record).ruleset], "", False
    )
    try:
        return b"".join(TEXT_FORMATS[to](asked))
    except CannotExport as refusal:
        return str(refusal).encode()

"""Tables in SQL, exports and feeds hide of every event what the oracle says, and nothing else."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pytest

from api.exporting.redacted_tables import view_tables
from api.viewpoints.feed_events import FeedEncoder
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.games import GAMES
from events.ledger import Recorded
from events.views import FIELDS
from store.reader import Snapshot
from tests.asking.seen_ledgers import ledger_of, matches, viewers, who
from tests.hidden_fields import EVERYBODY, WHO_SEES, hidden, is_open, is_there, values
from tests.profiles import sized
from tests.worlds import seat_of

PLAYED = matches(
    GAMES[name]
    for name in ("auction-2024-mit", "swap-2022", *sized((), ("swap-2022-mit",)), "bounty-2025-mit")
)
KEPT = {one.name: one for one in PLAYED}
CURIOUS = tuple(one for one in viewers(PLAYED) if not one.auditor)
WORDS = {"old": "hidden", "new": "hidden", "raw": "hidden", "seed": "hidden", "origin": "hidden"}
WORDS |= {"rank": "hidden", "header": "hidden", "footer": "hidden"}
each_viewer = pytest.mark.parametrize(
    "viewer", CURIOUS, ids=lambda one: f"{one.view} {one.matches}"
)


class Row(NamedTuple):
    """An event as a row of a table: where it is, and which of its fields are hidden."""

    stream: str
    idx: int
    type: str
    hidden: tuple[str, ...]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return ledger_of(tmp_path_factory.mktemp("hidden"), PLAYED)


def expected(record: tuple[Recorded, ...], viewer: Viewer, *, live: bool) -> Iterator[Row]:
    """The rows of a leaf, or as a feed tells it: while the match was played."""
    stream = record[0].stream
    match, number = KEPT[stream.partition("/")[0]], "/" in stream
    hands, own = is_open(match.disclosure, over=match.ended and not live)
    seat = None
    if number:
        seat = seat_of(who(tuple(one.event for one in record), viewer, match.name))  # type: ignore[misc]
    shown = hands if number else own
    there = [one.event for one in record if shown or is_there(one.event, seat)]
    for idx, event in enumerate(there):
        unseen = () if shown else tuple(hidden(event, seat))
        yield Row(stream, idx, type(event).__name__, unseen)


@each_viewer
def test_events_in_sql_and_in_files(viewer: Viewer, snapshot: Snapshot) -> None:
    viewed = LedgerView(snapshot, viewer)
    leaves = list(snapshot.leaves())
    told = [row for leaf in leaves for row in expected(leaf.recorded, viewer, live=False)]
    swap = ("old", "new", "changed")
    assert {row.hidden for row in told} > {(), ("cards",), ("amount", "origin"), swap, ("seed",)}
    in_sql = viewed.ask("FROM events ORDER BY hand_seq, idx")
    in_files = pa.concat_tables(view_tables(leaves, "events", viewed.redactor))
    events = [one.event for leaf in leaves for one in leaf.recorded]
    for table in (in_sql, in_files):
        rows = table.to_pylist()
        assert told == [
            Row(row["hand"], row["idx"], row["type"], tuple((row["redacted"] or "").split()))
            for row in rows
        ]
        for row, known in zip(rows, told, strict=True):
            for field in known.hidden:
                assert _is_nothing(field, row[field])
        assert "told" not in table.column_names
    assert len(events) > len(told)
    viewed.close()


@each_viewer
def test_what_is_not_hidden_is_as_it_was_recorded(viewer: Viewer, snapshot: Snapshot) -> None:
    viewed = LedgerView(snapshot, viewer)
    for leaf in snapshot.leaves():
        rows = list(expected(leaf.recorded, viewer, live=False))
        events = viewed.redactor.redact(leaf).events
        assert [row.hidden for row in rows] == [one.hidden for one in events]
        there = iter(one.event for one in leaf.recorded)
        for one in events:
            event = next(
                it for it in there if type(it).__name__ == type(one.seen).__struct_config__.tag
            )
            seen = {name: getattr(one.seen, name) for name in one.seen.__struct_fields__}
            clear = seen.keys() - set(one.hidden)
            assert {name: values(event)[name] for name in clear} == {n: seen[n] for n in clear}
    viewed.close()


@each_viewer
def test_a_feed(viewer: Viewer, snapshot: Snapshot) -> None:
    found: dict[str, list[Any]] = {}
    for one in FeedEncoder(viewer).encode(snapshot.read_from(0), snapshot):
        line = msgspec.json.decode(one.line)
        found.setdefault(line["hand"] or line["match"], []).append(line["event"])
    for stream, events in found.items():
        rows = expected(snapshot.read(stream), viewer, live=True)
        assert [(row.type, set(row.hidden)) for row in rows] == [
            (event["type"], {name for name, it in event.items() if _is_redacted(it)})
            for event in events
        ]


def test_sql_takes_what_it_hides_from_the_table(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each secret in turn is declared open: then it is, and nothing else."""

    def redacted() -> set[str]:
        viewed = LedgerView(snapshot, Viewer())
        rows = viewed.rows("SELECT DISTINCT redacted FROM events WHERE redacted IS NOT NULL")
        viewed.close()
        return {field for row in rows for field in row["redacted"].split()}

    every = redacted()
    rules = [rule for known in WHO_SEES.values() for rule in known.items()]
    assert every == {field for field, rule in rules if rule != EVERYBODY}
    for kind, said in FIELDS.items():
        for secret in said.secrets[: sized(1, None)]:
            others = tuple(one for one in said.secrets if one != secret)
            with monkeypatch.context() as patch:
                patch.setitem(FIELDS, kind, said._replace(secrets=others))
                assert redacted() == every - {secret.field}


def _is_nothing(field: str, cell: Any) -> bool:
    if field == "cards":
        return set(cell.split()) == {"hidden"}
    return bool(cell == WORDS.get(field))


def _is_redacted(value: Any) -> bool:
    return value == {"redacted": True} or (isinstance(value, list) and {"redacted": True} in value)

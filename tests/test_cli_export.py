"""`muckrake export` as tables: what stands in them, where it goes, and what is refused."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from analytics.statistics.compute import snapshot_query
from api.cli import export as door
from api.exporting import hand_logs, redacted_tables, table_files
from api.main import main
from dealer.play import play
from engine.games import GAMES
from events import types as t
from events.ledger import Append
from events.match import DeckCommitted, DeckOpened, Match, MatchEnded, NonceGiven, SourceNoted
from events.types import Events
from store.ledger import open_ledger
from store.reader import Reader
from store.sql.result_values import json_rows
from store.tables.projection import STANDARD
from tests.exports import exported, ledger_of, start_of, started
from tests.profiles import in_turn
from tests.sessions import PAIRS, SCRIM, dealt, kept, printed, said, told

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("chosen")
ENVELOPE = {"at", "hand", "hand_seq", "idx", "match", "number", "pos"}
_event: msgspec.json.Decoder[t.Event | Match] = msgspec.json.Decoder(t.Event | Match)


def _rows(data: bytes, to: str) -> list[dict[str, Any]]:
    """The rows of a file, as `muckrake sql --json` would say them."""
    match to:
        case "parquet":
            return json_rows(pq.read_table(io.BytesIO(data)))
        case "arrow":
            return json_rows(pa.ipc.open_file(io.BytesIO(data)).read_all())
        case "ndjson":
            return [json.loads(line) for line in data.splitlines()]
    raise AssertionError(to)


def _event_of(line: bytes) -> t.Event | Match:
    """The event of a line, without its envelope; read as strictly as a ledger's own."""
    fields = msgspec.json.decode(line)
    own = {"HandStarted": {"hand"}, "MatchStarted": {"match"}, "DeckOpened": set[str]()}
    drop = ENVELOPE - own.get(fields["type"], set())
    event = {name: value for name, value in fields.items() if name not in drop}
    if fields["type"] == "DeckOpened":
        event["number"] = event.pop("deck")
    return _event.decode(msgspec.json.encode(event))


@pytest.mark.parametrize(
    ("to", "table"),
    [
        (to, table)
        for table, to in in_turn([*door.TABLES], ("parquet", "arrow", "ndjson"))
        if (to, table) != ("ndjson", "events")  # lines of events have their own form
    ],
)
def test_an_auditors_table_is_the_view_of_the_same_name(
    to: str, table: str, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    printed(capsys, "export", "--to", to, "--table", table, "--out", str(out))
    by = "hand_seq, idx" if table == "events" else "ALL"
    if table == "facts":  # which `muckrake sql` does not have
        snapshot = Reader(Path(os.environ["MUCKRAKE_LEDGER"])).snapshot()
        view = snapshot_query(snapshot).rows("FROM facts ORDER BY ALL")
    else:
        view = told(capsys, "sql", f"SELECT * FROM {table} ORDER BY {by}")["rows"]
    mine = _rows(out.read_bytes(), to)
    assert len(view) == len(mine) > 0 or table == "swaps"
    assert sorted(map(str, map(sorted, map(dict.items, view)))) == sorted(
        map(str, map(sorted, map(dict.items, mine)))
    )


def test_lines_of_json_are_the_events_in_canonical_form(capsys: Captured, folder: Path) -> None:
    lines = printed(capsys, "export", "scrim", "--to", "ndjson").encode().splitlines()
    for line in lines:
        assert msgspec.json.encode(msgspec.json.decode(line), order="sorted") == line
    expected = [event for record in dealt() for event in record]
    match = kept(folder, "scrim")
    assert [match[0], *expected, match[1]] == [_event_of(line) for line in lines]
    heads = [json.loads(line) for line in lines]
    assert sorted(head["pos"] for head in heads) == [head["pos"] for head in heads]
    assert ("scrim/1", "scrim", 1, 0) == tuple(
        heads[1][name] for name in ("hand", "match", "number", "idx")
    )
    assert heads[1]["at"].endswith("Z")


def test_every_kind_of_event_comes_back_from_its_line(tmp_path: Path) -> None:
    """Also those whose own fields are called as the envelope's are."""
    (record,) = play(GAMES["auction-2024"], "m", 1, "2")
    own = (
        started(record),
        DeckCommitted("c0ffee", 3),
        NonceGiven("random-0", "bead"),
        DeckOpened(7, "5eed"),
        SourceNoted("acpc", "dealer", "# a\n# b", ""),
    )
    lines = exported(ledger_of(tmp_path, (record,), own), "ndjson").splitlines()
    assert [*own, *record, MatchEnded((0, 0), "over")] == [_event_of(line) for line in lines]


def test_csv_keeps_commas_quotes_and_line_ends_within_a_cell(tmp_path: Path) -> None:
    (record,) = play(GAMES["auction-2024"], "m", 1, "2")
    raw = 'a "quoted", broken\r\nreply'
    odd = (*record[:3], t.Faulted(0, raw, "malformed", "action"), *record[3:])
    rows = list(csv.DictReader(io.StringIO(exported(ledger_of(tmp_path, (odd,)), "csv").decode())))
    assert len(odd) == len(rows)
    assert [raw] == [row["raw"] for row in rows if row["type"] == "Faulted"]
    assert '["random-0","random-1"]' == rows[0]["players"]


def test_single_hands_and_matches_come_in_the_order_they_are_named(capsys: Captured) -> None:
    text = printed(capsys, "export", "pairs/2", "scrim/5", "pairs/2", "--to", "ndjson")
    hands = [json.loads(line)["hand"] for line in text.splitlines()]
    assert ["pairs/2", "scrim/5"] == list(dict.fromkeys(hands))
    assert len(dealt(PAIRS)[1]) + len(dealt(SCRIM)[4]) == len(hands)
    both = printed(capsys, "export", "scrim/5", "scrim", "--to", "ndjson")
    assert both == printed(capsys, "export", "scrim", "--to", "ndjson")


def test_it_makes_no_difference_where_the_ledger_keeps_its_hands(tmp_path: Path) -> None:
    """In the log, in several segments, or half of each."""
    records = tuple(play(GAMES["auction-2024"], "m", 30, "2"))
    here = ledger_of(tmp_path / "log", records)
    ledger, lock = open_ledger(tmp_path / "sealed", "a test", STANDARD)
    at = [Reader(tmp_path / "log").read(start_of(one).hand)[0].at for one in records]
    for place, (moment, record) in enumerate(zip(at, records, strict=True)):
        ledger.append(Append(start_of(record).hand, 0, record, moment))
        if place in (9, 19):
            ledger.seal()
    ledger.close()
    lock.release()
    there = Reader(tmp_path / "sealed").snapshot()
    assert len(there.parts().segments) >= 2
    for names in ((), ("m",), ("m/3", "m/12", "m/25")):
        for view in ("auditor", "public"):
            one, two = (exported(it, "ndjson", view, names=names) for it in (here, there))
            assert one == two


def test_a_snapshot_is_exported_as_it_was(tmp_path: Path) -> None:
    before = ledger_of(tmp_path, play(GAMES["auction-2024"], "m", 3, "2"))
    known = exported(before, "csv")
    ledger_of(tmp_path, play(GAMES["swap-2022"], "n", 3, "2"))
    before.live.refresh()
    assert known == exported(before, "csv")


def test_hands_that_are_not_over_are_left_out_and_refused_by_name(tmp_path: Path) -> None:
    records: list[Events] = list(play(GAMES["auction-2024"], "m", 2, "2"))
    ledger, lock = open_ledger(tmp_path, "a test")
    ledger.append(Append("m/1", 0, records[0], 1), Append("m/2", 0, records[1][:4], 1))
    hands = {
        json.loads(line)["hand"]
        for line in exported(Reader(tmp_path).snapshot(), "ndjson").splitlines()
    }
    ledger.close()
    lock.release()
    assert {"m/1"} == hands


def test_a_clock_far_out_of_order_stops_no_export(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "a test")
    ledger.append(Append("m", 0, (MatchEnded((), "over"),), 2**53 - 1))
    ledger.close()
    lock.release()
    for to in door.TABULAR:
        for view in ("auditor", "public"):
            assert exported(Reader(tmp_path).snapshot(), to, view)


# Where it goes


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "log.phh"
    out.write_text("what was there before")
    sentence = said(capsys, 1, "export", "scrim/1", "--to", "phh", "--out", str(out))
    assert sentence.startswith("scrim/1: PHH has no code for auction-2024")
    assert ["log.phh"] == [one.name for one in tmp_path.iterdir()]
    assert "what was there before" == out.read_text()
    printed(capsys, "export", "scrim/1", "--to", "csv", "--out", str(out))
    assert out.read_text().startswith('"hand_seq"')


def test_as_json_it_says_what_it_wrote(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "bids.parquet"
    words = ("--to", "parquet", "--table", "bids", "--as", "public", "--out", str(out))
    document = told(capsys, "export", "scrim", *words)
    rows = pq.read_table(out).num_rows
    made = {"format": "parquet", "table": "bids", "view": "public", "out": str(out)}
    assert {**made, "hands": 40, "rows": rows} == document
    document = told(capsys, "export", "scrim", "--to", "mit-gamelog", "--out", str(out))
    assert (None, None, 40) == (document["table"], document["rows"], document["hands"])


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        (5, ("nobody", "--to", "csv"), "there is no match nobody: muckrake matches lists those"),
        (5, ("scrim/41", "--to", "csv"), "there is no hand scrim/41: muckrake hands lists those"),
        (5, ("scrim/01", "--to", "csv"), "there is no hand scrim/01: muckrake hands lists those"),
        (5, ("scrim/", "--to", "csv"), "there is no hand scrim/: muckrake hands lists those"),
        (4, ("scrim", "--to", "csv", "--as", "seat:lynx"), "nobody of that name plays scrim"),
        (4, ("--to", "csv", "--as", "seat:lynx"), "nobody of that name plays a match"),
        (2, ("scrim", "--to", "csv", "--as", "king"), "king is no viewpoint: there are public"),
        (4, ("scrim", "--to", "mit-gamelog", "--as", "public"), "a gamelog cannot say that a card"),
        (2, ("--to", "mit-gamelog"), "a gamelog holds one match: name it, and nothing else"),
        (2, ("scrim/1", "--to", "mit-gamelog"), "a gamelog holds one match: name it"),
        (2, ("scrim", "pairs", "--to", "mit-gamelog"), "a gamelog holds one match: name it"),
        (2, ("scrim", "--to", "phh", "--table", "bids"), "phh has hands, no tables"),
        (2, ("scrim", "--to", "phh", "--lossy"), "--lossy is for acpc"),
        (2, ("scrim", "--to", "csv", "--json"), "--json needs --out FILE"),
        (2, ("scrim", "--to", "csv", "--out", "nowhere/x"), "there is no folder nowhere for x"),
        (2, ("scrim", "--to", "irc"), "'irc' is not one of 'mit-gamelog', 'phh', 'acpc', "),
        (
            2,
            ("scrim",),
            "--format says which format: mit-gamelog, phh, acpc, ohh, pokerstars, ndjson",
        ),
        (1, ("pairs", "--to", "phh"), "pairs/1: PHH has no code for urcs-1998: its sequence"),
        (1, ("pairs", "--to", "acpc"), "pairs/1: ACPC has no code for urcs-1998: its sequence"),
        (1, ("pairs", "--to", "mit-gamelog"), "pairs/1: a gamelog has two players, not 4"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_sentence(
    capsys: Captured, code: int, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(capsys, code, "export", *words)


def test_the_door_knows_what_the_rooms_behind_it_have() -> None:
    """It names them itself, because it is opened before anything heavy is."""
    assert tuple(hand_logs.TEXT_FORMATS) == door.LOGS
    assert set(table_files.TABULAR) == set(door.TABULAR)
    assert redacted_tables.TABLES == door.TABLES
    assert table_files.BINARY == door.BINARY


def test_an_arrow_file_opens_with_the_usual_readers_and_a_pipe_gets_a_stream(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    ledger, out = str(tmp_path / "arrows"), tmp_path / "hands.arrow"
    play = ["play", "auction-2024", "--hands", "3", "--seed", "7", "--match", "m"]
    assert main([*play, "--ledger", ledger]) == 0
    words = ["export", "--to", "arrow", "--table", "hands", "--ledger", ledger]
    assert main([*words, "--out", str(out)]) == 0
    capfdbinary.readouterr()
    assert main(words) == 0
    streamed = pa.ipc.open_stream(capfdbinary.readouterr().out).read_all()
    assert streamed.equals(pa.ipc.open_file(out).read_all())
    assert streamed.equals(pyarrow.feather.read_table(out))
    assert 3 == pl.read_ipc(out).height
    assert b"auditor" == pa.ipc.open_file(out).schema.metadata[b"muckrake.view"]

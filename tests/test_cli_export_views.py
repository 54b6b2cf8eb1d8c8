"""What an export tells a viewpoint: two worlds that it may not tell apart are written alike.

Everything that can leave is compared: each format, each table, their metadata, statistics and row
groups, and sentences of refusal.
"""

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from api.cli.export import TABLES, TABULAR
from api.exporting.hand_logs import ViewpointRefused
from api.viewpoints.redaction import Redactor, opened_by
from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.game import Game
from engine.games import GAMES
from events import types as t
from events.match import Disclosure, MatchEnded, SourceNoted
from events.types import Events
from events.views import Public, Viewpoint, viewpoint
from store.reader import Snapshot
from tests.exports import exported, ledger_of, start_of, started
from tests.hands import NAMES, covering, seeded, steps
from tests.profiles import in_turn, sized
from tests.sessions import printed
from tests.worlds import other_world

HANDS = 5
SOME = sized(quick=covering(GAMES, steps), ci=covering(GAMES), slow=GAMES)
FORMATS = sized(1, 1, 9)  # tests/leaks asks for every one


def _records(game: Game) -> tuple[Events, ...]:
    """Hands that were walked through every corner, as one match."""
    records = []
    for number in range(1, HANDS + 1):
        start, *rest = seeded(game, f"export {number}").record
        assert isinstance(start, t.HandStarted)
        records.append((replace(start, hand=f"m/{number}"), *rest))
    return tuple(records)


def _who(view: str, record: Events) -> Viewpoint:
    """Beside the table a player sees what the public sees."""
    players = start_of(record).players
    sits = view == "public" or view.removeprefix("seat:") in players
    return viewpoint(view, players) if sits else Public()


def _world(record: Events, who: Viewpoint, chance: random.Random) -> Events:
    """Another world, in which bids of others also failed before they counted as nothing."""
    return tuple(_with_faults(other_world(record, who, chance), who))


def _with_faults(record: Events, who: Viewpoint) -> Iterator[t.Event]:
    for event in record:
        if isinstance(event, t.BidPlaced) and getattr(who, "seat", None) != event.seat:
            yield t.Faulted(event.seat, "A1.6", "malformed", "bid")
        yield event


def _everything(snapshot: Snapshot, view: str) -> dict[str, bytes]:
    found = {
        f"{to} {table}": exported(snapshot, to, view, table)
        for to in (*TABULAR,)[:FORMATS]
        for table in TABLES
    }
    for name in ("", "m/3"):
        for to in ("phh", "ohh", "pokerstars"):
            found[f"{to} {name}"] = exported(snapshot, to, view, names=(name,) if name else ())
    return found


@pytest.mark.parametrize(("name", "view"), in_turn(SOME, ("public", f"seat:{NAMES[0]}")))
def test_two_worlds_are_exported_alike_to_whom_they_differ_in_secret(
    name: str, view: str, tmp_path: Path
) -> None:
    records, chance = _records(GAMES[name]), random.Random(f"{name} {view}")
    others = tuple(_world(record, _who(view, record), chance) for record in records)
    assert records != others
    start = started(records[0], NAMES)
    here = ledger_of(tmp_path / "here", records, (start,))
    there = ledger_of(tmp_path / "there", others, (replace(start, seed="another"),))
    one, two = _everything(here, view), _everything(there, view)
    assert [] == [name for name in one if one[name] != two[name]]
    assert exported(here, "csv") != exported(there, "csv")


def test_what_is_hidden_leaves_no_gap_in_the_numbers(tmp_path: Path) -> None:
    (record,) = play(GAMES["auction-2024"], "m", 1, "2")
    place = next(at for at, event in enumerate(record) if isinstance(event, t.BidPlaced))
    bid = record[place]
    assert isinstance(bid, t.BidPlaced)
    failed = (*record[:place], t.Faulted(bid.seat, "A-1", "illegal", "bid"), *record[place:])
    snapshot = ledger_of(tmp_path, (failed,))
    lines = [json.loads(line) for line in exported(snapshot, "ndjson", "public").splitlines()]
    assert list(range(len(record))) == [line["idx"] for line in lines]
    assert not any("pos" in line for line in lines)
    rows = pq.read_table(io.BytesIO(exported(snapshot, "parquet", "public", "bids")))
    assert place == rows["idx"][0].as_py()
    rows = pq.read_table(io.BytesIO(exported(snapshot, "parquet", "public", "hands")))
    assert len(record) == rows["events"][0].as_py()
    assert {"pos", "first_pos", "last_pos"}.isdisjoint(rows.column_names)


def test_bids_are_told_once_the_auction_is_settled_and_why_they_were_made_never(
    tmp_path: Path,
) -> None:
    (record,) = play(GAMES["auction-2024"], "m", 1, "2")
    made = [(bid.seat, bid.amount) for bid in record if isinstance(bid, t.BidPlaced)]
    snapshot = ledger_of(tmp_path, (record,))
    for view, own in (("public", None), ("seat:random-1", 1)):
        rows = pq.read_table(io.BytesIO(exported(snapshot, "parquet", view, "bids"))).to_pylist()
        assert made == [(row["seat"], row["amount"]) for row in rows]
        assert [seat != own for seat, _ in made] == [row["origin"] == "hidden" for row in rows]
        events = pq.read_table(io.BytesIO(exported(snapshot, "parquet", view))).to_pylist()
        placed = [row for row in events if row["type"] == "BidPlaced"]
        assert [None if seat != own else amount for seat, amount in made] == [
            row["amount"] for row in placed
        ]
        assert ["amount origin" if seat != own else None for seat, _ in made] == [
            row["redacted"] for row in placed
        ]


def test_whether_a_card_was_swapped_is_for_its_holder(tmp_path: Path) -> None:
    records = tuple(play(GAMES["swap-2022"], "m", 30, "2"))
    snapshot = ledger_of(tmp_path, records)
    rows = pq.read_table(io.BytesIO(exported(snapshot, "parquet", "seat:random-0", "swaps")))
    for row in rows.to_pylist():
        mine = row["player"] == "random-0"
        assert mine == (row["changed"] is not None) == (row["old"] != "hidden")
        assert not mine or row["changed"] == (row["old"] != row["new"])
    assert {True, False, None} == set(rows["changed"].to_pylist())


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("view", ["public", "auditor"])
def test_whose_view_of_what_it_is_stands_in_the_file(to: str, view: str, tmp_path: Path) -> None:
    snapshot = ledger_of(tmp_path, play(GAMES["auction-2024"], "m", 3, "2"))
    data = io.BytesIO(exported(snapshot, to, view, "players"))
    schema = pq.read_schema(data) if to == "parquet" else pa.ipc.open_stream(data).schema
    metadata = {key: value for key, value in schema.metadata.items() if b"muckrake" in key}
    assert {b"muckrake.table": b"players", b"muckrake.view": view.encode()} == metadata


# Disclosure


@pytest.mark.parametrize(
    ("disclosure", "end", "opened"),
    [
        ("sealed", False, False),
        ("sealed", True, False),
        ("open-after-match", False, False),
        ("open-after-match", True, True),
        ("open", False, True),
        ("open", True, True),
    ],
)
def test_a_match_opens_its_hands_when_it_said_it_would(
    disclosure: Disclosure, end: bool, opened: bool, tmp_path: Path
) -> None:
    records = tuple(play(GAMES["auction-2024"], "m", 3, "2"))
    start = started(records[0], disclosure=disclosure)
    snapshot = ledger_of(tmp_path, records, (start,), end)
    for view in ("public", "seat:random-0"):
        told = exported(snapshot, "ndjson", view, names=("m/1", "m/2", "m/3"))
        assert opened == (b"redacted" not in told)
        if opened:
            assert exported(snapshot, "mit-gamelog", names=("m",)) == exported(
                snapshot, "mit-gamelog", view, names=("m",)
            )
        else:
            with pytest.raises(ViewpointRefused, match="only an auditor may write m/1 so, not"):
                exported(snapshot, "mit-gamelog", view, names=("m",))


@pytest.mark.parametrize("disclosure", ["sealed", "open-after-match", "open"])
def test_a_replay_opens_as_an_export_does(
    disclosure: Disclosure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("auction-2024", "--hands", "2", "--seed", "7", "--match", "m")
    ledger = ("--ledger", str(tmp_path / "ledger"))
    printed(capsys, "play", *words, "--disclosure", disclosure, *ledger)
    whole = printed(capsys, "replay", "m/2", *ledger)
    for view in ("public", "seat:random-0"):
        seen = printed(capsys, "replay", "m/2", "--as", view, *ledger)
        assert (disclosure != "sealed") == (seen == whole) == ("hidden" not in seen)


@pytest.mark.parametrize(("disclosure", "end"), [("open", False), ("sealed", True)])
def test_not_even_an_open_match_tells_its_seed_before_it_is_over(
    disclosure: Disclosure, end: bool, tmp_path: Path
) -> None:
    """A seed would tell the cards of the hands to come."""
    records = tuple(play(GAMES["auction-2024"], "m", 1, "2"))
    start = started(records[0], disclosure=disclosure)
    closed = ledger_of(tmp_path / "closed", records, (start,), end)
    assert b"s3cr3t" not in exported(closed, "ndjson", "public")
    over = ledger_of(tmp_path / "over", records, (replace(start, disclosure="open"),))
    assert b"s3cr3t" in exported(over, "ndjson", "public")


def test_a_match_that_was_never_announced_stays_sealed() -> None:
    assert not opened_by([]).hands
    assert not opened_by([MatchEnded((), "over")]).hands


def test_the_words_of_a_source_are_for_the_auditor(tmp_path: Path) -> None:
    """An ACPC header names a seed, a PHH commentary may name a card."""
    records = tuple(play(GAMES["auction-2024"], "m", 1, "2"))
    own = (
        started(records[0]),
        SourceNoted("acpc", "dealer", "# seed 4711\n", "SCORE:1|-1:a|b\n"),
    )
    snapshot = ledger_of(tmp_path, records, own)
    for to in TABULAR:
        told = exported(snapshot, to, "public")
        assert b"4711" not in told
        assert b"SCORE" not in told


def test_a_player_who_sits_out_a_hand_sees_it_as_the_public_does(tmp_path: Path) -> None:
    records = _records(GAMES["probability"])
    away = next(r for r in records if len(start_of(r).players) < len(NAMES))
    absent = next(name for name in NAMES if name not in start_of(away).players)
    snapshot = ledger_of(tmp_path, records, (started(records[0], NAMES),))
    hand = (start_of(away).hand,)
    assert exported(snapshot, "ndjson", "public", names=hand) == exported(
        snapshot, "ndjson", f"seat:{absent}", names=hand
    )
    Redactor(snapshot, Viewer(f"seat:{absent}")).check_seat("m")

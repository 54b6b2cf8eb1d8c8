"""Public gamelogs, and logs of the unmodified engines: counted, judged, written to the byte."""

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from engine.games import GAMES, RULESETS
from engine.verdict import judge
from events import types as t
from events.cards import Cards
from events.evolve import evolve, replay
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.mit.write import encoded_log, write
from formats.source import Refused, SourceFile, SourceHand

SHARED = Path(__file__).parents[2].parent / "shared/data"
MIT = SHARED / "mit"
pytestmark = pytest.mark.skipif(not MIT.is_dir(), reason=f"the public gamelogs are not at {MIT}")


def _every() -> list[Path]:
    return sorted([*MIT.glob("20*/*.txt*"), *MIT.glob("made/*/*.txt")])


def _expected() -> dict[str, dict[str, str]]:
    if not MIT.is_dir():
        return {}
    with (MIT / "EXPECTED.tsv").open(newline="") as table:
        return {row["file"]: row for row in csv.DictReader(table, delimiter="\t")}


EXPECTED = _expected()
LOGS = _every()
SAMPLE = [log for log in LOGS if "raw" in log.name or log.name[-25:-17] in ("b31bc376", "2cb7c7e5")]
# One log of each dialect, and one with another stack.
DIALECTS = {
    "3907de88": "S1",
    "61fd1eb1": "S1",
    "8e6b75eb": "A0",
    "2590b6a9": "A1",
    "b215d6c1": "A2",
    "387f64e4": "no auction",
    "full-2022-Adamack-statbot": "S3",
    "full-2024-gcao-week1": "A3",
}


def _bytes(log: Path) -> bytes:
    return gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes()


def _records(source: SourceFile) -> list[t.Events]:
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    return [hand_record(hand, f"m/{hand.number}") for hand in told]


def _named(part: str) -> Path:
    return next(log for log in LOGS if part in log.name)


@pytest.mark.parametrize("log", SAMPLE, ids=lambda log: log.name)
def test_a_log_read_and_written_is_the_same_log(log: Path) -> None:
    _checked(log)


@pytest.mark.parametrize("part", DIALECTS)
def test_the_first_hundred_hands_of_every_dialect(part: str) -> None:
    """Cut and closed with its own final line, a log is still a log."""
    text = _bytes(_named(part)).decode()
    source = read(text)
    assert source.dialect == DIALECTS[part]
    told = [hand for _, hand in zip(range(100), source.hands, strict=False)]
    records = [
        hand_record(hand, f"m/{hand.number}") for hand in told if isinstance(hand, SourceHand)
    ]
    written = write(records, source.note)
    cut = written.rpartition("\nFinal, ")[0]
    assert (100, True) == (len(records), text.startswith(cut))
    assert not any(_is_claimed(record) for record in records)


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_every_log_is_read_counted_and_written_to_the_byte(log: Path) -> None:
    _checked(log)


def _checked(log: Path) -> None:
    text = _bytes(log)
    source = read(text)
    records = _records(source)
    assert encoded_log(write(records, source.note), source.note) == text
    assert not any(_is_claimed(record) for record in records)
    name = str(log.relative_to(SHARED))
    if name not in EXPECTED:
        assert "samename" in name or "masked" in name  # not counted there
        return
    row = EXPECTED[name]
    counted = _counted(records, source.dialect)
    counted["swapped_tags"] = text.count(b" (swapped) awarded ")
    counted["footer_lines"] = text.count(b" bets EV: ")
    assert {key: int(row[key]) for key in COUNTS} == {key: counted[key] for key in COUNTS}
    start = records[0][0]
    assert isinstance(start, t.HandStarted)
    assert ((int(row["stack"]),) * 2, (row["player1"], row["player2"])) == (
        start.stacks,
        start.players,
    )


COUNTS = [
    key
    for key in next(iter(EXPECTED.values()), {})
    if key not in ("file", "stack", "player1", "player2", "final")
]


def _is_claimed(record: t.Events) -> bool:
    return any(getattr(event, "origin", "") == "recorded" for event in record)


def _counted(records: list[t.Events], dialect: str) -> Counter[str]:
    found: Counter[str] = Counter(hands=len(records))
    for record in records:
        hand = replay(record[:1])
        third = 0
        for event in record[1:]:
            found.update(_of(event, hand.board, min(hand.stacks)))
            if isinstance(event, t.HoleDealt) and hand.hole[event.seat]:
                third += event.cards != ("??",)
            hand = evolve(hand, event)
        folded = "folded" in hand.standing
        found["folds" if folded else "showdowns"] += 1
        if dialect in ("A2", "A3"):
            found["third_cards_logged"] += third
        elif third:
            found["third_only_in_shows"] += 1
        split = next(event for event in record if isinstance(event, t.PotSplit))
        if len(split.seats) == 2:
            found["splits"] += 1
            found["splits_nonzero"] += hand.stacks != hand.start.stacks
    return found


def _of(event: t.Event, board: Cards, least: int) -> list[str]:
    """What one event counts as, with this board and this smallest stack before it."""
    match event:
        case t.Bet(full=full) | t.Raised(full=full):
            return ["raises"] if full else ["raises", "short_allin"]
        case t.Checked():
            return ["checks"] if least else ["checks", "forced_checks"]
        case t.AuctionSettled(bids=bids, price=price):
            tied = ["tied_bids"] if bids[0] == bids[1] else []
            zero = {True: "tied_zero", False: "won_free"}[bool(tied)]
            return ["auctions", *tied, *([] if price else [zero])]
        case t.CardSwapped(old=old, new=new):
            street = "turn" if board else "flop"
            return [f"slots_{street}", *([f"swaps_{street}"] if old != new else [])]
        case t.Faulted(kind=kind, where=where):
            kinds = {"malformed": "misformatted", "late": "timeouts", "disconnected": "disconnects"}
            late = ["bad_acks"] if where == "acknowledgement" and kind != "late" else []
            return [kinds.get(kind, kind), *late]
    return []


@pytest.mark.slow
@pytest.mark.parametrize(("year", "assuming", "contested"), [("2022", 164, 0), ("2024", 2175, 55)])
def test_the_verdicts_on_the_public_logs(year: str, assuming: int, contested: int) -> None:
    """Two replays gave no difference; 55 of 102 split pots of the auction had a nonzero net. Hands
    that come to the stack assume it."""
    verdicts: Counter[str] = Counter()
    for log in MIT.glob(f"{year}/*.txt*"):
        for record in _records(read(_bytes(log))):
            start = record[0]
            assert isinstance(start, t.HandStarted)
            game = RULESETS[start.game]
            verdicts[judge(game, record, GAMES[game.partner or ""]).verdict] += 1
    hands = sum(int(row["hands"]) for name, row in EXPECTED.items() if f"mit/{year}/" in name)
    agree = hands - assuming - contested
    assert {"agree": agree, "assuming": assuming, "contested": contested} == {
        "agree": verdicts.pop("agree"),
        "assuming": verdicts.pop("assuming"),
        "contested": verdicts.pop("contested", 0),
    }
    assert not verdicts


def test_a_log_with_merge_markers_is_refused_at_the_first_of_them() -> None:
    with pytest.raises(Refused, match="line 6: a git merge marker"):
        read(next(MIT.glob("damaged/*.txt")))

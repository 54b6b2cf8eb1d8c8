"""Exports as logs: read again they are the same hands, and imported logs come back to the byte."""

import gzip
import warnings
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.exporting.hand_logs import CannotExport
from dealer.play import play
from engine.game import Game
from engine.games import GAMES, RULESETS
from engine.games.site import at_stakes
from events import types as t
from events.evolve import replay
from events.match import SourceNoted
from events.types import Events
from formats.acpc.read import read as read_acpc
from formats.hand_records import hand_record
from formats.mit.read import read as read_gamelog
from formats.mit.write import write as write_gamelog
from formats.phh.read import PhhHand
from formats.phh.read import read as read_phh
from formats.source import Holds, SourceFile, SourceHand
from store.reader import Snapshot
from tests.exports import exported, ledger_of, start_of, started
from tests.formats.test_format_acpc import NO_LIMIT
from tests.formats.test_format_mit import DIALECTS
from tests.formats.test_format_phh import ONE, TWO
from tests.profiles import sized
from tests.sessions import printed, told

MIT = Path(__file__).parents[2] / "shared/data/mit"
needs_gamelogs = pytest.mark.skipif(
    not MIT.is_dir(), reason=f"the public gamelogs are not at {MIT}"
)
TWO_PLAYERS = ("auction-2024", "auction-2024-mit", "swap-2022", "swap-2022-mit")


def _imported(source: SourceFile, folder: Path) -> tuple[Snapshot, list[Game]]:
    """A source in a ledger: its note, the notes of its hands, its hands."""
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    records = [hand_record(hand, f"m/{hand.number}") for hand in told]
    notes = [] if source.note is None else [source.note]
    notes += [
        SourceNoted("phh", f"hand {hand.number}", hand.note.header, hand.note.footer)
        for hand in told
        if isinstance(hand, PhhHand)
    ]
    start = replace(started(records[0]), dealing="recorded", seed=None)
    return ledger_of(folder, records, (start, *notes)), [hand.game for hand in told]


def _nets(record: Events) -> dict[str, int]:
    hand, start = replay(record), start_of(record)
    both = zip(start.players, hand.stacks, start.stacks, strict=True)
    return {player: after - before for player, after, before in both}


# MIT gamelogs


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_gamelog_comes_back_to_the_byte(dialect: str, encoding: str, tmp_path: Path) -> None:
    text = DIALECTS[dialect].replace("ada II", "zoë").encode(encoding)
    snapshot, _ = _imported(read_gamelog(text), tmp_path)
    assert text == exported(snapshot, "mit-gamelog", names=("m",))


@needs_gamelogs
@pytest.mark.parametrize(
    "part",
    [
        *("3907de88", "raw-2024-garbage", "raw-2022-weird"),
        *sized((), ("8e6b75eb", "2590b6a9", "b215d6c1")),
    ],
)
def test_a_public_gamelog_comes_back_to_the_byte(part: str, tmp_path: Path) -> None:
    (log,) = [one for one in MIT.glob("**/*.txt*") if part in one.name]
    text = gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes()
    snapshot, _ = _imported(read_gamelog(text), tmp_path)
    assert text == exported(snapshot, "mit-gamelog", names=("m",))


def _footers() -> list[Any]:
    logs = sorted(MIT.glob("made/*/*.txt"))
    quick = ("full-2022-maniac", "full-2024-gcao", "raw-2024-samename", "masked-2024-tap")
    return [
        pytest.param(log, id=log.name, marks=[] if log.name.startswith(quick) else pytest.mark.slow)
        for log in logs
    ]


@needs_gamelogs
@pytest.mark.parametrize("log", _footers())
def test_the_footer_of_every_newest_log_is_what_we_would_count(log: Path) -> None:
    """Written without its note, a log has the footer that its engine wrote."""
    source = read_gamelog(log.read_bytes())
    assert source.dialect in ("A3", "S3")
    told = (hand for hand in source.hands if isinstance(hand, SourceHand))
    text = write_gamelog(hand_record(hand, f"m/{hand.number}") for hand in told)
    assert log.read_text().rpartition("\nFinal, ")[2] == text.rpartition("\nFinal, ")[2]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("end", ["", "\n"])
def test_what_import_takes_in_export_gives_back(
    dialect: str, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "gamelog.txt", tmp_path / "again.txt"
    log.write_text(DIALECTS[dialect] + end)
    ledger = ("--ledger", str(tmp_path / "ledger"))
    (file,) = told(capsys, "import", str(log), "--names", "ada=lynx", *ledger)["files"]
    printed(capsys, "export", file["match"], "--to", "mit-gamelog", "--out", str(out), *ledger)
    assert log.read_bytes() == out.read_bytes()


def test_an_imported_log_opens_as_its_disclosure_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "gamelog.txt", tmp_path / "again.txt"
    log.write_text(DIALECTS["A2"])
    for disclosure, code in (("sealed", 4), ("open-after-match", 0)):
        ledger = ("--ledger", str(tmp_path / disclosure))
        words = ("import", str(log), "--disclosure", disclosure)
        (file,) = told(capsys, *words, *ledger)["files"]
        again = ("--to", "mit-gamelog", "--as", "public", "--out", str(out))
        printed(capsys, "export", file["match"], *again, *ledger, code=code)
    assert log.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("name", TWO_PLAYERS)
def test_a_match_of_our_own_is_written_as_the_newest_engine_would(
    name: str, tmp_path: Path
) -> None:
    records = tuple(play(GAMES[name], "m", 80, "own"))
    text = exported(ledger_of(tmp_path / "own", records), "mit-gamelog", names=("m",))
    source = read_gamelog(text)
    assert {"auction": "A3", "swap": "S3"}[name.partition("-")[0]] == source.dialect
    snapshot, _ = _imported(source, tmp_path / "again")
    assert text == exported(snapshot, "mit-gamelog", names=("m",))
    told = [hand for hand in read_gamelog(text).hands if isinstance(hand, SourceHand)]
    assert [_nets(record) for record in records] == [
        dict(zip(hand.players, hand.nets or (), strict=True)) for hand in told
    ]


def test_a_round_that_is_missing_is_named(tmp_path: Path) -> None:
    records = tuple(play(GAMES["auction-2024"], "m", 3, "own"))
    snapshot = ledger_of(tmp_path, (records[0], records[2]))
    with pytest.raises(CannotExport, match="round 2 is not in the ledger, m/3 comes in its place"):
        _written(snapshot, "mit-gamelog")


def test_a_hand_that_was_called_off_is_named(tmp_path: Path) -> None:
    one, two = play(GAMES["swap-2022"], "m", 2, "own")
    snapshot = ledger_of(tmp_path, (one, (*two[:-1], t.HandVoided("recovery"))))
    with pytest.raises(CannotExport, match="m/2 was voided: no gamelog can say so"):
        _written(snapshot, "mit-gamelog")


@pytest.mark.parametrize("to", ["mit-gamelog", "phh", "acpc"])
def test_a_hand_that_does_not_add_up_is_named(to: str, tmp_path: Path) -> None:
    game = GAMES["auction-2024"] if to == "mit-gamelog" else GAMES["site-nl-standard"]
    (record,) = play(game, "m", 1, "own", 2)
    stray = (*record[:-1], t.Folded(7, None), record[-1])
    told = exported(ledger_of(tmp_path, (stray,)), to, names=("m",))
    assert told == b"m/1 does not add up: muckrake audit says where"


# PHH


STAKES = (("site-nl-standard", None, 0), ("site-nl-standard", None, 2), ("site-fl", 20, 0))


@pytest.mark.parametrize("seats", [2, 3, 6])
@pytest.mark.parametrize(("name", "high", "ante"), STAKES)
@pytest.mark.parametrize("view", ["auditor", "public"])
def test_hands_as_phh_are_read_to_the_same_nets_by_us_and_by_pokerkit(
    name: str, high: int | None, ante: int, seats: int, view: str, tmp_path: Path
) -> None:
    """Also where a viewpoint does not know the cards: the chips are everybody's to see."""
    game = at_stakes(RULESETS[name], 5, 10, high, ante)
    records = tuple(play(game, "m", 12, f"export {seats}", seats))
    snapshot = ledger_of(tmp_path, records)
    text = exported(snapshot, "phh", view, games=(game,)).decode()
    told = [hand for hand in read_phh(text).hands if isinstance(hand, PhhHand)]
    for hand, record in zip(told, records, strict=True):
        assert _nets(record) == _nets(hand_record(hand, "m/1"))
    for number, record in enumerate(records, start=1):
        alone = exported(snapshot, "phh", view, names=(f"m/{number}",), games=(game,)).decode()
        assert f'_view = "{view}"' in alone
        if view == "auditor" and _splits_evenly(record):  # pokerkit has its own odd chips
            assert _by_position(record) == _pokerkit_stacks(alone)


def test_what_a_viewpoint_does_not_know_is_an_unknown_card_in_phh(tmp_path: Path) -> None:
    game = GAMES["site-nl-standard"]
    records = tuple(play(game, "m", 12, "export", 3))
    snapshot = ledger_of(tmp_path, records)
    for view, own in (("public", None), ("seat:random-1", "random-1")):
        for hand in read_phh(exported(snapshot, "phh", view).decode()).hands:
            assert isinstance(hand, PhhHand)
            for item in hand.items:
                if isinstance(item, Holds):
                    mine = hand.players[item.seat] == own
                    assert mine == ("??" not in item.cards)


def _pokerkit_stacks(text: str) -> list[int]:
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of our own fields, and of folds that cost nothing
        return [int(stack) for stack in list(pokerkit.HandHistory.loads(text))[-1].stacks]


def _by_position(record: Events) -> list[int]:
    """Stacks at the end, from the left of the button."""
    hand, seats = replay(record), len(record[0].stacks)  # type: ignore[union-attr]
    return [hand.stacks[(hand.start.button + 1 + at) % seats] for at in range(seats)]


def test_fields_and_commentary_of_an_imported_phh_come_back(tmp_path: Path) -> None:
    text = "\n".join((f"[1]{ONE}", f"[2]{TWO}", f"[3]{ONE.replace('rain', 'snow')}"))
    snapshot, games = _imported(read_phh(text), tmp_path)
    again = exported(snapshot, "phh", games=games).decode()
    assert ["_weather = {rain = true, drops = [1, 2.50]}"] == _lines(again, "[1]", "_weather")
    assert [] == _lines(again, "[2]", "_weather")
    assert ["_weather = {snow = true, drops = [1, 2.50]}"] == _lines(again, "[3]", "_weather")
    single = exported(snapshot, "phh", names=("m/3",), games=games).decode()
    assert "_weather = {snow" in single
    assert not single.startswith("[")
    assert "_weather" not in exported(snapshot, "phh", "public", games=games).decode()


def _lines(text: str, table: str, field: str) -> list[str]:
    """The lines of a field in one table."""
    part = text.partition(table)[2].partition("\n\n[")[0]
    return [line for line in part.splitlines() if line.startswith(field)]


# ACPC


@pytest.mark.parametrize("seats", [2, 3, 6])
@pytest.mark.parametrize("name", ["acpc-nl", "acpc-limit"])
def test_hands_as_an_acpc_log_are_read_to_the_same_nets(
    name: str, seats: int, tmp_path: Path
) -> None:
    game = at_stakes(RULESETS[name], 10, 20, 40 if name == "acpc-limit" else None)
    game = replace(game, stack=2000, unit="chip", odd_chips="clockwise_each")
    records = [r for r in play(game, "m", 30, f"export {seats}", seats) if _splits_evenly(r)]
    text = exported(ledger_of(tmp_path, records), "acpc", games=(game,)).decode()
    told = [hand for hand in read_acpc(text).hands if isinstance(hand, SourceHand)]
    for hand, record in zip(told, records, strict=True):
        assert {player: 2 * net for player, net in _nets(record).items()} == dict(
            zip(hand.players, hand.nets or (), strict=True)
        )
    if name == "acpc-nl":
        _check_pokerkit(text, told)


def _splits_evenly(record: Events) -> bool:
    return all(len(set(e.shares)) == 1 for e in record if isinstance(e, t.PotSplit))


def _check_pokerkit(text: str, told: list[SourceHand]) -> None:
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    peer = pokerkit.NoLimitTexasHoldem((), True, 0, (10, 20), 20)
    states = "".join(line + "\n" for line in text.splitlines() if line.startswith("STATE"))
    peers = list(pokerkit.HandHistory.from_acpc_protocol(peer, 2000, states, error_status=True))
    for hand, one in zip(told, peers, strict=True):
        assert hand.nets == tuple(2 * (stack - 2000) for stack in list(one)[-1].stacks)


def test_an_acpc_log_comes_back_to_the_byte(tmp_path: Path) -> None:
    source = read_acpc(NO_LIMIT)
    snapshot, games = _imported(source, tmp_path)
    renumbered = NO_LIMIT.splitlines()
    again = exported(snapshot, "acpc", games=games).decode().splitlines()
    assert [_unnumbered(line) for line in renumbered] == [_unnumbered(line) for line in again]


def _unnumbered(line: str) -> str:
    """A hand is numbered by its place in the ledger's match."""
    first, colon, rest = line.partition(":")
    return line if first != "STATE" else first + colon + rest.partition(":")[2]


def _written(snapshot: Snapshot, to: str) -> bytes:
    """The export, or the refusal itself."""
    told = exported(snapshot, to, names=("m",))
    if not told.startswith(b"6."):
        raise CannotExport(told.decode())
    return told

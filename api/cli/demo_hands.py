"""What the demo plays, keeps and proves: hands of every ruleset, two programs, one disputed pot.

It all goes into a ledger that stays, so that it can be looked at afterwards. An earlier demo's is
replaced, and nobody else's.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from api.cli.ledger import closed_hands, reading, writing
from api.evidence.make import evidence, save
from api.evidence.verify import read_bundle
from api.playing.over_the_wire import Meeting
from api.playing.recording import Recording, announced, finished
from api.printable import Page, page
from api.report import as_json, as_text
from api.rules import start_of
from dealer.deck import SeededDecks
from dealer.play import play
from dealer.wire.match import MatchJob
from dealer.wire.program import GRUFF, STEADY, USUAL, program
from dealer.wire.sandbox import Guard
from dealer.wire.words import plan
from engine.changes import changed, origin, partner_of
from engine.game import Game, fingerprint, to_json
from engine.games import GAMES
from engine.table import is_freeze_out
from engine.verdict import Report, judge
from events.codec import decode_all, encode_all
from events.evolve import replay
from events.ledger import Ledger
from events.match import MatchEnded
from events.notation import read as read_line
from events.notation import say
from events.types import Events
from store.folder.disk import cache_folder
from store.proof.notary import public_keys

DISPUTED = "auction-2024"  # its document and its engine disagree about money (A9)
SPOKEN = "auction-2024-mit"  # by the bots of the wire match
WIRE = "wire"
WIRE_HANDS = 40
UNDISPUTED_MAX = 5_000  # by then a hand is contested, or none ever is
OVER = "the demo is over"  # by which an earlier demo is known
EVENTS = "segments/events*.parquet"
Note = Callable[[str], None]


class DemoFailed(Exception):
    """What a demo must never find: the sentence, and the hand in notation if it is about one."""

    def __init__(self, sentence: str, record: Page | None = None) -> None:
        super().__init__(sentence)
        self.record = record


class Occupied(Exception):
    """Something else is where the demo's ledger should be."""


class Undisputed(Exception):
    """At these settings there is no disputed pot to show."""


class Tally(NamedTuple):
    """What the hands of one ruleset came to."""

    ruleset: str
    hands: int
    events: int
    agree: int
    contested: int


class KeptLedger(NamedTuple):
    """What a ledger on disk made of all hands."""

    folder: str
    hands: int
    segment_bytes: int


class Wire(NamedTuple):
    """What became of the two example bots."""

    players: tuple[str, ...]
    hands: int
    nets: tuple[int, ...]
    replies: int
    trouble: tuple[str, ...]


class Evidence(NamedTuple):
    """The disputed hand's evidence, and what its own program said of it."""

    hand: str
    file: str
    lines: tuple[str, ...]


class Shown(NamedTuple):
    """All of it."""

    tallies: list[Tally]
    wire: Wire
    kept: KeptLedger
    game: Game
    disputed: Events
    report: Report
    evidence: Evidence


def shown(games: Iterable[Game], hands: int, seed: str, folder: Path | None, note: Note) -> Shown:
    """The demo from its first hand to its evidence; `DemoFailed` if anything is not right."""
    with _replacing((folder or _own_folder()).absolute()) as (made, meant):
        tallies, wire, disputed = played(games, hands, seed, made, note)
        game, record, report = disputed
        evidence = _evidence(made, meant, game, (record, report))
        counted = sum(tally.hands for tally in tallies) + wire.hands
        size = sum(one.stat().st_size for one in made.glob(EVENTS))
    kept = KeptLedger(str(meant), counted, size)
    return Shown(tallies, wire, kept, game, record, report, evidence)


def _own_folder() -> Path:
    """One in the cache folder; a new temporary one where that cannot be written."""
    folder = cache_folder() / "demo"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder.parent).close()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="muckrake-demo-"))
    return folder


@contextmanager
def _replacing(meant: Path) -> Iterator[tuple[Path, Path]]:
    """A new folder that takes the place of an earlier demo's once everything in it is right."""
    _check_free(meant)
    meant.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{meant.name}-", dir=meant.parent))
    try:
        yield made, meant
        _check_free(meant)
        if meant.exists():
            shutil.rmtree(meant)
        os.replace(made, meant)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check_free(folder: Path) -> None:
    """Only what a demo made may be replaced by one."""
    from store.reader import NoLedger, Reader

    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        ledger = Reader(folder).snapshot()
        ends = [ledger.read(match)[-1].event for match in ledger.matches() if match != WIRE]
    except (NoLedger, OSError):
        ends = []
    if not ends or not all(isinstance(one, MatchEnded) and one.reason == OVER for one in ends):
        raise Occupied(f"{folder} holds something else than an earlier demo: name another folder")


def played(
    games: Iterable[Game], hands: int, seed: str, folder: Path, note: Note
) -> tuple[list[Tally], Wire, tuple[Game, Events, Report]]:
    """A match of every ruleset into one ledger; then the whole ledger read from its files."""
    tallies, digests = [], []
    disputed: tuple[Game, Events, Report] | None = None
    with writing(folder, "demo") as ledger:
        for game in games:
            if is_freeze_out(game):  # enough hands are several: set anew, and nobody wins
                game = changed(game, {"broke": "set_anew"})
            records = list(islice(_dealt(game, seed), hands))
            base = origin(game)[0].name
            if base == DISPUTED:
                (record, report), records = _until_disputed(game, seed, records)
                disputed = game, record, report
            tallies.append(tally(game, records))
            ledger.keep_ruleset(fingerprint(game), to_json(game))
            recording = Recording(ledger, announced(base[:64], records[0], seed, "open"), game)
            digests += [
                _digest(record) for record in recording.keep(map(finished, records), lambda: False)
            ]
            recording.end(OVER)
        records, wire = play_wire_match(folder, ledger, min(hands, WIRE_HANDS), seed, note)
        tally(GAMES[SPOKEN], records)
        digests += [_digest(record) for record in records]
        ledger.seal()
    with reading(folder) as stored:
        stored_digests = [_digest(record) for record in closed_hands(stored.read_from(0))]
    if stored_digests != digests:
        raise DemoFailed("the ledger does not hold what was written into it")
    assert disputed is not None
    return tallies, wire, disputed


def _until_disputed(
    game: Game, seed: str, first: list[Events]
) -> tuple[tuple[Events, Report], list[Events]]:
    """The first hand on which the readings pay differently, and all hands up to it at least."""
    records: list[Events] = []
    for number, record in enumerate(chain(first, islice(_dealt(game, seed), len(first), None))):
        records.append(record)
        report = _judged(game, record)
        if report.verdict == "contested":
            return (record, report), first if number < len(first) else records
        if number == UNDISPUTED_MAX:
            break
    raise Undisputed(
        f"none of {UNDISPUTED_MAX:,} hands of {game.name} is contested, and the demo shows one: "
        "leave that setting to muckrake play"
    )


def play_wire_match(
    folder: Path, ledger: Ledger, hands: int, seed: str, note: Note
) -> tuple[list[Events], Wire]:
    """A match between the two bots that ship as examples, each in a process of its own."""
    bots = (program(STEADY, STEADY.name), program(GRUFF, GRUFF.name))
    match = plan(GAMES[SPOKEN], WIRE, (bots[0].name, bots[1].name), hands)
    meeting = Meeting(MatchJob(match, bots, USUAL, SeededDecks(seed), Guard((folder,), seed=seed)))
    records: list[Events] = []

    def watch(durable: Iterable[Events]) -> Iterator[Events]:
        for record in durable:
            records.append(record)
            yield record

    start = meeting.announced(seed, "open")
    ended = meeting.recorded(ledger, start, note, lambda: False, watch)
    parts = meeting.parts()
    trouble = tuple(f"{part.player}: {part.silent}" for part in parts if part.silent)
    replies = sum(part.replies for part in parts)
    return records, Wire(ended.players, ended.hands, ended.nets, replies, trouble)


def _evidence(folder: Path, meant: Path, game: Game, disputed: tuple[Events, Report]) -> Evidence:
    """The evidence of the hand, checked by the program in it, alone, by a bare Python."""
    record, report = disputed
    start = start_of(record)
    file = meant.with_name(f"{meant.name}-evidence.zip")
    text = json.dumps(as_json(record, game, report), indent=2, ensure_ascii=False)
    report_texts = as_text(game, record, report), f"{text}\n".encode()
    with reading(folder) as ledger:
        save(file, evidence(ledger, start.hand, "public", report_texts))
        key = public_keys(ledger.live.disk)[-1].text()
    with tempfile.TemporaryDirectory(prefix="muckrake-") as lone:
        for name, content in read_bundle(str(file)).items():
            Path(lone, name).write_bytes(content)
        alone = [sys.executable, "-I", "-S", "verify.py", "--key", key]
        ran = subprocess.run(alone, cwd=lone, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise DemoFailed(f"the evidence of {start.hand} does not hold: {ran.stdout}{ran.stderr}")
    return Evidence(start.hand, str(file), tuple(ran.stdout.strip().splitlines()))


def tally(game: Game, records: list[Events]) -> Tally:
    """Check every record of a ruleset and count the verdicts; the first bad one ends the demo."""
    verdicts = []
    for record in records:
        verdict, fault = check(game, record)
        if fault:
            raise DemoFailed(f"{game.name}: {fault}", page(map(say, record)))
        verdicts.append(verdict)
    agree, contested = verdicts.count("agree"), verdicts.count("contested")
    return Tally(game.name, len(records), sum(map(len, records)), agree, contested)


def check(game: Game, record: Events) -> tuple[str, str | None]:
    """The verdict on a record, and what is wrong with it, if anything is."""
    if decode_all(encode_all(record)) != record:
        return "", "a record does not survive its own bytes"
    if tuple(read_line(say(event)) for event in record) != record:
        return "", "a record does not survive its own notation"
    hand = replay(record)
    if not hand.over or hand.pot or sum(hand.stacks) + hand.rake != sum(hand.start.stacks):
        return "", "chips were made or lost"
    verdict = _judged(game, record).verdict
    if verdict in ("agree", "contested"):
        return verdict, None
    return verdict, f"the rules do not agree with what they dealt: {verdict}"


def _judged(game: Game, record: Events) -> Report:
    return judge(game, record, partner_of(game))


def _dealt(game: Game, seed: str) -> Iterator[Events]:
    """As many hands as anybody asks for; the same ones every time."""
    return play(game, origin(game)[0].name[:64], 1_000_000, seed)


def _digest(record: Events) -> bytes:
    return hashlib.sha256(encode_all(record)).digest()

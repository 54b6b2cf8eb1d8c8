"""`muckrake demo`: play every ruleset, keep, replay and judge every hand; say what that proved.

It ends with a disputed pot, its evidence, and how to look at all of it. That goes into a ledger
that stays; an earlier demo's is replaced, and nobody else's.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from api.auditing.hand_report import audit_entry, audit_text
from api.auditing.record import start_of
from api.cli.ledger import LedgerPath, closed_hands, json_option, reading, refuse_archive, writing
from api.cli.options import quiet_option, rules_of, rules_options, settings_of
from api.cli.output import errors_as, exit_wrong, note, print_json, progress, say
from api.evidence.bundle import make_bundle, save_bundle
from api.evidence.verify import read_bundle
from api.playing.recording import Recording, finished_hand, seeded_start
from api.playing.wire_match import BotMatch
from api.printable import aligned_lines, printable_lines
from dealer.deck import SeededDecks
from dealer.play import play
from dealer.wire.match import MatchJob
from dealer.wire.program import GRUFF, STEADY, USUAL_LIMITS, read_program
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from engine.changes import changed, changed_where_possible, origin, partner_of
from engine.game import Game, fingerprint, to_json
from engine.games import GAMES
from engine.parameters import Impossible
from engine.table import is_freeze_out
from engine.verdict import Report, judge
from events.codec import decode_hand, encode_hand
from events.evolve import replay
from events.ledger import Ledger
from events.match import MatchEnded
from events.notation import read as read_line
from events.notation import say as notation_of
from events.types import Events
from store.folder.disk import cache_folder
from store.proof.notary import public_keys
from store.reader import NoLedger, Reader

DISPUTED_RULESET = "auction-2024"  # its document and its engine disagree about money (A9)
WIRE_GAME = "auction-2024-mit"  # by the bots of the wire match
WIRE_NAME = "wire"
WIRE_HANDS = 40
UNDISPUTED_MAX = 5_000  # by then a hand is contested, or none ever is
OVER = "the demo is over"  # by which an earlier demo is known


class RulesetTally(NamedTuple):
    """Counts of the hands of one ruleset by verdict."""

    ruleset: str
    hands: int
    events: int
    agree: int
    contested: int


class KeptLedger(NamedTuple):
    """The size of the ledger that keeps all hands."""

    folder: str
    hands: int
    segment_bytes: int


class WireMatch(NamedTuple):
    """The result of the match between the two example bots."""

    players: tuple[str, ...]
    hands: int
    nets: tuple[int, ...]
    replies: int
    trouble: tuple[str, ...]


class CheckedEvidence(NamedTuple):
    """The disputed hand's evidence bundle, and the output of its `verify.py`."""

    hand: str
    file: str
    lines: tuple[str, ...]


@click.command()
@click.option(
    "--hands", metavar="N", type=click.IntRange(min=1), default=100, show_default=True, help="Each."
)
@click.option(
    "--seed", metavar="SEED", default="1", show_default=True, help="Decides every card and choice."
)
@rules_options()
@click.option(
    "--ledger",
    "folder",
    type=LedgerPath(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to keep it: a new folder, or an earlier demo's; else one in your cache folder.",
)
@json_option
@quiet_option
def demo(
    hands: int,
    seed: str,
    rules: str | None,
    settings: tuple[str, ...],
    folder: Path | None,
    as_document: bool,
) -> None:
    """Play seeded hands of every ruleset, keep, replay and judge each; show a contested one.

    A --ruleset is played besides; --set changes every ruleset that has such a parameter. A
    freeze-out is played with broke=set_anew, so that it has as many hands as the others.
    """
    if folder is not None:
        refuse_archive(folder)
    more = [] if rules is None else [rules_of(None, rules, ())]
    wanted = settings_of(settings)
    with errors_as(click.UsageError, Impossible):
        tried = [changed_where_possible(game, wanted) for game in (*GAMES.values(), *more)]
    for name in wanted:  # each must fit one ruleset at least
        if all(name in refused for _, refused in tried):
            why = tried[-1][1][name]
            raise click.UsageError(f"no ruleset that is played could be changed so: {why}")
    meant = [game for game, _ in tried]
    games = progress(meant, "playing, judging and keeping every ruleset", len(meant))
    place = (folder or _default_folder()).absolute()
    with _replaced_folder(place) as made:
        tallies, wire, (game, record, report) = play_all(games, hands, seed, made)
        proof = _checked_evidence(made, place, start_of(record).hand)
        size = sum(one.stat().st_size for one in made.glob("segments/events*.parquet"))
    kept = KeptLedger(str(place), sum(tally.hands for tally in tallies) + wire.hands, size)
    if as_document:
        example = audit_entry(record, game, report)
        example["events"] = msgspec.to_builtins(record)
        print_json(
            "muckrake.demo/1",
            seed=seed,
            rulesets=[tally._asdict() for tally in tallies],
            wire=wire._asdict(),
            ledger=kept._asdict(),
            example=example,
            evidence=proof._asdict(),
        )
        return
    rows = [list(RulesetTally._fields), *([str(field) for field in tally] for tally in tallies)]
    say(printable_lines(aligned_lines(rows, numbers=range(1, len(rows[0])))))
    nets = ", ".join(f"{name} {net:+d}" for name, net in zip(wire.players, wire.nets, strict=True))
    hands, events = sum(tally.hands for tally in tallies), sum(tally.events for tally in tallies)
    each = kept.segment_bytes // kept.hands
    ledger_lines = [
        "",
        f"Two programs, one in Python and one in a shell, played {wire.hands} hands of {WIRE_GAME}",
        f"by the protocol of MIT Pokerbots, {wire.replies} replies: {nets}.",
        *(f"One did not play to the end. {sentence}." for sentence in wire.trouble),
        "",
        f"{hands:,} hands and {events:,} events (seed {seed}). Each record was written as bytes",
        "and as notation and read back the same, replayed with no chip made or lost, and",
        "decided again by its ruleset.",
        f"All were appended to a ledger on disk and sealed, {each} bytes a hand; read from its",
        "files, every hand was the same to the byte.",
        "None differed. Contested means that another reading of the rules pays differently;",
        f"this is the first such hand of {DISPUTED_RULESET}:",
        "",
    ]
    say(printable_lines(ledger_lines))
    say(audit_text(game, record, report))
    say(printable_lines(_evidence_lines(proof, kept)))


def _evidence_lines(evidence: CheckedEvidence, kept: KeptLedger) -> list[str]:
    """Lines on the evidence bundle to give away, and on where to look further."""
    return [
        "",
        f"Its evidence is in {evidence.file}. The verify.py in it, run by a",
        "Python with nothing else, says:",
        *(f"  {line}" for line in evidence.lines),
        "",
        "Look at all of it:",
        f"  {_muckrake_command()} serve --ledger {shlex.quote(kept.folder)} --web",
        "and then at this pot:",
        f"  /hands/{evidence.hand}/audit",
    ]


def _muckrake_command() -> str:
    """The shell command that starts us again: the checkout's `mr`, the command by name if it is
    on PATH and leads here (`uvx` puts it there for one run only), else a path."""
    mr = Path(__file__).parents[2] / "mr"
    if mr.exists():
        return "./mr" if mr.parent == Path.cwd() else shlex.quote(str(mr))
    installed = shutil.which("muckrake", path=sysconfig.get_path("scripts"))
    if installed is None:
        return f"{shlex.quote(sys.executable)} -m muckrake"
    command = shutil.which("muckrake")
    if command and Path(command).samefile(installed) and "UV" not in os.environ:
        return "muckrake"
    return shlex.quote(installed)


def _default_folder() -> Path:
    """The folder of the demo in the cache folder, or a new temporary one if that is read-only."""
    folder = cache_folder() / "demo"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder.parent).close()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="muckrake-demo-"))
    return folder


@contextmanager
def _replaced_folder(meant: Path) -> Iterator[Path]:
    """Yield a new folder that replaces an earlier demo's once it is complete."""
    _check_free(meant)
    meant.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{meant.name}-", dir=meant.parent))
    try:
        yield made
        _check_free(meant)
        if meant.exists():
            shutil.rmtree(meant)
        os.replace(made, meant)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check_free(folder: Path) -> None:
    """Refuse to replace a folder that no demo has made."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        ledger = Reader(folder).snapshot()
        ends = [ledger.read(match)[-1].event for match in ledger.matches() if match != WIRE_NAME]
    except (NoLedger, OSError):
        ends = []
    if not ends or not all(isinstance(one, MatchEnded) and one.reason == OVER for one in ends):
        sentence = f"{folder} holds something else than an earlier demo: name another folder"
        raise click.ClickException(sentence)


def play_all(
    games: Iterable[Game], hands: int, seed: str, folder: Path
) -> tuple[list[RulesetTally], WireMatch, tuple[Game, Events, Report]]:
    """Play a match of every ruleset into one ledger, and read the whole ledger from its files."""
    tallies, digests = [], []
    disputed: tuple[Game, Events, Report] | None = None
    with writing(folder, "demo") as ledger:
        for game in games:
            if is_freeze_out(game):  # enough hands are several: set anew, and nobody wins
                game = changed(game, {"broke": "set_anew"})
            records = list(islice(_seeded_hands(game, seed), hands))
            base = origin(game)[0].name
            if base == DISPUTED_RULESET:
                (record, report), records = _play_until_disputed(game, seed, records)
                disputed = game, record, report
            tallies.append(check_ruleset(game, records))
            ledger.keep_ruleset(fingerprint(game), to_json(game))
            recording = Recording(ledger, seeded_start(base[:64], records[0], seed, "open"), game)
            digests += [
                _events_digest(record)
                for record in recording.keep(map(finished_hand, records), lambda: False)
            ]
            recording.end(OVER)
        records, wire = play_wire_match(folder, ledger, min(hands, WIRE_HANDS), seed)
        check_ruleset(GAMES[WIRE_GAME], records)
        digests += [_events_digest(record) for record in records]
        ledger.seal()
    with reading(folder) as stored:
        stored_digests = [_events_digest(record) for record in closed_hands(stored.read_from(0))]
    if stored_digests != digests:
        exit_wrong("the ledger does not hold what was written into it")
    assert disputed is not None
    return tallies, wire, disputed


def _play_until_disputed(
    game: Game, seed: str, first: list[Events]
) -> tuple[tuple[Events, Report], list[Events]]:
    """Play until the readings pay a hand differently; return it, and all hands so far."""
    records: list[Events] = []
    for number, record in enumerate(
        chain(first, islice(_seeded_hands(game, seed), len(first), None))
    ):
        records.append(record)
        report = judge(game, record, partner_of(game))
        if report.verdict == "contested":
            return (record, report), first if number < len(first) else records
        if number == UNDISPUTED_MAX:
            break
    raise click.ClickException(
        f"none of {UNDISPUTED_MAX:,} hands of {game.name} is contested, and the demo shows one: "
        "leave that setting to muckrake play"
    )


def play_wire_match(
    folder: Path, ledger: Ledger, hands: int, seed: str
) -> tuple[list[Events], WireMatch]:
    """Play a match between the two example bots, each in a process of its own."""
    bots = (read_program(STEADY, STEADY.name), read_program(GRUFF, GRUFF.name))
    match = wire_plan(GAMES[WIRE_GAME], WIRE_NAME, (bots[0].name, bots[1].name), hands)
    meeting = BotMatch(
        MatchJob(match, bots, USUAL_LIMITS, SeededDecks(seed), Isolation((folder,), seed=seed))
    )
    records: list[Events] = []

    def watch(durable: Iterable[Events]) -> Iterator[Events]:
        for record in durable:
            records.append(record)
            yield record

    start = meeting.match_start(seed, "open")
    ended = meeting.record(ledger, start, note, lambda: False, watch)
    parts = meeting.parts()
    trouble = tuple(f"{part.player}: {part.silent}" for part in parts if part.silent)
    replies = sum(part.replies for part in parts)
    return records, WireMatch(ended.players, ended.hands, ended.nets, replies, trouble)


def _checked_evidence(folder: Path, meant: Path, hand: str) -> CheckedEvidence:
    """Write the hand's evidence, and check it by its own `verify.py` under a bare Python."""
    file = meant.with_name(f"{meant.name}-evidence.zip")
    with reading(folder) as ledger:
        save_bundle(file, make_bundle(ledger, hand, "public"))
        key = public_keys(ledger.live.disk)[-1].text()
    with tempfile.TemporaryDirectory(prefix="muckrake-") as lone:
        for name, content in read_bundle(str(file)).items():
            Path(lone, name).write_bytes(content)
        alone = [sys.executable, "-I", "-S", "verify.py", "--key", key]
        ran = subprocess.run(alone, cwd=lone, capture_output=True, text=True, check=False)
    if ran.returncode:
        exit_wrong(f"the evidence of {hand} does not hold: {ran.stdout}{ran.stderr}")
    return CheckedEvidence(hand, str(file), tuple(ran.stdout.strip().splitlines()))


def check_ruleset(game: Game, records: list[Events]) -> RulesetTally:
    """Check every record of a ruleset and count the verdicts; show the first bad one, and exit."""
    verdicts = []
    for record in records:
        verdict, fault = check_record(game, record)
        if fault:
            say(printable_lines(map(notation_of, record)), err=True)
            exit_wrong(f"{game.name}: {fault}")
        verdicts.append(verdict)
    agree, contested = verdicts.count("agree"), verdicts.count("contested")
    return RulesetTally(game.name, len(records), sum(map(len, records)), agree, contested)


def check_record(game: Game, record: Events) -> tuple[str, str | None]:
    """The verdict on a record, and what is wrong with it, if anything is."""
    if decode_hand(encode_hand(record)) != record:
        return "", "a record does not survive its own bytes"
    if tuple(read_line(notation_of(event)) for event in record) != record:
        return "", "a record does not survive its own notation"
    hand = replay(record)
    if not hand.over or hand.pot or sum(hand.stacks) + hand.rake != sum(hand.start.stacks):
        return "", "chips were made or lost"
    verdict = judge(game, record, partner_of(game)).verdict
    if verdict in ("agree", "contested"):
        return verdict, None
    return verdict, f"the rules do not agree with what they dealt: {verdict}"


def _seeded_hands(game: Game, seed: str) -> Iterator[Events]:
    """An endless series of seeded hands."""
    return play(game, origin(game)[0].name[:64], 1_000_000, seed)


def _events_digest(record: Events) -> bytes:
    return hashlib.sha256(encode_hand(record)).digest()

"""`muckrake demo`: play every ruleset, keep, replay and judge every hand; say what that proved.

The last match of it is between two programs in processes of their own.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from api.cli.ledger import closed_hands, no_ledger_option, reading, writing
from api.cli.output import document, note, progress, wrong
from api.recording import Recording, announced
from api.report import aligned, as_json, as_text
from api.wire.recorded import Meeting
from dealer.deck import SeededDecks
from dealer.examples import GRUFF, STEADY
from dealer.play import play
from dealer.wire.apart import Job
from dealer.wire.limits import USUAL
from dealer.wire.plan import plan
from dealer.wire.program import program
from engine.game import Game
from engine.games import GAMES
from engine.verdict import Report, judge
from events.codec import decode_all, encode_all
from events.evolve import replay
from events.ledger import Ledger
from events.notation import read, say, say_all
from events.types import Events

DISPUTED = "auction-2024"  # its document and its engine disagree about money (A9)
SPOKEN = "auction-2024-mit"  # by the bots of the wire match
WIRE_HANDS = 40
EVENTS = "segments/events*.parquet"


class Tally(NamedTuple):
    """What the hands of one ruleset came to."""

    ruleset: str
    hands: int
    events: int
    agree: int
    contested: int


class Kept(NamedTuple):
    """What a ledger on disk made of all hands."""

    hands: int
    segment_bytes: int


class Wire(NamedTuple):
    """What became of the two example bots."""

    players: tuple[str, ...]
    hands: int
    nets: tuple[int, ...]
    replies: int
    trouble: tuple[str, ...]


@click.command()
@click.option("--hands", type=click.IntRange(min=1), default=100, show_default=True, help="Each.")
@click.option("--seed", default="1", show_default=True, help="Decides every card and choice.")
@no_ledger_option
@click.option("--json", "as_document", is_flag=True, help="One document instead of the text.")
def demo(hands: int, seed: str, as_document: bool) -> None:
    """Play seeded hands of every ruleset, keep, replay and judge each; show a contested one."""
    games = progress(list(GAMES.values()), "playing, judging and keeping every ruleset")
    with tempfile.TemporaryDirectory(prefix="muckrake-") as folder:
        tallies, wire, kept = played(games, hands, seed, Path(folder))
    record, report = contested(GAMES[DISPUTED], seed)
    if as_document:
        shown = as_json(record, report) | {"events": msgspec.to_builtins(record)}
        rulesets = [one._asdict() for one in tallies]
        about = {"rulesets": rulesets, "wire": wire._asdict(), "ledger": kept._asdict()}
        told = about | {"example": shown}
        document("muckrake.demo/1", seed=seed, **told)
        return
    rows = [list(Tally._fields), *([str(field) for field in one] for one in tallies)]
    click.echo("\n".join(aligned(rows, numbers=range(1, len(rows[0])))))
    click.echo(_met(wire))
    click.echo(_proved(tallies, kept, seed))
    click.echo(as_text(GAMES[DISPUTED], record, report), nl=False)


def played(
    games: Iterable[Game], hands: int, seed: str, folder: Path
) -> tuple[list[Tally], Wire, Kept]:
    """A match of every ruleset into one ledger; then the whole ledger read from its files."""
    tallies, written = [], []
    with writing(folder, "demo") as ledger:
        for game in games:
            records = list(islice(_dealt(game, seed), hands))
            tallies.append(tally(game, records))
            recording = Recording(ledger, announced(game.name, records[0], seed, "open"))
            written += [_digest(record) for record in recording.keep(records, lambda: False)]
            recording.end("the demo is over")
        records, wire = met(ledger, min(hands, WIRE_HANDS), seed)
        tally(GAMES[SPOKEN], records)
        written += [_digest(record) for record in records]
        ledger.seal()
    with reading(folder) as stored:
        found = [_digest(record) for record in closed_hands(stored.read_from(0))]
    if found != written:
        wrong("the ledger does not hold what was written into it")
    return tallies, wire, Kept(len(found), sum(one.stat().st_size for one in folder.glob(EVENTS)))


def met(ledger: Ledger, hands: int, seed: str) -> tuple[list[Events], Wire]:
    """A match between the two bots that ship as examples, each in a process of its own."""
    bots = (program(STEADY, STEADY.name), program(GRUFF, GRUFF.name))
    match = plan(GAMES[SPOKEN], "wire", (bots[0].name, bots[1].name), hands)
    meeting = Meeting(Job(match, bots, USUAL, SeededDecks(seed)))
    records: list[Events] = []

    def watch(durable: Iterable[Events]) -> Iterator[Events]:
        for record in durable:
            records.append(record)
            yield record

    start = meeting.announced(seed, "open")
    ended = meeting.recorded(ledger, start, note, lambda: False, watch)
    parts = meeting.parts()
    trouble = tuple(f"{one.player}: {one.silent}" for one in parts if one.silent)
    replies = sum(one.replies for one in parts)
    return records, Wire(ended.players, ended.hands, ended.nets, replies, trouble)


def tally(game: Game, records: list[Events]) -> Tally:
    """Check every record of a ruleset and count the verdicts; the first bad one ends the demo."""
    verdicts = []
    for record in records:
        verdict, fault = check(game, record)
        if fault:
            note(say_all(record).rstrip())
            wrong(f"{game.name}: {fault}")
        verdicts.append(verdict)
    agree, contested = verdicts.count("agree"), verdicts.count("contested")
    return Tally(game.name, len(records), sum(map(len, records)), agree, contested)


def check(game: Game, record: Events) -> tuple[str, str | None]:
    """The verdict on a record, and what is wrong with it, if anything is."""
    if decode_all(encode_all(record)) != record:
        return "", "a record does not survive its own bytes"
    if tuple(read(say(event)) for event in record) != record:
        return "", "a record does not survive its own notation"
    hand = replay(record)
    if not hand.over or hand.pot or sum(hand.stacks) + hand.rake != sum(hand.start.stacks):
        return "", "chips were made or lost"
    verdict = _judged(game, record).verdict
    if verdict in ("agree", "contested"):
        return verdict, None
    return verdict, f"the rules do not agree with what they dealt: {verdict}"


def contested(game: Game, seed: str) -> tuple[Events, Report]:
    """The first hand on which the readings of this ruleset pay differently."""
    judged = ((record, _judged(game, record)) for record in _dealt(game, seed))
    return next((record, report) for record, report in judged if report.verdict == "contested")


def _dealt(game: Game, seed: str) -> Iterator[Events]:
    """As many hands as anybody asks for; the same ones every time."""
    return play(game, game.name, 1_000_000, seed)


def _digest(record: Events) -> bytes:
    return hashlib.sha256(encode_all(record)).digest()


def _judged(game: Game, record: Events) -> Report:
    return judge(game, record, GAMES.get(game.partner or ""))


def _met(wire: Wire) -> str:
    """What the two processes did, or why one of them did not."""
    nets = ", ".join(f"{name} {net:+d}" for name, net in zip(wire.players, wire.nets, strict=True))
    told = "".join(f"\nOne did not play to the end. {sentence}." for sentence in wire.trouble)
    return (
        f"\nTwo programs, one in Python and one in a shell, played {wire.hands} hands of {SPOKEN}"
        f"\nby the protocol of MIT Pokerbots, {wire.replies} replies: {nets}.{told}"
    )


def _proved(tallies: list[Tally], kept: Kept, seed: str) -> str:
    hands, events = sum(one.hands for one in tallies), sum(one.events for one in tallies)
    each = kept.segment_bytes // kept.hands
    return (
        f"\n{hands:,} hands and {events:,} events (seed {seed}). Each record was written as bytes"
        " and as notation\nand read back the same, replayed with no chip made or lost, and decided"
        " again by its ruleset.\nAll were appended to a ledger on disk and sealed,"
        f" {each} bytes a hand; read from its files, every\nhand was the same to the byte.\n"
        "None differed. Contested means that another reading of the rules"
        f" pays differently;\nthis is the first such hand of {DISPUTED}:\n"
    )

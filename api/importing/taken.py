"""One file taken in, as far as it can be without the ledger: read, followed, judged, set aside.

All of it happens in whichever process has time; what becomes events goes into a spool, because a
file can be refused at its last line, and then none of its hands must be in the ledger. A hand that
cannot be a record is left out with its line and its reason.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from api.facts import HEARD
from api.importing.copies import Copy, at_hand
from api.importing.entries import Entry, is_month
from api.importing.left_out import with_texts
from api.importing.naming import Again, Mark, Marker, naming_of
from api.importing.spool import RUN, Chunk, DiskFull, Kept, Spool
from api.judging import by_rules
from engine.assumptions import is_free, rests_on
from engine.game import Game, fingerprint, to_json
from engine.verdict import Verdict
from events.state import Hand
from events.types import BidPlaced, Events, HandStarted, SourceNoted
from formats.follow import followed
from formats.known import FORMATS, Format, format_of, read
from formats.mit.note import FORMAT as MIT
from formats.phh.hand import PhhHand
from formats.plain import Plain
from formats.rules import AS_READ, Rules
from formats.source import Bids, Refused, Skipped, SourceHand, Transcript

if TYPE_CHECKING:
    from store.columns.event_columns import EventColumns

NAMED_MAX = 50  # hands of a verdict that are remembered by number


class Wishes(Struct, frozen=True):
    """What was asked for beside the files, and whose they are, if he may not see everything."""

    format: str | None = None
    rules: Rules = AS_READ
    names: Mapping[str, str] = {}
    strict: bool = False
    audit: bool = True
    match: str | None = None
    owner: str = ""


class Outcome(Struct, kw_only=True):
    """What came of a file: what is to be told of it, and where its events wait."""

    entry: Entry
    digest: str = ""
    match: str = ""
    format: str | None = None
    dialect: str | None = None
    note: SourceNoted | None = None
    games: dict[str, str] = {}
    rulesets: dict[str, bytes] = {}
    nets: dict[str, int] = {}
    won: dict[str, int] = {}
    hands: int = 0
    events: int = 0
    sealed: bool = True
    verdicts: dict[Verdict, int] = {}
    named: dict[Verdict, list[int]] = {}
    moveless: int = 0
    inferred: list[str] = []
    skipped: list[Skipped] = []
    again: int = 0
    conflicts: list[Again] = []
    elsewhere: dict[int, str] = {}
    refused: Skipped | None = None
    spool: str = ""
    chunks: list[Chunk] = []


def taken(entry: Entry, wishes: Wishes, spool: Spool, tick: Callable[[int], None]) -> Outcome:
    """The whole file, or the reason why nothing of it is taken."""
    found = Outcome(entry=entry, spool=str(spool.path))
    try:
        _take(found, wishes, spool, tick)
    except Refused as refused:
        return _refused(found, refused.line, refused.reason)
    except DiskFull:  # no file is to blame for it
        raise
    except OSError as failure:
        return _refused(found, 0, f"it cannot be read: {failure.strerror or failure}")
    except (Exception, RecursionError) as failure:  # other files are none the worse for it
        said = f"{type(failure).__name__}: {failure}"
        return _refused(found, 0, f"the reader failed, which it should not: {said[:200]}")
    return found


def _refused(found: Outcome, line: int, reason: str) -> Outcome:
    """What is known of it by then: what it is, but none of its hands."""
    return Outcome(
        entry=found.entry,
        digest=found.digest,
        match=found.match,
        format=found.format,
        dialect=found.dialect,
        skipped=found.skipped,
        spool=found.spool,
        refused=Skipped(line, reason),
    )


def _take(found: Outcome, wishes: Wishes, spool: Spool, tick: Callable[[int], None]) -> None:
    path = found.entry.path
    if found.entry.copy is not None:
        _read(found, found.entry.copy, wishes, spool, tick)
        return
    if not path.exists():
        raise Refused(0, "there is no such file")
    if not (path.is_file() or path.is_dir()):
        raise Refused(0, "this is no file")
    if path.is_dir() and not is_month(path):
        raise Refused(0, "no file is in this folder, but for hidden ones")
    with at_hand(path, spool.path.with_suffix(".copy")) as copy:
        _read(found, copy, wishes, spool, tick)


def _read(
    found: Outcome, copy: Copy, wishes: Wishes, spool: Spool, tick: Callable[[int], None]
) -> None:
    found.digest = copy.sha256
    naming = naming_of(spool.nonces, wishes.owner)
    found.match = wishes.match or naming.name(copy.sha256)
    known = format_wished(copy.content, wishes)
    found.format = known.name
    source = read(copy.content, known, wishes.rules, found.entry.part)
    found.dialect = source.dialect
    found.note = source.note or SourceNoted(known.name, source.dialect, "", "")
    found.inferred = list(source.inferred)
    spool.begin(Marker(naming, known.name, source.place, copy.sha256))
    if source.transcripts is None:
        _one_by_one(found, source.hands, wishes, spool, tick)
    else:
        for part in source.transcripts:
            _many(found, part, wishes, spool, tick)
    if not found.chunks:
        first = next(iter(found.skipped), Skipped(1, "there is no hand in it"))
        raise Refused(first.line, first.reason)
    found.skipped = with_texts(copy.content, known.name, found.skipped)


def _one_by_one(
    found: Outcome,
    hands: Iterable[SourceHand | Skipped],
    wishes: Wishes,
    spool: Spool,
    tick: Callable[[int], None],
) -> None:
    """Hands as a reader tells them; of many next to each other those that are plain at once."""
    for block in _blocks(hands, spool):
        done: Mapping[int, Plain] = {}
        if len(block) >= RUN:
            from api.importing.vouched import plainly  # numpy comes with it

            plain = _plain(block, wishes)
            columns, done = plainly(plain, found.match, spool.at, audited=wishes.audit)
            spool.expect(columns)
        for part in _hands(found, block, wishes, done):
            spool.add(part)
            if spool.full:
                _chunk(found, spool, tick)
    _chunk(found, spool, tick)


def _blocks(
    hands: Iterable[SourceHand | Skipped], spool: Spool
) -> Iterator[list[SourceHand | Skipped]]:
    """As many hands as a chunk still has room for; if a reader fails, what it has told before."""
    block: list[SourceHand | Skipped] = []
    try:
        for hand in hands:
            block.append(hand)
            if len(block) >= spool.room:
                yield block
                block = []
    except Exception:
        yield block
        raise
    yield block


def _plain(block: Iterable[SourceHand | Skipped], wishes: Wishes) -> list[SourceHand]:
    """The hands of a block under the names that were asked for."""
    return [
        it if it.players == players else replace(it, players=players)
        for it in block
        if isinstance(it, SourceHand) and (players := _called(it.players, wishes.names))
    ]


def _many(
    found: Outcome, part: Transcript, wishes: Wishes, spool: Spool, tick: Callable[[int], None]
) -> None:
    """Hands next to each other: as they are told in columns where they may be, else one by one."""
    players = _called(part.players, wishes.names)
    if len(part.every) < RUN or players is None:
        _one_by_one(found, map(part.hand, part.every), wishes, spool, tick)
        return
    from api.importing.vouched import assuming, vouched  # numpy comes with it, and few need it

    columns, nets = vouched(part, found.match, players, spool.at, audited=wishes.audit)
    numbers = columns.number.tolist()
    done = set(numbers)
    if done:
        assumed = assuming(columns) if wishes.audit else None
        _count_columns(found, columns, part.game, players, nets, assumed)
    others = (part.hand(number) for number in part.every if number not in done)
    for kept in _hands(found, others, wishes):
        spool.add(kept)
    texts = (part.texts[number - part.every.start] for number in numbers)
    _chunk(found, spool, tick, columns, spool.marker.of_texts(numbers, texts))


def _chunk(
    found: Outcome,
    spool: Spool,
    tick: Callable[[int], None],
    columns: "EventColumns | None" = None,
    marks: Iterable[Mark] = (),
) -> None:
    won, found.won = found.won, {}
    for player, net in won.items():
        found.nets[player] = found.nets.get(player, 0) + net
    if chunk := spool.chunk(won, columns, marks):
        found.chunks.append(chunk)
        tick(chunk.hands)


def format_wished(content: bytes | Path, wishes: Wishes) -> Format:
    """The format that was asked for, or the one that the file itself shows."""
    if wishes.format is None:
        return format_of(content)
    named = FORMATS[wishes.format]
    is_folder = isinstance(content, Path) and content.is_dir()
    if is_folder != (named.name == "irc"):
        what = "a folder" if named.name == "irc" else "a file"
        raise Refused(0, f"{named.called}: that is {what}, and this is none")
    return named


def _hands(
    found: Outcome,
    hands: Iterable[SourceHand | Skipped],
    wishes: Wishes,
    done: Mapping[int, Plain] = MappingProxyType({}),
) -> Iterable[Kept]:
    """Every hand that can be a record, counted and judged; the others are listed."""
    for source in hands:
        found.hands += 1
        if isinstance(source, Skipped):
            _leave_out(found, source.line, source.reason, wishes)
            continue
        hand = _renamed(source, wishes.names)
        if plain := done.get(hand.number):
            _count(found, hand, plain.record, plain.nets)
            if wishes.audit:
                _agrees(found, hand.number, rests_on(plain.record))
            yield Kept(plain.record, True, _beside(found, source), source)
            continue
        try:
            record, end = followed(hand, f"{found.match}/{hand.number}")
        except ValueError as reason:
            _leave_out(found, hand.line, str(reason), wishes)
            continue
        _count(found, hand, record, _nets(hand, end))
        if wishes.audit:
            _judge(found, hand, record, wishes)
        yield Kept(record, False, _beside(found, source), source)


def _leave_out(found: Outcome, line: int, reason: str, wishes: Wishes) -> None:
    if wishes.strict:
        raise Refused(line, f"{reason} (under --strict no hand is left out)")
    found.skipped.append(Skipped(line, reason))


def _renamed(hand: SourceHand, names: Mapping[str, str]) -> SourceHand:
    """The players under the names that were asked for; nobody plays against himself by that."""
    if not names:
        return hand
    players = _called(hand.players, names)
    if players is None:
        players = tuple(names.get(player, player) for player in hand.players)
        twice = next(name for name, count in Counter(players).items() if count > 1)
        both = [was for was, now in zip(hand.players, players, strict=True) if now == twice]
        raise Refused(hand.line, f"{' and '.join(both)} play one hand: --names calls both {twice}")
    return replace(hand, players=players)


def _called(players: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names that were asked for; None if one of them would play against himself."""
    called = tuple(names.get(player, player) for player in players)
    return called if len(set(called)) == len(set(players)) else None


def _count(found: Outcome, hand: SourceHand, record: Events, nets: tuple[int, ...]) -> None:
    """What the match comes to: its games, players, nets, and how its bids were made."""
    start = record[0]
    assert isinstance(start, HandStarted)
    _hear(found, start.ruleset, hand.game)
    for player, net in zip(hand.players, nets, strict=True):
        found.won[player] = found.won.get(player, 0) + net
    if found.sealed and found.format == MIT:  # nowhere else is there an auction
        found.sealed = all(one.sealed for one in hand.items if isinstance(one, Bids))
    for fact in hand.inferred:
        if fact not in found.inferred:
            found.inferred.append(fact)
    found.events += len(record)


def _count_columns(
    found: Outcome,
    columns: "EventColumns",
    game: Game,
    players: tuple[str, ...],
    nets: Any,
    assuming: list[int] | None,
) -> None:
    """The same of hands in columns; what they pay is what the source says. `assuming` are those
    whose verdict rests on what they assume; None, if nobody asks for verdicts."""
    _hear(found, fingerprint(game), game)
    for player, net in zip(players, nets.sum(0).tolist(), strict=True):
        found.won[player] = found.won.get(player, 0) + net
    bids = (it.fields["sealed"] for it in columns.many if it.kind is BidPlaced)
    found.sealed = found.sealed and all(sealed.all() for sealed in bids)
    found.hands += len(columns.number)
    found.events += len(columns.pos)
    if assuming is not None:
        _agree(found, "agree", len(columns.number) - len(assuming), [])
        _agree(found, "assuming", len(assuming), assuming)


def _agrees(found: Outcome, number: int, assumed: tuple[str, ...]) -> None:
    """One hand that its rules would have played so, if what it assumes is so."""
    if any(map(is_free, assumed)):
        _agree(found, "unknown", 1, [number])
    else:
        _agree(found, "assuming" if assumed else "agree", 1, [number] if assumed else [])


def _agree(found: Outcome, verdict: Verdict, hands: int, numbers: list[int]) -> None:
    if hands:
        found.verdicts[verdict] = found.verdicts.get(verdict, 0) + hands
        named = found.named.setdefault(verdict, [])
        named += numbers[: NAMED_MAX - len(named)]


def _hear(found: Outcome, mark: str, game: Game) -> None:
    if mark not in found.rulesets:
        found.rulesets[mark] = HEARD[mark] = to_json(game)
        found.games.setdefault(game.name, mark)


def _nets(hand: SourceHand, end: Hand) -> tuple[int, ...]:
    return tuple(now - was for was, now in zip(hand.stacks, end.stacks, strict=True))


def _judge(found: Outcome, hand: SourceHand, record: Events, wishes: Wishes) -> None:
    report = by_rules(record, hand.game).report
    verdict = report.verdict
    found.moveless += report.moves == 0
    if verdict == "differ" and wishes.strict:
        raise Refused(hand.line, f"hand {hand.number} differs from what its rules decide")
    found.verdicts[verdict] = found.verdicts.get(verdict, 0) + 1
    named = found.named.setdefault(verdict, [])
    if verdict != "agree" and len(named) < NAMED_MAX:
        named.append(hand.number)


def _beside(found: Outcome, hand: SourceHand) -> SourceNoted | None:
    """What is kept beside a hand: its own note, else where it stands and what the source calls it.

    In a gamelog both follow from the number of the round.
    """
    assert found.format is not None
    dialect = f"hand {hand.number}"
    if isinstance(hand, PhhHand):
        return SourceNoted(found.format, dialect, hand.note.header, hand.note.footer)
    if found.format == MIT:
        return None
    return SourceNoted(found.format, dialect, f"line {hand.line}\nid {hand.source_id}", "")

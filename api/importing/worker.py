"""Import one file as far as possible without the ledger: read it, make records, spill them.

Any process can do that. Events go into a spill file, because a file can be refused at its last
line, and then none of its hands must be in the ledger. A hand that cannot be a record is left out
with its line and its reason.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from api.auditing.record import VERDICT_CODES, audit_record, start_of, verdict_code
from api.importing.index import HandDigest, HandDigester, Repeat, naming_of
from api.importing.input_copies import InputCopy, InputFile, is_irc_month, opened_copy, with_texts
from api.importing.spill import BATCH_HANDS, DiskFull, SpilledChunk, SpilledHand, SpillFile
from api.playing.names import InvalidName, names_in_filename
from api.playing.recording import INCOMING_RULESETS
from engine.game import Game, fingerprint, to_json
from engine.verdict import Report, Verdict, qualified
from events.match import SourceNoted
from events.types import BidPlaced, Events
from formats.hand_records import hand_record_and_state
from formats.mit.dialects import FORMAT as MIT
from formats.phh.read import PhhHand
from formats.plain_records import PlainRecord
from formats.registry import FORMATS, Format, format_of, read
from formats.source import (
    AS_READ,
    AuctionBid,
    ImportRules,
    Refused,
    Skipped,
    SourceBatch,
    SourceHand,
)

if TYPE_CHECKING:
    from store.columns.event_columns import EventColumns

NAMED_MAX = 50  # hands of a verdict that are remembered by number


class ImportOptions(Struct, frozen=True):
    """The options of an import, and its owner, if that is not somebody who sees everything."""

    format: str | None = None
    rules: ImportRules = AS_READ
    names: Mapping[str, str] = {}
    strict: bool = False
    audit: bool = True
    match: str | None = None
    owner: str = ""
    players: str | None = None


class ImportOutcome(Struct, kw_only=True):
    """The outcome of a file's import: the figures of its report, and where its events wait."""

    file: InputFile
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
    names: Mapping[str, str] = {}
    moveless: int = 0
    inferred: list[str] = []
    skipped: list[Skipped] = []
    again: int = 0
    conflicts: list[Repeat] = []
    elsewhere: dict[int, str] = {}
    refused: Skipped | None = None
    spill: str = ""
    chunks: list[SpilledChunk] = []


def import_file(
    file: InputFile, options: ImportOptions, spill: SpillFile, tick: Callable[[int], None]
) -> ImportOutcome:
    """Import the whole file, or give the reason why nothing of it is imported."""
    outcome = ImportOutcome(file=file, spill=str(spill.path))
    try:
        if options.players is not None:
            options = replace(
                options, names=names_in_filename(Path(file.name).name, options.players)
            )
        outcome.names = options.names
        if file.copy is not None:
            _FileImport(outcome, options, spill, tick).read(file.copy)
        elif not file.path.exists():
            raise Refused(0, "there is no such file")
        elif not (file.path.is_file() or file.path.is_dir()):
            raise Refused(0, "this is no file")
        elif file.path.is_dir() and not is_irc_month(file.path):
            raise Refused(0, "no file is in this folder, but for hidden ones")
        else:
            with opened_copy(file.path, spill.path.with_suffix(".copy")) as copy:
                _FileImport(outcome, options, spill, tick).read(copy)
    except Refused as refused:
        return _refused(outcome, refused.line, refused.reason)
    except InvalidName as why:
        return _refused(outcome, 0, str(why))
    except DiskFull:  # no file is to blame for it
        raise
    except OSError as failure:
        return _refused(outcome, 0, f"it cannot be read: {failure.strerror or failure}")
    except (Exception, RecursionError) as failure:  # other files are none the worse for it
        sentence = f"{type(failure).__name__}: {failure}"
        return _refused(outcome, 0, f"the reader failed, which it should not: {sentence[:200]}")
    return outcome


def _refused(outcome: ImportOutcome, line: int, reason: str) -> ImportOutcome:
    """The outcome of a refused file: what is known of the file by then, and none of its hands."""
    return ImportOutcome(
        file=outcome.file,
        digest=outcome.digest,
        match=outcome.match,
        format=outcome.format,
        dialect=outcome.dialect,
        skipped=outcome.skipped,
        spill=outcome.spill,
        refused=Skipped(line, reason),
    )


class _FileImport(NamedTuple):
    """The import of one file: its outcome, its options and the spill file of its hands."""

    found: ImportOutcome
    options: ImportOptions
    spill: SpillFile
    tick: Callable[[int], None]

    def read(self, copy: InputCopy) -> None:
        self.found.digest = copy.sha256
        naming = naming_of(self.spill.nonces, self.options.owner)
        self.found.match = self.options.match or naming.name(copy.sha256)
        known = format_of_input(copy.content, self.options)
        self.found.format = known.name
        source = read(copy.content, known, self.options.rules, self.found.file.part)
        self.found.dialect = source.dialect
        self.found.note = source.note or SourceNoted(known.name, source.dialect, "", "")
        self.found.inferred = list(source.inferred)
        self.spill.begin(HandDigester(naming, known.name, source.place, copy.sha256))
        if source.batches is None:
            self._spill_hands(source.hands)
        else:
            for part in source.batches:
                self._spill_batch(part)
        if self.options.players is not None:
            for was in (
                was for was, now in self.options.names.items() if now not in self.found.nets
            ):
                raise Refused(0, f"it has no player {was}, whom --players would name")
        if not self.found.chunks:
            first = next(iter(self.found.skipped), Skipped(1, "there is no hand in it"))
            raise Refused(first.line, first.reason)
        self.found.skipped = with_texts(copy.content, known.name, self.found.skipped)

    def _spill_hands(self, hands: Iterable[SourceHand | Skipped]) -> None:
        """Spill hands one by one; of many next to each other, those that are plain at once."""
        for block in _hand_blocks(hands, self.spill):
            done: Mapping[int, PlainRecord] = {}
            if len(block) >= BATCH_HANDS:
                from api.importing.batch_audited import fine_records  # numpy comes with it

                named = [  # the hands under the names that were asked for
                    it if it.players == players else replace(it, players=players)
                    for it in block
                    if isinstance(it, SourceHand)
                    and (players := _new_names(it.players, self.options.names))
                ]
                columns, done = fine_records(
                    named, self.found.match, self.spill.at, audited=self.options.audit
                )
                self.spill.add_columns(columns)
            for part in self._hands(block, done):
                self.spill.add(part)
                if self.spill.full:
                    self._write_chunk()
        self._write_chunk()

    def _spill_batch(self, part: SourceBatch) -> None:
        """Spill neighbouring hands: in columns where the batch audit allows it, else one by one."""
        players = _new_names(part.players, self.options.names)
        if len(part.every) < BATCH_HANDS or players is None:
            self._spill_hands(map(part.hand, part.every))
            return
        from api.importing.batch_audited import fine_batch, fine_verdicts  # numpy comes with it

        columns, nets = fine_batch(
            part, self.found.match, players, self.spill.at, audited=self.options.audit
        )
        numbers = columns.number.tolist()
        done = set(numbers)
        verdicts = [0] * len(numbers)
        if done:
            # The same of hands in columns; what they pay is what the source says.
            self._add_ruleset(fingerprint(part.game), part.game)
            for player, net in zip(players, nets.sum(0).tolist(), strict=True):
                self.found.won[player] = self.found.won.get(player, 0) + net
            bids = (it.fields["sealed"] for it in columns.by_kind if it.kind is BidPlaced)
            self.found.sealed = self.found.sealed and all(sealed.all() for sealed in bids)
            self.found.hands += len(columns.number)
            self.found.events += len(columns.pos)
            if self.options.audit:
                verdicts = fine_verdicts(columns)
                for verdict, code in VERDICT_CODES.items():
                    same = [it for it, one in zip(numbers, verdicts, strict=True) if one == code]
                    if same:
                        self._tally(verdict, len(same), same)
        others = (part.hand(number) for number in part.every if number not in done)
        for kept in self._hands(others):
            self.spill.add(kept)
        texts = (part.texts[number - part.every.start] for number in numbers)
        self._write_chunk(columns, self.spill.digester.of_texts(numbers, texts, verdicts))

    def _write_chunk(
        self, columns: "EventColumns | None" = None, digests: Iterable[HandDigest] = ()
    ) -> None:
        won, self.found.won = self.found.won, {}
        for player, net in won.items():
            self.found.nets[player] = self.found.nets.get(player, 0) + net
        if chunk := self.spill.write_chunk(won, columns, digests):
            self.found.chunks.append(chunk)
            self.tick(chunk.hands)

    def _hands(
        self,
        hands: Iterable[SourceHand | Skipped],
        done: Mapping[int, PlainRecord] = MappingProxyType({}),
    ) -> Iterable[SpilledHand]:
        """Every hand that can be a record, counted and judged; the others are listed."""
        for source in hands:
            self.found.hands += 1
            if isinstance(source, Skipped):
                self._leave_out(source.line, source.reason)
                continue
            hand = _renamed(source, self.options.names)
            if plain := done.get(hand.number):
                self._count(hand, plain.record, plain.nets)
                verdict = 0
                if self.options.audit:
                    report = Report(hand.game.name, "agree", None, None)
                    verdict = self._judged(hand, qualified(report, plain.record))
                yield SpilledHand(plain.record, True, self._note(source), source, verdict)
                continue
            try:
                record, end = hand_record_and_state(hand, f"{self.found.match}/{hand.number}")
            except ValueError as reason:
                self._leave_out(hand.line, str(reason))
                continue
            nets = tuple(now - was for was, now in zip(hand.stacks, end.stacks, strict=True))
            self._count(hand, record, nets)
            verdict = 0
            if self.options.audit:
                verdict = self._judged(hand, audit_record(record, hand.game).report)
            yield SpilledHand(record, False, self._note(source), source, verdict)

    def _leave_out(self, line: int, reason: str) -> None:
        if self.options.strict:
            raise Refused(line, f"{reason} (under --strict no hand is left out)")
        self.found.skipped.append(Skipped(line, reason))

    def _count(self, hand: SourceHand, record: Events, nets: tuple[int, ...]) -> None:
        """Count the games, players and nets of a hand, and note how its bids were made."""
        start = start_of(record)
        self._add_ruleset(start.ruleset, hand.game)
        for player, net in zip(hand.players, nets, strict=True):
            self.found.won[player] = self.found.won.get(player, 0) + net
        if self.found.sealed and self.found.format == MIT:  # nowhere else is there an auction
            self.found.sealed = all(
                item.sealed for item in hand.items if isinstance(item, AuctionBid)
            )
        for fact in hand.inferred:
            if fact not in self.found.inferred:
                self.found.inferred.append(fact)
        self.found.events += len(record)

    def _tally(self, verdict: Verdict, hands: int, numbers: list[int]) -> None:
        """So many hands more of a verdict; those that agree need no names."""
        self.found.verdicts[verdict] = self.found.verdicts.get(verdict, 0) + hands
        named = self.found.named.setdefault(verdict, [])
        if verdict != "agree":
            named += numbers[: NAMED_MAX - len(named)]

    def _add_ruleset(self, mark: str, game: Game) -> None:
        if mark not in self.found.rulesets:
            self.found.rulesets[mark] = INCOMING_RULESETS[mark] = to_json(game)
            self.found.games.setdefault(game.name, mark)

    def _judged(self, hand: SourceHand, report: Report) -> int:
        """A hand's verdict, counted, as `verdict_code` has it."""
        self.found.moveless += report.moves == 0
        if report.verdict == "differ" and self.options.strict:
            raise Refused(hand.line, f"hand {hand.number} differs from what its rules decide")
        self._tally(report.verdict, 1, [hand.number])
        return verdict_code(report)

    def _note(self, hand: SourceHand) -> SourceNoted | None:
        """The note beside a hand: its own, else where it stands and what the source calls it.

        In a gamelog both follow from the number of the round.
        """
        assert self.found.format is not None
        dialect = f"hand {hand.number}"
        if isinstance(hand, PhhHand):
            return SourceNoted(self.found.format, dialect, hand.note.header, hand.note.footer)
        if self.found.format == MIT:
            return None
        return SourceNoted(self.found.format, dialect, f"line {hand.line}\nid {hand.source_id}", "")


def _hand_blocks(
    hands: Iterable[SourceHand | Skipped], spill: SpillFile
) -> Iterator[list[SourceHand | Skipped]]:
    """Blocks of as many hands as a chunk has room for; if a reader fails, those before."""
    block: list[SourceHand | Skipped] = []
    try:
        for hand in hands:
            block.append(hand)
            if len(block) >= spill.room:
                yield block
                block = []
    except Exception:
        yield block
        raise
    yield block


def format_of_input(content: bytes | Path, options: ImportOptions) -> Format:
    """The format that was asked for, or the one that the file itself shows."""
    if options.format is None:
        return format_of(content)
    named = FORMATS[options.format]
    is_folder = isinstance(content, Path) and content.is_dir()
    if is_folder != (named.name == "irc"):
        kind = "a folder" if named.name == "irc" else "a file"
        raise Refused(0, f"{named.called}: that is {kind}, and this is none")
    return named


def _renamed(hand: SourceHand, names: Mapping[str, str]) -> SourceHand:
    """The players under the names that were asked for; nobody plays against himself by that."""
    if not names:
        return hand
    players = _new_names(hand.players, names)
    if players is None:
        players = tuple(names.get(player, player) for player in hand.players)
        twice = next(name for name, count in Counter(players).items() if count > 1)
        both = [was for was, now in zip(hand.players, players, strict=True) if now == twice]
        raise Refused(hand.line, f"{' and '.join(both)} play one hand: --names calls both {twice}")
    return replace(hand, players=players)


def _new_names(players: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names that were asked for; None if one of them would play against himself."""
    called = tuple(names.get(player, player) for player in players)
    return called if len(set(called)) == len(set(players)) else None

"""A gamelog as a source: surveyed as a whole, then given out hand by hand, or many at a time."""

from collections.abc import Callable
from typing import NamedTuple

from engine.game import Game
from events.types import SourceNoted
from formats.mit.dialect import dialect_of, game_of
from formats.mit.hand import Block
from formats.mit.note import FORMAT, Dialect, Noted, noted
from formats.mit.parts import Part
from formats.mit.survey import Survey, survey
from formats.mit.transcript import Table, transcribed
from formats.rules import AS_READ, Rules
from formats.text import Text, encoding_of, opened
from formats.told import Refused, Skipped, Source, ToldHand, Transcript


def read(text: Text, rules: Rules = AS_READ) -> Source:
    """The log taken apart."""
    found, teller, note = surveyed(text, rules)
    return Source(
        format=FORMAT,
        dialect=teller.dialect,
        players=teller.players,
        note=note,
        inferred=teller.inferred,
        hands=map(teller.hand, found.blocks(text)),
        transcripts=map(teller.many, found.parts(text)) if found.in_parts else None,
        place=found.place,
    )


def surveyed(
    text: Text, rules: Rules = AS_READ, heard: Callable[[], None] = lambda: None
) -> tuple[Survey, "Teller", SourceNoted]:
    """What is known of a whole log, and who tells its hands by that."""
    found = survey(text, heard)
    dialect = dialect_of(found.header, found.marks, named=rules.game is not None)
    game = game_of(dialect)
    stack, why = rules.of(game).stack, "as it was set"
    if not rules.sets("stack"):
        stack, why = found.reached.stack(stack)
    inferred = (
        f"variant {game.name}, from the kinds of lines",
        "; ".join(filter(None, (f"stack {stack}, {why}", found.reached.outliers(stack)))),
    )
    note = Noted(
        dialect, found.header, found.footer, encoding_of(text), _newline(text), found.exceptions
    )
    return found, Teller(found.names.both, stack, dialect, inferred), noted(note)


class Teller(NamedTuple):
    """Tells hands, now that the whole log is known."""

    players: tuple[str, str]
    stack: int
    dialect: Dialect
    inferred: tuple[str, ...]

    @property
    def game(self) -> Game:
        """The rules of that dialect."""
        return game_of(self.dialect)

    def hand(self, block: Block) -> ToldHand | Skipped:
        """One hand, or why it is left out."""
        wrong = block.wrong
        if self._reports_swaps and block.wrong is None:
            wrong = block.unreported()
        if wrong is not None:
            return Skipped(block.line, wrong)
        return ToldHand(
            game=self.game,
            number=block.number,
            line=block.line,
            source_id=f"Round #{block.number}",
            button=block.button,
            players=self.players,
            stacks=(self.stack, self.stack),
            told=tuple(block.told),
            nets=(block.nets[0], block.nets[1]),
            rake=0,
            inferred=self.inferred,
            assumed=(self.assumed,) if block.reaches(self.stack) else (),
            text=block.text,
        )

    @property
    def assumed(self) -> str:
        """What hands assume in which somebody comes up to the stack; the others would be the same
        with any larger one."""
        return f"stack {self.stack}"

    def many(self, part: Part) -> Transcript:
        """Hands next to each other; those that are left out are for `hand` to tell of."""
        counted, which = part.counted, part.sound
        if counted is not None:
            which = which & (counted.put.max(1) <= self.stack)
            if self._reports_swaps:
                which = which & ~counted.unreported()
        table = Table(self.game, self.players, self.stack, self.assumed)
        return Transcript(
            game=self.game,
            players=self.players,
            every=range(part.first, part.first + len(part)),
            numbers=counted.numbers[which] if counted else (),
            nets=counted.nets[which] if counted else (),
            many=transcribed(counted, which, table) if counted and which.any() else (),
            told=lambda number: self.hand(part.block(number - part.first)),
            texts=part.texts,
        )

    @property
    def _reports_swaps(self) -> bool:
        return self.dialect in ("S2", "S3")


def _newline(text: Text) -> str:
    """How the lines end: all alike, or they were not written by one engine."""
    with opened(text) as found:
        while found.read(1 << 20):
            pass
        ends = found.newlines
    if isinstance(ends, tuple):
        raise Refused(1, "the lines end in different ways: this file was put together")
    return ends or "\n"

"""A Markdown page as a test suite: every fenced `hand` block on it is played and held to its word.

    ```hand
    auction-2024, button 0, stacks 400 400     the ruleset, the button, what each seat brings
    with showdown_tie=split                    policies replaced, if any
    deal 0: As Kd, 1: Qc Jc, board: 2c 3d 4h   cards by seat; or the order of the `deck`
    asks: 0 may fold, call 1, raise to 4..400
    > 0 raises to 3                            what a player does, said as its event is said
    refused: seat 0 may raise to 4..400, not 3
    > 0 calls; 1 checks
    1 checks                                   an event since the last command, in notation
    board [2c 3d 4h]                           a later one; what is not stated is not looked at
    pot: 4                                     a fact about the hand as it stands
    ```

Chance answers by itself: from `deal`, else from `deck` (`deck As Kd ... 7h 2c` names its top and
its bottom), else from a dull deck. `swaps - 7d - -` says what the next cards at risk become, one
group a street, divided by `/`; `new` draws from the deck. `bounties T 5` are those of the button
and of the other. The head line may add `blinds 1/2` (bet
sizes follow) or for URCS `limits 10/20` and `limits 10/20/2` with its ante, who posts (`posts 3`,
`dead 3`) and `dead_small yes`. A finished hand must also pass the audit.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from engine import turn as t
from engine.audit import audit
from engine.game import Game
from engine.games import GAMES, named
from engine.games.urcs_1998 import urcs
from engine.hand import begin, step, turn
from engine.steps import Betting, Blinds
from engine.verdict import judge
from events.notation import read, say
from events.types import Event
from tests.chance import Chance
from tests.fences import fences
from tests.spoken import command, menu, signed


class Wrong(AssertionError):
    """A line of a page that is not so: where it stands, what it says, what is true."""


class Block(NamedTuple):
    """One hand on a page, and where it stands."""

    page: str
    heading: str
    line: int
    lines: tuple[str, ...]


def blocks(page: Path) -> Iterator[Block]:
    """The hands of a page, in reading order, under their headings."""
    lines = page.read_text("utf-8").splitlines()
    heading, read = page.stem, 0
    for fence in fences(page):
        for line in lines[read : fence.line - 1]:
            heading = line.lstrip("# ") if line.startswith("#") else heading
        hand = tuple(fence.text.splitlines())
        read = fence.line + len(hand) + 1
        if fence.language == "hand":
            yield Block(str(page), heading, fence.line + 1, hand)


def played(text: str) -> "Table":
    """The hand of a block that stands in a test."""
    return run(Block("this test", "", 1, tuple(text.strip().splitlines())))


def run(block: Block) -> "Table":
    """Play the hand of a block, and hold every line of it to what happens."""
    table: Table | None = None
    head = list(takewhile(lambda line: line.split(" ")[0] in _HEAD, block.lines[1:]))
    for at, line in enumerate(block.lines):
        following = block.lines[at + 1] if at + 1 < len(block.lines) else ""
        try:
            if table is None:
                table = Table(line, head)
            elif line.startswith("> "):
                table.play(line[2:], following)
            elif line.startswith("refused: "):
                if not block.lines[at - 1].startswith("> "):
                    raise Wrong("a refusal stands right below the command that it refuses")
            elif line and at > len(head):
                table.expect(line)
        except (ValueError, LookupError, Wrong, msgspec.ValidationError) as reason:
            raise Wrong(f"{block.page}:{block.line + at}: {line}\n{reason}") from None
    if table is None:
        raise Wrong(f"{block.page}:{block.line}: there is no hand in this block")
    if table.hand.over and (divergence := audit(table.game, tuple(table.events))):
        raise Wrong(f"{block.page}:{block.line}: the audit disagrees: {divergence}")
    return table


class Table:
    """A hand being played, and how far the page has read in it."""

    def __init__(self, first: str, head: list[str]) -> None:
        name, *said = first.split(", ")
        told = dict(part.split(" ", 1) for part in said)
        self.base = named(name)
        self.game = _blinds(self.base, told.pop("blinds", ""))
        self.chance = Chance()
        for line in head:
            kind, rest = line.split(" ", 1)
            if kind == "with":
                self.game = _with(self.game, rest)
            else:
                self.chance.told(kind, rest)
        stacks = tuple(int(stack) for stack in told.pop("stacks").split())
        button = int(told.pop("button"))
        posts = [t.Post(int(seat)) for seat in told.pop("posts", "").split()]
        posts += [t.Post(int(seat), "dead") for seat in told.pop("dead", "").split()]
        if limits := told.pop("limits", ""):
            self.game = urcs(*map(int, limits.split("/")), game=self.game)
        small = told.pop("dead_small", "no") == "yes"
        if told:
            raise Wrong(f"nothing is known of {', '.join(told)}")
        players = tuple(f"p{seat}" for seat in range(len(stacks)))
        new, self.hand = begin(self.game, "page/1", button, players, stacks, tuple(posts), small)
        self.events: list[Event] = list(new)
        self.read = 0
        self._let_chance_answer()

    def play(self, line: str, following: str) -> None:
        """Commands in a row; the last of them may be refused, if the next line says why."""
        expected = following.removeprefix("refused: ") if following.startswith("refused: ") else ""
        *before, last = line.split("; ")
        for text in before:
            self._do(command(text))
        try:
            self._do(command(last))
        except t.IllegalCommand as refusal:
            if str(refusal) == expected:
                return
            raise Wrong(f"refused: {refusal}") from None
        if expected:
            raise Wrong(f"it was not refused, it made\n{self._emitted()}")

    def expect(self, line: str) -> None:
        """A fact as it stands, or an event since the last command, after those already read."""
        name, colon, value = line.partition(": ")
        if colon and name in FACTS:
            if (true := FACTS[name](self)) != value:
                raise Wrong(f"{name}: {true}")
            return
        event = read(line)
        if event not in self.events[self.read :]:
            raise Wrong(f"since then there was\n{self._emitted()}")
        self.read = self.events.index(event, self.read) + 1

    def asked(self) -> t.Turn:
        """Who must answer what."""
        return turn(self.game, self.hand)

    def _do(self, told: t.Command) -> None:
        new, self.hand = step(self.game, self.hand, told)
        self.read = len(self.events)
        self.events += new
        self._let_chance_answer()

    def _let_chance_answer(self) -> None:
        while isinstance(asked := self.asked(), t.ToDeal | t.ToSwap | t.ToDraw):
            new, self.hand = step(self.game, self.hand, self.chance.answer(asked))
            self.events += new

    def _emitted(self) -> str:
        return "\n".join(say(event) for event in self.events[self.read :]) or "nothing"


def _nets(table: Table) -> str:
    if not table.hand.over:
        raise Wrong("the hand is not over")
    return signed(b - a for a, b in zip(table.hand.start.stacks, table.hand.stacks, strict=True))


def _verdict(table: Table) -> str:
    partner = GAMES.get(table.base.partner or "")
    report = judge(table.game, tuple(table.events), partner)
    return ", ".join(
        (report.verdict, *(f"{other.entry} {signed(other.nets)}" for other in report.readings))
    )


FACTS: dict[str, Callable[[Table], str]] = {
    "asks": lambda table: menu(table.game, table.hand),
    "pot": lambda table: str(table.hand.pot),
    "stacks": lambda table: " ".join(map(str, table.hand.stacks)),
    "nets": _nets,
    "verdict": _verdict,
}

_HEAD = ("with", "deal", "deck", "swaps", "bounties")


def _with(game: Game, policies: str) -> Game:
    """The game with policies replaced: `straights=standard raise_cap=3 live_option=no`."""
    changed: dict[str, Any] = msgspec.to_builtins(game)
    for policy in policies.split():
        name, value = policy.split("=")
        if name not in changed:
            raise Wrong(f"no policy is called {name}")
        changed[name] = _value(value)
    return msgspec.convert(changed, Game)


def _value(text: str) -> Any:
    """`yes`, `no`, JSON without spaces (`3`, `null`, `{"percent":5}`), or else the word itself."""
    if text in ("yes", "no"):
        return text == "yes"
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _blinds(game: Game, blinds: str) -> Game:
    """The game with other blinds; bets keep their size in big blinds."""
    if not blinds:
        return game
    small, big = map(int, blinds.split("/"))
    was = next(one.big for one in game.script if isinstance(one, Blinds))
    return replace(game, script=tuple(_resized(one, was, small, big) for one in game.script))


def _resized(one: Any, was: int, small: int, big: int) -> Any:
    if isinstance(one, Blinds):
        return replace(one, small=small, big=big)
    return replace(one, size=one.size * big // was) if isinstance(one, Betting) else one

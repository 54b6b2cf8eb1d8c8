"""Read an ACPC log: one hand a line, and a score that the hands must add up to.

A first look goes over the whole log: its kind, its game, the unit its results need, its last line.
It says nothing of its game but a file name in a comment, so what is not said is inferred.

Position 0 is the first seat left of the button, so the button is the last; between two players
with reversed blinds, position 0 is the big blind. A raise is the total over the whole hand.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from events.cards import UNKNOWN, Cards, is_card
from events.match import SourceNoted
from formats.acpc.log import GameDefinition, parse_definition, public_definition, ruleset
from formats.mit.grammar import MARKERS
from formats.source import (
    AS_READ,
    Act,
    Board,
    Holds,
    ImportRules,
    Item,
    Refused,
    Skipped,
    SourceFile,
    SourceHand,
    Text,
    lines,
)

_MOVES = re.compile(r"[fc]|r\d{0,15}")
QUOTED = 60  # characters of a file in a sentence about it
_TIME = re.compile(r" # \d+(?:\.\d*)?\s*$")
_GAME = re.compile(r"\bholdem\.(limit|nolimit)\.(\d+)p\b(\S*)")
_OTHER = re.compile(r"\b\w*(?:kuhn|leduc|omaha)\w*\.\S*", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,12})?")
_PARTS_MAX = 60  # a pot between five, between six
_LIMIT_BIG = 10  # the big blind of the public limit games: all that is lost where nobody raises


class MalformedHand(ValueError):
    """Something that no dealer writes."""


class Survey(Struct, frozen=True):
    """The survey of a whole log; `per` units a chip make every result a whole number."""

    dialect: str
    game: GameDefinition
    per: int
    players: tuple[str, ...]
    header: str
    footer: str
    inferred: tuple[str, ...]
    assumed: tuple[str, ...]


def survey(lines: Iterable[str], game: GameDefinition | None) -> Survey:
    """Survey a log in one pass, keeping only its comments, its first hand and its score."""
    comments, score = list[str](), ""
    first: list[str] | None = None
    timed, amounts, limit = False, False, True
    parts = set[int]()
    for number, line in enumerate(lines, 1):
        if line.startswith(("#", ";")):
            if first is None and len(comments) < 100:
                comments.append(line)
        elif line.startswith("SCORE:"):
            score = line
        elif line.startswith("STATE:"):
            fields = fields_of(line, number)
            timed = timed or _TIME.search(line) is not None
            amounts = amounts or re.search(r"r\d", fields[2]) is not None
            limit = limit and not amounts
            if limit and "r" not in fields[2]:  # without a raise little is lost in a limit game
                lost = (int(net[1]) for net in re.finditer(r"-(\d{1,15})", fields[4]))
                limit = max(lost, default=0) <= _LIMIT_BIG
            first = first or fields
            parts.update(denominator(net) for net in re.findall(r"\.\d+", fields[4]))
    if first is None:
        raise Refused(1, "there is no hand in the file: no line begins with STATE:")
    players = tuple(first[5].split("|"))
    definition, unsaid = _game("".join(comments), limit, len(players), game)
    inferred = tuple(fact for fact in unsaid if fact == "game")
    assumed = tuple(fact for fact in unsaid if fact != "game")
    dialect = "deepstack" if timed else "pluribus" if definition.players == 6 else "dealer"
    per = math.lcm(2, *parts)
    if per > _PARTS_MAX:
        raise Refused(1, f"results need {per} parts of a chip: no pot is split so often")
    return Survey(dialect, definition, per, players, "".join(comments), score, inferred, assumed)


def fields_of(line: str, number: int) -> list[str]:
    """The six fields of a STATE line, without the time that DeepStack adds."""
    fields = _TIME.sub("", line.rstrip("\n")).split(":")
    if len(fields) == 8:
        raise Refused(number, "this is a freeze-out log (STATE with stacks and blinds): not read")
    if len(fields) != 6:
        raise Refused(number, f"a STATE line has 6 fields, not {len(fields)}")
    return fields


def denominator(fraction: str) -> int:
    """The parts of a chip that this decimal fraction, perhaps rounded, counts."""
    exact = Fraction(fraction)
    digits = len(fraction.partition(".")[2])
    near = exact.limit_denominator(_PARTS_MAX)
    return near.denominator if abs(near - exact) * 10**digits <= 1 else exact.denominator


def result_in_units(text: str, per: int) -> int:
    """A result in units: a rounded third is a third."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:QUOTED]!r} is no amount of chips")
    exact = Fraction(text)
    near = round(exact * per)
    digits = len(text.partition(".")[2])
    if abs(Fraction(near, per) - exact) * 10**digits > (1 if digits else 0):
        raise ValueError(f"{text} is no whole number of 1/{per} chip")
    return near


def _game(
    comments: str, limit: bool, players: int, game: GameDefinition | None
) -> tuple[GameDefinition, tuple[str, ...]]:
    """The game that is named, or that the first comment names, or that the betting looks like."""
    if game is not None:
        if game.players != players:
            raise Refused(1, f"the game has {game.players} players, the log {players}")
        return game, () if game.stack else ("stacks",)
    if "GAMEDEF" in comments:  # the definition that our own logs carry
        lines = [line.lstrip("#; ") for line in comments.splitlines()]
        begun = next((at for at, line in enumerate(lines) if line.startswith("GAMEDEF")), 0)
        end = next((at for at, line in enumerate(lines) if line.startswith("END GAMEDEF")), 0)
        try:
            embedded = parse_definition("\n".join(lines[begun : end + 1]))
        except ValueError as wrong:
            raise Refused(begun + 1, str(wrong)) from None
        return _game("", limit, players, embedded)
    named = _GAME.search(comments)
    if named is None and (other := _OTHER.search(comments)):
        raise Refused(1, f"the game is {other[0]}: only Texas hold'em is read")
    limit = limit if named is None else named[1] == "limit"
    try:
        definition = public_definition(limit, players)
    except ValueError as wrong:
        raise Refused(1, str(wrong)) from None
    if named and int(named[2]) != players:
        raise Refused(1, f"the game is for {named[2]} players, the hands have {players}")
    if named and players == 2 and "reverse" not in named[3]:
        raise Refused(1, f"{named[0]} has other blinds than the public logs: name its definition")
    stacks = () if definition.stack else ("stacks",)
    return definition, stacks if named else ("game", "blinds", "stacks")


_DEALT = (3, 1, 1)
_MATCH = re.compile(r"# name/game/hands/seed (.+)")


def read(
    text: Text, definition: GameDefinition | None = None, rules: ImportRules = AS_READ
) -> SourceFile:
    """The log taken apart; a game other than that of the public logs must be defined."""
    log = survey(lines(text), definition)
    game, stack = ruleset(log.game, log.per)
    if rules.sets("stack"):
        stack = rules.of(game).stack
    small, big = (blind * log.per for blind in sorted(log.game.blinds)[-2:])
    levels = [size * log.per for size in log.game.sizes[::2]]
    assumed = []  # what the log does not say of its game
    if "blinds" in log.assumed:
        assumed = [f"blinds {small}/{big}", *([f"level {levels[0]}/{levels[1]}"] if levels else [])]
    if "stacks" in log.assumed:
        assumed.append(f"stack {stack}")
    return SourceFile(
        format="acpc",
        dialect=log.dialect,
        players=log.players,
        note=SourceNoted("acpc", log.dialect, log.header, log.footer),
        inferred=log.inferred,
        hands=_hands(text, replace(log, assumed=tuple(assumed)), game, stack),
        place=log.header,
    )


def _hands(text: Text, log: Survey, game: Game, stack: int) -> Iterator[SourceHand | Skipped]:
    """Every hand in order; then nothing but the score, which must be theirs."""
    total, count, score = Counter[str](), 0, 0
    for number, line in enumerate(lines(text), 1):
        if not line.strip() or line.startswith(("#", ";")):
            continue
        if score:
            raise Refused(number, "the log goes on after its SCORE")
        if line.startswith("SCORE:"):
            _check_score(line, number, log, total)
            score = number
            continue
        if line.startswith(MARKERS):
            raise Refused(number, "a git merge marker: two logs are mixed in this file")
        if not line.startswith("STATE:"):
            raise Refused(number, f"{line[:40].strip()!r} begins no line of a dealer log")
        count += 1
        fields = fields_of(line, number)
        try:
            hand = _source_hand(fields, count, number, log, game, stack)
            nets = [result_in_units(net, log.per) for net in fields[4].split("|")]
        except ValueError as wrong:
            raise Refused(number, str(wrong)) from None
        total.update(dict(zip(fields[5].split("|"), nets, strict=True)))
        yield hand


def _source_hand(
    fields: list[str], count: int, line: int, log: Survey, game: Game, stack: int
) -> SourceHand | Skipped:
    _, number, betting, cards, results, named = fields
    if not re.fullmatch(r"[0-9]{1,18}", number):
        raise MalformedHand(f"{number[:QUOTED]!r} is no number of a hand")
    players = tuple(named.split("|"))
    nets = tuple(result_in_units(net, log.per) for net in results.split("|"))
    holes, *board = cards.split("/")
    held = holes.split("|")
    seats = log.game.players
    for name, parts in (("names", players), ("results", nets), ("hands of cards", held)):
        if len(parts) != seats:
            raise MalformedHand(f"{len(parts)} {name} for {seats} players")
    if not all(players):
        raise MalformedHand("a player has no name")
    acts, folded = parse_betting(betting, log.game, stack, log.per)
    items: list[Item] = [Holds(seat, _cards(hole, 2)) for seat, hole in enumerate(held)]
    if len(folded) < seats - 1 and len(board) < 3:
        return Skipped(line, "the hand stops before its end")
    if len(board) != len(acts) - 1:
        raise MalformedHand(f"{len(acts)} streets of betting and {len(board)} of cards do not fit")
    items += acts[0]
    for dealt, group, street in zip(_DEALT, board, acts[1:], strict=False):
        items += [Board(_cards(group, dealt)), *street]
    match = _MATCH.match(log.header)  # who plays it from which seats: it numbers its hands
    return SourceHand(
        game=game,
        number=count,
        line=line,
        source_id=number,
        button=seats - 1,
        players=players,
        stacks=(stack,) * seats,
        items=tuple(items),
        nets=nets,
        rake=0,
        inferred=log.inferred,
        assumed=log.assumed,
        text=":".join(fields),
        site=f"{match[1].strip()} {named}" if match else "",
    )


def _cards(text: str, count: int) -> Cards:
    """Cards written together; nothing at all, where they are unknown."""
    if not text:
        return (UNKNOWN,) * count
    cards = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    if len(cards) != count or not all(map(is_card, cards)):
        raise MalformedHand(f"{text[:QUOTED]!r} is not {count} cards")
    return cards


def _check_score(line: str, number: int, log: Survey, total: Counter[str]) -> None:
    """The nets summed by name; where two players share one, nobody can tell."""
    fields = line.rstrip("\n").split(":")
    if len(fields) != 3:
        raise Refused(number, f"a SCORE line has 3 fields, not {len(fields)}")
    names = fields[2].split("|")
    try:
        scores = [result_in_units(score, log.per) for score in fields[1].split("|")]
    except ValueError as wrong:
        raise Refused(number, str(wrong)) from None
    if len(scores) != len(names):
        raise Refused(number, f"{len(scores)} scores for {len(names)} names")
    if len(set(names)) < len(names):
        return
    for name, score in zip(names, scores, strict=True):
        if score != total[name]:
            raise Refused(
                number,
                f"SCORE gives {name} {score / log.per:g}, "
                f"the hands add up to {total[name] / log.per:g}",
            )


# Betting: letters name no seat, so who acts follows from what was done.


class BettingState(Struct):
    """The chips that every position has put in, over the hand and before this street."""

    stack: int
    paid: list[int]
    folded: set[int]
    top: int
    before: int = 0

    def may_act(self, seat: int) -> bool:
        """Whether the seat has cards and chips."""
        return seat not in self.folded and self.paid[seat] < self.stack

    def act(self, move: str, seat: int, size: int | None, per: int) -> Act:
        """A move of this seat."""
        if move == "f":
            self.folded.add(seat)
            return Act(seat, "fold")
        if move == "c":
            owes = self.top > self.paid[seat]
            self.paid[seat] = max(self.paid[seat], min(self.top, self.stack))
            return Act(seat, "call" if owes else "check")
        if (size is None) == (move == "r"):
            raise MalformedHand(f"{move} {'lacks its' if size is None else 'has an'} amount")
        total = int(move[1:]) * per if size is None else self.top + size
        if total > self.stack or total < self.before:
            raise MalformedHand(
                f"{move} is not between what was put in before and a stack of {self.stack}"
            )
        self.paid[seat] = total
        self.top = max(total, self.top)
        return Act(seat, "raise", total - self.before)


def parse_betting(
    text: str, game: GameDefinition, stack: int, per: int
) -> tuple[list[list[Act]], set[int]]:
    """The choices of every street, and who folded; amounts in units."""
    if text.count("/") > 3:
        raise MalformedHand(f"{text[:QUOTED]!r} has more than four streets")
    blinds = [min(blind * per, stack) for blind in game.blinds]
    table = BettingState(stack, blinds, set(), max(game.blinds) * per)
    choices = []
    for at, moves in enumerate(text.split("/")):
        if not re.fullmatch(rf"(?:{_MOVES.pattern})*", moves):
            why = "is no betting: f, c and r, with an amount where none is fixed"
            raise MalformedHand(f"{moves[:QUOTED]!r} {why}")
        seat = game.first if at == 0 else 0
        size = game.sizes[at] * per if game.limit else None
        acts = []
        for move in _MOVES.findall(moves):
            order = (place % game.players for place in range(seat, seat + game.players))
            asked = next(filter(table.may_act, order), None)
            if asked is None:
                raise MalformedHand("the betting goes on although nobody can act any more")
            acts.append(table.act(move, asked, size, per))
            seat = asked + 1
        choices.append(acts)
        table.before = table.top
    return choices, table.folded

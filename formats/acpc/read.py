"""An ACPC log as a source: one hand a line, and a score that the hands must add up to."""

import re
from collections import Counter
from collections.abc import Iterator

from engine.game import Game
from events.cards import UNKNOWN, is_card
from events.types import Cards, SourceNoted
from formats.acpc.betting import QUOTED, Wrong, streets
from formats.acpc.definitions import Definition, ruleset
from formats.acpc.survey import Survey, fields_of, in_units, survey
from formats.mit.grammar import MARKERS
from formats.rules import AS_READ, Rules
from formats.text import Text, lines
from formats.told import Board, Holds, Refused, Skipped, Source, Told, ToldHand

_DEALT = (3, 1, 1)
_MATCH = re.compile(r"# name/game/hands/seed (.+)")


def read(text: Text, definition: Definition | None = None, rules: Rules = AS_READ) -> Source:
    """The log taken apart; a game other than that of the public logs must be defined."""
    found = survey(lines(text), definition)
    game, stack = ruleset(found.game, found.per)
    if rules.sets("stack"):
        stack = rules.of(game).stack
    return Source(
        format="acpc",
        dialect=found.dialect,
        players=found.players,
        note=SourceNoted("acpc", found.dialect, found.header, found.footer),
        inferred=found.inferred,
        hands=_hands(text, found, game, stack),
        place=found.header,
    )


def _hands(text: Text, found: Survey, game: Game, stack: int) -> Iterator[ToldHand | Skipped]:
    """Every hand in order; then nothing but the score, which must be theirs."""
    total, count, score = Counter[str](), 0, 0
    for number, line in enumerate(lines(text), 1):
        if not line.strip() or line.startswith(("#", ";")):
            continue
        if score:
            raise Refused(number, "the log goes on after its SCORE")
        if line.startswith("SCORE:"):
            _check_score(line, number, found, total)
            score = number
            continue
        if line.startswith(MARKERS):
            raise Refused(number, "a git merge marker: two logs are mixed in this file")
        if not line.startswith("STATE:"):
            raise Refused(number, f"{line[:40].strip()!r} begins no line of a dealer log")
        count += 1
        fields = fields_of(line, number)
        try:
            hand = _hand(fields, count, number, found, game, stack)
            nets = [in_units(net, found.per) for net in fields[4].split("|")]
        except ValueError as wrong:
            raise Refused(number, str(wrong)) from None
        total.update(dict(zip(fields[5].split("|"), nets, strict=True)))
        yield hand


def _hand(
    fields: list[str], count: int, line: int, found: Survey, game: Game, stack: int
) -> ToldHand | Skipped:
    _, number, betting, cards, results, named = fields
    if not re.fullmatch(r"[0-9]{1,18}", number):
        raise Wrong(f"{number[:QUOTED]!r} is no number of a hand")
    players = tuple(named.split("|"))
    nets = tuple(in_units(net, found.per) for net in results.split("|"))
    holes, *board = cards.split("/")
    held = holes.split("|")
    seats = found.game.players
    for what, there in (("names", players), ("results", nets), ("hands of cards", held)):
        if len(there) != seats:
            raise Wrong(f"{len(there)} {what} for {seats} players")
    if not all(players):
        raise Wrong("a player has no name")
    acts, folded = streets(betting, found.game, stack, found.per)
    told: list[Told] = [Holds(seat, _cards(one, 2)) for seat, one in enumerate(held)]
    if len(folded) < seats - 1 and len(board) < 3:
        return Skipped(line, "the hand stops before its end")
    if len(board) != len(acts) - 1:
        raise Wrong(f"{len(acts)} streets of betting and {len(board)} of cards do not fit")
    told += acts[0]
    for dealt, group, street in zip(_DEALT, board, acts[1:], strict=False):
        told += [Board(_cards(group, dealt)), *street]
    return ToldHand(
        game=game,
        number=count,
        line=line,
        source_id=number,
        button=seats - 1,
        players=players,
        stacks=(stack,) * seats,
        told=tuple(told),
        nets=nets,
        rake=0,
        inferred=found.inferred,
        assumed=_assumed(found, stack),
        text=":".join(fields),
        site=_match(found.header, named),
    )


def _assumed(found: Survey, stack: int) -> tuple[str, ...]:
    """What the log does not say of its game."""
    small, big = (blind * found.per for blind in sorted(found.game.blinds)[-2:])
    sizes = [size * found.per for size in found.game.sizes[::2]]
    said = [f"blinds {small}/{big}", *([f"level {sizes[0]}/{sizes[1]}"] if sizes else [])]
    return (
        *(said if "blinds" in found.assumed else ()),
        *([f"stack {stack}"] if "stacks" in found.assumed else ()),
    )


def _match(header: str, players: str) -> str:
    """The match that numbers its hands, where the log names it: who plays it from which seats."""
    found = _MATCH.match(header)
    return f"{found[1].strip()} {players}" if found else ""


def _cards(text: str, count: int) -> Cards:
    """Cards written together; nothing at all, where they are unknown."""
    if not text:
        return (UNKNOWN,) * count
    found = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    if len(found) != count or not all(map(is_card, found)):
        raise Wrong(f"{text[:QUOTED]!r} is not {count} cards")
    return found


def _check_score(line: str, number: int, found: Survey, total: Counter[str]) -> None:
    """The nets summed by name; where two players share one, nobody can tell."""
    fields = line.rstrip("\n").split(":")
    if len(fields) != 3:
        raise Refused(number, f"a SCORE line has 3 fields, not {len(fields)}")
    names = fields[2].split("|")
    try:
        said = [in_units(one, found.per) for one in fields[1].split("|")]
    except ValueError as wrong:
        raise Refused(number, str(wrong)) from None
    if len(said) != len(names):
        raise Refused(number, f"{len(said)} scores for {len(names)} names")
    if len(set(names)) < len(names):
        return
    for name, score in zip(names, said, strict=True):
        if score != total[name]:
            raise Refused(
                number,
                f"SCORE gives {name} {score / found.per:g}, "
                f"the hands add up to {total[name] / found.per:g}",
            )

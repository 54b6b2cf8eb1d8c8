"""Hands told in a few lines, and the rows that a question should answer: text files as tests.

hand GAME, button B: NAMES                 seats in order
deck CARDS                                 the first cards to be dealt; any others follow
> 3 folds; 0 raises to 30; ...             what players say, in order
rows                                       from here on: the answer, `-` for null
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from engine.games import RULESETS
from engine.hand import begin, step, turn
from engine.turn import Deal, Over, Show, ToDeal, ToShow
from events.cards import DECK, cards
from events.ledger import Recorded
from events.types import Event, Events
from store.log.streams import Leaf
from tests.spoken import command

QUESTIONS = Path(__file__).parent / "questions"


class Question(NamedTuple):
    """Some hands, and what the columns of the answer are for some players."""

    leaves: list[Leaf]
    columns: list[str]
    rows: list[list[Any]]


def question(path: Path) -> Question:
    """A file of the folder `questions`."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    end = lines.index("rows")
    columns, *rows = (line.split() for line in lines[end + 1 :])
    return Question(leaves(lines[:end]), columns, [[*map(_value, row)] for row in rows])


def leaves(lines: Iterable[str]) -> list[Leaf]:
    """Each hand as the ledger would hold it, in the match `m`."""
    told: list[list[str]] = []
    for line in lines:
        if line.startswith("hand "):
            told.append([])
        if not line.startswith("#"):
            told[-1].append(line)
    return [leaf(number, played(number, one)) for number, one in enumerate(told, start=1)]


def leaf(number: int, events: Events) -> Leaf:
    """One hand that closed."""
    recorded = (Recorded(at, f"m/{number}", at, 1_000, one) for at, one in enumerate(events))
    return Leaf(number, tuple(recorded))


def played(number: int, lines: list[str]) -> Events:
    """The engine plays what the lines say; whoever must show shows."""
    head, names = lines[0].removeprefix("hand ").split(": ")
    game = RULESETS[head.split(",")[0]]
    players = tuple(names.split())
    decks = [cards(line.removeprefix("deck ")) for line in lines if line.startswith("deck ")]
    first = decks[0] if decks else ()
    deck = iter((*first, *(card for card in DECK if card not in first)))
    said = iter(_said(lines))
    stacks = (game.stack,) * len(players)
    new, hand = begin(game, f"m/{number}", int(head.split()[-1]), players, stacks)
    events: list[Event] = list(new)
    while not isinstance(asked := turn(game, hand), Over):
        if isinstance(asked, ToDeal):
            answer: Any = Deal(tuple(next(deck) for _ in range(asked.count)))
        elif isinstance(asked, ToShow):
            answer = Show(asked.seat, hand.hole[asked.seat])
        else:
            answer = command(next(said))
        new, hand = step(game, hand, answer)
        events += new
    assert [] == list(said)
    return tuple(events)


def _said(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("> "):
            yield from (one.strip() for one in line.removeprefix("> ").split(";"))


def _value(text: str) -> Any:
    if text == "-":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text

"""Text files of the folder `auctions`: hands as on a rule page, then rows that a question answers.

Hands are divided by empty lines. `rows` opens the answer: its columns, then rows that must be in
it, `-` for null. The hands are numbers 1, 2, ... of a mirrored match whose decks are dealt twice.
"""

from pathlib import Path
from typing import Any, NamedTuple

from analytics.auctions import worth as bids_worth
from analytics.auctions.values_kept import ThirdCards
from analytics.replay.rulebook import Rulebook
from analytics.stored import auctions as bids_rows
from analytics.stored import played as luck_rows
from analytics.stored import risks as swaps_rows
from events.ledger import Recorded
from events.types import Event
from store.log.leaf import Leaf
from tests.pages import played

PAGES = Path(__file__).parent / "auctions"
RULES = Rulebook(lambda mark: None)
THIRD = ThirdCards(None)
MIRRORED = {"m": 2}


class Page(NamedTuple):
    """Some hands, and rows of the answer."""

    leaves: list[Leaf]
    columns: list[str]
    rows: list[list[Any]]


def page(path: Path) -> Page:
    """A file of the folder."""
    *hands, answer = path.read_text("utf-8").split("\n\n")
    _, columns, *rows = answer.strip().splitlines()
    told = [leaf(number, hand) for number, hand in enumerate(hands, start=1)]
    return Page(told, columns.split(), [[*map(_value, row.split())] for row in rows])


def leaf(number: int, text: str, match: str = "m") -> Leaf:
    """A hand in the notation of the rule pages, as the ledger holds it when it has closed."""
    return recorded(number, played(text).events, match)


def recorded(number: int, events: "list[Event] | tuple[Event, ...]", match: str = "m") -> Leaf:
    """Events as a leaf."""
    stream = f"{match}/{number}"
    return Leaf(number, tuple(Recorded(at, stream, at, 0, one) for at, one in enumerate(events)))


def auctions(leaves: list[Leaf]) -> list[dict[str, Any]]:
    """Every bidder's row."""
    return [row for one in leaves for row in bids_rows.rows_of(one)]


def worths(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What third cards were worth, kept in memory over all tests."""
    return list(bids_worth.worths(bids_worth.auctions(rows), rules_of))


def rules_of(row: dict[str, Any]) -> bids_worth.Rules | None:
    """Those of a row's own ruleset."""
    return bids_worth.rules_of(row["ruleset"], RULES, lambda how: THIRD)


def played_rows(leaves: list[Leaf]) -> list[dict[str, Any]]:
    """Every player's row."""
    return [row for one in leaves for row in luck_rows.rows_of(one, RULES, MIRRORED)]


def risks(leaves: list[Leaf]) -> list[dict[str, Any]]:
    """Every card at risk, changes valued."""
    rows = [row for one in leaves for row in swaps_rows.rows_of(one, RULES)]
    swaps_rows.valued(rows, RULES)
    return rows


def _value(text: str) -> Any:
    if text == "-":
        return None
    try:
        return float(text)
    except ValueError:
        return text

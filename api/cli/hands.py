"""`muckrake hands`: the hands in the ledger, in the order they ended, a page or all of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import asking, json_option, ledger_option
from api.cli.output import NotFound, cell, listed, note, table

if TYPE_CHECKING:
    from store.query import Query

COLUMNS = ("hand", "match", "game", "players", "board", "pot", "net", "showdown", "void", "at")
PAGE = 10_000  # hands in memory at a time
PLAYED = """
SELECT hand_seq, hand, match, game, players, board, pot, nets AS net, showdown, voided AS void,
       last_at AS at
FROM hands
"""


@click.command()
@click.option("--match", metavar="MATCH", help="Only this match's hands.")
@click.option("--limit", type=click.IntRange(min=1), help="So many at most; all, if not given.")
@click.option("--after", metavar="HAND", help="Only those that ended after this one.")
@ledger_option
@json_option
def hands(
    match: str | None, limit: int | None, after: str | None, folder: Path, as_document: bool
) -> None:
    """List hands in the order they ended."""
    with asking(folder) as views:
        if match is not None and match not in views.snapshot.matches():
            raise NotFound(f"there is no match {match}: muckrake matches lists those there are")
        page = Page(views, match, limit, _place(views, after))
        if as_document:
            listed("muckrake.hands/1", "hands", page, lambda: {"next": page.next})
        else:
            table(COLUMNS, ([_told(row[column]) for column in COLUMNS] for row in page))
            if page.next is not None:
                note(f"there are more: --after {page.next}")


class Page:
    """Hands to be listed; `next` is where to go on, known when all are listed."""

    def __init__(self, views: "Query", match: str | None, limit: int | None, after: int) -> None:
        views.ready("hands")
        self.next: str | None = None
        self._views = views
        self._match = match
        self._limit = limit
        self._after = after

    def __iter__(self) -> Iterator[dict[str, Any]]:
        given, last = 0, ""
        while rows := self._rows():
            for row in rows:
                if given == self._limit:
                    self.next = last
                    return
                given, last, self._after = given + 1, row["hand"], row.pop("hand_seq")
                yield _row(row)

    def _rows(self) -> list[dict[str, Any]]:
        """The next few in the order of ending."""
        only = "" if self._match is None else f" AND match = {_quoted(self._match)}"
        size = PAGE if self._limit is None else min(PAGE, self._limit + 1)
        page = f"WHERE hand_seq > {self._after}{only} ORDER BY hand_seq LIMIT {size}"
        return self._views.rows(PLAYED + page)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """The stored text as values; a hand that does not add up has none."""
    board, net = row["board"], row["net"]
    return {
        **row,
        "players": row["players"] and json.loads(row["players"]),
        "board": None if board is None else board.split(),
        "net": None if net is None else [int(each) for each in net.split()],
    }


def _place(views: "Query", after: str | None) -> int:
    """The sequence number of a hand; before the first, if none is named."""
    if after is None:
        return -1
    known = views.rows(f"SELECT hand_seq FROM hands WHERE hand = {_quoted(after)}")
    if not known:
        raise NotFound(f"there is no hand {after} that has ended")
    return int(known[0]["hand_seq"])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _told(value: Any) -> str:
    """A value of a row on one line: cards and names with spaces, nets with their sign."""
    match value:
        case bool():
            return "yes" if value else ""
        case list():
            return " ".join(f"{one:+d}" if isinstance(one, int) else one for one in value)
    return cell(value)

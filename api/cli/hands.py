"""`muckrake hands`: the hands in the ledger, in the order they ended, a page or all of them.

A filter finds some of them; docs/filters.md has its language.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import NotFound, cell, document, listed, note, table, watched
from api.cli.viewing import viewing
from api.cli.web import web_page

if TYPE_CHECKING:
    from api.questions.filters import Filter
    from api.questions.verdicts import Judged
    from api.viewpoints.views import Viewed

COLUMNS = (
    *("hand", "match", "game", "players", "board", "pot", "net", "unit", "showdown", "void"),
    *("at", "played"),
)
PAGE = 10_000  # hands in memory at a time
SECONDS = 600.0  # that a page may take
AT_ONCE = 20_000  # hands that are judged without being asked for
SHOWN_MAX = 100  # of a filter that is wrong


@click.command()
@click.argument("filter_", metavar="[FILTER]", default="")
@click.option("--match", metavar="MATCH", help="Only this match's hands.")
@click.option("--limit", type=click.IntRange(min=1), help="So many at most; all, if not given.")
@click.option("--after", metavar="HAND", help="Only those that come after this one.")
@click.option("--newest", is_flag=True, help="The last that ended first.")
@click.option("--facets", "counted", is_flag=True, help="Counts of what there is, and no hands.")
@view_option
@ledger_option
@json_option
@web_page(lambda to, asked: to.hands(_sought(asked["filter_"], asked["match"])))
def hands(
    filter_: str,
    match: str | None,
    limit: int | None,
    after: str | None,
    newest: bool,
    counted: bool,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """List hands in the order they ended, those that pass FILTER: "pot>=40bb & showdown"."""
    one = _read(filter_)
    with viewing(folder, view) as viewed:
        if match is not None:
            one = _of(viewed, match, one)
        judged = _judged(viewed, one, counted)
        if counted:
            _facets(viewed, one, judged, as_document)
            return
        page = Page(viewed, one, limit, _place(viewed, after), newest, judged)
        if as_document:
            listed("muckrake.hands/1", "hands", page, lambda: {"next": page.next})
        else:
            table(COLUMNS, ([_told(row[column]) for column in COLUMNS] for row in page))
            if page.next is not None:
                note(f"there are more: --after {page.next}")


class Page:
    """Hands to be listed; `next` is where to go on, known when all are listed."""

    def __init__(
        self,
        viewed: "Viewed",
        one: "Filter",
        limit: int | None,
        after: int | None,
        newest: bool,
        judged: "Judged | None",
    ) -> None:
        viewed.query.ready("hands")
        self.next: str | None = None
        self._viewed = viewed
        self._limit = limit
        self._after = after
        self._asked = one, newest, judged

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from api.questions.listing import page

        one, newest, judged = self._asked
        lack = self._limit
        while True:
            size = PAGE if lack is None else min(PAGE, lack)
            found = page(self._viewed, one, self._after, size, newest, judged, SECONDS)
            yield from found.rows
            lack = None if lack is None else lack - len(found.rows)
            self._after = found.next
            if found.next is None or lack == 0:
                break
        if found.next is not None:
            self.next = found.rows[-1]["hand"]


def _read(text: str) -> "Filter":
    """The filter; a wrong one is shown, with a mark where it went wrong."""
    from api.questions.filters import WrongFilter, parsed

    try:
        return parsed(text)
    except WrongFilter as wrong:
        note(f"muckrake: {wrong}")
        begin = max(0, wrong.position - SHOWN_MAX // 2)
        shown = "".join(one if one.isprintable() else " " for one in text)
        note(f"  {shown[begin : begin + SHOWN_MAX]}")
        note(f"  {' ' * (wrong.position - begin)}^")
        raise click.exceptions.Exit(2) from None


def _of(viewed: "Viewed", match: str, one: "Filter") -> "Filter":
    """Of one match, which must be there."""
    from api.questions.filters_tree import And, Compare, joined

    if match not in viewed.snapshot.matches():
        raise NotFound(f"there is no match {match}: muckrake matches lists those there are")
    return joined(And, [Compare("match", "=", match), one])


def _place(viewed: "Viewed", after: str | None) -> int | None:
    """The sequence number of a hand, if one is named."""
    from api.questions.listing import place

    if after is None:
        return None
    found = place(viewed, after)
    if found is None:
        raise NotFound(f"there is no hand {after} that has ended")
    return found


def _judged(viewed: "Viewed", one: "Filter", counted: bool) -> "Judged | None":
    """Verdicts of every hand, if the filter asks for them; if they are counted, what is known."""
    from api.questions.filters_sql import asks_verdicts

    asked = asks_verdicts(one)
    if not (asked or counted) or not (viewed.viewer.auditor or viewed.opened):
        return None
    from api.questions.verdicts import Verdicts

    verdicts = Verdicts()
    judged = verdicts.known(viewed.snapshot, AT_ONCE)
    if judged.left and not asked:
        note(f"{judged.left} hands are not judged yet: muckrake hands contested judges them")
    elif judged.left:
        with watched("judging", judged.left) as advance:
            done = 0
            for progress in verdicts.judge(viewed.snapshot):
                advance(progress.done - done, progress.done - done)
                done = progress.done
        judged = verdicts.known(viewed.snapshot)
    return judged


def _facets(viewed: "Viewed", one: "Filter", judged: "Judged | None", as_document: bool) -> None:
    """How many hands, and how they are spread."""
    from api.questions.listing import facets

    counted = facets(viewed, one, judged, SECONDS)
    if as_document:
        document("muckrake.facets/1", **counted)
        return
    rows = [["hands", "", str(counted.pop("hands")), ""]]
    for name, values in counted.items():
        rows += [[name, cell(it["value"]), str(it["hands"]), it["filter"]] for it in values]
    table(("facet", "value", "hands", "filter"), rows)


def _told(value: Any) -> str:
    """A value of a row on one line: cards and names with spaces, nets with their sign."""
    match value:
        case bool():
            return "yes" if value else ""
        case list():
            return " ".join(f"{one:+d}" if isinstance(one, int) else one for one in value)
    return cell(value)


def _sought(filter_: str, match: str | None) -> str:
    """The filter of a page, which has no other way to name a match."""
    from api.questions.filters_tree import word

    named = "" if match is None else f"match={word(match)}"
    return " & ".join(filter(None, (named, f"({filter_})" if filter_ and named else filter_)))

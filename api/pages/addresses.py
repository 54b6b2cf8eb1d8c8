"""Addresses of pages and links, and the order of a table, which its address says.

An address keeps the viewpoint that was chosen.

`?sort=hands`, or `?sort=-net` with most first. Heads are links, so a table sorts without a script,
and everybody with the address sees the same order. A template draws the heads and then the rows; of
several tables each that has the column is sorted.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from fastapi import Query, Request
from markupsafe import Markup
from msgspec import Struct
from starlette.datastructures import URL

from api.http.access import Access
from api.http.routes.questions import read_page
from api.problem import Problem
from api.questions.question import Question
from api.viewpoints.ledger_view import LedgerView
from store.sql.query import Query as Views

Sort = Annotated[str | None, Query(max_length=60)]
SORTED_ROWS_MAX = 20_000  # rows of a list that are sorted otherwise than they are found
CACHED_LISTS = 2  # sorted lists of a viewer that are kept: some megabytes each, if they are long
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


def _path_part(name: object) -> str:
    return quote(str(name), safe="")


class Addresses(Struct, frozen=True):
    """The addresses of a page's links; each keeps the viewpoint of the page."""

    view: str | None = None

    def home(self, **query: str) -> str:
        return self._at("/", **query)

    def page(self, *path: str, **query: str) -> str:
        """The address of any page by the parts of its path, with the viewpoint of this page
        unless the query names another."""
        query = {**({} if self.view is None else {"as": self.view}), **query}
        return Addresses()._at("/" + "/".join(map(_path_part, path)), **query)

    def matches(self, after: str | None = None) -> str:
        return self._at("/matches", after=after)

    def match(self, match: str, **query: str | int | None) -> str:
        return self._at(f"/matches/{_path_part(match)}", **query)

    def hands(self, q: str = "", **query: str | int | None) -> str:
        """The list of the hands that a filter finds."""
        return self._at("/hands", q=q or None, **query)

    def hand(
        self, hand: str, page: str = "", event: int | None = None, q: str = "", **query: str | None
    ) -> str:
        """A page of a hand MATCH/NUMBER: its replay, `audit` or `events`; one of a filter's."""
        path = "/".join(map(_path_part, hand.rpartition("/")[::2]))
        at = self._at(f"/hands/{path}" + (f"/{page}" if page else ""), q=q or None, **query)
        return at if event is None else f"{at}#{event}"

    def players(self, by_tag: str | None = None) -> str:
        return self._at("/players", by_tag=by_tag)

    def player(self, name: str, page: str = "", **query: str | int | tuple[str, ...] | None) -> str:
        """A page of a player: `grid`, `winnings`, `bids` or `swaps`, or his statistics."""
        return self._at(f"/players/{_path_part(name)}" + (f"/{page}" if page else ""), **query)

    def place(self, template: str, named: dict[str, str], **query: str | int | None) -> str:
        """The page of a question: an address with names in braces, and its parameters."""
        return self._at(
            template.format_map({key: _path_part(it) for key, it in named.items()}), **query
        )

    def ratings(self, unit: str | None = None) -> str:
        return self._at("/ratings", unit=unit)

    def fairness(self, match: str | None = None, run: str | None = None) -> str:
        return self._at("/fairness", match=match, run=run)

    def live(self, match: str | None = None) -> str:
        return self._at("/live", match=match)

    def embedded(self, *path: str, **query: str | None) -> str:
        """The address of a page that may stand in a frame of another site."""
        return self._at("/embed/" + "/".join(map(_path_part, path)), **query)

    def verify(self) -> str:
        """The page where a bundle is judged in the browser."""
        return self._at("/verify")

    def games(self) -> str:
        return self._at("/games")

    def game(self, game: str, policy: str | None = None) -> str:
        """The page of a ruleset, or of one of its policies."""
        at = self._at(f"/games/{_path_part(game)}")
        return at if policy is None else f"{at}#{_path_part(policy)}"

    def api(self, *path: str | int, **query: str | int | tuple[str, ...] | None) -> str:
        """A path under `/api/v1`: `api("hands", match, number, "events")`."""
        return self._at("/api/v1/" + "/".join(map(_path_part, path)), **query)

    def _at(self, path: str, **query: str | int | tuple[str, ...] | None) -> str:
        values = {name: value for name, value in query.items() if value not in (None, ())}
        if self.view is not None:
            values["as"] = self.view
        return f"{path}?{urlencode(values, doseq=True)}" if values else path


class SortColumn(NamedTuple):
    """Where a row has the value that it is sorted by (`#`: its own place), and whether that is a
    number."""

    path: str
    number: bool

    def value(self, row: Any) -> Any:
        """A row's value: `measured.value` is a member of a member, `3.text` of the fourth cell."""
        for part in self.path.split("."):
            if row is None:
                return None
            if part.isdecimal():
                row = row[int(part)]
            else:
                row = row.get(part) if isinstance(row, Mapping) else getattr(row, part)
        if not isinstance(row, str):
            return row
        if not self.number:
            return row.casefold() or None
        number = _NUMBER.search(row)
        return float(number[0].replace(",", "")) if number else None


class TableOrder:
    """The columns that a table can be sorted by, its order, and the address that links to other
    orders."""

    def __init__(self, sort: str | None, at: URL, columns: Iterable[str] = ()) -> None:
        self.sort, self.at = sort, at
        self.columns = {name: SortColumn(name, number=False) for name in columns}

    def rows(self, rows: Iterable[Any]) -> Sequence[Any]:
        """The rows in this order; those without a value stand last."""
        by = None if self.sort is None else self.columns.get(self.sort.removeprefix("-"))
        if self.sort is None or by is None:
            return list(rows)
        each = [(place if by.path == "#" else by.value(row), row) for place, row in enumerate(rows)]
        known = [one for one in each if one[0] is not None]
        known.sort(key=lambda one: one[0], reverse=self.sort.startswith("-"))
        return [row for _, row in known] + [row for found, row in each if found is None]

    def head(self, column: str, title: str = "", kind: str = "", of: str = "") -> Markup:
        """The head of a column: a link to its order, or to the opposite of it. Of numbers, which
        stand on the right (`n`), the most come first. `of` says where a row has its value."""
        self.columns[column] = SortColumn(of or column, number=kind.startswith("n"))
        up, down = column, f"-{column}"
        direction = {up: "ascending", down: "descending"}.get(self.sort or "")
        first, then = (down, up) if kind.startswith("n") else (up, down)
        at = self.at.remove_query_params("after").include_query_params(
            sort=then if self.sort == first else first
        )
        return Markup('<th{}{}><a class="sort" href="{}">{}</a></th>').format(
            Markup(' class="{}"').format(kind) if kind else "",
            Markup(' aria-sort="{}"').format(direction) if direction else "",
            f"{at.path}?{at.query}",
            title or column,
        )

    def further(self, after: str) -> str:
        """This address in this order, from a row on."""
        at = self.at.include_query_params(after=after)
        return f"{at.path}?{at.query}"

    def next_head(self, title: str, place: int, kind: str) -> Markup:
        """The head of the column at a place of a sheet; a second one of a name is numbered."""
        same = sum(
            1 for column in self.columns if column == title or column.startswith(f"{title} (")
        )
        name = f"{title} ({same + 1})" if title in self.columns else title
        return self.head(name, title, kind, f"{place}.text")


class PageOrders:
    """The orders of a page's tables; each says its columns when its heads are drawn."""

    def __init__(self, request: Request) -> None:
        self.sort, self.at = request.query_params.get("sort") or None, _quoted_url(request)
        self.tables: list[TableOrder] = []

    def table(self) -> TableOrder:
        """The order of one more table."""
        self.tables.append(TableOrder(self.sort, self.at))
        return self.tables[-1]

    def to(self, name: str, value: str) -> str:
        """This address with another value of a parameter, from the first row on."""
        at = self.at.remove_query_params("after").include_query_params(**{name: value})
        return f"{at.path}?{at.query}"

    def check(self) -> None:
        """Refuse a column that no table of the page has; a page without a table may lack them."""
        known = dict.fromkeys(name for table in self.tables for name in table.columns)
        if known:
            _check_column(self.sort, known)


def _quoted_url(request: Request) -> URL:
    """The address of a request, quoted: a name in its path may hold a question mark."""
    query = request.scope["query_string"].decode("latin-1")
    return URL(f"{quote(request.scope['path'])}?{query}")


def _check_column(sort: str | None, known: Iterable[str]) -> None:
    if sort is not None and sort.removeprefix("-") not in known:
        raise Problem(
            "invalid",
            f"nothing here is sorted by {sort[:60]}: {', '.join(known)} can be",
            choices={"sort": list(known)},
        )


def table_order(request: Request, columns: Sequence[str]) -> TableOrder:
    """The order of a list that an address asks for, if the list has such a column."""
    sort = request.query_params.get("sort") or None
    _check_column(sort, columns)
    return TableOrder(sort, _quoted_url(request), columns)


_lock = threading.Lock()
_cached_lists: WeakKeyDictionary[Views, OrderedDict[str, Sequence[Any]]] = WeakKeyDictionary()


def sorted_list(
    question: Question,
    ask: Access,
    viewed: LedgerView,
    limit: int,
    after: str | None,
    params: dict[str, Any],
    by: TableOrder,
) -> tuple[Sequence[Any], str | None]:
    """A page of a list in its own order; or in another: then `after` is how many came before.

    As long as a viewer sees the same ledger the last lists that were sorted for him are kept, so
    that he pages through one list, and its order is counted once.
    """
    if by.sort is None:
        page, following = read_page(question, ask, viewed, limit, after, params)
        return page.rows, following
    if after is not None and not re.fullmatch("[0-9]{1,9}", after):
        raise Problem("wrong-cursor", f"a list by {by.sort} goes on after a number of rows")
    place = int(after or 0)
    name = f"{question.name} {by.sort} {sorted(params.items())}"
    with _lock:
        kept = _cached_lists.setdefault(viewed.query, OrderedDict())
        rows = kept.get(name)
    if rows is None:
        page, following = read_page(question, ask, viewed, SORTED_ROWS_MAX, None, params)
        if following is not None:
            sentence = (
                f"more than {SORTED_ROWS_MAX:,} {question.name} stand in their own order only"
            )
            raise Problem("too-large", f"{sentence}, not by {by.sort}")
        rows = by.rows(page.rows)
    with _lock:
        kept[name] = rows
        kept.move_to_end(name)
        while len(kept) > CACHED_LISTS:
            kept.popitem(last=False)
    following = str(place + limit) if place + limit < len(rows) else None
    return rows[place : place + limit], following

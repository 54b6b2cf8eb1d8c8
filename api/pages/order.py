"""The order of a table's rows, as its address says it: `?sort=hands`, `?sort=-net` with most first.

Heads are links, so a table sorts without a script, and whoever has the address sees the same order.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import Query, Request
from markupsafe import Markup
from msgspec.structs import replace
from starlette.datastructures import URL

from api.http.ask import Access
from api.http.routes.questions import page_of
from api.problem import Problem
from api.questions.question import Question, Sheet
from api.viewpoints.views import Viewed

Sort = Annotated[str | None, Query(max_length=60)]
SORTED_MAX = 1_000  # rows of a list that are sorted otherwise than they are found
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


class Order(NamedTuple):
    """What can be sorted by, what is, and the address whose other orders are linked."""

    columns: tuple[str, ...]
    sort: str | None
    at: URL

    def rows(
        self, rows: Iterable[Any], value: Callable[[Any, str], Any] = getattr
    ) -> Sequence[Any]:
        """The same rows in this order; those without a value stand last."""
        if self.sort is None:
            return list(rows)
        by = self.sort.removeprefix("-")
        told = [(value(row, by), row) for row in rows]
        known = [one for one in told if one[0] is not None]
        known.sort(key=lambda one: one[0], reverse=self.sort.startswith("-"))
        return [row for _, row in known] + [row for found, row in told if found is None]

    def head(self, column: str, title: str = "", kind: str = "") -> Markup:
        """The head of a column: a link to its order, or to the opposite of it. Of numbers, which
        stand on the right (`n`), the most come first."""
        up, down = column, f"-{column}"
        now = {up: "ascending", down: "descending"}.get(self.sort or "")
        first, then = (down, up) if kind == "n" else (up, down)
        at = self.at.remove_query_params("after").include_query_params(
            sort=then if self.sort == first else first
        )
        return Markup('<th{}{}><a class="sort" href="{}">{}</a></th>').format(
            Markup(' class="{}"').format(kind) if kind else "",
            Markup(' aria-sort="{}"').format(now) if now else "",
            f"{at.path}?{at.query}",
            title or column,
        )


def order(request: Request, columns: Iterable[str]) -> Order:
    """What an address asks for, if the table has such a column."""
    sort, known = request.query_params.get("sort") or None, tuple(dict.fromkeys(columns))
    if sort is not None and sort.removeprefix("-") not in known:
        raise Problem(
            "invalid", f"nothing here is sorted by {sort[:60]}: {', '.join(known)} can be"
        )
    return Order(known, sort, request.url)


def sorted_list(
    question: Question,
    ask: Access,
    viewed: Viewed,
    limit: int,
    after: str | None,
    asked: dict[str, Any],
    by: Order,
) -> tuple[Sequence[Any], str | None]:
    """A page of a list in its own order, or all of it in another."""
    size = limit if by.sort is None else SORTED_MAX
    found, following = page_of(
        question, ask, viewed, size, after if by.sort is None else None, asked
    )
    if by.sort is not None and following is not None:
        sentence = f"more than {SORTED_MAX:,} {question.name} stand in their own order only"
        raise Problem("too-large", f"{sentence}, not by {by.sort}")
    return by.rows(found.rows), following


def sorted_sheets(request: Request, sheets: Sequence[Sheet]) -> list[tuple[Sheet, Order]]:
    """Tables as people read them: whichever has the column is sorted by it."""
    heads = [name for one in sheets for name in one.columns if name]
    by, found = order(request, heads), []
    for one in sheets:
        places = {name: place for place, name in reversed([*enumerate(one.columns)])}
        mine = by if by.sort and by.sort.removeprefix("-") in places else by._replace(sort=None)

        def value(row: Any, name: str, one: Sheet = one, places: dict[str, int] = places) -> Any:
            text = row[places[name]].text
            if places[name] not in one.right:
                return text.casefold() or None
            number = _NUMBER.search(text)
            return float(number[0].replace(",", "")) if number else None

        found.append((replace(one, rows=mine.rows(one.rows, value)), mine))
    return found

"""What the commands about players share: the ledger asked, the filters read, answers in files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analytics.statistics_chosen import Chosen, quoted
from api.cli.ledger import check_spelling, reading
from api.cli.output import NotFound, NotPermitted, note

if TYPE_CHECKING:
    from store.query import Query

SLOW = 20_000  # hands without stored facts, from which on it is worth a word


@contextmanager
def questions(folder: Path) -> Iterator["Query"]:
    """The ledger's views, facts among them."""
    with reading(folder) as ledger:
        from analytics.ask import views
        from analytics.facts import VERSION
        from store.guard import Refused

        segments = ledger.parts().segments
        lacking = [one for one in segments if one.projections.get("facts") != VERSION]
        hands = sum(one.last_seq - one.first_seq + 1 for one in lacking)
        if hands > SLOW:
            note(f"facts of {hands} hands are made on the way: muckrake compact would keep them")
        query = views(ledger)
        try:
            yield query
        except Refused as reason:
            raise click.ClickException(str(reason)) from None
        finally:
            query.close()


def chosen_of(
    views: "Query", player: str | None, *, hands: str | None = None, before: str | None = None,
    **others: Any,
) -> Chosen:  # fmt: skip
    """The filters; a player, match or hand that is not there is said before anything is counted."""
    first_last = _numbers(hands) if hands else None
    place = None
    if before is not None:
        place = views.snapshot.hand_seq(before)
        if place is None:
            raise NotFound(f"there is no hand {before}: muckrake hands lists those there are")
    for name in (player, others.get("vs")):
        if name is not None and not _is_there(views, "player", name):
            raise NotFound(f"nobody called {name} was dealt a hand: muckrake stats lists who was")
    for what in ("match", "game"):
        if others.get(what) is not None and not _is_there(views, what, others[what]):
            raise NotFound(f"there is no hand of {what} {others[what]}")
    if player is not None and player == others.get("vs"):
        raise click.UsageError(f"{player} has no hands against himself")
    return Chosen(player=player, hands=first_last, before=place, **others)


def seen_by(view: str, views: "Query") -> str:
    """The class of hole cards that a viewpoint knows, as SQL: its own and those it was shown.

    In a match whose records are open to all, everybody knows as much as the auditor.
    """
    check_spelling(view)
    if view == "auditor":
        return "coalesce(cards, shown)"
    name = view.removeprefix("seat:") if view.startswith("seat:") else None
    if name is not None and not _is_there(views, "player", name):
        raise NotPermitted(f"{name} has no seat in any hand here")
    own = f"f.player = {quoted(name)}" if name else "FALSE"
    opened = ", ".join(quoted(one) for one in _opened(views)) or "''"
    mine = f"{own} OR f.match IN ({opened})"
    return f"CASE WHEN {mine} THEN coalesce(cards, shown) ELSE shown END"


def written(rows: Sequence[Any], csv: Path | None, parquet: Path | None) -> None:
    """The answer as a file of one row a statistic."""
    import polars as pl

    frame = pl.DataFrame(list(rows), infer_schema_length=None, orient="row" if rows else None)
    if rows and hasattr(rows[0], "_fields"):
        from analytics.ask import COLUMNS

        frame = pl.DataFrame(list(rows), schema=COLUMNS, orient="row")
    try:
        if csv:
            frame.write_csv(csv)
        if parquet:
            frame.write_parquet(parquet)
    except OSError as failure:
        raise click.ClickException(f"cannot be written: {failure}") from None
    for path in filter(None, (csv, parquet)):
        note(f"{frame.height} rows into {path}")


def _opened(views: "Query") -> list[str]:
    """Matches whose hands everybody may see."""
    from api.seen import is_open

    ledger = views.snapshot
    return [match for match in ledger.matches() if is_open(one.event for one in ledger.read(match))]


def _is_there(views: "Query", column: str, value: str) -> bool:
    sql = f"SELECT 1 AS there FROM facts WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(views.rows(sql))


def _numbers(text: str) -> tuple[int, int]:
    """`1-100`, or one number."""
    first, _, last = text.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 2**63):
        raise click.UsageError(f"{text} is no range of hands: 101-200 is one")
    return int(first), int(last)

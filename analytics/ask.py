"""Ask a ledger about its players: `ask("vpip", "ledger", player="lynx")` gives a Polars frame.

A question is the name of a statistic, several names, `all`, or `grid`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analytics.sql.chosen import Chosen
from analytics.statistics.answers import COLUMNS, answers, in_units, named, rows_of, views
from store.reader import Reader, Snapshot

if TYPE_CHECKING:
    import polars as pl


def ask(
    question: str | Sequence[str], ledger: str | Path | Snapshot, **filters: Any
) -> "pl.DataFrame":
    """The answer as a frame; `filters` are the fields of `Chosen`."""
    import polars as pl

    query = views(snapshot_of(ledger))
    chosen = Chosen(**filters)
    try:
        if question == "grid":
            return pl.DataFrame(rows_of("grid", query, chosen), infer_schema_length=None)
        found = in_units(query, chosen, answers(query, chosen, named(question)))
        return pl.DataFrame(list(found), schema=COLUMNS, orient="row")
    finally:
        query.close()


def snapshot_of(ledger: str | Path | Snapshot) -> Snapshot:
    """A ledger as it is now; a snapshot that is taken once answers all questions alike."""
    return ledger if isinstance(ledger, Snapshot) else Reader(Path(ledger)).snapshot()

"""A program asks a ledger: for the record of a hand, in SQL, or a question by its name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from msgspec import ValidationError, convert

from analytics.statistics.answers import snapshot_of, views
from api.questions import declared
from api.viewpoints.selection import Absent
from api.viewpoints.viewer import AUDITOR, viewer_of, without_progress
from api.viewpoints.views import Viewed
from events.ledger import is_match
from events.types import Events
from store.reader import Snapshot

if TYPE_CHECKING:
    import pyarrow as pa


def record(ledger: str | Path | Snapshot, hand: str) -> Events:
    """The events of a hand as they were written; its name is MATCH/NUMBER."""
    found = () if is_match(hand) else snapshot_of(ledger).read(hand)
    if not found:
        raise Absent(f"there is no hand {hand}: a hand is called MATCH/NUMBER")
    return cast(Events, tuple(one.event for one in found))


def sql(ledger: str | Path | Snapshot, query: str) -> "pa.Table":
    """The answer to a SELECT over the tables of `muckrake sql`, for Polars, DuckDB and pandas."""
    tables = views(snapshot_of(ledger))
    try:
        return tables.ask(query)
    finally:
        tables.close()


def answer(
    question: str, ledger: str | Path | Snapshot, *, view: str = AUDITOR, **given: Any
) -> Any:
    """What the command of this name answers with these options; `view` is its `--as`."""
    if question not in declared.names():
        raise Absent(f"there is no question {question}: {', '.join(declared.names())}")
    declaration = declared.question(question)
    kinds = get_type_hints(declaration.params, include_extras=True)
    if unknown := given.keys() - kinds.keys():
        raise ValueError(f"{question} has no {min(unknown)}: {', '.join(kinds)}")
    try:
        wanted = declaration.params(
            **{name: convert(it, kinds[name]) for name, it in given.items()}
        )
    except (TypeError, ValidationError) as reason:
        raise ValueError(f"{question} cannot be asked so: {reason}") from None
    viewed = Viewed(snapshot_of(ledger), viewer_of(view))
    try:
        return declaration.ask(viewed.of(given.get("unit")), wanted, without_progress)
    finally:
        viewed.close()

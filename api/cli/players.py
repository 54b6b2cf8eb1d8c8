"""What the commands about players share: the ledger asked, the filters read, answers in files."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.output import note
from api.cli.viewing import viewing

if TYPE_CHECKING:
    import polars as pl

    from api.viewpoints.views import Viewed

SLOW = 20_000  # hands without stored facts, from which on it is worth a word


Door = Callable[..., Any]
vs_option = click.option(
    "--vs", metavar="P", help="Only hands in which this player was dealt in, too."
)
match_option = click.option("--match", metavar="MATCH", help="Only this match's hands.")
unit_option = click.option(
    "--unit", metavar="UNIT", help="Only hands played for this: chip, dollar, euro, pound."
)
game_option = click.option("--game", metavar="GAME", help="Only hands of this ruleset.")


def files_option(
    csv: str = "Into a file.", parquet: str = "Into a Parquet file."
) -> Callable[[Door], Door]:
    """The answer into files, for `written`."""

    def with_files(command: Door) -> Door:
        file = click.Path(dir_okay=False, path_type=Path)
        return click.option("--csv", "csv", type=file, help=csv)(
            click.option("--parquet", type=file, help=parquet)(command)
        )

    return with_files


def lacking(viewed: "Viewed") -> None:
    """A word on facts that have to be made first, if that takes its time."""
    from analytics.stored.facts import VERSION

    segments = viewed.snapshot.parts().segments
    without = [one for one in segments if one.projections.get("facts") != VERSION]
    hands = sum(one.last_seq - one.first_seq + 1 for one in without)
    if hands > SLOW:
        note(f"facts of {hands} hands are made on the way: muckrake compact would keep them")


@contextmanager
def questions(folder: Path, view: str, unit: str | None = None) -> Iterator["Viewed"]:
    """The ledger's views, facts among them, as a viewpoint may see them."""
    with viewing(folder, view, unit) as viewed:
        lacking(viewed)
        yield viewed


def written(rows: Sequence[Any], csv: Path | None, parquet: Path | None) -> None:
    """The answer as a file of one row a statistic."""
    import polars as pl

    frame = pl.DataFrame(list(rows), infer_schema_length=None, orient="row" if rows else None)
    if rows and hasattr(rows[0], "_fields"):
        from analytics.statistics.answers import COLUMNS

        columns = {name: COLUMNS.get(name, float) for name in rows[0]._fields}
        frame = pl.DataFrame(list(rows), schema=columns, orient="row")
    saved(frame, csv, parquet)


def saved(frame: "pl.DataFrame", csv: Path | None, parquet: Path | None) -> None:
    """A table as files."""
    try:
        if csv:
            frame.write_csv(csv)
        if parquet:
            frame.write_parquet(parquet)
    except OSError as failure:
        raise click.ClickException(f"cannot be written: {failure}") from None
    for path in filter(None, (csv, parquet)):
        note(f"{frame.height} rows into {path}")

"""The ledger of a command from the viewpoint that `--as` names, counted here or by Spark."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.cli.ledger import reading
from api.cli.output import NotFound, NotPermitted, note
from api.viewpoints.viewer import NoViewpoint, viewer_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from api.viewpoints.views import Viewed


SHOWN_MAX = 100  # characters of a filter that is wrong


@contextmanager
def viewing(
    folder: Path, view: str, unit: str | None = None, by_tag: str | None = None
) -> Iterator["Viewed"]:
    """Its views for SQL: a misspelt viewpoint is misuse, nobody's seat is not permitted. With
    `unit`, of the hands alone that are played for it; with `by_tag`, of players as it calls them.
    """
    try:
        viewer = viewer_of(view)
    except NoViewpoint as reason:
        raise click.UsageError(str(reason)) from None
    with reading(folder) as ledger:
        from api.questions.filters import WrongFilter
        from api.questions.players import Nonsense
        from api.viewpoints.selection import Absent
        from api.viewpoints.views import Viewed
        from store.sql.guard import Refused

        viewed = Viewed(ledger, viewer)
        try:
            if not viewed.is_there:
                raise NotPermitted(f"{viewer.player} has no seat in any hand here")
            yield viewed.of(unit, by_tag)
        except Refused as reason:
            raise click.ClickException(str(reason)) from None
        except Absent as absent:
            raise NotFound(str(absent)) from None
        except Nonsense as reason:
            raise click.UsageError(str(reason)) from None
        except WrongFilter as found:
            # A filter that cannot be read, with a mark where it went wrong.
            note(f"muckrake: {found}")
            begin = max(0, found.position - SHOWN_MAX // 2)
            shown = "".join(one if one.isprintable() else " " for one in found.text)
            note(f"  {shown[begin : begin + SHOWN_MAX]}")
            note(f"  {' ' * (found.position - begin)}^")
            raise click.exceptions.Exit(2) from None
        finally:
            viewed.close()


on_option = click.option(
    "--on",
    metavar="SPARK",
    help="By Spark: local[N], spark://HOST:PORT or sc://HOST; muckrake-poker[spark] brings it.",
)


@contextmanager
def spark_on(master: str) -> Iterator["SparkSession"]:
    """A session of Spark; why there is none, or what it failed with, in one sentence."""
    from api.cluster.spark import NoSpark, session

    try:
        with session(master) as spark:
            yield spark
    except NoSpark as reason:
        raise click.ClickException(str(reason)) from None


@contextmanager
def counting(on: str | None, viewed: "Viewed") -> Iterator[None]:
    """Facts are counted by Spark, if somebody says by which."""
    with spark_on(on) if on else nullcontext() as spark:
        if spark is not None:
            from api.cluster.spark import Facts

            viewed.facts_by = partial(Facts, spark)
        yield

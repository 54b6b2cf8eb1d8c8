"""`--on`: the machines that answer a command, if they are Spark's and not this one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from api.viewpoints.views import Viewed

Door = Callable[..., Any]


def on_option(command: Door) -> Door:
    """Who does the work."""
    option = click.option(
        "--on",
        metavar="SPARK",
        help="By Spark: local[N], spark://HOST:PORT or sc://HOST; muckrake-poker[spark] brings it.",
    )
    return option(command)


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

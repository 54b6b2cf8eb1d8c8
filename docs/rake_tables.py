"""The tables of docs/rakes.md, which are written from formats/rakes.toml."""

from collections.abc import Iterable

from engine.policies import Rake
from formats.rakes import RakeRow, money_text, rake_rows

_NO_FLOP = {
    "free": "nothing is taken of a hand without a flop",
    "three-bet": "of a hand without a flop only if a raise was raised",
    "unsaid": "it does not say what is taken of a hand without a flop",
}


def known_rakes() -> str:
    """Every row, those of one source together, by site and days."""
    schedules: dict[tuple[str, ...], list[RakeRow]] = {}
    for row in rake_rows():
        key = (row.site, row.currency, row.when, row.no_flop, *row.sources)
        schedules.setdefault(key, []).append(row)
    return "\n\n".join(_schedule(rows) for rows in schedules.values())


def _schedule(rows: list[RakeRow]) -> str:
    first = rows[0]
    when = first.when if first.begins else f"undated, seen {first.seen}"
    limits = _all(f"{row.limit}-limit" for row in rows)
    tables = _all(row.table for row in rows)
    sources = ", ".join(f"<{source}>" for source in first.sources)
    lines = dict.fromkeys(
        f"| {row.stakes} | {row.dealt} | {_taken(row.rake, row.currency)} |" for row in rows
    )
    return "\n".join(
        (
            f"### {first.site}, {first.currency}, {limits}, {when}",
            "",
            f"{tables} tables; {_NO_FLOP[first.no_flop]}. {sources}",
            "",
            "| stakes | dealt in | of the pot |",
            "|---|---|---|",
            *lines,
        )
    )


def _all(words: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(words))


def _taken(rake: Rake, currency: str) -> str:
    ((_, cap),) = rake.caps_by_players
    if rake.rounding == "incremental":
        taken = rake.increment * rake.percent // rake.of
        said = f"{money_text(taken, currency)} of every {money_text(rake.increment, currency)}"
    else:
        said = f"{rake.percent * 100 / rake.of:g} %"
    return f"{said}, at most {money_text(cap, currency)}"

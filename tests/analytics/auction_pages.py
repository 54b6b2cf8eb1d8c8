"""Text files of the folder `auctions`: hands as on a rule page, then rows that a question answers.

Hands are divided by empty lines. `rows` opens the answer: its columns, then rows that must be in
it, `-` for null. The hands are numbers 1, 2, ... of a mirrored match whose decks are dealt twice.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from analytics.auctions import third_card_worth
from analytics.auctions.third_card_worth import ThirdCardCache
from analytics.projections.auctions import AUCTIONS, SCHEMA
from analytics.projections.equity import RunOut, luck_rows
from analytics.projections.facts import played_projection
from analytics.projections.facts import risks_projection as stored_risks
from analytics.projections.played import (
    PLAYED_SCHEMA,
    RISKS_SCHEMA,
    add_swap_equities,
    decoded_swap_spot,
)
from analytics.replay.rules import Rulebook, RulesetText
from events.ledger import Recorded
from events.types import Event
from store.columns.codec import arrow_table
from store.log.streams import Leaf
from tests.pages import played as said

PAGES = Path(__file__).parent / "auctions"
RULES = Rulebook(lambda mark: None)
THIRD = ThirdCardCache(None)
MIRRORED = {"m": 2}
PLAYED_SCHEMA = [
    *PLAYED_SCHEMA,
    pa.field("hand", pa.string()),
    *(pa.field(name, pa.int64()) for name in ("deal", "deals")),
    *(pa.field(name, pa.float64()) for name in ("net_ev", "error", "equity")),
    pa.field("adjusted", pa.bool_()),
]


def nobodys(mark: str) -> None:
    """Of no ruleset is a text kept."""


class Page(NamedTuple):
    """Some hands, and rows of the answer."""

    leaves: list[Leaf]
    columns: list[str]
    rows: list[list[Any]]


def page(path: Path) -> Page:
    """A file of the folder."""
    *hands, answer = path.read_text("utf-8").split("\n\n")
    _, columns, *rows = answer.strip().splitlines()
    told = [leaf(number, hand) for number, hand in enumerate(hands, start=1)]
    return Page(told, columns.split(), [[*map(_value, row.split())] for row in rows])


def leaf(number: int, text: str, match: str = "m") -> Leaf:
    """A hand in the notation of the rule pages, as the ledger holds it when it has closed."""
    return recorded(number, said(text).events, match)


def recorded(number: int, events: "list[Event] | tuple[Event, ...]", match: str = "m") -> Leaf:
    """Events as a leaf."""
    stream = f"{match}/{number}"
    return Leaf(number, tuple(Recorded(at, stream, at, 0, one) for at, one in enumerate(events)))


def auctions(leaves: list[Leaf]) -> list[dict[str, Any]]:
    """Every bidder's row, with his cards as they were dealt or shown."""
    rows = AUCTIONS.build(leaves).to_pylist()
    return [
        row | {"hand": f"{row['match']}/{row['number']}", "hole": row["dealt"] or row["shown"]}
        for row in rows
    ]


def auctions_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Such rows as Arrow."""
    return arrow_table(rows, [*SCHEMA, *(pa.field(name, pa.string()) for name in ("hand", "hole"))])


def worths(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What third cards were worth, kept in memory over all tests."""
    return list(third_card_worth.worth_rows(third_card_worth.two_bidder_auctions(rows), rules_of))


def rules_of(row: dict[str, Any]) -> third_card_worth.PricingRules | None:
    """Those of a row's own ruleset."""
    return third_card_worth.pricing_rules(row["ruleset"], RULES, lambda how: THIRD)


def played_rows(
    leaves: list[Leaf], deals: Mapping[str, int] = MIRRORED, kept: RulesetText = nobodys
) -> list[dict[str, Any]]:
    """Every player's row, and what he could expect where luck can be counted."""
    rows: list[dict[str, Any]] = played_projection(kept).build(leaves).to_pylist()
    found: dict[int, dict[int, Any]] = {}
    for row in rows:
        times = deals.get(row["match"], 1)
        row |= {"hand": f"{row['match']}/{row['number']}", "deal": (row["number"] - 1) // times}
        row |= {"deals": times, "net_ev": row["net"], "error": 0.0, "equity": None}
        if row["spot"] is not None and row["hand_seq"] not in found:
            spot = msgspec.json.decode(row["spot"], type=RunOut)
            told = luck_rows(row, spot, Rulebook(kept))
            found[row["hand_seq"]] = {one["seat"]: one for one in told}
        row["adjusted"] = row["hand_seq"] in found
        row |= found.get(row["hand_seq"], {}).get(row["seat"], {})
    return rows


def played_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Such rows as Arrow."""
    return arrow_table(rows, PLAYED_SCHEMA)


def risks(leaves: list[Leaf]) -> list[dict[str, Any]]:
    """Every card at risk, changes valued."""
    rows: list[dict[str, Any]] = stored_risks(nobodys).build(leaves).to_pylist()
    for row in rows:
        row["spot"] = None if row["spot"] is None else decoded_swap_spot(row["spot"])
        row |= {"hand": f"{row['match']}/{row['number']}", "before": None, "after": None}
    add_swap_equities(rows, RULES)
    return rows


def risks_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Such rows as Arrow, without what was counted of."""
    told = [one for one in RISKS_SCHEMA if one.name != "spot"]
    equities = [pa.field(name, pa.float64()) for name in ("before", "after")]
    return arrow_table(rows, [*told, *equities, pa.field("hand", pa.string())])


def _value(text: str) -> Any:
    if text == "-":
        return None
    try:
        return float(text)
    except ValueError:
        return text

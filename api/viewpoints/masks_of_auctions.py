"""Auctions, swaps and luck for somebody who may not see everything: masks over the stored rows.

What is left is what `rows_of` would make of the events that he sees; a test holds them to it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.viewpoints.masks import Redacted

ODD = "NOT plain"


def auctions(query: "Redacted", rows: str) -> str:
    """Cards of others as they were shown, and why they bid only where a bid was open to him.

    A settlement that did not tell the bids as they were placed is rare: such a hand is walked.
    """
    known, open_bid, joins = f"({query.own()} OR {query.open()})", "FALSE", ""
    if query.seated:
        open_bid, joins = "(NOT sealed AND at_seat IS NOT NULL)", query.beside_seats()
    his = f"(coalesce({query.own('rival')}, FALSE) OR {query.open()})"
    plain = f"""
        SELECT r.* REPLACE (
            CASE WHEN {known} THEN dealt END AS dealt,
            CASE WHEN stack = 0 THEN 'forced' WHEN {known} OR {open_bid} THEN origin END AS origin,
            CASE WHEN rival_stack = 0 THEN 'forced' WHEN {his} OR {open_bid} THEN rival_origin END
                AS rival_origin
        ) FROM ({rows}) AS r {joins} WHERE plain
    """
    odd = query.walked("auctions", ODD)
    named = "match || '/' || number AS hand"
    return f"{plain} UNION ALL BY NAME SELECT {named}, * REPLACE (TRUE AS plain) FROM {odd}"


def played(query: "Redacted", rows: str) -> str:
    """How many of another's cards were swapped is not known, but that there was none at risk."""
    known = f"({query.own()} OR {query.open()})"
    spots = ", ".join(
        f"CASE WHEN {query.open()} THEN {name} END AS {name}" for name in ("spot", "why")
    )
    swapped = f"CASE WHEN {known} OR at_risk = 0 THEN swapped END AS swapped"
    return f"SELECT * REPLACE ({swapped}, {spots}) FROM ({rows})"


def risks(query: "Redacted", rows: str) -> str:
    """Whether a card changed is its holder's; what that was worth takes both hands."""
    known = f"({query.own()} OR {query.open()})"
    return f"""
        SELECT * REPLACE (
            CASE WHEN {known} THEN changed END AS changed,
            CASE WHEN {query.open()} THEN spot END AS spot
        ) FROM ({rows})
    """

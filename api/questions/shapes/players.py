"""Players in JSON: who there is, statistics, grid, bids, luck, winnings."""

from typing import TypedDict

from api.questions.shapes.hands import Page


class PlayerRow(TypedDict):
    """A player of a list. His net counts in `unit`; both are null where nobody knows what that is,
    or hands were played for several moneys, which have no sum."""

    player: str
    hands: int
    net: float | None
    unit: str | None
    matches: int
    games: list[str]
    first_at: str
    last_at: str


class Players(Page):
    """The players, those with most hands first."""

    data: list[PlayerRow]


class OfGame(TypedDict):
    """What he did in one game."""

    game: str
    hands: int
    matches: int
    net: float | None
    unit: str | None


class OfOpponent(TypedDict):
    """What he won against one opponent."""

    player: str
    hands: int
    net: float | None
    unit: str | None


class PlayerTold(TypedDict):
    """One player."""

    player: str
    hands: int
    net: float | None
    unit: str | None
    matches: int
    games: list[OfGame]
    first_at: str
    last_at: str
    opponents: list[OfOpponent]


Cell = TypedDict(
    "Cell",
    {
        "class": str,
        "hands": int,
        "vpip_k": int,
        "vpip_n": int,
        "pfr_k": int,
        "pfr_n": int,
        "net_bb": float | None,
    },
)
Grid = TypedDict(
    "Grid",
    {"schema": str, "player": str, "as": str, "hands": int, "known": int, "cells": list[Cell]},
)


class PointTold(TypedDict):
    """Sums after `k` of his hands, the last of them `hand`; `lines` says what each one is."""

    k: int
    hand: str
    net: float
    showdown: float
    without: float
    auctions: float
    adjusted: float | None
    band: float


class DeckTold(TypedDict):
    """Sums over `k` mirrored decks."""

    k: int
    first: str
    last: str
    net: float
    band: float


Winnings = TypedDict(
    "Winnings",
    {
        "schema": str,
        "as": str,
        "unit": str | None,
        "player": str,
        "hands": int,
        "sd": float,
        "points": list[PointTold],
        "adjusted": int | None,
        "decks": int,
        "deck_sd": float,
        "paired": list[DeckTold],
        "lines": dict[str, str],
    },
)

"""Players in JSON: who there is, statistics, grid, bids, luck, winnings."""

from typing import NotRequired, TypedDict

from analytics.auctions.sniffing import Pair
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


class Numbers(TypedDict):
    """A number: `k` out of `n`, if it is a share, and its 95 % interval, if it has one; `unit` is
    what an amount counts, which has no value where that is several moneys."""

    value: float | None
    k: int | None
    n: int
    low: float | None
    high: float | None
    unit: str | None


class Measured(Numbers):
    """The same; of a mean of 30 deals or more also the interval with these drawn again."""

    drawn_low: NotRequired[float]
    drawn_high: NotRequired[float]


class Again(TypedDict):
    """How often means are drawn again, by which seed."""

    seed: int
    draws: int


class BesideField(Numbers):
    """The same, and of everybody else counted as one."""

    field: NotRequired[Numbers]


class Definition(TypedDict):
    """What a statistic means."""

    title: str
    kind: str
    street: str | None
    done: str
    opportunity: str


class StatsOf(TypedDict):
    """Statistics by name. One of the members that may be left out says which part it is."""

    player: str
    hands: int
    known: int
    stats: dict[str, BesideField]
    position: NotRequired[str]
    game: NotRequired[str]
    match: NotRequired[str]
    opponent: NotRequired[str]
    window: NotRequired[str]
    street: NotRequired[str]


Stats = TypedDict(
    "Stats",
    {
        "schema": str,
        "as": str,
        "seed": int,
        "players": list[StatsOf],
        "definitions": dict[str, Definition],
    },
)
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


class Tenth(TypedDict):
    """The bid that so many tenths of his bids do not exceed, in `unit` and in pots."""

    tenth: int
    bid: float | None
    pots: float | None


class Common(TypedDict):
    """A frequent bid."""

    bid: float
    times: int


class BidsOf(TypedDict):
    """Measures of a bidder by name. One of the members that may be left out names the part."""

    player: str
    measures: dict[str, Measured]
    ranks: list[Tenth]
    common: list[Common]
    seat: NotRequired[str]
    pot: NotRequired[str]
    board: NotRequired[str]
    strength: NotRequired[str]
    rival: NotRequired[str]
    match: NotRequired[str]
    game: NotRequired[str]


Bids = TypedDict(
    "Bids",
    {
        "schema": str,
        "as": str,
        "unit": str | None,
        "seed": int,
        "model": str,
        "again": Again,
        "players": list[BidsOf],
        "pairs": list[Pair],
        "auctions": int,
        "valued": int,
    },
)


class LuckOf(TypedDict):
    """Measures of luck by name."""

    player: str
    measures: dict[str, Measured]
    seat: NotRequired[str]
    match: NotRequired[str]
    game: NotRequired[str]


class Rate(TypedDict):
    """How often a card changed, beside the chance that the rules state."""

    player: str
    game: str
    street: str
    slot: int
    k: int
    n: int
    stated: float | None
    low: float | None
    high: float | None
    p: float | None


class Independence(TypedDict):
    """Whether swaps depend on what they must not: `counted` is p among all such tests."""

    player: str
    question: str
    game: str | None
    street: str | None
    cells: list[int]
    n: int
    owed: float
    p: float
    counted: float
    verdict: str


Swaps = TypedDict(
    "Swaps",
    {
        "schema": str,
        "as": str,
        "unit": str | None,
        "model": str,
        "seed": int,
        "draws": int,
        "again": Again,
        "players": list[LuckOf],
        "rates": list[Rate],
        "independence": list[Independence],
        "swaps": int,
        "valued": int,
        "closed": int,
        "run_out": int,
    },
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

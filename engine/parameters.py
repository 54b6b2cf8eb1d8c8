"""The parameters of a ruleset: their names, possible values and current values.

They are read from its script, its fields and its policies. A value is a word of a command line:
`big=20`, `swap_flop=1/30`, `rake_caps=2:50,3:100`; in the name of a ruleset it is spelled with
letters, digits, `_` and `-` only.
"""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from engine.catalogue import CATALOGUE, RAKE
from engine.game import Game
from engine.policies import Policies, Rake
from engine.steps import (
    Antes,
    AnyStep,
    Auction,
    Betting,
    Blinds,
    DealBoard,
    DealHole,
    DrawBounties,
    Run,
    Straddle,
    SwapHole,
)

MOST = 10**12  # chips of one amount: sums of all seats stay exact wherever they are counted
# Habits of other engines: they explain records, and no hand can be dealt by them.
PEERS = {("odd_chips", value) for value in ("fractional", "random", "dropped")}
_PLAIN = str.maketrans({":": "-", "/": "-", " ": "-", ",": "_"})


class Impossible(ValueError):
    """An impossible setting, in one sentence; `name` is the parameter at fault, if any."""

    def __init__(self, sentence: str, name: str | None = None) -> None:
        super().__init__(sentence)
        self.name = name


class ValueKind(NamedTuple):
    """A kind of value: its values in words, a parser (None if invalid), and a formatter."""

    may: str
    read: Callable[[str], Any]
    text: Callable[[Any], str]


class Parameter(NamedTuple):
    """A parameter of a ruleset: the question it answers, its type and its value."""

    name: str
    about: str
    kind: ValueKind
    value: Any

    @property
    def text(self) -> str:
        """The value as it is written after `NAME=`."""
        return self.kind.text(self.value)


def plain(text: str) -> str:
    """A value as it stands in a ruleset's name: `1/30` is `1-30`, `2:50,3:100` `2-50_3-100`."""
    return text.strip().translate(_PLAIN)


def named_values(settings: Iterable[str]) -> dict[str, str]:
    """`big=20` and `stack=2000` as names and values; none of them twice."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise Impossible(f"{setting!r} sets nothing: write NAME=VALUE, such as stack=2000")
        if name in found:
            raise Impossible(f"{name} is set twice, to {found[name]} and to {value}", name)
        found[name] = value
    return found


# What values there are.


def whole(least: int, most: int = MOST) -> ValueKind:
    """A whole number within limits."""

    def read(text: str) -> int | None:
        match = re.fullmatch(r"[0-9]{1,13}", text, re.ASCII)
        return int(text) if match and least <= int(text) <= most else None

    return ValueKind(f"a whole number from {least} to {most}", read, str)


def choice(values: Iterable[Any]) -> ValueKind:
    """One of several named values."""
    known = {plain(spelled(value)): value for value in values}
    *others, last = (spelled(value) for value in known.values())
    words = f"{', '.join(others)} or {last}" if others else last
    return ValueKind(words, known.get, spelled)


def optional(kind: ValueKind) -> ValueKind:
    """`none`, or a value of another kind."""

    def read(text: str) -> Any:
        return NONE if text == "none" else kind.read(text)

    return ValueKind(
        f"none, or {kind.may}",
        read,
        lambda value: "none" if value is None else kind.text(value),
    )


def _fraction(text: str) -> Fraction | None:
    """A whole percent, or a fraction of one: never a float (S6)."""
    match = re.fullmatch(r"([0-9]{1,6})(?:-([1-9][0-9]{0,5}))?", text, re.ASCII)
    if match is None:
        return None
    value = Fraction(int(match[1]), int(match[2] or 100))
    return value if value <= 1 else None


def _fraction_text(value: Fraction) -> str:
    percent = value * 100
    whole_percent = percent.denominator == 1
    return str(percent) if whole_percent else f"{value.numerator}/{value.denominator}"


def _caps(text: str) -> tuple[tuple[int, int], ...] | None:
    """`2:50,3:100`: of two players at most 50, of three or more at most 100 (R2)."""
    if text == "none":
        return ()
    if not re.fullmatch(r"[0-9]{1,2}-[0-9]{1,13}(?:_[0-9]{1,2}-[0-9]{1,13})*", text, re.ASCII):
        return None
    pairs = [pair.split("-") for pair in text.split("_")]
    caps = {int(players): int(cap) for players, cap in pairs}
    if len(caps) < len(pairs) or not all(2 <= players <= 23 for players in caps):
        return None
    return tuple(sorted(caps.items()))


def spelled(value: object) -> str:
    """A value of a policy as it is spoken: yes for True, 1,2 for a row."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(spelled, value)) or "none"
    return "none" if value is None else str(value)


NONE: Any = object()  # read where a parameter is set to be nothing
FRACTION = ValueKind(
    "a whole percent from 0 to 100, or a fraction such as 1/30", _fraction, _fraction_text
)
CAPS = ValueKind(
    "PLAYERS:CHIPS,... such as 2:50,3:100 (so many players dealt in or more, at most so much), "
    "or none",
    _caps,
    lambda value: ",".join(f"{players}:{cap}" for players, cap in value) or "none",
)
_RAKE_KINDS: dict[str, ValueKind] = {
    "percent": FRACTION._replace(
        may="a whole percent from 0 to 100, or a fraction of the pot such as 1/40"
    ),
    "caps_by_players": CAPS,
    "increment": whole(1),
}


# Where a parameter stands.


def first(game: Game, kind: type[AnyStep]) -> Any:
    """The first line of a script that is of this kind; None if there is none."""
    return next((step for step in game.script if isinstance(step, kind)), None)


def sizes(game: Game) -> tuple[int, ...]:
    """The limit, or the smallest bet, of each round of betting."""
    return tuple(step.size for step in game.script if isinstance(step, Betting))


def swaps(game: Game) -> tuple[Fraction, ...]:
    """The chance of each swap."""
    return tuple(Fraction(step.chance, step.of) for step in game.script if type(step) is SwapHole)


def seats_most(game: Game) -> int:
    """The largest number of seats that a deck has cards for in the longest hand (G19)."""
    hole = sum(step.count for step in game.script if isinstance(step, DealHole))
    boards = [step.total for step in game.script if isinstance(step, DealBoard)]
    more = sum(isinstance(step, Auction) for step in game.script) + hole * len(swaps(game))
    cards = 52 - max(boards, default=0) - game.burn * len(boards)
    return min(23, cards // max(1, hole + more))


_SCRIPT: tuple[tuple[str, str, ValueKind, Callable[[Game], Any]], ...] = (
    ("small", "the small blind", whole(1), lambda game: first(game, Blinds).small),
    ("big", "the big blind, and the smallest bet", whole(1), lambda game: first(game, Blinds).big),
    ("low", "the limit of the first two rounds", whole(1), lambda game: sizes(game)[0]),
    ("high", "the limit of the later rounds", whole(1), lambda game: sizes(game)[-1]),
    (
        "ante",
        "the ante of every seat",
        whole(0),
        lambda game: first(game, Blinds).ante if first(game, Blinds) else first(game, Antes).amount,
    ),
    ("swap_flop", "the chance of a swap on the flop", FRACTION, lambda game: swaps(game)[0]),
    ("swap_turn", "the chance of a swap on the turn", FRACTION, lambda game: swaps(game)[1]),
)
_FIELDS: tuple[tuple[str, str, ValueKind], ...] = (
    ("stack", "what a seat brings", whole(1)),
    ("hands", "how many hands a match has", optional(whole(1, 10_000_000))),
    ("seats_min", "the fewest players", whole(2, 23)),
    ("seats_max", "the most players", whole(2, 23)),
)


# What a ruleset must be for a parameter to mean anything, and what it lacks otherwise.

_CLOCKED = ("all_in_if_paid", "fold_or_check")
_NEEDS: tuple[tuple[tuple[str, ...], Callable[[Game], bool], str], ...] = (
    (
        ("third_card", "bids", "bid_max", "auction_tie", "auction_all_in", "bids_revealed"),
        lambda game: first(game, Auction) is not None,
        "there is no auction in its script",
    ),
    (
        ("swap_order", "swap_discard", "swap_runout", "swap_seen", "swap_flop"),
        lambda game: len(swaps(game)) > 0,
        "no card is swapped in its script",
    ),
    (
        ("swap_turn",),
        lambda game: len(swaps(game)) > 1,
        "cards are not swapped a second time in its script",
    ),
    (
        ("flushes",),
        lambda game: first(game, Run) is not None,
        "nobody has more than nine cards in its script",
    ),
    (
        ("blind_rounds", "missing_poster", "straddle"),
        lambda game: first(game, Straddle) is not None,
        "there is no straddle in its script",
    ),
    (
        ("straddle_folds",),
        lambda game: first(game, Straddle) is not None and game.straddle == "choice",
        "nobody may refuse a straddle",
    ),
    (
        ("small", "heads_up_blinds"),
        lambda game: first(game, Blinds) is not None,
        "its blinds follow from the low limit: set low",
    ),
    (
        ("button",),
        lambda game: first(game, Blinds) is not None,
        "no small blind could be left out in its script",
    ),
    (
        ("big",),
        lambda game: first(game, Blinds) is not None and game.sizing != "fixed",
        "its big blind is the low limit: set low",
    ),
    (
        ("low", "high"),
        lambda game: game.sizing == "fixed" or first(game, Straddle) is not None,
        "its bets are measured by the big blind: set big",
    ),
    (
        ("ante",),
        lambda game: first(game, Blinds) is not None or first(game, Antes) is not None,
        "there are no antes in its script",
    ),
    (("pot_limit_base",), lambda game: game.sizing == "pot_limit", "no bet is limited by the pot"),
    (
        ("raise_ceiling", "min_raise", "min_raise_after_short"),
        lambda game: game.sizing != "fixed",
        "every bet is exactly the limit",
    ),
    (
        ("cap_counts", "cap_scope", "cap_lift"),
        lambda game: game.raise_cap is not None,
        "its raises have no cap: set raise_cap, too",
    ),
    (
        ("cap_counts",),
        lambda game: game.cap_scope == "round",
        "a cap for each player counts his own raises only",
    ),
    (
        ("expectation", "tapped_prize", "next_group"),
        lambda game: game.split == "expectation",
        "pots are not shared by expectation: set split=expectation, too",
    ),
    (
        ("split_unit", "odd_scope"),
        lambda game: game.split != "expectation",
        "shares by expectation are rounded to single units at once",
    ),
    (
        ("rake_caps", "rake_rounding", "rake_no_flop_no_drop", "rake_scope", "rake_pots"),
        lambda game: game.rake is not None,
        "nothing is raked: set rake_percent, too",
    ),
    (
        ("rake_increment",),
        lambda game: game.rake is not None and game.rake.rounding == "incremental",
        "its rake is not counted in increments: set rake_rounding=incremental, too",
    ),
    (("bounty",), lambda game: first(game, DrawBounties) is not None, "its script draws none"),
    (
        ("contributed",),
        lambda game: game.time_out == "all_in_if_paid",
        "no clock asks what was paid: set time_out=all_in_if_paid, too",
    ),
    (
        ("reconnect", "extensions"),
        lambda game: game.time_out in _CLOCKED,
        "there is no clock that waits: set time_out, too",
    ),
    (
        ("broke",),
        lambda game: game.stacks == "carried",
        "every hand has new stacks: set stacks=carried, too",
    ),
)


def lacking(game: Game, name: str) -> str | None:
    """Why a parameter means nothing in a ruleset; None if it means something."""
    for names, holds, why in _NEEDS:
        if name in names and not holds(game):
            return why
    return None


def parameters(game: Game) -> dict[str, Parameter]:
    """Every parameter of a ruleset by its name, in the order of the names of changed rulesets."""
    return {
        name: Parameter(name, about, kind, value_of(game))
        for name, (about, kind, value_of) in known().items()
        if lacking(game, name) is None
    }


@cache
def known() -> dict[str, tuple[str, ValueKind, Callable[[Game], Any]]]:
    """Every parameter that any ruleset has: its question, its kind, and how its value is found."""
    found: dict[str, tuple[str, ValueKind, Callable[[Game], Any]]] = {}
    for name, about, kind, of_script in _SCRIPT:
        found[name] = about, kind, of_script
    for name, about, kind in _FIELDS:
        found[name] = about, kind, _attribute(name)
    for part in RAKE:
        if part != "of":
            name = "rake_caps" if part == "caps_by_players" else f"rake_{part}"
            found[name] = RAKE[part].question, _kind(Rake, part), _rake_part(part)
    for name, policy in CATALOGUE.items():
        if name != "rake":
            found[name] = policy.question, _kind(Policies, name), _attribute(name)
    return found


def _attribute(name: str) -> Callable[[Game], Any]:
    return lambda game: getattr(game, name)


def _rake_part(part: str) -> Callable[[Game], Any]:
    def found(game: Game) -> Any:
        if part == "percent":
            return Fraction(game.rake.percent, game.rake.of) if game.rake else Fraction(0)
        return getattr(game.rake, part)

    return found


def _kind(of: type[Policies] | type[Rake], name: str) -> ValueKind:
    """The type of a policy as a parameter; where any value fits, those that the catalogue names."""
    if of is Rake and name in _RAKE_KINDS:
        return _RAKE_KINDS[name]
    hint = get_type_hints(of)[name]
    if get_origin(hint) is Literal:
        return choice(value for value in get_args(hint) if (name, value) not in PEERS)
    if hint is bool:
        return choice((True, False))
    if hint is int:
        return whole(1)
    if hint == int | None:
        return optional(whole(1))
    return choice(CATALOGUE[name].values)

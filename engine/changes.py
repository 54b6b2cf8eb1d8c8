"""Change the parameters of a ruleset: apply settings, name the result, and find its partner.

The name says what was changed: `site-nl.big-20.stack-2000` is `site-nl` with `big=20` and
`stack=2000`. Whatever follows from a setting by the document (blinds from a limit, bets from a
blind) is not said. Two names are two rulesets, and no setting changes the rules under a name.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import lcm
from typing import Any

from msgspec.structs import replace

from engine.catalogue import CATALOGUE
from engine.faults import fault
from engine.game import Game, fingerprint
from engine.games import RULESETS
from engine.games.urcs_1998 import ante_at, forced_at
from engine.parameters import (
    NONE,
    Impossible,
    first,
    known,
    lacking,
    parameters,
    plain,
    seats_most,
    sizes,
    swaps,
)
from engine.policies import Rake
from engine.steps import Antes, AnyStep, Betting, Blind, Blinds, DealBoard, Run, Straddle, SwapHole

_PAYS = [name for name, policy in CATALOGUE.items() if policy.kind in ("pay", "rank")]


def changed(game: Game, settings: Mapping[str, str]) -> Game:
    """This ruleset with other parameters, each given as text: `changed(game, {"big": "20"})`.

    A value that a parameter has already changes nothing. `Impossible` says in one sentence what
    cannot be, and what can.
    """
    base, before = origin(game)
    chosen = _remaining(base, {**before, **settings}, set(before) - set(settings))
    variant = _with_settings(base, chosen)
    for name in _in_order(chosen):
        rest = {other: text for other, text in chosen.items() if other != name}
        if _with_settings_or_none(base, rest) == variant:
            chosen = rest
    if not chosen:
        return base
    names = [f"{name}-{plain(parameters(variant)[name].text)}" for name in _in_order(chosen)]
    readings = tuple(
        reading
        for reading in variant.readings
        if reading.policy not in chosen and lacking(variant, reading.policy) is None
    )
    return replace(variant, name=".".join((base.name, *names)), readings=readings)


def ruleset(name: str) -> Game:
    """The ruleset of this name: one there is, or one changed as the name says."""
    base, *parts = name.split(".")
    if base not in RULESETS:
        every = ", ".join(sorted(RULESETS))
        raise LookupError(f"no ruleset is called {name}: there are {every}")
    settings = dict(part.partition("-")[::2] for part in parts)
    try:
        variant = changed(RULESETS[base], settings)
    except Impossible as reason:
        raise LookupError(f"no ruleset is called {name}: {reason}") from None
    if variant.name != name:
        raise LookupError(f"no ruleset is called {name}: what it says is called {variant.name}")
    return variant


@lru_cache(maxsize=1 << 10)
def origin(game: Game) -> tuple[Game, dict[str, str]]:
    """The ruleset that a changed one was made of, and its settings; itself, if it is none."""
    base, settings, variant = _named(game)
    same = variant is not None and fingerprint(replace(variant, name=game.name)) == fingerprint(
        game
    )
    return (base, settings) if same else (game, {})


def _named(game: Game) -> tuple[Game, dict[str, str], Game | None]:
    """Parse a ruleset name: its base, its settings, and the changed ruleset, if any."""
    base, *parts = game.name.split(".")
    if not parts or base not in RULESETS:
        return game, {}, None
    settings = dict(part.partition("-")[::2] for part in parts)
    return RULESETS[base], settings, _with_settings_or_none(RULESETS[base], settings)


@lru_cache(maxsize=1 << 10)
def partner_of(game: Game) -> Game | None:
    """The partner of a ruleset, with the same settings as far as it has such parameters.

    A table may change what pays nobody under the same name: a mirrored deck, a clock.
    """
    try:
        partner = ruleset(game.partner or "")
    except LookupError:
        return None
    _, settings, variant = _named(game)
    if variant is None or any(getattr(variant, name) != getattr(game, name) for name in _PAYS):
        return partner
    try:
        return changed_where_possible(partner, settings)[0]
    except Impossible:  # what fits each alone does not fit together here
        return partner


def changed_where_possible(game: Game, settings: Mapping[str, str]) -> tuple[Game, dict[str, str]]:
    """A ruleset with those settings that it can have, and why it cannot have each of the others."""
    fitting, refused = dict(settings), dict[str, str]()
    while True:
        try:
            return changed(game, fitting), refused
        except Impossible as reason:
            if reason.name is None:
                raise
            refused[reason.name] = str(reason)
            del fitting[reason.name]


def _remaining(base: Game, chosen: dict[str, str], earlier: set[str]) -> dict[str, str]:
    """Drop earlier settings that mean nothing any more: caps of a rake that there is not."""
    while True:
        try:
            _with_settings(base, chosen)
        except Impossible as reason:
            if reason.name not in earlier:
                raise
            chosen = {name: text for name, text in chosen.items() if name != reason.name}
            earlier = earlier - {reason.name}
        else:
            return chosen


def _in_order(settings: Mapping[str, str]) -> list[str]:
    return [name for name in known() if name in settings]


def _with_settings_or_none(base: Game, settings: Mapping[str, str]) -> Game | None:
    try:
        return _with_settings(base, settings)
    except Impossible:
        return None


def _with_settings(base: Game, settings: Mapping[str, str]) -> Game:
    """The rules that these settings make, still under the name of what they were made of."""
    for name in settings:
        if name == "rake":
            parts = ", ".join(part for part in known() if part.startswith("rake_"))
            raise Impossible(f"a rake is set by its parts: {parts}", name)
        if name not in known():
            every = ", ".join(parameters(base))
            message = f"no parameter of {base.name} is called {name}: there are {every}"
            raise Impossible(message, name)
    values = {}
    for name in _in_order(settings):
        _, kind, _ = known()[name]
        value = kind.read(plain(settings[name]))
        if value is None:
            message = f"{name} of {base.name} may be {kind.may}, not {settings[name]}"
            raise Impossible(message, name)
        values[name] = None if value is NONE else value
    fields = {name: value for name, value in values.items() if name in Game.__struct_fields__}
    variant = replace(base, **fields)
    variant = replace(variant, rake=_changed_rake(variant.rake, values))
    for name in values:
        if why := lacking(variant, name):
            raise Impossible(f"{base.name} has no {name}: {why}", name)
    variant = replace(variant, script=_changed_script(base, variant, values))
    if "seats_max" not in values and "burn" in values:
        variant = replace(variant, seats_max=min(variant.seats_max, seats_most(variant)))
    if sentence := fault(variant):
        raise Impossible(f"{base.name} cannot be changed so: {sentence}")
    return variant


def _changed_rake(rake: Rake | None, values: Mapping[str, Any]) -> Rake | None:
    """The house's cut, part by part; without a rate there is none."""
    if "rake_percent" in values:
        rate = values["rake_percent"]
        if not rate:
            return None
        of = 100 if (rate * 100).denominator == 1 else rate.denominator
        rake = replace(rake or Rake(percent=1), percent=int(rate * of), of=of)
    if rake is None:
        return None
    parts = {
        "caps_by_players" if name == "rake_caps" else name.removeprefix("rake_"): value
        for name, value in values.items()
        if name.startswith("rake_") and name not in ("rake_percent", "rake_pots")
    }
    return replace(rake, **parts)


def _changed_script(base: Game, variant: Game, values: Mapping[str, Any]) -> tuple[AnyStep, ...]:
    """The script at other amounts, with swaps and forced bets where the policies want them."""
    low, high = (values.get(name) for name in ("low", "high"))
    blinds: Blinds | None = first(base, Blinds)
    big = values.get("big")
    if blinds is not None and variant.sizing == "fixed":
        big = low
    elif blinds is not None:
        low = high = big if big or base.sizing != "fixed" else blinds.big
    lines: list[AnyStep] = []
    rounds = 0
    # blind and straddle before a round of betting, in a game that has them
    forced: tuple[AnyStep, ...] = ()
    if first(base, Straddle) is not None:
        forced = first(base, Blind), first(base, Straddle)
        if low is not None and low != sizes(base)[0]:
            forced = forced_at(low)
    chances = _swap_steps(base, values)
    for step in base.script:
        match step:
            case Blind() | Straddle():
                continue
            case Blinds():
                step = _blinds(step, big, values)
            case Antes(amount=amount):
                ante = amount if low is None or low == sizes(base)[0] else ante_at(low)
                step = Antes(values.get("ante", ante))
            case SwapHole():
                step = chances.pop(0)
            case Betting(street=street, size=size):
                rounds += 1
                lines += forced if rounds in variant.blind_rounds else ()
                step = Betting(street, (low if rounds <= 2 else high) or size)
            case Run(size=size):
                step = Run(high or size)
        lines.append(step)
    return _ordered(variant, lines)


def _blinds(blinds: Blinds, big: int | None, values: Mapping[str, Any]) -> Blinds:
    """The small blind is half of the big one, unless it is set, too."""
    if big is None or big == blinds.big:
        small, big = blinds.small, blinds.big
    else:
        small = max(1, big // 2)
    return Blinds(values.get("small", small), big, values.get("ante", blinds.ante))


def _swap_steps(base: Game, values: Mapping[str, Any]) -> list[SwapHole]:
    """All chances as parts of one number: a deck draws of one number all through a hand."""
    names = ("swap_flop", "swap_turn")
    every = [*zip(names, swaps(base), strict=False)]
    if not any(name in values for name in names):
        return [step for step in base.script if isinstance(step, SwapHole)]
    chances = [values.get(name, chance) for name, chance in every]
    of = lcm(*(chance.denominator for chance in chances))
    of = 100 if 100 % of == 0 else of
    return [SwapHole(int(chance * of), of) for chance in chances]


def _ordered(variant: Game, lines: list[AnyStep]) -> tuple[AnyStep, ...]:
    """Each swap right before or right after its board card (S1)."""
    late, early = (
        (DealBoard, SwapHole) if variant.swap_order == "before_board" else (SwapHole, DealBoard)
    )
    for at in range(len(lines) - 1):
        former, latter = lines[at : at + 2]
        if isinstance(former, late) and isinstance(latter, early):
            lines[at : at + 2] = [latter, former]
    return tuple(lines)

"""Rulesets that differ from one of ours in one thing: a policy, a rake's part, a step, a reading.

What is changed is found in the types of the fields, so nobody adds a policy here. A value of no
type that is known here is an error: whoever adds such a field says what else it may be.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from types import NoneType
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from msgspec import Struct, defstruct
from msgspec.structs import fields, replace

from analytics.batch_audit.batches import BatchAuditor
from analytics.batch_audit.event_arrays import EventArrays, WordIds
from analytics.batch_audit.plan import DoubtReason
from engine.changes import partner_of
from engine.game import Game, Reading, fingerprint
from engine.parameters import seats_most
from engine.policies import Policies, Rake
from engine.steps import Posts
from engine.verdict import Report, judge
from events.notation import say_all
from events.types import Events, HandStarted
from store.columns.codec import event_table
from tests.analytics.held import NOT_FOLLOWED, is_judged, leaf
from tests.hands import RULESETS, seeded

RAKES = (
    Rake(percent=5, caps_by_players=((2, 7), (4, 20))),
    Rake(percent=5, rounding="floor", scope="pot", no_flop_no_drop=False),
    Rake(percent=1, of=3, rounding="ceil", no_flop_no_drop=False, caps_by_players=((3, 4),)),
    Rake(percent=10, rounding="incremental", increment=20, scope="pot"),
)
# Fields that no list of values tells: what else they may be, some of it unplayable.
OTHERS: dict[str, tuple[Any, ...]] = {
    "unit": ("cent", "half chip"),
    "blind_rounds": ((1,), (1, 2)),
    "caps_by_players": ((), ((2, 3),), ((2, 9), (3, 4), (5, 1))),
    "percent": (0, 1, 33),
    "of": (7, 100, 1000),
    "split_unit": (1, 2, 5),
    "raise_cap": (None, 1, 2, 4),
    "increment": (1, 7, 40),
    "rake": (None, *RAKES),
}

# A table of four as foreign files list them: a dead ante, a straddle, the post of a newcomer.
_FORCED = Posts(antes=(0, 3, 0, 0), blinds=(5, 10, 20, -10), dead=True)
LISTED = replace(
    RULESETS["phh-nt"],
    name="listed",
    script=(_FORCED, *RULESETS["phh-nt"].script[1:]),
    seats_min=4,
    seats_max=4,
)


class Mutant(NamedTuple):
    """A ruleset, and what was changed in it."""

    what: str
    game: Game


def mutants(game: Game) -> Iterator[Mutant]:
    """Every other value of every policy, of every part of a rake, of every step; and its course."""
    for name, value in _other_values(Policies, game):
        seats = {"seats_max": min(game.seats_max, seats_most(replace(game, **{name: value})))}
        yield Mutant(f"{name}={value}", replace(game, **{name: value, **seats}))
    for rake in (game.rake,) if game.rake else RAKES[:1]:
        for name, value in _other_values(Rake, rake):
            yield Mutant(f"rake {name}={value}", replace(game, rake=replace(rake, **{name: value})))
    for what, script in _scripts(game.script):
        yield Mutant(what, replace(game, script=script))


def rereadings(game: Game) -> Iterator[Mutant]:
    """The same rules, with one more reading; every value that a policy may have is one."""
    for name, value in _other_values(Policies, game):
        called = f"read with {name}={value}"  # readings are no part of a fingerprint, but a name is
        reading = Reading("X1", name, value, "a sentence")
        yield Mutant(called, replace(game, name=called, readings=(reading,), partner=None))


def strangers(game: Game) -> Iterator[Mutant]:
    """Values, fields and kinds of steps that no rule knows."""
    for name, hint in _hints(Policies).items():
        if get_origin(hint) is Literal:
            yield Mutant(f"{name}=unheard-of", replace(game, **{name: "unheard-of"}))
        elif hint is bool:
            yield Mutant(f"{name}=2", replace(game, **{name: 2}))
    kind = defstruct(
        "Newer", [("invented", Any, "as before")], bases=(Game,), frozen=True, kw_only=True
    )
    known = {name: getattr(game, name) for name in Game.__struct_fields__}
    for value in ("otherwise", None):
        newer = cast(Game, kind(**known, invented=value))
        yield Mutant(f"a ruleset with invented={value}", newer)
    for at, step in enumerate(game.script):
        known = {name: getattr(step, name) for name in step.__struct_fields__}
        kind = defstruct(
            "Newer", [("invented", Any, 0)], bases=(type(step),), frozen=True, tag=True
        )
        script = (*game.script[:at], kind(**known), *game.script[at + 1 :])
        yield Mutant(f"line {at} of an unheard-of kind", replace(game, script=script))


def _other_values(kind: type[Struct], one: Struct) -> Iterator[tuple[str, Any]]:
    for name, hint in _hints(kind).items():
        for value in OTHERS.get(name) or _values(hint, name):
            if value != getattr(one, name):
                yield name, value


@cache
def _hints(kind: type[Struct]) -> dict[str, Any]:
    return get_type_hints(kind)


def _values(hint: Any, name: str) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    assert hint is bool, f"tests/mutants.py does not know what else {name} may be"
    return (False, True)


def _scripts(script: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Each step with another amount or name; and left out, doubled, before the one before it."""
    for at, step in enumerate(script):
        before, after, kind = script[:at], script[at + 1 :], type(step).__name__
        for field in fields(step):
            for value in _near(getattr(step, field.name)):
                changed = replace(step, **{field.name: value})
                yield f"line {at}: {kind} {field.name}={value}", (*before, changed, *after)
        yield f"line {at}: no {kind}", (*before, *after)
        yield f"line {at}: {kind} twice", (*before, step, step, *after)
        if at:
            yield f"line {at}: {kind} earlier", (*before[:-1], step, before[-1], *after)


def _near(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return tuple(one for one in (-1, 0, value - 1, value + 1, 2 * value) if one != value)
    if isinstance(value, tuple):
        return (value[:-1], (*value, 1), tuple(one + 1 for one in value))
    assert isinstance(value, str | NoneType)
    return ("flop", "somewhere")


def distinct() -> dict[str, Game]:
    """Our rulesets, without those that differ from another in what is said of them alone."""
    found: dict[Game, str] = {}
    for name, game in RULESETS.items():
        found.setdefault(replace(game, name="", document="", unit="", time_out="none"), name)
    return {name: RULESETS[name] for name in found.values()} | {"listed": LISTED}


# Hands of mutants, asked of batch audit and engine.


class Case(NamedTuple):
    """A hand that is said to have been played by these rules."""

    what: str
    game: Game
    record: Events


@cache
def dealt(game: Game, seed: str, count: int) -> Sequence[Events]:
    """Random hands of which a fast path may follow each; none, where the engine deals none."""
    found: list[Events] = []
    try:
        for at in range(4 * count):
            record = seeded(game, f"{seed} {at}").record
            if not any(isinstance(event, NOT_FOLLOWED) for event in record):
                found.append(record)
            if len(found) == count:
                break
    except ValueError:
        return ()
    return tuple(found)


def told_of(game: Game, record: Events) -> Events:
    """The same hand, as if it had been played by these rules."""
    start = record[0]
    assert isinstance(start, HandStarted)
    return (replace(start, game=game.name, ruleset=fingerprint(game)), *record[1:])


def disagreements(cases: Sequence[Case]) -> list[str]:
    """Where the batch audit finds a hand fine that the engine does not, or suspect that the engine
    agrees with; a reading that could pay otherwise only asks the engine."""
    records = [_numbered(at, one.record) for at, one in enumerate(cases)]
    games = {fingerprint(one.game): one.game for one in cases}
    leaves = [leaf(at, record) for at, record in enumerate(records)]
    words = WordIds()
    found = BatchAuditor(games.get, words).judge(EventArrays([event_table(leaves)], words))
    wrong = []
    for case, record, code, nets in zip(cases, records, found.why, found.nets, strict=True):
        why = DoubtReason(int(code))
        if why is DoubtReason.READING or not is_judged(why):
            continue
        report = judge(case.game, record, partner_of(case.game))
        seats = len(report.recorded or ())
        if not _fits(why, report, tuple(nets[:seats].tolist())):
            said = f"{why.name}, {report.verdict}, {report.divergence}"
            wrong.append(f"{case.game.name} {case.what}: {said}\n{say_all(record)}")
    return wrong


def _fits(why: DoubtReason, report: Report, nets: tuple[int, ...]) -> bool:
    if why is DoubtReason.FINE:
        return report.verdict == "agree" and report.recorded == nets
    return report.verdict in ("differ", "unknown")


def _numbered(number: int, record: Events) -> Events:
    start = record[0]
    assert isinstance(start, HandStarted)
    return (replace(start, hand=f"m/{number}"), *record[1:])

"""The parts of the documents that are written from the code, so that they cannot drift from it.

They stand between `<!-- generated: NAME -->` and `<!-- end -->`; a test compares them, and
`./mr accept` writes them anew.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import click
import msgspec

from analytics.auctions.bidding import MEASURES
from analytics.luck.luck_queries import MEASURES as OF_LUCK
from analytics.luck.street_luck import CHANCES
from analytics.opponents.faults import CAUSES
from analytics.opponents.report_measures import LOOKS, NUMBERS
from analytics.replay.flags import FLAGS
from analytics.results.net_breakdown import RAKE_METHODS
from analytics.results.winnings_curve import LINES
from analytics.statistics.catalogue import STATISTICS, Measure
from api.main import muckrake
from api.questions.declared.counters import COUNTERS
from docs.contested import contested
from docs.filter_tables import filter_fields, filter_flags
from docs.http_tables import endpoints, limits, pages, problems, scopes
from docs.option_tables import options
from docs.question_tables import answers, documents, tables
from docs.rake_tables import known_rakes
from engine.catalogue import CATALOGUE, KINDS, RAKE
from engine.game import Game, fingerprint
from engine.games import GAMES, IMPORTED, RULESETS
from engine.parameters import spelled as said
from engine.steps import AnyStep
from events import types as t
from events.match import Match
from events.notation import read, read_record

EVENT_LINES = """\
hand scrim/12 of auction-2024 0123456789abcdef, button 0: ursa 400, lynx 400
step 1: hole
0 antes 2
1 posts big 2 to 2
0 is dealt [As Kd]
board [Jd 7c 6c]
0 has the bounty T
step 2: preflop betting, 2 to match, raise by 2, 0 to act
1 folds
0 checks (forced), 1 to act
0 calls 1, 1 to act
1 bets 6, 0 to act
0 raises 16 to 18, 1 to act
1 bids 37
auction to 0 at 37, bids 37 and 52
0 tosses [3d] from slot 2
0 risks Kd in slot 1, holds 4h
0 takes back 6
0 announces [Kd Kh 9d 9s 4d]
1 shows [Tc 5s]
1 mucks
pot 0: 104 to 1, 103 to 0
0 hits its bounty, 13 from 1
rake 10 from pot 0
1 is out of time and all-in
1 disconnects
1 reconnects
1 replies "R9999", illegal as action
the source claims 12, -15, rake 2
hand void, "the table lost power"
hand over
""".splitlines()

RECORD_LINES = """\
match scrim of auction-2024 0123456789abcdef, seeded decks of seed 7, sealed: ursa, lynx
ursa is version 3
1000 decks committed by 5f70bf18a086007016e948b04aed3b82
nonce 9c1185a5c5e9fc54612808977ee8f548 from ursa, drawn by the player
deck 12 opened by 2cf24dba5fb0a30e26e83b2ac5b9e29e
source mit-gamelog A2, header "6.9630 MIT Pokerbots", footer ""
match over, "every hand was played": -19, 19
""".splitlines()


def written(text: str) -> str:
    """A document with every generated part written anew."""
    return _PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n{found[3]}", text)


_PART = re.compile(r"(<!-- generated: (\S+) -->)\n.*?(<!-- end -->)", re.DOTALL)


def events() -> str:
    """Every event of a hand."""
    spoken = {type(read(line)): line for line in EVENT_LINES}
    return "\n".join(_told(kind, spoken[kind]) for kind in get_args(t.Event))


def records() -> str:
    """Every record between hands."""
    spoken = {type(read_record(line)): line for line in RECORD_LINES}
    return "\n".join(_told(kind, spoken[kind]) for kind in get_args(Match))


def _told(kind: type[t.Event | Match], line: str) -> str:
    """What it means, its line, its fields."""
    fields = msgspec.structs.fields(kind)
    told = ", ".join(f"`{one.name}` {_type(one.type)}" for one in fields) or "none"
    meaning = inspect.cleandoc(kind.__doc__ or "")
    return f"### {kind.__name__}\n\n{meaning}\n\n    {line}\n\nFields: {told}.\n"


def _type(hint: Any) -> str:
    """A field's type in words."""
    for name in ("Seat", "Chips", "Step", "Cards", "Card"):
        if hint == getattr(t, name):
            return name.lower()
    if get_origin(hint) is Literal:
        return "(" + ", ".join(map(str, get_args(hint))) + ")"
    if get_origin(hint) is tuple:
        return "row of " + _type(get_args(hint)[0])
    parts = get_args(hint)
    if type(None) in parts:
        return _type(parts[0]) + " or null"
    return {str: "text", int: "number", bool: "yes or no"}.get(
        parts[0] if parts else hint, "number"
    )


def policies() -> str:
    """Every policy: its question, its answers, and the rulesets that give each."""
    return "\n".join(_policy(name) for name in CATALOGUE)


def _policy(name: str) -> str:
    policy = CATALOGUE[name]
    lines = [f"### {name}\n", f"{policy.question} ({policy.kind}: {', '.join(policy.entries)})\n"]
    lines += ["| value | meaning | rulesets |", "|---|---|---|"]
    taken = [getattr(game, name) for game in RULESETS.values()]
    values = [
        *policy.values,
        *(value for value in dict.fromkeys(taken) if value not in policy.values),
    ]
    for value in values:
        who = [game.name for game in RULESETS.values() if getattr(game, name) == value]
        told = ", ".join(who) or "-"
        if 2 * len(who) > len(RULESETS):
            told = "all" if len(who) == len(RULESETS) else "all others"
        lines.append(f"| `{said(value)}` | {policy.values.get(value, '')} | {told} |")
    return "\n".join(lines) + "\n"


def rake() -> str:
    """What a rake is made of."""
    lines = ["| field | question | values |", "|---|---|---|"]
    for name, part in RAKE.items():
        told = "; ".join(f"`{said(value)}` {means}" for value, means in part.values.items())
        lines.append(f"| `{name}` | {part.question} ({', '.join(part.entries)}) | {told} |")
    return "\n".join(lines)


def kinds() -> str:
    """What a policy of each class decides."""
    lines = ["| class | what it does |", "|---|---|"]
    return "\n".join(lines + [f"| {kind} | {does} |" for kind, does in KINDS.items()])


def games() -> str:
    """Every ruleset that is dealt: its script, and how it differs from its partner."""
    return "\n".join(_game(game, GAMES.get(game.partner or "")) for game in GAMES.values())


def imported() -> str:
    """Every ruleset of foreign records: how it differs from its partner, or from practice."""
    practice = {"fixed": "site-fl-standard", "pot_limit": "site-pl-standard"}
    return "\n".join(
        _game(game, GAMES[game.partner or practice.get(game.sizing, "site-nl-standard")])
        for game in IMPORTED.values()
    )


def _game(game: Game, beside: Game | None) -> str:
    lines = [f"### {game.name}\n", _facts(game)]
    lines += [f"    {number:2}  {step!r}" for number, step in enumerate(game.script)]
    if beside is not None:
        lines += ["", *_differences(game, beside)]
    if game.readings:
        lines += ["", "Readings tried on every hand:", ""]
    for one in game.readings:
        lines.append(f"- {one.entry}, `{one.policy} {one.value}`: {one.sentence}")
    return "\n".join(lines) + "\n"


def _facts(game: Game) -> str:
    """The document, and what is neither script nor policy."""
    low, high = game.seats_min, game.seats_max
    seats = f"{low}" if low == high else f"{low} to {high}"
    hands = "" if game.hands is None else f", {game.hands} hands a match"
    document = game.document[0].upper() + game.document[1:]
    brought = f"{seats} seats, stacks of {game.stack}{hands}"
    return f"{document}. {brought}. Fingerprint `{fingerprint(game)}`.\n"


def _differences(game: Game, partner: Game) -> Iterator[str]:
    """The policies that have another value in the partner, and whether the script is another."""
    if game.script != partner.script:
        same_steps = list(map(type, game.script)) == list(map(type, partner.script))
        what = "stakes are not those" if same_steps else "script is not that"
        yield f"Its {what} of `{partner.name}`.\n"
    other = [name for name in CATALOGUE if getattr(game, name) != getattr(partner, name)]
    yield f"| policy | here | `{partner.name}` |"
    yield "|---|---|---|"
    for name in other:
        yield f"| {name} | `{said(getattr(game, name))}` | `{said(getattr(partner, name))}` |"


def steps() -> str:
    """Every step that a script can be made of."""
    return "\n".join(["| step | what it does |", "|---|---|", *map(_step, get_args(AnyStep))])


def _step(kind: type[AnyStep]) -> str:
    fields = ", ".join(one.name for one in msgspec.structs.fields(kind))
    return f"| `{kind.__name__}({fields})` | {' '.join((kind.__doc__ or '').split())} |"


def commands() -> str:
    """Every command of the command line, as its own help says it."""
    settings = {**muckrake.context_settings, "terminal_width": 88}
    context = click.Context(muckrake, info_name="muckrake", **settings)
    helps = (told for name in muckrake.list_commands(context) for told in _helps(context, name))
    return "\n".join(f"### muckrake {name}\n\n```text\n{text}\n```\n" for name, text in helps)


def _helps(parent: click.Context, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command, and of each that it has."""
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent, name)
    yield context.command_path.removeprefix("muckrake "), command.get_help(context)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            yield from _helps(context, part)


def statistics() -> str:
    """Every statistic: its name, what is done, out of which opportunities."""
    lines = ["| name | title | done | opportunity | question |", "|---|---|---|---|---|"]
    for one in STATISTICS.values():
        told = f"`{one.name}` | {one.title} | {one.done} | {one.opportunity} | {one.file}.sql"
        lines.append(f"| {told} |")
    return "\n".join(lines)


def flags() -> str:
    """Every flag of facts: when it is true, and when it is not null."""
    lines = ["| column | true | not null |", "|---|---|---|"]
    lines += [f"| `{it.name}` | {it.done} | {it.opportunity} |" for it in FLAGS.values()]
    return "\n".join(lines)


def bidding() -> str:
    """Every measure of bidding."""
    return _measured(MEASURES.values())


def luck() -> str:
    """Every measure of luck."""
    return _measured(OF_LUCK.values())


def looks() -> str:
    """Every look of an opponent report that is no statistic."""
    lines = ["| look | done | chance | claims from |", "|---|---|---|---|"]
    told = (f"`{it.name}` | {it.done} | {it.chance} | {it.few}" for it in LOOKS.values())
    return "\n".join(lines + [f"| {line} |" for line in told])


def numbers() -> str:
    """Every number of an opponent report."""
    return _measured(NUMBERS.values())


def causes() -> str:
    """What may have gone wrong with a reply."""
    return _named("suggested", CAUSES)


def chances() -> str:
    """What luck is counted of."""
    return _named("luck of", CHANCES)


def rake_methods() -> str:
    """Who pays a rake."""
    return _named("method", RAKE_METHODS)


def counters() -> str:
    """What the organisers count, and where ours differs."""
    head = ["| counter | what it is | ours |", "|---|---|---|"]
    return "\n".join(
        head + [f"| `{name}` | {it.meaning} | {it.ours} |" for name, it in COUNTERS.items()]
    )


def lines() -> str:
    """The lines of a graph of winnings."""
    return _named("line", LINES)


def _named(title: str, meanings: Mapping[str, str]) -> str:
    head = [f"| {title} | what it is |", "|---|---|"]
    return "\n".join(head + [f"| `{name}` | {means} |" for name, means in meanings.items()])


def _measured(measures: Iterable[Measure]) -> str:
    lines = ["| measure | what it is | kind |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{one.name}` | {one.meaning} | {one.kind} |" for one in measures])


PARTS: dict[str, Callable[[], str]] = {
    part.__name__: part
    for part in (
        events,
        records,
        policies,
        rake,
        known_rakes,
        contested,
        kinds,
        games,
        imported,
        steps,
        commands,
        options,
        filter_fields,
        filter_flags,
        statistics,
        flags,
        bidding,
        luck,
        looks,
        numbers,
        causes,
        chances,
        rake_methods,
        counters,
        lines,
        answers,
        documents,
        tables,
        endpoints,
        pages,
        problems,
        scopes,
        limits,
    )
}

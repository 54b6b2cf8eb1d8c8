"""What a viewpoint is told of an opponent: the hands it sees, gathered; the answer as a document.

Everything is made from leaves as they are seen, so no share tells more than the record shows.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from analytics.opponents.faults import CAUSES
from analytics.opponents.leads import Lead, leads
from analytics.opponents.measures import ALL_LOOKS
from analytics.opponents.report import By, Opponent
from analytics.opponents.strength import STRONG, WEAK
from analytics.opponents.tables import Asked, gathered
from analytics.replay.rulebook import Rulebook
from analytics.sql.chosen import Chosen, table
from analytics.statistics.measured import Measured
from api.playing.recording import STOPPED
from api.questions.players import Nonsense, check, money_of
from api.questions.stats import AGAIN, numbers
from api.rules import Rules
from api.viewpoints.progress import ShowProgress, without_progress
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed
from api.viewpoints.visible_hands import events
from events.types import MatchEnded, MatchStarted
from store.log.leaf import split
from store.reader import Snapshot

SPOTS = 500
TABLES = ("mix", "sizes", "ends", "faults")


class About(NamedTuple):
    """About whom, against whom (anybody, where it is nobody), in which hands."""

    player: str
    vs: str | None = None
    match: str | None = None
    game: str | None = None
    spots: int | None = SPOTS


def opponent(viewed: Viewed, about: About, watch: ShowProgress = without_progress) -> Opponent:
    """The opponent as these hands show him; who closes it lets go of its tables."""
    check(viewed, about.player, about.vs, match=about.match, game=about.game)
    if about.player == about.vs:
        raise Nonsense(f"{about.player} has no hands against himself")
    chosen = Chosen(player=about.player, vs=about.vs, match=about.match, game=about.game)
    unit = money_of(viewed, table(chosen, "NULL"))
    ledger = viewed.snapshot
    asked = Asked(about.player, about.vs, about.spots, lengths(ledger))
    seen = events(viewed, about.match, about.game, watch)
    told = gathered(
        seen,
        Rulebook(ledger.ruleset),
        asked,
        lambda rows, total: watch(rows, "counting strength", total),
    )
    found = Opponent(about.player, told, unit)
    if not found.dealt():
        found.close()
        who = f"{about.player} and {about.vs} were" if about.vs else f"{about.player} was"
        raise Absent(f"{who} dealt no hand here: muckrake stats lists who was")
    return found


def lengths(ledger: Snapshot) -> dict[str, int]:
    """How many hands each match has: its last one if it went to its end, else its ruleset's."""
    last: dict[str, int] = {}
    for listed in ledger.hands():
        match, number = split(listed.hand)
        last[match] = max(last.get(match, 0), number or 0)
    found = {}
    rules = Rules(ledger, None)
    for match in ledger.matches():
        records = [one.event for one in ledger.read(match)]
        started = next((one for one in records if isinstance(one, MatchStarted)), None)
        ended = any(isinstance(one, MatchEnded) and one.reason != STOPPED for one in records)
        if ended and match in last:
            found[match] = last[match]
        elif started is not None and (game := rules.marked(started.ruleset)) and game.hands:
            found[match] = game.hands
    return found


def document(told: Opponent, by: By | None = None) -> dict[str, Any]:
    """The whole report as plain values; `parts` is one, unless it is asked for by something."""
    ranked = leads(told)
    return {
        "unit": told.unit,
        "again": AGAIN,
        "hands": sum(row["hands"] for row in told.dealt()),
        "known": sum(row["known"] for row in told.dealt()),
        "strength": {
            "weak": WEAK,
            "strong": STRONG,
            "acts": told.told.spots,
            "counted": told.told.counted,
        },
        "leads": {"compared": ranked.compared, "found": [_told(one) for one in ranked.found]},
        "parts": list(_parts(told, by)),
        "locks": told.locks(),
        "faults": _faults(told),
    }


def whole(told: Opponent, which: str) -> list[dict[str, Any]]:
    """What is told of all hands together as rows of a file: `leads`, `locks` or `faults`."""
    if which == "leads":
        return [{**_told(one), "hands": " ".join(one.hands)} for one in leads(told).found]
    return told.locks() if which == "locks" else _faults(told)


def _told(lead: Lead) -> dict[str, Any]:
    return {"title": ALL_LOOKS[lead.look].title, **lead._asdict()}


def _faults(told: Opponent) -> list[dict[str, Any]]:
    """Every reply that could not be used, with what may have caused it."""
    return [{**row, "cause": CAUSES.get(row["suggested"] or "")} for row in told.faults()]


def _parts(opponent: Opponent, by: By | None) -> Iterator[dict[str, Any]]:
    """Each part with every look, number and statistic, and the tables."""
    told = {
        "looks": _by_part(opponent.looks(by)),
        "numbers": _by_part(opponent.numbers(by, again=True)),
        "statistics": _by_part(opponent.statistics(by)),
    }
    rows = {
        name: opponent.ends(by) if name == "ends" else opponent.table(name, by) for name in TABLES
    }
    for dealt in opponent.dealt(by):
        part = dealt["part"]
        found: dict[str, Any] = {by: part} if by else {}
        found |= {"hands": int(dealt["hands"]), "known": int(dealt["known"])}
        found |= {name: answers.get(part, {}) for name, answers in told.items()}
        for name in TABLES:
            mine = (row for row in rows[name] if row["part"] == part)
            found[name] = [{key: row[key] for key in row if key != "part"} for row in mine]
        yield found


def _by_part(found: Iterable[Measured]) -> dict[str, dict[str, Any]]:
    """Answers by part and name."""
    told: dict[str, dict[str, Any]] = {}
    for one in found:
        told.setdefault(one.part, {})[one.statistic] = numbers(one)
    return told

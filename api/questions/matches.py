"""The matches of a ledger and one of them: who played what by which rules, and what came of it.

Hands are counted by a query over the viewer's own views; all else is in the match's own records,
read as the viewer sees them.
"""

from collections.abc import Mapping
from math import lcm
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from analytics.sql.chosen import quoted
from api.playing.recording import CUT_SHORT, has_it_all
from api.rules import Rules
from api.viewpoints.records import ended, left_out, records, started
from api.viewpoints.rendering import opened_by
from api.viewpoints.selection import Absent
from api.viewpoints.times import moments
from api.viewpoints.views import UNCLOSED, Viewed
from engine.game import Game
from engine.standing import Last, standing
from engine.table import is_freeze_out
from engine.units import money, per_chip
from events import types as t
from events.views import SourceNotedSeen
from store.log.leaf import Leaf

OPEN = "not ended"
PLAYED = """
SELECT match, count(*) AS hands, min(first_at) AS first, max(last_at) AS last,
       min(hand_seq) AS first_seq, max(hand_seq) AS last_seq
FROM hands {only} GROUP BY match {after} ORDER BY first_seq {order} {limit}
"""
NETS = """
SELECT match, unit, player, sum(net) AS net FROM players WHERE match IN ({}) GROUP BY ALL
"""
LASTS = """
SELECT match, player, max(hand_seq) AS hand, max_by(stack, hand_seq) AS began,
       max_by(stack + net, hand_seq) AS "left"
FROM players WHERE match IN ({}) GROUP BY ALL
"""
Key = list[Any]  # where a list goes on: [first_seq], or [name] among matches without a hand


class Page(NamedTuple):
    """Some matches in order, and where to go on; nowhere, if these are the last."""

    rows: list[dict[str, Any]]
    next: Key | None


def page(viewed: Viewed, after: Key | None, limit: int, *, newest: bool = False) -> Page:
    """Matches in the order of their first hands, those without a hand as the newest of all."""
    parts = (_silent, _played) if newest else (_played, _silent)
    found: list[tuple[Key, str, dict[str, Any] | None]] = []
    for part in parts:
        begun = _part_of(after)
        if begun is not None and part is not begun and parts.index(part) < parts.index(begun):
            continue
        found += part(viewed, after if part is begun else None, limit + 1 - len(found), newest)
        if len(found) > limit:
            break
    rows = [_row(viewed, name, played) for _, name, played in found[:limit]]
    _come_to(viewed, rows)
    return Page(rows, found[limit - 1][0] if len(found) > limit else None)


def every(viewed: Viewed) -> list[dict[str, Any]]:
    """All matches, in the order of their first hands."""
    return page(viewed, None, 2**31).rows


def one(viewed: Viewed, match: str) -> dict[str, Any]:
    """A match and all that its own records tell; `Absent` if there is none of this name."""
    only = PLAYED.format(only=f"WHERE match = {quoted(match)}", after="", order="", limit="")
    played = next(iter(viewed.rows(only)), None)
    if played is None and not records(viewed.snapshot, match):
        raise Absent(f"there is no match {match}: muckrake matches lists those there are")
    row = _row(viewed, match, played)
    _come_to(viewed, [row])
    return row | {"last_seq": played and played["last_seq"], **_told(viewed, match)}


def _part_of(after: Key | None) -> Any:
    """Among which matches a place is."""
    if after is None:
        return None
    return _played if isinstance(after[0], int) else _silent


def _played(
    viewed: Viewed, after: Key | None, limit: int, newest: bool
) -> list[tuple[Key, str, dict[str, Any] | None]]:
    beyond = f"HAVING first_seq {'<' if newest else '>'} {int(after[0])}" if after else ""
    order = "DESC" if newest else ""
    sql = PLAYED.format(only="", after=beyond, order=order, limit=f"LIMIT {limit}")
    return [([row["first_seq"]], row["match"], row) for row in viewed.rows(sql)]


def _silent(
    viewed: Viewed, after: Key | None, limit: int, newest: bool
) -> list[tuple[Key, str, dict[str, Any] | None]]:
    """Matches that were announced and have no hand yet, by name."""
    played = {row["match"] for row in viewed.rows("SELECT DISTINCT match FROM hands")}
    names = sorted(set(viewed.snapshot.matches()) - played, reverse=newest)
    if after is not None:
        last = str(after[0])
        names = [name for name in names if (name < last if newest else name > last)]
    return [([name], name, None) for name in names[:limit]]


def _row(viewed: Viewed, name: str, played: dict[str, Any] | None) -> dict[str, Any]:
    """What a match's own records tell, beside its hands; one that was cut off may lack either."""
    start, end = started(viewed.snapshot, name), ended(viewed.snapshot, name)
    return {
        "match": name,
        "game": start and start.game,
        "ruleset": start and start.ruleset,
        "players": start and list(start.players),
        "dealing": start and start.dealing,
        "disclosure": start and start.disclosure,
        "hands": played["hands"] if played else 0,
        "left_out": left_out(viewed.snapshot, name),
        "first": played and played["first"],
        "last": played and played["last"],
        "nets": list(end.nets) if end and start and len(end.nets) == len(start.players) else None,
        "unit": None,
        "status": end.reason if end else OPEN,
        "ended": end is not None,
    }


def _come_to(viewed: Viewed, rows: list[dict[str, Any]]) -> None:
    """What was won and lost; who has won or is ahead, and the places, as `engine.standing` says."""
    _count(viewed, rows)
    rules = Rules(viewed.snapshot, None)
    games = {row["match"]: _game(rules, row) for row in rows}
    lasts = _lasts(viewed, [match for match, game in games.items() if game and is_freeze_out(game)])
    for row in rows:
        row |= {"winner": None, "leader": None, "draw": False, "places": None}
        match, players, nets = row["match"], row["players"], row["nets"]
        if nets is not None and row["hands"]:
            whole = row["ended"] and row["status"] not in CUT_SHORT
            last = lasts.get(match, {})
            row |= msgspec.to_builtins(standing(games[match], players, nets, last, whole=whole))


def _game(rules: Rules, row: dict[str, Any]) -> Game | None:
    """The ruleset of a match; before `broke` only its end said that it was a freeze-out."""
    game = rules.marked(row["ruleset"]) if row["ruleset"] else None
    if game is not None and row["status"] in map(has_it_all, row["players"]):
        return replace(game, broke="leaves")
    return game


def _lasts(viewed: Viewed, matches: list[str]) -> dict[str, dict[str, Last]]:
    """Each player's last hand of each of these matches."""
    found: dict[str, dict[str, Last]] = {}
    if matches:
        for row in viewed.rows(LASTS.format(", ".join(map(quoted, matches)))):
            last = Last(row["hand"], int(row["began"]), int(row["left"]))
            found.setdefault(row["match"], {})[row["player"]] = last
    return found


def _count(viewed: Viewed, rows: list[dict[str, Any]]) -> None:
    """What was won and lost so far, where no end tells it; and in which unit all that counts.

    Hands of several units of one money, chips and half chips, are added up in one that is fine
    enough for all of them; those of several moneys have no sum.
    """
    played = [row for row in rows if row["players"] and row["hands"]]
    alone = next(iter(viewed.units)) if len(viewed.units) == 1 else None
    counted = [row for row in played if alone is None or row["nets"] is None]
    sums: dict[str, dict[str | None, dict[str, int]]] = {row["match"]: {} for row in counted}
    if counted:
        for row in viewed.rows(NETS.format(", ".join(map(quoted, sums)))):
            of_unit = sums[row["match"]].setdefault(row["unit"] or alone, {})
            of_unit[row["player"]] = int(row["net"] or 0)
    for row in rows:
        row["unit"] = alone if row["nets"] is not None else None
    for row in counted:
        found = sums[row["match"]] or {alone: {}}  # nobody won anything yet
        if len(found) == 1 and row["nets"] is not None:
            (row["unit"],) = found
        else:
            row["unit"], won = _summed(found)
            row["nets"] = won if won is None else [won.get(name, 0) for name in row["players"]]


def _summed(
    found: Mapping[str | None, Mapping[str, int]],
) -> tuple[str | None, dict[str, int] | None]:
    """Nets by unit and player, added up by player; None of several moneys."""
    named = {unit: won for unit, won in found.items() if unit is not None}
    if len({money(unit) for unit in named}) > 1:
        return None, None
    fine = lcm(*map(per_chip, named))
    name = next(
        (unit for unit in named if per_chip(unit) == fine), f"1/{fine} chip" if named else None
    )
    nets: dict[str, int] = {}
    for unit, won in named.items():
        for player, net in won.items():
            nets[player] = nets.get(player, 0) + net * (fine // per_chip(unit))
    return name, nets


def _told(viewed: Viewed, match: str) -> dict[str, Any]:
    """Its announcement and its commitments, as they are seen."""
    own = records(viewed.snapshot, match)
    seen = viewed.redactor.see(Leaf(UNCLOSED, own)).ones if own else ()
    kinds: dict[type, list[Any]] = {}
    for one in seen:
        kinds.setdefault(type(one.stored.event), []).append(one.seen)
    announced = kinds.get(t.MatchStarted, [None])[0]
    sources = [one for one in kinds.get(t.SourceNoted, []) if isinstance(one, SourceNotedSeen)]
    return {
        "sealed_bids": announced and announced.sealed_bids,
        "deals": announced and announced.deals,
        "seed": announced and msgspec.to_builtins(announced.seed),
        "commitments": [
            {"commitment": one.commitment, "hands": one.hands}
            for one in kinds.get(t.DeckCommitted, [])
        ],
        "nonces": [
            {"player": one.player, "nonce": one.nonce, "drawn_by": one.drawn_by}
            for one in kinds.get(t.NonceGiven, [])
        ],
        "decks_opened": max((one.number for one in kinds.get(t.DeckOpened, [])), default=None),
        "source": {"format": sources[0].format, "dialect": sources[0].dialect} if sources else None,
        "open": match in viewed.opened,
        "withheld": opened_by(one.event for one in own).withheld,
        "announced": moments([own[0].at])[0] if own else None,
    }

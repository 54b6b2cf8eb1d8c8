"""The matches, in the order of their first hands: who played what, and what came of it.

Those without a hand are the newest of all.
"""

from collections.abc import Iterable, Mapping
from math import lcm
from typing import Annotated, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from analytics.sql import quoted
from api.auditing.record import RulesetLookup
from api.playing.recording import CUT_SHORT, freeze_out_reason, result_in_words
from api.questions.question import HIDDEN, Listed, Newest, Page, Pages, Question, Table, ungrouped
from api.viewpoints.hand_selection import (
    NotInLedger,
    conflict_count,
    left_out_count,
    match_end,
    match_records,
    match_start,
    match_tags,
)
from api.viewpoints.ledger_view import UNCLOSED, LedgerView
from api.viewpoints.redaction import opened_by, timestamps
from api.viewpoints.viewer import ShowProgress
from engine.game import Game
from engine.policies import money, per_chip
from engine.table import Last, Standing, is_freeze_out, standing
from events.match import (
    Dealing,
    DeckCommitted,
    DeckOpened,
    Disclosure,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
)
from events.views import Hidden, SourceNotedSeen
from store.log.streams import Leaf
from store.reader import Snapshot
from store.sql.result_values import json_rows

NOT_ENDED = "not ended"
TOTALS_SQL = """
SELECT match, count(*) AS hands, min(first_at) AS first, max(last_at) AS last,
       min(hand_seq) AS first_seq, max(hand_seq) AS last_seq
FROM hands {only} GROUP BY match ORDER BY first_seq
"""
NETS_SQL = """
SELECT match, unit, player, sum(net) AS net FROM players WHERE match IN ({}) GROUP BY ALL
"""
LAST_STACKS_SQL = """
SELECT match, player, max(hand_seq) AS hand, max_by(stack, hand_seq) AS began,
       max_by(stack + net, hand_seq) AS "left"
FROM players WHERE match IN ({}) GROUP BY ALL
"""
PLAIN = {"spelled": ungrouped}
START_FIELDS = ("game", "ruleset", "dealing", "disclosure")
Key = list[int] | list[str]  # [first_seq], or [name] of a match without a hand
Totals = dict[str, Any]


class MatchesParams(Struct, frozen=True):
    """Parameters of `matches`: which part of the list."""

    newest: Newest = False
    after: Key | None = None
    limit: int = 100


class MatchRow(Struct, frozen=True, kw_only=True):
    """A match of a list; nulls where it was never announced.

    `nets` count what `unit` says, and are null over several moneys. `leader` is ahead in a match
    that nobody has won; `places` are those of `players`, in order.
    """

    match: str
    game: str | None
    ruleset: Annotated[str | None, Meta(description="its fingerprint")]
    players: Annotated[list[str] | None, Meta(extra=PLAIN)]
    tags: Annotated[
        list[str], Meta(description="a player and what is said of him beside his name", extra=PLAIN)
    ]
    dealing: Annotated[Dealing | None, Meta(extra=HIDDEN)]
    disclosure: Annotated[Disclosure | None, Meta(extra=HIDDEN)]
    hands: Annotated[int, Meta(extra=PLAIN)]
    left_out: Annotated[
        int, Meta(title="left_out", description="hands of its source without a record", extra=PLAIN)
    ]
    first: Annotated[str | None, Meta(description="when its first hand began")]
    last: Annotated[str | None, Meta(description="when its last hand ended")]
    nets: Annotated[
        list[int] | None, Meta(description="what each won, as its end says, or so far", extra=PLAIN)
    ]
    unit: Annotated[str | None, Meta(description="what the nets count")]
    status: Annotated[str, Meta(description="why it ended, or `not ended`")]
    ended: Annotated[bool, Meta(extra=HIDDEN)]
    winner: Annotated[str | None, Meta(extra=HIDDEN)]
    leader: Annotated[str | None, Meta(extra=HIDDEN)]
    draw: Annotated[bool, Meta(extra=HIDDEN)]
    places: Annotated[list[int] | None, Meta(extra=HIDDEN)]
    result: Annotated[str, Meta(description="who won or is ahead, in words")]


class Matches(Listed, frozen=True):
    """The matches."""

    data: list[MatchRow]


class MatchRecords(NamedTuple):
    """A match's own records, and the totals of its hands; a match cut off may lack either."""

    name: str
    start: MatchStarted | None
    end: MatchEnded | None
    played: Totals | None

    @property
    def players(self) -> tuple[str, ...]:
        return self.start.players if self.start else ()

    @property
    def nets(self) -> list[int] | None:
        """The nets that its end states."""
        return list(self.end.nets) if self.end and len(self.end.nets) == len(self.players) else None


def matches(viewed: LedgerView, params: MatchesParams, watch: ShowProgress) -> Page:
    """A page of matches with hands, then of those without; or the other way round."""
    parts = [_without_hands, _with_hands] if params.newest else [_with_hands, _without_hands]
    if params.after is not None:
        begun = _with_hands if isinstance(params.after[0], int) else _without_hands
        parts = parts[parts.index(begun) :]
    entries: list[tuple[Key, str, Totals | None]] = []
    for number, part in enumerate(parts):
        rest = replace(params, limit=params.limit + 1 - len(entries))
        entries += part(viewed, rest if number == 0 else replace(rest, after=None))
        if len(entries) > params.limit:
            break
    shown = entries[: params.limit]
    rows = match_rows(viewed, {name: played for _, name, played in shown})
    return Page(rows, shown[-1][0] if len(entries) > params.limit else None)


def list_key(viewed: LedgerView, match: str) -> Key:
    """The place of a match in the list."""
    played = match_totals(viewed, match)
    return [match] if played is None else [played["first_seq"]]


def match_totals(viewed: LedgerView, match: str) -> Totals | None:
    """The totals of a match's hands, None before the first; `NotInLedger` if there is no match."""
    only = TOTALS_SQL.format(only=f"WHERE match = {quoted(match)}")
    played = next(iter(viewed.rows(only)), None)
    if played is None and not match_records(viewed.snapshot, match):
        raise NotInLedger(f"there is no match {match}: muckrake matches lists those there are")
    return played


_cached_totals: WeakKeyDictionary[LedgerView, pa.Table] = WeakKeyDictionary()


def all_match_totals(viewed: LedgerView) -> pa.Table:
    """The totals of each match, by their first hands: queried once for a snapshot."""
    if viewed not in _cached_totals:
        _cached_totals[viewed] = viewed.ask(TOTALS_SQL.format(only=""))
    return _cached_totals[viewed]


def _with_hands(viewed: LedgerView, params: MatchesParams) -> list[tuple[Key, str, Totals | None]]:
    rows, first_seq = all_match_totals(viewed), pc.field("first_seq")
    if params.after is not None:
        after = params.after[0]
        rows = rows.filter(first_seq < after if params.newest else first_seq > after)
    rows = rows.slice(max(0, len(rows) - params.limit) if params.newest else 0, params.limit)
    found = json_rows(rows)
    ordered = reversed(found) if params.newest else found
    return [([row["first_seq"]], row["match"], row) for row in ordered]


def _without_hands(
    viewed: LedgerView, params: MatchesParams
) -> list[tuple[Key, str, Totals | None]]:
    """Announced matches without a hand, by name; not the notes of a file of conflicts alone."""
    played = set(all_match_totals(viewed)["match"].to_pylist())
    snapshot = viewed.snapshot
    names = sorted(set(snapshot.matches()) - played, reverse=params.newest)
    names = [it for it in names if left_out_count(snapshot, it) or not conflict_count(snapshot, it)]
    if params.after is not None:
        last = str(params.after[0])
        names = [name for name in names if (name < last if params.newest else name > last)]
    return [([name], name, None) for name in names[: params.limit]]


def match_rows(viewed: LedgerView, played_of_match: Mapping[str, Totals | None]) -> list[MatchRow]:
    """A row for each match."""
    snapshot, rules = viewed.snapshot, RulesetLookup(viewed.snapshot, None)
    matches = [
        MatchRecords(name, match_start(snapshot, name), match_end(snapshot, name), played)
        for name, played in played_of_match.items()
    ]
    won = _results(viewed, matches)
    games: dict[str, Game | None] = {}
    for match in matches:
        game = rules.by_fingerprint(match.start.ruleset) if match.start else None
        if (
            game is not None
            and match.end
            and match.end.reason in map(freeze_out_reason, match.players)
        ):
            game = replace(game, broke="leaves")  # before `broke` only the end said so
        games[match.name] = game
    lasts: dict[str, dict[str, Last]] = {}  # each player's last hand of each freeze-out
    freeze_outs = [name for name, game in games.items() if game and is_freeze_out(game)]
    if freeze_outs:
        for row in viewed.rows(LAST_STACKS_SQL.format(", ".join(map(quoted, freeze_outs)))):
            last_hand = Last(row["hand"], int(row["began"]), int(row["left"]))
            lasts.setdefault(row["match"], {})[row["player"]] = last_hand
    rows = []
    for match in matches:
        start, played, (unit, nets) = match.start, match.played or {}, won[match.name]
        result = Standing(None, None, False, ())
        if nets is not None and played:
            whole = match.end is not None and match.end.reason not in CUT_SHORT
            last = lasts.get(match.name, {})
            result = standing(games[match.name], match.players, nets, last, whole=whole)
        places = list(result.places) or None
        rows.append(
            MatchRow(
                match=match.name,
                **{name: getattr(start, name, None) for name in START_FIELDS},
                players=None if start is None else list(start.players),
                tags=tag_texts(snapshot, match.name),
                hands=played.get("hands", 0),
                left_out=left_out_count(snapshot, match.name),
                first=played.get("first"),
                last=played.get("last"),
                nets=nets,
                unit=unit,
                status=match.end.reason if match.end else NOT_ENDED,
                ended=match.end is not None,
                winner=result.winner,
                leader=result.leader,
                draw=result.draw,
                places=places,
                result=result_in_words(result.winner, result.leader, result.draw, places),
            )
        )
    return rows


def tag_texts(snapshot: Snapshot, match: str) -> list[str]:
    """Tags as text: `ursa version:3`; of two about the same player and tag, the later one."""
    values = {(tag.player, tag.tag): tag.value for tag in match_tags(snapshot, match)}
    return [f"{player} {tag}:{value}" for (player, tag), value in values.items()]


def _results(
    viewed: LedgerView, matches: Iterable[MatchRecords]
) -> dict[str, tuple[str | None, list[int] | None]]:
    """The unit of each match, and what was won and lost so far, where no end states it.

    Hands of several units of one money, chips and half chips, are added up in one that is fine
    enough for all of them; those of several moneys have no sum.
    """
    alone = next(iter(viewed.units)) if len(viewed.units) == 1 else None
    totals = {
        match.name: (alone if match.nets is not None else None, match.nets) for match in matches
    }
    counted = {
        match.name: match
        for match in matches
        if match.players and match.played and (alone is None or match.nets is None)
    }
    sums: dict[str, dict[str | None, dict[str, int]]] = {name: {} for name in counted}
    if counted:
        for row in viewed.rows(NETS_SQL.format(", ".join(map(quoted, counted)))):
            of_unit = sums[row["match"]].setdefault(row["unit"] or alone, {})
            of_unit[row["player"]] = int(row["net"] or 0)
    for name, match in counted.items():
        by_unit = sums[name] or {alone: {}}  # nobody won anything yet
        if len(by_unit) == 1 and match.nets is not None:
            totals[name] = next(iter(by_unit)), match.nets
        else:
            unit, won = _sum_by_player(by_unit)
            nets = None if won is None else [won.get(player, 0) for player in match.players]
            totals[name] = unit, nets
    return totals


def _sum_by_player(
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


QUESTION = Question(
    name="matches",
    text=__doc__,
    path="/matches",
    operation="matches",
    params=MatchesParams,
    answer=Matches,
    ask=matches,
    tables=(Table("matches", MatchRow, lambda page: page.rows),),
    pages=Pages(limit=100, key=list_key),
    page="/matches",
    facts=False,
)


class Commitment(Struct, frozen=True):
    """What the dealer was bound to before so many hands."""

    commitment: str
    hands: int


class Nonce(Struct, frozen=True):
    """What a player gave to the shuffle, and who drew it: of old matches nobody knows."""

    player: str
    nonce: str
    drawn_by: Literal["player", "dealer"] | None


class Source(Struct, frozen=True):
    """What file a match was imported from."""

    format: str
    dialect: str


class Match(MatchRow, frozen=True, kw_only=True):
    """One match; `last_seq` is where its last hand stands in the tree; `withheld`: its hands are
    told to auditors alone."""

    last_seq: int | None
    sealed_bids: bool | None
    deals: int | None
    seed: str | Hidden | None
    commitments: list[Commitment]
    nonces: list[Nonce]
    decks_opened: int | None
    source: Source | None
    open: bool
    withheld: bool
    announced: str | None


def match_of(viewed: LedgerView, match: str) -> Match:
    """The match of this name; `NotInLedger` if there is none."""
    played = match_totals(viewed, match)
    (row,) = match_rows(viewed, {match: played})
    own = match_records(viewed.snapshot, match)
    seen = viewed.redactor.redact(Leaf(UNCLOSED, own)).events if own else ()
    kinds: dict[type, list[Any]] = {}
    for event in seen:
        kinds.setdefault(type(event.stored.event), []).append(event.seen)
    announced = kinds.get(MatchStarted, [None])[0]
    sources = [event for event in kinds.get(SourceNoted, []) if isinstance(event, SourceNotedSeen)]
    return Match(
        **asdict(row),
        last_seq=None if played is None else played["last_seq"],
        sealed_bids=announced and announced.sealed_bids,
        deals=announced and announced.deals,
        seed=announced and announced.seed,
        commitments=[
            Commitment(event.commitment, event.hands) for event in kinds.get(DeckCommitted, [])
        ],
        nonces=[
            Nonce(event.player, event.nonce, event.drawn_by) for event in kinds.get(NonceGiven, [])
        ],
        decks_opened=max((event.number for event in kinds.get(DeckOpened, [])), default=None),
        source=Source(sources[0].format, sources[0].dialect) if sources else None,
        open=match in viewed.open_matches,
        withheld=opened_by(event.event for event in own).withheld,
        announced=timestamps([own[0].at])[0] if own else None,
    )

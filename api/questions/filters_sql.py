"""A filter as one condition of SQL over the view `hands`.

Logic has three values here: what a viewpoint may not know, and what nobody knows, is neither so
nor not so. A hand passes a filter only if it surely holds: a hidden card passes neither `hole=AA`
nor `!hole=AA`, and no list or count differs by what is hidden. SQL's own NOT cannot say that across
the rows of a hand. So `!` is carried down to the terms, and each term has two conditions: that it
surely holds, and that it surely fails.

A term about players asks whether there is one of whom it is so. It fails where it is surely so of
none, and where it is asked of one by name only if he sat there. Several terms about one player are
asked of each player of a hand, a row of `players`. Of a voided hand nothing of the kind is known.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, assert_never

from analytics.replay.flags import STREETS
from analytics.sql import quoted
from api.questions.filters_tree import (
    MADE,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    Of,
    Or,
    Term,
    counted,
    terms,
)
from api.questions.filters_values import Amount, Moment, Pattern, fits_sql, moment_text, ranges
from engine.games import GAMES
from engine.parameters import first
from engine.policies import counted_in
from engine.steps import TossHole
from store.log.streams import split_stream

_TOSSING = ", ".join(f"'{name}'" for name, game in GAMES.items() if first(game, TossHole))
_LENGTH = f"""(length(board)
    - CASE WHEN length(board) > 8 AND split_part(game, '.', 1) IN ({_TOSSING}) THEN 3 ELSE 0 END)"""
# `7c 6c 2d 8h 4c` is a river; where a card is tossed, `7c 6c 2d 8h` is a flop, for two came with it
STREET = f"""CASE WHEN {_LENGTH} >= 14 THEN 3 WHEN {_LENGTH} >= 11 THEN 2
    WHEN board <> '' THEN 1 WHEN board = '' THEN 0 END"""
SEATED = "length(nets) - length(replace(nets, ' ', '')) + 1"
PLAYS = "list_contains(from_json(players, '[\"VARCHAR\"]'), {name})"


class Span(NamedTuple):
    """Hands after one and before another, by `hand_seq`: no others need be looked at."""

    after: int
    before: int

    def __str__(self) -> str:
        return f"hand_seq > {self.after} AND hand_seq < {self.before}"


class Rows(NamedTuple):
    """Of which rows a term asks, and what."""

    rows: str
    so: str


def where(one: Filter, span: Span | None = None, verdicts: str | None = "verdicts") -> str:
    """The condition; `span` says of which hands it will be asked, `verdicts` where those stand.
    With None they may be any: it holds for every hand that a verdict could let through."""
    return f"({_Condition(span, verdicts).of(one, True)})"


def seats(one: Of) -> str:
    """The SELECT of `hand_seq` and `seat` of those of whom it surely holds."""
    his = "true" if one.player is None else f"player = {quoted(one.player)}"
    found = _Condition(None, None).players(one.one, his, True)
    return f"SELECT hand_seq, seat FROM {found.rows} WHERE {found.so}"


def asks_verdicts(one: Filter) -> bool:
    """Whether there must be a table of verdicts: of `hand_seq`, `verdict` and `moves`."""
    return bool({_name(term) for term in terms(one)} & _JUDGED)


class _Condition:
    """What a filter says of the hands of a span."""

    def __init__(self, span: Span | None, verdicts: str | None) -> None:
        self.span = str(span or "true")
        self.verdicts = verdicts

    def of(self, one: Filter, holds: bool, asks: "AsksSurely | None" = None) -> str:
        """That it surely holds, or that it surely fails; `asks` says it of a term."""
        match one:
            case Not(one=inner):
                return self.of(inner, not holds, asks)
            case And(all=parts):
                return self.each(parts, holds, " AND " if holds else " OR ", asks) or str(holds)
            case Or(any=parts):
                return self.each(parts, holds, " OR " if holds else " AND ", asks) or str(not holds)
            case Of(player=player, one=inner):
                return self.somebody(inner, holds, player)
            case Compare() | Flag():
                return (asks or self.term)(one, holds)
        assert_never(one)

    def each(
        self, parts: tuple[Filter, ...], holds: bool, joint: str, asks: "AsksSurely | None"
    ) -> str:
        """All or any of these."""
        return joint.join(f"({self.of(part, holds, asks)})" for part in parts)

    def term(self, term: Term, holds: bool) -> str:
        """A term of the hand; `!=` is the opposite of `=`."""
        if isinstance(term, Compare) and term.op == "!=":
            return self.term(Compare(term.field, "=", term.value), not holds)
        name = _name(term)
        if name in _JUDGED and self.verdicts is None:
            return "true"
        if isinstance(term, Compare) and name in _OF_HANDS:
            condition = _OF_HANDS[name](term)
        elif isinstance(term, Flag) and name in _FLAGS_OF_HANDS:
            condition = _FLAGS_OF_HANDS[name]
        else:
            return self.somebody(term, holds, None)
        condition = condition if holds else f"NOT ({condition})"
        if name in _JUDGED:
            return self.among(Rows(self.verdicts or "", condition))
        if isinstance(term, Compare) and isinstance(term.value, Amount) and term.value.blinds:
            return self.among(Rows(self.with_stakes("hands"), condition))
        return condition

    def somebody(self, one: Filter, holds: bool, player: str | None) -> str:
        """Of a player, or of one by name, it is so; or it is surely so of none."""
        his = "true" if player is None else f"player = {quoted(player)}"
        if holds:
            return self.among(self.players(one, his, True))
        there = "voided = false" if player is None else self.among(Rows("players", his))
        return f"{there} AND NOT {self.among(self.players(one, his, False))}"

    def players(self, one: Filter, his: str, surely: bool) -> Rows:
        """Rows of those of whom it surely holds, or may hold."""
        if isinstance(one, Flag) or (isinstance(one, Compare) and one.op != "!="):
            if isinstance(one, Compare):
                chosen = _OF_ROWS[one.field](one, self.span)
            else:
                of_flag = _FLAGS_OF_ROWS[one.name]
                chosen = of_flag._replace(so=of_flag.so.format(span=self.span))
            so = f"({chosen.so})" if surely else f"({chosen.so}) IS NOT FALSE"
            rows = self.with_stakes(chosen.rows) if "big_blind" in chosen.so else chosen.rows
            return Rows(rows, f"{his} AND {so}")
        condition = self.of(one, surely, partial(self.of_seat, his))
        return Rows("players", f"{his} AND {'' if surely else 'NOT '}({condition})")

    def of_seat(self, his: str, term: Term, holds: bool) -> str:
        """A term about the player of a row of `players`."""
        if isinstance(term, Compare) and term.op == "!=":
            return self.of_seat(his, Compare(term.field, "=", term.value), not holds)
        chosen = self.players(term, his, holds)
        rows = f"SELECT hand_seq, seat FROM {chosen.rows} WHERE {self.span} AND {chosen.so}"
        return f"{'' if holds else 'NOT '}((hand_seq, seat) IN ({rows}))"

    def among(self, rows: Rows) -> str:
        """The hand has such a row."""
        return f"(hand_seq IN (SELECT hand_seq FROM {rows.rows} WHERE {self.span} AND {rows.so}))"

    def with_stakes(self, rows: str) -> str:
        """These rows, each with its hand's big blind; none is known of a voided hand."""
        stakes = f"SELECT DISTINCT hand_seq, big_blind FROM facts WHERE {self.span}"
        return f"{rows} LEFT JOIN ({stakes}) USING (hand_seq)"


def _name(term: Term) -> str:
    return term.field if isinstance(term, Compare) else term.name


Asks = Callable[[Compare], str]
AsksSurely = Callable[[Term, bool], str]
AsksRows = Callable[[Compare, str], Rows]


def _held(column: str) -> Asks:
    """A column against the value of a term."""

    def condition(term: Compare) -> str:
        match term.value:
            case Amount(number=number, blinds=True):
                hundred = f"CAST({column} AS HUGEINT) * 100"
                return f"{hundred} {term.op} CAST(big_blind AS HUGEINT) * {number}"
            case Amount(number=number) | int(number):
                return f"{column} {term.op} {number}"
            case str(text):
                return f"{column} {term.op} {quoted(text)}"
            case Pattern():
                return fits_sql(term.value, column)
            case Moment():
                return _moment(term.op, term.value, f"epoch_ms({column})")
        assert_never(term.value)

    return condition


def _moment(op: str, value: Moment, column: str) -> str:
    """A day or a second is everything in it: after it is after its end."""
    if op == "=":
        return f"{column} >= {value.at} AND {column} < {value.end}"
    edge = value.at if op in ("<", ">=") else value.end
    return f"{column} {op[0]}{'=' if op[0] == '>' else ''} {edge}"


def _played(term: Compare) -> str:
    """A day is the one that the source names, wherever that was; a time is known with a zone."""
    assert isinstance(term.value, Moment)
    if term.value.lasts == "day":
        return f"substr(played, 1, 10) {term.op} {quoted(moment_text(term.value))}"
    zoned = "CASE WHEN regexp_matches(played, '(Z|[+-]..:..)$') THEN played END"
    return _moment(term.op, term.value, f"epoch_ms(CAST({zoned} AS TIMESTAMPTZ))")


def _ended(term: Compare) -> str:
    """The hand itself, or where it stands among those that ended: nowhere, if it is not there."""
    match, number = split_stream(str(term.value))
    it = f"match = {quoted(match)} AND number = {number}"
    return it if term.op == "=" else f"hand_seq {term.op} (SELECT hand_seq FROM hands WHERE {it})"


def _ranged(term: Compare) -> str:
    """Hands of matches from one number to another."""
    rows = ", ".join(
        f"({quoted(match)}, {first}, {2**63 - 1 if last is None else last})"
        for match, first, last in ranges(str(term.value))
    )
    return (
        "hand_seq IN (SELECT h.hand_seq FROM hands AS h"
        f" JOIN (VALUES {rows}) AS r(match, first, last)"
        " ON h.match = r.match AND h.number BETWEEN r.first AND r.last)"
    )


def _unit(term: Compare) -> str:
    """It is null where there is none, and what a record calls a unit may be anything."""
    named, pattern = counted_in(str(term.value))
    so = f"unit IN ({', '.join(map(quoted, named))})"
    return f"({so} OR regexp_full_match(unit, {quoted(pattern)}))" if pattern else so


_OF_HANDS: dict[str, Asks] = {
    "pot": _held("pot"),
    "players": _held(f"({SEATED})"),
    "number": _held("number"),
    "street": lambda term: f"{STREET} {term.op} {STREETS.index(str(term.value))}",
    "board": _held("board"),
    "player": lambda term: PLAYS.format(name=quoted(str(term.value))),
    "match": _held("match"),
    "game": _held("game"),
    "unit": _unit,
    "ruleset": _held("ruleset"),
    "at": _held("last_at"),
    "played": _played,
    "hand": _ended,
    "hands": _ranged,
    "hand_seq": lambda term: (
        f"hand_seq IN ({term.value})"
    ),  # numbers with commas, as they were read
    "verdict": _held("verdict"),
}
_FLAGS_OF_HANDS = {
    "showdown": "showdown",
    "voided": "voided",
    "contested": "verdict = 'contested'",
    "moveless": "moves IS NOT DISTINCT FROM 0",
}
_JUDGED = frozenset({"verdict", "contested", "moveless"})


def _bid_with(term: Compare, span: str) -> Rows:
    places = " ".join(f"WHEN '{name.replace('-', ' ')}' THEN {at}" for at, name in enumerate(MADE))
    so = f"CASE made {places} END {term.op} {MADE.index(str(term.value))}"
    meant = "action = 'bid' AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')"
    return Rows("decisions", f"{meant} AND {so}")


def _position(term: Compare, span: str) -> Rows:
    facts = f"SELECT hand_seq, seat FROM facts WHERE {span}"
    condition = f"{facts} AND position = {quoted(str(term.value))}"
    so, known = (f"(hand_seq, seat) IN ({rows})" for rows in (condition, facts))
    return Rows("players", f"CASE WHEN {so} THEN true WHEN {known} THEN false END")


def _tag(term: Compare, span: str) -> Rows:
    tag, named, value = str(term.value).partition(":")
    so = f"tag = {quoted(tag)}" + (f" AND value = {quoted(value)}" if named else "")
    return Rows("players", f"(match, player) IN (SELECT (match, player) FROM tags WHERE {so})")


def _of(rows: str, column: str, also: str = "") -> AsksRows:
    """A column of some rows against the value of a term."""
    condition = _held(column)
    return lambda term, span: Rows(rows, also + condition(term))


def _counted(end: str) -> AsksRows:
    """Whether a count of pages, its k or its n, counts the hand of a player."""
    return lambda term, span: Rows("players", counted(str(term.value), end, span))


_OF_ROWS: dict[str, AsksRows] = {
    "net": _of("players", "net"),
    "collected": _of("players", "collected"),
    "hole": _of("players", "hole"),
    "did": _counted("k"),
    "could": _counted("n"),
    "position": _position,
    "tag": _tag,
    "bid": _of("bids", "amount"),
    "bid-with": _bid_with,
    "price": _of("bids", "price", also="won AND "),
}
_SEVERAL = "SELECT hand_seq FROM bids WHERE {span} AND won GROUP BY hand_seq HAVING count(*) > 1"
_SHOWN_DOWN = "SELECT hand_seq FROM hands WHERE {span} AND showdown"
_SHORT = "SELECT hand_seq FROM hands WHERE {span} AND board = '' AND NOT showdown"
_ENTERED = "SELECT hand_seq FROM facts WHERE {span} AND preflop_calls + preflop_raises > 0"
_FLAGS_OF_ROWS = {  # of a player; where a table of their hands is asked, in a span
    "all-in": Rows("players", "all_in"),
    "showdown": Rows("players", f"NOT folded AND hand_seq IN ({_SHOWN_DOWN})"),
    "walk": Rows(  # whom nobody called or raised, and who has not folded
        "players", f"NOT folded AND hand_seq IN ({_SHORT}) AND hand_seq NOT IN ({_ENTERED})"
    ),
    "auction-won": Rows("bids", "won"),
    "auction-lost": Rows("bids", "NOT won AND price IS NOT NULL"),
    "auction-tied": Rows("bids", f"won AND hand_seq IN ({_SEVERAL})"),
    "swapped": Rows("swaps", "changed"),
}

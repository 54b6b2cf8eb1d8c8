"""Filters as SQL: one condition over the view `hands`.

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
    HAND_CATEGORIES,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    Or,
    PlayerTerms,
    Term,
    is_counted_sql,
    terms,
)
from api.questions.filters_values import (
    Amount,
    Moment,
    Pattern,
    fits_sql,
    moment_text,
    parse_ranges,
)
from engine.games import GAMES
from engine.parameters import first
from engine.policies import counted_in
from engine.steps import TossHole
from store.log.streams import split_stream

_TOSSING = ", ".join(f"'{name}'" for name, game in GAMES.items() if first(game, TossHole))
_LENGTH = f"""(length(board)
    - CASE WHEN length(board) > 8 AND split_part(game, '.', 1) IN ({_TOSSING}) THEN 3 ELSE 0 END)"""
# `7c 6c 2d 8h 4c` is a river; where a card is tossed, `7c 6c 2d 8h` is a flop, for two came with it
STREET_SQL = f"""CASE WHEN {_LENGTH} >= 14 THEN 3 WHEN {_LENGTH} >= 11 THEN 2
    WHEN board <> '' THEN 1 WHEN board = '' THEN 0 END"""
SEATS_SQL = "length(nets) - length(replace(nets, ' ', '')) + 1"
PLAYS_SQL = "list_contains(from_json(players, '[\"VARCHAR\"]'), {name})"


class Span(NamedTuple):
    """Hands after one and before another, by `hand_seq`: the only ones that a query reads."""

    after: int
    before: int

    def __str__(self) -> str:
        return f"hand_seq > {self.after} AND hand_seq < {self.before}"


class RowCondition(NamedTuple):
    """A table or SELECT of rows, and a condition on them."""

    rows: str
    so: str


def filter_sql(one: Filter, span: Span | None = None, verdicts: str | None = "verdicts") -> str:
    """The condition of a filter; `span` is the hands that are read, `verdicts` the table of
    verdicts. With None verdicts may be any: it holds for every hand that a verdict could let
    through."""
    return f"({_FilterSql(span, verdicts).sql(one, True)})"


def seats_sql(one: PlayerTerms) -> str:
    """The SELECT of `hand_seq` and `seat` of those of whom a filter surely holds."""
    his = "true" if one.player is None else f"player = {quoted(one.player)}"
    found = _FilterSql(None, None).player_rows(one.one, his, True)
    return f"SELECT hand_seq, seat FROM {found.rows} WHERE {found.so}"


def needs_verdicts(one: Filter) -> bool:
    """Whether a filter needs a table of verdicts: of `hand_seq`, `verdict` and `moves`."""
    return bool({_term_name(term) for term in terms(one)} & _VERDICT_TERMS)


class _FilterSql:
    """Writes filters of the hands of a span as SQL."""

    def __init__(self, span: Span | None, verdicts: str | None) -> None:
        self.span = str(span or "true")
        self.verdicts = verdicts

    def sql(self, one: Filter, holds: bool, asks: "SureTermSql | None" = None) -> str:
        """SQL for that a filter surely holds, or surely fails; `asks` writes a term."""
        match one:
            case Not(one=inner):
                return self.sql(inner, not holds, asks)
            case And(all=parts):
                return self.joined_sql(parts, holds, " AND " if holds else " OR ", asks) or str(
                    holds
                )
            case Or(any=parts):
                return self.joined_sql(parts, holds, " OR " if holds else " AND ", asks) or str(
                    not holds
                )
            case PlayerTerms(player=player, one=inner):
                return self.somebody_sql(inner, holds, player)
            case Compare() | Flag():
                return (asks or self.term_sql)(one, holds)
        assert_never(one)

    def joined_sql(
        self, parts: tuple[Filter, ...], holds: bool, joint: str, asks: "SureTermSql | None"
    ) -> str:
        """SQL for that all or any of these filters hold."""
        return joint.join(f"({self.sql(part, holds, asks)})" for part in parts)

    def term_sql(self, term: Term, holds: bool) -> str:
        """SQL of a term about the hand; `!=` is the opposite of `=`."""
        if isinstance(term, Compare) and term.op == "!=":
            return self.term_sql(Compare(term.field, "=", term.value), not holds)
        name = _term_name(term)
        if name in _VERDICT_TERMS and self.verdicts is None:
            return "true"
        if isinstance(term, Compare) and name in _HAND_FIELDS:
            condition = _HAND_FIELDS[name](term)
        elif isinstance(term, Flag) and name in _HAND_FLAGS:
            condition = _HAND_FLAGS[name]
        else:
            return self.somebody_sql(term, holds, None)
        condition = condition if holds else f"NOT ({condition})"
        if name in _VERDICT_TERMS:
            return self.has_row_sql(RowCondition(self.verdicts or "", condition))
        if isinstance(term, Compare) and isinstance(term.value, Amount) and term.value.blinds:
            return self.has_row_sql(RowCondition(self.with_stakes("hands"), condition))
        return condition

    def somebody_sql(self, one: Filter, holds: bool, player: str | None) -> str:
        """SQL for that a filter holds of some player, or of the one of this name; or surely of
        none."""
        his = "true" if player is None else f"player = {quoted(player)}"
        if holds:
            return self.has_row_sql(self.player_rows(one, his, True))
        there = (
            "voided = false" if player is None else self.has_row_sql(RowCondition("players", his))
        )
        return f"{there} AND NOT {self.has_row_sql(self.player_rows(one, his, False))}"

    def player_rows(self, one: Filter, his: str, surely: bool) -> RowCondition:
        """The rows of the players of whom a filter surely holds, or may hold."""
        if isinstance(one, Flag) or (isinstance(one, Compare) and one.op != "!="):
            if isinstance(one, Compare):
                chosen = _ROW_FIELDS[one.field](one, self.span)
            else:
                of_flag = _ROW_FLAGS[one.name]
                chosen = of_flag._replace(so=of_flag.so.format(span=self.span))
            so = f"({chosen.so})" if surely else f"({chosen.so}) IS NOT FALSE"
            rows = self.with_stakes(chosen.rows) if "big_blind" in chosen.so else chosen.rows
            return RowCondition(rows, f"{his} AND {so}")
        condition = self.sql(one, surely, partial(self.seat_term_sql, his))
        return RowCondition("players", f"{his} AND {'' if surely else 'NOT '}({condition})")

    def seat_term_sql(self, his: str, term: Term, holds: bool) -> str:
        """SQL of a term about the player of a row of `players`."""
        if isinstance(term, Compare) and term.op == "!=":
            return self.seat_term_sql(his, Compare(term.field, "=", term.value), not holds)
        chosen = self.player_rows(term, his, holds)
        rows = f"SELECT hand_seq, seat FROM {chosen.rows} WHERE {self.span} AND {chosen.so}"
        return f"{'' if holds else 'NOT '}((hand_seq, seat) IN ({rows}))"

    def has_row_sql(self, rows: RowCondition) -> str:
        """SQL for that the hand has such a row."""
        return f"(hand_seq IN (SELECT hand_seq FROM {rows.rows} WHERE {self.span} AND {rows.so}))"

    def with_stakes(self, rows: str) -> str:
        """Rows with their hand's big blind; none is known of a voided hand."""
        stakes = f"SELECT DISTINCT hand_seq, big_blind FROM facts WHERE {self.span}"
        return f"{rows} LEFT JOIN ({stakes}) USING (hand_seq)"


def _term_name(term: Term) -> str:
    return term.field if isinstance(term, Compare) else term.name


TermSql = Callable[[Compare], str]
SureTermSql = Callable[[Term, bool], str]
RowsOfTerm = Callable[[Compare, str], RowCondition]


def _comparison(column: str) -> TermSql:
    """Compare a column with the value of a term."""

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
                return _moment_sql(term.op, term.value, f"epoch_ms({column})")
        assert_never(term.value)

    return condition


def _moment_sql(op: str, value: Moment, column: str) -> str:
    """Compare a column with a moment; a day or a second is everything in it: after it is after
    its end."""
    if op == "=":
        return f"{column} >= {value.at} AND {column} < {value.end}"
    edge = value.at if op in ("<", ">=") else value.end
    return f"{column} {op[0]}{'=' if op[0] == '>' else ''} {edge}"


def _played_sql(term: Compare) -> str:
    """Compare the time of play: a day is the one that the source names, wherever that was; a
    time is known with a zone."""
    assert isinstance(term.value, Moment)
    if term.value.lasts == "day":
        return f"substr(played, 1, 10) {term.op} {quoted(moment_text(term.value))}"
    zoned = "CASE WHEN regexp_matches(played, '(Z|[+-]..:..)$') THEN played END"
    return _moment_sql(term.op, term.value, f"epoch_ms(CAST({zoned} AS TIMESTAMPTZ))")


def _ended_sql(term: Compare) -> str:
    """A hand, or hands that ended before or after it: none, if it is not in the ledger."""
    match, number = split_stream(str(term.value))
    it = f"match = {quoted(match)} AND number = {number}"
    return it if term.op == "=" else f"hand_seq {term.op} (SELECT hand_seq FROM hands WHERE {it})"


def _ranges_sql(term: Compare) -> str:
    """Hands of matches from one number to another."""
    rows = ", ".join(
        f"({quoted(match)}, {first}, {2**63 - 1 if last is None else last})"
        for match, first, last in parse_ranges(str(term.value))
    )
    return (
        "hand_seq IN (SELECT h.hand_seq FROM hands AS h"
        f" JOIN (VALUES {rows}) AS r(match, first, last)"
        " ON h.match = r.match AND h.number BETWEEN r.first AND r.last)"
    )


def _unit_sql(term: Compare) -> str:
    """Compare the unit: null where there is none, and what a record calls a unit may be
    anything."""
    named, pattern = counted_in(str(term.value))
    so = f"unit IN ({', '.join(map(quoted, named))})"
    return f"({so} OR regexp_full_match(unit, {quoted(pattern)}))" if pattern else so


_HAND_FIELDS: dict[str, TermSql] = {
    "pot": _comparison("pot"),
    "players": _comparison(f"({SEATS_SQL})"),
    "number": _comparison("number"),
    "street": lambda term: f"{STREET_SQL} {term.op} {STREETS.index(str(term.value))}",
    "board": _comparison("board"),
    "player": lambda term: PLAYS_SQL.format(name=quoted(str(term.value))),
    "match": _comparison("match"),
    "game": _comparison("game"),
    "unit": _unit_sql,
    "ruleset": _comparison("ruleset"),
    "at": _comparison("last_at"),
    "played": _played_sql,
    "hand": _ended_sql,
    "hands": _ranges_sql,
    "hand_seq": lambda term: (
        f"hand_seq IN ({term.value})"
    ),  # numbers with commas, as they were read
    "verdict": _comparison("verdict"),
}
_HAND_FLAGS = {
    "showdown": "showdown",
    "voided": "voided",
    "contested": "verdict = 'contested'",
    "moveless": "moves IS NOT DISTINCT FROM 0",
}
_VERDICT_TERMS = frozenset({"verdict", "contested", "moveless"})


def _bid_with_rows(term: Compare, span: str) -> RowCondition:
    places = " ".join(
        f"WHEN '{name.replace('-', ' ')}' THEN {at}" for at, name in enumerate(HAND_CATEGORIES)
    )
    so = f"CASE made {places} END {term.op} {HAND_CATEGORIES.index(str(term.value))}"
    meant = "action = 'bid' AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')"
    return RowCondition("decisions", f"{meant} AND {so}")


def _position_rows(term: Compare, span: str) -> RowCondition:
    facts = f"SELECT hand_seq, seat FROM facts WHERE {span}"
    condition = f"{facts} AND position = {quoted(str(term.value))}"
    so, known = (f"(hand_seq, seat) IN ({rows})" for rows in (condition, facts))
    return RowCondition("players", f"CASE WHEN {so} THEN true WHEN {known} THEN false END")


def _tag_rows(term: Compare, span: str) -> RowCondition:
    tag, named, value = str(term.value).partition(":")
    so = f"tag = {quoted(tag)}" + (f" AND value = {quoted(value)}" if named else "")
    return RowCondition(
        "players", f"(match, player) IN (SELECT (match, player) FROM tags WHERE {so})"
    )


def _rows_comparison(rows: str, column: str, also: str = "") -> RowsOfTerm:
    """Compare a column of some rows with the value of a term."""
    condition = _comparison(column)
    return lambda term, span: RowCondition(rows, also + condition(term))


def _count_rows(end: str) -> RowsOfTerm:
    """Rows of the players whose hand is in a count's k or n."""
    return lambda term, span: RowCondition("players", is_counted_sql(str(term.value), end, span))


_ROW_FIELDS: dict[str, RowsOfTerm] = {
    "net": _rows_comparison("players", "net"),
    "collected": _rows_comparison("players", "collected"),
    "hole": _rows_comparison("players", "hole"),
    "did": _count_rows("k"),
    "could": _count_rows("n"),
    "position": _position_rows,
    "tag": _tag_rows,
    "bid": _rows_comparison("bids", "amount"),
    "bid-with": _bid_with_rows,
    "price": _rows_comparison("bids", "price", also="won AND "),
}
_TIED_SQL = "SELECT hand_seq FROM bids WHERE {span} AND won GROUP BY hand_seq HAVING count(*) > 1"
_SHOWDOWN_SQL = "SELECT hand_seq FROM hands WHERE {span} AND showdown"
_ENDED_PREFLOP_SQL = "SELECT hand_seq FROM hands WHERE {span} AND board = '' AND NOT showdown"
_ENTERED_SQL = "SELECT hand_seq FROM facts WHERE {span} AND preflop_calls + preflop_raises > 0"
_ROW_FLAGS = {  # of a player; where a table of their hands is asked, in a span
    "all-in": RowCondition("players", "all_in"),
    "showdown": RowCondition("players", f"NOT folded AND hand_seq IN ({_SHOWDOWN_SQL})"),
    "walk": RowCondition(  # whom nobody called or raised, and who has not folded
        "players",
        f"NOT folded AND hand_seq IN ({_ENDED_PREFLOP_SQL}) AND hand_seq NOT IN ({_ENTERED_SQL})",
    ),
    "auction-won": RowCondition("bids", "won"),
    "auction-lost": RowCondition("bids", "NOT won AND price IS NOT NULL"),
    "auction-tied": RowCondition("bids", f"won AND hand_seq IN ({_TIED_SQL})"),
    "swapped": RowCondition("swaps", "changed"),
}

"""What SQL finds is what a slow reading of each hand's events finds, through every pair of eyes."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analytics.replay.flags import STREETS
from api.questions.filters_parser import parse_filter
from api.questions.filters_sql import Span, filter_sql
from api.questions.filters_tree import (
    FIELDS,
    FLAGS,
    HAND_CATEGORIES,
    Compare,
    Filter,
    Flag,
    Kind,
    Not,
    PlayerTerms,
    filter_text,
)
from api.questions.filters_values import Amount, parse_amount, parse_moment, parse_pattern
from api.questions.verdicts import SCHEMA as VERDICT_COLUMNS
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.game import fingerprint
from engine.games import RULESETS
from engine.verdict import VERDICTS
from events import types as t
from events.cards import UNKNOWN
from events.types import Events
from store.log.streams import split_stream
from tests.asking.drawn_filters import COUNTED, PATTERNS, every_term, filters
from tests.asking.naive_filter import Taken, answer, taken
from tests.asking.seen_ledgers import TAGS, Kept, ledger_of, matches
from tests.hands import NAMES
from tests.profiles import examples, sized

GAMES = (
    *("auction-2024", "swap-2022", "urcs-1998", "site-nl"),
    *sized((), ("auction-2024-a0", "probability")),
)
MARK = fingerprint(RULESETS["auction-2024"])
TOGETHER = 8  # filters in one question
VIEWERS = ("auditor", "public", f"seat:{NAMES[0]}")


def _half_recorded(record: Events) -> Events:
    """As in a source that knows no hole cards but those that were shown."""
    return tuple(
        replace(one, cards=(UNKNOWN,) * len(one.cards)) if isinstance(one, t.HoleDealt) else one
        for one in record
    )


def _some_half_recorded(one: Kept) -> Kept:
    *rest, last, void = one.hands
    return one._replace(hands=(*rest, _half_recorded(last), void))


# When hands were played, as a source says it: with a zone, as a day, without a zone, not at all.
SAID = ("2023-11-14T23:14:00+01:00", "2023-11-14", "1999-01-01T10:00:00", "")


def _some_with_times(one: Kept) -> Kept:
    if one.kind != "bare":
        return one
    times = (*SAID, *[""] * len(one.hands))
    hands = (_played_at(hand, when) for hand, when in zip(one.hands, times, strict=False))
    return one._replace(hands=tuple(hands))


def _played_at(record: Events, when: str) -> Events:
    start, *rest = record
    assert isinstance(start, t.HandStarted)
    return (replace(start, played=when), *rest)


PLAYED = tuple(
    _some_with_times(_some_half_recorded(one)) for one in matches(RULESETS[game] for game in GAMES)
)


class Asked(NamedTuple):
    """A ledger through somebody's eyes, each of its hands taken apart, and verdicts of chance."""

    viewed: LedgerView
    hands: dict[int, Taken]
    verdicts: str

    def by_sql(self, one: Filter, span: Span | None = None) -> set[int]:
        condition = filter_sql(one, span, self.verdicts)
        rows = self.viewed.rows(f"SELECT hand_seq FROM hands WHERE {condition}")
        return {row["hand_seq"] for row in rows}

    def each_by_sql(self, some: Sequence[Filter]) -> Iterator[tuple[Filter, set[int]]]:
        """The same of each; some at once, which are asked of hands that are read once."""
        for at in range(0, len(some), TOGETHER):
            asked = some[at : at + TOGETHER]
            passed = [
                f"({filter_sql(one, None, self.verdicts)}) AS c{number}"
                for number, one in enumerate(asked)
            ]
            rows = self.viewed.rows(f"SELECT hand_seq, {', '.join(passed)} FROM hands")
            for number, one in enumerate(asked):
                yield one, {row["hand_seq"] for row in rows if row[f"c{number}"]}

    def by_hand(self, one: Filter) -> set[int]:
        return {seq for seq, hand in self.hands.items() if answer(one, hand)}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asked]:
    snapshot = ledger_of(tmp_path_factory.mktemp("law") / "ledger", PLAYED)
    found = {}
    for view in VIEWERS:
        viewed = LedgerView(snapshot, Viewer(view))
        chance = random.Random(7)
        hands = {}
        leaves = [leaf for leaf in snapshot.leaves() if split_stream(leaf.stream)[1] is not None]
        places = {leaf.stream: leaf.hand_seq for leaf in leaves}
        for leaf in leaves:
            verdict = chance.choice((None, *VERDICTS))
            moves = chance.choice((None, 0)) if verdict == "differ" else None
            hand = taken(viewed.redactor.redact(leaf), verdict, places)
            tags = () if hand.match.startswith("bare-") else TAGS
            hands[leaf.hand_seq] = hand._replace(moves=moves, tags=tags)
        known = [(seq, hand.verdict, hand.moves) for seq, hand in hands.items() if hand.verdict]
        columns = dict(zip(VERDICT_COLUMNS.names, zip(*known, strict=True), strict=True))
        rows = pa.table(columns, schema=VERDICT_COLUMNS)
        found[view] = Asked(viewed, hands, viewed.query.add_table(rows))
    return found


@cache
def values() -> dict[Kind, tuple[Any, ...]]:
    """Values that some hands have and others have not."""
    amounts = ("0", "1", "2", "7", "20", "-1", "-200", "400", "0bb", "0.5bb", "1bb", "-12.25bb")
    names = (NAMES[0], NAMES[1], f"x-{NAMES[0]}", "bird-3", "nobody", "it's")
    ended = ("closed-auction-2024/2", "bare-urcs-1998/1", "nowhere/1")
    own = ("closed-auction-2024", "bare-urcs-1998", "auction-2024", "site-nl")
    return {
        "amount": tuple(filter(None, map(parse_amount, amounts))),
        "count": (0, 2, 3, 6),
        "text": (*names, *own, "chip"),
        "street": STREETS,
        "verdict": VERDICTS,
        "cards": tuple(filter(None, map(parse_pattern, PATTERNS))),
        "made": HAND_CATEGORIES[:4],
        "tag": ("bot:bear", "version:3", "version:4", "version"),
        "statistic": ("vpip", "check_raise", "wsd", "cbet_flop", "af"),
        "chance": ("vpip", "check_raise", "wsd", "cbet_flop", "af"),
        "position": ("BTN", "SB", "BB"),
        "moment": tuple(
            filter(None, map(parse_moment, ("2023-11-14", "2023-11-14T22:14:00Z", "1999-01-01")))
        ),
        "hand": ended,
        "ranges": (
            "closed-auction-2024/2,nowhere/1-",
            "closed-auction-2024/2-3,bare-urcs-1998/1-1",
            "closed-auction-2024/2-",
        ),
        "numbers": ("1", "7,7," + ",".join(map(str, range(0, 300, 3))), "999999"),
    }


NAMED = (NAMES[0], NAMES[2], "nobody")


@pytest.mark.slow  # any filter that is drawn is held before
@pytest.mark.parametrize("view", VIEWERS)
def test_every_field_and_flag_with_every_operator(view: str, asked: dict[str, Asked]) -> None:
    """Also their opposites, of the hand and of one player."""
    one = asked[view]
    few = {kind: some[:: max(1, len(some) // 2)] for kind, some in values().items()}
    few["text"] = (NAMES[0], "chip", "closed-auction-2024", "auction-2024", MARK)
    wrong: list[str] = []
    passed: set[str] = set()
    terms = [it for each in every_term(few, NAMED[:1]) for it in (each, Not(each))]
    for term, found in one.each_by_sql(terms):
        if found != one.by_hand(term):
            wrong.append(filter_text(term))
        bare = term.one if isinstance(term, Not) else term
        if found and "!=" not in filter_text(bare):
            passed.add(("!" if isinstance(term, Not) else "") + name_of(bare))
    assert [] == wrong
    names = (*FIELDS, *FLAGS)
    assert {*names, *(f"!{name}" for name in names)} == passed


def name_of(term: Filter) -> str:
    """The field or the flag that a term asks for."""
    match term:
        case PlayerTerms(one=inner):
            return name_of(inner)
        case Compare(field=field):
            return field
        case Flag(name=name):
            return name
    raise AssertionError(term)


DRAWN = filters(
    {kind: st.sampled_from(some) for kind, some in values().items()}, st.sampled_from(NAMED)
)


@pytest.mark.parametrize("view", VIEWERS)
@examples(8, 12)
@given(one=DRAWN)
def test_any_filter(view: str, asked: dict[str, Asked], one: Filter) -> None:
    assert asked[view].by_hand(one) == asked[view].by_sql(one)


def test_terms_about_one_player_are_held_against_one_player(asked: dict[str, Asked]) -> None:
    """Two flags or amounts by brute force: two terms of two players are not two of one."""
    one = asked["auditor"]
    tables = {seq: hand.hand.start.players for seq, hand in one.hands.items()}
    twice = {seq for seq, names in tables.items() if names.count(NAMED[0]) > 1}
    names = [name for name, flag in FLAGS.items() if flag.of_player]
    names += [f"{name}>0" for name in ("net", "collected", "bid", "price")]
    telling = [("auction-won", "net>0"), ("all-in", "collected>0")]
    pairs = (*telling, *list(combinations(names, 2))[:: sized(12, 8, 1)])
    asked_of: dict[str, Filter] = {}
    for first, second in pairs:
        asked_of[f"{first} & {second}"] = parse_filter(f"{first} & {second}")
        for parts in _both_ways(first, second):
            text = " & ".join(parts)
            asked_of[f"player({text})"] = parse_filter(f"player({text})")
            asked_of[f"named {text}"] = parse_filter(f"{NAMED[0]}:({text})")
            apart = " & ".join(f"{NAMED[0]}:({part})" for part in parts)
            asked_of[f"apart {text}"] = parse_filter(apart)
    answers = (hands for _, hands in one.each_by_sql([*asked_of.values()]))
    found = dict(zip(asked_of, answers, strict=True))
    fewer = set()
    for first, second in pairs:
        for parts in _both_ways(first, second):
            text = " & ".join(parts)
            bound = f"player({text})"
            assert one.by_hand(asked_of[bound]) == found[bound], text
            by_name, by_each = found[f"named {text}"], found[f"apart {text}"]
            assert by_name <= by_each, text
            assert by_each - by_name <= twice, text
        if found[f"player({first} & {second})"] < found[f"{first} & {second}"]:
            fewer.add((first, second))
    assert {*telling} <= fewer


def _both_ways(first: str, second: str) -> tuple[tuple[str, str], ...]:
    return (first, second), (first, f"!{second}"), (f"!{first}", second)


def test_hands_of_every_statistic(asked: dict[str, Asked]) -> None:
    """`did` and `could` find what its k and n count, for each statistic and its opposite."""
    one = asked["auditor"]
    wrong = []
    some = set()
    must = {"did=vpip", "could=vpip", "did=check_raise", "did=afq", "did=wwsf"}
    others = [f"{field}={name}" for name in COUNTED for field in ("did", "could")]
    counts = [*must, *others[:: sized(5, 4, 1)]]
    terms = {
        f"{sign}{NAMED[0]}:{count}": parse_filter(f"{sign}{NAMED[0]}:{count}")
        for count in counts
        for sign in ("", "!")
    }
    found = one.each_by_sql([*terms.values()])
    for text, (term, hands) in zip(terms, found, strict=True):
        if hands != one.by_hand(term):
            wrong.append(text)
        if hands and not text.startswith("!"):
            some.add(text.partition(":")[2])
    assert [] == wrong
    assert must <= some


def test_auction_winners_who_paid_and_lost_the_showdown(asked: dict[str, Asked]) -> None:
    """The question that needs it, answered event by event."""
    found = set()
    for seq, hand in asked["auditor"].hands.items():
        won = {bid.seat for bid in hand.bids if bid.won and bid.price >= 2}
        folded = {one.seat for one in hand.seen if isinstance(one, t.Folded)}
        paid = {seat for one in hand.seen if isinstance(one, t.PotSplit) for seat in one.seats}
        shown = any(isinstance(one, t.Shown) for one in hand.seen)
        if shown and not hand.hand.voided and won - folded - paid:
            found.add(seq)
    terms = "auction-won & price>=2 & showdown & collected=0"
    assert asked["auditor"].by_sql(parse_filter(f"player({terms})")) == found
    assert found < asked["auditor"].by_sql(parse_filter(terms))


@examples(5)
@given(one=DRAWN, ends=st.tuples(st.integers(-1, 250), st.integers(0, 260)))
def test_of_a_span_it_finds_what_it_finds_of_all(
    asked: dict[str, Asked], one: Filter, ends: tuple[int, int]
) -> None:
    span = Span(*ends)
    inside = {seq for seq in asked["public"].by_sql(one) if span.after < seq < span.before}
    condition = f"{span} AND {filter_sql(one, span, asked['public'].verdicts)}"
    rows = asked["public"].viewed.rows(f"SELECT hand_seq FROM hands WHERE {condition}")
    assert inside == {row["hand_seq"] for row in rows}


@examples(5)
@given(one=DRAWN)
def test_no_hand_passes_a_filter_and_its_opposite(asked: dict[str, Asked], one: Filter) -> None:
    seen = asked["public"]
    assert not seen.by_sql(one) & seen.by_sql(Not(one))
    assert seen.by_sql(one) == seen.by_sql(Not(Not(one)))


def test_a_field_that_is_not_equal_is_the_opposite_of_one_that_is(asked: dict[str, Asked]) -> None:
    for text in ("net=0", "hole=AK", "street=flop", "player=lynx", "pot=2bb", "lynx:bid=7"):
        other = text.replace("=", "!=")
        for one in asked.values():
            assert one.by_sql(parse_filter(f"!{text}")) == one.by_sql(parse_filter(other))


def test_a_hidden_card_is_neither_this_nor_not_this(asked: dict[str, Asked]) -> None:
    """Whoever may see it finds it under one of the two; the public finds it under neither."""
    auditor, public = asked["auditor"], asked["public"]
    every = {seq for seq, hand in public.hands.items() if not hand.hand.voided}
    for cards in ("AA", "AKs", "As", "7h??"):
        so, not_so = (parse_filter(f"{sign}hole={cards}") for sign in ("", "!"))
        told = public.by_sql(so) | public.by_sql(not_so)
        assert told < every
        for seq in every - told:
            assert {"hidden", UNKNOWN} & {
                card for row in public.hands[seq].hand.hole for card in row
            }
        assert told < auditor.by_sql(so) | auditor.by_sql(not_so)


@pytest.mark.parametrize("text", ["'", "'; DROP VIEW hands; --", "') OR true --", "\\'", "\0", "%"])
def test_no_name_is_read_as_sql(asked: dict[str, Asked], text: str) -> None:
    for field in ("player", "match", "game", "ruleset"):
        assert set() == asked["auditor"].by_sql(Compare(field, "=", text))
        assert set(asked["auditor"].hands) == asked["auditor"].by_sql(Compare(field, "!=", text))


def test_large_amounts_do_not_overflow(asked: dict[str, Asked]) -> None:
    large = Amount(2**53 - 1, blinds=True)
    assert set() == asked["auditor"].by_sql(Compare("net", ">", large))
    every = {seq for seq, hand in asked["auditor"].hands.items() if not hand.hand.voided}
    assert every == asked["auditor"].by_sql(Compare("pot", "<", large))

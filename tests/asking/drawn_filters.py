"""Random filters: any tree that can be spelled, and trees of values that hands really have."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from hypothesis import strategies as st

from analytics.replay.flags import STREETS
from analytics.replay.rules import POSITIONS
from analytics.statistics.catalogue import STATISTICS
from api.questions.filters_tree import (
    FIELDS,
    FLAGS,
    HAND_CATEGORIES,
    And,
    Compare,
    Filter,
    Flag,
    Kind,
    Not,
    Or,
    PlayerTerms,
    Term,
    join_filters,
)
from api.questions.filters_values import (
    AMOUNT_MAX,
    Amount,
    Moment,
    Pattern,
    parse_moment,
    parse_pattern,
)
from engine.verdict import VERDICTS
from events.cards import RANKS, SUITS

LAST_DAY = parse_moment("9999-12-31")
assert LAST_DAY is not None
MILLISECONDS = st.integers(-62_135_596_800_000, LAST_DAY.at)  # of the years 1 to 9999
PATTERNS = ("AA", "AKs", "AKo", "T9", "As", "7h??", "?h?h?h", "A??s", "K?", "2?3?4?", "????????")


def _is_name(text: str) -> bool:
    return "/" not in text


def moments() -> st.SearchStrategy[Moment]:
    """Days, seconds and milliseconds of all years with four digits."""
    days = MILLISECONDS.map(lambda at: Moment(at // 86_400_000 * 86_400_000, "day"))
    seconds = MILLISECONDS.map(lambda at: Moment(at // 1_000 * 1_000, "second"))
    return days | seconds | MILLISECONDS.map(lambda at: Moment(at, "millisecond"))


def patterns() -> st.SearchStrategy[Pattern]:
    """Cards with and without question marks, no card twice, and classes of two ranks."""
    card = st.tuples(st.sampled_from(f"{RANKS}?"), st.sampled_from(f"{SUITS}?")).map("".join)
    rows = st.lists(card, min_size=1, max_size=5).map("".join)
    ranks = st.sampled_from(RANKS)
    classes = st.tuples(ranks, ranks, st.sampled_from(("", "s", "o"))).map("".join)
    return (rows | classes).map(parse_pattern).filter(bool)  # type: ignore[return-value]


COUNTED = tuple(it.name for it in STATISTICS.values() if it.kind in ("share", "ratio"))
ANYTHING: dict[Kind, st.SearchStrategy[Any]] = {
    "amount": st.builds(Amount, st.integers(-AMOUNT_MAX, AMOUNT_MAX), st.booleans()),
    "count": st.integers(0, 999),
    "text": st.text(),
    "street": st.sampled_from(STREETS),
    "verdict": st.sampled_from(VERDICTS),
    "cards": patterns(),
    "made": st.sampled_from(HAND_CATEGORIES),
    "statistic": st.sampled_from(COUNTED),
    "chance": st.sampled_from(COUNTED),
    "position": st.sampled_from(POSITIONS),
    "moment": moments(),
    "tag": st.one_of(
        st.builds("{}:{}".format, st.sampled_from(("bot", "team")), st.text(min_size=1)),
        st.sampled_from(("bot", "team")),
    ),
    "hand": st.builds("{}/{}".format, st.text(min_size=1).filter(_is_name), st.integers(0, 10**9)),
}
ANYTHING["numbers"] = st.lists(st.integers(0, 10**18 - 1), min_size=1, max_size=9).map(
    lambda some: ",".join(map(str, some))
)
ANYTHING["ranges"] = st.lists(
    st.builds(
        "{}/{}{}".format,
        st.text(min_size=1).filter(_is_name),
        st.integers(0, 10**9),
        st.sampled_from(("", "-")) | st.integers(0, 10**9).map("-{}".format),
    ),
    min_size=1,
    max_size=4,
).map(",".join)
assert set(ANYTHING) == set(get_args(Kind))


def terms(values: dict[Kind, st.SearchStrategy[Any]], of_player: bool) -> st.SearchStrategy[Term]:
    """Every field with every operator that it has, and every flag; or those about players."""
    found: list[st.SearchStrategy[Term]] = [
        st.builds(Compare, st.just(name), st.sampled_from(field.ops), values[field.kind])
        for name, field in FIELDS.items()
        if field.of_player or not of_player
    ]
    flags = [name for name, flag in FLAGS.items() if flag.of_player or not of_player]
    found.append(st.sampled_from(flags).map(Flag))
    return st.one_of(found)


def filters(
    values: dict[Kind, st.SearchStrategy[Any]], names: st.SearchStrategy[str]
) -> st.SearchStrategy[Filter]:
    """Trees as `parsed` makes them: what is joined alike is joined once."""

    def branch(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        parts = st.lists(inner, min_size=2, max_size=3)
        return (
            inner.map(Not)
            | parts.map(lambda some: join_filters(And, some))
            | parts.map(lambda some: join_filters(Or, some))
        )

    whole = st.recursive(terms(values, True), branch, max_leaves=4)
    about = st.builds(PlayerTerms, st.none() | names, whole)
    return st.recursive(terms(values, False) | about, branch, max_leaves=6)


def every_term(values: Mapping[Kind, Iterable[Any]], names: Iterable[str]) -> list[Filter]:
    """Each field, operator and flag at least once, of the hand, of somebody and of each name."""
    bare: list[Term] = [
        Compare(name, op, value)
        for name, field in FIELDS.items()
        for op in field.ops
        for value in values[field.kind]
    ]
    bare += [Flag(name) for name in FLAGS]
    about = [
        PlayerTerms(name, term)
        for term in bare
        for name in (None, *names)
        if (FIELDS[term.field] if isinstance(term, Compare) else FLAGS[term.name]).of_player
    ]
    return [*bare, *about]

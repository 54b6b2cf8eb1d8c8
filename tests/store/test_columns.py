"""Events become columns and come back as they were, whatever they are."""

from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games import GAMES
from events import types as t
from events.codec import encode
from events.ledger import Record, Recorded
from events.match import Match, MatchStarted
from store.columns.codec import encoded_table, event_table, leaves_of
from store.columns.layout import KINDS, SCHEMA, columns, events_view_sql, kinds_by_column
from store.log.streams import Leaf
from tests.profiles import sized
from tests.store.sealed_hands import closed, hands, leaves, of_games, to_parquet

GOLDEN = Path(__file__).parent / "columns.txt"
EVERY: tuple[type[Record], ...] = tuple(KINDS.values())
CARDS = st.lists(st.sampled_from(["As", "Td", "2c", "??"]), max_size=7).map(tuple)
AT = st.integers(-(10**12), 10**13)
AT_ONCE = 1_700_000_000_000


def built(kind: type[Record]) -> st.SearchStrategy[Any]:
    """Any value of a kind that its type permits."""
    hints = get_type_hints(kind, include_extras=True)
    rows = {"players": "stacks", "seats": "shares"} if kind in (t.HandStarted, t.PotSplit) else {}
    each = {
        name: CARDS if name == "cards" else value(hint)
        for name, hint in hints.items()
        if name in kind.__struct_fields__ and name not in (*rows, *rows.values())
    }
    made = st.fixed_dictionaries(each)
    for first, second in rows.items():
        if first in hints:
            pair = st.tuples(value(get_args(hints[first])[0]), value(get_args(hints[second])[0]))
            made = st.builds(_with_rows, made, st.lists(pair, max_size=4), st.just((first, second)))
    return made.map(lambda fields: kind(**fields))


def _with_rows(
    fields: dict[str, Any], rows: list[tuple[Any, Any]], names: tuple[str, str]
) -> dict[str, Any]:
    """Two rows of one length."""
    return {**fields, **{name: tuple(row[at] for row in rows) for at, name in enumerate(names)}}


def value(hint: Any) -> st.SearchStrategy[Any]:
    """A value of a field's type, within its limits."""
    if get_origin(hint) is Annotated:
        bare, limit = get_args(hint)
        if bare is int:
            return st.integers(limit.ge, 2**53 if limit.le is None else limit.le)
        return st.sampled_from(["As", "Kd", "??"])
    if get_origin(hint) is tuple:
        return st.lists(value(get_args(hint)[0]), max_size=4).map(tuple)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of(*map(value, get_args(hint)))
    if hint is int:
        return st.integers(-(2**53), 2**53)
    return st.from_type(hint)


@st.composite
def streams(draw: st.DrawFn) -> list[Leaf]:
    """Leaves of any events in any order: storing is no judge of sense."""
    found, pos = [], 0
    for seq in range(draw(st.integers(1, 4))):
        kinds = draw(st.lists(st.sampled_from(EVERY), min_size=1, max_size=9))
        stream = draw(st.sampled_from(["m", "m/1", "other name/9007199254740993", "ünï"]))
        recorded = []
        for index, kind in enumerate(kinds):
            event = draw(SOME[kind])
            if isinstance(event, t.HandStarted):
                event = msgspec.structs.replace(event, hand=stream)
            recorded.append(Recorded(pos, stream, index, draw(AT), event))
            pos += 1
        found.append(Leaf(seq, tuple(recorded)))
    return found


SOME = {kind: built(kind) for kind in EVERY}


@given(streams())
def test_any_events_come_back_as_they_were(given: list[Leaf]) -> None:
    assert given == leaves_of(event_table(given))
    assert given == leaves_of(encoded_table(given))
    stored = pq.read_table(pa.BufferReader(to_parquet(given)))
    assert given == leaves_of(stored)


@pytest.mark.parametrize("game", GAMES)
def test_hands_of_some_games_come_back_to_the_byte(game: str) -> None:
    given = leaves(of_games(game))
    back = leaves_of(pq.read_table(pa.BufferReader(to_parquet(given))))
    lines = [encode(one.event) for leaf in given for one in leaf.recorded]
    assert lines == [encode(one.event) for leaf in back for one in leaf.recorded]
    assert given == back


def test_many_hands_are_read_like_few() -> None:
    """A row group at once, or hand by hand."""
    given = leaves(of_games(*GAMES, count=sized(3, 6)))
    assert given == leaves_of(encoded_table(given))
    assert given == [leaf for one in given for leaf in leaves_of(encoded_table([one]))]


def test_cells_that_were_merged_with_later_columns_have_the_defaults() -> None:
    """A merged segment has nulls where rows are older than a column: they are what they were."""
    swap = t.CardSwapped(0, 0, "As", "Kd")
    start = MatchStarted("m", "game", "ruleset", ("ann", "bob"), "seeded", "sealed", True)
    recorded = Recorded(0, "m", 0, AT_ONCE, swap), Recorded(1, "m", 1, AT_ONCE, start)
    given = [Leaf(0, recorded)]
    rows = encoded_table(given)
    for name in ("told", "deals", "seed"):
        nothing = pa.nulls(rows.num_rows, rows[name].type)
        rows = rows.set_column(rows.column_names.index(name), name, nothing)
    assert given == leaves_of(rows)


def test_every_kind_of_event_is_stored() -> None:
    assert {kind.__name__ for kind in (*get_args(t.Event), *get_args(Match))} == set(KINDS)
    without = {"HandEnded"}  # it says nothing but its type
    assert set(KINDS) - without == {kind for kinds in kinds_by_column().values() for kind in kinds}


def test_the_columns_are_those_that_were_settled(accept: bool) -> None:
    """A change here changes what is stored for ever: raise SCHEMA_VERSION, write an upcast."""
    lines = [
        f"{one.name:12} {one.arrow!s:22} {one.encoding:24} {_filler(one.filler):8} "
        f"{', '.join(kinds_by_column().get(one.name, ('every event',)))}"
        for one in columns().values()
    ]
    told = "\n".join(line.rstrip() for line in lines) + "\n"
    if accept:
        GOLDEN.write_text(told)
    assert GOLDEN.read_text() == told


def _filler(filler: Any) -> str:
    if filler is None:
        return "-"
    return str(filler) if isinstance(filler, str | int | bool) else "carried"


def test_types_are_plain() -> None:
    plain = {pa.int32(), pa.int64(), pa.string(), pa.bool_(), pa.timestamp("ms", tz="UTC")}
    assert set(SCHEMA.types) <= plain


def test_the_view_shows_nothing_but_the_rows_own_fields(tmp_path: Path) -> None:
    """Fillers are for the compressor: SQL must never see them."""
    given = leaves(of_games("auction-2024-mit", "swap-2022"))
    path = tmp_path / "events.parquet"
    path.write_bytes(to_parquet(given))
    every = SCHEMA.empty_table()
    with duckdb.connect() as con:
        con.sql("SET TimeZone = 'UTC'")
        con.register("every", every)
        stored = f"(FROM '{path}' UNION ALL BY NAME FROM every)"
        rows = con.sql(f"SELECT {events_view_sql()} FROM {stored} ORDER BY hand_seq, idx")
        told = rows.to_arrow_table().to_pylist()
    for row, one in zip(told, (it for leaf in given for it in leaf.recorded), strict=True):
        assert one.stream == row["hand"]
        assert type(one.event).__name__ == row["type"]
        own = {name for name, kinds in kinds_by_column().items() if row["type"] in kinds}
        for name in kinds_by_column().keys() - own:
            assert row.get(name) is None, f"{name} of {row['type']}"
        for name in ("seat", "amount", "next", "origin", "told", "price"):
            if hasattr(one.event, name):
                assert getattr(one.event, name) == row[name]
        if hasattr(one.event, "cards"):
            assert " ".join(one.event.cards) == row["cards"]


def test_an_auction_hand_takes_at_most_sixty_bytes() -> None:
    """The goal of the ledger, on random bots, whose amounts are the hardest to compress.

    So many hands are a row group; in a larger segment there are many and one that is not full.
    """
    some = hands("auction-2024-mit", 1_250, "bytes")
    given = leaves(
        closed((str(one[0].hand), one) for one in some if isinstance(one[0], t.HandStarted))
    )
    assert len(to_parquet(given)) / len(given) <= 60

"""Cells of event rows as numbers: however tables are cut and text is stored, the same answer."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from store.columns.numpy_columns import BAD, LARGE, ColumnReader, pair

numbers = st.one_of(st.none(), st.integers(-(1 << 40), 1 << 40))
words = st.one_of(st.none(), st.sampled_from(["", "7", "1 2", "4 5 6", "-3 8"]))
rows = st.lists(st.tuples(numbers, words, st.one_of(st.none(), st.booleans())), max_size=12)


def _table(some: list[tuple[int | None, str | None, bool | None]], form: int) -> pa.Table:
    """These rows: text as it is or numbered; in one chunk or two, one of which begins elsewhere;
    or without text, as where no row has any."""
    chips, text, truths = ([row[at] for row in some] for at in range(3))
    plain = pa.array(text, pa.string())
    found = pa.table(
        {
            "chips": pa.array(chips, pa.int64()),
            "text": plain if form % 2 else plain.dictionary_encode(),
            "truth": pa.array(truths, pa.bool_()),
        }
    )
    if form > 3 and plain.null_count == len(plain):
        found = found.drop_columns(["text"])
    return pa.concat_tables([found.slice(0, 1), found.slice(1)]) if form % 4 > 1 else found


@given(st.lists(st.tuples(rows, st.integers(0, 7)), max_size=4), st.data())
def test_cells_are_what_rows_say(
    parts: list[tuple[list[tuple[int | None, str | None, bool | None]], int]], data: st.DataObject
) -> None:
    every = [row for some, _ in parts for row in some]
    cells = ColumnReader(*(_table(some, form) for some, form in parts))
    which = sorted(data.draw(st.sets(st.integers(0, len(every) - 1)))) if every else []
    at = np.array(which, dtype=np.int64)
    for told, mine, where in ((every, cells, None), ([every[it] for it in which], cells, at)):
        _says(told, mine, where)
    _says([every[it] for it in which], cells.only(at), None)


def _says(
    told: list[tuple[int | None, str | None, bool | None]],
    cells: ColumnReader,
    at: "np.ndarray | None",
) -> None:
    chips, text, truths = [it[0] for it in told], [it[1] for it in told], [it[2] for it in told]
    assert [it or 0 for it in chips] == cells.numbers("chips", at).tolist()
    assert [-1 if it is None else it for it in chips] == cells.numbers("chips", at, -1).tolist()
    assert [bool(it) for it in truths] == cells.truths("truth", at).tolist()
    if at is None:
        edges = [BAD if it is None else min(max(it, BAD), LARGE) for it in chips]
        assert edges == cells.small("chips").tolist()
    numbered, known = cells.words("text", at)
    assert text == [[*known.to_pylist(), None][it] for it in numbered.tolist()]
    assert len(set(known.to_pylist())) == len(known)
    assert [it is not None for it in text] == cells.has_text("text", at).tolist()
    codes = {"7": 7, "": 0}
    coded = [-1 if it is None else codes.get(it, -1) for it in text]
    assert coded == cells.word_codes("text", codes, at).tolist()
    ragged = cells.ragged("text", at)
    lists = [[int(one) for one in (it or "").split()] for it in text]
    assert list(map(len, lists)) == ragged.count.tolist()
    of, place, found = (it.tolist() for it in ragged.flat())
    assert [(n, p, it) for n, row in enumerate(lists) for p, it in enumerate(row)] == (
        list(zip(of, place, found, strict=True))
    )
    assert [0] * len(told) == cells.numbers("nothing", at).tolist()


def test_no_large_number_passes_for_two_small_ones() -> None:
    """A row of one number beyond 32 bits has the same bits as a pair."""
    two = int(pair(np.array([5]), np.array([9]))[0])
    ragged = ColumnReader(pa.table({"shares": [f"{two}", "5 9", "5 9 1"]})).ragged("shares")
    assert [False, True, False] == (ragged.one_or_two(np.arange(3)) == two).tolist()

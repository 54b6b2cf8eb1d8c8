"""The stored tables: equal to a fresh build, complete, and read only when somebody asks."""

import subprocess
import sys
import zlib

import pytest

from odds.tables import SIZES, STORED_AT, STRAIGHTS, Straights, build, dump, load, stored


def test_the_stored_tables_equal_a_fresh_build() -> None:
    fresh = dump({straights: build(straights) for straights in STRAIGHTS})
    # The numbers, not the compressed bytes: another zlib may compress otherwise.
    assert zlib.decompress(fresh) == zlib.decompress(STORED_AT.read_bytes())


def test_tables_survive_writing_and_reading() -> None:
    assert stored() == load(dump(stored()))


@pytest.mark.parametrize("straights", STRAIGHTS)
def test_there_is_one_slot_for_each_multiset_of_ranks(straights: Straights) -> None:
    sizes = {size: len(column) for size, column in stored()[straights].rank.items()}
    expected = {5: 6175, 6: 18395, 7: 49205, 8: 120055}
    assert expected == sizes == {size: _multisets(size) for size in SIZES}


def _multisets(size: int) -> int:
    """The coefficient of x^size in (1 + x + x^2 + x^3 + x^4)^13."""
    ways = [1] + [0] * size
    for _ in range(13):
        ways = [sum(ways[max(0, total - 4) : total + 1]) for total in range(size + 1)]
    return ways[size]


def test_importing_reads_no_table_and_needs_no_numpy() -> None:
    program = (
        "import sys, odds.rank, odds.tables as tables;"
        "print(tables.stored.cache_info().currsize, 'numpy' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    expected = "0 False"
    assert expected == ran.stdout.strip()

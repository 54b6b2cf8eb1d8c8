"""The columns of the SQL files that are sums, counted for many hands at once without a database.

A question of one player is answered in less time than a database takes to open. These files say
only three things: in how many hands flags were set, or known, or how many actions of some kinds
there were. So each column is worked out hand by hand from what `facts_packed.unpacked` says of a
hand; a file that said anything else would be refused. The files stay what is meant: tests ask a
database the same.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analytics.sql.files import columns_of

Numbers = NDArray[np.float64]
Said = Mapping[str, NDArray[Any]]
_HANDS = re.compile(r"CASE WHEN (?P<terms>[\w ]+) THEN hands ELSE 0 END")
_ACTS = re.compile(r"hands \* \((?P<names>\w+(?: \+ \w+)*)\)")
_KNOWN = " IS NOT NULL"


def counts(said: Said, size: int, files: Sequence[str]) -> dict[str, Numbers]:
    """What each of so many hands counts, column by column of these files."""
    counted = {}
    for file in files:
        for name, sums in columns_of(file):
            counted[name] = np.zeros(size)
            for what in sums:
                counted[name] += _counted(what, said)
    return counted


def _counted(what: str, said: Said) -> Any:
    """What is added up, of each hand."""
    if what == "hands":
        return 1
    if hands := _HANDS.fullmatch(what):
        return np.logical_and.reduce([_holds(it, said) for it in hands["terms"].split(" AND ")])
    acts = _ACTS.fullmatch(what)
    assert acts, f"sum({what}) is none of the sums that are counted here"
    return sum(said[name] for name in acts["names"].split(" + "))


def _holds(term: str, said: Said) -> NDArray[np.bool_]:
    """Where a flag is known, or where it is set."""
    known = term.endswith(_KNOWN)
    held: NDArray[np.bool_] = said[term.removesuffix(_KNOWN)] >= (1 if known else 2)
    return held

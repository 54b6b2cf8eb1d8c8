"""Times as answers tell them: RFC 3339 in UTC, to the millisecond."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def moments(times: Sequence[int]) -> list[str]:
    """Milliseconds since 1970 in words; Arrow knows years that Python does not."""
    told = pc.strftime(pa.array(times, pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ")
    words: list[str] = told.to_pylist()
    return words

"""How much one caller may ask for at once: what is limited, and what which family of routes costs.

A caller over his rate must wait; other callers never notice. Counts are kept in each worker by
itself, so that several workers together allow several times as much.
"""

import re
from typing import NamedTuple

from msgspec import Struct


class Limits(Struct, frozen=True):
    """What `muckrake serve` allows; a rate of 0 counts nothing."""

    rate: int = 6_000  # what one key or address may spend in a minute
    body_bytes: int = 1 << 20
    upload_bytes: int = 1 << 30
    header_bytes: int = 12 << 10  # below what uvicorn takes, so that we are the ones to say it
    query_bytes: int = 8 << 10
    seconds: float = 40.0  # until an answer begins; a question in SQL has 30 of its own
    stall_s: float = 60.0  # how long a reader may take none of what is sent to him
    head_s: float = 10.0  # in which the head of a request must have come
    body_s: float = 20.0  # ... and its body, but for the time that its length earns it:
    slowest: int = 4 << 10  # bytes a second: who reads or sends more slowly is let go
    key_jobs: int = 4  # of one key or login that are not over; 0 counts nothing, here and below
    key_bytes: int = 4 << 30  # that it may send in a day
    key_hands: int = 20_000_000  # that it may have played or read in a day
    keep_free: int = 128 << 20  # bytes of the disk that no job is begun with less of
    at_once: int = 256  # connections of one address; requests of one caller
    bulk: int = 4  # exports that one worker makes at once
    heavy_valued: int = 1  # hands: an answer about so many that values cards is made by a process
    heavy_judged: int = 100  # ... and what judges so many first
    heavy_counted: int = 2_000  # ... and a page that counts
    heavy_data: int = 20_000  # ... and data that counts, of which no first word is waited for
    heavy_spread: int = 100_000  # ... and how hands are spread, which their page shows later then
    pages: int = 3  # such processes of one worker; 0: it makes all answers itself
    sql: int = 2  # questions of strangers that it answers at once
    wait_s: float = 5.0  # how long one more waits for his turn


class Family(NamedTuple):
    """Routes that are alike in what they cost."""

    name: str
    what: str
    cost: int
    paths: re.Pattern[str]


_ALWAYS = r"/static/|/(healthz|readyz|metrics|favicon\.ico)$"
FAMILIES = (
    Family(
        "static",
        "a style, a script, the state of the server",
        0,
        re.compile(_ALWAYS),
    ),
    Family("login", "a login", 50, re.compile(r"/login$")),
    Family("bulk", "an export", 50, re.compile(r"/api/v1/exports(/|$)")),
    Family("sql", "an answer in SQL", 20, re.compile(r"/api/v1/sql$")),
    Family("upload", "an import", 20, re.compile(r"/api/v1/imports$")),
    Family(
        "counting",
        "statistics of players",
        5,
        re.compile(r"(/api/v1)?/(players|fairness|ratings|leagues)(/|$)"),
    ),
    Family("other", "anything else", 1, re.compile(r"")),
)


def family(path: str) -> Family:
    """The first that a path belongs to."""
    return next(one for one in FAMILIES if one.paths.match(path))

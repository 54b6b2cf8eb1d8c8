"""Which format is meant: what `Accept` weighs highest, and `?format=` before it."""

import contextlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from api.http.responses import MEDIA_TYPES, format_of
from api.problem import Problem

LISTS = ("json", "ndjson", "csv", "parquet", "arrow")


def asked(accept: str | None = None, query: str = "") -> Request:
    """A request with no more than these."""
    headers = [] if accept is None else [(b"accept", accept.encode("latin-1"))]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": query.encode()}
    return Request({**scope, "headers": headers})


@pytest.mark.parametrize(
    ("accept", "offered", "expected"),
    [
        (None, LISTS, "json"),
        ("", LISTS, "json"),
        ("*/*", LISTS, "json"),
        ("text/csv", LISTS, "csv"),
        ("text/*", LISTS, "csv"),
        ("application/json;q=0.5, text/csv", LISTS, "csv"),
        ("text/csv;q=0.5, application/json;q=0.5", LISTS, "json"),
        ("application/jsonl", LISTS, "ndjson"),
        ("application/x-ndjson", LISTS, "ndjson"),
        ("application/vnd.apache.parquet", LISTS, "parquet"),
        ("APPLICATION/JSON", LISTS, "json"),
        ("text/html, */*;q=0.1", LISTS, "json"),
        ("application/json;q=0, */*", LISTS, "ndjson"),
        ("*/*;q=0.2, text/csv;q=0.1", LISTS, "json"),
        ("nonsense, text/csv;q=nine, application/json;q=0.001", LISTS, "json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", ("json", "html"), "html"),
        ("text/csv; charset=utf-8; q=0.7", LISTS, "csv"),
    ],
)
def test_the_heaviest_format_is_sent(
    accept: str | None, offered: Sequence[str], expected: str
) -> None:
    assert expected == format_of(asked(accept), offered)


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_a_format_in_the_address_goes_before_what_a_browser_accepts(name: str) -> None:
    expected = {"jsonl": "ndjson"}.get(name, name)
    assert expected == format_of(asked("text/html", f"format={name}"), LISTS)


@pytest.mark.parametrize(
    ("accept", "query"),
    [("image/png", ""), ("*/*;q=0", ""), ("application/json", "format=xml"), ("nonsense", "")],
)
def test_what_is_not_to_be_had_is_refused_with_what_is(accept: str, query: str) -> None:
    with pytest.raises(Problem) as refused:
        format_of(asked(accept, query), LISTS)
    assert refused.value.status == 406
    assert refused.value.detail.endswith("json, ndjson, csv, parquet, arrow")


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_no_accept_is_too_strange(accept: str) -> None:
    with contextlib.suppress(Problem):
        assert format_of(asked(accept), LISTS) in MEDIA_TYPES

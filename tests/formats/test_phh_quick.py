"""The quick reader of plain TOML reads what the real one reads, or leaves it to that."""

import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.phh.documents import parse_simple

PLAIN = """\
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [0.5, 1.00, -2]
min_bet = 2
actions = ['d dh p1 AsKd', 'p1 cbr 7.5', 'p2 f']
ante_trimming_status = true
time = 17:44:39
"""


def parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text, parse_float=Decimal)


@pytest.mark.parametrize("text", [PLAIN, f"[12]\n{PLAIN}", f"[a-b]\n\n{PLAIN}\n"])
def test_a_plain_hand_is_read_quickly_and_alike(text: str) -> None:
    assert parsed(text) == parse_simple(text)


def test_numbers_are_of_the_same_kind() -> None:
    found = parse_simple(PLAIN)
    assert found is not None
    assert [Decimal, Decimal, int] == [type(one) for one in found["blinds_or_straddles"]]


@pytest.mark.parametrize(
    "text",
    [
        "a = 'one'\na = 'two'",  # a field twice
        "a = null",
        "a = ['x', 'y',]",
        "a = 1_000",
        "a = +1",
        "a = inf",
        "a = 0x10",
        "a = 'C:\\x'",
        'a = "x"',
        "a = 'x' # y",
        "a.b = 1",
        "a = {b = 1}",
        "a = {'b': 1}",
        "a = [{'b': 1}]",
        "a = 12345678901234567890",
        f"a = {'[' * 5000}{']' * 5000}",
        "a = 2024-01-01",
        "a = 24:00:00",
        "a = ['12:00', 12:00:00]",
        "a = 'tab\there'",
        "a = '\x7f'",
        "a = [\n1\n]",
        "a = 01",
        "a = 'it''s'",
        "[1]\na = 1\n[2]\na = 2",
        "a = 1\n[1]\nb = 2",
        "[1.2]\na = 1",
        "nothing",
        "a =",
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_real_parser(text: str) -> None:
    assert parse_simple(text) is None


@given(st.text("a1_-.=[]', \n0eE{}:truefalsninx", max_size=30))
def test_whatever_it_reads_the_real_one_reads_alike(text: str) -> None:
    found = parse_simple(f"a = {text}\n")
    if found is not None:
        assert parsed(f"a = {text}\n") == found

"""Decks of a key: every order as likely as any other, and bound to all that went into it."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import deck as d
from events.cards import DECK
from events.match import DeckCommitted, DeckOpened, MatchEnded, NonceGiven
from tests.profiles import sized

LAST = bytes(range(32))
NONCES = (NonceGiven("ursa", "a"), NonceGiven("lynx", "b"))


def keys(word: str) -> Iterator[bytes]:
    """As many keys as anybody wants, the same every time."""
    number = 0
    while True:
        yield hashlib.sha256(f"{word} {number}".encode()).digest()
        number += 1


def chi_square(found: Iterable[int], cells: int) -> float:
    """How far counts are from equal ones; about `cells` - 1 where chance is fair."""
    counts = Counter(found)
    expected = sum(counts.values()) / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in range(cells))


def z(chi: float, free: int) -> float:
    """Standard deviations from what is expected of it."""
    return (chi - free) / math.sqrt(2 * free)


# Uniformity.


def test_every_card_comes_to_every_place_equally_often() -> None:
    decks = [d.shuffled(key) for key in islice(keys("places"), sized(3_000, 6_000))]
    index = {card: at for at, card in enumerate(DECK)}
    cells = (index[card] * 52 + place for deck in decks for place, card in enumerate(deck))
    assert abs(z(chi_square(cells, 52 * 52), 51 * 51)) < 3


def test_every_pair_on_top_is_equally_likely() -> None:
    pairs = {(a, b): at for at, (a, b) in enumerate((a, b) for a in DECK for b in DECK if a != b)}
    tops = (pairs[d.shuffled(key)[:2]] for key in islice(keys("pairs"), sized(8_000, 20_000)))  # type: ignore[index]
    assert abs(z(chi_square(tops, 52 * 51), 52 * 51 - 1)) < 3


def test_every_order_of_four_cards_is_equally_likely() -> None:
    four = DECK[:4]
    orders: dict[tuple[str, ...], int] = {}
    found = (
        orders.setdefault(tuple(card for card in d.shuffled(key) if card in four), len(orders))
        for key in islice(keys("orders"), sized(4_000, 12_000))
    )
    chi = chi_square(list(found), math.factorial(4))
    assert math.factorial(4) == len(orders)
    assert abs(z(chi, math.factorial(4) - 1)) < 3


def test_luck_is_fair_and_its_numbers_are_below_what_was_asked() -> None:
    luck = d.Luck(next(keys("luck")))
    drawn = [luck.below(100) for _ in range(50_000)]
    assert set(range(100)) == set(drawn)
    assert abs(z(chi_square(drawn, 100), 99)) < 3


def test_without_rejection_some_cards_would_be_favoured() -> None:
    """256 is no multiple of 52: of the remainders 0 to 47 there is a fifth, of 48 to 51 not."""
    bytes_drawn = list(islice(d.stream(next(keys("bias")), d.SHUFFLE), 100_000))
    biased = [byte % 52 for byte in bytes_drawn]
    fair = [byte % 52 for byte in bytes_drawn if byte < 256 - 256 % 52]
    assert z(chi_square(biased, 52), 51) > 30
    assert abs(z(chi_square(fair, 52), 51)) < 3


@pytest.mark.parametrize("many", range(1, 53))
def test_every_byte_is_used_for_the_same_number_of_cards_or_not_at_all(many: int) -> None:
    used = Counter(taken for byte in range(256) if (taken := _taken(byte, many)) is not None)
    assert {256 // many} == set(used.values())
    assert set(range(many)) == set(used)


def _taken(byte: int, many: int) -> int | None:
    """What one byte draws; nothing if the next byte is asked."""
    draws = iter((byte, 0))
    number = d._below(many, draws, 1)
    return number if list(draws) else None


def test_a_draw_of_luck_asks_again_at_the_very_edge() -> None:
    edge = 2**32 - 2**32 % 100
    assert 99 == d._below(100, iter((edge - 1).to_bytes(4, "big")), 4)
    assert 7 == d._below(100, iter(edge.to_bytes(4, "big") + (7).to_bytes(4, "big")), 4)
    assert 7 == d._below(100, iter(bytes([255] * 4) + (7).to_bytes(4, "big")), 4)


# What a key is bound to.


def test_a_deck_is_bound_to_secret_match_number_and_nonces() -> None:
    ours = d.hand_key(LAST, NONCES, "derby", 7)
    others = {
        d.hand_key(bytes(32), NONCES, "derby", 7),
        d.hand_key(LAST, NONCES, "derbi", 7),
        d.hand_key(LAST, NONCES, "derby", 8),
        d.hand_key(LAST, NONCES[:1], "derby", 7),
        d.hand_key(LAST, NONCES[::-1], "derby", 7),
        d.hand_key(LAST, (NONCES[0], NonceGiven("lynx", "c")), "derby", 7),
        d.hand_key(LAST, (NONCES[0], NonceGiven("puma", "b")), "derby", 7),
    }
    assert 7 == len(others - {ours})


texts = st.text(st.characters(codec="utf-8"), max_size=4)
nonces_lists = st.lists(st.builds(NonceGiven, texts, texts), max_size=3)


@given(st.tuples(texts, nonces_lists), st.tuples(texts, nonces_lists))
def test_no_two_matches_have_one_key_by_moving_a_border(
    one: tuple[str, list[NonceGiven]], other: tuple[str, list[NonceGiven]]
) -> None:
    same = d.hand_key(LAST, one[1], one[0], 1) == d.hand_key(LAST, other[1], other[0], 1)
    assert (one == other) == same


def test_a_border_that_moves_is_noticed() -> None:
    whole = (NonceGiven("ab", "c"),)
    for moved in ((NonceGiven("a", "bc"),), (NonceGiven("ab", ""), NonceGiven("c", ""))):
        assert d.hand_key(LAST, whole, "m", 1) != d.hand_key(LAST, moved, "m", 1)


@given(st.binary(min_size=32, max_size=32))
def test_a_deck_has_every_card_once(key: bytes) -> None:
    assert sorted(DECK) == sorted(d.shuffled(key))


# The chain.


def test_one_secret_leads_back_to_all_before_it_and_to_none_after() -> None:
    links = d.chain_of(LAST, 5)
    assert 6 == len(set(links))
    assert LAST == links[-1]
    for place, link in enumerate(links):
        assert links[0] == d.earlier(link, place)
    opened = DeckOpened(3, links[3].hex())
    for number in (1, 2, 3):
        key = d.hand_key(links[number], NONCES, "m", number)
        assert key == d.opened_key(opened, NONCES, "m", number)
        assert d.shuffled(key) == d.recompute(opened, NONCES, "m", number)
    with pytest.raises(ValueError, match=r"^deck 3 was opened: that does not tell deck 4$"):
        d.recompute(opened, NONCES, "m", 4)


def test_commitments_follow_one_another_each_with_its_own_nonces() -> None:
    records = (
        DeckCommitted("aa", 10),
        *NONCES,
        DeckCommitted("bb", 5),
        NONCES[1],
        DeckOpened(1, "cc"),
        MatchEnded((0, 0), "over"),
    )
    assert (
        d.Committed(1, 10, "aa", NONCES),
        d.Committed(11, 5, "bb", NONCES[1:]),
    ) == d.committed(records)


@pytest.mark.parametrize(
    ("number", "secret", "sentence"),
    [
        (13, d.chain_of(LAST, 5)[3].hex(), None),
        (15, LAST.hex(), None),
        (12, d.chain_of(LAST, 5)[3].hex(), "the secret of deck 12 does not lead back to "),
        (13, "00" * 32, "the secret of deck 13 does not lead back to "),
        (13, "00" * 31, "the secret of deck 13 is not 32 bytes in hex"),
        (13, "not hex", "the secret of deck 13 is not 32 bytes in hex"),
        (13, d.chain_of(LAST, 5)[3].hex().upper(), "the secret of deck 13 is not 32 bytes in hex"),
        (16, LAST.hex(), "deck 16 is not one of the decks 11..15 of its chain"),
        (10, LAST.hex(), "deck 10 is not one of the decks 11..15 of its chain"),
    ],
)
def test_an_opening_must_fit_its_commitment(number: int, secret: str, sentence: str | None) -> None:
    made = d.Committed(11, 5, d.chain_of(LAST, 5)[0].hex())
    wrong = d.unfit(made, DeckOpened(number, secret))
    if sentence is None:
        assert wrong is None
    else:
        assert wrong is not None
        assert wrong.startswith(sentence)


@pytest.mark.parametrize(
    ("deals", "decks"), [(1, [1, 2, 3, 4, 5, 6]), (2, [1, 1, 3, 3, 5, 5]), (3, [1, 1, 1, 4, 4, 4])]
)
def test_mirrored_hands_are_dealt_the_deck_of_the_first_of_them(
    deals: int, decks: list[int]
) -> None:
    assert decks == [d.deck_number(number, deals) for number in range(1, 7)]

"""docs/deals.md recomputed from its words alone: a program that shares no line with ours."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from events.deck import Luck, chain_of, hand_key, recompute, shuffled
from events.match import DeckOpened, NonceGiven
from tests.fences import fences

PAGE = Path(__file__).parents[2] / "docs" / "deals.md"
VECTORS: Any = next(json.loads(one.text) for one in fences(PAGE) if one.language == "json")


def stranger(
    secret: str, nonces: list[list[str]], match: str, number: int
) -> tuple[list[str], list[int]]:
    """A deck and eight draws of luck below 100, straight down the page."""
    seats = b"muckrake/seat-nonces/v1" + b"\x00"
    for pair in nonces:
        for text in pair:
            seats += len(text.encode("utf-8")).to_bytes(2, "big") + text.encode("utf-8")
    name = match.encode("utf-8")
    message = b"muckrake/deck/v1" + b"\x00" + len(name).to_bytes(2, "big") + name
    message += number.to_bytes(4, "big") + hashlib.sha256(seats).digest()
    key = hmac.new(bytes.fromhex(secret), message, hashlib.sha256).digest()
    shuffle, swap = b"", b""
    for counter in range(40):
        end = b"\x00" + counter.to_bytes(4, "big")
        shuffle += hmac.new(key, b"muckrake/shuffle/v1" + end, hashlib.sha256).digest()
        swap += hmac.new(key, b"muckrake/swap/v1" + end, hashlib.sha256).digest()
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    at = 0
    for m in range(52, 1, -1):
        while shuffle[at] >= 256 - 256 % m:
            at += 1
        j = shuffle[at] % m
        at += 1
        deck[m - 1], deck[j] = deck[j], deck[m - 1]
    luck: list[int] = []
    at = 0
    while len(luck) < 8:
        word = int.from_bytes(swap[at : at + 4], "big")
        at += 4
        if word < 2**32 - 2**32 % 100:
            luck.append(word % 100)
    return deck, luck


def test_a_stranger_recomputes_every_deck_of_the_page() -> None:
    assert len(VECTORS["decks"]) >= 2
    for told in VECTORS["decks"]:
        nonces, match = VECTORS["nonces"], VECTORS["match"]
        deck, luck = stranger(told["secret"], nonces, match, told["number"])
        assert told["deck"] == " ".join(deck)
        assert told["luck_below_100"] == luck
        assert 52 == len(set(deck))


def test_the_chain_of_the_page_is_walked_with_nothing_but_sha256() -> None:
    chain = VECTORS["chain"]
    for place in range(VECTORS["hands"], 0, -1):
        later = bytes.fromhex(chain[f"k{place}"])
        hashed = hashlib.sha256(b"muckrake/chain/v1" + later).hexdigest()
        assert chain[f"k{place - 1}"] == hashed
    for told in VECTORS["decks"]:
        assert chain[f"k{told['number']}"] == told["secret"]


def test_every_value_between_is_as_the_page_says() -> None:
    seats = bytes.fromhex(VECTORS["seats_message"])
    assert VECTORS["seats_sha256"] == hashlib.sha256(seats).hexdigest()
    for told in VECTORS["decks"]:
        message, secret = bytes.fromhex(told["message"]), bytes.fromhex(told["secret"])
        assert message.endswith(bytes.fromhex(VECTORS["seats_sha256"]))
        key = hmac.new(secret, message, hashlib.sha256).digest()
        assert told["key"] == key.hex()
        for field, label in (
            ("shuffle_bytes", b"muckrake/shuffle/v1"),
            ("swap_bytes", b"muckrake/swap/v1"),
        ):
            said = bytes.fromhex(told[field])
            made = b"".join(
                hmac.new(key, label + b"\x00" + count.to_bytes(4, "big"), hashlib.sha256).digest()
                for count in range(len(said) // 32)
            )
            assert said == made


def test_a_byte_that_would_favour_some_cards_is_thrown_away_on_the_page_too() -> None:
    """Or a program that forgot to would pass the vectors."""
    thrown = [_thrown(bytes.fromhex(told["shuffle_bytes"])) for told in VECTORS["decks"]]
    assert [[], ["d1", "e1", "fe"]] == thrown


def _thrown(said: bytes) -> list[str]:
    found, m = [], 52
    for byte in said:
        if m < 2:
            break
        if byte >= 256 - 256 % m:
            found.append(f"{byte:02x}")
        else:
            m -= 1
    return found


def test_ours_is_the_derivation_of_the_page() -> None:
    nonces = [NonceGiven(*pair) for pair in VECTORS["nonces"]]
    last = bytes.fromhex(VECTORS["chain"][f"k{VECTORS['hands']}"])
    links = [link.hex() for link in chain_of(last, VECTORS["hands"])]
    assert list(reversed(VECTORS["chain"].values())) == links
    opened = DeckOpened(2, VECTORS["chain"]["k2"])
    for told in VECTORS["decks"]:
        number, secret = told["number"], bytes.fromhex(told["secret"])
        key = hand_key(secret, nonces, VECTORS["match"], number)
        assert told["key"] == key.hex()
        assert tuple(told["deck"].split()) == shuffled(key)
        assert tuple(told["deck"].split()) == recompute(opened, nonces, VECTORS["match"], number)
        luck = Luck(key)
        assert told["luck_below_100"] == [luck.below(100) for _ in range(8)]

"""Cards as two-letter words: the deck, parsing, and the words for unknown cards."""

from typing import Annotated, Literal

from msgspec import Meta

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
UNKNOWN = "??"  # a card that nobody recorded; a card you may not see is `views.Hidden`

Card = Annotated[str, Meta(pattern=r"^([2-9TJQKA][cdhs]|\?\?)$")]
Cards = tuple[Card, ...]
Rank = Literal["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]

_NAMED = frozenset(DECK)
_WORDS = frozenset((*DECK, UNKNOWN))


def is_card(word: str) -> bool:
    """A rank and a suit, such as `As`, or `??` where nobody recorded the card."""
    return word in _WORDS


def cards(text: str) -> tuple[str, ...]:
    """Read `As Kd ??`; whatever else stands there is refused by name."""
    found = tuple(text.split())
    for word in found:
        if word not in _WORDS:
            raise ValueError(
                f"{word} is not a card: a rank of {RANKS} and a suit of {SUITS}, or ??"
            )
    return found


def known(held: tuple[str, ...]) -> tuple[str, ...] | None:
    """These cards, if there are any and none of them is hidden or was never recorded."""
    return held if held and all(card in _NAMED for card in held) else None


def is_known(held: tuple[str, ...]) -> bool:
    """Whether every one of these cards was recorded."""
    return UNKNOWN not in held

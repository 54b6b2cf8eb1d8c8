"""Text beside facts: words of how hands began, names of players; each is read once."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa

from analytics.replay.layout import Laid
from store.columns.cells import Column


def head(laid: Laid, hand: Column) -> dict[str, pa.Array]:
    """How stored rows about these hands begin."""
    told = {"hand_seq": pa.array(laid.hand_seq.take(hand)), "match": word(laid, "match", hand)}
    return {**told, "number": pa.array(laid.number.take(hand)), "game": word(laid, "game", hand)}


def word(laid: Laid, name: str, hand: Column) -> pa.Array:
    """What the start of each hand says in a column."""
    which, words = laid.cells.words(name, laid.heads)
    return chosen(words, which[hand])


def players(laid: Laid) -> pa.Array:
    """The name of every place."""
    which, words = laid.cells.words("players", laid.heads)
    names = [msgspec.json.decode(it) for it in words.to_pylist()]
    sizes = np.array([*map(len, names), 0])
    begins = np.cumsum(sizes) - sizes
    every = pa.array([name for row in names for name in row], pa.string())
    return every.take(pa.array(begins.take(which).take(laid.place_hand) + laid.place_seat))


def chosen(words: Sequence[str] | pa.Array, which: Column) -> pa.Array:
    """These words; nothing for a number below nothing."""
    known = words if isinstance(words, pa.Array) else pa.array(words, pa.string())
    return known.take(pa.array(which, mask=which < 0))

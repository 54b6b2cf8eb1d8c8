"""The records of a match beside its hands: start, end, tags, sources, deck commitments.

Names of records and fields are storage names: an old ledger holds them for ever.
"""

from typing import Annotated, Literal

from msgspec import Meta

from events.types import Fact

Dealing = Literal["seeded", "committed", "recorded"]
Disclosure = Literal["sealed", "open-after-match", "open"]
Drawer = Literal["player", "dealer"]


class MatchStarted(Fact, frozen=True):
    """A series of hands begins: who plays what, how decks are made, who may see what later.

    Each deck is dealt in so many hands in a row, the players a seat further in each: more than
    one `deals` is a mirrored match (G21).
    """

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    dealing: Dealing
    disclosure: Disclosure
    sealed_bids: bool
    seed: str | None = None
    deals: Annotated[int, Meta(ge=1, le=23)] = 1


class Tagged(Fact, frozen=True):
    """What a player of a match is beside his name: `bot`, `version`, `team`; the last holds."""

    player: str
    tag: str
    value: str


class DeckCommitted(Fact, frozen=True):
    """The dealer commits to the decks of so many hands before the players add their nonces."""

    commitment: str
    hands: Annotated[int, Meta(ge=1, le=2**31 - 1)]


class NonceGiven(Fact, frozen=True, omit_defaults=True):
    """A player's contribution to the shuffles to come; who drew it, since that is recorded."""

    player: str
    nonce: str
    drawn_by: Drawer | None = None


class DeckOpened(Fact, frozen=True):
    """The secret of a hand's deck: it and every earlier deck can now be recomputed."""

    number: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    secret: str


class SourceNoted(Fact, frozen=True):
    """What a foreign file holds besides its hands, so that it can be written again to the byte."""

    format: str
    dialect: str
    header: str
    footer: str


class MatchEnded(Fact, frozen=True):
    """No more hands: what each player won or lost in all, in the order of `MatchStarted`."""

    nets: tuple[int, ...]
    reason: str


Match = MatchStarted | DeckCommitted | NonceGiven | DeckOpened | SourceNoted | MatchEnded | Tagged

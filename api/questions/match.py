"""One match: what it came to, and all that its own records tell, as the viewer sees them."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from api.questions.declared.matches import MatchRow, played_of, rows_of
from api.viewpoints.records import records
from api.viewpoints.rendering import moments, opened_by
from api.viewpoints.views import UNCLOSED, Viewed
from events import types as t
from events.views import Hidden, SourceNotedSeen
from store.log.leaf import Leaf


class Commitment(Struct, frozen=True):
    """What the dealer was bound to before so many hands."""

    commitment: str
    hands: int


class Nonce(Struct, frozen=True):
    """What a player gave to the shuffle, and who drew it: of old matches nobody knows."""

    player: str
    nonce: str
    drawn_by: Literal["player", "dealer"] | None


class Source(Struct, frozen=True):
    """What file a match was imported from."""

    format: str
    dialect: str


class Match(MatchRow, frozen=True, kw_only=True):
    """One match; `last_seq` is where its last hand stands in the tree; `withheld`: its hands are
    told to auditors alone."""

    last_seq: int | None
    sealed_bids: bool | None
    deals: int | None
    seed: str | Hidden | None
    commitments: list[Commitment]
    nonces: list[Nonce]
    decks_opened: int | None
    source: Source | None
    open: bool
    withheld: bool
    announced: str | None


def match_of(viewed: Viewed, match: str) -> Match:
    """The match of this name; `Absent` if there is none."""
    played = played_of(viewed, match)
    (row,) = rows_of(viewed, {match: played})
    own = records(viewed.snapshot, match)
    seen = viewed.redactor.see(Leaf(UNCLOSED, own)).ones if own else ()
    kinds: dict[type, list[Any]] = {}
    for one in seen:
        kinds.setdefault(type(one.stored.event), []).append(one.seen)
    announced = kinds.get(t.MatchStarted, [None])[0]
    sources = [one for one in kinds.get(t.SourceNoted, []) if isinstance(one, SourceNotedSeen)]
    return Match(
        **asdict(row),
        last_seq=None if played is None else played["last_seq"],
        sealed_bids=announced and announced.sealed_bids,
        deals=announced and announced.deals,
        seed=announced and announced.seed,
        commitments=[
            Commitment(one.commitment, one.hands) for one in kinds.get(t.DeckCommitted, [])
        ],
        nonces=[Nonce(one.player, one.nonce, one.drawn_by) for one in kinds.get(t.NonceGiven, [])],
        decks_opened=max((one.number for one in kinds.get(t.DeckOpened, [])), default=None),
        source=Source(sources[0].format, sources[0].dialect) if sources else None,
        open=match in viewed.opened,
        withheld=opened_by(one.event for one in own).withheld,
        announced=moments([own[0].at])[0] if own else None,
    )

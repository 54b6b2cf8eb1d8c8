"""Who has won a match, who is ahead in one that decided nothing, and in which place everybody is.

Where every hand has new stacks, winnings decide (M4); in a freeze-out it is who is left (M5).
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from engine.game import Game
from engine.table import is_freeze_out

Rank = tuple[int, ...]


class Last(Struct, frozen=True):
    """The last hand that a player was dealt: its number, his chips before it and after it."""

    hand: int
    began: int
    left: int


class Standing(Struct, frozen=True):
    """Who won, or else who leads alone; `places` of the players in order, equal ones share one."""

    winner: str | None
    leader: str | None
    draw: bool
    places: tuple[int, ...]


def standing(
    game: Game | None,
    players: Sequence[str],
    nets: Sequence[int],
    lasts: Mapping[str, Last],
    *,
    whole: bool,
) -> Standing:
    """By busts in a freeze-out, else by winnings; they decide a `whole` match of equal stacks.

    Nobody has won where chips are carried and nobody has them all, nor by unknown rules.
    """
    if game is not None and is_freeze_out(game):
        return by_busts(players, lasts)
    decided = whole and game is not None and game.stacks == "reset"
    return by_winnings(players, nets, decided=decided)


def by_winnings(players: Sequence[str], nets: Sequence[int], *, decided: bool) -> Standing:
    """The higher bankroll is ahead, and wins a match that has been played to its end (M4)."""
    return _standing(players, [(net,) for net in nets], decided)


def by_busts(players: Sequence[str], lasts: Mapping[str, Last]) -> Standing:
    """Who has chips is before who is out, and has won if nobody else has any (M5).

    Who went out later is before who went out earlier; of two in one hand, who began it with more.
    """
    ranks: list[Rank] = []
    for last in map(lasts.get, players):
        if last is None:
            ranks.append(())
        else:
            ranks.append((1, last.left) if last.left else (0, last.hand, last.began))
    return _standing(players, ranks, sum(1 in rank[:1] for rank in ranks) == 1)


def _standing(players: Sequence[str], ranks: Sequence[Rank], decided: bool) -> Standing:
    best: dict[Rank, int] = {}
    for place, rank in enumerate(sorted(ranks, reverse=True), 1):
        best.setdefault(rank, place)
    places = tuple(best[rank] for rank in ranks)
    first = [player for player, place in zip(players, places, strict=True) if place == 1]
    alone = first[0] if len(first) == 1 else None
    return Standing(
        winner=alone if decided else None,
        leader=None if decided else alone,
        draw=decided and alone is None,
        places=places,
    )

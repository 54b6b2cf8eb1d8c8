"""What is to happen at a live table: bots fall silent, lose the line, come and go, hand by hand.

A real table has people for that. Here it is announced before, so that anybody can see a clock run
out, and what is written of it, without waiting for an accident.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from dealer.clock import SITE, Times
from dealer.live.chairs import Room
from dealer.live.news import Back, Leaves, Lost, News, Player, Question, Returns, SitsOut
from dealer.live.thinking import Tell

What = Literal["silent", "lost", "back", "sits-out", "returns", "leaves", "joins"]


class Happening(Struct, frozen=True):
    """Something that happens to a player before a hand or in it; who joins is a kind of bot."""

    what: What
    player: str
    hand: int


class Stage(Struct, frozen=True):
    """How long turns are at a table, and what is to happen there."""

    times: Times = SITE
    happenings: tuple[Happening, ...] = ()


STAGE = Stage()


class Staged:
    """A player who says nothing in some hands, and in some loses his connection when asked.

    If he is to be back in the same hand, he is so after `away_ms`, and is then asked again. What
    the table refuses is noted: a wish, or an answer that came too late.
    """

    def __init__(
        self,
        player: str,
        who: Player,
        happenings: Iterable[Happening],
        away_ms: int,
        tell: Tell,
        note: Callable[[str], None],
    ) -> None:
        self._player, self._who = player, who
        self._happens = {(one.what, one.hand) for one in happenings if one.player == player}
        self._away_ms, self._tell, self._note = away_ms, tell, note

    def asked(self, question: Question) -> None:
        number = int(question.seen.hand.rpartition("/")[2])
        if ("lost", number) in self._happens:
            self._happens.remove(("lost", number))
            self._tell(Lost(self._player), 0)
            if ("back", number) in self._happens:
                self._tell(Back(self._player), self._away_ms)
        elif ("silent", number) not in self._happens:
            self._who.asked(question)

    def committed(self, checkpoint: str) -> None:
        self._who.committed(checkpoint)

    def refused(self, sentence: str) -> None:
        self._note(f"{self._player}: {sentence}")


def before(happenings: Iterable[Happening], hand: int) -> Iterator[News]:
    """What is told before this hand begins; not that he is back who is lost only in this hand."""
    here = [one for one in happenings if one.hand == hand]
    lost = {Happening("back", one.player, hand) for one in here if one.what == "lost"}
    for one in here:
        if one.what in _TOLD and one not in lost:
            yield _TOLD[one.what](one.player)


def free_chair(room: Room) -> int | None:
    """The first chair that nobody has or keeps."""
    kept = {away.chair for away in room.away}
    free = (chair for chair, one in enumerate(room.table.chairs) if one is None)
    return next((chair for chair in free if chair not in kept), None)


_TOLD: dict[What, type[Back | SitsOut | Returns | Leaves]] = {
    "back": Back,
    "sits-out": SitsOut,
    "returns": Returns,
    "leaves": Leaves,
}

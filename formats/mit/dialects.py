"""Which engine wrote a gamelog, and with how many chips its hands begin: neither is in any line.

There is a row for each dialect, and nothing about a year elsewhere. A dialect is found by the lines
that only some of them have, and is kept with the match, so that the log is written to the byte
again. The stack is the one that most hands speak for.
"""

from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.bounty_2025 import BOUNTY_2025_MIT
from engine.games.recorded import AUCTION_2024_A0
from engine.games.river_2023 import RIVER_2023_MIT
from engine.games.swap_2022 import SWAP_2022_MIT
from engine.games.toss_2026 import TOSS_2026_MIT
from formats.mit.grammar import RUN
from formats.source import Refused

_USUAL = (200, 400, 800)  # stacks that engines of these games are set to
_SURE = 10  # hands that stop at a smaller stack, to each that goes over it
_NAMED = 3  # outliers that are named one by one


class Engine(Struct, frozen=True):
    """What the logs of an engine hold: by its rules, under the number of that year's course.

    `hands` stand below the streets that swap, `swapped` with the award of who was swapped.
    `auction` are bids, noted after the awards, and bad replies with an exception or an amount.
    `again` is the flop after an auction, `won` the card; `run` is what a run was worth. `worth`
    is the moment at which stakes are divided for the footer, which others do not have; under `kept`
    and `asked_kept` parts of the hand before stay where they are not divided anew. `tosses` have
    streets, and the number of a street stands above an action that was illegal on it. `bounties`
    are told every 25 hands, with standings; `hits` who hit his. Stacks stand below the streets of
    both. No log of our own is `undetermined`.
    """

    rules: Game
    course: Literal["6.176", "6.9630"]
    hands: bool = False
    swapped: bool = False
    auction: bool = False
    again: bool = False
    won: bool = False
    run: bool = False
    bounties: bool = False
    hits: bool = False
    worth: Literal["dealt", "asked", "asked_kept", "kept"] | None = None
    tosses: bool = False
    undetermined: bool = False


_SWAP = Engine(SWAP_2022_MIT, "6.176", hands=True)
_AUCTION = Engine(AUCTION_2024_MIT, "6.9630", auction=True, again=True)
_RIVER = Engine(RIVER_2023_MIT, "6.176")
_BOUNTY = Engine(BOUNTY_2025_MIT, "6.9630", bounties=True)
ENGINES: dict[str, Engine] = {  # of each game the newest first
    "S3": replace(_SWAP, swapped=True, worth="dealt"),
    "S2": replace(_SWAP, swapped=True),
    "S1": _SWAP,
    "no flop": replace(_SWAP, undetermined=True),
    "R2": replace(_RIVER, run=True),
    "R1": _RIVER,
    "T1": Engine(TOSS_2026_MIT, "6.9630", worth="kept", tosses=True),
    "B3": replace(_BOUNTY, hits=True, worth="asked_kept"),
    "B2": replace(_BOUNTY, hits=True),
    "B1": _BOUNTY,
    "A3": replace(_AUCTION, won=True, worth="asked"),
    "A2": replace(_AUCTION, won=True),
    "A1": _AUCTION,
    "no auction": replace(_AUCTION, won=True, undetermined=True),
    "A0": replace(_AUCTION, rules=AUCTION_2024_A0, again=False),
}


def written(game: str) -> tuple[str, ...]:
    """The dialects of a log of our own hands by these rules, the newest first.

    The document of a year is written as its engine is: `auction-2024` as `auction-2024-mit`.
    """
    names = {
        dialect: engine.rules.name
        for dialect, engine in ENGINES.items()
        if game.startswith(engine.rules.name.removesuffix("-mit"))
    }
    nearest = max(names.values(), key=len, default="")
    return tuple(
        dialect
        for dialect, name in names.items()
        if name == nearest and not ENGINES[dialect].undetermined
    )


def own_dialect(game: str, dialect: str | None = None) -> str:
    """The dialect in which a match of our own is written: the newest of its game, unless asked."""
    dialects = written(game)
    if not dialects:
        raise ValueError(f"there is no gamelog of {game}: only of games of Pokerbots")
    if dialect and dialect not in dialects:
        possible = f"only in {', '.join(dialects)}"
        raise ValueError(f"there is no gamelog of {game} in dialect {dialect}: {possible}")
    return dialect or dialects[0]


def dialect_of(header: str, marks: set[str], named: Game | None) -> str:
    """Which engine wrote a log; one without the telling lines is recorded as undetermined, if a
    ruleset is named that says of which game the log is."""
    swap = bool(marks & {"hands", "swapped"})
    auction = bool(marks & {"bids", "note"})
    signs = {"swaps": swap, "runs": "Run" in marks, "auctions": auction}
    signs |= {"bounties": "bounties" in marks, "tosses": "tosses" in marks}
    kinds = [kind for kind, found in signs.items() if found]
    if len(kinds) > 1:
        raise Refused(1, f"{' and '.join(kinds)} in one log: two logs are mixed in this file")
    if "tosses" in marks:
        return "T1"
    if "bounties" in marks:
        return "B3" if "footer" in marks else "B2" if "hits" in marks else "B1"
    if "Run" in marks:
        return "R2" if RUN in marks else "R1"
    if not swap and not auction:
        return _undetermined(header, marks, named)
    if swap:
        return "S3" if "footer" in marks else "S2" if "swapped" in marks else "S1"
    if "footer" in marks:
        return "A3"
    if "bids" not in marks:
        return "no auction"
    if "won" in marks:
        return "A2"
    if "flop twice" in marks and "flop once" in marks:
        raise Refused(1, "some auctions are followed by flop betting, some not: two logs mixed")
    return "A1" if "flop twice" in marks else "A0"


def _undetermined(header: str, marks: set[str], named: Game | None) -> str:
    """The dialect of a log in which nobody swapped, bid or ran."""
    early = header.startswith("6.176 ")
    if early and named is not None and named.name.startswith("river-2023"):
        return "R2"
    if not early:
        raise Refused(1, "no bid, bounty or toss is in it, and logs since 2024 have one of them")
    if marks & {"Flop"}:
        river = "River of Blood (2023) without a run, as --ruleset river-2023-mit says"
        unread = "Blotto (2021) or a year before, which are not read"
        raise Refused(1, f"neither swaps nor runs are in it, so this may be {river}, or {unread}")
    if named is None and "footer" not in marks:
        games = "Swap (2022), River of Blood (2023), Blotto (2021) or a year before"
        say = "--ruleset swap-2022-mit says that it is Swap"
        raise Refused(1, f"no hand reaches a flop, so this may be {games}: {say}")
    return "S3" if "footer" in marks else "no flop"


class Reached(Struct):
    """How many hands came to each largest total of a seat, and which of them was the first."""

    hands: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)

    def add(self, most: int, number: int, hands: int = 1) -> None:
        """Some more hands in which a seat put in so much at most."""
        self.hands[most] = self.hands.get(most, 0) + hands
        self.first.setdefault(most, number)

    def at(self, stack: int) -> int:
        """The hands that stop at exactly so much."""
        return self.hands.get(stack, 0)

    def over(self, stack: int) -> int:
        """The hands that need more."""
        return sum(hands for most, hands in self.hands.items() if most > stack)

    def stack(self, usual: int) -> tuple[int, str]:
        """The stack that most hands speak for, and why it is that one.

        It is the usual one unless two hands or more, and more than stop at it, go over it, or
        unless they stop at a smaller one that engines use, ten for each that goes on.
        """
        for stack in _USUAL:
            if stack < usual and self.at(stack) >= _SURE * max(1, self.over(stack)):
                return stack, f"where {_hands(self.at(stack))} stop, less than the usual {usual}"
        if self._holds(usual):
            return usual, "the usual one of that engine"
        often = sorted(most for most, hands in self.hands.items() if hands > 1)
        larger = [stack for stack in (*_USUAL, *often, max(self.hands)) if stack > usual]
        stack = next(filter(self._holds, larger))
        return stack, f"because {_hands(self.over(usual))} put in more than the usual {usual}"

    def _holds(self, stack: int) -> bool:
        return self.over(stack) <= max(1, self.at(stack))

    def outliers(self, stack: int) -> str:
        """The hands that put in more than this stack, in one sentence; empty if there are none."""
        over = sorted(most for most in self.hands if most > stack)
        if not over:
            return ""
        first = ", ".join(f"{most} in round #{self.first[most]}" for most in over[:_NAMED])
        more = ", ..." if len(over) > _NAMED else ""
        return f"{_hands(self.over(stack))} put in more than that: {first}{more}"


def _hands(count: int) -> str:
    return f"{count} hand{'s' * (count != 1)}"

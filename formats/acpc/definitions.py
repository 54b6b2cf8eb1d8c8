"""Games as the ACPC defines them: a text of a few lines each, and the ruleset it makes.

The definitions behind the public logs are kept as their own text; a log from another one can be
read with it.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from engine.games.recorded import ACPC_LIMIT, ACPC_NL, PLURIBUS
from engine.games.site import script

LIMIT = """
GAMEDEF
limit
numPlayers = {players}
numRounds = 4
blind = {blinds}
raiseSize = 10 10 20 20
firstPlayer = {first}
maxRaises = 3 4 4 4
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
NO_LIMIT = """
GAMEDEF
nolimit
numPlayers = {players}
numRounds = 4
stack = {stacks}
blind = {blinds}
firstPlayer = {first}
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


class Definition(Struct, frozen=True):
    """Whole chips, in the order of positions: the first sits left of the button."""

    limit: bool
    blinds: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    raises: tuple[int, ...] = ()
    stack: int | None = None

    @property
    def players(self) -> int:
        return len(self.blinds)

    @property
    def reversed(self) -> bool:
        """Of two players, the button posts the small blind and is the last position."""
        return self.players == 2 and self.blinds[0] > self.blinds[1]

    @property
    def first(self) -> int:
        """Who acts first before the flop: the position after the largest blind."""
        return (self.blinds.index(max(self.blinds)) + 1) % self.players


def known(limit: bool, players: int) -> Definition:
    """The game of the public logs for so many players; six of them, without limit, are Pluribus."""
    small, big, stack = (5, 10, 0) if limit else (50, 100, 10000 if players == 6 else 20000)
    blinds = (big, small) if players == 2 else (small, big, *(0,) * (players - 2))
    first = 2 if players == 2 else 3
    text = (LIMIT if limit else NO_LIMIT).format(
        players=players,
        blinds=" ".join(map(str, blinds)),
        first=f"{first} 1 1 1",
        stacks=" ".join([str(stack)] * players),
    )
    return defined(text)


def defined(text: str) -> Definition:
    """The definition that a game file holds; what is not Texas hold'em is refused by name."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines or lines[0].lower() != "gamedef" or lines[-1].lower() != "end gamedef":
        raise ValueError("a game definition stands between GAMEDEF and END GAMEDEF")
    kinds = [line.lower() for line in lines[1:-1] if "=" not in line]
    if kinds not in (["limit"], ["nolimit"]):
        raise ValueError(f"a game is limit or nolimit, not {' and '.join(kinds) or 'neither'}")
    numbers = dict(_numbers(line) for line in lines[1:-1] if "=" in line)
    stacks = numbers.get("stack", ())
    if len(set(stacks)) > 1:
        raise ValueError("stacks that differ by position are not read")
    found = Definition(
        limit=kinds == ["limit"],
        blinds=numbers.get("blind", ()),
        sizes=numbers.get("raisesize", ()),
        raises=numbers.get("maxraises", ()),
        stack=stacks[0] if stacks else None,
    )
    _checked(found, numbers)
    return found


def _numbers(line: str) -> tuple[str, tuple[int, ...]]:
    name, _, values = line.partition("=")
    if not re.fullmatch(r"[\d\s]{1,400}", values) or not values.split():
        raise ValueError(f"{name.strip()} is {values.strip() or 'nothing'}: numbers are needed")
    return name.strip().lower(), tuple(int(one) for one in values.split())


def _checked(found: Definition, numbers: dict[str, tuple[int, ...]]) -> None:
    """Four rounds of Texas hold'em with two blinds next to each other."""
    texas = {
        "numrounds": (4,),
        "numsuits": (4,),
        "numranks": (13,),
        "numholecards": (2,),
        "numboardcards": (0, 3, 1, 1),
    }
    for name, value in texas.items():
        if numbers.get(name, value) != value:
            listed = " ".join(map(str, numbers[name][:20]))
            raise ValueError(f"{name} is {listed}: only Texas hold'em is read")
    players = numbers.get("numplayers", (0,))[0]
    if not 2 <= players <= 23 or len(found.blinds) != players:
        raise ValueError(f"{players} players and {len(found.blinds)} blinds make no table")
    if min(sorted(found.blinds)[-2:]) <= 0 or any(found.blinds[2:]):
        raise ValueError("the blinds are posted by the first two positions")
    if players > 2 and found.blinds[0] > found.blinds[1]:
        raise ValueError("the first position posts the small blind")
    first = numbers.get("firstplayer", (found.first + 1, 1, 1, 1))
    if first != (found.first + 1, 1, 1, 1):
        listed = " ".join(map(str, first[:20]))
        raise ValueError(f"firstPlayer {listed} is not left of the big blind, then of the button")
    if found.limit and (len(found.sizes) != 4 or found.sizes[::2] != found.sizes[1::2]):
        raise ValueError("a limit game has one raise size for two rounds, one for the last two")
    cap = found.raises[:1] * 4
    if found.raises and found.raises != tuple(c + (at > 0) for at, c in enumerate(cap)):
        raise ValueError("maxRaises is one more after the first round, where the blind is a bet")
    if not found.limit and found.raises:
        raise ValueError("a cap on the raises of a no-limit game is not read")


def described(found: Definition) -> str:
    """The text of a definition."""
    head = (LIMIT if found.limit else NO_LIMIT).format(
        players=found.players,
        blinds=" ".join(map(str, found.blinds)),
        first=f"{found.first + 1} 1 1 1",
        stacks=" ".join([str(found.stack)] * found.players),
    )
    if found.limit:
        head = head.replace("10 10 20 20", " ".join(map(str, found.sizes)))
        caps = f"maxRaises = {' '.join(map(str, found.raises))}\n" if found.raises else ""
        head = head.replace("maxRaises = 3 4 4 4\n", caps)
    return head.lstrip()


def ruleset(found: Definition, per: int) -> tuple[Game, int]:
    """The corpus ruleset at these stakes, and the stack; amounts in so many units a chip."""
    small, big = (blind * per for blind in sorted(found.blinds[:2]))
    base = ACPC_LIMIT if found.limit else PLURIBUS if found.players == 6 else ACPC_NL
    low, high = (found.sizes[0] * per, found.sizes[2] * per) if found.limit else (big, big)
    game = replace(
        base,
        script=script(small, big, low, high),
        unit={1: "chip", 2: "half chip"}.get(per, f"1/{per} chip"),
        raise_cap=found.raises[0] if found.raises else None,
        heads_up_blinds="button_small" if found.players > 2 or found.reversed else "left_small",
    )
    stack = max(base.stack, _enough(found) * per) if found.stack is None else found.stack * per
    return replace(game, stack=stack), stack


def _enough(found: Definition) -> int:
    """More chips than a capped hand can take from anybody; without a cap, a hundred raises."""
    caps = found.raises or (99,) * 4
    sizes = found.sizes or (max(found.blinds),) * 4
    return max(found.blinds) + sum((cap + 1) * size for cap, size in zip(caps, sizes, strict=True))

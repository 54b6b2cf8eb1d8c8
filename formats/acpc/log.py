"""Parse the game definition of an ACPC log, and write hands as its lines.

A game is defined in a text of a few lines; the definitions behind the public logs are kept as their
own text, and a log from another one can be read with it, or carries it in comments.

Names, cards and results stand in the order of positions, the first left of the button; a raise is
the total over the whole hand. After the hands comes the score that they add up to.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from engine.games.imported import ACPC_LIMIT, ACPC_NL, PLURIBUS
from engine.games.site import script
from engine.policies import per_chip
from engine.seats import clockwise
from engine.steps import Blinds
from events.cards import UNKNOWN
from events.evolve import evolve, replay
from events.match import SourceNoted
from events.types import (
    Bet,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    RakeTaken,
)
from formats.site_stakes import Inexpressible, bet_sizes, check_holdem

Hands = Iterable[tuple[Game, Events]]

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


class GameDefinition(Struct, frozen=True):
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
        """Whether, of two players, the button posts the small blind and is the last position."""
        return self.players == 2 and self.blinds[0] > self.blinds[1]

    @property
    def first(self) -> int:
        """The position that acts first before the flop: the one after the largest blind."""
        return (self.blinds.index(max(self.blinds)) + 1) % self.players


def public_definition(limit: bool, players: int) -> GameDefinition:
    """The game of the public logs for so many players; six of them, without limit, are Pluribus."""
    small, big, stack = (5, 10, 0) if limit else (50, 100, 10000 if players == 6 else 20000)
    blinds = (big, small) if players == 2 else (small, big, *(0,) * (players - 2))
    return parse_definition(_definition_text(GameDefinition(limit, blinds, stack=stack), players))


def _definition_text(definition: GameDefinition, players: int) -> str:
    """The definition of the public logs with these blinds and stacks, for so many players."""
    return (LIMIT if definition.limit else NO_LIMIT).format(
        players=players,
        blinds=" ".join(map(str, definition.blinds)),
        first=f"{definition.first + 1} 1 1 1",
        stacks=" ".join([str(definition.stack)] * players),
    )


def parse_definition(text: str) -> GameDefinition:
    """The definition that a game file holds; what is not Texas hold'em is refused by name."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines or lines[0].lower() != "gamedef" or lines[-1].lower() != "end gamedef":
        raise ValueError("a game definition stands between GAMEDEF and END GAMEDEF")
    kinds = [line.lower() for line in lines[1:-1] if "=" not in line]
    if kinds not in (["limit"], ["nolimit"]):
        raise ValueError(f"a game is limit or nolimit, not {' and '.join(kinds) or 'neither'}")
    numbers: dict[str, tuple[int, ...]] = {}
    for line in lines[1:-1]:
        name, equals, values = map(str.strip, line.partition("="))
        if equals and not re.fullmatch(r"[\d\s]{1,400}", values):
            raise ValueError(f"{name} is {values or 'nothing'}: numbers are needed")
        if equals:
            numbers[name.lower()] = tuple(map(int, values.split()))
    stacks = numbers.get("stack", ())
    if len(set(stacks)) > 1:
        raise ValueError("stacks that differ by position are not read")
    definition = GameDefinition(
        limit=kinds == ["limit"],
        blinds=numbers.get("blind", ()),
        sizes=numbers.get("raisesize", ()),
        raises=numbers.get("maxraises", ()),
        stack=stacks[0] if stacks else None,
    )
    _check_texas(definition, numbers)
    return definition


def _check_texas(definition: GameDefinition, numbers: dict[str, tuple[int, ...]]) -> None:
    """Refuse all but four rounds of Texas hold'em with two blinds next to each other."""
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
    if not 2 <= players <= 23 or len(definition.blinds) != players:
        raise ValueError(f"{players} players and {len(definition.blinds)} blinds make no table")
    if min(sorted(definition.blinds)[-2:]) <= 0 or any(definition.blinds[2:]):
        raise ValueError("the blinds are posted by the first two positions")
    if players > 2 and definition.blinds[0] > definition.blinds[1]:
        raise ValueError("the first position posts the small blind")
    first = numbers.get("firstplayer", (definition.first + 1, 1, 1, 1))
    if first != (definition.first + 1, 1, 1, 1):
        listed = " ".join(map(str, first[:20]))
        raise ValueError(f"firstPlayer {listed} is not left of the big blind, then of the button")
    if definition.limit and (
        len(definition.sizes) != 4 or definition.sizes[::2] != definition.sizes[1::2]
    ):
        raise ValueError("a limit game has one raise size for two rounds, one for the last two")
    cap = definition.raises[:1] * 4
    if definition.raises and definition.raises != tuple(c + (at > 0) for at, c in enumerate(cap)):
        raise ValueError("maxRaises is one more after the first round, where the blind is a bet")
    if not definition.limit and definition.raises:
        raise ValueError("a cap on the raises of a no-limit game is not read")


def definition_text(definition: GameDefinition) -> str:
    """The text of a definition."""
    head = _definition_text(definition, definition.players)
    if definition.limit:
        head = head.replace("10 10 20 20", " ".join(map(str, definition.sizes)))
        caps = f"maxRaises = {' '.join(map(str, definition.raises))}\n" if definition.raises else ""
        head = head.replace("maxRaises = 3 4 4 4\n", caps)
    return head.lstrip()


def ruleset(definition: GameDefinition, per: int) -> tuple[Game, int]:
    """The corpus ruleset at these stakes, and the stack; amounts in so many units a chip."""
    small, big = (blind * per for blind in sorted(definition.blinds[:2]))
    base = ACPC_LIMIT if definition.limit else PLURIBUS if definition.players == 6 else ACPC_NL
    low, high = (
        (definition.sizes[0] * per, definition.sizes[2] * per) if definition.limit else (big, big)
    )
    game = replace(
        base,
        script=script(small, big, low, high),
        unit={1: "chip", 2: "half chip"}.get(per, f"1/{per} chip"),
        raise_cap=definition.raises[0] if definition.raises else None,
        heads_up_blinds="button_small"
        if definition.players > 2 or definition.reversed
        else "left_small",
    )
    if definition.stack is not None:
        stack = definition.stack * per
    else:  # more than a capped hand can take from anybody; without a cap, a hundred raises
        caps = definition.raises or (99,) * 4
        sizes = definition.sizes or (max(definition.blinds),) * 4
        bets = sum((cap + 1) * size for cap, size in zip(caps, sizes, strict=True))
        stack = max(base.stack, (max(definition.blinds) + bets) * per)
    return replace(game, stack=stack), stack


# Hands.


def write(hands: Hands, note: SourceNoted | None = None, *, lossy: bool = False) -> Iterator[str]:
    """The lines of a log; `lossy` drops who mucked and which choices were made by default."""
    first: GameDefinition | None = None
    total = dict[str, Fraction]()
    for game, record in hands:
        _check_hand(game, record, lossy)
        own = definition_of_game(game, record)
        if first is None:
            first = own
            if note is not None and note.format == "acpc":
                yield note.header
            elif own != public_definition(own.limit, own.players):
                yield from (f"# {line}\n" for line in definition_text(own).splitlines())
        elif own != first:
            raise Inexpressible("an ACPC log has one game, with the same stacks in every hand")
        yield _line(game, record, total)
    if total and (note is None or note.footer):
        scores = "|".join(_result(total[name]) for name in total)
        yield f"SCORE:{scores}:{'|'.join(total)}\n"


def definition_of_game(game: Game, record: Events) -> GameDefinition:
    """The game of a hand as the ACPC defines it, in whole chips."""
    start, blinds = record[0], game.script[0]
    assert isinstance(start, HandStarted)
    assert isinstance(blinds, Blinds)
    limit, seats = game.sizing == "fixed", len(start.stacks)
    small, big = _chips(game, blinds.small), _chips(game, blinds.big)
    low, high = (_chips(game, size) for size in bet_sizes(game, "ACPC"))
    if not limit and (low, high) != (big, big):
        raise Inexpressible("ACPC knows no smallest bet but the big blind")
    stack = None if limit else _chips(game, start.stacks[0])
    if not limit and len(set(start.stacks)) > 1:
        raise Inexpressible("ACPC gives every seat the same stack")
    cap = game.raise_cap
    return GameDefinition(
        limit=limit,
        blinds=(big, small) if seats == 2 else (small, big, *(0,) * (seats - 2)),
        sizes=(low, low, high, high) if limit else (),
        raises=(cap, cap + 1, cap + 1, cap + 1) if limit and cap is not None else (),
        stack=stack,
    )


def _check_hand(game: Game, record: Events, lossy: bool) -> None:
    """Refuse what ACPC, besides other games, has no word for."""
    check_holdem(game, record, "ACPC")
    start, blinds = record[0], game.script[0]
    assert isinstance(start, HandStarted)
    if not isinstance(blinds, Blinds) or blinds.ante:
        raise Inexpressible("ACPC has no word for antes and straddles")
    if start.dead_small:
        raise Inexpressible("ACPC has no word for a small blind that nobody posts")
    for name in start.players:
        if not name or set(name) & set(":|#\r\n"):
            raise Inexpressible(f"ACPC separates names by | and fields by :, so none is {name!r}")
    if len(set(start.players)) < len(start.players):
        raise Inexpressible("ACPC sums results by name: no two players share one")
    hand = replay(record)
    if game.sizing == "fixed" and "all_in" in hand.standing:
        raise Inexpressible("ACPC knows no all-in where the bets are fixed: stacks have no end")
    for event in record:
        match event:
            case BlindPosted(kind=kind) if kind not in ("small", "big"):
                raise Inexpressible("ACPC has no word for a newcomer's post")
            case RakeTaken():
                raise Inexpressible("ACPC has no word for a rake")
            case PotSplit(shares=shares) if len(set(shares)) > 1:
                why = "into fractions of a chip: no seat gets an odd one"
                raise Inexpressible(f"ACPC splits every pot evenly, {why}")
            case Mucked() if not lossy:
                raise Inexpressible("ACPC has no word for a hand thrown away at the showdown")
            case Folded(origin="default") | Checked(origin="default") if not lossy:
                raise Inexpressible("ACPC has no word for a choice made by default")


def _line(game: Game, record: Events, total: dict[str, Fraction]) -> str:
    start = record[0]
    assert isinstance(start, HandStarted)
    hand = replay((start,))
    order = clockwise(hand, start.button)
    betting = list[str]()
    board = list[str]()
    for event in record[1:]:
        hand = evolve(hand, event)
        match event:
            case BoardDealt(cards=dealt):
                betting.append("/")
                board.append(_cards(dealt))
            case Folded():
                betting.append("f")
            case Checked() | Called():
                betting.append("c")
            case Bet(seat=seat) | Raised(seat=seat):
                to = "" if game.sizing == "fixed" else _chips(game, hand.paid[seat])
                betting.append(f"r{to}")
    held = {e.seat: e.cards for e in record if isinstance(e, HoleDealt)}
    names = [start.players[seat] for seat in order]
    per = per_chip(game.unit)
    nets = [Fraction(hand.stacks[seat] - start.stacks[seat], per) for seat in order]
    for name, net in zip(names, nets, strict=True):
        total[name] = total.get(name, Fraction(0)) + net
    cards = "/".join(["|".join(_cards(held[seat]) for seat in order), *board])
    number = start.hand.rpartition("/")[2]
    number = number if number.isdecimal() else "0"
    results = "|".join(map(_result, nets))
    return f"STATE:{number}:{''.join(betting)}:{cards}:{results}:{'|'.join(names)}\n"


def _cards(cards: tuple[str, ...]) -> str:
    return "" if UNKNOWN in cards else "".join(cards)


def _chips(game: Game, amount: int) -> int:
    chips, rest = divmod(amount, per_chip(game.unit))
    if rest:
        raise Inexpressible(f"ACPC bets whole chips: {amount} {game.unit}s are none")
    return chips


def _result(net: Fraction | int) -> str:
    """Whole, or with as many decimals as the dealer writes."""
    return str(net) if net == int(net) else f"{float(net):.6f}".rstrip("0")

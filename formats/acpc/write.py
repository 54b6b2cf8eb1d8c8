"""Hands as lines of a dealer log, with the score they add up to.

Names, cards and results stand in the order of positions, the first left of the button; a raise is
the total over the whole hand. A game that is not one of the public logs' is defined in comments.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from engine.game import Game
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
from formats.acpc.definitions import Definition, described, known
from formats.holdem import Inexpressible, bet_sizes, check

Hands = Iterable[tuple[Game, Events]]


def write(hands: Hands, note: SourceNoted | None = None, *, lossy: bool = False) -> Iterator[str]:
    """The lines of a log; `lossy` drops who mucked and which choices were made by default."""
    first: Definition | None = None
    total = dict[str, Fraction]()
    for game, record in hands:
        _check(game, record, lossy)
        own = definition(game, record)
        if first is None:
            first = own
            if note is not None and note.format == "acpc":
                yield note.header
            elif own != known(own.limit, own.players):
                yield from (f"# {line}\n" for line in described(own).splitlines())
        elif own != first:
            raise Inexpressible("an ACPC log has one game, with the same stacks in every hand")
        yield _line(game, record, total)
    if total and (note is None or note.footer):
        scores = "|".join(_result(total[name]) for name in total)
        yield f"SCORE:{scores}:{'|'.join(total)}\n"


def definition(game: Game, record: Events) -> Definition:
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
    return Definition(
        limit=limit,
        blinds=(big, small) if seats == 2 else (small, big, *(0,) * (seats - 2)),
        sizes=(low, low, high, high) if limit else (),
        raises=(cap, cap + 1, cap + 1, cap + 1) if limit and cap is not None else (),
        stack=stack,
    )


def _check(game: Game, record: Events, lossy: bool) -> None:
    """Refuse what ACPC, besides other games, has no word for."""
    check(game, record, "ACPC")
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

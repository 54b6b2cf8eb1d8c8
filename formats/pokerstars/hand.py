"""The seats, whole units of money, cards and choices of a PokerStars hand as a source hand."""

from collections.abc import Iterable
from math import gcd

from msgspec.structs import replace

from engine.games.recorded import POKERSTARS_NL
from events.cards import UNKNOWN
from events.types import Cards
from formats.pokerstars.chips import housed, payment, put_in
from formats.pokerstars.forced import posted
from formats.pokerstars.grammar import Acts, Posts, Totals, Turns, Unread
from formats.pokerstars.house import House, Houses
from formats.pokerstars.played import Line, Played, Street
from formats.rakes import Unlisted
from formats.source import Act, Board, Holds, Item, Mucks, Shows, SourceHand

CHIPS_MAX = 10**12

_MOVING = (Posts, Acts)
_CASH_UNITS = {"€": "euro cent", "£": "penny"}
_CHIP_UNITS = {100: "chip", 50: "half chip"}


def source_hand(whole: Played, number: int, line: int, houses: Houses, stakes: str) -> SourceHand:
    """The hand in whole units of its money, or `Unread` with the reason why not."""
    grain, unit = _grain(whole)
    names = dealt_in(whole)
    house = houses.of(stakes, whole, len(names))
    whole = _in_units(whole, grain)
    stacks = tuple(one.stack for one in whole.chairs if one.name in names)
    _seatable(names, stacks)
    seats = {name: seat for seat, name in enumerate(names)}
    forced = posted(whole, seats, stacks, unit)
    money = put_in(whole, seats, stacks, forced)
    paid = payment(whole, seats, money)
    if grain == 50 and isinstance(house, House) and house.rake.percent:
        house = None
    game, assumed = housed(whole, forced.game, money, paid, house)
    if _folded_all_in(whole):
        game = replace(game, forced_all_in="may_fold")
        assumed = (*assumed, "absent: who sits out folds, also all-in by blind or ante")
    return SourceHand(
        game=game,
        number=number,
        line=line,
        source_id=whole.header.source_id,
        button=forced.button,
        players=names,
        stacks=stacks,
        items=_items(whole, seats),
        posts=forced.posts,
        dead_small=forced.dead_small,
        paid=paid.paid,
        nets=paid.nets,
        rake=whole.totals.rake,
        inferred=(
            *forced.inferred,
            *(house.noted(assumed) if isinstance(house, Unlisted) else ()),
        ),
        assumed=(*forced.assumed, *assumed),
        played=whole.header.played,
    )


def _folded_all_in(whole: Played) -> bool:
    """Whether somebody folds who is said to sit out, and whose blinds and antes took all he had.

    That is the site's own answer, by which others win what he could have: no rules of ours say so.
    """
    left = {one.name: one.stack for one in whole.chairs if one.out}
    for line in whole.lines:
        if isinstance(line, Line) and line.name in left:
            match line.what:
                case Posts(amount=amount):
                    left[line.name] -= amount
                case Acts(verb="folds"):
                    if not left[line.name]:
                        return True
                case _:
                    del left[line.name]
    return False


def _items(whole: Played, seats: dict[str, int]) -> tuple[Item, ...]:
    """Cards that are known from anywhere in the text come first, then everything in order."""
    items: list[Item] = [Holds(seats[name], held) for name, held in _held(whole).items()]
    for line in whole.lines:
        match line:
            case Line(name=name, what=Acts() as what, late=late):
                items.append(_act(seats[name], what, late))
            case Street(cards=cards):
                items.append(Board(cards))
            case Line(name=name, what=Turns(cards=None)):
                items.append(Mucks(seats[name]))
            case Line(name=name, what=Turns(cards=cards)) if cards and _whole(cards):
                items.append(Shows(seats[name], cards))
    return tuple(items)


def _act(seat: int, what: Acts, late: bool) -> Act:
    match what.verb:
        case "folds":
            return Act(seat, "fold", default=late)
        case "checks":
            return Act(seat, "check", default=late)
        case "calls":
            return Act(seat, "call", amount=what.amount)
    return Act(seat, "raise", to=what.amount)


def _held(whole: Played) -> dict[str, Cards]:
    """The hole cards of everybody whose cards, or one of them, the text names somewhere."""
    held: dict[str, Cards] = {}
    for name, cards in whole.known:
        if len(cards) > 2:
            raise Unread(f"{name} holds {len(cards)} cards")
        if name not in held or not _whole(held[name]):
            held[name] = (*cards, UNKNOWN, UNKNOWN)[:2]
        elif not {*cards, UNKNOWN} <= {*held[name], UNKNOWN}:
            raise Unread(f"{name} holds {' '.join(held[name])}, and then {' '.join(cards)}")
    return held


def _whole(cards: Cards) -> bool:
    return len(cards) == 2 and UNKNOWN not in cards


# Units and seats.


def _grain(whole: Played) -> tuple[int, str]:
    """How many hundredths the unit has: a cent of cash; a chip, or the part of one that occurs."""
    if whole.header.sign:
        return 1, _CASH_UNITS.get(whole.header.sign, "cent")
    grain = gcd(100, *(amount for amount in _amounts(whole)))
    grain = 100 if grain == 100 else 50 if grain == 50 else 1
    return grain, _CHIP_UNITS.get(grain, "hundredth of a chip")


def _amounts(whole: Played) -> Iterable[int]:
    yield from (one.stack for one in whole.chairs)
    for line in whole.lines:
        if isinstance(line, Line) and isinstance(line.what, _MOVING):
            yield line.what.amount
            if isinstance(line.what, Acts):
                yield line.what.over
    yield from (amount for _, amount in whole.back)
    yield from (take.amount for _, take in whole.takes)
    yield from (whole.header.low, whole.header.high)
    yield from (whole.totals.total, whole.totals.rake, *whole.totals.parts)


def _in_units(whole: Played, grain: int) -> Played:
    """The same hand, every amount divided by the grain."""
    if max(_amounts(whole)) // grain > CHIPS_MAX:
        raise Unread("an amount is larger than any table has held")
    if grain == 1:
        return whole
    totals = whole.totals
    return replace(
        whole,
        header=replace(
            whole.header, low=whole.header.low // grain, high=whole.header.high // grain
        ),
        chairs=tuple(replace(one, stack=one.stack // grain) for one in whole.chairs),
        lines=tuple(_line_in_units(line, grain) for line in whole.lines),
        back=tuple((name, amount // grain) for name, amount in whole.back),
        takes=tuple(
            (name, replace(take, amount=take.amount // grain)) for name, take in whole.takes
        ),
        totals=Totals(
            totals.total // grain,
            tuple(part // grain for part in totals.parts),
            totals.rake // grain,
        ),
    )


def _line_in_units(line: Line | Street, grain: int) -> Line | Street:
    if isinstance(line, Street) or isinstance(line.what, Turns):
        return line
    what = replace(line.what, amount=line.what.amount // grain)
    if isinstance(what, Acts):
        what = replace(what, over=what.over // grain)
    return replace(line, what=what)


def dealt_in(whole: Played) -> tuple[str, ...]:
    """Players who post, act, hold cards or are paid, in the order of seats; others sit out."""
    there = {line.name for line in whole.lines if isinstance(line, Line)}
    there.update(name for name, _ in (*whole.known, *whole.takes))
    return tuple(one.name for one in whole.chairs if one.name in there)


def _seatable(names: tuple[str, ...], stacks: tuple[int, ...]) -> None:
    if not 2 <= len(names) <= POKERSTARS_NL.seats_max:
        raise Unread(f"{len(names)} players are dealt in")
    if 0 in stacks:
        raise Unread(f"{names[stacks.index(0)]} plays without chips")

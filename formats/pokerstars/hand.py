"""A PokerStars hand as a source hand: seats, whole units of money, cards, choices, sums."""

from collections.abc import Iterable
from math import gcd

from msgspec import Struct, field
from msgspec.structs import replace

from engine.game import Game
from engine.games.recorded import POKERSTARS_NL
from engine.pots import layers
from events.cards import UNKNOWN, Cards
from formats.pokerstars.fitted_rake import House, Houses, Till, coin, raked, split_by
from formats.pokerstars.forced import Forced, posted
from formats.pokerstars.grammar import Acts, Posts, Totals, Turns, Unread
from formats.pokerstars.played import Played, PlayerLine, Street
from formats.rakes import Known, Unlisted
from formats.source import Act, Board, Holds, Item, Mucks, Paid, Shows, SourceHand

CHIPS_MAX = 10**12

_MOVING = (Posts, Acts)
_CASH_UNITS = {"€": "euro cent", "£": "penny"}
_CHIP_UNITS = {100: "chip", 50: "half chip"}


def source_hand(hand: Played, number: int, line: int, houses: Houses, stakes: str) -> SourceHand:
    """The hand in whole units of its money, or `Unread` with the reason why not."""
    # So many hundredths has the unit: a cent of cash; a chip, or the part of one that occurs.
    if hand.header.sign:
        grain, unit = 1, _CASH_UNITS.get(hand.header.sign, "cent")
    else:
        grain = gcd(100, *_amounts(hand))
        grain = grain if grain in _CHIP_UNITS else 1
        unit = _CHIP_UNITS.get(grain, "hundredth of a chip")
    names = dealt_in(hand)
    house = houses.of(stakes, hand, len(names))
    hand = _in_units(hand, grain)
    stacks = tuple(chair.stack for chair in hand.chairs if chair.name in names)
    if not 2 <= len(names) <= POKERSTARS_NL.seats_max:
        raise Unread(f"{len(names)} players are dealt in")
    if 0 in stacks:
        raise Unread(f"{names[stacks.index(0)]} plays without chips")
    seats = {name: seat for seat, name in enumerate(names)}
    forced = posted(hand, seats, stacks, unit)
    money = put_in(hand, seats, stacks, forced)
    paid = payment(hand, seats, money)
    if grain == 50 and isinstance(house, House) and house.rake.percent:
        house = None
    game, assumed = housed(hand, forced.game, money, paid, house)
    if _folded_all_in(hand):
        game = replace(game, forced_all_in="may_fold")
        assumed = (*assumed, "absent: who sits out folds, also all-in by blind or ante")
    return SourceHand(
        game=game,
        number=number,
        line=line,
        source_id=hand.header.source_id,
        button=forced.button,
        players=names,
        stacks=stacks,
        items=_items(hand, seats),
        posts=forced.posts,
        dead_small=forced.dead_small,
        paid=paid.paid,
        nets=paid.nets,
        rake=hand.totals.rake,
        inferred=(
            *forced.inferred,
            *(house.noted(assumed) if isinstance(house, Unlisted) else ()),
        ),
        assumed=(*forced.assumed, *assumed),
        played=hand.header.played,
    )


def _folded_all_in(hand: Played) -> bool:
    """Whether somebody folds who is said to sit out, and whose blinds and antes took all he had.

    That is the site's own answer, by which others win what he could have: no rules of ours say so.
    """
    left = {chair.name: chair.stack for chair in hand.chairs if chair.out}
    for line in hand.lines:
        if isinstance(line, PlayerLine) and line.name in left:
            match line.what:
                case Posts(amount=amount):
                    left[line.name] -= amount
                case Acts(verb="folds"):
                    if not left[line.name]:
                        return True
                case _:
                    del left[line.name]
    return False


def _items(hand: Played, seats: dict[str, int]) -> tuple[Item, ...]:
    """Cards that are known from anywhere in the text come first, then everything in order."""
    items: list[Item] = [Holds(seats[name], held) for name, held in _held(hand).items()]
    for line in hand.lines:
        match line:
            case PlayerLine(name=name, what=Acts(verb="folds"), late=late):
                items.append(Act(seats[name], "fold", default=late))
            case PlayerLine(name=name, what=Acts(verb="checks"), late=late):
                items.append(Act(seats[name], "check", default=late))
            case PlayerLine(name=name, what=Acts(verb="calls", amount=amount)):
                items.append(Act(seats[name], "call", amount=amount))
            case PlayerLine(name=name, what=Acts(amount=amount)):
                items.append(Act(seats[name], "raise", to=amount))
            case Street(cards=cards):
                items.append(Board(cards))
            case PlayerLine(name=name, what=Turns(cards=None)):
                items.append(Mucks(seats[name]))
            case PlayerLine(name=name, what=Turns(cards=cards)) if cards and _whole(cards):
                items.append(Shows(seats[name], cards))
    return tuple(items)


def _held(hand: Played) -> dict[str, Cards]:
    """The hole cards of everybody whose cards, or one of them, the text names somewhere."""
    held: dict[str, Cards] = {}
    for name, cards in hand.known:
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


def _amounts(hand: Played) -> Iterable[int]:
    yield from (chair.stack for chair in hand.chairs)
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, _MOVING):
            yield line.what.amount
            if isinstance(line.what, Acts):
                yield line.what.over
    yield from (amount for _, amount in hand.back)
    yield from (take.amount for _, take in hand.takes)
    yield from (hand.header.low, hand.header.high)
    yield from (hand.totals.total, hand.totals.rake, *hand.totals.parts)


def _in_units(hand: Played, grain: int) -> Played:
    """The same hand, every amount divided by the grain."""
    if max(_amounts(hand)) // grain > CHIPS_MAX:
        raise Unread("an amount is larger than any table has held")
    if grain == 1:
        return hand
    header, totals = hand.header, hand.totals
    lines: list[PlayerLine | Street] = []
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, _MOVING):
            deed = replace(line.what, amount=line.what.amount // grain)
            if isinstance(deed, Acts):
                deed = replace(deed, over=deed.over // grain)
            line = replace(line, what=deed)
        lines.append(line)
    return replace(
        hand,
        header=replace(header, low=header.low // grain, high=header.high // grain),
        chairs=tuple(replace(chair, stack=chair.stack // grain) for chair in hand.chairs),
        lines=tuple(lines),
        back=tuple((name, amount // grain) for name, amount in hand.back),
        takes=tuple(
            (name, replace(take, amount=take.amount // grain)) for name, take in hand.takes
        ),
        totals=Totals(
            totals.total // grain,
            tuple(part // grain for part in totals.parts),
            totals.rake // grain,
        ),
    )


def dealt_in(hand: Played) -> tuple[str, ...]:
    """Players who post, act, hold cards or are paid, in the order of seats; others sit out."""
    present = {line.name for line in hand.lines if isinstance(line, PlayerLine)}
    present.update(name for name, _ in (*hand.known, *hand.takes))
    return tuple(chair.name for chair in hand.chairs if chair.name in present)


# Sums: what each seat put in, what went back, who was paid, what the house took.


class PutIn(Struct):
    """What every seat has put in; `dead` is nobody's stake. A raise that is not from the bet that
    stood there is `wrong`; some programs write the total twice."""

    paid: list[int]
    dead: list[int]
    bets: list[int]
    folded: set[int] = field(default_factory=set)
    wrong: str = ""


class Payment(Struct, frozen=True):
    """Gross winnings; or nets, where something went back that ours would not give back."""

    paid: tuple[Paid, ...] | None
    nets: tuple[int, ...] | None


def put_in(hand: Played, seats: dict[str, int], stacks: tuple[int, ...], forced: Forced) -> PutIn:
    """Every line's chips, counted seat by seat."""
    none = [0] * len(stacks)
    money = PutIn(paid=list(none), dead=list(none), bets=list(none))
    late = {post.seat: post.amount or 0 for post in forced.posts if post.kind == "dead"}
    for line in hand.lines:
        if not isinstance(line, PlayerLine):
            money.bets = list(none)
            continue
        seat = seats[line.name]
        match line.what:
            case Acts(verb="folds"):
                money.folded.add(seat)
            case Acts(verb="raises", amount=to, over=over):
                if over not in (to, to - (bet := max(money.bets))):
                    money.wrong = f"{line.name} raises {over} to {to}, where {bet} had been bet"
                _bet(money, seat, to - money.bets[seat])
            case Acts(amount=amount):
                _bet(money, seat, amount)
            case Posts(what="the ante", amount=amount):
                money.paid[seat] += amount
            case Posts(what="small & big blinds", amount=amount):
                _dead(money, seat, min(late[seat], amount))
                _bet(money, seat, amount - late[seat])
            case Posts(what="small blind", amount=amount) if seat in late:
                _dead(money, seat, amount)
            case Posts(amount=amount):
                _bet(money, seat, amount)
            case Turns():
                pass
        # Nobody puts in more than he brought, and who is said to be all-in has nothing left.
        put = money.paid[seat] + money.dead[seat]
        stack = stacks[seat]
        if put > stack:
            raise Unread(f"{line.name} puts in more than the {stack} he brought")
        if isinstance(line.what, Acts | Posts) and line.what.all_in and put < stack:
            raise Unread(f"{line.name} is said to be all-in with {stack - put} left")
    return money


def _bet(money: PutIn, seat: int, amount: int) -> None:
    if amount < 0:
        raise Unread("somebody raises to less than he has bet already")
    money.paid[seat] += amount
    money.bets[seat] += amount


def _dead(money: PutIn, seat: int, amount: int) -> None:
    money.dead[seat] += amount


def payment(hand: Played, seats: dict[str, int], money: PutIn) -> Payment:
    """The payment, once every sum that the text prints is right."""
    totals = hand.totals
    won = sum(take.amount for _, take in hand.takes)
    if won + totals.rake != totals.total:
        raise Unread(f"{won} collected and a rake of {totals.rake} are no pot of {totals.total}")
    if totals.parts and sum(totals.parts) + totals.rake != totals.total:
        raise Unread(f"main and side pots do not add up to {totals.total}")
    pots = [0] * max(1, len(totals.parts), *(take.pot + 1 for _, take in hand.takes))
    for _, take in hand.takes:
        pots[take.pot] += take.amount
    if tuple(pots) != (totals.parts or (won,)):
        raise Unread("the summary tells of other pots than were collected")
    # What was put in, less what went back, is the pot; early texts leave out what went back.
    put, unmatched = sum(money.paid) + sum(money.dead), _unmatched(money)
    given_back = sum(amount for _, amount in hand.back)
    unsaid = 0 if hand.back else sum(unmatched.values())
    if totals.total not in (put - given_back, put - unsaid):
        raise Unread(
            f"{put} put in and {given_back} given back are no pot of {totals.total}: "
            "the text does not balance"
        )
    if money.wrong:
        raise Unread(money.wrong)
    back = _by_seat(seats, hand.back)
    won_with_the_pot = put == totals.total and unmatched
    if back == unmatched or not (back or won_with_the_pot):
        return Payment(
            tuple(Paid(seats[name], take.amount, take.pot) for name, take in hand.takes), None
        )
    takes = _by_seat(seats, tuple((name, take.amount) for name, take in hand.takes))
    nets = tuple(
        takes.get(seat, 0) + back.get(seat, 0) - paid - dead
        for seat, (paid, dead) in enumerate(zip(money.paid, money.dead, strict=True))
    )
    return Payment(None, nets)


def _unmatched(money: PutIn) -> dict[int, int]:
    """The part of the highest stake that no other seat matched."""
    *_, matched, most = sorted(money.paid)
    return {money.paid.index(most): most - matched} if most > matched else {}


def _by_seat(seats: dict[str, int], row: tuple[tuple[str, int], ...]) -> dict[int, int]:
    total: dict[int, int] = {}
    for name, amount in row:
        if name not in seats:
            raise Unread(f"{name} is given chips, but was not dealt in")
        total[seats[name]] = total.get(seats[name], 0) + amount
    return total


def housed(
    hand: Played, game: Game, money: PutIn, paid: Payment, house: House | Known | Unlisted | None
) -> tuple[Game, tuple[str, ...]]:
    """The game with the rake and the smallest coin of who paid it, and what of that is assumed."""
    shares: dict[int, list[int]] = {}
    for _, take in hand.takes:
        shares.setdefault(take.pot, []).append(take.amount)
    unit = coin(game, tuple(shares.values()))
    pots = _pots(money)
    taken = tuple(pot - sum(shares.get(at, ())) for at, pot in enumerate(pots))
    rake = hand.totals.rake
    known = paid.paid is not None and min(taken, default=-1) >= 0 and sum(taken) == rake
    flop = any(not isinstance(line, PlayerLine) for line in hand.lines)
    till = Till(pots, taken if known else None, rake, len(money.paid), flop)
    chips = not (hand.header.sign or hand.header.tournament)
    game, assumed = raked(game, till, house, chips=chips)
    if unit == game.split_unit:
        return game, assumed
    return split_by(game, unit), (*assumed, f"odd-chips in coins of {unit}")


def _pots(money: PutIn) -> tuple[int, ...]:
    """The pots from the main one outwards, once the unmatched bet is gone."""
    stakes = list(money.paid)
    for seat, amount in _unmatched(money).items():
        stakes[seat] -= amount
    stay = tuple(seat for seat in range(len(stakes)) if seat not in money.folded)
    dead = sum(money.dead)
    if len(stay) < 2:
        return (sum(stakes) + dead,)
    first, *others = (pot.amount for pot in layers(tuple(stakes), stay))
    return (first + dead, *others)

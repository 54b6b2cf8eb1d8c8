"""The sums of a hand: what each seat put in, what went back, who was paid, what the house took.

A text whose own numbers do not add up is not the site's: such a hand is left out.
"""

from msgspec import Struct, field

from engine.game import Game
from engine.pots import layers
from formats.pokerstars.forced import Forced
from formats.pokerstars.grammar import Acts, Posts, Turns, Unread
from formats.pokerstars.house import House, Till, coin, raked, split_by
from formats.pokerstars.played import Line, Played
from formats.rakes import Known, Unlisted
from formats.source import Paid


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


def put_in(whole: Played, seats: dict[str, int], stacks: tuple[int, ...], forced: Forced) -> PutIn:
    """Every line's chips, counted seat by seat."""
    none = [0] * len(stacks)
    money = PutIn(paid=list(none), dead=list(none), bets=list(none))
    late = {post.seat: post.amount or 0 for post in forced.posts if post.kind == "dead"}
    for line in whole.lines:
        if not isinstance(line, Line):
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
        _spent(line, money.paid[seat] + money.dead[seat], stacks[seat])
    return money


def _spent(line: Line, put: int, stack: int) -> None:
    """Nobody puts in more than he brought, and who is said to be all-in has nothing left."""
    if put > stack:
        raise Unread(f"{line.name} puts in more than the {stack} he brought")
    if isinstance(line.what, Acts | Posts) and line.what.all_in and put < stack:
        raise Unread(f"{line.name} is said to be all-in with {stack - put} left")


def _bet(money: PutIn, seat: int, amount: int) -> None:
    if amount < 0:
        raise Unread("somebody raises to less than he has bet already")
    money.paid[seat] += amount
    money.bets[seat] += amount


def _dead(money: PutIn, seat: int, amount: int) -> None:
    money.dead[seat] += amount


def payment(whole: Played, seats: dict[str, int], money: PutIn) -> Payment:
    """Who was paid, once every sum that the text prints is right."""
    totals = whole.totals
    won = sum(take.amount for _, take in whole.takes)
    if won + totals.rake != totals.total:
        raise Unread(f"{won} collected and a rake of {totals.rake} are no pot of {totals.total}")
    if totals.parts and sum(totals.parts) + totals.rake != totals.total:
        raise Unread(f"main and side pots do not add up to {totals.total}")
    pots = [0] * max(1, len(totals.parts), *(take.pot + 1 for _, take in whole.takes))
    for _, take in whole.takes:
        pots[take.pot] += take.amount
    if tuple(pots) != (totals.parts or (won,)):
        raise Unread("the summary tells of other pots than were collected")
    _balanced(whole, money)
    if money.wrong:
        raise Unread(money.wrong)
    back = _by_seat(seats, whole.back)
    if back == _unmatched(money) or not (back or _leftover(whole, money)):
        return Payment(
            tuple(Paid(seats[name], take.amount, take.pot) for name, take in whole.takes), None
        )
    takes = _by_seat(seats, tuple((name, take.amount) for name, take in whole.takes))
    nets = tuple(
        takes.get(seat, 0) + back.get(seat, 0) - paid - dead
        for seat, (paid, dead) in enumerate(zip(money.paid, money.dead, strict=True))
    )
    return Payment(None, nets)


def _balanced(whole: Played, money: PutIn) -> None:
    """What was put in, less what went back, is the pot; early texts leave out what went back."""
    put = sum(money.paid) + sum(money.dead)
    back = sum(amount for _, amount in whole.back)
    unsaid = 0 if whole.back else sum(_unmatched(money).values())
    if whole.totals.total not in (put - back, put - unsaid):
        raise Unread(
            f"{put} put in and {back} given back are no pot of {whole.totals.total}: "
            "the text does not balance"
        )


def _leftover(whole: Played, money: PutIn) -> bool:
    """Whether a bet that nobody matched was won with the pot, not given back."""
    put = sum(money.paid) + sum(money.dead)
    return put == whole.totals.total and bool(_unmatched(money))


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
    whole: Played, game: Game, money: PutIn, paid: Payment, house: House | Known | Unlisted | None
) -> tuple[Game, tuple[str, ...]]:
    """The game with the rake and the smallest coin of who paid it, and what of that is assumed."""
    shares: dict[int, list[int]] = {}
    for _, take in whole.takes:
        shares.setdefault(take.pot, []).append(take.amount)
    unit = coin(game, tuple(shares.values()))
    pots = _pots(money)
    taken = tuple(pot - sum(shares.get(at, ())) for at, pot in enumerate(pots))
    rake = whole.totals.rake
    known = paid.paid is not None and min(taken, default=-1) >= 0 and sum(taken) == rake
    flop = any(not isinstance(line, Line) for line in whole.lines)
    till = Till(pots, taken if known else None, rake, len(money.paid), flop)
    chips = not (whole.header.sign or whole.header.tournament)
    found, assumed = raked(game, till, house, chips=chips)
    if unit == game.split_unit:
        return found, assumed
    return split_by(found, unit), (*assumed, f"odd-chips in coins of {unit}")


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

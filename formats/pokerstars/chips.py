"""Find the forced bets that explain the posts of a hand, and check its payment.

The rules post antes and blinds by themselves, so the text is not followed but compared. A hand
with forced chips that no rule of ours posts is left out, and so is one whose sums are not those
that its text prints.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from engine.game import Game
from engine.games import IMPORTED
from engine.games.site import at_stakes
from engine.pots import layers, split
from engine.steps import Blinds, Posts
from engine.turn import Post
from formats.fitted_rake import HandRake, HouseRake, game_with_rake
from formats.pokerstars import grammar
from formats.pokerstars.grammar import ActionLine, CardsLine, Unreadable
from formats.pokerstars.parsed_hand import ParsedHand, PlayerLine
from formats.rakes import ListedRake, UnlistedRake
from formats.source import Paid

PostedAmounts = dict[str, dict[int, int]]  # what was posted: by which seat, how much

_ANTE, _SMALL, _BIG, _BOTH = "the ante", "small blind", "big blind", "small & big blinds"
_STRADDLE = "straddle"


class ForcedBets(Struct, frozen=True):
    """The game, where its button is, and what is posted beside its own blinds."""

    game: Game
    button: int
    posts: tuple[Post, ...] = ()
    dead_small: bool = False
    inferred: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class _Sizes(Struct, frozen=True):
    """The forced bets of every seat by the rules, as far as it has the chips."""

    small: int
    big: int
    ante: int
    left: tuple[int, ...]  # the stacks after the antes


def matching_forced_bets(
    hand: ParsedHand, seats: dict[str, int], stacks: tuple[int, ...], unit: str
) -> ForcedBets:
    """The first arrangement under which the rules post what was posted."""
    kinds: PostedAmounts = {_ANTE: {}, _SMALL: {}, _BIG: {}, _BOTH: {}, _STRADDLE: {}}
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, grammar.PostLine):
            row, seat = kinds[line.what.what], seats[line.name]
            if seat in row:
                raise Unreadable(f"{line.name} posts {line.what.what} twice")
            row[seat] = line.what.amount
    sizes, assumed = _forced_sizes(hand, kinds, stacks)
    # The ruleset of this sizing at these stakes; who plays for chips pays no rake.
    header = hand.header
    high = header.high if header.limit == "fl" else None
    raked = bool(header.sign or hand.totals.rake) and not header.tournament
    base = IMPORTED[f"{header.site}-{header.limit}"]
    game = _game_at_stakes(base, sizes.small, sizes.big, high, sizes.ante, unit, raked)
    inferred = ("cap",) if hand.header.capped else ()
    if hand.header.capped and any(
        isinstance(line, PlayerLine) and isinstance(line.what, ActionLine) and line.what.capped
        for line in hand.lines
    ):
        raise Unreadable("a bet has reached the cap of its table: no ruleset of ours knows one")
    if kinds[_ANTE] != {
        seat: min(sizes.ante, had) for seat, had in enumerate(stacks) if sizes.ante
    }:
        raise Unreadable("some pay an ante and some do not, or not the same")
    numbers = [chair.number for chair in hand.chairs if chair.name in seats]
    button = (sum(number <= hand.button for number in numbers) - 1) % len(numbers)
    if hand.button not in numbers:  # nobody is dealt in there
        assumed = (*assumed, f"button of empty seat {hand.button} is the next to its right")
    for placed, small, big in _blind_places(game, button, len(seats)):
        posts = _other_posts(kinds, sizes, small, big)
        if posts is not None:
            if placed != game:
                inferred = (*inferred, "heads_up_blinds")
            if kinds[_STRADDLE]:
                placed = _straddled(placed, kinds[_STRADDLE], sizes, button, (small, big))
            return ForcedBets(placed, button, posts, small is None, inferred, assumed)
    names = tuple(seats)
    blinds = (
        f"{names[seat]} {kind} {paid}"
        for kind in (_SMALL, _BIG, _BOTH)
        for seat, paid in kinds[kind].items()
    )
    listed = ", ".join(blinds)[:120] or "there are none"
    raise Unreadable(f"the blinds are not where the rules put them: {listed}")


def _forced_sizes(
    hand: ParsedHand, posted: PostedAmounts, stacks: tuple[int, ...]
) -> tuple[_Sizes, tuple[str, ...]]:
    """The header's stakes, which every seat with chips left really posts.

    Of a fixed limit they are the bets: the big blind is the small bet, the small blind half of it
    or whatever is posted.
    """
    header, antes = hand.header, posted[_ANTE]
    ante = max(antes.values(), default=0)
    short = ante and all(amount == stacks[seat] for seat, amount in antes.items())
    left = tuple(stack - min(ante, stack) for stack in stacks)
    small, big = header.low, header.high
    if header.limit == "fl":
        posts = (paid for seat, paid in posted[_SMALL].items() if paid < left[seat])
        small, big = max(posts, default=header.low // 2), header.low
    for kind, owed in ((_SMALL, small), (_BIG, big)):
        for seat, paid in posted[kind].items():
            if paid != min(owed, left[seat]):
                raise Unreadable(f"a {kind} of {paid} is posted where the stakes make it {owed}")
    assumed = (f"blinds with an ante of {ante}",) if short else ()
    return _Sizes(small, big, ante, left), assumed


@lru_cache(1024)
def _game_at_stakes(
    base: Game, small: int, big: int, high: int | None, ante: int, unit: str, raked: bool
) -> Game:
    """The game at these stakes, one object for all its hands."""
    game = at_stakes(base, small, big, high, ante)
    return replace(game, unit=unit, rake=game.rake if raked else None)


def _blind_places(game: Game, button: int, count: int) -> Iterator[tuple[Game, int | None, int]]:
    """The places of the blinds: as usual; heads-up with a button that is big; no small one."""
    left, next_left = (button + 1) % count, (button + 2) % count
    if count == 2:
        yield game, button, left
        yield replace(game, heads_up_blinds="left_small"), left, button
    else:
        yield game, left, next_left
    yield game, None, left


def _other_posts(
    posted: PostedAmounts, sizes: _Sizes, small: int | None, big: int
) -> tuple[Post, ...] | None:
    """The posts beside the two blinds, which stand where they ought to; None if not."""
    smalls, bigs, both = dict(posted[_SMALL]), dict(posted[_BIG]), dict(posted[_BOTH])
    if small is not None and smalls.pop(small, 0) != min(sizes.small, sizes.left[small]):
        return None
    if big in both:
        bigs[big] = both[big] - sizes.small
    if bigs.pop(big, 0) != min(sizes.big, sizes.left[big]):
        return None
    rows = (smalls, sizes.small), (bigs, sizes.big), (both, sizes.small + sizes.big)
    for row, owed in rows:
        if any(paid != min(owed, sizes.left[seat]) for seat, paid in row.items()):
            return None
    live = [seat for seat in sorted({*bigs, *both}) if seat != big]
    dead = sorted({*smalls, *both})
    if small in dead or (small is None and len(dead) > len(both)):
        return None
    return (*(Post(seat) for seat in live), *(Post(seat, "dead", sizes.small) for seat in dead))


def _straddled(
    game: Game,
    straddles: dict[int, int],
    sizes: _Sizes,
    button: int,
    blinds: tuple[int | None, int],
) -> Game:
    """The game with the amounts that each position owes; a straddle is no raise."""
    count, (small, big) = len(sizes.left), blinds
    if small is None:
        raise Unreadable("a straddle where there is no small blind")
    owed = {small: sizes.small, big: sizes.big, **straddles}
    if min(straddles.values()) <= sizes.big or len(owed) < len(straddles) + 2:
        raise Unreadable("a straddle that is not above the big blind")
    short = [seat for seat, amount in straddles.items() if amount == sizes.left[seat]]
    if short:
        raise Unreadable(
            "a straddle that took the whole stack: how much it should have been is unsaid"
        )
    order = [(button + place) % count for place in range(1, count + 1)]
    posts = Posts((sizes.ante,) * count, tuple(owed.get(seat, 0) for seat in order), False)
    return replace(game, script=(posts, *game.script[1:]), seats_min=count, seats_max=count)


# Sums: what each seat put in, what went back, who was paid, what the house took.


class Contributions(Struct):
    """The chips that every seat has put in; `dead` is nobody's stake. A raise that is not from the
    bet that stood there is `wrong`; some programs write the total twice."""

    paid: list[int]
    dead: list[int]
    bets: list[int]
    folded: set[int] = field(default_factory=set)
    wrong: str = ""


class Payment(Struct, frozen=True):
    """Gross winnings; or nets, where something went back that ours would not give back."""

    paid: tuple[Paid, ...] | None
    nets: tuple[int, ...] | None


def contributions(
    hand: ParsedHand, seats: dict[str, int], stacks: tuple[int, ...], forced: ForcedBets
) -> Contributions:
    """Every line's chips, counted seat by seat."""
    none = [0] * len(stacks)
    money = Contributions(paid=list(none), dead=list(none), bets=list(none))
    late = {post.seat: post.amount or 0 for post in forced.posts if post.kind == "dead"}
    for line in hand.lines:
        if not isinstance(line, PlayerLine):
            money.bets = list(none)
            continue
        seat = seats[line.name]
        match line.what:
            case ActionLine(verb="folds"):
                money.folded.add(seat)
            case ActionLine(verb="raises", amount=to, over=over):
                if over not in (to, to - (bet := max(money.bets))):
                    money.wrong = f"{line.name} raises {over} to {to}, where {bet} had been bet"
                _bet(money, seat, to - money.bets[seat])
            case ActionLine(amount=amount):
                _bet(money, seat, amount)
            case grammar.PostLine(what="the ante", amount=amount):
                money.paid[seat] += amount
            case grammar.PostLine(what="small & big blinds", amount=amount):
                _dead(money, seat, min(late[seat], amount))
                _bet(money, seat, amount - late[seat])
            case grammar.PostLine(what="small blind", amount=amount) if seat in late:
                _dead(money, seat, amount)
            case grammar.PostLine(amount=amount):
                _bet(money, seat, amount)
            case CardsLine():
                pass
        # Nobody puts in more than he brought, and who is said to be all-in has nothing left.
        put = money.paid[seat] + money.dead[seat]
        stack = stacks[seat]
        if put > stack:
            raise Unreadable(f"{line.name} puts in more than the {stack} he brought")
        if (
            isinstance(line.what, ActionLine | grammar.PostLine)
            and line.what.all_in
            and put < stack
        ):
            raise Unreadable(f"{line.name} is said to be all-in with {stack - put} left")
    return money


def _bet(money: Contributions, seat: int, amount: int) -> None:
    if amount < 0:
        raise Unreadable("somebody raises to less than he has bet already")
    money.paid[seat] += amount
    money.bets[seat] += amount


def _dead(money: Contributions, seat: int, amount: int) -> None:
    money.dead[seat] += amount


def payment(hand: ParsedHand, seats: dict[str, int], money: Contributions) -> Payment:
    """The payment, once every sum that the text prints is right."""
    totals = hand.totals
    won = sum(take.amount for _, take in hand.takes)
    if won + totals.rake != totals.total:
        raise Unreadable(
            f"{won} collected and a rake of {totals.rake} are no pot of {totals.total}"
        )
    if totals.parts and sum(totals.parts) + totals.rake != totals.total:
        raise Unreadable(f"main and side pots do not add up to {totals.total}")
    pots = [0] * max(1, len(totals.parts), *(take.pot + 1 for _, take in hand.takes))
    for _, take in hand.takes:
        pots[take.pot] += take.amount
    if tuple(pots) != (totals.parts or (won,)):
        raise Unreadable("the summary tells of other pots than were collected")
    # What was put in, less what went back, is the pot; early texts leave out what went back.
    put, unmatched = sum(money.paid) + sum(money.dead), _unmatched(money)
    given_back = sum(amount for _, amount in hand.back)
    unsaid = 0 if hand.back else sum(unmatched.values())
    if totals.total not in (put - given_back, put - unsaid):
        raise Unreadable(
            f"{put} put in and {given_back} given back are no pot of {totals.total}: "
            "the text does not balance"
        )
    if money.wrong:
        raise Unreadable(money.wrong)
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


def _unmatched(money: Contributions) -> dict[int, int]:
    """The part of the highest stake that no other seat matched."""
    *_, matched, most = sorted(money.paid)
    return {money.paid.index(most): most - matched} if most > matched else {}


def _by_seat(seats: dict[str, int], row: tuple[tuple[str, int], ...]) -> dict[int, int]:
    total: dict[int, int] = {}
    for name, amount in row:
        if name not in seats:
            raise Unreadable(f"{name} is given chips, but was not dealt in")
        total[seats[name]] = total.get(seats[name], 0) + amount
    return total


def game_as_paid(
    hand: ParsedHand,
    game: Game,
    money: Contributions,
    paid: Payment,
    house: HouseRake | ListedRake | UnlistedRake | None,
) -> tuple[Game, tuple[str, ...]]:
    """The game with the rake and the smallest coin of who paid it, and what of that is assumed."""
    shares: dict[int, list[int]] = {}
    for _, take in hand.takes:
        shares.setdefault(take.pot, []).append(take.amount)
    unit = smallest_coin(game, tuple(shares.values()))
    # The pots from the main one outwards, once the unmatched bet is gone.
    stakes = list(money.paid)
    for seat, amount in _unmatched(money).items():
        stakes[seat] -= amount
    stay, dead = [seat for seat in range(len(stakes)) if seat not in money.folded], sum(money.dead)
    if len(stay) < 2:
        pots: tuple[int, ...] = (sum(stakes) + dead,)
    else:
        first, *others = (pot.amount for pot in layers(tuple(stakes), tuple(stay)))
        pots = (first + dead, *others)
    taken = tuple(pot - sum(shares.get(at, ())) for at, pot in enumerate(pots))
    rake = hand.totals.rake
    known = paid.paid is not None and min(taken, default=-1) >= 0 and sum(taken) == rake
    flop = any(not isinstance(line, PlayerLine) for line in hand.lines)
    till = HandRake(pots, taken if known else None, rake, len(money.paid), flop)
    chips = not (hand.header.sign or hand.header.tournament)
    game, assumed = game_with_rake(game, till, house, chips=chips)
    if unit == game.split_unit:
        return game, assumed
    return with_split_unit(game, unit), (*assumed, f"odd-chips in coins of {unit}")


@lru_cache(4096)
def with_split_unit(game: Game, unit: int) -> Game:
    """The game with pots split in such coins."""
    return replace(game, split_unit=unit)


def smallest_coin(game: Game, shares: Sequence[Sequence[int]]) -> int:
    """The smallest coin of the splits: two shares of a pot differ by no more than one of it.

    It is one that the small blind can be paid in: else a share of nothing made the pot a coin.
    """
    units = {max(pot) - min(pot) for pot in shares if len(pot) > 1}
    unit = max(units, default=0)
    forced = game.script[0]
    assert isinstance(forced, Blinds | Posts)
    if unit < 2 or forced.small % unit or forced.big % unit:
        return 1
    other = replace(game, split_unit=unit)
    for pot in shares:
        paid = split(other, sum(pot), tuple(range(len(pot)))).shares
        if sorted(paid) != sorted(pot):
            return 1
    return unit

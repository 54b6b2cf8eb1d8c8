"""Between hands: who is dealt in, where the button goes, who posts, who is out, who has won.

A table has numbered chairs, some empty; a hand has dense seats. `deal_in` makes the one from the
other, `settled` takes the outcome back. Nothing moves during a hand (T17).
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from engine.turn import IllegalCommand, Post
from events.state import Hand


class Chair(Struct, frozen=True):
    """A player at the table; one who `waits` is not dealt in until the big blind reaches him."""

    player: str
    stack: int
    waits: bool = False
    posts: bool = False


class Table(Struct, frozen=True):
    """Chairs in clockwise order; the chairs that had the button and the blinds last.

    `order`: the chairs in the order in which players sat down, for the first button (T1).
    """

    chairs: tuple[Chair | None, ...]
    order: tuple[int, ...] = ()
    button: int | None = None
    small: int | None = None
    big: int | None = None
    bankrolls: tuple[tuple[str, int], ...] = ()


class Seating(Struct, frozen=True):
    """What `begin` needs for the next hand; `chairs` tells which chair each seat is."""

    chairs: tuple[int, ...]
    players: tuple[str, ...]
    stacks: tuple[int, ...]
    button: int
    posts: tuple[Post, ...]
    dead_small: bool


def sit(table: Table, chair: int, player: str, stack: int, *, posts: bool) -> Table:
    """A new player takes an empty chair: he posts a big blind next hand, or waits for it (M2)."""
    if not 0 <= chair < len(table.chairs):
        raise IllegalCommand(f"there is no chair {chair}: there are 0..{len(table.chairs) - 1}")
    occupant = table.chairs[chair]
    if occupant is not None:
        raise IllegalCommand(f"chair {chair} is taken by {occupant.player}")
    if any(taken is not None and taken.player == player for taken in table.chairs):
        raise IllegalCommand(f"{player} sits at this table already")
    if stack < 1:
        raise IllegalCommand(f"{player} brings {stack} chips: a seat needs at least one")
    running = table.button is not None
    new = Chair(player, stack, waits=running and not posts, posts=running and posts)
    earlier = (other for other in table.order if other != chair)
    return replace(_with(table, chair, new), order=(*earlier, chair))


def stand_up(table: Table, chair: int) -> Table:
    """A player leaves between hands, with what he has."""
    _taken(table, chair)
    return _with(table, chair, None)


def add_chips(table: Table, chair: int, amount: int) -> Table:
    """Chips are added between hands only (T17)."""
    one = _taken(table, chair)
    if amount < 1:
        raise IllegalCommand(f"{one.player} may add at least one chip, not {amount}")
    return _with(table, chair, replace(one, stack=one.stack + amount))


def moved(game: Game, table: Table) -> Table:
    """The button moves on for the next hand, and the blinds with it (M1, M4, M5).

    At a fresh table who sat down first of those who are dealt in has it (T1).
    """
    dealt = _dealt(table)
    if len(dealt) < 2:
        raise IllegalCommand(f"a hand needs two players with chips, not {len(dealt)}")
    if table.button is None:
        return _blinds_from(game, table, min(dealt, key=table.order.index))
    if game.button == "dead" and len(dealt) > 2 and table.big is not None:
        return _dead_button(table)
    return _blinds_from(game, table, _next(table, table.button, dealt))


def deal_in(game: Game, table: Table) -> Seating:
    """The seats of the next hand, once the button has moved."""
    if table.button is None:
        raise IllegalCommand("the button has no place yet: move it first")
    dealt = {*_dealt(table)}
    if table.big is not None and table.chairs[table.big] is not None:
        dealt.add(table.big)  # though its player may have been waiting for the big blind
    chairs = tuple(sorted(dealt - {*_passed_over(game, table)}))
    sitting = [_taken(table, chair) for chair in chairs]
    button = max((seat for seat, chair in enumerate(chairs) if chair <= table.button), default=-1)
    blinds = (table.small, table.big)
    return Seating(
        chairs=chairs,
        players=tuple(one.player for one in sitting),
        stacks=tuple(one.stack if game.stacks == "carried" else game.stack for one in sitting),
        button=button % len(chairs),
        posts=tuple(
            Post(seat)
            for seat, chair in enumerate(chairs)
            if sitting[seat].posts and chair not in blinds
        ),
        dead_small=table.small not in chairs,
    )


def settled(game: Game, table: Table, seating: Seating, hand: Hand) -> Table:
    """The table after a hand: stacks carried or made anew, bankrolls counted.

    Who has nothing left is out (M5), has a new stack, or stays without one, as `broke` says.
    """
    chairs = list(table.chairs)
    bankrolls = dict(table.bankrolls)  # winnings so far: they begin at 0 and have no floor (M4)
    for seat, chair in enumerate(seating.chairs):
        one = _taken(table, chair)
        stack = hand.stacks[seat] if game.stacks == "carried" else one.stack
        net = hand.stacks[seat] - hand.start.stacks[seat]
        bankrolls[one.player] = bankrolls.get(one.player, 0) + net
        if not stack and game.broke == "buys_in":
            stack = game.stack
        out = not stack and game.broke == "leaves"
        chairs[chair] = None if out else replace(one, stack=stack, waits=False, posts=False)
    return replace(table, chairs=tuple(chairs), bankrolls=tuple(bankrolls.items()))


def is_freeze_out(game: Game) -> bool:
    """Whether who has nothing left is out for good, so that the last player with chips wins."""
    return game.stacks == "carried" and game.broke == "leaves"


def has_all(table: Table) -> str | None:
    """The player with all chips: he has won a freeze-out (M5), any other table is set anew."""
    left = [chair.player for chair in table.chairs if chair is not None and chair.stack]
    return left[0] if len(left) == 1 else None


def set_anew(game: Game, table: Table) -> Table:
    """Every player gets a new stack, and the table is a fresh one."""
    chairs = (chair and Chair(chair.player, game.stack) for chair in table.chairs)
    return fresh(replace(table, chairs=tuple(chairs)))


def fresh(table: Table) -> Table:
    """The table as if nobody had dealt yet: nobody waits, and who sat down first deals (T1)."""
    chairs = (chair and replace(chair, waits=False, posts=False) for chair in table.chairs)
    return replace(table, chairs=tuple(chairs), button=None, small=None, big=None)


def _dead_button(table: Table) -> Table:
    """The big blind moves to the next player; small blind and button follow, players or not."""
    assert table.big is not None
    everyone = tuple(c for c, one in enumerate(table.chairs) if one is not None and one.stack)
    big = _next(table, table.big, everyone)
    button = table.small if table.small is not None else table.button
    small = table.big
    if button == big:  # two had the blinds in turn, and a newcomer posts: the button is behind them
        others = (chair for chair in everyone if chair != small)
        button = max(others, key=lambda chair: (chair - small - 1) % len(table.chairs))
    return replace(table, button=button, small=small, big=big)


def _blinds_from(game: Game, table: Table, button: int) -> Table:
    """The blinds left of the button, the big one for who waited for it too (M2).

    Unless it makes them three, of two players the button posts the small one (G14).
    """
    everyone = tuple(c for c, chair in enumerate(table.chairs) if chair is not None and chair.stack)
    small = _next(table, button, _dealt(table))
    big = _next(table, small, everyone)
    if big == button and game.heads_up_blinds == "button_small":
        small, big = big, small
    return replace(table, button=button, small=small, big=big)


def _dealt(table: Table) -> tuple[int, ...]:
    """Chairs with chips whose player does not wait."""
    return tuple(
        chair
        for chair, one in enumerate(table.chairs)
        if one is not None and one.stack and not one.waits
    )


def _passed_over(game: Game, table: Table) -> tuple[int, ...]:
    """With a dead button, who would post between it and the big blind waits a hand more (M1)."""
    if game.button == "moving" or table.button is None or table.big is None:
        return ()
    count = len(table.chairs)
    between = range(table.button + 1, table.button + (table.big - table.button) % count)
    newcomers = (chair % count for chair in between if chair % count != table.small)
    return tuple(c for c in newcomers if (one := table.chairs[c]) is not None and one.posts)


def _next(table: Table, after: int, among: tuple[int, ...]) -> int:
    """The next of these chairs clockwise."""
    count = len(table.chairs)
    return min(among, key=lambda chair: (chair - after - 1) % count)


def _taken(table: Table, chair: int) -> Chair:
    one = table.chairs[chair] if 0 <= chair < len(table.chairs) else None
    if one is None:
        raise IllegalCommand(f"nobody sits in chair {chair}")
    return one


def _with(table: Table, chair: int, one: Chair | None) -> Table:
    chairs = list(table.chairs)
    chairs[chair] = one
    return replace(table, chairs=tuple(chairs))


# Who has won a match, who is ahead in one that decided nothing, and in which place everybody is.
# Where every hand has new stacks, winnings decide (M4); in a freeze-out it is who is left (M5).

Rank = tuple[int, ...]


class Last(Struct, frozen=True):
    """The last hand that a player was dealt: its number, his chips before it and after it."""

    hand: int
    began: int
    left: int


class Standing(Struct, frozen=True):
    """The winner, or else the sole leader; `places` of players in order, equal ones share one."""

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

"""Stakes, button and posts of a hand: under which rules would be posted what the text says?

The rules post antes and blinds by themselves, so the text is not followed but compared. A hand
with forced chips that no rule of ours posts is left out.
"""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Game
from engine.games import RECORDED
from engine.games.site import at_stakes
from engine.steps import Posts
from engine.turn import Post
from formats.pokerstars import grammar
from formats.pokerstars.grammar import Acts, Unread
from formats.pokerstars.played import Played, PlayerLine

Posted = dict[str, dict[int, int]]  # what was posted: by which seat, how much

_ANTE, _SMALL, _BIG, _BOTH = "the ante", "small blind", "big blind", "small & big blinds"
_STRADDLE = "straddle"


class Forced(Struct, frozen=True):
    """The game, where its button is, and what is posted beside its own blinds."""

    game: Game
    button: int
    posts: tuple[Post, ...] = ()
    dead_small: bool = False
    inferred: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class _Sizes(Struct, frozen=True):
    """What the rules would have every seat put in, as far as it has it."""

    small: int
    big: int
    ante: int
    left: tuple[int, ...]  # the stacks after the antes


def posted(hand: Played, seats: dict[str, int], stacks: tuple[int, ...], unit: str) -> Forced:
    """The first arrangement under which the rules post what was posted."""
    kinds = _posts(hand, seats)
    sizes, assumed = _sizes(hand, kinds, stacks)
    # The ruleset of this sizing at these stakes; who plays for chips pays no rake.
    header = hand.header
    high = header.high if header.limit == "fl" else None
    raked = bool(header.sign or hand.totals.rake) and not header.tournament
    base = RECORDED[f"{header.site}-{header.limit}"]
    game = _played_for(base, sizes.small, sizes.big, high, sizes.ante, unit, raked)
    inferred = ("cap",) if hand.header.capped else ()
    if hand.header.capped and any(
        isinstance(line, PlayerLine) and isinstance(line.what, Acts) and line.what.capped
        for line in hand.lines
    ):
        raise Unread("a bet has reached the cap of its table: no ruleset of ours knows one")
    if kinds[_ANTE] != {
        seat: min(sizes.ante, had) for seat, had in enumerate(stacks) if sizes.ante
    }:
        raise Unread("some pay an ante and some do not, or not the same")
    numbers = [chair.number for chair in hand.chairs if chair.name in seats]
    button = (sum(number <= hand.button for number in numbers) - 1) % len(numbers)
    if hand.button not in numbers:  # nobody is dealt in there
        assumed = (*assumed, f"button of empty seat {hand.button} is the next to its right")
    for placed, small, big in _places(game, button, len(seats)):
        posts = _other_posts(kinds, sizes, small, big)
        if posts is not None:
            if placed != game:
                inferred = (*inferred, "heads_up_blinds")
            if kinds[_STRADDLE]:
                placed = _straddled(placed, kinds[_STRADDLE], sizes, button, (small, big))
            return Forced(placed, button, posts, small is None, inferred, assumed)
    names = tuple(seats)
    blinds = (
        f"{names[seat]} {kind} {paid}"
        for kind in (_SMALL, _BIG, _BOTH)
        for seat, paid in kinds[kind].items()
    )
    listed = ", ".join(blinds)[:120] or "there are none"
    raise Unread(f"the blinds are not where the rules put them: {listed}")


def _posts(hand: Played, seats: dict[str, int]) -> Posted:
    posted: Posted = {_ANTE: {}, _SMALL: {}, _BIG: {}, _BOTH: {}, _STRADDLE: {}}
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, grammar.Posts):
            row, seat = posted[line.what.what], seats[line.name]
            if seat in row:
                raise Unread(f"{line.name} posts {line.what.what} twice")
            row[seat] = line.what.amount
    return posted


def _sizes(hand: Played, posted: Posted, stacks: tuple[int, ...]) -> tuple[_Sizes, tuple[str, ...]]:
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
                raise Unread(f"a {kind} of {paid} is posted where the stakes make it {owed}")
    assumed = (f"blinds with an ante of {ante}",) if short else ()
    return _Sizes(small, big, ante, left), assumed


@lru_cache(1024)
def _played_for(
    base: Game, small: int, big: int, high: int | None, ante: int, unit: str, raked: bool
) -> Game:
    """One game for all hands at the same stakes: what is found for it is found once."""
    game = at_stakes(base, small, big, high, ante)
    return replace(game, unit=unit, rake=game.rake if raked else None)


def _places(game: Game, button: int, count: int) -> Iterator[tuple[Game, int | None, int]]:
    """Where the blinds may be: as usual; heads-up with a button that is big; no small one."""
    left, next_left = (button + 1) % count, (button + 2) % count
    if count == 2:
        yield game, button, left
        yield replace(game, heads_up_blinds="left_small"), left, button
    else:
        yield game, left, next_left
    yield game, None, left


def _other_posts(
    posted: Posted, sizes: _Sizes, small: int | None, big: int
) -> tuple[Post, ...] | None:
    """What is posted beside the two blinds, which stand where they ought to; None if not."""
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
    return (
        *(Post(seat) for seat in live),
        *(Post(seat, "dead", sizes.small) for seat in dead),
    )


def _straddled(
    game: Game,
    straddles: dict[int, int],
    sizes: _Sizes,
    button: int,
    blinds: tuple[int | None, int],
) -> Game:
    """The same rules with what each position owes; a straddle is no raise, so it sets no size."""
    count, (small, big) = len(sizes.left), blinds
    if small is None:
        raise Unread("a straddle where there is no small blind")
    owed = {small: sizes.small, big: sizes.big, **straddles}
    if min(straddles.values()) <= sizes.big or len(owed) < len(straddles) + 2:
        raise Unread("a straddle that is not above the big blind")
    short = [seat for seat, amount in straddles.items() if amount == sizes.left[seat]]
    if short:
        raise Unread("a straddle that took the whole stack: how much it should have been is unsaid")
    order = [(button + place) % count for place in range(1, count + 1)]
    posts = Posts((sizes.ante,) * count, tuple(owed.get(seat, 0) for seat in order), False)
    return replace(game, script=(posts, *game.script[1:]), seats_min=count, seats_max=count)

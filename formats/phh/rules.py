"""The rules of a PHH hand: stakes that its fields name, and habits that only its record shows."""

from functools import lru_cache
from typing import Any, TypeVar

from msgspec.structs import replace

from engine.audit import audit
from engine.game import Game
from engine.games.recorded import PHH_FT, PHH_NT
from engine.games.site import script
from engine.policies import Rake
from engine.steps import Blinds, Posts
from formats.follow import follow
from formats.phh.actions import Book, Taken
from formats.phh.money import Money, Wrong
from formats.told import ToldHand

AnyTold = TypeVar("AnyTold", bound=ToldHand)


def seated(row: tuple[int, ...]) -> tuple[int, ...]:
    """Forced bets in the order of seats: of two players, the written order is the other way."""
    return row[::-1] if len(row) == 2 else row


def table(stacks: tuple[int, ...], antes: tuple[int, ...], blinds: tuple[int, ...]) -> Book:
    """The table once antes and blinds are in."""
    none = [0] * len(stacks)
    book = Book(list(stacks), none, 0, list(none), set(), set())
    for seat, ante in enumerate(antes):
        book.put(seat, ante)
    book.bets = [0] * len(stacks)
    for seat, blind in enumerate(blinds):
        book.put(seat, abs(blind))
    book.top = max(map(abs, blinds))
    book.owing = book.live()
    book.closed_if_alone()
    return book


def forced_bets(
    stacks: tuple[int, ...], antes: tuple[int, ...], blinds: tuple[int, ...], trimmed: bool
) -> Blinds | Posts:
    """Two blinds and an even ante, or whatever else the positions owe."""
    small, big = sorted(blinds[:2])
    ordered = blinds[:2] == ((big, small) if len(blinds) == 2 else (small, big))
    plain = small > 0 and ordered and not any(blinds[2:])
    even = len(set(antes)) == 1 and (trimmed or antes[0] <= min(stacks))
    if plain and even:
        return Blinds(small, big, antes[0])
    return Posts(antes, blinds, not trimmed)


@lru_cache(4096)
def game_of(base: Game | None, code: str, forced: Blinds | Posts, low: int, high: int) -> Game:
    """The corpus ruleset of that code at the stakes of the hand."""
    game = base or (PHH_FT if code == "FT" else PHH_NT)
    sizing = "fixed" if code == "FT" else "no_limit"
    if game.sizing != sizing:
        raise Wrong(f"variant {code} is {sizing}: {game.name} plays {game.sizing}")
    return replace(game, script=(forced, *script(0, 0, low, high)[1:]))


@lru_cache(4096)
def _changed(game: Game, *changes: tuple[str, Any]) -> Game:
    return replace(game, **dict(changes))


def as_recorded(game: Game, base: Game | None, money: Money, one: Taken, seats: int) -> Game:
    """Unit, odd chips and the order of showing are what the file shows of them."""
    changes: list[tuple[str, Any]] = []
    if isinstance(game.script[0], Posts):
        changes += [("seats_min", seats), ("seats_max", seats)]
    if base is None:
        changes += [("unit", money.unit), ("odd_chips", money.odd_chips)]
        if one.face_up:
            changes.append(("all_in_face_up", True))
        if _by_aggressor(one):
            changes.append(("show_first", "last_aggressor"))
    return _changed(game, *changes) if changes else game


def _by_aggressor(one: Taken) -> bool:
    """Whether the last to bet or raise showed first, though another sits left of the button."""
    stay = one.book.contenders()
    return bool(one.shown) and one.shown[0] == one.book.aggressor != stay[0]


def is_split(hand: ToldHand, book: Book) -> bool:
    """Whether several seats got something back."""
    if hand.nets is None:
        return False
    back = (net + paid for net, paid in zip(hand.nets, book.paid, strict=True))
    return sum(won > 0 for won in back) > 1


def split_as_shown(hand: AnyTold) -> AnyTold:
    """Odd chips go as the result shows: one each, or as some programs do, all to the first."""
    if _fits(hand):
        return hand
    game = _changed(hand.game, ("odd_chips", "first_left_all"))
    other = replace(hand, game=game, assumed=(*hand.assumed, "odd-chips all to the first"))
    return other if _fits(other) else hand


def _fits(hand: ToldHand) -> bool:
    """Whether the rules decide this hand as it is told."""
    try:
        return audit(hand.game, follow(hand, "")) is None
    except ValueError:  # no record at all: whoever follows it will say why
        return False


def rake_of(rake: int, book: Book) -> Rake:
    """The part of the pot that is missing at the end; by which rule, one hand cannot tell."""
    *_, matched, most = sorted(book.paid)
    return Rake(percent=rake, of=sum(book.paid) - (most - matched), no_flop_no_drop=False)

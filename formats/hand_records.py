"""Make the record of a foreign hand: put it to the rules, as far as its source agrees with them.

Each item answers what the rules ask. At the first refusal, or where the rules would show or pay
otherwise than the source says, `formats.claimed_records` goes on without them. A hand that cannot
be a record at all (it makes chips, or stops in the middle) raises a ValueError with one sentence.
"""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from engine.game import Game
from engine.hand import begin, step, turn
from engine.steps import Betting, SwapHole, TossHole
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Deal,
    Disconnect,
    Draw,
    Fold,
    IllegalCommand,
    Muck,
    Post,
    Raise,
    Show,
    Straddle,
    Swap,
    TimeOut,
    ToAct,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    Toss,
    ToStraddle,
    ToSwap,
    ToToss,
    Turn,
    Will,
)
from events.cards import UNKNOWN, Cards
from events.evolve import evolve, replay, round_of
from events.state import Hand
from events.types import Event, Events, Faulted, FaultPlace, PotSplit, RakeTaken, Shown
from formats.claimed_records import (
    CHOICES_AND_BOARDS,
    claimed_record,
    contradicts_showdown,
    contradicts_source,
    fault_event,
    late_fault_events,
)
from formats.source import (
    Act,
    AuctionBid,
    Board,
    CardToss,
    DropsOut,
    Fault,
    HasBounty,
    Holds,
    Item,
    Mucks,
    Shows,
    SourceHand,
)

Answer = tuple[Command, tuple[int, ...]]  # and the places of the items that gave it

# Sets of kinds are made once: to make one for every question costs more than to ask it.
_CHOICES = (Act, AuctionBid, CardToss)
_PLAYS = (Act, AuctionBid, CardToss, Shows, Mucks)
_CARDS_NAMED = (Holds, Shows)
_PAYMENTS = (RakeTaken, PotSplit)
_PLAYER_QUESTIONS = (ToAct, ToBid, ToToss, ToStraddle)


def hand_record(hand: SourceHand, hand_id: str) -> Events:
    """The record of a source hand, from `HandStarted` to `HandEnded`; its chips add up."""
    return hand_record_and_state(hand, hand_id)[0]


def hand_record_and_state(hand: SourceHand, hand_id: str) -> tuple[Events, Hand]:
    """The record, and what it adds up to."""
    # Every item is of a seat there is; `begin` checks the rest.
    last = len(hand.stacks) - 1
    named = [item.seat for item in hand.items if not isinstance(item, Board)]
    if named and not 0 <= min(named) <= max(named) <= last:
        wrong = next(seat for seat in named if not 0 <= seat <= last)
        raise ValueError(f"there is no seat {wrong}: the seats are 0..{last}")
    game, items = hand.game, list(hand.items)
    new, now = opening_events(
        game, hand.button, hand.players, hand.stacks, hand.posts, hand.dead_small
    )
    start = replace(now.start, hand=hand_id, assumed=hand.assumed, played=hand.played)
    now = replace(now, start=start)
    events: list[Event] = [start, *new[1:]]
    while not now.over:
        if type(game.script[now.step]) is Betting:
            if items and type(items[0]) is Fault:
                events.extend(_faults(items))
            answer = _act(game, now, items)
        else:
            question = turn(game, now)
            if type(question) in _PLAYER_QUESTIONS:
                events.extend(_faults(items))
            answer = _answer(question, game, now, items)
        if answer is None:
            return _claimed_rest(hand, events, now, items)
        command, used = answer
        try:
            new, after = step(game, now, command)
        except IllegalCommand as refusal:
            return _claimed_rest(hand, events, now, items, f"{refusal}; ")
        for place in used if len(used) < 2 else sorted(used, reverse=True):
            del items[place]
        if (after.over or after.showing.shown) and contradicts_source(hand, new, after, items):
            for event in new:  # what the rules decided before that is recorded, the rest is not
                other = isinstance(event, Shown) and contradicts_showdown(event, items)
                if other or isinstance(event, _PAYMENTS):
                    break
                now = evolve(now, event)
                events.append(event)
            return _claimed_rest(hand, events, now, items)
        events.extend(new)
        now = after
        if type(command) is Toss:  # the other has to answer that he saw it
            events.extend(_faults(items, "acknowledgement"))
    return (*events, *late_fault_events(items)), now


@lru_cache(maxsize=64)
def opening_events(
    game: Game,
    button: int,
    players: tuple[str, ...],
    stacks: tuple[int, ...],
    posts: tuple[Post, ...],
    dead_small: bool,
) -> tuple[Events, Hand]:
    """A nameless hand: in a log most hands begin as the one before the last did."""
    return begin(game, "", button, players, stacks, posts, dead_small)


def _claimed_rest(
    hand: SourceHand, events: list[Event], now: Hand, items: list[Item], refusal: str = ""
) -> tuple[Events, Hand]:
    """The record as the source claims it from here on; a ValueError says why it cannot be one."""
    try:
        record = claimed_record(hand, events, now, items)
    except ValueError as reason:
        raise ValueError(f"{refusal}{reason}") from None
    return record, replay(record)


def _faults(items: list[Item], *where: FaultPlace) -> Iterable[Faulted]:
    """Replies that failed stand right before the default action they cause."""
    where = where or ("action", "bid")
    while items and isinstance(first := items[0], Fault) and first.where in where:
        del items[0]
        yield fault_event(first)


# What the source answers; None where it says something else, or nothing.


def _answer(question: Turn, game: Game, hand: Hand, items: list[Item]) -> Answer | None:
    first = items[0] if items else None
    if isinstance(first, DropsOut) and not first.all_in:
        return Disconnect(first.seat), (0,)
    match question:
        case ToDeal(kind="board") if isinstance(first, Act) and first.verb == "fold":
            return Fold(first.seat, _will_of(first.default)), (0,)  # of who is all-in by his blind
        case ToDeal(kind="board"):
            for place, item in enumerate(items):
                if isinstance(item, Board):
                    return Deal(item.cards), (place,)
                if isinstance(item, _CHOICES):
                    return None
            return Deal((UNKNOWN,) * question.count), ()
        case ToDeal():
            return _deal(question, game, hand, items)
        case ToAct():  # of a step that deals as well
            return _act(game, hand, items)
        case ToBid():
            if not isinstance(first, AuctionBid):
                return None
            return Bid(first.seat, first.amount, first.sealed, _will_of(first.default)), (0,)
        case ToToss():
            if isinstance(first, Act) and first.verb == "fold":
                return Fold(first.seat, _will_of(first.default)), (0,)
            if not isinstance(first, CardToss):
                return None
            # The slot of the card, as far as the hand is known; the first unknown, if it is not.
            held = hand.hole[first.seat]
            sought = first.card if first.card in held else UNKNOWN
            slot = held.index(sought) if sought in held else len(held)
            return Toss(first.seat, slot, first.card), (0,)
        case ToSwap():
            return _cards_after_swap(question, hand, items)
        case ToDraw(seats=seats):
            ranks = {item.seat: item.rank for item in items if isinstance(item, HasBounty)}
            if ranks.keys() != set(seats):
                return None
            used = [at for at, item in enumerate(items) if isinstance(item, HasBounty)]
            return Draw(tuple(ranks[seat] for seat in seats)), tuple(used)
        case ToShow():
            return _show(question, hand, items)
        case ToStraddle():
            # A straddle stands in the source as a raise, its refusal as a fold.
            if isinstance(first, DropsOut):
                return TimeOut(first.seat), (0,)
            if not isinstance(first, Act) or first.verb not in ("raise", "fold"):
                return None
            kind = Straddle if first.verb == "raise" else Fold
            return kind(first.seat, _will_of(first.default)), (0,)
    raise AssertionError(f"nobody answers {question}")


def _act(game: Game, hand: Hand, items: list[Item]) -> Answer | None:
    """A choice of betting; where the source names no size, the only one that the limit allows.

    What may be chosen is asked only then: the rules look at it anyway when they are answered.
    """
    first = items[0] if items else None
    if type(first) is not Act:
        if isinstance(first, DropsOut):
            return (TimeOut if first.all_in else Disconnect)(first.seat), (0,)
        return None
    seat, will = first.seat, _will_of(first.default)
    match first.verb:
        case "fold":
            return Fold(seat, will), (0,)
        case "check":
            return Check(seat, will), (0,)
        case "call":
            if first.amount is not None:
                now = round_of(hand)
                asked = now.next
                if asked is None:
                    return None
                if first.amount != min(now.bet - now.bets[asked], hand.stacks[asked]):
                    return None
            return Call(seat, will), (0,)
        case "raise":
            to = first.to
            if to is None:
                question = turn(game, hand)
                to = question.raise_max if isinstance(question, ToAct) else None
            return None if to is None else (Raise(seat, to, will), (0,))


def _will_of(default: bool) -> Will:
    return "default" if default else "chosen"


def _deal(question: ToDeal, game: Game, hand: Hand, items: list[Item]) -> Answer:
    """The new cards of every seat, in the order asked for; unknown where the source names none."""
    seats = dict.fromkeys(question.to)
    held = _cards_held(items)
    later: dict[int, Cards] = {}  # hands only known from their showdown
    if seats.keys() - held.keys() and not any(
        isinstance(line, SwapHole | TossHole)  # they can have been others before
        for line in game.script
    ):
        for item in items:
            if isinstance(item, _CARDS_NAMED):
                later.setdefault(item.seat, item.cards)
    used: list[int] = []
    new: dict[int, list[str]] = {}
    for seat in seats:
        if seat in held:
            cards, place = held[seat]
            used.append(place)
        else:
            cards = later.get(seat, ())
        before, count = hand.hole[seat], question.to.count(seat)
        new[seat] = [card for card in cards if card == UNKNOWN or card not in before]
        if len(new[seat]) != count:
            new[seat] = [*new[seat], *(UNKNOWN,) * count][:count]
    return Deal(tuple([new[seat].pop(0) for seat in question.to])), tuple(used)


def _cards_held(items: list[Item]) -> dict[int, tuple[Cards, int]]:
    """The cards that each seat holds before the next choice, and the places of those items."""
    held: dict[int, tuple[Cards, int]] = {}
    for place, item in enumerate(items):
        if isinstance(item, _PLAYS):
            break
        if isinstance(item, Holds) and item.seat not in held:
            held[item.seat] = item.cards, place
    return held


def _cards_after_swap(question: ToSwap, hand: Hand, items: list[Item]) -> Answer | None:
    """The cards that the source says each seat holds next, where they are not those held now."""
    held = _cards_held(items)
    cards: list[str | None] = []
    for seat, slot in question.at_risk:
        was, now = hand.hole[seat], held[seat][0] if seat in held else ()
        if len(now) != len(was):
            return None
        cards.append(None if was[slot] == now[slot] else now[slot])
    seats = dict.fromkeys(seat for seat, _ in question.at_risk)
    return Swap(tuple(cards)), tuple(held[seat][1] for seat in seats)


def _show(question: ToShow, hand: Hand, items: list[Item]) -> Answer | None:
    """Shown, announced or thrown away, as the source says in any place; silence is a muck."""
    seat = question.seat
    for place, item in enumerate(items):
        if isinstance(item, Mucks) and item.seat == seat:
            return Muck(seat), (place,)
        if isinstance(item, Shows) and item.seat == seat:
            if question.announce:
                return Announce(seat, item.cards), (place,)
            # As they were dealt, if they are the same: the source may name them in another order.
            same = sorted(hand.hole[seat]) == sorted(item.cards)
            return Show(seat, () if same else item.cards), (place,)
        if isinstance(item, CHOICES_AND_BOARDS):
            return None
    return (Muck(seat), ()) if question.may_muck else None

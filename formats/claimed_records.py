"""Record a hand as its source claims it, rules off, where the rules decide otherwise.

The next item's seat was next to act; a payment is what the source says was paid. Only
chips must add up. A payment that would make or lose any is kept beside the record as a claim
(`Claimed`), and the record is paid by the rules; any other such hand raises a ValueError with one
sentence.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.game import Game
from engine.pots import pots
from engine.seats import contenders, is_alone
from engine.settle import settle
from engine.steps import Auction, Betting, DealBoard, SwapHole, TossHole
from engine.steps.auction import settled
from engine.turn import IllegalCommand
from events.cards import UNKNOWN
from events.evolve import evolve, round_of
from events.state import Hand
from events.types import (
    Bet,
    BettingOpened,
    BidPlaced,
    BoardDealt,
    Called,
    CardSwapped,
    Checked,
    Claimed,
    Disconnected,
    Event,
    Events,
    Faulted,
    Folded,
    HandEnded,
    HandVoided,
    HoleDealt,
    Mucked,
    Origin,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
    StepEntered,
    TimedOut,
    Tossed,
    UncalledReturned,
)
from formats.source import (
    Act,
    AuctionBid,
    Board,
    CardToss,
    DropsOut,
    Fault,
    Holds,
    Item,
    Mucks,
    Shows,
    SourceHand,
)

CHOICES_AND_BOARDS = (Act, AuctionBid, CardToss, Board)


def contradicts_source(hand: SourceHand, new: Events, after: Hand, items: list[Item]) -> bool:
    """Whether the rules' events show other cards than the source, or pay what nobody was paid."""
    if any(contradicts_showdown(event, items) for event in new if isinstance(event, Shown)):
        return True
    if not after.over:
        return False
    played_on = any(
        isinstance(item, CHOICES_AND_BOARDS)
        or (isinstance(item, Fault) and item.where != "acknowledgement")
        for item in items
    )
    return played_on or not pays_as_claimed(hand, new, after)


def contradicts_showdown(event: Shown, items: list[Item]) -> bool:
    """Whether the source says that a hand that the rules turn up was mucked, or was another."""
    for item in items:
        if isinstance(item, Mucks) and item.seat == event.seat:
            return True
        if isinstance(item, Shows) and item.seat == event.seat:
            return sorted(item.cards) != sorted(event.cards)
    return False


def pays_as_claimed(hand: SourceHand, new: Events, after: Hand) -> bool:
    """Whether the rules pay every seat, and the house, what the source says."""
    if hand.rake is not None and hand.rake != after.rake:
        return False
    if hand.nets is not None:
        nets = tuple(now - was for was, now in zip(hand.stacks, after.stacks, strict=True))
        if nets != hand.nets:
            return False
    if hand.paid is None:
        return True
    won = [0] * len(hand.stacks)
    for event in new:
        if isinstance(event, PotSplit):
            for seat, share in zip(event.seats, event.shares, strict=True):
                won[seat] += share
    for paid in hand.paid:
        won[paid.seat] -= paid.amount
    return not any(won)


def claimed_record(source: SourceHand, events: list[Event], hand: Hand, rest: list[Item]) -> Events:
    """The record: the events so far, the rest of the items, the claimed payment, the end."""
    items = [item for item in rest if not _is_late_fault(item)]
    for place, item in enumerate(items):
        for event in _item_events(source.game, hand, item, items[place + 1 :]):
            hand = _add_event(events, hand, event)
    try:
        paid = tuple(_payment_events(source, hand))
    except _Impossible as reason:  # the rules pay, beside the claim; or the hand does not count
        try:
            by_rules = settle(source.game, hand)
        except (IllegalCommand, LookupError, ValueError):
            void = HandVoided(f"{reason}, and who is paid the rules cannot tell")
            paid = (_claim_of(source, hand, 0), void)
        else:
            taken = sum(event.amount for event in by_rules if isinstance(event, RakeTaken))
            paid = (*by_rules, _claim_of(source, hand, taken))
    for event in paid:
        hand = _add_event(events, hand, event)
    if hand.voided:
        return (*events, *late_fault_events(rest))
    if hand.pot:
        raise ValueError(
            f"{hand.pot} chips are left in the middle: nobody is said to have won them"
        )
    _add_event(events, hand, HandEnded())
    return (*events, *late_fault_events(rest))


class _Impossible(ValueError):
    """The source says that chips were paid which nobody has, or leaves some over."""


def _claim_of(source: SourceHand, hand: Hand, taken: int) -> Claimed:
    """The claim of a source: its nets, or what it was paid less its stake."""
    rake = taken if source.rake is None else source.rake
    if source.nets is not None and source.paid is None:
        return Claimed(source.nets, rake)
    nets = [now - was for was, now in zip(source.stacks, hand.stacks, strict=True)]
    for paid in source.paid or ():
        nets[paid.seat] += paid.amount
    return Claimed(tuple(nets), rake)


def fault_event(item: Fault) -> Faulted:
    """The event of a reply that could not be used."""
    return Faulted(item.seat, item.raw, item.kind, item.where)


def late_fault_events(rest: Iterable[Item]) -> Events:
    """Bad replies to the news that the hand is over; they come after its end."""
    return tuple(
        fault_event(item) for item in rest if isinstance(item, Fault) and _is_late_fault(item)
    )


def _is_late_fault(item: Item) -> bool:
    return isinstance(item, Fault) and item.where == "acknowledgement"


def _add_event(events: list[Event], hand: Hand, event: Event) -> Hand:
    """Add an event, if no stack and no pot falls below nothing by it; but a seat that is said to
    bet more than it has, which the rules have refused, bets so much, and the rest goes back."""
    amount = getattr(event, "amount", 0)
    hand = evolve(hand, event)
    callers = (event.seat,) if isinstance(event, Called) else ()
    owing = range(len(hand.stacks)) if isinstance(event, HandEnded) else callers
    short = any(hand.stacks[seat] < 0 and seat not in hand.payers for seat in owing)
    if amount < 0 or short or hand.pot < 0:
        raise ValueError(f"{type(event).__name__}: the chips for it are not there")
    events.append(event)
    return hand


# Items become events.


def _item_events(game: Game, hand: Hand, item: Item, later: list[Item]) -> Iterator[Event]:
    match item:
        case Fault():
            yield fault_event(item)
        case Act():
            yield from _choice_events(game, hand, item, _next_to_act(later))
        case AuctionBid():
            yield from _bid_events(game, hand, item)
        case CardToss(seat=seat, card=card):
            if card not in hand.hole[seat]:
                raise ValueError(f"seat {seat} is said to toss {card}, which it does not hold")
            slot = hand.hole[seat].index(card)
            yield Tossed(seat, slot, (card,), "recorded")
        case Holds(seat=seat, cards=cards):
            held = hand.hole[seat]
            if len(cards) > len(held):  # some joined the hand
                fresh = tuple(card for card in cards if card == UNKNOWN or card not in held)
                yield HoleDealt(seat, fresh[: len(cards) - len(held)])
            elif any(isinstance(line, SwapHole) for line in game.script):
                for slot, (old, new) in enumerate(zip(held, cards, strict=False)):
                    yield CardSwapped(seat, slot, old, new, game.swap_seen == "both_told")
        case Board(cards=cards):
            total = len(hand.board) + len(cards)
            for at, line in enumerate(game.script):
                if isinstance(line, DealBoard) and line.total == total:
                    if hand.step != at:  # the hand may be there already
                        yield from line.enter(game, hand, at)
                    break
            else:
                raise ValueError(f"{game.name} has no street with a board of {total} cards")
            yield BoardDealt(cards)
        case Shows(seat=seat) | Mucks(seat=seat):
            done = seat in hand.showing.shown or seat in hand.showing.mucked
            # Who has folded, or won uncontested, only shows his cards around.
            if done or is_alone(hand) or hand.standing[seat] == "folded":
                return
            last = len(game.script) - 1
            if hand.step != last and not any(
                isinstance(one, Act | AuctionBid | Board) for one in later
            ):
                yield StepEntered(last, "showdown")
            yield Shown(seat, item.cards) if isinstance(item, Shows) else Mucked(seat)
        case DropsOut(seat=seat, all_in=all_in):
            yield TimedOut(seat, True, _next_to_act(later)) if all_in else Disconnected(seat)


def _next_to_act(later: list[Item]) -> int | None:
    """The seat that acts next on this street, as the source has it."""
    for item in later:
        if isinstance(item, Act) or (isinstance(item, DropsOut) and item.all_in):
            return item.seat
        if isinstance(item, AuctionBid | CardToss | Board | Shows | Mucks):
            return None
    return None


def _choice_events(game: Game, hand: Hand, item: Act, then: int | None) -> Iterator[Event]:
    """A choice, in a round that is opened before; cut by the stack where no size is told."""
    if hand.round is None or not hand.round.opened:
        dealt = 0
        for at, line in enumerate(game.script):  # the betting that follows the cards on the board
            dealt = line.total if isinstance(line, DealBoard) else dealt
            dealt += len(hand.hole) if isinstance(line, TossHole) else 0
            if isinstance(line, Betting) and dealt == len(hand.board):
                bet = round_of(hand).bet
                opening = BettingOpened(at, line.street, bet, line.size, item.seat)
                break
        else:
            raise ValueError(f"{game.name} has no betting on a board of {len(hand.board)} cards")
        yield opening
        hand = evolve(hand, opening)
    betting, seat = round_of(hand), item.seat
    origin: Origin = "default" if item.default else "recorded"
    match item.verb:
        case "fold":
            yield Folded(seat, then, origin)
        case "check":
            yield Checked(seat, then, origin)
        case "call":
            owed = min(betting.bet - betting.bets[seat], hand.stacks[seat])
            yield Called(seat, owed if item.amount is None else item.amount, then, origin)
        case "raise":
            most = betting.bets[seat] + hand.stacks[seat]
            to = min(betting.level + betting.size, most) if item.to is None else item.to
            amount, full = to - betting.bets[seat], to - betting.bet >= betting.size
            if betting.bet == 0:
                yield Bet(seat, to, full, then, origin)
            else:
                yield Raised(seat, amount, to, full, then, origin)


def _bid_events(game: Game, hand: Hand, item: AuctionBid) -> Iterator[Event]:
    """A bid; the last one is followed by what the rules make of them."""
    at = next((at for at, line in enumerate(game.script) if isinstance(line, Auction)), None)
    if at is None:
        raise ValueError(f"{game.name} has no auction")
    if hand.step != at:
        entered = StepEntered(at, "auction")
        yield entered
        hand = evolve(hand, entered)
    placed = BidPlaced(
        item.seat, item.amount, item.sealed, "default" if item.default else "recorded"
    )
    yield placed
    hand = evolve(hand, placed)
    assert hand.auction is not None
    if len(hand.auction.bids) == len(contenders(hand)) > 1:
        stacks = tuple(max(0, stack) for stack in hand.stacks)  # who bet more than he had has none
        yield settled(game, replace(hand, stacks=stacks), hand.auction.bids, hand.auction.sealed)


# What is paid.


def _payment_events(source: SourceHand, hand: Hand) -> Iterator[Event]:
    """The unmatched part of a bet, if the source's sums give it back; then its payments."""
    if source.paid is not None:
        by_pot: dict[int, dict[int, int]] = {}
        for paid in source.paid:
            won = by_pot.setdefault(paid.pot, {})
            won[paid.seat] = won.get(paid.seat, 0) + paid.amount
    elif source.nets is not None:
        brought = zip(source.stacks, source.nets, hand.stacks, strict=True)
        by_pot = {0: {seat: was + net - now for seat, (was, net, now) in enumerate(brought)}}
    else:
        raise ValueError("rules and source part, and the source does not say who was paid")
    rake = source.rake or 0
    *_, matched, most = sorted(hand.paid)
    back = UncalledReturned(hand.paid.index(most), most - matched)
    total = sum(sum(won.values()) for won in by_pot.values())
    # Whether the source counts the unmatched part of a bet as given back, not as won.
    if source.paid is None:
        returned = by_pot[0][back.seat] >= back.amount
    else:
        returned = total + rake == hand.pot - back.amount
    if most > matched and source.game.uncalled != "in_pot" and returned:
        yield back
        hand = evolve(hand, back)
        if source.paid is None:
            by_pot[0][back.seat] -= back.amount
            total -= back.amount
    for won in by_pot.values():
        for seat, share in won.items():
            if share < 0:
                raise _Impossible(f"seat {seat} cannot have lost more than it put in")
    if total + rake != hand.pot:
        raise _Impossible(f"a pot of {hand.pot} cannot pay {total} and a rake of {rake}")
    if rake:  # each pot bears what is missing in it; all of it the first, if the pots do not tell
        parts = pots(source.game, hand, contenders(hand))
        missing = [pot.amount - sum(by_pot.get(at, {}).values()) for at, pot in enumerate(parts)]
        if min(missing, default=-1) < 0 or sum(missing) != rake:
            missing = [rake]
        yield from (RakeTaken(pot, amount) for pot, amount in enumerate(missing) if amount)
    for pot, won in sorted(by_pot.items()):
        seats = tuple(seat for seat, share in won.items() if share)
        if seats:
            yield PotSplit(pot, seats, tuple(won[seat] for seat in seats))

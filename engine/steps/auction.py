"""A sealed second-price auction for one more hole card: who bids, who pays, who gets a card."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise, contenders, in_order
from engine.steps.deal import to_seats
from engine.turn import Bid, Command, IllegalCommand, ToBid, ToDeal
from events.state import Auction as Bids
from events.state import Hand
from events.types import AuctionSettled, BidPlaced, Events, Origin, StepEntered


class Auction(Struct, frozen=True, tag=True):
    """The highest bid wins a card at the second price; in a tie all pay and get one (A4, A5)."""

    hole: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return () if self._skipped(game, hand) else (StepEntered(at, "auction"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        auction = hand.auction
        if auction is None:
            return self._skipped(game, hand)
        return self._skipped(game, hand) or (auction.settled and not auction.due)

    def turn(self, game: Policies, hand: Hand) -> ToBid | ToDeal:
        """The left of the button bids first, the button last (A2); then the winners get cards."""
        auction = hand.auction or Bids()
        if auction.settled:
            return _third_cards(game, hand, auction)
        have_bid = {seat for seat, _ in auction.bids}
        seat = next(s for s in in_order(hand, contenders(hand)) if s not in have_bid)
        return ToBid(seat, hand.stacks[seat])

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        question = self.turn(game, hand)
        if isinstance(question, ToDeal):
            return to_seats(game, hand, question, command)
        placed = _bid(game, question, command)
        auction = hand.auction or Bids()
        bids = (*auction.bids, (placed.seat, placed.amount))
        if len(bids) < len(contenders(hand)):
            return (placed,)
        return (placed, settled(game, hand, bids, placed.sealed and auction.sealed))

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()

    def _skipped(self, game: Policies, hand: Hand) -> bool:
        """With everybody all-in the auction is held all the same (A7), unless it is skipped."""
        return game.auction_all_in == "skipped" and "live" not in hand.standing


def settled(
    game: Policies, hand: Hand, bids: tuple[tuple[int, int], ...], sealed: bool
) -> AuctionSettled:
    """The highest bidder pays the second highest bid, cut by his stack; all of a tie pay theirs."""
    amounts = [amount for _, amount in bids]
    *_, second, best = sorted(amounts)
    won = [seat for seat, amount in bids if amount == best]
    dealer_first = clockwise(hand, hand.start.button - 1)
    winners = tuple([seat for seat in dealer_first if seat in won])
    price = min(second, *[hand.stacks[seat] for seat in winners])
    shown = tuple(amounts) if game.bids_revealed == "after_auction" else ()
    return AuctionSettled(winners, price, shown, sealed)


def _bid(game: Policies, question: ToBid, command: Command) -> BidPlaced:
    """A whole number up to the stack (A6); sealed, unless this ruleset lets it leak (A1)."""
    if not isinstance(command, Bid):
        raise IllegalCommand(
            f"it is seat {question.seat}'s turn to bid: {type(command).__name__} does not"
            " answer that"
        )
    if command.seat != question.seat:
        raise IllegalCommand(f"it is seat {question.seat}'s turn to bid, not seat {command.seat}'s")
    top = question.bid_max
    if command.amount < 0 or (command.amount > top and game.bid_max == "stack"):
        raise IllegalCommand(f"seat {question.seat} may bid 0..{top}, not {command.amount}")
    if not command.sealed and game.bids == "sealed":
        raise IllegalCommand(
            f"seat {question.seat} must bid sealed: this ruleset shows no bid early"
        )
    only = top == 0 and command.origin == "chosen"
    origin: Origin = "forced" if only else command.origin
    return BidPlaced(question.seat, command.amount, command.sealed, origin)


def _third_cards(game: Policies, hand: Hand, auction: Bids) -> ToDeal:
    """From the top of the deck, or its last cards; in a tie the dealer's comes first (A3)."""
    slots: tuple[int, ...] = ()
    if game.deck_slots == "fixed":  # the dealer's is the last of the deck, for either winner (G21)
        seats = len(hand.stacks)
        slots = tuple(51 - (seat - hand.start.button) % seats for seat in auction.due)
    return ToDeal(len(auction.due), "third", auction.due, game.third_card, slots=slots)

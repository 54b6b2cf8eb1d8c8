"""All-in equity: run-outs, and the net that each seat could expect of them.

A run-out begins where betting closed for good: nobody had a choice left, cards were to come, and
the rest is chance. Equity is exact wherever that is quick, else sampled with a recorded seed. Two
hands, the board at three cards or more: every run-out is counted, third cards and swaps still to
come included. Known hands without either are counted before the flop, too. What is left, an auction
or swaps before the flop, is sampled.

A sealed hand keeps its run-out and no equity: one takes 15 ms, sealing the hand 0.3. Equities are
counted when a question asks for them, some evenly spread (`EquityCache` keeps them).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from msgspec import Struct

from analytics.replay.rules import Rulebook
from engine.followed import EITHER, of_other_kinds, unknown
from engine.game import Game
from engine.policies import Rake
from engine.pots import Pot, pots
from engine.steps import (
    Antes,
    Auction,
    Betting,
    Blind,
    Blinds,
    DealBoard,
    DealHole,
    Posts,
    Straddle,
    SwapHole,
)
from engine.steps import Showdown as ShowdownStep
from events.cards import DECK, UNKNOWN, Cards, is_card, known
from events.evolve import evolved, replay
from events.state import Hand
from events.types import (
    AuctionSettled,
    Bet,
    BidPlaced,
    BoardDealt,
    Called,
    CardSwapped,
    Checked,
    Folded,
    HoleDealt,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
    TimedOut,
    Tossed,
)
from odds.batch import BOARD, Masks, Showdown, equities, unseen, worth
from odds.ranges import kept
from odds.rank import mask
from odds.unseen import against_unseen, share_with_swaps
from store.columns.codec import Row

DRAWS = 20_000
SEED = 8
MODEL = "run-out/1"
CACHE_SIZE = 4_096  # of each kind, in a process: a repeated question counts nothing anew
HOLE_MAX = 3  # two, and one that was won at auction
# Policies under which pots are paid and cards come as counted here, or nearly (odd chips); how
# hands compare is asked of `Rulebook.showdown`.
_SUPPORTED_POLICIES: dict[str, tuple[object, ...]] = {
    "unit": (str,),
    "split_unit": (int,),
    "uncalled": ("returned", "in_pot"),
    "dead_chips": ("first_pot", "stake"),
    "showdown_tie": ("split", "no_change"),
    "odd_chips": (
        *("clockwise_each", "first_left_all", "dealer", "non_dealer", "fractional"),
        *("first_seat", "random", "dropped"),
    ),
    "odd_scope": ("per_pot", "total"),
    "rake": (None, Rake),
    "rake_pots": ("outwards", "proportional"),
    "hole_order": ("pairs_from_dealer", "one_each_from_left"),
    "burn": (0, 1),
    "deck_slots": ("sequential", "fixed"),
    "third_card": ("top", "bottom"),
    "swap_order": ("after_board", "before_board"),
    "swap_runout": EITHER,
    "tapped_prize": ("covered", "whole_pot"),  # these three are asked under `expectation` alone
    "expectation": ("covered", "snapshot"),
    "next_group": ("remaining", "original"),
}
_SUPPORTED_STEPS = (
    Antes,
    Auction,
    Betting,
    Blind,
    Blinds,
    DealBoard,
    DealHole,
    Posts,
    ShowdownStep,
    Straddle,
    SwapHole,
)
_NO_CHANCE = of_other_kinds("pay", "deal")
_PAYMENTS = (PotSplit, RakeTaken)
_ACTIONS = (Folded, Checked, Called, Bet, Raised)
_CHOICES = (*_ACTIONS, BidPlaced, Tossed)


class RunOut(Struct, frozen=True):
    """Hands, board and pots (net of rake) when betting closed for good, with cards to come.

    `third` is how many more hole cards each will get, `chances` the swaps still to come,
    `put_in` what each of all seats had put in, prices of auctions included.
    """

    seats: tuple[int, ...]
    holes: tuple[Cards, ...]
    board: Cards
    dead: Cards
    third: tuple[int, ...]
    chances: tuple[tuple[int, int], ...]
    pots: tuple[Pot, ...]
    put_in: tuple[int, ...]


def find_run_out(events: Sequence[Any], end: Hand, game: Game) -> RunOut | str | None:
    """A hand's run-out; None if it has none, a reason where its equity cannot be counted."""
    seats = tuple(seat for seat, how in enumerate(end.standing) if how != "folded")
    if len(seats) < 2 or end.voided:
        return None
    place = _last_choice(events)
    hand = replay(events[: place + 1])
    if not BOARD <= len(end.board) > len(hand.board):
        return None
    if (other := unsupported_rule(game)) is not None:
        return other
    holes = tuple(_hole_cards(hand, seat, events[place:]) for seat in seats)
    if not all(holes) or (hand.board and known(hand.board) is None):
        return "cards not known"
    third = tuple(len(end.hole[seat]) - len(hand.hole[seat]) for seat in seats)
    if not _fits_one_deck(hand, [hole for hole in holes if hole], third):
        return "cards not of one deck"
    swaps = swaps_to_come(game, hand)
    layers = _pots_less_rake(events, place, hand, game, seats)
    if layers is None:
        return "pots not those of the rules"
    return RunOut(
        seats,
        tuple(hole for hole in holes if hole),
        hand.board,
        tuple(card for card in hand.discards if known((card,))),
        third,
        swaps,
        layers,
        tuple(paid + dead for paid, dead in zip(end.paid, end.dead, strict=True)),
    )


@lru_cache(maxsize=1 << 10)  # of some files each hand has its own stakes
def unsupported_rule(game: Game) -> str | None:
    """The step or policy by which a game's equities cannot be counted here; None if all can."""
    strange = next((step for step in game.script if not isinstance(step, _SUPPORTED_STEPS)), None)
    if strange is not None:
        return type(strange).__name__
    return unknown(game, _SUPPORTED_POLICIES, _NO_CHANCE)


def _last_choice(events: Sequence[Any]) -> int:
    """The place of the last choice, or of the settlement after it; else of the last hole cards."""
    dealt = 0
    for at, event in enumerate(events):
        if isinstance(event, BoardDealt):
            break
        if isinstance(event, HoleDealt):
            dealt = at
    for at in range(len(events) - 1, 0, -1):
        event = events[at]
        if isinstance(event, TimedOut) or (
            isinstance(event, _CHOICES) and event.origin != "forced"
        ):
            settled = at + 1 < len(events) and isinstance(events[at + 1], AuctionSettled)
            return max(at + settled, dealt if at < dealt else 0)
    return dealt


def _hole_cards(hand: Hand, seat: int, later: Sequence[Any]) -> Cards | None:
    """A seat's hole cards in the run-out: seen then, or shown later with no swap in between."""
    if (cards := known(hand.hole[seat])) is not None:
        return cards
    if any(isinstance(event, CardSwapped) for event in later):
        return None
    for event in later:
        if isinstance(event, Shown) and event.seat == seat:
            return known(event.cards[: len(hand.hole[seat])])
    return None


def _fits_one_deck(hand: Hand, holes: Sequence[Cards], third: tuple[int, ...]) -> bool:
    """Whether these cards can be of one deck that has enough for what is to come; a forged record
    may hold any."""
    held = [card for hole in holes for card in hole]
    cards = [*held, *hand.board, *hand.discards]
    seen = [card for card in cards if card != UNKNOWN]
    due = BOARD - len(hand.board) + sum(third) + len(held)  # each card held may be swapped
    return (
        min(third) >= 0
        and max(len(hole) + more for hole, more in zip(holes, third, strict=True)) <= HOLE_MAX
        and len(set(seen)) == len(seen)
        and all(map(is_card, seen))
        and len(cards) + due <= len(DECK)
    )


def swaps_to_come(game: Game, hand: Hand) -> tuple[tuple[int, int], ...]:
    """Swaps that the script still holds; some rulesets stop them when nobody can act any more."""
    if not game.swap_runout and hand.standing.count("live") < 2:
        return ()
    later = game.script[hand.step + 1 :]
    return tuple((step.chance, step.of) for step in later if isinstance(step, SwapHole))


def _pots_less_rake(
    events: Sequence[Any], place: int, hand: Hand, game: Game, seats: tuple[int, ...]
) -> tuple[Pot, ...] | None:
    """The pots less their rake; None if they do not add up to what was paid. `hand` is what the
    events up to this place add up to."""
    first = next((at for at, it in enumerate(events) if type(it) in _PAYMENTS), None)
    if first is None:
        return None
    hand = evolved(hand, events[place + 1 : first]) if first > place else replay(events[:first])
    rake = [0] * (len(hand.stacks) + 1)
    paid = 0
    for event in events[first:]:
        if isinstance(event, RakeTaken):
            rake[event.pot] += event.amount
        elif isinstance(event, PotSplit):
            paid += sum(event.shares)
    found = tuple(
        Pot(pot.amount - rake[at], pot.seats) for at, pot in enumerate(pots(game, hand, seats))
    )
    return found if sum(pot.amount for pot in found) == paid else None


class PotEquities(Struct, frozen=True):
    """The chance of each seat to win a pot alone, and its share of it; `error` where sampled."""

    alone: tuple[float, ...]
    share: tuple[float, ...]
    error: float = 0.0


class ExpectedNets(Struct, frozen=True):
    """The net that each seat could expect of a run-out, and one standard error of it in chips.

    `equity` is each seat's share of the first pot, 0 for a seat that could not win it.
    """

    nets: tuple[float, ...]
    error: float
    equity: tuple[float, ...]


EquityFunction = Callable[[RunOut, tuple[int, ...], Showdown, str], PotEquities]


def expected_nets(
    spot: RunOut, game: Game, rules: Showdown, hand: str, count: EquityFunction | None = None
) -> ExpectedNets:
    """The expected nets of a run-out, pot by pot; what a ruleset pays in a tie is its own.

    `count` may look up what was counted before.
    """
    count = count or pot_equities
    nets = [-float(paid) for paid in spot.put_in]
    error = 0.0
    first = [0.0] * len(nets)
    for place, pot in enumerate(spot.pots):
        if len(pot.seats) == 1:
            nets[pot.seats[0]] += pot.amount
            continue
        value = count(spot, pot.seats, rules, hand)
        error += value.error * pot.amount
        for at, seat in enumerate(pot.seats):
            nets[seat] += value.share[at] * pot.amount
            first[seat] = value.share[at] if place == 0 else first[seat]
            if game.showdown_tie == "no_change" and len(pot.seats) == 2:
                tied = 2 * (value.share[at] - value.alone[at])
                nets[seat] += tied * (spot.put_in[seat] - pot.amount / 2)
    return ExpectedNets(tuple(nets), error, tuple(first))


def luck_rows(
    row: Row, spot: RunOut, rules: Rulebook, count: EquityFunction | None = None
) -> Iterator[Row]:
    """A row for each seat of a run-out: its equity and expected net in chips; none under unknown
    rules. The row names the hand and its ruleset, and how many of its units make a chip.
    """
    game, how = rules.of(row["ruleset"]), rules.showdown(row["ruleset"])
    if game is None or how is None:
        return
    fair = expected_nets(spot, game, how, row["hand"], count)
    for seat, net in enumerate(fair.nets):
        one = {"hand_seq": row["hand_seq"], "seat": seat, "equity": fair.equity[seat]}
        yield {**one, "net_ev": net / row["unit"], "error": fair.error / row["unit"]}


def pot_equities(spot: RunOut, seats: tuple[int, ...], rules: Showdown, hand: str) -> PotEquities:
    """The equities of the seats that may win a pot; the others' cards are dead."""
    places = [spot.seats.index(seat) for seat in seats]
    holes = tuple(spot.holes[at] for at in places)
    others = (hole for at, hole in enumerate(spot.holes) if at not in places)
    dead = (*spot.dead, *(card for hole in others for card in hole))
    third = tuple(spot.third[at] for at in places)
    two_after = len(holes) == 2 and len(spot.board) >= 3
    if not any(third) and not spot.chances:
        odds = _cached_equities(holes, spot.board, dead, rules)
        alone = tuple(one.wins / one.deals for one in odds)
        return PotEquities(alone, tuple(float(one.share) for one in odds))
    if two_after and any(third) and not spot.chances:
        return _third_card_equities(holes, spot.board, third, dead, rules)
    if two_after and not any(third):
        mine, his = holes
        share = float(_cached_swap_share(mine, his, spot.board, spot.chances, dead, rules))
        return PotEquities((share, 1 - share), (share, 1 - share))
    return _cached_samples(
        holes, spot.board, dead, third, spot.chances, rules, crc32(hand.encode())
    )


@lru_cache(CACHE_SIZE)
def _third_card_equities(
    holes: tuple[Cards, ...], board: Cards, third: tuple[int, ...], dead: Cards, rules: Showdown
) -> PotEquities:
    """The equities of two hands with third cards that were won and not dealt yet."""
    turned = third[1] == 0  # the hand that draws nothing is counted against the one that does
    mine, other = (holes[1], holes[0]) if turned else holes
    drawn, dealt = (third[1], third[0]) if turned else third
    odds = against_unseen(
        mine, board, dealt=dealt, drawn=drawn, rival=other, dead=dead, rules=rules
    )
    alone = (odds.wins / odds.deals, odds.losses / odds.deals)
    share = (float(odds.share), float(1 - odds.share))
    return PotEquities(alone[::-1], share[::-1]) if turned else PotEquities(alone, share)


_cached_equities = lru_cache(CACHE_SIZE)(equities)


def sampled_equities(
    holes: tuple[Cards, ...],
    board: Cards,
    dead: Cards,
    third: tuple[int, ...],
    chances: tuple[tuple[int, int], ...],
    rules: Showdown,
    seed: int,
    draws: int = DRAWS,
) -> PotEquities:
    """Equities over boards, third cards and replacements of swapped cards drawn at random."""
    chance = np.random.default_rng([SEED, seed])
    held = [card for hole in holes for card in hole]
    rest = unseen(mask((*held, *board, *dead)))
    missing = BOARD - len(board)
    wanted = missing + sum(third) + len(held)
    order = chance.random((draws, len(rest))).argsort(axis=1)[:, :wanted]
    drawn = rest[order]
    boards: Masks = np.bitwise_or.reduce(drawn[:, :missing], axis=1) | mask(board)
    at = missing
    gone = float(1 - kept(chances))
    values = []
    for hole, more in zip(holes, third, strict=True):
        hand = boards.copy()
        for card in hole:
            swapped = chance.random(draws) < gone
            hand |= np.where(swapped, drawn[:, at], mask((card,)))
            at += 1
        for _ in range(more):
            hand |= drawn[:, at]
            at += 1
        values.append(worth(hand, len(hole) + more + BOARD, rules))
    best = np.array(values) == np.max(values, axis=0)
    shares = best / best.sum(axis=0)
    alone = (shares == 1).mean(axis=1)
    error = float(shares.std(axis=1).max()) / draws**0.5
    return PotEquities(tuple(map(float, alone)), tuple(map(float, shares.mean(axis=1))), error)


_cached_swap_share = lru_cache(CACHE_SIZE)(share_with_swaps)
_cached_samples = lru_cache(CACHE_SIZE)(sampled_equities)

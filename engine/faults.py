"""Check whether a ruleset can be played, and say in one sentence why it cannot."""

from collections.abc import Callable

from engine.game import Game
from engine.parameters import MOST, first, seats_most, sizes, swaps
from engine.steps import (
    Antes,
    Auction,
    Betting,
    Blind,
    Blinds,
    DealBoard,
    DealHole,
    DrawBounties,
    Posts,
    Run,
    Showdown,
    Straddle,
    SwapHole,
    TossHole,
)

STEPS_MAX = 62


def fault(game: Game) -> str | None:
    """The first thing that no hand could be played with; None if there is none."""
    for fault_of in (_shape, _amounts, _rake, _seats):
        if sentence := fault_of(game):
            return sentence
    return next((why for holds, why in _CONTRADICTIONS if holds(game)), None)


def _shape(game: Game) -> str | None:
    """A script: forced bets, two hole cards, rounds of betting and a growing board, a showdown."""
    kinds = [type(step) for step in game.script]
    if not kinds or kinds[0] not in (Antes, Blinds):
        return "its script begins with neither Antes nor Blinds"
    if Posts in kinds:
        return "Posts lists what a foreign file holds: it is no line of a game"
    if kinds.count(Antes) + kinds.count(Blinds) > 1:
        return "only the first line of a script is Antes or Blinds"
    if kinds.count(Showdown) != 1 or kinds[-1] is not Showdown:
        return "its script ends with one Showdown"
    dealt = 3 if TossHole in kinds else 2
    if [step.count for step in game.script if isinstance(step, DealHole)] != [dealt]:
        return "its script deals hole cards once, two to each seat, or three if one is tossed"
    if len(kinds) > STEPS_MAX:
        return f"its script has {len(kinds)} lines: {STEPS_MAX} are the most"
    early = kinds[1 : kinds.index(DealHole)]
    if early:
        return f"hole cards are dealt before {early[0].__name__}"
    if Betting not in kinds:
        return "nobody bets in its script"
    return _tosses(game) or _bounties(game) or _board(game) or _forced(game) or _swaps(game)


def _board(game: Game) -> str | None:
    totals = [step.total for step in game.script if isinstance(step, DealBoard)]
    most = 5 if first(game, TossHole) is None else 6
    if totals != sorted(set(totals)) or not totals or totals[0] < 1 or totals[-1] > most:
        count = {5: "five", 6: "six"}[most]
        return f"the board grows from line to line, to {count} cards at most, not {totals}"
    if totals[-1] < 5 and (game.hole_min or totals[-1] < 3):
        return f"a board of {totals[-1]} cards is too small to compare hands with"
    holes = [step.hole for step in game.script if isinstance(step, Auction)]
    if holes not in ([], [3]):
        return "there is at most one auction, and for a third hole card"
    return None


def _tosses(game: Game) -> str | None:
    """One card is tossed by each of two players, right after the first cards of the board (H1)."""
    kinds = [type(step) for step in game.script]
    boards = [step for step in game.script if isinstance(step, DealBoard)]
    tosses = [step.left for step in game.script if isinstance(step, TossHole)]
    if any(step.hole != 2 + len(tosses) for step in boards):
        return "the board comes after the hole cards: its lines say how many each seat is dealt"
    if not tosses:
        return None
    if tosses != [2] or game.seats_max != 2 or {Auction, SwapHole, Run} & {*kinds}:
        return "a card is tossed once, by two players who keep two, without swaps, auction and run"
    at = kinds.index(TossHole)
    if kinds[at - 1] is not DealBoard or kinds[:at].count(DealBoard) != 1:
        return "a card is tossed right after the first cards of the board"
    if len(boards) > 1 and boards[1].total <= boards[0].total + 2:
        return "the board grows from line to line, tossed cards included"
    return None


def _forced(game: Game) -> str | None:
    """Blind and straddle stand together, before the rounds that `blind_rounds` names (U2)."""
    rounds = 0
    forced = []
    for step, two, three in zip(game.script, game.script[1:], game.script[2:], strict=False):
        if isinstance(step, Blind) != isinstance(two, Straddle):
            return "a blind and a straddle stand together, and before a round of betting"
        if isinstance(step, Blind):
            if not isinstance(three, Betting):
                return "a blind and a straddle stand together, and before a round of betting"
            forced.append(rounds + 1)
        rounds += isinstance(step, Betting)
    if forced and tuple(forced) != game.blind_rounds:
        return f"blind_rounds says {game.blind_rounds}, and its script {tuple(forced)}"
    return None


def _bounties(game: Game) -> str | None:
    """Bounties are drawn once; the other of two players pays, and may owe more than he has (B2)."""
    draws = [step.hands for step in game.script if isinstance(step, DrawBounties)]
    if not draws:
        return None
    if len(draws) > 1 or draws[0] < 1:
        return "bounties are drawn once in its script, for one hand or more"
    if game.seats_max != 2:
        return "a bounty is paid by the other of two players: seats_max is 2"
    if game.stacks != "reset":
        return "a bounty may cost more than is left: stacks are reset for every hand"
    return None


def _swaps(game: Game) -> str | None:
    """Swaps stand right before or after their board card, as `swap_order` says (S1)."""
    if len(swaps(game)) > 2:
        return "cards are swapped twice at most"
    after = game.swap_order == "after_board"
    for at, step in enumerate(game.script):
        neighbour = game.script[at - 1 if after else at + 1] if isinstance(step, SwapHole) else None
        if neighbour is not None and not isinstance(neighbour, DealBoard):
            return f"swap_order says {game.swap_order}, and its script does not"
        if isinstance(step, SwapHole) and not (step.of > 0 and 0 <= step.chance <= step.of):
            return f"a chance of {step.chance} in {step.of} is none"
    if len({step.of for step in game.script if isinstance(step, SwapHole)}) > 1:
        return "all chances of a game are parts of one number"
    return None


def _amounts(game: Game) -> str | None:
    """Blinds, antes, limits and stacks are chips, and in order."""
    blinds, antes, straddle = first(game, Blinds), first(game, Antes), first(game, Straddle)
    if blinds is not None and not 1 <= blinds.small <= blinds.big:
        return f"the small blind of {blinds.small} is not between 1 and the big one, {blinds.big}"
    if blinds is not None and blinds.ante < 0:
        return f"an ante of {blinds.ante} is none"
    if antes is not None and antes.amount < 1:
        return f"an ante is at least 1, not {antes.amount}"
    if straddle is not None and straddle.amount < 2:
        return f"the low limit is at least 2, not {straddle.amount}: half of it is the blind"
    low, high = sizes(game)[0], sizes(game)[-1]
    if min(sizes(game)) < 1:
        return f"a bet is at least 1, not {min(sizes(game))}"
    if high < low:
        return f"the high limit is at least the low one of {low}, not {high}: set high, too"
    for name in ("stack", "split_unit", "raise_cap", "hands"):
        value = getattr(game, name)
        if value is not None and value < 1:
            return f"{name} is at least 1, not {value}"
    most = max(game.stack, *sizes(game), blinds.ante if blinds else 0, antes.amount if antes else 0)
    return f"amounts go up to {MOST}, not to {most}" if most > MOST else None


def _rake(game: Game) -> str | None:
    """A rate is a part of the pot, and its caps are chips (R1, R2)."""
    rake = game.rake
    if rake is None:
        return None
    if not 0 < rake.percent <= rake.of:
        return f"a rake of {rake.percent} in {rake.of} is no part of a pot"
    if rake.increment < 1 or any(cap < 0 for _, cap in rake.caps_by_players):
        return "the caps and the increment of a rake are chips"
    return None


def _seats(game: Game) -> str | None:
    """A deck has to have a card for everything that could be dealt (G19)."""
    most = seats_most(game)
    if not 2 <= game.seats_min <= game.seats_max:
        return f"at least 2 seats, and no fewer at most: not {game.seats_min} to {game.seats_max}"
    if game.seats_max > most:
        return f"the deck has cards for {most} seats at most, not {game.seats_max}"
    return None


# Policies that contradict each other.
_CONTRADICTIONS: tuple[tuple[Callable[[Game], bool], str], ...] = (
    (
        lambda game: game.seats_min > 2 and game.stacks == "carried" and game.broke != "buys_in",
        "players go broke where stacks are carried, until two are left: seats_min is 2",
    ),
    (
        lambda game: game.burn > 0 and game.deck_slots == "fixed",
        "with deck_slots=fixed every card has its own place, and burn=1 has none",
    ),
    (
        lambda game: game.split == "expectation" and game.rake is not None,
        "split=expectation knows no rake",
    ),
    (
        lambda game: (
            game.split == "expectation" and game.odd_chips not in ("dealer", "clockwise_each")
        ),
        "split=expectation gives odd chips one each: odd_chips is dealer or clockwise_each",
    ),
    (
        lambda game: game.kickers == "all_seven" and game.announce == "announced",
        "announce=announced compares the five cards that are named: kickers is five_cards",
    ),
    (
        lambda game: (
            game.rake is not None
            and (game.rake.rounding, game.rake.scope) == ("incremental", "hand")
            and game.rake_pots == "outwards"
        ),
        "rake_rounding=incremental could take more of a pot than it holds, unless rake_scope=pot",
    ),
)

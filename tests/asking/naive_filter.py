"""A filter held against one hand, slowly: from events as a viewpoint sees them, in Kleene's logic.

None is what may not be known. Nothing of this uses SQL, a view or a pattern's own matching.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import permutations
from typing import Any, NamedTuple

from analytics.replay.flags import FLAGS as FACT_FLAGS
from analytics.replay.flags import STREETS
from api.questions.filters_tree import HAND_CATEGORIES, And, Compare, Not, Or, PlayerTerms, Term
from api.questions.filters_values import Amount, Moment, Pattern
from api.viewpoints.redaction import RedactedEvents, replay_seen
from engine.games import RULESETS
from engine.policies import money
from events import types as t
from events.cards import RANKS, is_card
from events.state import Hand
from events.views import BidPlacedSeen, CardSwappedSeen, Hidden, Seen
from odds.rank import category
from odds.rank import value as value_of
from store.log.streams import split_stream
from tests.analytics.walked_facts import Row, rows_of, stakes

Truth = bool | None
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


class OneBid(NamedTuple):
    """A bid, what came of it, and the price if it won."""

    seat: int
    amount: int | None
    won: bool
    price: int
    tied: bool


class Taken(NamedTuple):
    """A hand as it is seen, taken apart."""

    match: str
    number: int | None
    place: int
    places: Mapping[str, int]
    at: int
    hand: Hand
    seen: tuple[Seen, ...]
    bids: tuple[OneBid, ...]
    swaps: tuple[tuple[int, Truth], ...]
    pot: int
    big: int | None
    verdict: str | None
    facts: Mapping[int, Row]
    moves: int | None = None
    tags: tuple[tuple[str, str, str], ...] = ()

    def is_in(self, range: str) -> bool:
        """MATCH/FIRST-LAST, MATCH/FIRST- or MATCH/NUMBER, of a match without a comma."""
        match, _, numbers = range.partition("/")
        first, dash, last = numbers.partition("-")
        end = int(last) if last else 10**18 if dash else int(first)
        return self.match == match and int(first) <= (self.number or 0) <= end


def taken(redacted_hand: RedactedEvents, verdict: str | None, places: Mapping[str, int]) -> Taken:
    """What terms ask of; `places` are those of all hands, in the order in which they ended."""
    seen = tuple(one.seen for one in redacted_hand.events)
    hand = replay_seen(seen)
    paid = sum(sum(one.shares) for one in seen if isinstance(one, t.PotSplit))
    raked = sum(one.amount for one in seen if isinstance(one, t.RakeTaken))
    swaps = [(one.seat, _known(one.changed)) for one in seen if isinstance(one, CardSwappedSeen)]
    swaps += [(one.seat, one.old != one.new) for one in seen if isinstance(one, t.CardSwapped)]
    game = RULESETS.get(hand.start.game)
    big, _ = stakes(redacted_hand.leaf, game)
    rows = rows_of(redacted_hand.leaf, lambda _: game)
    return Taken(
        *split_stream(redacted_hand.stream),
        redacted_hand.hand_seq,
        places,
        redacted_hand.events[-1].stored.at,
        hand,
        seen,
        tuple(_bids(seen)),
        tuple(swaps),
        0 if hand.voided else paid + raked,
        None if hand.voided else big,
        verdict,
        {int(row["seat"] or 0): row for row in rows},
    )


def _bids(seen: tuple[Seen, ...]) -> Iterable[OneBid]:
    """The bids of an auction that was settled, as the settlement told them if it did."""
    placed: list[tuple[int, int | None]] = []
    for one in seen:
        match one:
            case BidPlacedSeen(seat=seat, amount=amount) | t.BidPlaced(seat=seat, amount=amount):
                placed.append((seat, _known(amount)))
            case t.AuctionSettled(seats=seats, price=price, bids=bids):
                told = [*bids] if bids else [known for _, known in placed]
                for (seat, _), bid in zip(placed, told, strict=True):
                    yield OneBid(seat, bid, seat in seats, price, len(seats) > 1)
                placed = []


def _known(value: Any) -> Any:
    return None if isinstance(value, Hidden) else value


def answer(one: Any, hand: Taken) -> Truth:
    """Whether the hand passes the filter, surely not, or nobody can tell from here."""
    match one:
        case Not(one=inner):
            return _not(answer(inner, hand))
        case And(all=parts):
            return _not(_any(_not(answer(part, hand)) for part in parts))
        case Or(any=parts):
            return _any(answer(part, hand) for part in parts)
        case PlayerTerms(player=player, one=inner):
            names = hand.hand.start.players
            seats = [seat for seat, name in enumerate(names) if player in (None, name)]
            if hand.hand.voided or not seats:
                return None
            return _any(_whole_of_seat(inner, hand, seat) for seat in seats)
        case _:
            return _term(one, hand)


def _term(term: Term, hand: Taken) -> Truth:
    if isinstance(term, Compare) and term.op == "!=":
        return _not(_term(Compare(term.field, "=", term.value), hand))
    name = term.field if isinstance(term, Compare) else term.name
    value = term.value if isinstance(term, Compare) else None
    op = term.op if isinstance(term, Compare) else "="
    start = hand.hand.start
    match name:
        case "pot":
            return _amount(hand.pot, op, value, hand.big)
        case "number":
            return hand.number is not None and ORDER[op](hand.number, value)
        case "players":
            return ORDER[op](len(start.players), value)
        case "street":
            dealt = {0: 0, 3: 1, 4: 2, 5: 3}[len(hand.hand.board)]
            return ORDER[op](dealt, STREETS.index(str(value)))
        case "board":
            return _fits(value, hand.hand.board)
        case "player":
            return value in start.players
        case "match" | "game" | "ruleset":
            told = {"match": hand.match, "game": start.game, "ruleset": start.ruleset}
            return bool(told[name] == value)
        case "unit":
            game = RULESETS.get(start.game)
            return None if game is None else money(game.unit) == value
        case "at":
            return _moment(hand.at, op, value)
        case "played":
            return _played(start.played, op, value)
        case "hand_seq":
            return str(hand.place) in str(value).split(",")
        case "hands":
            return any(map(hand.is_in, str(value).split(",")))
        case "hand" if op == "=":
            return f"{hand.match}/{hand.number}" == value
        case "hand":
            there = hand.places.get(str(value))
            return None if there is None else ORDER[op](hand.place, there)
        case "showdown":
            return any(isinstance(one, t.Shown) for one in hand.seen)
        case "voided":
            return hand.hand.voided
        case "verdict":
            return None if hand.verdict is None else hand.verdict == value
        case "contested":
            return None if hand.verdict is None else hand.verdict == "contested"
        case "moveless":
            return None if hand.verdict is None else hand.moves == 0
    if hand.hand.voided:
        return None
    return _any(_whole_of_seat(term, hand, seat) for seat in range(len(start.players)))


def _whole_of_seat(one: Any, hand: Taken, seat: int) -> Truth:
    """Whether all of it is so of this one player."""
    match one:
        case Not(one=inner):
            return _not(_whole_of_seat(inner, hand, seat))
        case And(all=parts):
            return _not(_any(_not(_whole_of_seat(part, hand, seat)) for part in parts))
        case Or(any=parts):
            return _any(_whole_of_seat(part, hand, seat) for part in parts)
        case Compare(field=field, op="!=", value=value):
            return _not(_whole_of_seat(Compare(field, "=", value), hand, seat))
        case _:
            return _any(_of_seat(one, hand, seat))


def _of_seat(term: Term, hand: Taken, seat: int) -> Iterable[Truth]:
    now = hand.hand
    bids = [bid for bid in hand.bids if bid.seat == seat]
    if isinstance(term, Compare):
        op, value = term.op, term.value
        match term.field:
            case "net":
                net = now.stacks[seat] - now.start.stacks[seat]
                return [_amount(net, op, value, hand.big)]
            case "collected":
                pots = [it for it in hand.seen if isinstance(it, t.PotSplit) and seat in it.seats]
                paid = sum(it.shares[it.seats.index(seat)] for it in pots)
                return [_amount(paid, op, value, hand.big)]
            case "bid":
                return [_amount(bid.amount, op, value, hand.big) for bid in bids]
            case "bid-with":
                placed = HAND_CATEGORIES.index(str(value))
                found = [_bid_with(hand, at) for at in _bids_of(hand.seen, seat)]
                return [None if one is None else ORDER[op](one, placed) for one in found]
            case "price":
                return [_amount(bid.price, op, value, hand.big) for bid in bids if bid.won]
            case "hole":
                return [_fits(value, now.hole[seat])]
            case "tag":
                tag, named, said = str(value).partition(":")
                mine = [it for it in hand.tags if it[:2] == (now.start.players[seat], tag)]
                return [any(not named or it[2] == said for it in mine)]
            case "position":
                row = hand.facts.get(seat)
                return [None if row is None else row["position"] == value]
            case "did" | "could":
                row = hand.facts.get(seat)
                return [row is not None and COUNTS[str(value)](row)[term.field == "could"] > 0]
        raise AssertionError(term)
    alone = now.standing.count("folded") == len(now.standing) - 1
    entered = any(isinstance(one, t.Called | t.Bet | t.Raised) for one in hand.seen)
    shown = any(isinstance(one, t.Shown) for one in hand.seen)
    still = now.standing[seat] != "folded"
    match term.name:
        case "showdown":
            return [still and shown]
        case "walk":
            return [still and alone and not entered and not now.board]
        case "all-in":
            return [now.standing[seat] == "all_in"]
        case "auction-won":
            return [bid.won for bid in bids]
        case "auction-lost":
            return [not bid.won for bid in bids]
        case "auction-tied":
            return [bid.won and bid.tied for bid in bids]
        case "swapped":
            return [changed for at, changed in hand.swaps if at == seat]
    raise AssertionError(term)


def _flag(*names: str) -> Callable[[Row], tuple[int, int]]:
    """Hands, or streets of one, in which it was done, and in which it could be."""
    return lambda row: (
        sum(row.get(name) is True for name in names),
        sum(row.get(name) is not None for name in names),
    )


def _actions(streets: tuple[str, ...], *under: str) -> Callable[[Row], tuple[int, int]]:
    """Bets and raises of these streets, and the actions that they are held against."""

    def counted(row: Row) -> tuple[int, int]:
        above, below = (
            sum(int(row.get(f"{at}_{kind}s") or 0) for at in streets for kind in kinds)
            for kinds in (("bet", "raise"), under)
        )
        return above, below

    return counted


AFTER = STREETS[1:]
COUNTS: dict[str, Callable[[Row], tuple[int, int]]] = {
    **{name: _flag(name) for name in FACT_FLAGS if name != "float_bet"},
    "float": _flag("float_bet"),
    "vpip_all": lambda row: (row.get("vpip") is True, 1),
    "check_raise": _flag(*(f"check_raise_{at}" for at in AFTER)),
    "bet_when_checked_to": _flag(*(f"bet_when_checked_to_{at}" for at in AFTER)),
    "wtsd": lambda row: (
        bool(row.get("saw_flop") and row.get("showdown")),
        bool(row.get("saw_flop")),
    ),
    "wsd": lambda row: (bool(row.get("showdown") and row.get("won")), bool(row.get("showdown"))),
    "wwsf": lambda row: (bool(row.get("saw_flop") and row.get("won")), bool(row.get("saw_flop"))),
    **{
        f"{name}{end}": _actions(streets, *under)
        for name, under in (("af", ("call",)), ("afq", ("bet", "raise", "call", "fold")))
        for end, streets in (("", AFTER), *((f"_{at}", (at,)) for at in AFTER))
    },
}


def _bids_of(seen: tuple[Seen, ...], seat: int) -> list[int]:
    """Bids that he chose, as far as is known: not with an empty stack, nor for a bad reply."""
    kinds = BidPlacedSeen | t.BidPlaced
    mine = [at for at, one in enumerate(seen) if isinstance(one, kinds) and one.seat == seat]
    return [
        at
        for at in mine
        if replay_seen(seen[:at]).stacks[seat] > 0
        and getattr(seen[at], "origin", None) not in ("forced", "default")
    ]


def _bid_with(hand: Taken, at: int) -> int | None:
    """The category of the best five when this bid was made, if the cards are known or shown."""
    bid = hand.seen[at]
    assert isinstance(bid, BidPlacedSeen | t.BidPlaced)
    then = replay_seen(hand.seen[:at])
    cards = then.hole[bid.seat]
    for one in hand.seen[at:]:
        if isinstance(one, t.CardSwapped | CardSwappedSeen) and one.seat == bid.seat:
            break
        if isinstance(one, t.Shown) and one.seat == bid.seat:
            cards = one.cards[: len(cards)]
    game = RULESETS.get(hand.hand.start.game)
    if game is None or not then.board or not all(is_card(it) and it[0] in RANKS for it in cards):
        return None
    by = {"straights": game.straights, "ranking": game.ranking, "hole_min": game.hole_min}
    return category(value_of(cards, then.board, **by))  # type: ignore[arg-type]


def _amount(held: int | None, op: str, value: Any, big: int | None) -> Truth:
    assert isinstance(value, Amount)
    if held is None or (value.blinds and big is None):
        return None
    if value.blinds:
        return ORDER[op](held * 100, value.number * (big or 0))
    return ORDER[op](held, value.number)


def _moment(at: int, op: str, value: Any) -> bool:
    assert isinstance(value, Moment)
    if value.at <= at < value.end:
        return op in ("=", "<=", ">=")
    return op in ("<", "<=") if at < value.at else op in (">", ">=")


def _played(said: str, op: str, value: Any) -> Truth:
    """A day is the one that the source names; a time is known where the source names its zone."""
    assert isinstance(value, Moment)
    if not said:
        return None
    if value.lasts == "day":
        return ORDER[op](
            said[:10], datetime.fromtimestamp(value.at // 1000, UTC).date().isoformat()
        )
    moment = datetime.fromisoformat(said)
    return None if moment.tzinfo is None else _moment(int(moment.timestamp() * 1000), op, value)


def _fits(value: Any, cards: tuple[str, ...]) -> Truth:
    """Every way to lay the pattern on the cards is tried."""
    assert isinstance(value, Pattern)
    known = [card for card in cards if is_card(card) and card[0] in RANKS]
    for hands in permutations(known, len(value.cards)):
        suits = {card[1] for card in hands}
        suited = {"": True, "s": len(suits) == 1, "o": len(suits) == 2}[value.suits]
        pairs = zip(hands, value.cards, strict=True)
        if suited and all(_one_fits(card, want) for card, want in pairs):
            return True
    return False if len(known) == len(cards) else None


def _one_fits(card: str, want: str) -> bool:
    return all(wish in ("?", is_so) for is_so, wish in zip(card, want, strict=True))


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _any(truths: Iterable[Truth]) -> Truth:
    told = list(truths)
    return True if True in told else None if None in told else False

"""Every built-in bot plays every ruleset legally, alike from the same seed; some play better."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, islice

import msgspec
import pytest

from dealer.bots import built_in
from dealer.bots.built_in import BOTS
from dealer.bots.seat_view import Seen, seat_view
from dealer.deck import SeededDecks, seeded_deck
from dealer.play import hand_records, plan, play_hand
from engine.audit import audit
from engine.game import Game
from engine.games import GAMES, named
from engine.hand import begin, step, turn
from engine.table import Seating
from engine.turn import Bid, Deal, ToAct, ToBid, ToDeal
from events.cards import DECK, Cards
from events.evolve import replay
from events.types import Events
from odds.batch import Odds, Showdown
from odds.rank import mask
from odds.third_card import ThirdCard
from tests.hands import NAMES, covering, some_games
from tests.profiles import in_turn, sized

HANDS = sized(26, 40, 300)
COMPANY = ("random", "aggressive", "caller")


@pytest.fixture
def guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cards are worth is drawn, not counted: whatever a bot believes, it plays legally."""

    def guess(*cards: int | Showdown) -> Fraction:
        return Fraction(hash(cards[:3]) % 101, 100)

    def guess_third(hole: Cards, board: Cards, rules: Showdown) -> ThirdCard:
        won = hash((mask(hole), mask(board))) % 101
        return ThirdCard(Odds(100, (won,)), Odds(100, (won // 2,)), Odds(100, (won,)))

    monkeypatch.setattr(built_in, "_same_suits", guess)
    monkeypatch.setattr(built_in, "third_card", guess_third)


def hands_of(game: Game, bot: str, count: int, seed: str) -> Iterator[Events]:
    """Tables of all sizes with full, short and tiny stacks; the bot sits between others."""
    chance = random.Random(f"{game.name} {bot} {seed}")
    for number in range(count):
        seats = chance.randint(game.seats_min, min(game.seats_max, 6))
        stacks = tuple(chance.choice((game.stack, 40, chance.randint(1, 30))) for _ in range(seats))
        seating = seated(stacks, chance.randrange(seats))
        names = islice(cycle((bot, chance.choice(COMPANY))), seats)
        bots = tuple(BOTS[name](f"{seed}/{number}/{at}") for at, name in enumerate(names))
        yield play_hand(game, f"m/{number}", seating, seeded_deck(f"{seed}/{number}"), bots)[0]


def seated(stacks: tuple[int, ...], button: int) -> Seating:
    count = len(stacks)
    return Seating(tuple(range(count)), NAMES[:count], stacks, button, (), False)


SOME = [(name, bot) for name in covering(GAMES) for bot in BOTS][:: sized(5, 1)]
ALL = [(name, bot) for name in GAMES for bot in BOTS]


@pytest.mark.parametrize(("name", "bot"), sized(SOME, SOME, ALL))
@pytest.mark.usefixtures("guessed")
def test_every_answer_of_a_bot_is_legal(name: str, bot: str) -> None:
    """The engine refuses what is not; and a record of its hands is audited as any other."""
    game = GAMES[name]
    for at, record in enumerate(hands_of(game, bot, HANDS, "legal")):
        if at % 25 == 0:
            assert audit(game, record) is None


@some_games
@pytest.mark.parametrize("bot", ["pot-odds", "bidder"])
def test_every_answer_by_exact_equity_is_legal(game: Game, bot: str) -> None:
    for record in hands_of(game, bot, 8, "exact"):
        assert audit(game, record) is None


@pytest.mark.parametrize(("name", "bot"), in_turn(covering(GAMES), [*BOTS]))
def test_the_same_seed_plays_the_same_hand(name: str, bot: str) -> None:
    count = 3 if bot in ("pot-odds", "bidder") else 20
    once, again = (list(hands_of(GAMES[name], bot, count, "twice")) for _ in range(2))
    assert once == again


@pytest.mark.parametrize("bot", ["random", "aggressive"])
def test_another_seed_plays_other_hands(bot: str) -> None:
    game = named("probability-standard")
    first, second = (
        [
            play_hand(game, "m/1", seated((1000, 1000), 0), seeded_deck("one"), bots)[0]
            for bots in ((BOTS[bot](f"{seed}{n}"), BOTS[bot](f"{seed}{n}")) for n in range(9))
        ]
        for seed in "ab"
    )
    assert first != second


def won(game: str, bot: str, other: str, decks: int) -> int:
    """Chips that the bot wins when every deck is dealt twice, seats exchanged."""
    match = plan(named(game), "m", 2 * decks, "sane", (bot, other), mirrored=True)
    net = 0
    for record in hand_records(match, SeededDecks("sane", 2)):
        hand = replay(record)
        seat = hand.start.players.index(f"{bot}-0")
        net += hand.stacks[seat] - hand.start.stacks[seat]
    return net


@pytest.mark.parametrize(
    ("bot", "other", "blinds"),
    [
        ("pot-odds", "random", 4),
        ("pot-odds", "caller", 1),
        ("pot-odds", "aggressive", 4),
        ("tight", "random", 1),
        ("tight", "aggressive", 1),
    ],
)
def test_who_knows_the_odds_wins_in_the_long_run(bot: str, other: str, blinds: int) -> None:
    """At least so many big blinds a hand over hundreds of hands of fixed decks."""
    decks = sized(50, 100, 300)
    assert won("probability-standard", bot, other, decks) > 2 * decks * blinds * 10


@pytest.mark.parametrize("other", ["random", "caller"])
def test_who_knows_what_a_third_card_is_worth_wins_auctions_at_a_profit(other: str) -> None:
    assert won("auction-2024", "bidder", other, sized(10, 20, 60)) > 0


@pytest.mark.parametrize(("pot", "bid_max", "bid"), [(4, 396, 2), (40, 380, 21), (40, 9, 9)])
def test_the_bidder_bids_the_price_at_which_winning_and_losing_pay_the_same(
    pot: int, bid_max: int, bid: int
) -> None:
    """With Ah Kh on Qh 7s 2d, and 4 in the pot, that is 2.13."""
    seen = msgspec.structs.replace(
        redacted_hand(named("auction-2024")),
        asked=ToBid(0, bid_max),
        seat=0,
        pot=pot,
        hole=("Ah", "Kh"),
        board=("Qh", "7s", "2d"),
    )
    assert Bid(0, bid) == BOTS["bidder"]("any").choose(seen)
    assert Bid(0, 0) == BOTS["pot-odds"]("any").choose(seen)


@pytest.mark.parametrize(("game", "bid"), [("auction-2024", 22), ("auction-2024-mit", 18)])
def test_the_bidder_prices_the_card_by_the_tie_rule_of_his_ruleset(game: str, bid: int) -> None:
    """On three kings many hands tie: where a price comes back in a tie it may be higher."""
    seen = msgspec.structs.replace(
        redacted_hand(named(game)),
        asked=ToBid(0, 396),
        seat=0,
        pot=40,
        hole=("4c", "3d"),
        board=("Ks", "Kd", "Kh"),
    )
    assert Bid(0, bid) == BOTS["bidder"]("any").choose(seen)


def redacted_hand(game: Game) -> Seen:
    """What the first to be asked sees."""
    _, hand = begin(game, "m/1", 0, NAMES[:2], (game.stack,) * 2)
    while not isinstance(asked := turn(game, hand), ToAct):
        assert isinstance(asked, ToDeal)
        _, hand = step(game, hand, Deal(DECK[: asked.count]))
    return seat_view(game, hand, asked, ())

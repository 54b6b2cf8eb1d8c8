"""Environments for learners: every game, a seat's viewpoint only, and the engine's rules."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from dealer.bots.seat_view import Seen
from dealer.deck import Deck, seeded_deck
from dealer.learning.batch import Batch, SpotTree
from dealer.learning.hand import Actions, LearnersHand, Sizes
from dealer.learning.observation import names, observation
from dealer.play import usual_seats
from engine.audit import audit
from engine.game import Game
from engine.games import GAMES
from engine.parameters import first
from engine.steps import DrawBounties, Run
from engine.turn import Bid, IllegalCommand, Raise, ToAct, ToBid
from events.cards import DECK
from events.types import Tossed
from tests.profiles import in_turn, sized

HANDS = sized(6, 14, 100)
SIZES: tuple[Sizes, ...] = ("some", "few", "exact")


@pytest.mark.parametrize(("name", "sizes"), in_turn(GAMES, SIZES))
def test_pettingzoo_finds_no_fault(name: str, sizes: Sizes) -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test

    from dealer.learning.aec import HandEnv

    env = HandEnv(GAMES[name], sizes=sizes)
    env.reset(seed=7)
    api_test(env, num_cycles=sized(40, 200, 1000))


def test_an_episode_is_a_hand_and_its_rewards_are_chips() -> None:
    pytest.importorskip("pettingzoo")
    from dealer.learning.aec import HandEnv

    env = HandEnv(GAMES["auction-2024"])
    env.reset(seed=7)
    first = env.observe(env.agent_selection)["observation"]
    for agent in env.agent_iter():
        seen, reward, over, _, _ = env.last()
        env.step(None if over else int(np.flatnonzero(seen["action_mask"])[0]))
        del agent, reward
    env.reset(seed=7)
    assert first.tobytes() == env.observe(env.agent_selection)["observation"].tobytes()
    env.step(0)  # the small blind is folded
    assert {-1, 1} == set(env.rewards.values())
    env.reset()
    with pytest.raises(ValueError, match=r"seat_1 may choose 0, 1, 2.*, not 8"):
        env.step(8)
    with pytest.raises(IllegalCommand, match=r"auction-2024 seats 2\.\.2 players, not 3"):
        HandEnv(GAMES["auction-2024"], seats=3)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_worlds_that_differ_in_what_a_seat_cannot_see_are_shown_alike(game: Game) -> None:
    """The rivals hold other cards, from the first deal to the last choice: to the byte the same."""
    compared = 0
    for number in range(HANDS):
        for seats in sorted({max(2, game.seats_min), usual_seats(game)}):
            for seat in range(seats):
                for one, other in _worlds(game, seats, seat, str(number)):
                    choices = [Actions(game).offered(seen) for seen in (one, other)]
                    assert choices[0] == choices[1]
                    assert observation(one).tobytes() == observation(other).tobytes()
                    compared += 1
    assert compared > HANDS


def _worlds(game: Game, seats: int, seat: int, seed: str) -> Iterator[tuple[Seen, Seen]]:
    """What a seat is shown in two worlds in which its rivals hold other cards."""
    order, draw = list(seeded_deck(seed)._pile._order), random.Random(seed)
    dealt = LearnersHand(game, seats, 0, Deck(tuple(order), lambda many: many - 1)).hand
    twin = order.copy()
    spare = iter(range(30, 50))  # of the deck, which no hand reaches from either side
    for other in set(range(seats)) - {seat}:
        for card in dealt.hole[other]:
            here, there = order.index(card), next(spare)
            twin[here], twin[there] = order[there], order[here]
    hands = [
        LearnersHand(game, seats, 0, Deck(tuple(one), random.Random(seed).randrange))
        for one in (order, twin)
    ]
    while (asked := hands[0].asked) is not None:
        assert asked == hands[1].asked
        if any(isinstance(event, Tossed) and event.seat != seat for event in hands[0].record):
            return  # everybody sees the card, and so in which world he is
        if asked.seat == seat:
            assert hands[0].hand.hole != hands[1].hand.hole
            yield hands[0].seen(seat), hands[1].seen(seat)
        action = draw.choice(list(Actions(game).offered(hands[0].seen(asked.seat))))
        for hand in hands:
            hand.take(Actions(game).offered(hand.seen(asked.seat))[action])


def test_a_sealed_bid_is_not_shown_to_who_bids_next() -> None:
    game = GAMES["auction-2024"]
    shown = []
    for amount in (0, 150):
        hand = LearnersHand(game, 2, 0, seeded_deck("7"))
        while isinstance(hand.asked, ToAct):
            hand.take(Actions(game).offered(hand.seen(hand.asked.seat))[1])
        assert isinstance(hand.asked, ToBid)
        hand.take(Bid(hand.asked.seat, amount))
        assert isinstance(hand.asked, ToBid)
        seen = hand.seen(hand.asked.seat)
        shown.append((observation(seen).tobytes(), list(Actions(game).offered(seen))))
    assert shown[0] == shown[1]


IN_BATCHES = {
    name: game
    for name, game in GAMES.items()
    if first(game, Run) is None and first(game, DrawBounties) is None
}


def test_where_the_cards_say_who_is_asked_there_are_no_batches() -> None:
    assert {"river-2023-mit", "bounty-2025-mit"} == GAMES.keys() - IN_BATCHES.keys()
    with pytest.raises(ValueError, match=r"bounties of bounty-2025-mit .* not in batches"):
        Batch(GAMES["bounty-2025-mit"], 1)
    with pytest.raises(ValueError, match=r"river-2023-mit depends on the cards: .* hand by hand"):
        Batch(GAMES["river-2023-mit"], 1)


@pytest.mark.parametrize(("name", "sizes"), in_turn(IN_BATCHES, SIZES))
def test_a_batch_is_the_engine_hand_for_hand(
    name: str, sizes: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same decks, luck and actions: what is seen, offered and won is the same to the byte."""
    game = IN_BATCHES[name]
    luck: list[bool] = []
    swap = SpotTree.swap

    def noted(tree: SpotTree, at: int, changed: tuple[bool, ...]) -> int:
        luck.extend(changed)
        return swap(tree, at, changed)

    monkeypatch.setattr(SpotTree, "swap", noted)
    draw = random.Random(7)
    for seats in sorted({max(2, game.seats_min), usual_seats(game)}):
        batch = Batch(game, 1, seats=seats, seed=7, sizes=sizes)
        hand_over: list[list[int]] = []
        for number in range(HANDS):
            actions = []
            deck = tuple(DECK[card] for card in batch._decks[0])
            luck.clear()
            sights = []
            while len(hand_over) <= number:
                sights.append((batch.observation[0], batch.mask[0], int(batch.seat[0])))
                actions.append(draw.choice(np.flatnonzero(batch.mask[0]).tolist()))
                rewards, done = batch.step(np.array([actions[-1]]))
                if done[0]:
                    hand_over.append(rewards[0].tolist())
            drawn = Deck(deck, lambda many: 0).fork_with_draws(
                tuple(0 if changed else 99 for changed in luck)
            )
            hand = LearnersHand(game, seats, number % seats, drawn)
            for (numbers, mask, seat), action in zip(sights, actions, strict=True):
                assert hand.asked is not None
                seen = hand.seen(hand.asked.seat)
                offered = batch.actions.offered(seen)
                assert seat == seen.seat
                assert observation(seen).tobytes() == numbers.tobytes()
                assert np.flatnonzero(mask).tolist() == sorted(offered)
                hand.take(offered[action])
            assert hand.asked is None
            assert list(hand.nets) == hand_over[number]
            assert audit(game, tuple(hand.record)) is None


def test_many_hands_at_once_are_as_many_hands_alone() -> None:
    """Every number has a name, no chip is made or lost, and what is forgotten changes nothing."""
    game = GAMES["auction-2024"]
    one, other = (Batch(game, 64, seed=7) for _ in range(2))
    other._most = 200  # spots are forgotten again and again
    draw = np.random.default_rng(7)
    for _ in range(sized(60, 200, 1000)):
        assert one.observation.tobytes() == other.observation.tobytes()
        assert (64, len(names(game, 2))) == one.observation.shape
        actions = (draw.random(one.mask.shape) * one.mask).argmax(axis=1)
        mine, theirs = one.step(actions), other.step(actions)
        assert mine.rewards.tolist() == theirs.rewards.tolist()
        assert not mine.rewards.sum(axis=1).any()
    with pytest.raises(ValueError, match=r"in hand 3 there are the actions .*, not 99"):
        one.step(np.where(np.arange(64) == 3, 99, one.mask.argmax(axis=1)))
    with pytest.raises(ValueError, match="64 hands need as many actions"):
        one.step(np.array([0]))


def test_every_size_has_a_number_and_no_two_numbers_mean_one() -> None:
    game = GAMES["auction-2024"]
    exact = Actions(game, "exact")
    assert (2 + 400 + 401, 2 + 400 + 401) == (len(exact.names), len(set(exact.names)))
    hand = LearnersHand(game, 2, 0, seeded_deck("7"))
    for actions in (exact, Actions(game), Actions(game, "few")):
        offered = actions.offered(hand.seen(0))
        assert len(offered) == len(set(map(repr, offered.values())))
    assert Raise(0, 4) == exact.offered(hand.seen(0))[exact.names.index("raise to 4")]

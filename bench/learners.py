"""Random play as programs that learn have it: what may be done, what is seen, and a choice.

Heads-up hold'em. Each side is asked for the legal actions, and one is chosen with equal chance.
No-limit: stacks of 100 big blinds (RLCard: its own 50). Our `sizes="few"` are fold, call, the
smallest raise, one pot and all; OpenSpiel's `fcpa` has no smallest one, RLCard half a pot; pokerkit
raises to any total. The batch keeps what the engine answered, and is measured after two million
decisions. What is seen is made for every choice by the batch, by `environment`, by RLCard and where
it says "seen"; OpenSpiel alone and pokerkit make none.
"""

import random
from collections.abc import Callable

import numpy as np

from bench.peers import installed
from bench.play import GAME, pokerkit
from bench.runner import SEED, Bench, Contender, Target
from dealer.learning.batch import Batch
from engine.game import Game
from engine.games import named

HANDS = 4096  # in lock step
WARM = 2_000_000  # decisions before a batch is measured
GOAL = 143_000  # decisions a second: OpenSpiel's, when issue 24 was written
UNIVERSAL = (
    "universal_poker(betting={betting},numPlayers=2,numRounds=4,firstPlayer=2 1 1 1,numSuits=4,"
    "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,{more})"
)
NO_LIMIT = UNIVERSAL.format(
    betting="nolimit", more="blind=10 5,stack=1000 1000,bettingAbstraction=fcpa"
)
LIMIT = UNIVERSAL.format(
    betting="limit", more="blind=2 1,raiseSize=2 2 4 4,maxRaises=3 4 4 4,stack=200 200"
)


def benches() -> list[Bench]:
    """No-limit beside everybody, limit beside those who have it, and the auction alone."""
    auction = named("auction-2024")
    alone = (
        Contender("Batch", batch(auction)),
        *_one_by_one(auction),
    )
    return [
        _beside("No-limit", GAME, NO_LIMIT, "no-limit-holdem"),
        _beside("Limit", named("site-fl"), LIMIT, "limit-holdem"),
        Bench("Auction Hold'em", "decision", "decision", alone),
    ]


def _beside(title: str, game: Game, theirs: str, rlcards: str) -> Bench:
    contenders = [
        Contender("Batch", batch(game)),
        *_one_by_one(game),
    ]
    if installed("pyspiel"):
        contenders.append(Contender("OpenSpiel", openspiel(theirs, False), "open-spiel"))
        contenders.append(Contender("OpenSpiel, seen", openspiel(theirs, True), "open-spiel"))
    if installed("rlcard"):
        contenders.append(Contender("RLCard", rlcard(rlcards), "rlcard"))
    if installed("pokerkit") and game is GAME:
        contenders.append(Contender("pokerkit", _decisions(pokerkit(2)), "pokerkit"))
    targets = (Target("OpenSpiel", 1.0), Target("OpenSpiel, seen", 1.0))
    return Bench(title, "decision", "decision", tuple(contenders), targets, goal=GOAL)


def _one_by_one(game: Game) -> tuple[Contender, ...]:
    return (Contender("environment", environment(game)),) if installed("pettingzoo") else ()


def batch(game: Game) -> Callable[[int], int]:
    """Many hands in lock step, the same ones going on from round to round."""
    run = _playing(Batch(game, HANDS, seats=2, seed=SEED, sizes="few"))
    run(WARM)
    return run


def _playing(made: Batch) -> Callable[[int], int]:
    draw = np.random.default_rng(SEED)

    def run(decisions: int) -> int:
        done = 0
        while done < decisions:
            mask, seen = made.mask, made.observation
            made.step((draw.random(mask.shape, np.float32) * mask).argmax(axis=1))
            done += len(seen)
        return done

    return run


def environment(game: Game) -> Callable[[int], int]:
    """PettingZoo's interface over one hand."""
    from dealer.learning.aec import HandEnv

    env = HandEnv(game, seats=2, sizes="few")

    def run(decisions: int) -> int:
        done = 0
        while done < decisions:
            env.reset()
            while not env.terminations[agent := env.agent_selection]:
                mask = env.observe(agent)["action_mask"]
                env.step(random.choice(np.flatnonzero(mask).tolist()))
                done += 1
        return done

    return run


def openspiel(spelled: str, seen: bool) -> Callable[[int], int]:
    """A state of OpenSpiel; chance is answered by its own probabilities."""
    import pyspiel

    game = pyspiel.load_game(spelled)

    def run(decisions: int) -> int:
        done = 0
        while done < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(random.choice(state.legal_actions()))
                    continue
                if seen:
                    np.asarray(state.observation_tensor(), np.float32)
                state.apply_action(random.choice(state.legal_actions()))
                done += 1
        return done

    return run


def rlcard(name: str) -> Callable[[int], int]:
    """An environment of RLCard, stepped by hand."""
    from rlcard import make

    env = make(name, config={"seed": SEED})

    def run(decisions: int) -> int:
        done = 0
        while done < decisions:
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(random.choice(list(state["legal_actions"])))
                done += 1
        return done

    return run


def _decisions(hands: Callable[[int], int]) -> Callable[[int], int]:
    """What plays so many hands, asked for decisions."""

    def run(decisions: int) -> int:
        done = 0
        while done < decisions:
            done += hands(1)
        return done

    return run

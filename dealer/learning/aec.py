"""A hand of any game as PettingZoo has it: agents in turn, each shown what its seat may see.

It needs the extra `learners`. One episode is one hand with the game's stacks; the button goes on
from hand to hand, and a reward is what the hand won or lost in chips.
"""

import secrets
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from dealer.deck import seeded_deck
from dealer.learning.hand import Actions, LearnersHand, Sizes, checked_seats, player_names
from dealer.learning.observation import Numbers, names, observation
from dealer.play import usual_seats
from engine.game import Game

Observation = dict[str, Numbers | NDArray[np.int8]]


class HandEnv(AECEnv):  # type: ignore[misc]  # types are checked where it is not, too
    """The hands of a game, one after another; with `sizes="exact"` every bet has its number."""

    metadata = {"name": "muckrake", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, game: Game, seats: int | None = None, sizes: Sizes = "some") -> None:
        super().__init__()
        self.game = game
        self._seats = checked_seats(game, usual_seats(game) if seats is None else seats)
        self.actions = Actions(game, sizes)
        self._many = len(self.actions.names)
        self.possible_agents = list(player_names(self._seats))
        self.agents: list[str] = []
        self.render_mode = None
        numbers = spaces.Box(-np.inf, np.inf, (len(names(game, self._seats)),), np.float32)
        seen = spaces.Dict({"observation": numbers, "action_mask": spaces.MultiBinary(self._many)})
        self._spaces = dict.fromkeys(self.possible_agents, seen)
        self._choices = {agent: spaces.Discrete(self._many) for agent in self.possible_agents}
        self._seed, self._hands = secrets.token_hex(8), 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._choices[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """The next hand; from a seed the first of its hands, the same every time."""
        if seed is not None:
            self._seed, self._hands = str(seed), 0
        deck = seeded_deck(f"{self._seed}/{self._hands}")
        self._hand = LearnersHand(self.game, self._seats, self._hands % self._seats, deck)
        self._hands += 1
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._ask()

    def observe(self, agent: str) -> Observation:
        """What the agent's seat sees; its mask is empty while another is asked."""
        seat = self.possible_agents.index(agent)
        seen = self._hand.seen(seat)
        mask = np.zeros(self._many, np.int8)
        question = self._hand.asked
        if question is not None and question.seat == seat:
            mask[list(self._offered)] = 1
        return {"observation": observation(seen), "action_mask": mask}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        offered = self._offered
        if action is None or int(action) not in offered:
            there = ", ".join(map(str, offered))
            raise ValueError(f"{agent} may choose {there}, not {action}")
        self._cumulative_rewards[agent] = 0
        self._hand.take(offered[int(action)])
        self._ask()
        if self._hand.asked is None:
            self.rewards = dict(zip(self.possible_agents, self._hand.nets, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def _ask(self) -> None:
        """The agent whose seat is asked; after the hand each hears of its end in turn."""
        question = self._hand.asked
        seat = 0 if question is None else question.seat
        self.agent_selection = self.possible_agents[seat]
        self._offered = {} if question is None else self.actions.offered(self._hand.seen(seat))

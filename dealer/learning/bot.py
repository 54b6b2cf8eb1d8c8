"""What a program has learned, as a bot: from the numbers of a seat to the number of an answer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dealer.bots.built_in import announced
from dealer.bots.seen import Seen
from dealer.learning.actions import Actions, Mask, Sizes
from dealer.learning.observation import Numbers, observation
from engine.turn import Command, Show, ToShow

Policy = Callable[[Numbers, Mask], Any]
"""A row of numbers for each hand, and of what may be chosen; returns an action for each."""


def learned(policy: Policy, sizes: Sizes = "some") -> Callable[[Seen], Command]:
    """A bot for `play` that asks a policy, made for a `Batch`, about one hand at a time."""

    def choose(seen: Seen) -> Command:
        if isinstance(seen.asked, ToShow):
            return announced(seen) if seen.asked.announce else Show(seen.seat)
        actions = Actions(seen.game, sizes)
        offered = actions.offered(seen)
        mask = np.zeros((1, len(actions.names)), np.bool_)
        mask[0, list(offered)] = True
        return offered[int(policy(observation(seen)[None], mask)[0])]

    return choose

"""A match between two bots over the wire: started, played leg by leg, ended with nothing left.

Whatever the bots do, the match runs to its last hand.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from dealer.deck import Decks
from dealer.wire.ahead import Habits
from dealer.wire.connection import done
from dealer.wire.hand import Pair, WireHand
from dealer.wire.limits import Limits
from dealer.wire.plan import Plan
from dealer.wire.player import Player
from dealer.wire.program import Program
from dealer.wire.sandbox import Guard, Sandbox, rooms
from dealer.wire.spot import Referee
from events.types import Events


@contextmanager
def started(
    programs: tuple[Program, Program], limits: Limits, guard: Guard, tell: Callable[[str], None]
) -> Iterator[tuple[Player, Player]]:
    """Both bots, the second one built once the first has connected; at the end nothing is left."""
    one, two = programs
    with rooms() as (first, second):
        players = (
            Player(one, limits, Sandbox(one, two.folder, guard, limits, first)),
            Player(two, limits, Sandbox(two, one.folder, guard, limits, second)),
        )
        try:
            for player in players:
                player.start()
                for sentence in (*player.notes, *player.sandbox.warnings):
                    tell(f"{player.program.name}: {sentence}")
            yield players
            for player in players:
                player.dismiss()
            deadline = time.monotonic() + limits.quit
            for player in players:
                player.leave(deadline)
        finally:
            for player in players:  # after an interruption nobody is waited for
                player.end()


def play(
    match: Plan, leg: Iterable[int], decks: Decks, players: Pair
) -> Generator[Events, None, None]:
    """The hands of one leg; in odd hands the first player is the dealer.

    A hand is dealt while the end of the one before it is acknowledged.
    """
    referee, habits = Referee(match), (Habits(), Habits())
    numbers = iter(leg)
    dealt: list[WireHand] = []

    def deal() -> Iterator[None]:
        for number in islice(numbers, 1):
            deck = decks.deck(number)
            yield
            dealt.append(WireHand(referee, players, habits, referee.opened(number, deck)))

    done(deal())
    while dealt:
        next_hand = deal()
        record = dealt.pop().play(meanwhile=next_hand)
        done(next_hand)  # what no bot left time for
        yield record

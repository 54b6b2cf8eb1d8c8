"""When an answer is too late: arithmetic on given times, in whole milliseconds; no clock is read.

A site clock runs in silence, then counts down. Who comes back with time left gets more of it,
once in a turn or at every return (C4).
"""

from msgspec import Struct
from msgspec.structs import replace

from engine.policies import Policies

SILENT_MS = 10_000
COUNTDOWN_MS = 20_000
EXTENSION_MS = 20_000


class Times(Struct, frozen=True):
    """How long a turn is silent, then counted down, and what who comes back is given more."""

    silent: int = SILENT_MS
    countdown: int = COUNTDOWN_MS
    extension: int = EXTENSION_MS


SITE = Times()


def turns_of(turn_ms: int) -> Times:
    """A turn of so long, parted as the site's is: a third of it silent."""
    site = SITE.silent + SITE.countdown
    silent = turn_ms * SITE.silent // site
    return Times(silent, turn_ms - silent, turn_ms * SITE.extension // site)


class TurnClock(Struct, frozen=True):
    """The time one seat has for one turn; `deadline` is the moment after which it is too late."""

    deadline: int
    gone: bool = False
    extended: bool = False


def started(at: int, times: Times = SITE) -> TurnClock:
    """A turn begins: ten silent seconds and a countdown of twenty."""
    return TurnClock(at + times.silent + times.countdown)


def disconnected(clock: TurnClock) -> TurnClock:
    """The connection is lost: the clock runs on."""
    return replace(clock, gone=True)


def reconnected(game: Policies, clock: TurnClock, at: int, times: Times = SITE) -> TurnClock:
    """Back in time: twenty seconds are added to what is left, or replace it (C4)."""
    if not clock.gone:
        return clock
    spent = clock.extended and game.extensions == "once"
    if spent or is_late(clock, at):
        return replace(clock, gone=False)
    begin = clock.deadline if game.reconnect == "add" else at
    return TurnClock(begin + times.extension, extended=True)


def is_late(clock: TurnClock, at: int) -> bool:
    """Whether an answer at this moment comes after the deadline."""
    return at > clock.deadline

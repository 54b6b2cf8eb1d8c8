"""Small hands for tests of the store, which asks of events only when a hand begins and ends."""

from events.ledger import Append
from events.match import SourceNoted
from events.types import Folded, HandEnded, HandStarted


def begun(number: int, at: int = 0, producer: str = "", sequence: int = 0) -> Append:
    """The first event of `m/NUMBER`."""
    start = HandStarted(f"m/{number}", "game", "ruleset", 0, ("ursa", "lynx"), (200, 200))
    return Append(f"m/{number}", 0, (start,), at, producer, sequence)


def ended(number: int, at: int = 0, producer: str = "", sequence: int = 0) -> Append:
    """The rest of it."""
    rest = (Folded(0, None), HandEnded())
    return Append(f"m/{number}", 1, rest, at, producer, sequence)


def whole(number: int, at: int = 0, producer: str = "", sequence: int = 0) -> Append:
    """All of it in one append."""
    start, rest = begun(number), ended(number)
    return Append(f"m/{number}", 0, start.events + rest.events, at, producer, sequence)


def noted(version: int, text: str = "", at: int = 0) -> Append:
    """A record of the match."""
    return Append("m", version, (SourceNoted("phh", "", text, ""),), at)

"""What no line of a gamelog says: which engine wrote it, by which rules, with how much to play."""

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.recorded import AUCTION_2024_A0
from engine.games.swap_2022 import SWAP_2022_MIT
from formats.mit.note import Dialect
from formats.told import Refused

_READ = "where only Swap (2022) and Auction (2024) are read"
_SAY = "--game swap-2022-mit says that it is Swap"


def _others(header: str) -> str:
    """The games of the years whose logs begin so, and are not read."""
    if header.startswith("6.176 "):
        return "Blotto (2021), River of Blood (2023) or a year before"
    return "Bounty (2025) or Toss (2026)"


def dialect_of(header: str, marks: set[str], *, named: bool) -> Dialect:
    """Which engine wrote it; a log without the telling lines is recorded as undetermined, if a
    ruleset is named that says of which game it is."""
    swap = bool(marks & {"hands", "swapped"})
    auction = bool(marks & {"bids", "note"})
    if swap and auction:
        raise Refused(1, "swaps and auctions in one log: two logs are mixed in this file")
    if not swap and not auction:
        if marks & {"Flop"} or not header.startswith("6.176 "):
            raise Refused(1, f"neither swaps nor auctions: a log of {_others(header)}, {_READ}")
        if not named and "footer" not in marks:
            games = f"Swap (2022), {_others(header)}"
            raise Refused(1, f"no hand reaches a flop, so this may be {games}: {_SAY}")
        return "S3" if "footer" in marks else "no flop"
    if swap:
        return "S3" if "footer" in marks else "S2" if "swapped" in marks else "S1"
    if "footer" in marks:
        return "A3"
    if "bids" not in marks:
        return "no auction"
    if "won" in marks:
        return "A2"
    if "flop twice" in marks and "flop once" in marks:
        raise Refused(1, "some auctions are followed by flop betting, some not: two logs mixed")
    return "A1" if "flop twice" in marks else "A0"


def game_of(dialect: Dialect) -> Game:
    if dialect == "A0":
        return AUCTION_2024_A0
    return SWAP_2022_MIT if dialect in ("S1", "S2", "S3", "no flop") else AUCTION_2024_MIT

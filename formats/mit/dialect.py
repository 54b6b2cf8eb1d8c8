"""What no line of a gamelog says: which engine wrote it, by which rules, with how much to play."""

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.recorded import AUCTION_2024_A0
from engine.games.swap_2022 import SWAP_2022_MIT
from formats.mit.note import Dialect
from formats.told import Refused


def dialect_of(header: str, marks: set[str]) -> Dialect:
    """Which engine wrote it; a log without the telling lines is recorded as undetermined."""
    swap = bool(marks & {"hands", "swapped"})
    auction = bool(marks & {"bids", "note"})
    if swap and auction:
        raise Refused(1, "swaps and auctions in one log: two logs are mixed in this file")
    if not swap and not auction:
        if marks & {"Flop"} or not header.startswith("6.176 "):
            raise Refused(1, "neither swaps nor auctions: another year's game, which is not read")
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

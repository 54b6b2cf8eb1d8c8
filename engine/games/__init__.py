"""Every ruleset by name: a file for each rule document, its script the document's own sequence.

`GAMES` are dealt here; `IMPORTED` are rules by which foreign records are audited.
"""

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024, AUCTION_2024_MIT
from engine.games.imported import (
    ACPC_LIMIT,
    ACPC_NL,
    AUCTION_2024_A0,
    GGPOKER_FL,
    GGPOKER_NL,
    GGPOKER_PL,
    IRC_LIMIT,
    OHH_FL,
    OHH_NL,
    OHH_PL,
    PACIFIC_FL,
    PACIFIC_NL,
    PACIFIC_PL,
    PHH_FT,
    PHH_NT,
    PLURIBUS,
    POKERSTARS_FL,
    POKERSTARS_NL,
    POKERSTARS_PL,
    WINAMAX_FL,
    WINAMAX_NL,
    WINAMAX_PL,
)
from engine.games.pokerbots import BOUNTY_2025_MIT, RIVER_2023_MIT, TOSS_2026_MIT
from engine.games.probability import PROBABILITY, PROBABILITY_STANDARD
from engine.games.site import (
    SITE_FL,
    SITE_FL_STANDARD,
    SITE_NL,
    SITE_NL_STANDARD,
    SITE_PL,
    SITE_PL_STANDARD,
)
from engine.games.swap_2022 import SWAP_2022, SWAP_2022_MIT
from engine.games.urcs_1998 import URCS_1998, URCS_1998_STANDARD

_DEALT = (
    URCS_1998,
    URCS_1998_STANDARD,
    AUCTION_2024,
    AUCTION_2024_MIT,
    SWAP_2022,
    SWAP_2022_MIT,
    RIVER_2023_MIT,
    BOUNTY_2025_MIT,
    TOSS_2026_MIT,
    PROBABILITY,
    PROBABILITY_STANDARD,
    SITE_FL,
    SITE_FL_STANDARD,
    SITE_PL,
    SITE_PL_STANDARD,
    SITE_NL,
    SITE_NL_STANDARD,
)
_IMPORTED = (
    ACPC_LIMIT,
    ACPC_NL,
    PLURIBUS,
    IRC_LIMIT,
    POKERSTARS_FL,
    POKERSTARS_PL,
    POKERSTARS_NL,
    OHH_FL,
    OHH_PL,
    OHH_NL,
    GGPOKER_FL,
    GGPOKER_PL,
    GGPOKER_NL,
    PACIFIC_FL,
    PACIFIC_PL,
    PACIFIC_NL,
    WINAMAX_FL,
    WINAMAX_PL,
    WINAMAX_NL,
    PHH_FT,
    PHH_NT,
    AUCTION_2024_A0,
)

GAMES: dict[str, Game] = {game.name: game for game in _DEALT}
IMPORTED: dict[str, Game] = {game.name: game for game in _IMPORTED}
RULESETS: dict[str, Game] = GAMES | IMPORTED


def is_dealt(game: Game) -> bool:
    """Whether hands are dealt by it here: those for records, at whatever stakes, only judge."""
    return game.name.partition(".")[0] not in IMPORTED


def named(name: str) -> Game:
    """The ruleset of this name, or one sentence that lists those there are."""
    if name not in RULESETS:
        raise LookupError(f"no ruleset is called {name}: there are {', '.join(sorted(RULESETS))}")
    return RULESETS[name]

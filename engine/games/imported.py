"""Rulesets of foreign corpora and sites: not dealt here; an import is audited by their rules."""

from msgspec.structs import replace

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.site import (
    SITE_FL_STANDARD,
    SITE_NL_STANDARD,
    SITE_PL_STANDARD,
    at_stakes,
)
from engine.policies import Rake
from engine.steps import Betting


def _imported(base: Game, name: str, document: str, **values: object) -> Game:
    """As the standard ruleset of that sizing, but for what the corpus shows; none is in dispute."""
    return replace(base, name=name, document=document, partner=None, readings=(), **values)


# ACPC results split fractionally: the unit is half a chip, so that they are whole numbers.
_ACPC = {
    "unit": "half chip",
    "odd_chips": "fractional",
    "show_first": "all_shown",
    "muck": "never",
    "stacks": "reset",
    "time_out": "none",
}

ACPC_LIMIT = _imported(
    at_stakes(SITE_FL_STANDARD, 10, 20, 40),
    "acpc-limit",
    "ACPC dealer logs, limit",
    raise_cap=3,
    cap_lift="never",
    **_ACPC,
)
ACPC_NL = _imported(
    at_stakes(SITE_NL_STANDARD, 100, 200),
    "acpc-nl",
    "ACPC dealer logs, no limit",
    stack=40000,
    reopen="always",
    min_raise_after_short="last_full_total",
    **_ACPC,
)
PLURIBUS = replace(ACPC_NL, name="pluribus", document="Pluribus logs of 2019", stack=20000)
# The database counts a bet that nobody called as put in and as won.
IRC_LIMIT = _imported(
    SITE_FL_STANDARD,
    "irc-limit",
    "IRC poker database, limit",
    raise_cap=3,
    cap_lift="two_remain",
    heads_up_blinds="left_small",
    fold_when_free=True,
    raise_needs_responder=False,
    uncalled="in_pot",
    show_first="all_shown",
    time_out="none",
)
# The sites let a seat fold for nothing, and raise against those who could not answer.
_AT_SITE = {
    "unit": "cent",
    "rake": Rake(percent=5),
    "fold_when_free": True,
    "raise_needs_responder": False,
    "time_out": "fold_or_check",
}


def _at_site(site: str, called: str) -> tuple[Game, Game, Game]:
    """Fixed, pot and no limit of a site or a file format, at stakes that its hands name."""
    fixed = _imported(
        SITE_FL_STANDARD,
        f"{site}-fl",
        f"{called} hand histories, fixed limit",
        raise_cap=3,
        **_AT_SITE,
    )
    pot = _imported(
        SITE_PL_STANDARD, f"{site}-pl", f"{called} hand histories, pot limit", **_AT_SITE
    )
    none = _imported(
        SITE_NL_STANDARD, f"{site}-nl", f"{called} hand histories, no limit", **_AT_SITE
    )
    return fixed, pot, none


POKERSTARS_FL, POKERSTARS_PL, POKERSTARS_NL = _at_site("pokerstars", "PokerStars")
OHH_FL, OHH_PL, OHH_NL = _at_site("ohh", "Open Hand History")
GGPOKER_FL, GGPOKER_PL, GGPOKER_NL = _at_site("ggpoker", "GGPoker")
PACIFIC_FL, PACIFIC_PL, PACIFIC_NL = _at_site("pacific", "888poker")
WINAMAX_FL, WINAMAX_PL, WINAMAX_NL = _at_site("winamax", "Winamax")
# The format's own player lets a seat fold for nothing, with a warning (T6).
PHH_FT = _imported(
    SITE_FL_STANDARD,
    "phh-ft",
    "PHH files, fixed limit",
    raise_cap=3,
    fold_when_free=True,
    show_first="all_shown",
    time_out="none",
)
PHH_NT = _imported(
    SITE_NL_STANDARD,
    "phh-nt",
    "PHH files, no limit",
    fold_when_free=True,
    show_first="all_shown",
    time_out="none",
)
# The auction was first dealt without betting on the flop: the turn came right after it (A17).
AUCTION_2024_A0 = replace(
    AUCTION_2024_MIT,
    name="auction-2024-a0",
    document="the Pokerbots engine of 2024 before 9 January",
    script=tuple(
        line
        for line in AUCTION_2024_MIT.script
        if not (isinstance(line, Betting) and line.street == "flop")
    ),
)

"""The names of the facts that are counted: flags of opportunities, and counts of actions."""

from analytics.facts_acts import STREETS

AFTER = STREETS[1:]
FLAGS = (
    *("vpip", "pfr", "pfr_able", "limp", "rfi", "three_bet", "squeeze", "four_bet"),
    *("four_bet_opener", "cold_four_bet", "fold_to_3bet", "fold_to_3bet_opener"),
    *("steal", "fold_to_steal_sb", "fold_to_steal_bb", "resteal", "donk", "float_bet"),
    *(
        f"{name}_{street}"
        for name in ("cbet", "fold_to_cbet", "check_raise", "bet_when_checked_to")
        for street in AFTER
    ),
)
COUNTS = tuple(
    f"{street}_{kind}s"
    for street in STREETS
    for kind in ("bet", "raise", "call", "fold", "check")
    if (street, kind) != ("preflop", "bet")
)

"""The names of the facts that are counted (flags of opportunities, counts of actions), and of what
they are made of.
"""

STREETS = ("preflop", "flop", "turn", "river")
ORIGINS_LEFT_OUT = {"forced": 0, "default": 0}  # actions that count in no tendency
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
COLUMNS = (  # of events
    *("hand_seq", "match", "number", "type", "game", "ruleset", "button", "players", "stacks"),
    *("seat", "amount", "full", "origin", "kind", "to", "bet", "size", "all_in"),
    *("price", "seats", "shares", "card1", "card2", "card3", "card4", "card5", "more_cards"),
    *("slot", "old", "new"),
)

"""The catalogue of policies: the question of each, and the meaning of each of its values.

Entries such as `G12` name the decision that a policy came from; a `kind` says what another
reading of it could change, and so what an audit can do with it (`docs/rules.md`).
"""

from typing import Literal, NamedTuple

Kind = Literal["pay", "rank", "menu", "order", "deal", "see", "time", "table"]
Value = object  # a plain value; a struct of parameters has no sentence of its own

KINDS: dict[Kind, str] = {
    "pay": "divides finished pots",
    "rank": "compares hands",
    "menu": "says what was legal",
    "order": "says who posts, acts or shows",
    "deal": "says which card comes from where",
    "see": "says who saw what",
    "time": "says what a clock or a lost connection does",
    "table": "says what happens between hands",
}


class Policy(NamedTuple):
    """A point that documents leave open: the question, and the answers there are.

    A parameter that takes any value of its type names only the values that mean something special.
    """

    kind: Kind
    entries: tuple[str, ...]
    question: str
    values: dict[Value, str]


def meaning(name: str, value: Value) -> str:
    """The meaning of a policy's value; a plain value of a parameter stands for itself."""
    return CATALOGUE[name].values.get(value, "")


CATALOGUE: dict[str, Policy] = {
    "unit": Policy(
        "pay",
        ("G1",),
        "What is one of the whole numbers that money is counted in?",
        {"chip": "a chip", "half chip": "half a chip", "cent": "a cent"},
    ),
    "split_unit": Policy(
        "pay",
        ("G1",),
        "What is the smallest amount that a pot is broken into?",
        {1: "one unit"},
    ),
    "heads_up_blinds": Policy(
        "order",
        ("G14",),
        "Of two players, who posts the small blind?",
        {
            "button_small": "the button does, and acts first before the flop, last afterwards",
            "left_small": "the player left of the button does, and acts first on every street",
        },
    ),
    "blind_rounds": Policy(
        "order",
        ("U2",),
        "Before which rounds of betting are blind and straddle posted?",
        {
            (1,): "the first only",
            (1, 2): "the first and the second",
        },
    ),
    "missing_poster": Policy(
        "order",
        ("U3",),
        "Who posts in a later round when the button or the next seat is gone?",
        {
            "next_live": "the next seats that can",
            "skip": "nobody in their place",
        },
    ),
    "straddle": Policy(
        "menu",
        ("U4",),
        "Is the straddle forced?",
        {
            "choice": "no: straddle, tap out for it, or fold",
            "forced": "yes, like a blind",
        },
    ),
    "straddle_folds": Policy(
        "menu",
        ("U4",),
        "If he who owes the straddle folds, who owes it?",
        {
            "opens_at_blind": "nobody: the next player owes the blind",
            "duty_passes": "the next player",
        },
    ),
    "first_to_act": Policy(
        "order",
        ("U6",),
        "Who acts first in a round without blinds?",
        {
            "left_of_button": "the first seat left of the button",
            "button": "the button itself, or the next seat that can",
        },
    ),
    "live_option": Policy(
        "menu",
        ("U5", "P12"),
        "Has the last blind a turn of its own when everybody called it?",
        {
            True: "yes: it may check or raise",
            False: "no: everybody is paid up, and the round is over",
        },
    ),
    "ask_when_closed": Policy(
        "menu",
        ("G8",),
        "Is anybody asked when no answer could change anything?",
        {
            False: "no: the board is run out",
            True: "yes: each seat checks, and the check is marked as forced",
        },
    ),
    "sizing": Policy(
        "menu",
        ("P9", "P10", "T3", "T14", "T15"),
        "How much may be bet?",
        {
            "no_limit": "from the last full bet or raise up to everything",
            "pot_limit": "from the last full bet or raise up to the size of the pot",
            "fixed": "exactly the limit of the round",
        },
    ),
    "min_raise": Policy(
        "menu",
        ("P9",),
        "Must a raise be larger than the one before it, or only as large?",
        {
            "at_least": "as large is enough: a bet of 10 may be raised to 20",
            "more_than": "it must be larger: a bet of 10 may be raised to 21",
        },
    ),
    "min_raise_after_short": Policy(
        "menu",
        ("G10",),
        "After an all-in that is less than a raise, how large is the next raise at least?",
        {
            "current_plus_last_full": "a full raise on top of the all-in: 100, 140, then 240",
            "last_full_total": "a full raise on top of the last full bet: 100, 140, then 200",
        },
    ),
    "raise_ceiling": Policy(
        "menu",
        ("G12",),
        "May a bet be larger than anybody could call?",
        {
            "own_stack": "yes, up to the own stack; the excess comes back",
            "effective_stack": "no: at most what some other seat could put in",
        },
    ),
    "pot_limit_base": Policy(
        "menu",
        ("T15",),
        "Which pot limits a pot-limit raise?",
        {
            "active_pot": "the pot that the players who still bet are playing for",
            "all_pots": "all pots together",
        },
    ),
    "short_blind": Policy(
        "menu",
        ("G13", "U8"),
        "If a blind is posted short, what do the others owe?",
        {
            "full": "the whole blind",
            "actual": "what was really posted",
        },
    ),
    "fold_when_free": Policy(
        "menu",
        ("T6", "A16"),
        "May a seat fold although it could check?",
        {
            False: "no: folding is offered only against a bet",
            True: "yes, at any time",
        },
    ),
    "forced_all_in": Policy(
        "menu",
        ("G8",),
        "May a seat fold that blinds or antes alone have put all-in?",
        {
            "stays_in": "no: nobody who is all-in is asked, and it may win what it has matched",
            "may_fold": "yes, before the board is dealt: sites fold so for players who sit out",
        },
    ),
    "raise_needs_responder": Policy(
        "menu",
        ("G7",),
        "May a seat raise although no other could put in more?",
        {
            True: "no: a raise needs somebody who can answer it",
            False: "yes",
        },
    ),
    "reopen": Policy(
        "menu",
        ("G9",),
        "After an all-in that is less than a raise, who of those that have acted may raise again?",
        {
            "sum": "who now faces at least a full raise, in one step or in several",
            "full_raise": "who faces one single raise of full size",
            "always": "everybody, after any increase",
            "half_bet": "as `sum`; an all-in of half a bet or more counts as a full one",
        },
    ),
    "short_open_reopens": Policy(
        "menu",
        ("G11",),
        "May a seat that checked raise an opening all-in that is less than a bet?",
        {
            False: "no: it faces no full bet",
            True: "yes",
        },
    ),
    "short_raise": Policy(
        "menu",
        ("U10",),
        "May a seat bet or raise all-in for less than a full bet?",
        {
            "allowed": "yes",
            "forbidden": "no: it may call or go all-in against a bet, but not raise or open",
        },
    ),
    "raise_cap": Policy(
        "menu",
        ("U9", "T4"),
        "How often may a round be raised?",
        {None: "as often as the stacks allow"},
    ),
    "cap_counts": Policy(
        "menu",
        ("U9", "T4"),
        "Is the bet that opens a round counted against the cap?",
        {
            "raises": "no, only what raises it",
            "bets": "yes",
        },
    ),
    "cap_scope": Policy(
        "menu",
        (
            "U9",
            "T4",
        ),
        "Whose raises are counted against the cap?",
        {
            "round": "everybody's together",
            "player": "each player's own",
        },
    ),
    "cap_lift": Policy(
        "menu",
        ("U9", "T4"),
        "Is the cap lifted between two players?",
        {
            "never": "no",
            "round_starts_heads_up": "yes, in a round that begins with two",
            "two_remain": "yes, as soon as two are left",
        },
    ),
    "check_raise": Policy(
        "menu",
        ("U11",),
        "May a seat that checked raise when the action comes back?",
        {
            True: "yes",
            False: "not before it has called once",
        },
    ),
    "hole_order": Policy(
        "deal",
        ("G15",),
        "In which order are hole cards dealt?",
        {
            "pairs_from_dealer": "all at once to each seat, the dealer first",
            "one_each_from_left": "one at a time, from the left of the button",
        },
    ),
    "burn": Policy(
        "deal",
        ("G15",),
        "Is a card put aside before each street?",
        {
            0: "no",
            1: "one",
        },
    ),
    "deck_slots": Policy(
        "deal",
        ("G21",),
        "Does a card's place in the deck depend on what happened before?",
        {
            "sequential": "yes: the next card is the top one",
            "fixed": "no: every card has its own place, so that a deck can be dealt twice",
        },
    ),
    "third_card": Policy(
        "deal",
        ("A3",),
        "Where does a card won at auction come from?",
        {
            "top": "the top of the deck, before the turn",
            "bottom": "the bottom of the deck; in a tie the dealer's is the last",
        },
    ),
    "swap_order": Policy(
        "deal",
        ("S1",),
        "Are cards swapped before or after the board card of the street?",
        {
            "after_board": "after it",
            "before_board": "before it",
        },
    ),
    "swap_discard": Policy(
        "deal",
        ("S2",),
        "Where does a swapped card go?",
        {
            "dead": "out of the hand for good",
            "returned": "back: it may be dealt again",
        },
    ),
    "swap_runout": Policy(
        "deal",
        ("S4",),
        "Are cards swapped when betting is over and the board is run out?",
        {
            True: "yes",
            False: "no",
        },
    ),
    "swap_seen": Policy(
        "see",
        ("S5",),
        "Who learns that a card was swapped?",
        {
            "own_only": "its holder",
            "both_told": "everybody, but not which card it became",
        },
    ),
    "bids": Policy(
        "see",
        ("A1",),
        "Does the second bidder see the first bid?",
        {
            "sealed": "no; a hand whose transport showed it is refused",
            "leaked": "he may; the record says of every bid whether he did",
        },
    ),
    "bid_max": Policy(
        "menu",
        ("A6",),
        "How much may be bid?",
        {
            "stack": "what the bidder has",
            "unbounded": "anything; the price is cut to the stack",
        },
    ),
    "auction_tie": Policy(
        "pay",
        ("A5",),
        "Who wins an auction of equal bids?",
        {
            "both": "all of them: each pays its bid and gets a card",
        },
    ),
    "auction_all_in": Policy(
        "menu",
        ("A7",),
        "Is there an auction when everybody is all-in?",
        {
            "held": "yes: all bid 0, and all get a card",
            "skipped": "no",
        },
    ),
    "bids_revealed": Policy(
        "see",
        ("A14",),
        "Which bids are shown after an auction?",
        {
            "after_auction": "winners, price and every bid",
            "price_only": "winners and price",
        },
    ),
    "ranking": Policy(
        "rank",
        ("U22", "P3", "P4"),
        "Which ranks of two equal kinds of hand are compared?",
        {
            "standard": "all five cards",
            "urcs": "all five, but of quads, full houses and trips only the rank that names them",
            "top_card": "the made ranks and one kicker; of a flush or high card the top card only",
        },
    ),
    "straights": Policy(
        "rank",
        ("P1", "P2"),
        "May a straight wrap past the ace?",
        {
            "standard": "no: the ace is above the king or below the two",
            "cyclic": "yes: Q K A 2 3 is a straight, and ranks by its last card",
        },
    ),
    "hole_min": Policy(
        "rank",
        ("U21",),
        "How many hole cards must a hand use?",
        {
            0: "none: the board may be played",
            1: "at least one",
        },
    ),
    "kickers": Policy(
        "rank",
        ("T11",),
        "May cards beyond the best five break a tie?",
        {
            "five_cards": "no",
            "all_seven": "yes, the highest card that the others lack",
        },
    ),
    "flushes": Policy(
        "rank",
        ("V2",),
        "Which flush counts of two that ten cards or more can make?",
        {
            "best": "the better one",
            "first_suit": "that of spades, else of clubs, else of diamonds, and no other",
        },
    ),
    "announce": Policy(
        "rank",
        ("U19",),
        "What counts at a showdown, the cards or what was said?",
        {
            "cards_speak": "the cards",
            "announced": "the five cards that the player names, even if he holds better ones",
        },
    ),
    "all_in_face_up": Policy(
        "see",
        ("G16",),
        "Are hands turned up once betting is closed?",
        {
            False: "no, not before the showdown",
            True: "yes",
        },
    ),
    "show_first": Policy(
        "order",
        ("T9", "P11", "U20"),
        "Who shows first at a showdown?",
        {
            "all_shown": "the first to act; the order changes nothing, for all are shown",
            "last_aggressor": "who bet or raised last in the last round, else the first to act",
            "first_bettor": "who bet first in the last round, else the first to act",
        },
    ),
    "muck": Policy(
        "see",
        ("P11", "T10", "U20"),
        "Must a hand be shown?",
        {
            "never": "yes: every hand is turned up",
            "losers_may": "a beaten hand may be thrown away; one that wins or ties is read",
            "forfeits": "no, but who does not show wins nothing",
        },
    ),
    "uncalled": Policy(
        "pay",
        ("G4", "U17"),
        "What becomes of a bet, or part of one, that nobody matched?",
        {
            "returned": "it goes back before pots are formed",
            "in_pot": "it stays in the pot",
        },
    ),
    "dead_chips": Policy(
        "pay",
        ("G6",),
        "Is an auction price a stake of its payer?",
        {
            "first_pot": "no: it is won with the first pot and layers nothing",
            "stake": "yes, like a bet",
        },
    ),
    "split": Policy(
        "pay",
        ("G5", "U14", "T8"),
        "How is the middle divided when stakes differ?",
        {
            "side_pots": "into layers, each won by the best hand that paid into it",
            "expectation": "tied winners share in proportion to what each could have won",
            "snapshot": "the main pot is all that lay there at an all-in, and what calls it later",
        },
    ),
    "expectation": Policy(
        "pay",
        ("U12",),
        "What could a seat that tapped out have won?",
        {
            "covered": "from every seat as much as it put in itself",
            "snapshot": "what was in the pot when it tapped out",
        },
    ),
    "tapped_prize": Policy(
        "pay",
        (
            "U13",
            "U15",
        ),
        "If only tapped-out seats have the best hand, what do they win?",
        {
            "covered": "what they covered; the rest goes to the next best hands",
            "whole_pot": "everything",
        },
    ),
    "next_group": Policy(
        "pay",
        ("U16",),
        "By what are the next best hands weighed?",
        {
            "remaining": "what is left of their stakes after the winners",
            "original": "all that they put in",
        },
    ),
    "showdown_tie": Policy(
        "pay",
        ("A9", "S7"),
        "What is paid when all hands of a showdown tie?",
        {
            "split": "the pots are split: who paid for a card loses half of its price",
            "no_change": "each takes back what he put in, auction price included",
        },
    ),
    "odd_chips": Policy(
        "pay",
        ("G2", "P6", "U18"),
        "Who gets chips that do not divide?",
        {
            "clockwise_each": "the winners, one each, from the left of the button",
            "first_left_all": "the first winner left of the button gets all of them",
            "dealer": "the house decides who is rounded up; ours gives them clockwise, one each",
            "non_dealer": "of two players the one who is not on the button",
            "fractional": "nobody: the unit must be so small that all divides",
            "first_seat": "the winner with the lowest seat number gets all of them (some engines)",
            "random": "any winner (some engines); ours gives them clockwise, one each",
            "dropped": "nobody, they are lost (some engines): such a record always differs",
        },
    ),
    "odd_scope": Policy(
        "pay",
        ("G3",),
        "Are odd chips counted pot by pot?",
        {
            "per_pot": "yes, each pot is divided by itself",
            "total": "no: pots with the same winners are divided together",
        },
    ),
    "rake": Policy(
        "pay",
        (
            "R1",
            "R2",
            "R3",
            "R4",
            "R6",
        ),
        "What does the house take?",
        {
            None: "nothing",
        },
    ),
    "rake_pots": Policy(
        "pay",
        ("R5",),
        "Which of several pots bears the rake?",
        {
            "outwards": "each what it adds to the rake of the pots before it",
            "proportional": "each in proportion to its size",
        },
    ),
    "bounty": Policy(
        "pay",
        ("B2", "B3", "B4"),
        "What is a hit of his bounty worth to who wins?",
        {
            "none": "nothing: there are no bounties",
            "half_and_ten": "half of what the other put in and 10 chips, paid beside the pot; "
            "in a tie a quarter and 10",
        },
    ),
    "time_out": Policy(
        "time",
        (
            "A8",
            "C1",
            "C3",
        ),
        "What happens when an answer does not come in time?",
        {
            "none": "there is no clock",
            "bot_default": "a bid of 0, else a check, else a fold",
            "all_in_if_paid": "who has paid stays in for that much and acts no more; else he folds",
            "fold_or_check": "a check if it is free, else a fold",
        },
    ),
    "contributed": Policy(
        "time",
        ("C2",),
        "Which chips count as paid when the clock runs out?",
        {
            "any": "all, blinds and antes too",
            "voluntary": "only those put in by choice",
        },
    ),
    "reconnect": Policy(
        "time",
        ("C4",),
        "What does a player who comes back get on his clock?",
        {
            "add": "what was left and some more",
            "reset": "the extra time alone",
        },
    ),
    "extensions": Policy(
        "time",
        ("C4",),
        "How often does a lost connection give more time?",
        {
            "once": "once a turn",
            "every": "every time",
        },
    ),
    "button": Policy(
        "table",
        ("M1",),
        "Where does the button go when its next seat is empty?",
        {
            "moving": "to the next active player",
            "dead": "it may stay at an empty seat",
        },
    ),
    "stacks": Policy(
        "table",
        (
            "M4",
            "M5",
            "T17",
        ),
        "With what does a player begin the next hand?",
        {
            "reset": "the stack of the game, every time",
            "carried": "what he ended the last one with",
        },
    ),
    "broke": Policy(
        "table",
        (
            "M5",
            "T17",
        ),
        "Where stacks are carried, what becomes of a player who has nothing left?",
        {
            "leaves": "he is out for good, and who is left with everything has won: a freeze-out",
            "buys_in": "he brings a new stack before the next hand",
            "set_anew": "he waits until one has everything, and then all get a new stack",
        },
    ),
}

# The parts of the policy `rake`.
RAKE: dict[str, Policy] = {
    "percent": Policy("pay", ("R1",), "How much of a pot is taken?", {}),
    "of": Policy("pay", ("R1",), "Parts of what is `percent`?", {100: "of a hundred"}),
    "caps_by_players": Policy(
        "pay",
        ("R2",),
        "How much at most, by the number of players dealt in?",
        {(): "there is no cap"},
    ),
    "rounding": Policy(
        "pay",
        ("R1",),
        "What becomes of a fraction?",
        {
            "half_even": "rounded, a half to the even number",
            "floor": "rounded down",
            "ceil": "rounded up",
            "incremental": "not counted: rake is due on every full `increment` only",
        },
    ),
    "increment": Policy("pay", ("R1",), "What is a full unit under `incremental`?", {}),
    "no_flop_no_drop": Policy(
        "pay",
        ("R3",),
        "Does a hand that saw no flop pay?",
        {True: "no", False: "yes"},
    ),
    "scope": Policy(
        "pay",
        ("R4",),
        "Is the cap for the hand?",
        {"hand": "yes, for all of its pots together", "pot": "no, rate and cap are for each pot"},
    ),
}

"""Every cell of the policy table, how the two of a pair differ, and which readings are tried."""

import re
from pathlib import Path
from typing import Any

import pytest

from engine.game import Game, Reading
from engine.games import GAMES, IMPORTED
from engine.policies import Policies
from engine.steps import Antes, Betting, Blind, Blinds, Straddle, SwapHole

DOCUMENTS = Path(__file__).parents[3] / "shared" / "rules"

# The document and, after `|`, its partner where that differs; `=` is the cell to the left, `.` not
# applicable. What has no row is checked further down.
TABLE = """
policy                 urcs-1998                    auction-2024     swap-2022  probability
sizing                 fixed                        no_limit         =          =
limits                 10-10-20-20                  2-2-2-2          =          10-10-10-10
forced                 2-5-10-5-10|2-5-10           1-2              =          5-10
blind_rounds           1-2|1                        1                =          =
straddle               choice|forced                .                .          .
live_option            no|yes                       yes              =          =
first_to_act           button|left_of_button        left_of_button   =          =
heads_up_blinds        .                            button_small     =          =
raise_cap              3|4                          none             =          =
cap_counts             raises                       .                .          .
cap_scope              round                        .                .          .
cap_lift               never|round_starts_heads_up  .                .          .
check_raise            yes                          =                =          =
short_raise            forbidden|allowed            allowed          =          =
reopen                 .|half_bet                   .                .          sum
min_raise_after_short  .|current_plus_last_full  .  .  current_plus_last_full
raise_ceiling          .                            effective_stack  =          own_stack
short_blind            actual|full                  .                .          full
fold_when_free         no                           =                =          =
uncalled               returned                     .                .          returned
split                  expectation|side_pots        side_pots        =          =
tapped_prize           covered|.                    .                .          .
showdown_tie           split                        no_change|split  =          split
odd_chips  dealer|clockwise_each  clockwise_each  =  first_left_all|clockwise_each
ranking                urcs|standard                standard         =          top_card|standard
straights              standard                     =                =          cyclic|standard
hole_min               1|0                          0                =          =
announce               announced|cards_speak        cards_speak      =          =
show_first  last_aggressor  all_shown  =  all_shown|last_aggressor
muck                   forfeits                     never            =          never|losers_may
bids                   .                            sealed|leaked    .          .
third_card             .                            top|bottom       .          .
swap_order             .                            .                after_board|before_board  .
ask_when_closed        no                           no|yes           =          no
time_out               none                         bot_default      =          none
rake                   none                         =                =          =
button                 moving                       =                =          =
stack                  1000                         400              200        1000
stacks                 carried                      reset            =          carried
broke                  leaves                       set_anew         =          leaves
seats_max              .                            2                =          23
hands                  .                            1000             =          .
hole_order             one_each_from_left           pairs_from_dealer  =          one_each_from_left
swap_chances           .                            .                10-5       .

policy                 site-fl                       site-pl                       site-nl
sizing                 fixed                         pot_limit                     no_limit
limits                 10-10-20-20                   10-10-10-10                   =
forced                 5-10                          =                             =
blind_rounds           1                             =                             =
live_option            yes                           =                             =
first_to_act           left_of_button                =                             =
heads_up_blinds        button_small                  =                             =
raise_cap              3|4                           none                          =
cap_counts             raises                        .                             .
cap_scope              round                         .                             .
cap_lift               never|round_starts_heads_up   .                             .
check_raise            yes                           =                             =
short_raise            allowed                       =                             =
reopen                 half_bet                      sum                           =
min_raise_after_short  .                             current_plus_last_full        =
raise_ceiling          .                             .                             own_stack
pot_limit_base         .                             active_pot|all_pots           .
short_blind            full                          =                             =
fold_when_free         yes|no                        =                             =
uncalled               returned                      =                             =
split                  side_pots                     =                             =
showdown_tie           split                         =                             =
odd_chips              clockwise_each                =                             =
ranking                standard                      =                             =
straights              standard                      =                             =
hole_min               0                             =                             =
announce               cards_speak                   =                             =
show_first             last_aggressor                =                             =
muck                   losers_may                    =                             =
ask_when_closed        no                            =                             =
time_out               all_in_if_paid|fold_or_check  =                             =
rake                   none                          =                             =
button                 moving                        =                             =
stack                  1000                          =                             =
stacks                 carried                       =                             =
broke                  set_anew                      =                             =
hole_order             one_each_from_left            =                             =

policy                 river-2023-mit
sizing                 no_limit
limits                 2-2-2-2
forced                 1-2
raise_ceiling          effective_stack
fold_when_free         no
split                  side_pots
showdown_tie           split
flushes                first_suit
muck                   never
ask_when_closed        yes
time_out               bot_default
stack                  400
stacks                 reset
broke                  set_anew
seats_max              2
hands                  1000
hole_order             pairs_from_dealer

policy                 bounty-2025-mit
sizing                 no_limit
limits                 2-2-2-2
forced                 1-2
raise_ceiling          effective_stack
fold_when_free         yes
split                  side_pots
showdown_tie           split
bounty                 half_and_ten
muck                   never
ask_when_closed        yes
time_out               bot_default
stack                  400
stacks                 reset
broke                  set_anew
seats_max              2
hands                  1000
hole_order             pairs_from_dealer

policy                 toss-2026-mit
sizing                 no_limit
limits                 2-2-2-2
forced                 1-2
raise_ceiling          effective_stack
fold_when_free         yes
split                  side_pots
showdown_tie           split
flushes                best
muck                   never
ask_when_closed        yes
time_out               bot_default
stack                  400
stacks                 reset
broke                  set_anew
seats_max              2
hands                  1000
hole_order             pairs_from_dealer
"""

POLICIES = set(Policies.__struct_fields__)


def _told() -> dict[tuple[str, str], str]:
    """What the table says of each policy and ruleset."""
    told = {}
    for part in TABLE.strip().split("\n\n"):
        head, *rows = (line.split() for line in part.splitlines())
        for policy, *row in rows:
            cell = "."
            for name, word in zip(head[1:], row, strict=True):
                cell = cell if word == "=" else word
                document, _, partner = cell.partition("|")
                told[policy, name] = document
                if other := GAMES[name].partner:
                    told[policy, other] = partner or document
    return told


CELLS = _told()


@pytest.mark.parametrize(("policy", "name"), CELLS)
def test_every_cell_of_the_policy_table(policy: str, name: str) -> None:
    if CELLS[policy, name] != ".":
        assert CELLS[policy, name] == _cell(GAMES[name], policy)


def test_the_table_has_some_rulesets_that_is_dealt() -> None:
    assert set(GAMES) == {name for _, name in CELLS}


@pytest.mark.parametrize("name", GAMES)
def test_what_has_no_row_has_its_default_everywhere(name: str) -> None:
    """The general decisions (G) name one default for all games, and so do U3, U4, A5 to A7, ..."""
    common = Policies()
    for policy in POLICIES - {policy for policy, _ in CELLS}:
        assert getattr(common, policy) == getattr(GAMES[name], policy), policy


PAIRS = """
urcs-1998     U2 blind_rounds, U4 straddle, U5 live_option, U6 first_to_act, U8 short_blind,\
 U9 raise_cap cap_lift, U10 short_raise, U14 split, U18 odd_chips, U19 announce, U21 hole_min,\
 U22 ranking
auction-2024  A1 bids, A3 third_card, A9 showdown_tie, G8 ask_when_closed
swap-2022     S1 swap_order, S7 showdown_tie, G8 ask_when_closed
probability   P1 straights, P3 P4 ranking, P6 odd_chips, P11 show_first muck
site-fl       T4 raise_cap cap_lift, T6 fold_when_free, C1 C3 time_out
site-pl       T6 fold_when_free, T15 pot_limit_base, C1 C3 time_out
site-nl       T6 fold_when_free, C1 C3 time_out
"""


@pytest.mark.parametrize("row", PAIRS.strip().splitlines(), ids=lambda row: row.split()[0])
def test_a_pair_differs_in_these_entries_and_in_nothing_else(row: str) -> None:
    """The document, and the reality or common practice it disagrees with."""
    name, entries = row.split(maxsplit=1)
    listed = {word for word in entries.replace(",", "").split() if word in POLICIES}
    game = GAMES[name]
    partner = GAMES[game.partner or ""]
    differs = {p for p in POLICIES if getattr(game, p) != getattr(partner, p)}
    assert listed == differs
    assert name == partner.partner
    same = ("seats_min", "seats_max", "stack", "hands")
    assert [getattr(game, f) for f in same] == [getattr(partner, f) for f in same]
    assert (game.script == partner.script) == (name not in ("urcs-1998", "swap-2022"))


# The entries for which a hand may be contested, and the policy of each.
CONTESTED = """
auction-2024  A9 showdown_tie
urcs-1998     U12 expectation, U13 tapped_prize, U14 split, U15 tapped_prize, U16 next_group,\
 U17 uncalled, U19 announce, U21 hole_min, U22 ranking
probability   P1 straights, P3 ranking, P4 ranking, P6 odd_chips
site-fl       T8 split, T11 kickers
site-pl       T8 split, T11 kickers
site-nl       T8 split, T11 kickers
swap-2022
"""


@pytest.mark.parametrize("row", CONTESTED.strip().splitlines(), ids=lambda row: row.split()[0])
def test_the_readings_that_are_tried(row: str) -> None:
    """Those entries, under both rulesets of a pair; and each replaces what the ruleset says."""
    name, _, entries = row.partition(" ")
    listed = dict(entry.split() for entry in entries.split(",") if entry.strip())
    game = GAMES[name]
    for one in (game, GAMES[game.partner or ""]):
        assert set(listed.values()) == {reading.policy for reading in one.readings}
        for reading in one.readings:
            assert all(listed[entry] == reading.policy for entry in reading.entry.split())
            assert reading.value != getattr(one, reading.policy)


def test_a_reading_of_one_is_the_rule_of_the_other() -> None:
    """Where a pair differs in a policy that is tried, each tries the value of the other."""
    for game in GAMES.values():
        partner = GAMES[game.partner or game.name]
        for reading in game.readings:
            if getattr(game, reading.policy) != getattr(partner, reading.policy):
                assert reading.value == getattr(partner, reading.policy)


@pytest.mark.parametrize("game", IMPORTED.values(), ids=list(IMPORTED))
def test_a_recorded_corpus_is_not_in_dispute(game: Game) -> None:
    """Its rules are what was played; the auction of early January 2024 has a document beside it."""
    dealt = GAMES["auction-2024-mit"]
    expected = (dealt.partner, dealt.readings) if game.name == "auction-2024-a0" else (None, ())
    assert expected == (game.partner, game.readings)


READINGS = [reading for game in GAMES.values() for reading in game.readings]


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: f"{one.entry} {one.value}")
def test_what_a_reading_quotes_is_in_a_document(reading: Reading) -> None:
    if not DOCUMENTS.is_dir():
        pytest.skip(f"the rule documents are not at {DOCUMENTS}")
    files = (
        DOCUMENTS / f"{name}.md" for name in ("urcs-1998", "probability", "auction-2024", "site")
    )
    said = _words(" ".join(file.read_text("utf-8") for file in files))
    for quoted in re.findall(r'"(.*)"', _words(reading.sentence)):
        for piece in quoted.split("[...]"):
            assert piece.strip(" .") in said


def _words(text: str) -> str:
    return " ".join(text.translate(str.maketrans("“”’", '""\'')).split())


def _cell(game: Game, policy: str) -> str:
    """The value of a policy or parameter as the table writes it."""
    match policy:
        case "limits":
            return _row([one.size for one in game.script if isinstance(one, Betting)])
        case "forced":
            return _row([amount for one in game.script for amount in _forced(one)])
        case "swap_chances":
            return _row([one.chance for one in game.script if isinstance(one, SwapHole)])
    value: Any = getattr(game, policy)
    if isinstance(value, tuple):
        return _row(list(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _forced(step: object) -> tuple[int, ...]:
    match step:
        case Antes(amount=amount) | Blind(amount=amount) | Straddle(amount=amount):
            return (amount,)
        case Blinds(small=small, big=big, ante=0):
            return (small, big)
    return ()


def _row(values: list[int]) -> str:
    return "-".join(map(str, values))

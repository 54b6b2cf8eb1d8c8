"""Rulesets of foreign corpora and sites: every value that a foreign record is audited by."""

import pytest

from engine.games import GAMES, IMPORTED, RULESETS
from engine.games.site import at_stakes
from engine.policies import Policies, Rake
from engine.steps import Betting

# What each corpus shows or decides, beside tournament practice of the same sizing.
VALUES = """
acpc-limit     sizing fixed, unit half chip, odd_chips fractional, split_unit 1, raise_cap 3
acpc-limit     cap_counts raises, cap_lift never, short_blind full, rake none, stacks reset
acpc-limit     show_first all_shown, muck never, time_out none
acpc-nl        sizing no_limit, unit half chip, odd_chips fractional, split_unit 1, raise_cap none
acpc-nl        reopen always, min_raise_after_short last_full_total, short_blind full, rake none
acpc-nl        stacks reset, show_first all_shown, muck never, time_out none
pluribus       sizing no_limit, unit half chip, odd_chips fractional, split_unit 1, raise_cap none
pluribus       reopen always, min_raise_after_short last_full_total, short_blind full, rake none
pluribus       stacks reset, show_first all_shown, muck never, time_out none
irc-limit      sizing fixed, unit chip, odd_chips clockwise_each, raise_cap 3, cap_counts raises
irc-limit      cap_lift two_remain, reopen half_bet, short_blind full, rake none, stacks carried
irc-limit      show_first all_shown, time_out none, heads_up_blinds left_small, uncalled in_pot
irc-limit      fold_when_free True, raise_needs_responder False
pokerstars-fl  sizing fixed, unit cent, odd_chips clockwise_each, raise_cap 3, cap_counts raises
pokerstars-fl  cap_lift round_starts_heads_up, reopen half_bet, short_blind full, stacks carried
pokerstars-fl  rake_pots outwards, show_first last_aggressor
pokerstars-fl  fold_when_free True, raise_needs_responder False
pokerstars-pl  sizing pot_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
pokerstars-pl  min_raise_after_short current_plus_last_full, short_blind full, stacks carried
pokerstars-pl  rake_pots outwards, show_first last_aggressor
pokerstars-pl  fold_when_free True, raise_needs_responder False
pokerstars-nl  sizing no_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
pokerstars-nl  min_raise_after_short current_plus_last_full, short_blind full, stacks carried
pokerstars-nl  rake_pots outwards, show_first last_aggressor
pokerstars-nl  fold_when_free True, raise_needs_responder False
ohh-fl         sizing fixed, unit cent, odd_chips clockwise_each, raise_cap 3, cap_counts raises
ohh-fl         cap_lift round_starts_heads_up, fold_when_free True, raise_needs_responder False
ohh-pl         sizing pot_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
ohh-pl         fold_when_free True, raise_needs_responder False
ohh-nl         sizing no_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
ohh-nl         fold_when_free True, raise_needs_responder False
ggpoker-fl     sizing fixed, unit cent, odd_chips clockwise_each, raise_cap 3, cap_counts raises
ggpoker-fl     cap_lift round_starts_heads_up, fold_when_free True, raise_needs_responder False
ggpoker-pl     sizing pot_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
ggpoker-pl     fold_when_free True, raise_needs_responder False
ggpoker-nl     sizing no_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
ggpoker-nl     fold_when_free True, raise_needs_responder False
pacific-fl     sizing fixed, unit cent, odd_chips clockwise_each, raise_cap 3, cap_counts raises
pacific-fl     cap_lift round_starts_heads_up, fold_when_free True, raise_needs_responder False
pacific-pl     sizing pot_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
pacific-pl     fold_when_free True, raise_needs_responder False
pacific-nl     sizing no_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
pacific-nl     fold_when_free True, raise_needs_responder False
winamax-fl     sizing fixed, unit cent, odd_chips clockwise_each, raise_cap 3, cap_counts raises
winamax-fl     cap_lift round_starts_heads_up, fold_when_free True, raise_needs_responder False
winamax-pl     sizing pot_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
winamax-pl     fold_when_free True, raise_needs_responder False
winamax-nl     sizing no_limit, unit cent, odd_chips clockwise_each, raise_cap none, reopen sum
winamax-nl     fold_when_free True, raise_needs_responder False
phh-ft         sizing fixed, unit chip, odd_chips clockwise_each, raise_cap 3, cap_counts raises
phh-ft         reopen half_bet, short_blind full, rake none, stacks carried
phh-ft         show_first all_shown, time_out none, fold_when_free True
phh-nt         sizing no_limit, unit chip, odd_chips clockwise_each, raise_cap none, reopen sum
phh-nt         min_raise_after_short current_plus_last_full, short_blind full, rake none
phh-nt         stacks carried, show_first all_shown, time_out none, fold_when_free True
auction-2024-a0 third_card bottom, bids leaked, showdown_tie split, ask_when_closed True
"""


def _told() -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = {}
    for line in VALUES.strip().splitlines():
        name, values = line.split(maxsplit=1)
        for value in values.split(", "):
            policy, _, shown = value.partition(" ")
            told.setdefault(name, {})[policy] = shown
    return told


TOLD = _told()
EVERY = [(name, policy, value) for name in TOLD for policy, value in TOLD[name].items()]


@pytest.mark.parametrize(("name", "policy", "value"), EVERY)
def test_every_value_that_a_corpus_shows(name: str, policy: str, value: str) -> None:
    shown = getattr(IMPORTED[name], policy)
    assert value == ("none" if shown is None else str(shown))


def test_every_corpus_is_told_of() -> None:
    assert list(IMPORTED) == list(TOLD)


@pytest.mark.parametrize("name", IMPORTED)
def test_anything_not_listed_is_as_practice_of_that_sizing(name: str) -> None:
    practice = {"fixed": "site-fl-standard", "pot_limit": "site-pl-standard"}
    game = IMPORTED[name]
    site = GAMES[game.partner or practice.get(game.sizing, "site-nl-standard")]
    for policy in set(Policies.__struct_fields__) - set(TOLD[name]) - {"rake"}:
        assert getattr(site, policy) == getattr(game, policy), policy


@pytest.mark.parametrize("name", [name for name in IMPORTED if name.startswith("pokerstars")])
def test_pokerstars_takes_a_rake(name: str) -> None:
    """Percent, half to even; its caps are inferred from the record."""
    assert Rake(percent=5, caps_by_players=(), rounding="half_even") == IMPORTED[name].rake


def test_half_chips_make_acpc_amounts_whole() -> None:
    """Limit at 10/20, no limit at 50/100 with 20,000 behind, Pluribus with 10,000 (G1)."""
    limit = IMPORTED["acpc-limit"]
    assert limit.script == at_stakes(limit, 2 * 5, 2 * 10, 2 * 20).script
    for name, stack in (("acpc-nl", 20_000), ("pluribus", 10_000)):
        game = IMPORTED[name]
        assert (game.script, game.stack) == (at_stakes(game, 2 * 50, 2 * 100).script, 2 * stack)


def test_the_first_auctions_were_followed_by_the_turn_without_betting_on_the_flop() -> None:
    """Engines before 9 January 2024 skipped flop betting (A17)."""
    game, later = IMPORTED["auction-2024-a0"], GAMES["auction-2024-mit"]
    assert tuple(line for line in later.script if line not in game.script) == (Betting("flop", 2),)
    assert game.script == tuple(line for line in later.script if line != Betting("flop", 2))


def test_a_ruleset_is_found_by_its_name_wherever_it_is_from() -> None:
    assert {**GAMES, **IMPORTED} == RULESETS

"""Parameters at run time: what a setting makes, what it is called, and that it can be played."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.catalogue import CATALOGUE
from engine.changes import changed, origin, partner_of, ruleset
from engine.faults import fault
from engine.game import Game, fingerprint, from_json, to_json
from engine.games import GAMES, RULESETS
from engine.parameters import Impossible, ValueKind, known, parameters, plain, sizes
from engine.steps import Antes, Blind, Blinds, Straddle, SwapHole
from engine.verdict import judge
from events.evolve import replay
from events.notation import read, say
from events.types import HandStarted
from tests.analytics.held import agree
from tests.hands import some_games
from tests.profiles import sized

Settings = Mapping[str, str]


def test_urcs_takes_its_forced_bets_from_the_low_limit() -> None:
    """ "Each player antes one-half of the low betting limit into the pot. We will round down to the
    nearest whole dollar (but not less than one dollar)." """
    game = changed(GAMES["urcs-1998"], {"low": "5", "high": "8"})
    assert (Antes(2), Blind(2), Straddle(5)) == (game.script[0], *game.script[2:4])
    assert (5, 5, 8, 8) == sizes(game)
    assert Antes(3) == changed(game, {"ante": "3"}).script[0]


def test_urcs_at_run_time() -> None:
    """ "All of these parameters (betting limits, number of raises, initial buyin, etc.) should be
    configurable at runtime." """
    settings = {"low": "4", "high": "8", "raise_cap": "4", "stack": "500", "check_raise": "no"}
    game = changed(GAMES["urcs-1998"], settings)
    assert (4, 500, False) == (game.raise_cap, game.stack, game.check_raise)
    assert "urcs-1998.low-4.high-8.stack-500.raise_cap-4.check_raise-no" == game.name


def test_the_second_round_s_blinds_stand_where_the_policy_says() -> None:
    once = changed(GAMES["urcs-1998"], {"blind_rounds": "1"})
    assert once.script == GAMES["urcs-1998-standard"].script
    twice = changed(GAMES["urcs-1998-standard"], {"blind_rounds": "1,2"})
    assert twice.script == GAMES["urcs-1998"].script
    assert "urcs-1998-standard.blind_rounds-1_2" == twice.name


def test_swap_probabilities_may_change() -> None:
    """ "Note that these may change later in the competition." """
    game = changed(GAMES["swap-2022"], {"swap_flop": "30", "swap_turn": "20"})
    assert [SwapHole(30, 100), SwapHole(20, 100)] == _swaps(game)
    assert changed(GAMES["swap-2022"], {"swap_flop": "3/10", "swap_turn": "1/5"}) == game
    part = changed(GAMES["swap-2022"], {"swap_flop": "1/30"})
    assert [SwapHole(2, 60), SwapHole(3, 60)] == _swaps(part), "a deck draws of one number"
    assert ("swap-2022.swap_flop-1-30", "1/30") == (part.name, parameters(part)["swap_flop"].text)


def test_the_swap_s_place_follows_its_policy() -> None:
    for name in ("swap-2022", "swap-2022-mit"):
        game, other = GAMES[name], GAMES[GAMES[name].partner or ""]
        assert changed(game, {"swap_order": other.swap_order}).script == other.script


def test_blinds_are_set_when_a_table_is_set_up() -> None:
    """ "The small blind is equal to half the lower stake [...] the amount of small blind could be
    set differently at the time of setting up the table." """
    game = changed(GAMES["site-nl"], {"big": "20"})
    assert (Blinds(10, 20), (20,) * 4) == (game.script[0], sizes(game))
    assert Blinds(5, 20, 1) == changed(game, {"small": "5", "ante": "1"}).script[0]
    limit = changed(GAMES["site-fl"], {"low": "50", "high": "100"})
    assert (Blinds(25, 50), (50, 50, 100, 100)) == (limit.script[0], sizes(limit))


def test_a_rake_is_set_by_its_parts() -> None:
    """R1, R2: "so many players dealt in or more, at most so much"."""
    settings = {"rake_percent": "5", "rake_caps": "5:300,2:50,3:100", "rake_rounding": "floor"}
    game = changed(GAMES["site-nl"], settings)
    assert game.rake is not None
    assert (5, 100, ((2, 50), (3, 100), (5, 300))) == (
        game.rake.percent,
        game.rake.of,
        game.rake.caps_by_players,
    )
    assert "site-nl.rake_percent-5.rake_caps-2-50_3-100_5-300.rake_rounding-floor" == game.name
    assert GAMES["site-nl"] == changed(game, {"rake_percent": "0"})
    part = changed(GAMES["site-nl"], {"rake_percent": "1/40"}).rake
    assert part is not None
    assert (1, 40) == (part.percent, part.of)


def test_what_is_already_so_changes_nothing() -> None:
    for game in RULESETS.values():
        same = {name: one.text for name, one in parameters(game).items()}
        if game.odd_chips == "fractional":
            del same["odd_chips"]
        assert changed(game, same) is game


def test_the_name_does_not_depend_on_the_way() -> None:
    site = GAMES["site-nl"]
    both = changed(site, {"stack": "2000", "big": "20"})
    assert "site-nl.big-20.stack-2000" == both.name
    assert both == changed(changed(site, {"stack": "2000"}), {"big": "20"})
    assert both == changed(site, {"big": "20", "small": "10", "stack": "2000", "ante": "0"})
    assert site == changed(both, {"big": "10", "stack": "1000"})
    assert both == ruleset(both.name)
    assert (site, {"big": "20", "stack": "2000"}) == origin(both)


def test_no_two_rules_share_a_name() -> None:
    """A name that says something else than the rules are is not taken at its word."""
    site = GAMES["site-nl"]
    lie = replace(site, name="site-nl.big-20", stack=7)
    assert (lie, {}) == origin(lie)
    for name in (
        "site-nl.stack-2000.big-20",
        "site-nl.big-10",
        "site-nl.",
        "site-nl.big",
        "x.big-1",
    ):
        with pytest.raises(LookupError, match="no ruleset is called"):
            ruleset(name)


@pytest.mark.parametrize("name", ["site-nl.big-20.stack-2000", "swap-2022.swap_flop-1-30"])
def test_a_name_is_a_plain_word_everywhere(name: str) -> None:
    """Notation, filters, addresses and shells need no quotes around it."""
    start = HandStarted("m/1", name, "0123456789abcdef", 0, ("a", "b"), (1, 1))
    assert read(say(start)) == start
    assert f"hand m/1 of {name} 0123456789abcdef," in say(start)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name)


def test_its_text_is_a_ruleset_of_its_own() -> None:
    game = changed(GAMES["auction-2024"], {"stack": "200"})
    assert fingerprint(game) not in {fingerprint(one) for one in RULESETS.values()}
    assert game == from_json(to_json(game))


def test_the_partner_has_the_same_settings() -> None:
    """A hand is not contested merely because the partner was not changed."""
    game = changed(GAMES["site-nl"], {"odd_chips": "first_left_all", "big": "20"})
    partner = partner_of(game)
    assert partner is not None
    assert "site-nl-standard.big-20.odd_chips-first_left_all" == partner.name
    assert (
        partner_of(changed(GAMES["urcs-1998"], {"straddle_folds": "duty_passes"}))
        == (GAMES["urcs-1998-standard"])
    )
    assert partner_of(GAMES["site-nl"]) == GAMES["site-nl-standard"]
    assert partner_of(GAMES["site-nl-standard"]) == GAMES["site-nl"]


def test_a_setting_makes_the_readings_of_its_policy_void() -> None:
    split = changed(GAMES["auction-2024"], {"showdown_tie": "split"})
    assert () == split.readings
    assert GAMES["auction-2024"].readings == changed(GAMES["auction-2024"], {"stack": "9"}).readings
    urcs = changed(GAMES["urcs-1998"], {"split": "side_pots"})
    gone = {one.policy for one in GAMES["urcs-1998"].readings} - {
        one.policy for one in urcs.readings
    }
    assert {"split", "expectation", "tapped_prize", "next_group"} == gone


REFUSED = """
site-nl | bigblind=20 | no parameter of site-nl is called bigblind: there are small, big, ante, ...
site-nl | bids=sealed | site-nl has no bids: there is no auction in its script
site-nl | swap_flop=10 | site-nl has no swap_flop: no card is swapped in its script
site-nl | stack=0 | stack of site-nl may be a whole number from 1 to ..., not 0
site-nl | stack=-5 | stack of site-nl may be a whole number from 1 to ..., not -5
site-nl | stack=1e3 | stack of site-nl may be a whole number from 1 to ..., not 1e3
site-nl | stack=٣ | stack of site-nl may be a whole number from 1 to ..., not ٣
site-nl | small=11 | ... the small blind of 11 is not between 1 and the big one, 10
site-nl | rake_percent=200 | rake_percent of site-nl may be a whole percent from 0 to 100, or ...
site-nl | rake_caps=2:50 | site-nl has no rake_caps: nothing is raked: set rake_percent, too
site-nl | rake_percent=5 rake_caps=2:50,2:60 | rake_caps of site-nl may be PLAYERS:CHIPS,...
site-nl | rake=5 | a rake is set by its parts: rake_percent, rake_caps, ...
site-nl | odd_chips=fractional | odd_chips of site-nl may be clockwise_each, ..., not fractional
site-nl | odd_chips=often | odd_chips of site-nl may be clockwise_each, ..., not often
site-nl | cap_scope=player | site-nl has no cap_scope: its raises have no cap: set raise_cap, too
site-nl | raise_cap=0 | raise_cap of site-nl may be none, or a whole number from 1 to ..., not 0
site-nl | seats_max=24 | seats_max of site-nl may be a whole number from 2 to 23, not 24
site-nl | seats_min=3 | ... until two are left: seats_min is 2
site-nl | burn=1 deck_slots=fixed | ... every card has its own place, and burn=1 has none
site-nl | low=20 | site-nl has no low: its bets are measured by the big blind: set big
site-nl | stack=1000000000001 | stack of site-nl may be a whole number from 1 to 1000000000000, ...
site-fl | big=20 | site-fl has no big: its big blind is the low limit: set low
site-fl | low=50 | ... the high limit is at least the low one of 50, not 20: set high, too
urcs-1998 | low=1 | ... the low limit is at least 2, not 1: half of it is the blind
urcs-1998 | ante=0 | ... an ante is at least 1, not 0
urcs-1998 | rake_percent=5 | ... split=expectation knows no rake
urcs-1998 | odd_chips=first_left_all | ... odd_chips is dealer or clockwise_each
urcs-1998 | kickers=all_seven | ... kickers is five_cards
urcs-1998 | button=dead | urcs-1998 has no button: no small blind could be left out in its script
auction-2024 | broke=leaves | auction-2024 has no broke: ... new stacks: set stacks=carried, too
swap-2022 | swap_flop=0.1 | swap_flop of swap-2022 may be a whole percent ... 1/30, not 0.1
swap-2022 | swap_turn=101 | swap_turn of swap-2022 may be a whole percent from 0 to 100, or ...
swap-2022 | swap_flop=3/0 | swap_flop of swap-2022 may be a whole percent from 0 to 100, or ...
swap-2022 | seats_max=8 | ... the deck has cards for 7 seats at most, not 8
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_cannot_be_is_refused_in_one_sentence(line: str) -> None:
    name, said, told = (part.strip() for part in line.split(" | "))
    settings = dict(one.split("=", 1) for one in said.split())
    with pytest.raises(Impossible) as refusal:
        changed(GAMES[name], settings)
    pattern = ".*".join(map(re.escape, told.split("...")))
    assert re.fullmatch(pattern, str(refusal.value), re.DOTALL), refusal.value
    assert "\n" not in str(refusal.value)


def test_every_policy_is_a_parameter() -> None:
    assert set(CATALOGUE) - {"rake"} <= set(known())


def test_no_ruleset_of_ours_is_at_fault() -> None:
    assert {} == {name: why for name, game in RULESETS.items() if (why := fault(game))}


# What other settings a parameter needs to mean anything.
WITH: dict[str, Settings] = {
    "cap_counts": {"raise_cap": "2"},
    "cap_scope": {"raise_cap": "2"},
    "cap_lift": {"raise_cap": "2"},
    "rake_caps": {"rake_percent": "10"},
    "rake_rounding": {"rake_percent": "7", "rake_scope": "pot"},
    "rake_no_flop_no_drop": {"rake_percent": "10"},
    "rake_scope": {"rake_percent": "10"},
    "rake_pots": {"rake_percent": "10"},
    "rake_increment": {
        "rake_percent": "10",
        "rake_rounding": "incremental",
        "rake_scope": "pot",
    },
    "expectation": {"split": "expectation", "odd_chips": "dealer"},
    "tapped_prize": {"split": "expectation", "odd_chips": "dealer"},
    "next_group": {"split": "expectation", "odd_chips": "dealer"},
    "pot_limit_base": {"sizing": "pot_limit"},
    "high": {"sizing": "fixed"},
    "low": {"sizing": "fixed", "high": "50"},
    "split": {"odd_chips": "clockwise_each"},
    "broke": {"stacks": "carried"},
}


def _texts(kind: ValueKind) -> list[str]:
    """Every named value of a parameter, and some of its numbers."""
    tried = ["yes", "no", "none", "0", "1", "2", "3", "7", "50", "1/30", "2:1,3:2", "1,2"]
    tried += re.split(r", | or ", kind.may)
    return [text for text in dict.fromkeys(tried) if kind.read(plain(text)) is not None]


def _every_change(game: Game) -> Iterator[Game]:
    """Every value of every parameter, one at a time, with what it needs; most with short stacks."""
    count = 0
    for name, (_, kind, _) in known().items():
        for text in _texts(kind):
            short = {"stack": "45"} if count % 3 else {}
            try:
                made = changed(game, {**short, **WITH.get(name, {}), name: text})
            except Impossible:
                continue
            if made is not game:
                count += 1
                yield made


@some_games
def test_whatever_is_accepted_can_be_played_and_audited(game: Game) -> None:
    """No hand stops in the middle, no chip is lost, and its own rules agree with each.

    Of every few changes one game plays one, and another game another.
    """
    count, every, at = 0, sized(8, 3, 1), sum(game.name.encode())
    for made in _every_change(game):
        count += 1
        if (count + at) % every:
            continue
        assert made == ruleset(made.name)
        assert fingerprint(made) == fingerprint(from_json(to_json(made)))
        seats = max(made.seats_min, min(made.seats_max, 2 + count % 3))
        for record in play(made, "m", sized(1, 1, 2), made.name, seats):
            hand = replay(record)
            assert hand.over
            assert (0, sum(hand.start.stacks)) == (hand.pot, sum(hand.stacks) + hand.rake), (
                made.name
            )
            verdict = judge(made, record, partner_of(made)).verdict
            assert verdict in ("agree", "contested"), made.name
    assert count > 80


@pytest.mark.parametrize("name", ["auction-2024", "swap-2022-mit", "probability", "site-fl"])
def test_the_batch_audit_leaves_what_it_does_not_follow_to_the_engine(name: str) -> None:
    """A hand of changed rules is fine only where the engine agrees, to the chip."""
    for number, made in enumerate(_every_change(GAMES[name])):
        if number % sized(24, 12, 4) == 0:
            agree(made, islice(play(made, "m", 2, made.name), 2))


def _swaps(game: Game) -> list[SwapHole]:
    return [step for step in game.script if isinstance(step, SwapHole)]

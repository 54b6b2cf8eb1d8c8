"""Who plays whom in a league, said by a file and by what has been played; no bot is started."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.playing.league import (
    InvalidLeague,
    League,
    Pairing,
    bot_programs,
    match_name,
    matches_left,
    pairing_of,
    parse_league,
    playable_pairings,
    read_league,
    standings,
    text_with_bot,
)
from dealer.wire.program import NoBotFolder

FILE = """
league = "nightly"  # every night
hands = 400

[bots]
ursa = "bots/ursa"
lynx = "../lynx"
bear = "/srv/bear"
"""
Played = dict[Pairing, dict[str, int]]


def league(bots: int, **how: object) -> League:
    """A league of as many bots."""
    return League(name="l", bots={f"b{number:02}": "x" for number in range(bots)}, **how)  # type: ignore[arg-type]


def played_out(of: League, nets: Callable[[str, str], int]) -> Played:
    """All of it, round by round; every match gives its first player what `nets` says."""
    found: Played = {}
    while todo := playable_pairings(of, found):
        for one in todo:
            first, second = one.players
            chips = nets(first, second)
            found[one] = {first: chips, second: -chips}
    return found


def test_a_file_says_bots_and_rules_and_the_rest_is_usual() -> None:
    found = parse_league(FILE)
    assert ("nightly", "round-robin", 1, "auction-2024-mit", True, 400) == (
        found.name, found.format, found.rounds, found.game, found.mirror, found.hands,
    )  # fmt: skip
    assert ["bear", "lynx", "ursa"] == sorted(found.bots)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("hand = 400", "Object contains unknown field `hand`"),
        ('league = "a.b"', "Expected `str` matching regex"),
        ("league = ", "Invalid value"),
        ('league = "x"\nhands = 401', "mirrored, each deck is dealt twice: 401 hands are no pairs"),
        ('league = "x"\nhands = 10002', "Expected `int` <= 10000"),
        ('league = "x"\nformat = "cup"', "Invalid enum value 'cup'"),
        ('league = "x"\nformat = "gauntlet"', "a gauntlet, and nothing else, has a champion"),
        ('league = "x"\nchampion = "ursa"', "a gauntlet, and nothing else, has a champion"),
        (
            'league = "x"\nformat = "gauntlet"\nchampion = "wolf"',
            "its champion 'wolf' is none of its bots",
        ),
        (
            'league = "x"\nformat = "swiss"\nrounds = 3',
            "so many rounds of 3 bots are a round-robin",
        ),
        ('league = "x"\n[bots]\nursa = "a"', "Expected `object` of length >= 2"),
    ],
)
def test_a_file_that_is_no_league_says_why(tmp_path: Path, line: str, sentence: str) -> None:
    path = tmp_path / "l.toml"
    bots = "" if "[bots]" in line else '\n[bots]\nursa = "a"\nlynx = "b"\nbear = "c"\n'
    path.write_text(line + bots)
    with pytest.raises(InvalidLeague) as why:
        read_league(path)
    assert str(why.value).startswith(f"{path} is no league: ")
    assert sentence in str(why.value)
    assert "\n" not in str(why.value)


def test_a_file_that_is_not_there_is_no_league(tmp_path: Path) -> None:
    with pytest.raises(InvalidLeague, match="cannot be read: No such file"):
        read_league(tmp_path / "l.toml")
    with pytest.raises(NoBotFolder, match="is no folder"):
        bot_programs(parse_league(FILE), tmp_path)


def test_the_name_of_a_match_is_that_of_one_pairing() -> None:
    """`LEAGUE.ROUND.A.B`: no name of a league or a bot has a dot in it."""
    of = parse_league(FILE)
    one = Pairing(12, ("bear", "ursa"))
    assert "nightly.12.bear.ursa" == match_name(of, one)
    assert ("nightly", one) == pairing_of(match_name(of, one))
    for other in ("nightly.x.bear.ursa", "nightly.0.bear.ursa", "nightly.1.bear", "nightly.1.a.b.c",
                  "nightly.1.bear.bear", "nightly.1.ursa.bear", "n i.1.bear.ursa"):  # fmt: skip
        assert None is pairing_of(other)


def test_in_a_round_robin_everybody_meets_everybody_once_a_round() -> None:
    of = league(5, rounds=2)
    todo = playable_pairings(of, {})
    assert len(todo) == len(set(todo)) == 20 == matches_left(of, {})
    for number in (1, 2):
        assert {one.players for one in todo if one.round == number} == set(
            combinations(sorted(of.bots), 2)
        )


def test_in_a_gauntlet_everybody_meets_the_champion() -> None:
    of = league(4, format="gauntlet", champion="b02", rounds=3)
    todo = playable_pairings(of, {})
    assert 9 == len(todo) == matches_left(of, {})
    assert all("b02" in one.players for one in todo)


def test_what_is_there_is_not_missing_and_a_new_bot_lacks_only_his_own_matches() -> None:
    before = league(4)
    found = played_out(before, lambda one, two: 1)
    assert () == playable_pairings(before, found)
    after = league(5)
    assert {("b00", "b04"), ("b01", "b04"), ("b02", "b04"), ("b03", "b04")} == {
        one.players for one in playable_pairings(after, found)
    }


@given(st.integers(2, 17), st.data())
def test_a_swiss_pairs_everybody_once_a_round_and_nobody_twice(
    bots: int, data: st.DataObject
) -> None:
    """Of an odd number one sits out, and nobody sits out a second time before everybody has."""
    rounds = data.draw(st.integers(1, min(bots - 1, 5)))
    of = league(bots, format="swiss", rounds=rounds)
    found: Played = {}
    assert rounds * (bots // 2) == matches_left(of, found)
    while todo := playable_pairings(of, found):
        assert 1 == len({one.round for one in todo})
        # It is cut off after any match, and goes on with the same round.
        for one in todo[: data.draw(st.integers(1, len(todo)))]:
            chips = data.draw(st.integers(-2, 2))
            found[one] = {one.players[0]: chips, one.players[1]: -chips}
    assert 0 == matches_left(of, found)
    for number in range(1, rounds + 1):
        at_table = [player for one in found if one.round == number for player in one.players]
        assert len(at_table) == len(set(at_table)) == bots // 2 * 2
    matches = [one.matches for one in standings(of.bots, found)]
    assert max(matches) - min(matches) <= 1
    if rounds <= bots // 2:
        assert len(found) == len({one.players for one in found})


def test_a_swiss_lets_those_meet_who_stand_next_to_each_other() -> None:
    """The lower number always wins: after three rounds the best of eight is known."""
    of = league(8, format="swiss", rounds=3)
    found = played_out(of, lambda one, two: 5)
    assert "b00" == standings(of.bots, found)[0].bot
    third = {one.players for one in found if one.round == 3}
    best = {
        one.bot for one in standings(of.bots, {k: v for k, v in found.items() if k.round < 3})[:2]
    }
    assert tuple(sorted(best)) in third


def test_a_standing_is_by_points_a_match_then_by_chips() -> None:
    of = league(4)
    found = {
        Pairing(1, ("b00", "b01")): {"b00": 3, "b01": -3},
        Pairing(1, ("b00", "b02")): {"b00": -50, "b02": 50},
        Pairing(1, ("b01", "b02")): {"b01": 0, "b02": 0},
    }
    lines = [
        (it.bot, it.matches, it.won, it.drawn, it.lost, it.chips)
        for it in standings(of.bots, found)
    ]
    assert [
        ("b02", 2, 1, 1, 0, 50),
        ("b03", 0, 0, 0, 0, 0),  # he has not lost yet
        ("b00", 2, 1, 0, 1, -47),
        ("b01", 2, 0, 1, 1, -3),
    ] == lines


def test_a_bot_is_added_to_the_text_and_everything_else_stays() -> None:
    made = text_with_bot(FILE, "wolf", 'den/"grey" wolf', {})
    assert FILE.splitlines() == [line for line in made.splitlines() if not line.startswith("wolf")]
    assert 'den/"grey" wolf' == parse_league(made).bots["wolf"]
    tagged = text_with_bot(FILE, "wolf", "den", {"bot": "wolf", "version": "2"})
    assert {"bot": "wolf", "version": "2"} == parse_league(tagged).tags("wolf")
    with pytest.raises(InvalidLeague, match="there is a bot ursa in it already, in bots/ursa"):
        text_with_bot(FILE, "ursa", "x", {})
    inline = 'league = "x"\nbots = {a = "1", b = "2"}\n'
    with pytest.raises(InvalidLeague, match="write the new one in by hand"):
        text_with_bot(inline, "wolf", "x", {})


def test_bots_of_a_league_have_tags_as_keys() -> None:
    text = 'league = "l"\n[bots]\na = "a"\nb = {folder = "f/b", bot = "b", version = 3}\n'
    league = parse_league(text)
    assert isinstance(league, League)
    assert ("a", {}) == (league.folder("a"), league.tags("a"))
    assert ("f/b", {"bot": "b", "version": "3"}) == (league.folder("b"), league.tags("b"))
    with pytest.raises(InvalidLeague, match="its bot b has no folder"):
        parse_league(text.replace('folder = "f/b", ', ""))
    with pytest.raises(InvalidLeague, match="cannot be a tag"):
        parse_league(text.replace("version", "Version"))

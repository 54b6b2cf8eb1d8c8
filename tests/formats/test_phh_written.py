"""PHH written: what is read again, by us and by pokerkit, to the same stacks; what is not said."""

import warnings

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import RULESETS
from engine.games.site import at_stakes
from engine.policies import per_chip
from engine.verdict import judge
from events import types as t
from events.evolve import replay
from formats.hand_records import hand_record
from formats.phh.documents import write, write_all
from formats.phh.read import read
from formats.site_stakes import Inexpressible
from tests.formats.test_format_phh import ONE, UNSEEN, changed, told


def test_user_fields_and_commentary_come_back() -> None:
    hand = told(ONE.replace(', "# nothing happens"', ""))
    text = write(hand.game, hand_record(hand, "m/1"), hand.note)
    again = told(text)
    assert "p3 f # out of position" in text
    assert "_weather = {rain = true, drops = [1, 2.50]}" in text
    assert ('author = "nobody"', "hand = 7") == tuple(
        line for line in text.splitlines() if line.startswith(("author", "hand"))
    )[::-1]
    assert (hand.items[:-2], hand.nets) == (again.items[:-2], again.nets)


def _pokerkit_stacks(text: str) -> list[float]:
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of our own fields, and of folds that cost nothing
        return [float(stack) for stack in list(pokerkit.HandHistory.loads(text))[-1].stacks]


@pytest.mark.parametrize("name", ["probability-standard", "site-nl-standard", "site-fl"])
@pytest.mark.parametrize("seats", [2, 3, 6])
def test_pokerkit_reads_what_we_write_to_the_same_stacks(name: str, seats: int) -> None:
    game = at_stakes(RULESETS[name], 5, 10, 20 if name == "site-fl" else None, 2 * (seats > 2))
    for events in play(game, "m", 15, f"phh {seats}", seats):
        start, hand = events[0], replay(events)
        assert isinstance(start, t.HandStarted)
        order = [(start.button + 1 + at) % len(hand.stacks) for at in range(len(hand.stacks))]
        mine = [hand.stacks[seat] for seat in order]
        text = write(game, events)
        assert mine == _pokerkit_stacks(text), text
        again = told(text)
        after = replay(hand_record(again, "m/1")).stacks
        assert tuple(mine) == after


THREE = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [1000, 2000, 3000]
actions = ["d dh p1 AsAh", "d dh p2 KsKh", "d dh p3 QsQh", "p3 cbr 300", "p1 f", "p2 cc",
  "d db 2c3d4h", "p2 cc", "p3 cbr 200", "p2 f"]
"""
ANTES = "antes = [0, 0, 0]"
FORCED = (
    ((ANTES, "antes = [5, 10, 20]"),),
    ((ANTES, "antes = [0, 100, 0]"),),
    ((ANTES, "antes = [0, 0, 100]\nante_trimming_status = true"),),
    ((ANTES, "antes = [7, 7, 7]"), ("[1000, 2000", "[1000.50, 2000")),
    (("[50, 100, 0]", "[50, 100, -100]"),),
    (
        ('"p3 cbr 300", "p1 f"', '"p1 cc", "p2 cc", "p3 cbr 600", "p1 f"'),
        ("[50, 100, 0]", "[50, 100, 200]"),
    ),
    (("[1000, 2000, 3000]", "[inf, 2000, inf]"),),
    (("[50, 100, 0]", "[0, 100, 0]"),),
)


@pytest.mark.parametrize("pairs", FORCED, ids=lambda pairs: pairs[-1][1].splitlines()[0])
def test_whatever_is_forced_pokerkit_pays_what_we_pay_before_and_after(
    pairs: tuple[tuple[str, str], ...],
) -> None:
    """Antes of each seat, of the big blind, of the button; posts, straddles, unknown stacks."""
    text = changed(THREE, *pairs)
    hand = told(text)
    events = hand_record(hand, "m/1")
    assert "agree" == judge(hand.game, events).verdict
    written = write(hand.game, events, hand.note)
    ours = [stack / per_chip(hand.game.unit) for stack in replay(events).stacks]
    assert ours == _pokerkit_stacks(written)
    if "inf" not in text:
        assert ours == _pokerkit_stacks(text)
    assert hand_record(told(written), "m/1")[1:] == events[1:]


@pytest.mark.parametrize("unit", ["cent", "euro cent", "penny", "hundredth of a chip"])
def test_hundredths_of_any_money_are_written_with_a_point(unit: str) -> None:
    game = replace(at_stakes(RULESETS["site-nl-standard"], 5, 10), unit=unit)
    (events,) = play(game, "m", 1, "euros", 3)
    text = write(game, events)
    assert "blinds_or_straddles = [0.05, 0.1, 0.0]" in text
    assert "cent" == told(text).game.unit


def test_cards_that_were_never_dealt_are_written_as_unknown() -> None:
    """Two players are said to hold the same card: the rules deal to nobody, the claim to one."""
    hand = told(changed(ONE, ("KcKd", "AcKd"), ("sm AcKd", "sm KcKd"), (' "d dh p3 ????",', "")))
    events = hand_record(hand, "m/1")
    assert "differ" == judge(hand.game, events).verdict
    assert "d dh p3 ????" in write(hand.game, events)


def test_our_many_hands_are_read_again() -> None:
    game = RULESETS["site-nl-standard"]
    texts = write_all((game, events, None) for events in play(game, "m", 3, "many", 4))
    assert 3 == len(list(read("".join(texts)).hands))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("site-pl", "PHH has no code for pot-limit hold'em"),
        ("auction-2024", "PHH has no code for auction-2024: its sequence of play is its own"),
        ("swap-2022", "PHH has no code for swap-2022: its sequence of play is its own"),
        ("urcs-1998", "PHH has no code for urcs-1998: its sequence of play is its own"),
        ("probability", "PHH has no code for probability: it plays with ranking top_card"),
    ],
)
def test_a_game_without_a_code_is_refused(name: str, reason: str) -> None:
    game = RULESETS[name]
    (events,) = play(game, "m", 1, "refused")
    with pytest.raises(Inexpressible) as refused:
        write(game, events)
    assert reason == str(refused.value)


def test_a_fold_for_nothing_is_a_fold() -> None:
    """pokerkit warns of it and goes on; archives of sites hold them."""
    text = changed(
        UNSEEN, ('"p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc",', '"p2 cc", "p1 f"]')
    )
    text = text[: text.index("]", text.index("p1 f")) + 1]
    hand = told(text)
    events = hand_record(hand, "m/1")
    assert "agree" == judge(hand.game, events).verdict
    assert [float(stack) for stack in replay(events).stacks] == _pokerkit_stacks(text)

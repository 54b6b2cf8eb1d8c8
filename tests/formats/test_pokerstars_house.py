"""The rake of PokerStars texts: fitted over a whole file, assumed, and never to a hand alone."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.assumptions import is_free
from engine.audit import audit
from formats import file_parts, registry
from formats.hand_records import hand_record
from formats.pokerstars.read import read
from formats.source import AS_READ, ImportRules, Refused, SourceHand

Sums = tuple[int, int]  # the pot and the rake of a hand, in cents


def _hand(number: int, pot: int, rake: int, folder: int = 0) -> str:
    """A hand of two, and of one who folds a small blind if there is one, that ends on the flop."""
    each = (pot - folder) // 2
    assert each * 2 + folder == pot
    big, caller = (3, "p3") if folder else (2, "p2")
    small = 2 if folder else 1
    chairs = [f"Seat {seat}: p{seat} ($900 in chips)" for seat in range(1, big + 1)]
    return "\n".join(
        [
            f"PokerStars Hand #{number}: Hold'em No Limit ($0.50/$1.00 USD) - 2012/03/04",
            "Table 'Nix' 6-max Seat #1 is the button",
            *chairs,
            f"p{small}: posts small blind $0.50",
            f"p{big}: posts big blind $1",
            "*** HOLE CARDS ***",
            f"p1: raises ${each / 100 - 1:.2f} to ${each / 100:.2f}",
            *(["p2: folds"] if folder else []),
            f"{caller}: calls ${each / 100 - 1:.2f}",
            "*** FLOP *** [2c 7d Jh]",
            f"{caller}: checks",
            "p1: bets $1",
            f"{caller}: folds",
            "Uncalled bet ($1) returned to p1",
            f"p1 collected ${(pot - rake) / 100:.2f} from pot",
            "*** SUMMARY ***",
            f"Total pot ${pot / 100:.2f} | Rake ${rake / 100:.2f}",
            "",
            "",
        ]
    )


def _file(sums: Sequence[Sums]) -> str:
    return "".join(_hand(number, *one) for number, one in enumerate(sums, 1))


def _judged(hand: SourceHand) -> str:
    """What is assumed of the rake; `differ` if the rules take another; `unknown` if it was fitted
    to this hand alone."""
    if audit(hand.game, hand_record(hand, "h/1")) is not None:
        return "differ"
    return "unknown" if any(map(is_free, hand.assumed)) else ", ".join(hand.assumed)


def _verdicts(text: str) -> list[str]:
    hands = list(read(text).hands)
    assert all(isinstance(hand, SourceHand) for hand in hands), hands
    return [_judged(hand) for hand in hands if isinstance(hand, SourceHand)]


CAPPED = [(400, 20), (520, 26), (1000, 50), (1100, 55), (2000, 100), (4000, 100), (9000, 100)]


def test_one_rate_and_one_cap_explain_a_file() -> None:
    assert _verdicts(_file(CAPPED)) == ["rake 5 % up to 100"] * 7


def test_a_rake_that_the_rest_of_the_file_does_not_explain_differs() -> None:
    """One of eleven; each hand of a file is held against what explains all of them."""
    many = [*CAPPED, (600, 30), (700, 35), (800, 40)]
    for wrong in (59, 61, 0, 100, 401):
        found = _verdicts(_file([*many, (1200, wrong)]))
        assert found == ["rake 5 % up to 100"] * 10 + ["differ"], wrong


def test_what_a_single_hand_shows_of_its_rake_is_no_rule_but_a_usual_rate() -> None:
    """401 of 3,001 values of one pot of $200 agreed, because the cap was fitted to each."""
    found = [_verdicts(_hand(1, 20000, rake))[0] for rake in range(0, 3001, 5)]
    usual = {one for one in found if one.startswith("rake ")}
    assert usual == {f"rake {rate} %" for rate in USUAL}
    assert len(USUAL) == len([one for one in found if one.startswith("rake ")])
    assert found.count("unknown") == len(found) - len(USUAL) - 1
    assert found[0] == "unraked pot of 20000"  # not even that it takes nothing


USUAL = ("1", "1.5", "2", "2.5", "3", "3.5", "4", "4.25", "4.5", "4.75", "5", "5.5", "6", "10")


def test_a_genuine_rake_of_no_usual_rate_is_unknown_where_the_file_names_no_other() -> None:
    assert _verdicts(_hand(1, 586, 36)) == ["unknown"]
    assert _verdicts(_file([(586, 36), (586, 36)])) == ["unknown"] * 2


def test_a_cap_that_one_hand_alone_reaches_is_fitted_to_it() -> None:
    found = _verdicts(_file([(400, 20), (520, 26), (1000, 50), (4000, 100)]))
    assert found == ["rake 5 %"] * 3 + ["unknown"]


def test_what_explains_too_few_hands_does_not_speak_against_the_others() -> None:
    sums = [(400, 20), (520, 26), (1000, 50), (1200, 60), (1300, 49), (1700, 70)]
    assert _verdicts(_file(sums)) == ["rake 5 %"] * 4 + ["unknown"] * 2
    none = [(400, 21), (520, 33), (1000, 47), (1200, 80)]
    assert "differ" not in _verdicts(_file(none))


def test_a_cap_may_hold_for_tables_of_several_sizes() -> None:
    """Three players at one table and two at the other; each cap is reached once there."""
    three = "".join(_hand(9, pot, rake, folder=50) for pot, rake in ((450, 22), (9050, 100)))
    two = _file([(400, 20), (520, 26), (1000, 50), (1200, 60), (8000, 100)])
    found = _verdicts(two + three)
    assert found == ["rake 5 % up to 100"] * 7


def test_every_stake_of_a_file_has_its_own_house() -> None:
    other = _file([(400, 16), (500, 20), (1000, 40)]).replace("$0.50/$1.00 USD", "$0.50/$1.00 EUR")
    assert _verdicts(_file(CAPPED[:3]) + other) == ["rake 5 %"] * 3 + ["rake 4 %"] * 3


def test_a_rake_that_is_set_decides(tmp_path: Path) -> None:
    """5 % up to 50 cents between two players, up to a dollar between more; nothing is fitted."""
    rules = ImportRules(settings=(("rake_percent", "5"), ("rake_caps", "2:50,3:100")))
    path = tmp_path / "hands.txt"
    sums = [(400, 20), (2000, 50), (2000, 100), (586, 36), (800, 0)]
    path.write_text(_file(sums) + _hand(9, 9050, 100, folder=50))
    hands = list(registry.read(path, registry.FORMATS["pokerstars"], rules).hands)
    judged = [_judged(hand) for hand in hands if isinstance(hand, SourceHand)]
    said = "rake 5 % up to 50"
    assert judged == [said, said, "differ", "differ", "differ", "rake 5 % up to 100"]
    with pytest.raises(Refused, match="but for the rake"):
        registry.read(path, registry.FORMATS["pokerstars"], ImportRules(settings=(("big", "4"),)))
    with pytest.raises(Refused, match="--set: rake_percent of pokerstars-nl may be"):
        registry.read(
            path, registry.FORMATS["pokerstars"], ImportRules(settings=(("rake_percent", "x"),))
        )


def test_a_part_of_a_file_has_the_house_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_parts, "PART_HANDS", 2)
    path = tmp_path / "hands.txt"
    path.write_text(_file(CAPPED))
    parts = file_parts.split_file(path, "pokerstars")
    assert len(parts) == 4
    for part in parts:
        for hand in registry.read(path, registry.FORMATS["pokerstars"], AS_READ, part).hands:
            assert isinstance(hand, SourceHand)
            assert hand.assumed == ("rake 5 % up to 100",)


@pytest.mark.parametrize("sums", [[(2000, 0)], [(2000, 100), (1000, 50), (3000, 0), (4000, 0)]])
def test_a_rake_moved_to_the_winner_is_never_plain_agreement(sums: Sequence[Sums]) -> None:
    """Nothing was assumed of a hand that prints a rake of 0, though others of its file have one."""
    for (_, rake), found in zip(sums, _verdicts(_file(sums)), strict=True):
        assert found.startswith("rake" if rake else "unraked pot of ")


def test_a_raked_file_for_chips_rakes_every_hand() -> None:
    """Chips have no sign: a hand that printed no rake was taken to be of a house without one."""
    sums = [(1000 + 200 * at, 50 + 10 * at) for at in range(10)] + [(4000, 0)]
    cents = re.sub(r"\$([0-9.]+)", lambda one: f"{float(one[1]) * 100:.0f}", _file(sums))
    found = _verdicts(cents.replace(" USD", ""))
    assert found == ["rake 5 %"] * 10 + ["differ"]


def test_chips_of_which_nobody_shows_a_rake_say_so_by_two_pots_at_least() -> None:
    """A single hand for chips that prints no rake was plain `agree`, whoever the rake went to."""

    def for_chips(sums: Sequence[Sums]) -> list[str]:
        text = re.sub(r"\$([0-9.]+)", lambda one: f"{float(one[1]) * 100:.0f}", _file(sums))
        return _verdicts(text.replace(" USD", ""))

    assert for_chips([(2000, 0)]) == ["unraked pot of 2000"]
    assert for_chips([(2000, 0), (2000, 0)]) == ["unraked pot of 2000"] * 2  # one pot, twice
    assert for_chips([(2000, 0), (3000, 0), (600, 0)]) == [""] * 3
    assert for_chips([(2000, 0), (3000, 0), (4000, 200)])[0] == "unraked pot of 2000"

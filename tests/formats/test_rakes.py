"""Hands for money of every format are held against the rake of their site, to the cent."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.parameters import Impossible
from engine.verdict import judge
from formats import file_parts, registry
from formats.hand_records import hand_record
from formats.ohh.read import read as read_ohh
from formats.phh.read import read as read_phh
from formats.pokerstars.read import read
from formats.registry import SITES
from formats.source import ImportRules, Refused, SourceFile, SourceHand
from tests.foreign import gamelog
from tests.formats import test_format_ohh, test_format_pacific
from tests.formats.raked_hands import raked_hand

KNOWN, UNDATED = ImportRules(rake="known"), ImportRules(rake="undated")
CHANGED = "https://www.pokerstars.com/poker/learn/news/pokerstars-rake-changes-explained/"


# Hands of PokerStars.


def _hands(source: SourceFile) -> list[SourceHand]:
    hands = list(source.hands)
    assert all(isinstance(hand, SourceHand) for hand in hands), hands
    return [hand for hand in hands if isinstance(hand, SourceHand)]


def _verdict(hand: SourceHand) -> str:
    return judge(hand.game, hand_record(hand, "h/1")).verdict


def _one(text: str, rules: ImportRules = KNOWN) -> tuple[str, str, tuple[str, ...]]:
    """The verdict of a hand, what it assumes, and what its report notes."""
    (hand,) = _hands(read(text, rules=rules))
    assert len(hand.assumed) <= 1
    return _verdict(hand), "".join(hand.assumed), hand.inferred


FITS: Sequence[tuple[dict[str, Any], int, int]] = [
    ({}, 1000, 50),
    ({}, 1010, 50),  # 50.5 cents: half to even
    ({}, 1030, 52),  # 51.5
    ({}, 4000, 100),
    ({"day": "2024/04/01 12:00:00 ET"}, 1000, 45),
    ({"day": "2024/04/01 12:00:00 ET"}, 4000, 50),
    ({"day": "2024/04/01 12:00:00 ET", "players": 3}, 4005, 100),
    ({"day": "2024/04/01 12:00:00 ET", "players": 6}, 4005, 150),
    ({"kind": "Zoom ", "day": "2024/04/03 12:00:00 ET"}, 1000, 45),
    ({"stakes": "$0.02/$0.05 USD", "day": "2019/01/02 12:00:00 ET"}, 1000, 42),  # 41.5
    ({"stakes": "$0.50/$1.00 USD", "day": "2020/06/01 12:00:00 ET", "players": 5}, 6050, 250),
    ({"flop": False}, 20, 0),
]


@pytest.mark.parametrize(("how", "pot", "rake"), FITS, ids=str)
def test_a_hand_is_held_against_the_row_of_its_day_stakes_and_players(
    how: dict[str, Any], pot: int, rake: int
) -> None:
    """To the cent, either way; and one that pays what the row does not take differs as well."""
    verdict, assumed, noted = _one(raked_hand(pot, rake, **how))
    assert verdict == ("assuming" if rake else "agree")
    assert assumed.startswith("rake ")
    assert ", as PokerStars takes of no-limit $" in assumed
    assert noted == ()
    for wrong in {rake + 1, max(0, rake - 1), 0} - {rake}:
        verdict, held, _ = _one(raked_hand(pot, wrong, **how))
        assert (verdict, held) == ("differ", assumed), wrong


UNKNOWN = [
    ({"day": "2014/04/02 12:00:00 ET"}, "; not 2014-04-02", "$0.05/$0.10"),
    ({"stakes": "$0.04/$0.09 USD"}, "; not $0.04/$0.09", "$0.04/$0.09"),
    ({"kind": "Zoom ", "day": "2025/01/01 12:00:00 ET"}, "; not 2025-01-01", "$0.05/$0.10"),
    ({"day": ""}, "; not a hand that names no day", "$0.05/$0.10"),
]


@pytest.mark.parametrize(("how", "why", "stakes"), UNKNOWN, ids=lambda it: str(it))
def test_a_hand_that_no_row_is_of_is_unknown_and_never_fitted(
    how: dict[str, Any], why: str, stakes: str
) -> None:
    """Even at a usual rate, and in a file of many such hands, which would fit one another."""
    many = "".join(raked_hand(pot, pot // 20, **how) for pot in (400, 520, 1000, 2000))
    noted = (f"no known rake of PokerStars, USD, no-limit, {stakes}",)
    for hand in _hands(read(many, rules=KNOWN)):
        (assumed,) = hand.assumed
        assert assumed.startswith("shortfall ")
        assert assumed.endswith(why)
        assert (_verdict(hand), hand.inferred) == ("unknown", noted)
    assert {_verdict(hand) for hand in _hands(read(many))} == {"assuming"}
    verdict, assumed, told = _one(raked_hand(1000, 0, **how))
    assert (verdict, told) == ("assuming", noted)
    assert assumed.startswith("unraked pot of 1000: the table of rakes has of PokerStars, USD,")
    if how.get("stakes") is None:
        assert _one(raked_hand(20, 0, flop=False, **how)) == ("agree", "", ())


def test_hands_for_other_money_or_chips_and_tournaments_have_no_row() -> None:
    chips = raked_hand(10000, 500, stakes="5/10").replace("$", "")
    verdict, assumed, noted = _one(chips)
    assert verdict == "unknown"
    assert assumed.endswith("the table of rakes has of PokerStars: USD; not chips")
    assert noted == ("no known rake of PokerStars, chips, no-limit, 5/10",)
    canadian = _one(raked_hand(1000, 50, stakes="$0.05/$0.10 CAD"))
    assert canadian[1].endswith("the table of rakes has of PokerStars: USD; not CAD")
    home = raked_hand(1000, 50).replace("PokerStars Hand", "PokerStars Home Game Hand")
    assert _one(home)[1].endswith("; not PokerStars Home Game")
    paid = raked_hand(10000, 0, stakes="5/10").replace("$", "")
    title = "Tournament #7, $1+$0.10 USD Hold'em No Limit - Level I (5/10)"
    assert _one(paid.replace("Hold'em No Limit (5/10)", title)) == ("agree", "", ())


def test_a_part_of_a_file_is_held_against_the_table_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_parts, "PART_HANDS", 2)
    path = tmp_path / "hands.txt"
    path.write_text("".join(raked_hand(pot, pot // 20) for pot in range(400, 1400, 100)))
    stars = registry.FORMATS["pokerstars"]
    parts = file_parts.split_file(path, "pokerstars", KNOWN)
    assert len(parts) == 5
    whole = [hand.assumed for hand in _hands(registry.read(path, stars, KNOWN))]
    split = [
        hand.assumed for part in parts for hand in _hands(registry.read(path, stars, KNOWN, part))
    ]
    assert split == whole
    assert all(CHANGED in assumed for (assumed,) in whole)


# Other formats.


def test_open_hand_history_is_held_against_the_site_that_it_names() -> None:
    (hand,) = _hands(read_ohh(test_format_ohh.CASH, rules=KNOWN))
    assert "".join(hand.assumed).endswith("; not Made Up")
    assert _verdict(hand) == "unknown"
    (hand,) = _hands(read_ohh(test_format_ohh.CASH.replace("Made Up", "x" * 5_000), rules=KNOWN))
    assert "".join(hand.assumed).endswith(f"; not {'x' * 40}"), "a name is cut"
    stars = test_format_ohh.CASH.replace("Made Up", "PokerStars")
    (hand,) = _hands(read_ohh(stars, rules=KNOWN))
    assert "".join(hand.assumed).startswith("rake 5 % up to 100, as PokerStars takes of no-limit")
    assert _verdict(hand) == "differ", "three players, a cap of a dollar, 1.98 taken"
    capped = stars.replace('"rake": 1.98', '"rake": 1.0').replace("37.52", "38.50")
    (hand,) = _hands(read_ohh(capped, rules=KNOWN))
    assert _verdict(hand) == "assuming"
    jackpot = stars.replace('"rake": 1.98, "jackpot": 0', '"rake": 1.00, "jackpot": 0.98')
    (hand,) = _hands(read_ohh(jackpot, rules=KNOWN))
    assert _verdict(hand) == "unknown"
    assert "fees beside the rake" in "".join(hand.assumed)
    assert hand.inferred[-1].startswith("no known rake: fees beside the rake")


def test_888poker_is_held_against_its_undated_page() -> None:
    pacific = next(site for site in SITES if site.name == "pacific")
    (hand,) = _hands(pacific.read(test_format_pacific.CASH, KNOWN))
    assert _verdict(hand) == "unknown"
    (hand,) = _hands(pacific.read(test_format_pacific.CASH, UNDATED))
    assert "".join(hand.assumed).startswith("rake 5 % up to 400, as 888poker takes of no-limit")
    assert _verdict(hand) == "assuming"
    elsewhere = test_format_pacific.CASH.replace("888poker Hand", "WSOP.com Hand")
    (hand,) = _hands(pacific.read(elsewhere, UNDATED))
    assert "".join(hand.assumed).endswith("; not WSOP.com")


PHH = """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [0.50, 1.00]
min_bet = 1.00
starting_stacks = [100.00, 100.00]
actions = ["d dh p1 AhKd", "d dh p2 ????", "p2 cbr 3.05", "p1 cc", "d db 2c7dJh",
  "p1 cc", "p2 cbr 5", "p1 f"]
finishing_stacks = [96.95, 102.75]
venue = "PokerStars"
currency = "USD"
year = 2019
month = 3
day = 2
"""


def test_phh_is_held_against_the_venue_that_it_names() -> None:
    """A pot of 6.10, and 5 % of it; 30.5 cents are 30."""
    (hand,) = _hands(read_phh(PHH, rakes="known"))
    (assumed,) = hand.assumed
    assert assumed.startswith("rake 5 % up to 100, as PokerStars takes of no-limit $0.50/$1, as of")
    assert (_verdict(hand), hand.rake) == ("assuming", 30)
    (hand,) = _hands(read_phh(PHH.replace("102.75", "102.74"), rakes="known"))
    assert _verdict(hand) == "differ"
    for other, why in ((PHH.replace("PokerStars", "Rook"), "not Rook"), (PHH[:-9], "names no day")):
        (hand,) = _hands(read_phh(other, rakes="known"))
        assert "".join(hand.assumed).endswith(why)
        assert _verdict(hand) == "unknown"
    (hand,) = _hands(read_phh(PHH))
    assert hand.assumed == ("shortfall 30 is the house's",)


STRADDLED = """\
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [0.50, 1.00, 2.00]
min_bet = 1.00
starting_stacks = [100.00, 100.00, 100.00]
actions = ["d dh p1 ????", "d dh p2 ????", "d dh p3 AhKd", "p1 f", "p2 cc", "p3 cc",
  "d db 2c7dJh", "p2 cc", "p3 cbr 5", "p2 f"]
finishing_stacks = [99.50, 98.00, 102.28]
venue = "PokerStars"
currency_symbol = "$"
year = 2019
month = 3
day = 2
"""


def test_a_straddle_is_no_stake() -> None:
    """4.50 in the pot; half of 45 cents is 22 to the even cent."""
    (hand,) = _hands(read_phh(STRADDLED, rakes="known"))
    assert "".join(hand.assumed).startswith(
        "rake 5 % up to 100, as PokerStars takes of no-limit $0.50/$1,"
    )
    assert (_verdict(hand), hand.rake) == ("assuming", 22)


def test_formats_that_name_no_site_and_other_rules_beside_it_are_refused(tmp_path: Path) -> None:
    path = gamelog(tmp_path / "gamelog.txt")
    with pytest.raises(
        Refused, match="MIT gamelog: no hand of it names its site; leave out --rake known"
    ):
        registry.read(path, registry.format_of(path), KNOWN)
    with pytest.raises(Impossible, match="known rakes are those of each hand's site"):
        ImportRules(settings=(("rake_percent", "5"),), rake="known")

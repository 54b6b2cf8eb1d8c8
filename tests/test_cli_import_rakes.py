"""`muckrake import --rake`: hands for money held against the table of known sites."""

import json
from pathlib import Path

import pytest

from tests.foreign import gamelog
from tests.formats.raked_hands import raked_hand
from tests.sessions import Captured, printed, said

SOURCE = "https://www.pokerstars.com/poker/learn/news/pokerstars-rake-changes-explained/"
HELD = (
    f"rake 5 % up to 100, as PokerStars takes of no-limit $0.05/$0.10, as of 2024-04-02: {SOURCE}"
)


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


def test_a_file_is_held_against_the_table_and_judged_so_again(
    capsys: Captured, tmp_path: Path
) -> None:
    """One that fits, one a cent off, and one of a year of which the table has nothing."""
    path = tmp_path / "hands.txt"
    early = raked_hand(2000, 100, day="2014/05/01 12:00:00 ET")
    path.write_text(raked_hand(1000, 50) + raked_hand(1400, 69) + early)
    document = printed(capsys, "import", str(path), "--rake", "known", "--json", code=3)
    (one,) = json.loads(document)["files"]
    assert (1, 1, 1, 0) == tuple(one[it] for it in ("assuming", "differ", "unknown", "agree"))
    assert ["no known rake of PokerStars, USD, no-limit, $0.05/$0.10"] == one["inferred"]
    hands = json.loads(printed(capsys, "audit", "--all", "--json", code=3))["hands"]
    verdicts = {hand["verdict"]: hand["assumed"] for hand in hands}
    assert {"assuming", "differ", "unknown"} == set(verdicts)
    assert [HELD] == verdicts["assuming"] == verdicts["differ"]
    (why,) = verdicts["unknown"]
    assert why.startswith("shortfall 100 of 2000: the table of rakes has of PokerStars, USD,")
    assert why.endswith("2017-03-22 to 2024-04-01, 2024-04-02 and later; not 2014-05-01")


def test_a_rake_in_steps_is_judged_from_the_ledger(capsys: Captured, tmp_path: Path) -> None:
    """A GGPoker hand by an undated page: five cents of every dollar; without it unknown."""
    text = raked_hand(1990, 95, stakes="$0.25/$0.50").replace("PokerStars Hand #", "Poker Hand #HD")
    for rake, verdict in (("undated", "assuming"), ("known", "unknown")):
        path = tmp_path / f"{rake}.txt"
        path.write_text(text.replace("#HD", "#HD7" if rake == "known" else "#HD"))
        (one,) = json.loads(printed(capsys, "import", str(path), "--rake", rake, "--json"))["files"]
        assert 1 == one[verdict], one
        hand = f"{one['match']}/1"
        (told,) = json.loads(printed(capsys, "audit", hand, "--json"))["hands"]
        assert verdict == told["verdict"]
        steps = "5 of every 100 up to 100, as GGPoker takes of no-limit $0.25/$0.50, undated, seen"
        assert (steps in told["assumed"][0]) == (rake == "undated")


def test_without_it_the_file_is_fitted_as_before(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    path.write_text("".join(raked_hand(pot, pot // 20) for pot in (400, 600, 1000, 4000)))
    (one,) = json.loads(printed(capsys, "import", str(path), "--json"))["files"]
    assert (4, []) == (one["assuming"], one["inferred"])
    found = printed(capsys, "audit", "--all", "--json")
    assert {"rake 5 %"} == {it for one in json.loads(found)["hands"] for it in one["assumed"]}


def test_other_rules_beside_it_and_files_of_no_site_are_refused(
    capsys: Captured, tmp_path: Path
) -> None:
    path = tmp_path / "hands.txt"
    path.write_text(raked_hand(1000, 50))
    words = ("import", str(path), "--rake", "known")
    for other in (("--set", "rake_percent=5"), ("--game", "pokerstars-nl")):
        sentence = said(capsys, 2, *words, *other)
        assert "known rakes are those of each hand's site: set no other rules" in sentence
    log = gamelog(tmp_path / "gamelog.txt")
    told = printed(capsys, "import", str(log), "--rake", "known", code=1)
    assert "MIT gamelog: no hand of it names its site; leave out --rake known" in told

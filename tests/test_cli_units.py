"""Money of several units in one ledger: SQL tells each amount's unit, and sums do not mix them."""

from pathlib import Path

from tests.foreign import gamelog
from tests.sessions import Captured, printed

SUMS = (
    "SELECT player, unit, sum(net) AS net FROM players JOIN hands USING (hand)"
    " JOIN rulesets USING (ruleset) GROUP BY ALL ORDER BY ALL"
)
HALF = """\
# name/game/hands/seed holdem.nolimit.2p.reverse_blinds 1
STATE:0:cr200c/cc/cc/cc:AsKd|2c7d/3h4h9s/Ac/Jc:-200|200:random-0|random-1
"""


def _told(capsys: Captured, ledger: Path, *words: str) -> list[list[str]]:
    lines = printed(capsys, "sql", *words, "--ledger", str(ledger)).splitlines()
    return [line.split("\t") for line in lines[1:]]


def test_sums_are_grouped_by_the_unit_of_the_hands(capsys: Captured, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    log = gamelog(tmp_path / "gamelog.txt")
    (tmp_path / "acpc.log").write_text(HALF)
    printed(capsys, "import", str(log), "--ledger", str(ledger))
    alone = {player: int(net) for player, _, net in _told(capsys, ledger, SUMS)}
    printed(capsys, "import", str(tmp_path / "acpc.log"), "--ledger", str(ledger), code=3)
    both = {(player, unit): int(net) for player, unit, net in _told(capsys, ledger, SUMS)}
    assert both == {
        ("random-0", "chip"): alone["random-0"],
        ("random-0", "half chip"): -400,
        ("random-1", "chip"): alone["random-1"],
        ("random-1", "half chip"): 400,
    }


def test_every_viewpoint_may_ask_for_the_rulesets(capsys: Captured, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    printed(capsys, "import", str(gamelog(tmp_path / "gamelog.txt")), "--ledger", str(ledger))
    asked = "SELECT game, unit, document FROM rulesets"
    for view in ("auditor", "public", "seat:random-0"):
        (row,) = _told(capsys, ledger, asked, "--as", view)
        assert row == ["auction-2024-mit", "chip", "the Pokerbots engine of 2024"]

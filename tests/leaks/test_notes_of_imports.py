"""What an import keeps beside its hands tells nothing of another match, which may be sealed."""

from pathlib import Path

from bench.import_texts import pokerstars_files
from tests.sessions import Captured, printed
from tests.test_cli_import import told

HOLE = "*** HOLE CARDS ***\n"
NOTE = "SELECT header, footer FROM events WHERE dialect = 'repeated'"


def test_an_open_file_tells_nothing_of_the_sealed_hand_that_it_contradicts(
    capsys: Captured, tmp_path: Path
) -> None:
    """Its own words are open with it: what is in the ledger is another match's."""
    folder = pokerstars_files(tmp_path / "stars", 1)
    (text,) = (one.read_text("utf-8") for one in folder.iterdir())
    ledger = ("--ledger", str(tmp_path / "ledger"))
    for name, card in (("sealed", "2d"), ("open", "2h")):
        said = text.replace(HOLE, f"{HOLE}Dealt to dan [2c {card}]\n", 1)
        (tmp_path / name).write_text(said, "utf-8")
    told(capsys, tmp_path / "sealed", *ledger)
    (one,) = told(capsys, tmp_path / "open", "--disclosure", "open", *ledger, code=3)
    assert "2c 2d" in one["conflicts"][0]["differs"]
    seen = printed(capsys, "sql", NOTE, "--as", "public", *ledger)
    assert "says otherwise" in seen
    assert "2c 2h" in seen
    assert "2c 2d" not in seen

"""On a terminal of 80 columns no table breaks a word or leaves anything out."""

import io
import re
import sys
from pathlib import Path

import pytest

from api.main import main
from api.questions.declared.gate import UNDECIDED_CODE
from docs.option_tables import every_option
from tests.profiles import sized

COMMANDS = (
    ("hands", "--match", "scrim", "--limit", "2"),
    ("audit", "--all"),
    ("sql", "SELECT player, unit, sum(net) FROM players GROUP BY ALL"),
    ("sql", "SELECT * FROM hands LIMIT 2"),
    ("matches",),
    ("games",),
    ("players",),
    ("stats", "random-0"),
    ("stats", "--by", "position", "--street", "preflop"),
    ("hud", "scrim"),
    ("compare", "random-0", "random-1"),
    ("gate", "random-0", "random-1"),
    ("leagues",),
    ("bids", "--spots", "3"),
    ("swaps", "--spots", "3"),
    ("counters",),
    ("fairness",),
    ("grid", "random-0"),
    ("history", "random-0"),
    ("opponent", "random-0"),
    ("player", "random-0"),
    ("ratings",),
    ("results", "random-0", "--spots", "3"),
    ("winnings", "random-0"),
    ("hands", "--facets"),
    ("key", "list"),
)
NO_TABLE = {  # commands that draw none, and what they print instead
    **dict.fromkeys(("demo", "play", "match", "import"), "lines, as wide as their names and files"),
    **dict.fromkeys(("league run", "league add"), "it plays: tests/test_cli_league.py looks at 80"),
    **dict.fromkeys(
        ("standing", "pairing"), "of a league: tests/analytics/test_leagues.py has one"
    ),
    **dict.fromkeys(("replay", "get", "export", "completion", "man"), "a text as it is"),
    **dict.fromkeys(("verify", "doctor"), "a fact a line, with digests and folders"),
    **dict.fromkeys(("init", "key create", "key replace", "key revoke"), "a key"),
    **dict.fromkeys(("serve", "witness"), "an address"),
    **dict.fromkeys(("publish", "monitor", "restored"), "a sentence"),
    **dict.fromkeys(("push", "pull", "compact"), "a sentence"),
}
FOLDED = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.TextIOWrapper):
    """What a command writes to somebody who looks."""

    def isatty(self) -> bool:
        return True


def written(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    stream = (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert main(list(words)) in ((0,) if words[0] != "gate" else (0, 1, UNDECIDED_CODE))
        stream.flush()
    return FOLDED.sub("", stream.buffer.getvalue().decode())  # type: ignore[attr-defined]


def test_every_command_is_asked_or_draws_no_table() -> None:
    known = {command for command, _ in every_option()}
    asked = {
        name
        for name in known
        for words in COMMANDS
        if words[: name.count(" ") + 1] == tuple(name.split())
    }
    assert set() == asked & NO_TABLE.keys()
    assert known == asked | NO_TABLE.keys()


@pytest.mark.parametrize("words", COMMANDS[:: sized(2, 1)], ids=" ".join)
def test_a_table_fits_and_no_word_is_broken(
    words: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    drawn = written(words, monkeypatch, terminal=True)
    assert [] == [line for line in drawn.splitlines() if len(line.rstrip()) > 80]
    piped = {word for word in written(words, monkeypatch, terminal=False).split() if len(word) < 60}
    assert piped
    assert set() == piped - set(drawn.split())

"""Each command answers `--json` with one document; docs/cli.md tells all of its members."""

import json
import re
import shutil
from pathlib import Path

import pytest

from api.main import main
from api.questions.declared.gate import UNDECIDED_CODE
from docs.option_tables import every_option, flag

Captured = pytest.CaptureFixture[str]
BOTS = str(Path(__file__).parents[1] / "dealer/examples")
NOT_ASKED = {  # commands that are not asked here, and why
    "serve": "it goes on serving: tests/serving/ starts it, and reads where",
    "witness": "it goes on serving: tests/trust/test_witnesses_asked.py starts it",
    "publish": "it asks witnesses that run: tests/trust/test_witnesses_asked.py has some",
    "monitor": "it reads a log that somebody serves: tests/trust/test_monitor.py serves one",
}
PLAIN = {"get": "the document is the route's, and docs/openapi.json describes it"}
ASKED = {
    "demo": ("--hands", "1"),
    "games": ("auction-2024",),
    "init": ("--ledger", "{new}"),
    "play": ("site-nl", "--hands", "1", "--match", "new"),
    "match": (f"{BOTS}/steady", f"{BOTS}/gruff", "--hands", "2", "--match", "bots"),
    "hud": ("scrim",),
    "league run": ("{league}",),
    "league add": ("{league}", f"{BOTS}/gruff", "--name", "third"),
    "import": ("{log}",),
    "replay": ("scrim/1",),
    "export": ("scrim", "--format", "csv", "--out", "{out}"),
    "verify": ("--all",),
    "audit": ("scrim/1",),
    "sql": ("SELECT 1",),
    "key create": ("--scope", "hands:read"),
    "key list": (),
    "key replace": (),
    "key revoke": ("{id}",),
    "get": ("matches",),
    "restored": (),
    "push": ("{archive}",),
    "pull": ("{archive}", "--ledger", "{new}"),
    "compact": (),
    "completion": ("bash",),
    "man": (),
    "doctor": (),
    "bids": ("--spots", "3"),
    "compare": ("random-0", "random-1"),
    "counters": (),
    "fairness": (),
    "gate": ("random-0", "random-1"),
    "grid": ("random-0",),
    "history": ("random-0",),
    "hands": (),
    "leagues": (),
    "matches": (),
    "opponent": ("random-0", "--match", "scrim"),
    "pairing": ("cup", "random-0", "random-1"),
    "player": ("random-0",),
    "players": (),
    "ratings": (),
    "results": ("--spots", "3"),
    "standing": ("cup",),
    "stats": (),
    "swaps": ("--spots", "3"),
    "winnings": ("random-0",),
}
TOLD = (Path(__file__).parents[1] / "docs/cli.md").read_text()


def test_every_command_is_asked_or_it_is_said_why_not() -> None:
    commands = {command for command, _ in every_option()}
    assert commands == {command for command, one in every_option() if flag(one) == "--json"}
    assert set() == ASKED.keys() & NOT_ASKED.keys()
    assert commands == ASKED.keys() | NOT_ASKED.keys()


# Where programs play, tests of those commands read what they need of the document before.
BY_BOTS = ("demo", "match", "league run", "league add")


@pytest.mark.parametrize(
    "command", [pytest.param(it, marks=pytest.mark.ci) if it in BY_BOTS else it for it in ASKED]
)
def test_a_document_has_the_commands_schema_and_members_that_are_told(
    command: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own"
    shutil.copytree(folder, own)
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(own))
    words = [*command.split(), *_prepared(command, tmp_path, capsys), "--json"]
    code = main(words)
    # 7: nothing but the ledger says whose key it is
    assert code in ((0, 7) if command != "gate" else (0, 1, UNDECIDED_CODE))
    document = json.loads(capsys.readouterr().out)
    if command in PLAIN:
        return
    schema = document.pop("schema")
    assert schema == f"muckrake.{command.replace(' ', '-')}/1"
    assert set() == document.keys() - members(schema)


def members(schema: str) -> set[str]:
    """The members that docs/cli.md tells of a document, or of another that it is like."""
    rows = [line for line in TOLD.splitlines() if line.startswith(f"| `{schema}`")]
    assert rows, f"docs/cli.md has no row for {schema}"
    told = set(re.findall(r"`(\w+)`", " ".join(rows)))
    return told.union(*(members(other) for other in re.findall(r"as `(muckrake[^`]+)`", rows[0])))


@pytest.mark.parametrize("command", NOT_ASKED)
def test_a_document_that_is_not_asked_for_here_has_a_row_too(command: str) -> None:
    assert members(f"muckrake.{command}/1")


def _prepared(command: str, room: Path, capsys: Captured) -> list[str]:
    """The words behind a command, and what must be there before."""
    made = {name: str(room / name) for name in ("new", "out", "archive", "log", "league")}
    words = ASKED[command]
    if "{id}" in words:
        assert main(["key", "create", "--scope", "hands:read", "--json"]) == 0
        made["id"] = json.loads(capsys.readouterr().out)["id"]
    if "{league}" in words:
        bots = f'[bots]\nfirst = "{BOTS}/steady"\nsecond = "{BOTS}/gruff"\n'
        Path(made["league"]).write_text(f'league = "l"\nhands = 2\n{bots}')
    if "cup" in words:
        cup = ("auction-2024", "--hands", "2", "--match", "cup.1.random-0.random-1")
        assert main(["play", *cup]) == 0
    if "{archive}" in words:
        assert main(["compact"]) == 0
    if command == "pull":
        assert main(["push", made["archive"]]) == 0
    if "{log}" in words:
        assert (
            main(["play", "site-nl", "--hands", "1", "--match", "phh", "--ledger", made["new"]])
            == 0
        )
        made["log"] += ".phhs"
        kept = ("--out", made["log"], "--ledger", made["new"])
        assert main(["export", "phh", "--format", "phh", *kept]) == 0
    capsys.readouterr()
    return [word.format(**made) for word in words]

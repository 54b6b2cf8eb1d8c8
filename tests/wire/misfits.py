"""Bots for tests, good and bad, each a few lines that run in a process of their own."""

import json
import sys
from pathlib import Path

from dealer.deck import SeededDecks
from dealer.wire.match import play, running_bots
from dealer.wire.player import WirePlayer
from dealer.wire.program import BotProgram, Limits, read_program
from dealer.wire.protocol import WirePlan, wire_plan
from dealer.wire.sandbox import Isolation
from engine.games import GAMES
from events.types import Events

SHORT = Limits(clock=9.0, reply=1.0, build=1.0, connect=3.0, quit=0.4, log_bytes=1_000)
OPEN = Isolation(())  # nothing is hidden from these bots

# Calls everything, bids 3, checks otherwise; what makes a bot odd stands between these two parts.
_HEAD = """\
import atexit, os, socket, subprocess, sys, time

def polite(line):
    last = line.split()[-1]
    if " H" in line:
        polite.bids = True
    if " N" in line:
        polite.bids = False
    if last[0] == "R" or (last[0] == "H" and " P0 " in line):
        return "C"
    return "A3" if last[0] in "BA" and polite.bids else "K"

def odd(line):
    return polite(line)
"""
_TAIL = """
link = socket.create_connection(("127.0.0.1", int(sys.argv[-1])))
lines = link.makefile("rw", encoding="latin-1", newline="\\n")
for number, line in enumerate(lines):
    if line == "Q\\n":
        break
    lines.write((polite(line) if number < 3 else odd(line)) + "\\n")
    lines.flush()
"""

# What each does from its fourth reply on, or at once.
MISFITS = {
    "crash": "def odd(line): raise ValueError('out of ideas')",
    "hang": "def odd(line): time.sleep(60)",
    "flood": "def odd(line):\n while True: os.write(link.fileno(), b'x' * 65536)",
    "lines": "def odd(line): return (polite(line) + '\\n') * 9999 + 'K'",
    "trickle": "def odd(line):\n while True: os.write(link.fileno(), b'K'); time.sleep(0.02)",
    "lie": (
        "LIES = ['R1_0', '', 'A-3', 'k', 'F', 'R', '\\xff\\xfe', 'Rabc', 'A 9', 'C']\n"
        "def odd(line): LIES.append(LIES.pop(0)); return LIES[-1]"
    ),
    "close": "def odd(line): link.shutdown(2); time.sleep(60)",
    "print": "def odd(line): os.write(1, b'noise\\n' * 99999); return polite(line)",
    "stay": "atexit.register(time.sleep, 60)",
    "mute": "time.sleep(60)",
    "exit": "sys.exit('no ideas at all')",
    "breed": (
        "for alone in (False, True):\n"
        " subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=alone)"
    ),
}


def bot(folder: Path, name: str, odd: str = "", build: list[str] | None = None) -> BotProgram:
    """A bot in a folder of this name; `odd` is what it does differently."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "bot.py").write_text(_HEAD + odd + _TAIL)
    commands = {"build": build or [], "run": [sys.executable, "-I", "bot.py"]}
    (home / "commands.json").write_text(json.dumps(commands))
    return read_program(home, name)


def matched(
    programs: tuple[BotProgram, BotProgram],
    hands: int = 6,
    limits: Limits = SHORT,
    game: str = "auction-2024-mit",
    *,
    open_bids: bool = False,
    guard: Isolation = OPEN,
) -> tuple[WirePlan, list[Events], tuple[WirePlayer, WirePlayer], list[str]]:
    """A whole match: its plan, its records, its players, and what was said about them."""
    names = (programs[0].name, programs[1].name)
    match = wire_plan(GAMES[game], "m", names, hands, open_bids=open_bids)
    said: list[str] = []

    def tell(sentence: str) -> None:
        if "not kept apart" not in sentence:
            said.append(sentence)

    with running_bots(programs, limits, guard, tell) as players:
        played = play(match, match.legs[0], SeededDecks("7"), players)
        records = [hand.record for hand in played]
    return match, records, players, said


def left_behind(folder: Path) -> list[int]:
    """The processes that were started in this folder and still run; who was killed has no words."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve().is_relative_to(folder):
                found += [int(entry.name)] if (entry / "cmdline").read_bytes() else []
        except OSError:
            continue
    return found

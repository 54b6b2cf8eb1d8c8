"""Bots that take more than they may of the machine are ended, and the report says of what."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.wire.sandbox import Isolation, SandboxKind
from tests.profiles import in_turn
from tests.wire.misfits import SHORT, bot, left_behind, matched

MB = 1 << 20
TIGHT = replace(
    SHORT,
    reply=25.0,
    clock=60.0,
    processes=20,
    open_files=64,
    memory_bytes=200 * MB,
    written_bytes=20 * MB,
    output_bytes=4 * MB,
)

MANY_FILES = """\
def odd(line):
    for name in range(40): open(f'{name}', 'wb').write(bytes(1 << 20))
    time.sleep(60)
"""
FAR_DOWN = """\
def odd(line):
    for _ in range(30): os.mkdir('x' * 200); os.chdir('x' * 200)
    time.sleep(60)
"""
# What each does from its fourth reply on, and what is said of it.
GREEDY = {
    "fork": (
        "def odd(line):\n for _ in range(60):\n  if not os.fork(): time.sleep(60)\n time.sleep(60)",
        "it was ended: it had more than 20 processes at once",
    ),
    "memory": (
        "def odd(line): odd.much = bytearray(b'x') * (400 << 20); time.sleep(60)",
        "it was ended: it used more than 200 MB of memory",
    ),
    "files": (
        MANY_FILES,
        "it was ended: it wrote more than 20 MB into its folder",
    ),
    "hidden files": (
        FAR_DOWN,
        "it was ended: it wrote more than 20 MB into its folder",
    ),
    "output": (
        "def odd(line):\n while True: os.write(1, b'x' * 65536)",
        "it printed more than 4 MB: no more is read",
    ),
}
# What each gets an error for, and does not survive.
REFUSED = {
    "one file": "open('big', 'wb').write(bytes(40 << 20))",
    "descriptors": "for _ in range(99): os.dup(0)",
}

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what bots take")
APART = (None, ("none",))  # by what keeps bots apart here, and by nothing


@only_linux
@pytest.mark.parametrize(("greed", "means"), in_turn(GREEDY, APART))
def test_a_greedy_bot_is_ended_and_the_other_plays_on(
    greed: str, means: tuple[SandboxKind, ...] | None, tmp_path: Path
) -> None:
    odd, why = GREEDY[greed]
    pair = (bot(tmp_path, "greedy", odd), bot(tmp_path, "good"))
    _, records, (greedy, good), _ = matched(pair, 4, TIGHT, guard=Isolation((), means))
    assert len(records) == 4
    assert why in greedy.notes
    assert greedy.silenced_because == "its connection broke"
    assert (good.silenced_because, good.exit, good.notes) == (None, 0, [])
    assert left_behind(tmp_path) == []


@only_linux
@pytest.mark.parametrize(("greed", "means"), in_turn(REFUSED, APART))
def test_what_a_bot_may_not_have_it_does_not_get(
    greed: str, means: tuple[SandboxKind, ...] | None, tmp_path: Path
) -> None:
    odd = f"def odd(line):\n {REFUSED[greed]}\n return polite(line)"
    pair = (bot(tmp_path, "greedy", odd), bot(tmp_path, "good"))
    _, records, (greedy, good), _ = matched(pair, 4, TIGHT, guard=Isolation((), means))
    assert len(records) == 4
    assert greedy.output.last_lines[-1].startswith("OSError: [Errno ")
    assert (greedy.exit, good.exit) == (1, 0)


@pytest.mark.ci
@only_linux
def test_a_build_that_takes_too_much_is_ended_too(tmp_path: Path) -> None:
    much = "import time; much = bytearray(b'x') * (400 << 20); time.sleep(60)"
    builder = bot(tmp_path, "builder", build=[sys.executable, "-c", much])
    limits = replace(TIGHT, build=20.0)
    _, _, (_, one), said = matched((bot(tmp_path, "good"), builder), 1, limits)
    assert said == ["builder: its build was ended: it used more than 200 MB of memory"]
    assert (one.silenced_because, one.exit) == (None, 0)

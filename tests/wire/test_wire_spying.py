"""A bot sees neither ledger nor secrets nor its rival, by each means that this system has."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.playing.wire_match import BotMatch, as_text
from dealer.deck import SeededDecks
from dealer.wire.match import MatchJob
from dealer.wire.program import BotProgram, read_program, visible_paths
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation, SandboxKind
from engine.game import fingerprint, to_json
from engine.games import GAMES
from store.ledger import open_ledger
from store.proof.ledger_secrets import SecretFolder
from store.tables.projection import STANDARD
from tests.profiles import sized
from tests.wire.misfits import SHORT, bot, matched
from tests.wire.spying import SPY, WORD

WAIT = "import time; time.sleep(60)"
SEED = f"{WORD}-seed"
EITHER = (True, False)
SEATS = [("user+namespaces", True), ("namespaces", False), ("user", True)]  # is it the first?
PATIENT = replace(SHORT, clock=60.0, connect=50.0, reply=30.0, log_bytes=1 << 20)

only_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can start another user's bots"
)
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these means")


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every user may look into; and secrets in the environment of the match.

    Not where all tests at once keep their files: nothing below /dev is ever shown to a bot.
    """
    folder = Path(tempfile.mkdtemp(prefix="public-", dir="/var/tmp"))
    folder.chmod(0o755)
    monkeypatch.setenv("MUCKRAKE_TEST_SECRET", f"{WORD}-environment")
    yield folder
    shutil.rmtree(folder)


def _spy(folder: Path, rival: Path) -> BotProgram:
    found = bot(folder, "spy")
    source = (found.folder / "bot.py").read_text()
    (found.folder / "bot.py").write_text(f"{SPY}\nspy({str(rival)!r})\n{source}")
    return found


def _rival(folder: Path) -> BotProgram:
    found = bot(folder, "rival")
    (found.folder / "bot.py").rename(found.folder / "rival.py")
    commands = (found.folder / "commands.json").read_text().replace("bot.py", "rival.py")
    (found.folder / "commands.json").write_text(commands)
    return read_program(found.folder, "rival")


def _spied(
    folder: Path, means: tuple[SandboxKind, ...], said: list[str], *, first: bool = False
) -> BotMatch:
    """A match on record, of a spy and its rival, beside a ledger that holds what it looks for."""
    home = folder / f"{WORD}-ledger"
    home.mkdir(mode=0o700)
    (home / f"{WORD}-file").write_text(f"{WORD}-key")
    rival = _rival(folder)
    rival.folder.chmod(0o700)
    spy = _spy(folder, rival.folder)
    bots = (spy, rival) if first else (rival, spy)
    match = wire_plan(GAMES["auction-2024-mit"], "m", (bots[0].name, bots[1].name), 2)
    guard = Isolation((home,), means, SEED)
    meeting = BotMatch(MatchJob(match, bots, PATIENT, SeededDecks(SEED), guard))
    ledger, lock = open_ledger(home, "test", STANDARD)
    handle = os.open(home / f"{WORD}-file", os.O_RDONLY)
    os.set_inheritable(handle, True)
    try:
        ledger.keep_ruleset(fingerprint(match.game), to_json(match.game))
        start = meeting.match_start(None, "sealed", "committed")
        played = meeting.record(ledger, start, said.append, lambda: False, kept=SecretFolder(home))
    finally:
        os.close(handle)
        ledger.close()
        lock.release()
    assert played.hands == 2
    return meeting


def _findings(meeting: BotMatch) -> tuple[list[str], int]:
    """What the spy found, and as which user it looked; it must have come to its end."""
    seat = [part.player for part in meeting.parts()].index("spy")
    log = meeting.log(seat).decode()
    ended = re.search(r"^SPIED (\d+)$", log, re.MULTILINE)
    assert ended, log
    return re.findall(r"^FOUND (.*)$", log, re.MULTILINE), int(ended[1])


@only_linux
@pytest.mark.parametrize(
    ("means", "first"), sized(SEATS, ci=[(means, first) for means, _ in SEATS for first in EITHER])
)
def test_a_spying_bot_finds_nothing(
    means: SandboxKind, first: bool, public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "user" in means and os.geteuid() != 0:
        pytest.skip("only root can start another user's bots")
    if means == "user":  # whose programs everybody may run
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    meeting = _spied(public, (means,), [], first=first)
    kept = {part.kept_apart: part.not_kept_because for part in meeting.parts()}
    if os.geteuid() != 0 and kept[means]:
        pytest.skip(f"this system has no namespaces for us: {kept[means]}")
    assert {means: ()} == kept
    found, user = _findings(meeting)
    assert found == []
    assert (user in (0, os.geteuid())) == (means == "namespaces" and os.geteuid() != 0)
    assert not (public / "rival/gift").exists()


@only_linux
def test_a_bot_that_is_not_kept_apart_finds_a_lot_and_the_report_says_so(public: Path) -> None:
    """The spy is no fool: what it finds nothing of above is there, and its doors are doors."""
    said: list[str] = []
    meeting = _spied(public, ("none",), said)
    found, user = _findings(meeting)
    assert user == os.geteuid()
    doors = {"environment", "descriptor", "file", "trace", "memory", "rival's folder", "signal"}
    assert [] == sorted(door for door in doors if not any(one.startswith(door) for one in found))
    assert "MUCKRAKE_TEST_SECRET" not in meeting.log(1).decode()  # the environment is small always
    assert not any(one.startswith(("own", "inherited", "terminal")) for one in found)
    assert {"none"} == {part.kept_apart for part in meeting.parts()}
    sentence = "not kept apart, and could read what you can, the ledger and its secrets too: "
    assert f"{sentence}rival, spy" in as_text(meeting.parts(), [])
    alone = "it is not kept apart and can read what you can, the ledger too"
    assert [f"{name}: {alone}" for name in ("rival", "spy")] == [
        line.split(" (")[0] for line in said
    ]


@only_linux
def test_a_ledger_within_what_is_shown_is_hidden(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs are installed right beside it, so their folder is shown to bots, and it is not."""
    for name in ("tools/bin", "tools/lib", "tools/ledger"):
        (public / name).mkdir(parents=True)
    (public / "tools/lib/shown").write_text("")
    (public / "tools/ledger/key").write_text(WORD)
    monkeypatch.setenv("PATH", f"{public}/tools/bin{os.pathsep}{os.environ['PATH']}")
    look = f"print(*(os.listdir({str(public)!r} + '/tools/' + name) for name in ('lib', 'ledger')))"
    guard = Isolation((public / "tools/ledger",), _spaces())
    pair = (bot(public, "good"), bot(public, "looker", look))
    _, _, (_, looker), _ = matched(pair, 1, guard=guard)
    assert looker.output.log == b"['shown'] []\n"


def _spaces() -> tuple[SandboxKind, ...]:
    return ("user+namespaces",) if os.geteuid() == 0 else ("namespaces",)


@only_root
@pytest.mark.parametrize(
    ("open_to_all", "seed", "why"),
    [
        (True, None, "user: every user may read {0}: chmod o-rwx {0}"),
        (False, "spoken", "user: every user may read the seed in the command line of "),
        (False, None, "user: {1} would be out of its reach"),
    ],
    ids=["open ledger", "seed on a command line", "programs nobody else may run"],
)
def test_another_user_alone_is_not_enough_where_it_hides_nothing_or_too_much(
    open_to_all: bool, seed: str | None, why: str, public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, tools = public / "ledger", public / "tools"
    home.mkdir(mode=0o755 if open_to_all else 0o700)
    path = "/usr/bin:/bin"
    if not open_to_all and seed is None:
        tools.mkdir(mode=0o700)
        (tools / "python3").symlink_to("/usr/bin/python3")
        path = f"{tools}:{path}"
    monkeypatch.setenv("PATH", path)
    speaker = subprocess.Popen(
        [sys.executable, "-c", WAIT, "--seed", "spoken"] if seed else ["true"]
    )
    try:
        while seed and not Path(f"/proc/{speaker.pid}/cmdline").read_bytes():
            time.sleep(0.01)  # a program that has just begun has no words yet
        guard = Isolation((home,), ("user", "none"), seed)
        _, _, (one, _), _ = matched((bot(public, "a"), bot(public, "b")), 1, guard=guard)
    finally:
        speaker.kill()
        speaker.wait()
    assert one.sandbox.means == "none"
    (reason,) = one.sandbox.reasons
    assert reason.startswith(why.format(home, tools / "python3"))


@only_linux
@pytest.mark.parametrize("means", ["user+namespaces", "namespaces", "none"])
def test_nothing_is_left_of_what_bots_write_and_their_folders_are_as_they_were(
    means: SandboxKind, tmp_path: Path
) -> None:
    litter = (
        "import tempfile\n"
        "for path in ('/tmp', '/var/tmp', '/dev/shm', '.', tempfile.gettempdir()):\n"
        " if 'none' not in NAME or path[0] == '.' or 'muckrake-bots' in path:\n"
        "  open(path + '/spied-upon-' + NAME, 'w').close()\n"
        "deep = os.getcwd()\n"
        "for number in range(300):\n"
        " os.mkdir('deep'); os.chdir('deep')\n"
        "os.chdir(deep); os.mkdir('closed')\n"
        "open('closed/file', 'w').close(); os.chmod('closed', 0)\n"
    )
    if means == "user+namespaces" and os.geteuid() != 0:
        pytest.skip("only root can start another user's bots")
    name = f"{means}-{tmp_path.name}"
    odd = f"NAME = {name!r}\n{litter}"
    pair = (bot(tmp_path, "good"), bot(tmp_path, "litterer", odd))
    before = sorted((tmp_path / "litterer").iterdir())
    _, _, (_, litterer), said = matched(pair, 1, guard=Isolation((), (means,)))
    if means == "namespaces" and litterer.sandbox.reasons:
        pytest.skip(litterer.sandbox.reasons[0])
    assert (litterer.silenced_because, litterer.exit, said) == (None, 0, [])
    assert before == sorted((tmp_path / "litterer").iterdir())
    left = [
        path for top in ("/tmp", "/var/tmp", "/dev/shm") for path in Path(top).glob(f"*{name}*")
    ]
    assert left == []
    assert not any(Path(tempfile.gettempdir()).glob(f"muckrake-bots-{os.getpid()}-*"))


@only_linux
def test_what_a_bot_builds_and_writes_it_can_use_in_the_same_leg_and_not_in_the_next(
    tmp_path: Path,
) -> None:
    """It is built where it lies, with its neighbours; each start has a new copy."""
    source = "open('built.py', 'a').write('import neighbour\\nprint(neighbour.WORD)\\n')"
    build = [sys.executable, "-c", source]
    builder = bot(
        tmp_path,
        "builder",
        "sys.path.insert(0, ''); import built, pathlib; print(os.getcwd() == os.environ['HOME'])",
        build,
    )
    (tmp_path / "builder/neighbour.py").write_text("WORD = 'next door'\n")
    for _ in range(2):
        _, _, (_, one), said = matched((bot(tmp_path, "good"), builder), 1)
        assert (one.output.log, said) == (b"next door\nTrue\n", [])
    assert not (tmp_path / "builder/built.py").exists()


@only_linux
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "not apart"])
def test_nobody_takes_a_bots_place_at_the_port_that_waits_for_it(
    apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any program may find the port and be quicker; where bots are not kept apart it gets cards."""
    strangers: list[socket.socket] = []
    made = socket.create_server

    def opened(address: tuple[str, int], **how: Any) -> socket.socket:
        listener = made(address, **how)
        strangers.append(socket.create_connection(listener.getsockname()))
        return listener

    monkeypatch.setattr("dealer.wire.player.socket.create_server", opened)
    pair = (bot(tmp_path, "good"), bot(tmp_path, "plain"))
    guard = Isolation((), _spaces() if apart else ("none",))
    limits = SHORT if apart else replace(SHORT, reply=0.2)  # a stranger replies nothing
    _, records, players, said = matched(pair, 2, limits, guard=guard)
    assert len(records) == 2
    heard = [stranger.makefile().readline() for stranger in strangers]
    alone = "somebody else connected to its port, and was not let in"
    if apart:
        assert said == [f"good: {alone}", f"plain: {alone}"]
        assert [(None, 0), (None, 0)] == [(one.silenced_because, one.exit) for one in players]
        assert heard == ["", ""]
    else:
        assert all(" H" in line for line in heard)


@only_linux
def test_the_user_that_a_bot_is_has_a_name_and_a_home(tmp_path: Path) -> None:
    odd = "import pwd; me = pwd.getpwuid(os.getuid()); print(me.pw_name, me.pw_dir == os.getcwd())"
    pair = (bot(tmp_path, "good"), bot(tmp_path, "named", odd))
    _, _, (_, named), _ = matched(pair, 1, guard=Isolation((), _spaces()))
    assert named.output.log == b"bot True\n"


@only_root
def test_root_that_must_stay_root_does_not_show_what_is_only_roots(tmp_path: Path) -> None:
    """Where programs cannot be run by another user the bot owns what root owns, so it is hidden."""
    secret = next(path for path in Path("/etc").iterdir() if path.name == "shadow")
    assert not secret.stat().st_mode & 4
    odd = "print(len(open('/etc/shadow').read()), open('/etc/hostname').read() != '')"
    pair = (bot(tmp_path, "good"), bot(tmp_path, "reader", odd))
    _, _, (_, reader), _ = matched(pair, 1, guard=Isolation((), ("namespaces",)))
    assert reader.output.log == b"0 True\n"


@only_linux
def test_a_link_out_of_a_bots_folder_is_not_followed_for_it(tmp_path: Path) -> None:
    """Root copies the folder: what root alone may read must not come along."""
    (tmp_path / "key").write_text(WORD)
    odd = "try: print(open('link').read())\nexcept OSError as why: print('no', why.errno)\n"
    linked = bot(tmp_path, "linked", odd)
    (linked.folder / "link").symlink_to(tmp_path / "key")
    guard = Isolation((), _spaces())
    _, _, (_, one), _ = matched((bot(tmp_path, "good"), linked), 1, guard=guard)
    assert one.output.log == b"no 2\n"


@only_linux
def test_a_means_that_fails_half_way_gives_way_to_the_next_with_its_reason(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the folder of programs is shown, but its owner alone may enter it."""
    if os.geteuid() != 0:
        pytest.skip("root has several means")
    tools = public / "mine"
    tools.mkdir(mode=0o700)
    (tools / "python3").symlink_to("/usr/bin/python3")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    _, _, players, said = matched((bot(public, "good"), bot(public, "plain")), 1)
    for player in players:
        assert player.sandbox.means == "namespaces"
        assert player.sandbox.reasons == [
            f"user+namespaces: {tools}/python3 would be out of its reach"
        ]
        assert (player.silenced_because, player.exit) == (None, 0)
    assert said == []


@only_root
def test_a_strict_umask_of_ours_leaves_the_bot_a_root_that_it_may_enter(public: Path) -> None:
    before = os.umask(0o077)
    try:
        pair = (bot(public, "good"), bot(public, "plain"))
        _, _, players, _ = matched(pair, 1, guard=Isolation((), ("user+namespaces", "none")))
    finally:
        os.umask(before)
    assert [("user+namespaces", [])] * 2 == [
        (one.sandbox.means, one.sandbox.reasons) for one in players
    ]


@only_root
def test_a_folder_of_tools_that_we_may_not_enter_is_not_shown_and_is_no_error(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user whose PYENV_ROOT, or a folder on whose PATH, is another's."""
    (public / "closed" / "pyenv" / "bin").mkdir(parents=True)
    (public / "closed").chmod(0o700)
    monkeypatch.setenv("PYENV_ROOT", str(public / "closed" / "pyenv"))
    monkeypatch.setenv("CARGO_HOME", str(public / "closed" / "cargo"))
    monkeypatch.setenv("PATH", f"{public}/closed/pyenv/bin:/usr/bin:/bin")
    plain = bot(public, "plain")
    os.seteuid(65_534)
    try:
        shown, links = visible_paths(plain)
    finally:
        os.seteuid(0)
    assert Path("/usr") in shown
    assert not [path for path in shown if path.is_relative_to(public)]
    assert not [link for link, _ in links if link.is_relative_to(public)]

"""A sealed file of one hand is imported, and every hand that it could hold is tried against all
that the public gets, at any door: no digest of what is hidden is told."""

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice, permutations
from pathlib import Path
from typing import NamedTuple

import pytest

from api.importing.index import MatchNaming
from api.main import main
from events.cards import DECK
from store.reader import Reader
from tests.leaks.asked_routes import ROUTES
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import as_they_are
from tests.profiles import sized
from tests.sessions import Captured

DIGITS = 12  # of a digest: so few are no accident among some million others
MIT = """\
6.9630 MIT Pokerbots - ursa vs lynx

Round #1, ursa (0), lynx (0)
ursa posts the blind of 1
lynx posts the blind of 2
ursa dealt [{0} {1}]
lynx dealt [2c 7d]
ursa folds
ursa awarded -1
lynx awarded 1
Players did not reach flop. No auction occured.

Final, lynx (1), ursa (-1)
"""
ACPC = "STATE:0:f:{0}{1}|2c7d:-50|50:ursa|lynx\n"
PHH = """\
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [200, 200]
actions = ['d dh p1 {0}{1}', 'd dh p2 2c7d', 'p2 f']
players = ['ursa', 'lynx']
hand = 12
"""
TEXTS = {"gamelog.txt": MIT, "log.acpc": ACPC, "hand.phh": PHH}
HELD = ("Qs", "4h")
VALUES = {
    "number": "1",
    "player": "ursa",
    "vs": "lynx",
    "game": "auction-2024-mit",
    "job": "none",
    "league": "cup",
    "other": "lynx",
    "path": "0/000",
}
DATASETS = ("hands", "players", "events", "bids", "swaps", "pots", "decisions")
COMMANDS = (
    ("matches", "--json"),
    ("hands", "--json"),
    ("export", "--to", "ndjson"),
    ("export", "--to", "csv", "--table", "events"),
    ("sql", "SELECT * FROM events"),
    ("audit", "{match}/1"),
    ("replay", "{match}/1", "--json"),
    ("audit", "{match}/1", "--evidence", "{file}"),
)


class Told(NamedTuple):
    """Of everything that was told each run of hex digits and of base64, cut to a digest's begin."""

    hexed: frozenset[str]
    coded: frozenset[str]

    def has(self, digest: bytes) -> bool:
        """Whether the digest, or its begin, is somewhere."""
        return digest.hex()[:DIGITS] in self.hexed or (
            base64.b64encode(digest)[:DIGITS].decode() in self.coded
        )


def told_of(bodies: list[bytes]) -> Told:
    hexed: set[str] = set()
    coded: set[str] = set()
    for body in bodies:
        text = body.decode("latin-1")
        for run in re.findall(r"[0-9a-f]{12,}", text.lower()):
            hexed.update(run[at : at + DIGITS] for at in range(len(run) - DIGITS + 1))
        coded.update(run[:DIGITS] for run in re.findall(r"[A-Za-z0-9+/_-]{12,}", text))
    return Told(frozenset(hexed), frozenset(coded))


def addresses(match: str, turn: int) -> Iterator[str]:
    """Every route, asked about the one hand that there is; before `slow` in one format, and in
    `quick` without what is dear."""
    for route, asked in ROUTES.items():
        paths = [route.replace("{match}", match)]
        if "{dataset}" in route:
            paths = [paths[0].replace("{dataset}", one) for one in DATASETS]
        for path in paths:
            path = re.sub(r"{(\w+)(:path)?}", lambda found: VALUES[found[1]], path)
            kinds = asked.formats[:1] if asked.dear else asked.formats
            in_turn = [*islice(cycle(kinds), turn, turn + 1)]
            for kind in sized(quick=() if asked.dear else kinds[:1], ci=in_turn, slow=kinds):
                yield path + (f"?format={kind}" if kind else "")
    yield "/api/v1/stream?after=start&until=now"
    yield f"/api/v1/players/ursa/opponent?vs=lynx&match={match}"
    yield "/api/v1/sql?q=SELECT%20*%20FROM%20events"
    yield "/api/v1/log/tile/entries/000.p/3"
    yield "/api/v1/log/tile/0/000.p/3"


def everything(folder: Path, match: str, turn: int, capsys: Captured) -> Told:
    """What the public is told over HTTP, at the command line, and in a bundle."""
    return told_by(folder, match, list(addresses(match, turn)), capsys)


def told_by(folder: Path, match: str, asked: list[str], capsys: Captured) -> Told:
    """The same, of some addresses."""
    app = door(folder)
    found = answers(app, asked)
    app.state.service.close()
    assert sum(one.status == 200 for one in found) > len(asked) // 2
    bodies = [one.body + repr(one.headers).encode() for one in found]
    file = folder.with_name("bundle.zip")
    for words in COMMANDS:
        said = [word.format(match=match, file=file) for word in words]
        main([*said, "--as", "public", "--ledger", str(folder)])
        out, err = capsys.readouterr()
        bodies += [out.encode(), err.encode()]
    for body in [*bodies, file.read_bytes()]:
        if body.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(body)) as packed:
                bodies += [packed.read(name) for name in packed.namelist()]
    return told_of(bodies)


def digests(text: str) -> Iterator[bytes]:
    """Of a file and of what is in it, written in several ways, by several functions."""
    parts = {text, text.strip(), *text.split("\n\n"), *text.splitlines()}
    for part in [*parts, text.replace("\n", "\r\n")]:
        for hashed in (hashlib.sha256, hashlib.sha1, hashlib.md5, hashlib.blake2b, hashlib.blake2s):
            yield hashed(part.encode()).digest()


def guessed(told: Told, text: str) -> list[tuple[str, ...]]:
    """The hands that a digest was found of."""
    known = {*digests(text.format("--", "--"))}  # what says nothing of the cards
    return [
        cards
        for cards in permutations(DECK, 2)
        if any(told.has(one) for one in digests(text.format(*cards)) if one not in known)
    ]


@pytest.fixture
def imported(tmp_path: Path, capsys: Captured) -> Callable[[str, str], tuple[Path, str]]:
    """A file in a ledger of its own, and what its match is called."""

    def made(name: str, disclosure: str) -> tuple[Path, str]:
        file, folder = tmp_path / name, tmp_path / "ledger"
        file.write_text(TEXTS[name].format(*HELD))
        words = ["import", str(file), "--disclosure", disclosure, "--ledger", str(folder)]
        assert main(words) in (0, 3)
        capsys.readouterr()
        (match,) = Reader(folder).snapshot().matches()
        return folder, match

    return made


@pytest.mark.parametrize("name", sized([*TEXTS][:1], [*TEXTS][:1], [*TEXTS]))
def test_no_digest_of_a_sealed_file_is_told(
    name: str, imported: Callable[[str, str], tuple[Path, str]], capsys: Captured
) -> None:
    with as_they_are():
        told = everything(*imported(name, "sealed"), [*TEXTS].index(name), capsys)
    assert [] == guessed(told, TEXTS[name])


def test_it_would_be_found(
    imported: Callable[[str, str], tuple[Path, str]],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By what versions before have called their imports; and in the note of an open match."""
    monkeypatch.setattr(MatchNaming, "name", lambda self, sha256: sha256[:12])
    with as_they_are():
        folder, match = imported("gamelog.txt", "sealed")
        told = told_by(folder, match, [f"/api/v1/matches/{match}"], capsys)
    assert [HELD] == guessed(told, MIT)


def test_an_open_match_may_tell_more(
    imported: Callable[[str, str], tuple[Path, str]], capsys: Captured
) -> None:
    with as_they_are():
        folder, match = imported("gamelog.txt", "open")
        told = told_by(folder, match, [f"/api/v1/matches/{match}"], capsys)
    assert [HELD] == guessed(told, MIT)

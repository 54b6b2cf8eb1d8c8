"""Spoilt files for every reader: whatever is in them, they are read, left out or refused.

A target a reader, `./mr fuzz --spoilt N`; a trial is one file, made of its seed alone.
"""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.games import GAMES
from engine.verdict import judge
from events.evolve import replay
from formats.hand_records import hand_record
from formats.registry import FORMATS
from formats.source import AS_READ, Refused, Skipped, SourceHand
from tests.formats import test_format_acpc as acpc
from tests.formats import test_format_ggpoker as ggpoker
from tests.formats import test_format_irc as irc
from tests.formats import test_format_mit as mit
from tests.formats import test_format_ohh as ohh
from tests.formats import test_format_pacific as pacific
from tests.formats import test_format_phh as phh
from tests.formats import test_format_pokerstars as pokerstars
from tests.formats import test_format_winamax as winamax

SENTENCE_MAX = 400

TARGETS: dict[str, tuple[str, ...]] = {
    "mit-gamelog": tuple(mit.DIALECTS.values()),
    "phh": (phh.ONE, phh.TWO, phh.UNSEEN, f"[1]{phh.ONE}\n[2]{phh.TWO}"),
    "acpc": (acpc.LIMIT, acpc.NO_LIMIT, acpc.SPLIT, acpc.PLURIBUS),
    "pokerstars": (
        pokerstars.CASH,
        pokerstars.TOURNAMENT,
        pokerstars.WALK,
        pokerstars.CASH + pokerstars.DEAD,
    ),
    "ohh": (ohh.CASH, ohh.ALL_IN, ohh.CASH + ohh.ALL_IN),
    "ggpoker": (ggpoker.CASH, ggpoker.TOURNAMENT, ggpoker.CASH + pokerstars.CASH),
    "winamax": (winamax.CASH, winamax.TOURNAMENT, winamax.CASH + winamax.TOURNAMENT),
    "pacific": (pacific.CASH, pacific.TOURNAMENT, pacific.WALK + pacific.CASH),
    "irc": (irc.HDB, irc.ROSTER, *irc.PDB.values()),
}
_JUNK = "0159 ,.$:[]()*|/#'\"=-\n\r\0\x1b\x85\xa0é€\u2028"
_WORDS = ("inf", "nan", "??", "<<<<<<< HEAD\n", "=======\n", "9" * 40, "-1", "1e99", "[1]\n", "p9")
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252")


def trial(name: str, seed: str) -> int:
    """A file for this reader; how many hands it still tells. All else is an exception."""
    chance = random.Random(f"{name}/{seed}")
    with TemporaryDirectory() as folder:
        path = _month(Path(folder), chance) if name == "irc" else _file(Path(folder), name, chance)
        try:
            return sum(_is_told(hand) for hand in FORMATS[name].read(path, AS_READ).hands)
        except Refused as refused:
            _is_a_sentence(refused.line, refused.reason)
            return 0


def _is_a_sentence(line: int, reason: str) -> None:
    assert line >= 0
    assert 0 < len(reason) < SENTENCE_MAX, reason[:SENTENCE_MAX]


def _is_told(hand: object) -> bool:
    """Whether it can be a record; then no chip is made or lost in it, and it can be judged."""
    if isinstance(hand, Skipped):
        _is_a_sentence(hand.line, hand.reason)
    if not isinstance(hand, SourceHand):
        return False
    try:
        record = hand_record(hand, "m/1")
    except ValueError:
        return False
    end = replay(record)
    assert sum(hand.stacks) == sum(end.stacks) + end.pot + end.rake
    judge(hand.game, record, GAMES.get(hand.game.partner or ""))
    return True


def _file(folder: Path, name: str, chance: random.Random) -> Path:
    path = folder / "file"
    path.write_bytes(spoilt(chance.choice(TARGETS[name]), chance))
    return path


def _month(folder: Path, chance: random.Random) -> Path:
    """One of a month's files is spoilt, or two."""
    texts = list(TARGETS["irc"])
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(texts))
        texts[at] = spoilt(texts[at], chance).decode("latin-1")
    hdb, roster, *players = (text.encode("latin-1", "replace") for text in texts)
    (folder / "pdb").mkdir()
    (folder / "hdb").write_bytes(hdb)
    (folder / "hroster").write_bytes(roster)
    for name, rows in zip(irc.PDB, players, strict=True):
        (folder / "pdb" / f"pdb.{name}").write_bytes(rows)
    return folder


def spoilt(text: str, chance: random.Random) -> bytes:
    """Lines lost, doubled, exchanged, joined; characters and words put in; cut, or recoded."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        line, place = lines[at], chance.randrange(len(lines[at]) + 1)
        match chance.randrange(7):
            case 0:
                lines[at] = ""
            case 1:
                lines.insert(other, line)
            case 2:
                lines[at], lines[other] = lines[other], line
            case 3:
                lines[at] = line[:place] + lines[other][place:]
            case 4:
                lines[at] = line[:place] + chance.choice(_JUNK) + line[place + 1 :]
            case 5:
                lines[at] = line[:place] + chance.choice(_WORDS) + line[place:]
            case _:
                lines[at] = "".join(
                    chance.choice("0123456789") if one.isdigit() else one for one in line
                )
    raw = "\n".join(lines).encode(chance.choice(_ENCODINGS), "replace")
    return raw[: chance.randrange(len(raw) + 1)] if chance.random() < 0.1 else raw

"""A hand that comes again is the same hand; one that says otherwise is a conflict, and is noted."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.importing.index import INDEX_FILE, ImportIndex
from bench.import_texts import phh_files, pokerstars_files
from events.evolve import replay
from events.match import MatchEnded, SourceNoted
from store.folder.frames import Damaged
from store.proof.ledger_secrets import FOLDER
from store.reader import Reader
from tests.foreign import gamelog, opened
from tests.formats.test_format_irc import made_month
from tests.profiles import sized
from tests.sessions import Captured, kept, printed
from tests.test_cli_import import size, told

HANDS = 12
STATE = "STATE:{}:f:AsKd|2c7d:50|-50:ursa|lynx\n"
NAMED = "# name/game/hands/seed final holdem.nolimit.2p.reverse_blinds.game 3 17\n"
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Hands of PokerStars, each as a text."""
    folder = pokerstars_files(tmp_path_factory.mktemp("stars") / "stars", HANDS)
    text = next(folder.iterdir()).read_text("utf-8").replace("ann", "Zoë")
    return [f"PokerStars {one}" for one in text.split("PokerStars ")[1:]]


def imported(
    capsys: Captured, tmp_path: Path, name: str, content: str | bytes, *words: str, code: int = 0
) -> Row:
    """What is told of a file of this content."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (one,) = told(capsys, path, *words, code=code)
    return one


def hands(ledger: Path) -> list[str]:
    return [one.hand for one in Reader(ledger).hands()]


def notes(ledger: Path, match: str) -> list[SourceNoted]:
    """What is kept beside the hands of a match of hands that came again."""
    records = (one for one in kept(ledger, match) if isinstance(one, SourceNoted))
    return [one for one in records if one.dialect == "repeated"]


def nets_add_up(ledger: Path) -> None:
    """A match ends with what its own hands have won."""
    streams: dict[str, list[Any]] = {}
    for one in Reader(ledger).read_from(0):
        streams.setdefault(one.stream, []).append(one.event)
    won: dict[str, Counter[str]] = {}
    for stream, events in streams.items():
        if "/" in stream:
            end = replay(events)
            mine = won.setdefault(stream.partition("/")[0], Counter())
            for seat, player in enumerate(end.start.players):
                mine[player] += end.stacks[seat] - end.start.stacks[seat]
    for match, nets in won.items():
        start, *_, last = streams[match]
        assert isinstance(last, MatchEnded)
        assert tuple(nets[player] for player in start.players) == last.nets


# The same.


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "cp1252": lambda text: text.encode("cp1252"),
    "old ends": lambda text: text.replace("\n", "\r").encode(),
    "other blank lines": lambda text: text.replace("\n\n\n", "\n\n\n\n").encode(),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_another_encoding_is_the_same_hands(
    name: str, stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    text = "".join(stars)
    first = imported(capsys, tmp_path, "a.txt", text)
    assert (HANDS, 0, []) == (first["imported"], first["repeated"], first["conflicts"])
    before = size(ledger)
    again = imported(capsys, tmp_path, "b.txt", ENCODINGS[name](text))
    assert (0, HANDS, []) == (again["imported"], again["repeated"], again["conflicts"])
    assert first["match"] == again["match"]
    assert before == size(ledger)


@pytest.mark.parametrize("name", sized(["utf-16"], ["crlf", "a mark", "utf-16"]))
def test_another_encoding_of_a_gamelog_is_the_same_hands(
    name: str, capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    text = gamelog(tmp_path / "log.txt", rounds=130).read_text().replace("random-0", "Zoë")
    first = imported(capsys, tmp_path, "a.txt", text)
    again = imported(capsys, tmp_path, "b.txt", ENCODINGS[name](text))
    assert (130, 0, 130) == (first["imported"], again["imported"], again["repeated"])
    assert 130 == len(hands(ledger))


def test_of_a_file_that_grew_the_new_hands_are_added(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """At its end and at its beginning; what is counted is counted once."""
    first = imported(capsys, tmp_path, "a.txt", "".join(stars[3:8]))
    grown = imported(capsys, tmp_path, "a.txt", "".join(stars[3:10]))
    assert (5, 2, 5) == (first["imported"], grown["imported"], grown["repeated"])
    both = imported(capsys, tmp_path, "a.txt", "".join(stars))
    assert (5, 7) == (both["imported"], both["repeated"])
    assert HANDS == len(hands(ledger))
    assert f"{both['match']}/1" in hands(ledger)
    assert f"{both['match']}/4" not in hands(ledger)
    (note,) = notes(ledger, both["match"])
    assert f"hand 4..8 is {first['match']}/1..5\nhand 9..10 is {grown['match']}/6..7" == note.header
    again = imported(capsys, tmp_path, "a.txt", "".join(stars[3:10]))
    assert (0, 5) == (again["imported"], again["repeated"])
    nets_add_up(ledger)
    text = printed(capsys, "import", str(tmp_path / "a.txt"))
    assert " again      5 hands that the ledger has already\n" in text
    (row, *_) = json.loads(printed(capsys, "stats", "Zoë", "--json"))["players"]
    assert HANDS == row["hands"]
    printed(capsys, "verify", "--all", "--key", str(ledger / "keys"))


def test_a_hand_that_stands_twice_in_a_file_is_one(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    text = "".join((*stars[:2], stars[0], *stars[2:4], stars[3]))
    one = imported(capsys, tmp_path, "a.txt", text)
    assert (6, 4, 2) == (one["hands"], one["imported"], one["repeated"])
    assert [f"{one['match']}/{number}" for number in (1, 2, 4, 5)] == hands(ledger)
    nets_add_up(ledger)


def test_large_files_are_told_apart_hand_by_hand(
    capsys: Captured, tmp_path: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks in columns, of which some hands are known, and some chunks as a whole."""
    modules = {"BATCH": ("spill", "worker", "batch_audited"), "CHUNK": ("spill", "import_writer")}
    for name in (f"{file}.{kind}_HANDS" for kind, files in modules.items() for file in files):
        monkeypatch.setattr(f"api.importing.{name}", 40 if name.endswith("CHUNK_HANDS") else 4)
    monkeypatch.setattr("formats.pokerstars.read.KEPT", 80)
    files = sorted(pokerstars_files(tmp_path / "many", 92).iterdir())
    every = [f"PokerStars {it}" for one in files for it in one.read_text().split("PokerStars ")[1:]]
    imported(capsys, tmp_path, "a.txt", "".join(every[:60]))
    grown = imported(capsys, tmp_path, "b.txt", "".join(every))
    assert (32, 60, 92) == (grown["imported"], grown["repeated"], len(hands(ledger)))
    nets_add_up(ledger)
    assert 0 == sum(kept(ledger, grown["match"])[-1].nets)
    again = imported(capsys, tmp_path, "c.txt", "".join(every))
    assert (0, 60) == (again["imported"], again["repeated"])


def test_the_same_play_in_two_rounds_is_two_hands(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Two who fold at once get the same cards; the source says that it is another round."""
    rounds = []
    for number in range(1, 5):
        names = ("ursa", "lynx") if number % 2 else ("lynx", "ursa")
        bank = {1: (0, 0), 2: (1, -1), 3: (0, 0), 4: (1, -1)}[number]
        rounds.append(
            f"Round #{number}, {names[0]} ({bank[0]}), {names[1]} ({bank[1]})\n"
            f"{names[0]} posts the blind of 1\n{names[1]} posts the blind of 2\n"
            f"{names[0]} dealt [As Kd]\n{names[1]} dealt [2c 7d]\n{names[0]} folds\n"
            f"{names[0]} awarded -1\n{names[1]} awarded 1\n"
            "Players did not reach flop. No auction occured.\n"
        )
    text = "6.9630 MIT Pokerbots - ursa vs lynx\n\n" + "\n".join(rounds)
    one = imported(capsys, tmp_path, "a.txt", f"{text}\nFinal, ursa (0), lynx (0)\n")
    assert (4, 0) == (one["imported"], one["repeated"])
    assert 4 == len(hands(ledger))


def test_two_logs_that_begin_alike_are_two_matches(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """The same decks again, and bots that first do the same: the end of a log is told too."""
    short, long = (gamelog(tmp_path / f"{n}.txt", rounds=n) for n in (20, 30))
    assert long.read_text().startswith(short.read_text().rpartition("\n\nFinal")[0])
    for path, count in ((short, 20), (long, 30)):
        (one,) = told(capsys, path)
        assert (count, 0) == (one["imported"], one["repeated"])


def test_hands_of_phh_are_known_by_all_their_fields_or_by_their_number(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    (path,) = phh_files(tmp_path / "phh", 3).iterdir()
    text = path.read_text()
    assert 3 == imported(capsys, tmp_path, "a.phhs", text)["imported"]
    turned = text.replace("variant = 'NT'\n", "").replace("hand =", "variant = 'NT'\nhand =")
    again = imported(capsys, tmp_path, "b.phhs", turned)
    assert (0, 3) == (again["imported"], again["repeated"])
    other = imported(capsys, tmp_path, "c.phhs", text.replace("'ann'", "'abe'"))
    assert (3, 0) == (other["imported"], other["repeated"])
    at = text.replace("hand =", "venue = 'Riga'\nhand =")
    assert 3 == imported(capsys, tmp_path, "d.phhs", at)["imported"]
    changed = at.replace("'d db Ks'", "'d db Kc'", 1).replace("[1]", "[11]")
    one = imported(capsys, tmp_path, "e.phhs", changed, code=3)
    assert (0, 3, 1) == (one["imported"], one["repeated"], len(one["conflicts"]))


def test_two_hands_alike_that_say_no_number_are_two(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    (path,) = phh_files(tmp_path / "phh", 1).iterdir()
    hand = "".join(line for line in path.read_text().splitlines(True) if "hand =" not in line)
    two = imported(capsys, tmp_path, "a.phhs", hand + hand.replace("[1]", "[2]"))
    assert (2, 0) == (two["imported"], two["repeated"])
    again = imported(capsys, tmp_path, "b.phhs", "\n" + hand + hand.replace("[1]", "[2]"))
    assert (0, 2) == (again["imported"], again["repeated"])


def test_hands_of_acpc_are_known_by_their_match_and_number(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    lines = [STATE.format(n) for n in range(3)]
    assert 2 == imported(capsys, tmp_path, "a.log", NAMED + "".join(lines[:2]))["imported"]
    grown = imported(capsys, tmp_path, "a.log", (NAMED + "".join(lines)).replace("\n", "\r\n"))
    assert (1, 2) == (grown["imported"], grown["repeated"])
    other = lines[2].replace("AsKd", "AsKc")
    one = imported(capsys, tmp_path, "b.log", NAMED + other, code=3)
    (conflict,) = one["conflicts"]
    assert (2, f"{grown['match']}/3") == (conflict["line"], conflict["hand"])
    bare = imported(capsys, tmp_path, "c.log", "".join(lines) + other)
    assert (4, 0) == (bare["imported"], bare["repeated"])


def test_a_month_that_grew(capsys: Captured, tmp_path: Path, ledger: Path) -> None:
    month = made_month(tmp_path / "199504")
    whole = (month / "hdb").read_bytes()
    first, *_ = whole.split(b"\r\n")
    (month / "hdb").write_bytes(first + b"\r\n")
    (part,) = told(capsys, month, code=0)
    (month / "hdb").write_bytes(whole)
    (grown,) = told(capsys, month, code=3)
    assert (1, 2, 1) == (part["imported"], grown["imported"], grown["repeated"])
    assert 3 == len(hands(ledger))


# Otherwise.


def changed(hand: str) -> str:
    """The hand with its first two cards on the board in another order."""
    one, other, _ = hand.partition("FLOP *** [")[2].partition("]")[0].split()
    return hand.replace(f"[{one} {other} ", f"[{other} {one} ")


def test_a_hand_that_says_otherwise_is_a_conflict(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Told with line, the hand that is there, and what differs; kept as a note; told again."""
    first = imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    text = "".join((stars[3], changed(stars[0]), stars[4]))
    one = imported(capsys, tmp_path, "b.txt", text, code=3)
    assert (3, 2, 1) == (one["hands"], one["imported"], one["repeated"])
    line = stars[3].count("\n") + 1
    differs = "it says 'board [Kd Td 7h]', where 'board [Td Kd 7h]' is in the ledger"
    hand = f"{first['match']}/1"
    assert [{"number": 2, "line": line, "hand": hand, "differs": differs}] == one["conflicts"]
    (note,) = notes(ledger, one["match"])
    assert f"hand 2 is {first['match']}/1, line {line} says otherwise" == note.header
    assert "board [Kd Td 7h]" in note.footer
    assert 5 == len(hands(ledger))
    before = size(ledger)
    assert imported(capsys, tmp_path, "b.txt", text, code=3) | {"imported": 2} == one
    text = printed(capsys, "import", str(tmp_path / "b.txt"), code=3)
    assert f" conflict   hand 2, line {line}, is {first['match']}/1: {differs}\n" in text
    assert before == size(ledger)


def test_a_file_of_nothing_but_conflicts_is_kept_as_notes(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    one = imported(capsys, tmp_path, "b.txt", changed(stars[0]), code=3)
    assert (0, 1, 1) == (one["imported"], one["repeated"], len(one["conflicts"]))
    start, *_, note, end = kept(ledger, one["match"])
    assert ("repeated", (0,) * len(start.players)) == (note.dialect, end.nets)
    assert 3 == len(hands(ledger))
    before = size(ledger)
    imported(capsys, tmp_path, "b.txt", changed(stars[0]), code=3)
    assert before == size(ledger)
    printed(capsys, "matches")
    printed(capsys, "verify", "--all", "--key", str(ledger / "keys"))


def test_a_conflict_within_a_file_and_in_a_call(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    one = imported(capsys, tmp_path, "a.txt", stars[0] + stars[1] + changed(stars[0]), code=3)
    assert (2, 1, 3) == (one["imported"], one["repeated"], one["conflicts"][0]["number"])
    logs = tmp_path / "logs"
    logs.mkdir()
    for name, text in (("1", stars[1]), ("2", changed(stars[1])), ("3", stars[1])):
        (logs / name).write_text(text)
    _, two, three = told(capsys, logs, code=3)
    assert (0, 1, 0) == (two["imported"], len(two["conflicts"]), three["imported"])
    assert 2 == len(hands(ledger))


def test_who_sees_other_cards_contradicts_nobody(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Two players of a table have each his own text of the same hand."""
    cards = stars[0].replace("*** HOLE CARDS ***\n", "*** HOLE CARDS ***\nDealt to {}\n", 1)
    imported(capsys, tmp_path, "a.txt", cards.format("dan [2c 2d]"))
    one = imported(capsys, tmp_path, "b.txt", cards.format("cat [3c 3d]"))
    assert (0, 1, []) == (one["imported"], one["repeated"], one["conflicts"])
    other = imported(capsys, tmp_path, "c.txt", cards.format("dan [2c 2h]"), code=3)
    assert "2c 2h" in other["conflicts"][0]["differs"]


# What is known, and how.


def test_a_hand_of_which_only_a_block_is_there_is_imported(
    stars: list[str],
    capsys: Captured,
    tmp_path: Path,
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks are durable before their hands: a crash between the two, or an older copy of the
    ledger, leaves more of them than hands."""
    printed(capsys, "init")
    shutil.copytree(ledger, tmp_path / "before")
    imported(capsys, tmp_path, "a.txt", "".join(stars[:2]))
    path = Path(FOLDER) / INDEX_FILE
    assert 0o600 == (ledger / path).stat().st_mode & 0o777
    shutil.copy(ledger / path, tmp_path / "before" / path)
    words = ("--ledger", str(tmp_path / "before"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another machine"))
    one = imported(capsys, tmp_path, "b.txt", "".join(stars[:4]), *words)
    assert (4, 0) == (one["imported"], one["repeated"])
    again = imported(capsys, tmp_path, "c.txt", "".join(stars[:3]), *words)
    assert (0, 3) == (again["imported"], again["repeated"])


def test_a_block_that_was_not_written_to_its_end_is_as_if_it_was_not_there(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    imported(capsys, tmp_path, "a.txt", "".join(stars[:2]))
    path = ledger / FOLDER / INDEX_FILE
    path.write_bytes(path.read_bytes() + path.read_bytes()[:50])
    grown = imported(capsys, tmp_path, "b.txt", "".join(stars[:3]))
    assert (1, 2) == (grown["imported"], grown["repeated"])
    assert 2 == imported(capsys, tmp_path, "c.txt", "".join(stars[:4]))["repeated"] - 1


def test_damage_in_the_middle_is_told(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Else the hands of all later blocks would come in twice."""
    for number in (2, 3, 4):
        imported(capsys, tmp_path, "a.txt", "".join(stars[:number]))
    data = bytearray((path := ledger / FOLDER / INDEX_FILE).read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    with opened(ledger) as open_ledger, pytest.raises(Damaged, match="is damaged at byte 0"):
        ImportIndex(open_ledger, open_ledger.nonces)
    path.unlink()
    grown = imported(capsys, tmp_path, "a.txt", "".join(stars[:6]))
    assert (2, 4, []) == (grown["imported"], grown["repeated"], grown["conflicts"])


def test_a_ledger_of_before_knows_the_numbers_of_its_hands(
    stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Nothing was kept of what they say: their records are compared."""
    first = imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    (ledger / FOLDER / INDEX_FILE).unlink()
    text = "".join((changed(stars[0]), *stars[1:4]))
    grown = imported(capsys, tmp_path, "b.txt", text, code=3)
    assert (1, 3) == (grown["imported"], grown["repeated"])
    assert [f"{first['match']}/1"] == [one["hand"] for one in grown["conflicts"]]

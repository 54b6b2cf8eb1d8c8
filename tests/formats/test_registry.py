"""What a file is, told by how it begins: the formats that are read, and others by their names."""

from pathlib import Path

import pytest

from formats.registry import format_of, read
from formats.source import AS_READ, Refused, SourceHand
from tests.formats.test_format_mit import DIALECTS
from tests.formats.test_format_phh import ONE
from tests.formats.test_format_pokerstars import CASH

READ = (
    ("acpc", "; a remark\n" * 100 + "STATE:0:f:AsKd|2c2d:50|-50:A|B\n"),
    ("phh", "# a licence, line by line\n" * 100 + "variant = 'NT'\n"),
    ("pokerstars", "Transcript of your hand\n\nPokerStars Game #5:  Hold'em Limit ($1/$2)\n"),
    ("pokerstars", "PokerStars Home Game #5:  {Club} Hold'em Limit ($1/$2)\n"),
    ("pokerstars", "PokerStars Home Game Hand #5:  {Club} Hold'em Limit ($1/$2)\n"),
    ("pokerstars", "PokerStars Zoom Hand #5:  Hold'em Limit ($1/$2)\n"),
    ("ggpoker", "\nPoker Hand #RC1: Hold'em No Limit ($1/$2) - 2025/08/10\n"),
    ("winamax", "Winamax Poker - CashGame - HandId: #51-3-13 - Holdem no limit (1/2)\n"),
    ("winamax", 'Winamax Poker - Go Fast "Nice" - HandId: #51-3-13 - Holdem no limit (1/2)\n'),
    ("pacific", "#Game No : 1\n***** 888poker Hand History for Game 1 *****\n"),
    ("pacific", "***** Pacific Poker Hand History for Game 1 *****\n"),
    ("ohh", '{"ohh": {"spec_version": "1.2.2"}}'),
    ("ohh", '[\n {\n  "ohh": {\n'),
    ("ohh", '{"id": 7, "ohh": {"game_number"'),
    ("mit-gamelog", "\n6.176 MIT Pokerbots - a vs b vs c\n"),
)
IN_ANY_ORDER = (
    "actions = [\n  'p1 f',\n]\n",
    "'starting_stacks' = [100, 100]\n",
    '"variant"="NT"\n',
    "\nante_trimming_status = true\n",
    "['a table'] # of hands\n",
)
ELSEWHERE = {
    "#Game No : 7\n***** Hand History for Game 7 *****": "a hand history of PartyPoker,",
    "\xef\xbb\xbf#Game No : 7\n***** Hand History for Game 7 *****": "a hand history of PartyPoker",
    "\xc3\xaf\xc2\xbb\xc2\xbf***** Hand History for Game 7 *****": "a hand history of PartyPoker",
    "#Game No : 7\n\n": "a hand history of PartyPoker or 888poker",
    "Game #15 starts.\n\n": "a hand history of PartyPoker",
    "ann: nice one\n> You have options\nGame #15 starts.": "a hand history of PartyPoker",
    "Hand History For Game 7": "a hand history of PartyPoker",
    "FullTiltPoker Game #28: Table A - $1/$2": "a hand of Full Tilt Poker",
    "Seat 1: ann ($58.80)\n\nFull Tilt Poker Game #2: Table B": "a hand of Full Tilt Poker",
    "Full Tilt Poker.fr Game #2: Table B": "a hand of Full Tilt Poker",
    "Full Tilt Poker Tournament Summary $1": "a summary of a Full Tilt Poker tournament",
    "Winamax Poker - Tournament summary : X": "a summary of a Winamax tournament",
    "Seat 1: ann ($58.80)\nSeat 2: bo ($2)": "a hand without its first line",
    "Hand#25-17 - New Castle -- $0.02/$0.04 FL Hold'em": "a hand of Cake Poker",
    "Table #15 - Beach\nStarting Hand #74": "a hand of PKR",
    "Game started at: 2010/1/1 0:0:1\nGame ID: 2 1/2 T": "a hand of the Winning network",
    '<description type="Omaha"/>\n<game id="1-3">': "an XML file of the Merge network",
    '<Game id="41" date="2011-11-01">': "an XML file of Microgaming",
    '<?xml version="1.0"?>\n<session sessioncode="5">': "an XML file of iPoker",
    "***** Hand History for Game 1 *****": "a hand history of PartyPoker",
    "***** History for hand R5-75-57 *****": "a hand history of Ongame",
    "Ignition Hand #35: Zone Poker ID#8 HOLDEM No Limit": "a hand of Ignition",
    "SealsWithClubs Hand #1": "a hand of SealsWithClubs",
    "Game Hand #5 - Tournament #1 - Holdem (No Limit)": "a hand of the Winning network",
    "Hand #5-1 - 2014-04-04 12:00:00": "a hand of the Winning network",
    "Stage #15: Holdem  No Limit $0.02": "a hand of Absolute Poker",
    "Run It Once Poker Hand #1: Hold'em": "a hand of Run It Once Poker",
    "PokerStars - Main n° 1: Hold'em No Limit": "a PokerStars hand in another language",
    "Mano n.º 1 de PokerStars: Hold'em No Limit": "a PokerStars hand in another language",
    "PokerStars Tournament #1, No Limit Hold'em": "a summary of a PokerStars tournament",
    "MATCHSTATE:0:30::9s8h|": "a transcript of the ACPC wire protocol",
    '<?xml version="1.0"?>': "an XML file",
    "version https://git-lfs.github.com/spec/v1": "a pointer of Git LFS",
    "7z\xbc\xaf": "a 7-Zip archive: unpack it first",
    "Rar!\x1a\x07": "a RAR archive: unpack it first",
    "1.phh" + "\0" * 252 + "ustar": "a tar archive: unpack it first",
}


WIDE = (  # of each format as text in UTF-16, with a mark and without
    ("mit-gamelog", DIALECTS["A2"]),
    ("pokerstars", CASH),
    ("phh", ONE),
    ("acpc", "STATE:0:cr200c/cc/cc/cc:AsKd|2c7d/3h4h9s/9d/Jc:100|-100:a|b\n"),
)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("name", "text"), WIDE)
def test_text_in_utf16_is_read_with_a_mark_and_without(
    name: str, text: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode(encoding))
    found = format_of(path)
    assert found.name == name
    hands = [hand for hand in read(path, found, AS_READ).hands if isinstance(hand, SourceHand)]
    path.write_text(text)
    assert hands
    assert [
        hand for hand in read(path, found, AS_READ).hands if isinstance(hand, SourceHand)
    ] == hands


def _file(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.mark.parametrize(("name", "text"), READ)
def test_a_long_preface_hides_no_hand(name: str, text: str, tmp_path: Path) -> None:
    assert name == format_of(_file(tmp_path, text)).name


@pytest.mark.parametrize("text", IN_ANY_ORDER)
def test_the_fields_of_a_phh_hand_come_in_any_order(text: str, tmp_path: Path) -> None:
    assert "phh" == format_of(_file(tmp_path, text)).name


@pytest.mark.parametrize("text", ELSEWHERE)
def test_other_sites_and_files_are_refused_by_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        format_of(_file(tmp_path, text))
    assert refused.value.reason.startswith(f"this is {ELSEWHERE[text]}")


@pytest.mark.parametrize("text", ["", "\n \n", "\xef\xbb\xbf", "\xff\xfe"])
def test_a_file_without_a_word_is_empty(text: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="the file is empty"):
        format_of(_file(tmp_path, text))

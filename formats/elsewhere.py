"""What a file is that no reader here takes: whose hands, which archive, which other text.

Every line of the beginning is looked at, because chat, an empty table or the end of a hand may
stand before the first line that names its site.
"""

import re
from collections.abc import Sequence

from formats.mit.grammar import MARKERS, other
from formats.pokerstars.text import foreign_site

PACKED = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
}
OTHERS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"SQLite format 3": "an SQLite database",
    b"version https://git-lfs": "a pointer of Git LFS",
}
TAR = 257  # where such an archive names itself

_JUNK = re.compile(r"^(?:ï»¿|þÿ|ÿþ|[\ufeff\ufffd\x00-\x1f\x80-\x9f ])*")  # marks read as letters
_HAND, _HISTORY = "a hand of {0}, not of PokerStars", "a hand history of {0}, not of PokerStars"
_SUMMARY = "a summary of a {0} tournament, without its hands"
_XML = "an XML file of {0}: no hand history that is read is in XML"
_SIGNS = (  # the surest first: how a line begins, what that is, whose it is if no group says
    (r"\*{3,} ?Hand History (?:[Ff]or )?Game", _HISTORY, "PartyPoker"),
    (r"\*{3,} ?([\w. ]+?) Hand History (?:[Ff]or )?Game", _HISTORY, ""),
    (r"\*{0,5} ?Hand [Hh]istory", _HISTORY, "PartyPoker"),
    (r"Game #\d+ starts\.", _HISTORY, "PartyPoker"),
    (r"#Game No", _HISTORY, "PartyPoker or 888poker"),
    (r"\*{3,} ?History for hand", _HISTORY, "Ongame"),
    (r"(Full ?Tilt ?Poker)\.?\w* Tournament Summary", _SUMMARY, "Full Tilt Poker"),
    (r"Full ?Tilt ?Poker", _HAND, "Full Tilt Poker"),
    (r"Winamax Poker - Tournament summary", _SUMMARY, "Winamax"),
    (r"PokerStars Tournament #", _SUMMARY, "PokerStars"),
    (r"(?:Game )?Hand #\d|Game (?:[Ss]tarted at|ID): ?\d", _HAND, "the Winning network"),
    (r"Hand#\d", _HAND, "Cake Poker"),
    (r"Starting Hand #\d", _HAND, "PKR"),
    (r"Game # \d+ - ", _HAND, "Entraction"),
    (r"(?!PokerStars)([A-Z][\w.]+(?: [A-Z][\w.]+){0,3}) Hand #", _HAND, ""),
    (r"Stage #\d", _HAND, "Absolute Poker or UltimateBet"),
    (r"<session\b.*sessioncode|<session>", _XML, "iPoker"),
    (r"<description type=|<game id=", _XML, "the Merge network"),
    (r"<Game id=", _XML, "Microgaming"),
    (r"<SESSION time=", _XML, "Everest Poker"),
    (r"<HISTORY ID=", _XML, "Boss Media"),
    (r"<\?xml", "an XML file: no hand history that is read is in XML", ""),
    (r".*PokerStars.* Hold'em", "a PokerStars hand in another language than English", ""),
    (r"MATCHSTATE:", "a transcript of the ACPC wire protocol: its dealer's log is read", ""),
    (r"\"?ohh\"?\s*:|\{\s*\"ohh\"", "a piece of an Open Hand History, not the whole object", ""),
    (
        r"Seat \d+: .+ \([$€£]?[0-9.,]+(?: in chips)?\)",
        "a hand without its first line, which names the site and the game",
        "",
    ),
)


def named(head: Sequence[str]) -> tuple[int, str]:
    """The line that tells what a file is, and what that is."""
    lines = [(number, text) for number, line in enumerate(head, 1) if (text := _JUNK.sub("", line))]
    first = next((text for _, text in lines if text.strip()), "")
    if not first:
        return 1, "the file is empty"
    for number, line in lines:
        if line.startswith(MARKERS):
            return number, "a git merge marker: two files are mixed in this one"
    for pattern, what, whose in _SIGNS:
        for number, line in lines:
            if found := re.match(pattern, line):
                return number, f"this is {what.format(whose or ''.join(found.groups()[:1]))}"
    for number, line in lines:
        if site := foreign_site(line):
            return number, f"this is {_HAND.format(site)}"
    if instead := other(first):
        return 1, f"this is {instead}"
    return 1, f"no hand history that is known begins so: {first[:60].strip()!r}"

"""The formats that are read: what each is called, how its files begin, and the reader of each.

A file's first lines say its format; no file name is asked. What is none of them is refused, by its
name where it has one.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from formats import irc
from formats.acpc.read import read as read_acpc
from formats.file_parts import FilePart, read_part
from formats.mit import read as mit
from formats.mit.dialects import FORMAT as MIT
from formats.mit.grammar import MARKERS, header_names, other_format
from formats.ohh.read import read as read_ohh
from formats.phh.read import read as read_phh
from formats.pokerstars import read as pokerstars
from formats.pokerstars.text import GG, STARS, UTF16, foreign_site
from formats.sites import pacific, winamax
from formats.sites.reader import Site
from formats.source import AS_READ, ImportRules, Refused, SourceFile, SourceHand

HEAD = 200  # lines by which a format is known
_BYTES = 1 << 14  # in which they are looked for

_PHH = re.compile(
    r"\s*[\"']?(variant|antes|blinds_or_straddles|starting_stacks|min_bet|small_bet|big_bet|"
    r"bring_in|actions|ante_trimming_status)[\"']?\s*=|"
    r"\s*\[\s*([\w-]+|\"[^\"]*\"|'[^']*')\s*\]\s*(#.*)?$"
)
_ACPC = re.compile(r"STATE:|# name/game/hands|[#;]\s*GAMEDEF\b")
_OHH = re.compile(r"[\[\s]*\{.*\"ohh\"\s*:|\s*\"ohh\"\s*:")
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


class Format(Struct, frozen=True):
    """A format: its name, its title, its sign and its reader; `takes_rules` if its hands can be put
    to another ruleset than the one they are read as, `stacked` if they name their stacks, `raked`
    if what the house takes can be set, `at_a_site` if they may say where they are from."""

    name: str
    called: str
    begins: Callable[[Sequence[str]], bool]
    read: Callable[..., SourceFile]
    takes_rules: bool = True
    stacked: bool = True
    raked: bool = False
    at_a_site: bool = False


def format_of(content: bytes | Path) -> Format:
    """The format of a file, or of a folder that is a month of the IRC database."""
    if isinstance(content, bytes):
        start = content[:_BYTES]
    elif content.is_dir():
        return FORMATS["irc"]
    else:
        with content.open("rb") as raw:
            start = raw.read(_BYTES)
    if not start:
        raise Refused(1, "the file is empty")
    for magic, kind in PACKED.items():
        if start.startswith(magic):
            raise Refused(1, f"this is {kind}: unpack it first")
    if start.startswith(b"ustar", TAR):
        raise Refused(1, "this is a tar archive: unpack it first")
    for magic, kind in OTHERS.items():
        if start.startswith(magic):
            raise Refused(1, f"this is {kind}, no hand history")
    # The first lines in whichever encoding; what cannot be decoded is for the reader to refuse.
    encoding = "utf-8-sig"
    if start.startswith(UTF16) or b"\0" in (start[:1], start[1:2]):
        encoding = "utf-16-be" if start[:1] in (b"\xfe", b"\0") else "utf-16-le"
    text = start.decode(encoding, "replace").removeprefix("\ufeff")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Refused(line, "a zero byte: this is no text in UTF-8, UTF-16 or cp1252")
    head = text.splitlines()[:HEAD] or [""]
    for format in FORMATS.values():
        if format.begins(head):
            return format
    raise Refused(*_other_kind(head))


def _other_kind(head: Sequence[str]) -> tuple[int, str]:
    """The line that tells which kind of file it is that no reader here takes, and the kind.

    Every line of the beginning is looked at, because chat, an empty table or the end of a hand may
    stand before the first line that names its site.
    """
    lines = [(number, text) for number, line in enumerate(head, 1) if (text := _JUNK.sub("", line))]
    first = next((text for _, text in lines if text.strip()), "")
    if not first:
        return 1, "the file is empty"
    for number, line in lines:
        if line.startswith(MARKERS):
            return number, "a git merge marker: two files are mixed in this one"
    for pattern, kind, site in _SIGNS:
        for number, line in lines:
            if match := re.match(pattern, line):
                return number, f"this is {kind.format(site or ''.join(match.groups()[:1]))}"
    for number, line in lines:
        if foreign := foreign_site(line):
            return number, f"this is {_HAND.format(foreign)}"
    if kind_of_log := other_format(first):
        return 1, f"this is {kind_of_log}"
    return 1, f"no hand history that is known begins so: {first[:60].strip()!r}"


def read(
    content: bytes | Path, named: Format, rules: ImportRules = AS_READ, part: FilePart | None = None
) -> SourceFile:
    """The file, or a part of it, taken apart by this format; by other rules, if some are asked."""
    if rules.rake != "fitted" and not named.at_a_site:
        raise Refused(
            1, f"{named.called}: no hand of it names its site; leave out --rake {rules.rake}"
        )
    others = rules.game is not None or bool(rules.settings)
    if others and not named.takes_rules and not (named.raked and rules.only_rake):
        but = ", but for the rake (rake_percent, rake_caps)" if named.raked else ""
        raise Refused(
            1, f"{named.called} name their own rules: --ruleset and --set cannot replace them{but}"
        )
    if rules.sets("stack") and named.stacked:
        raise Refused(1, f"the hands of {named.called} name their own stacks: leave out stack=")
    if part is None:
        source = named.read(content, rules)
    else:
        assert isinstance(content, Path), "only what is on disk is cut into parts"
        source = read_part(content, named.name, part)
    if not others or not named.takes_rules:
        return source
    hands = (  # under other rules, which must count in the same unit of chips
        replace(hand, game=rules.of(hand.game), inferred=_inferred(hand.inferred, rules))
        if isinstance(hand, SourceHand)
        else hand
        for hand in source.hands
    )
    inferred = _inferred(source.inferred, rules)
    return replace(source, hands=hands, batches=None, inferred=inferred)


def _inferred(facts: tuple[str, ...], rules: ImportRules) -> tuple[str, ...]:
    """The inferred facts that hold under other rules: the variant is theirs."""
    return tuple(fact for fact in facts if not rules.game or not fact.startswith("variant "))


SITES = (
    Site("winamax", "Winamax", winamax.BEGINS, winamax.parse_hand),
    Site("pacific", "888poker", pacific.BEGINS, pacific.parse_hand),
)
_of_a_site = partial(Format, takes_rules=False, raked=True, at_a_site=True)
FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            MIT,
            "MIT gamelog",
            lambda head: bool(header_names(next(filter(str.strip, head), "").rstrip("\n"))),
            mit.read,
            stacked=False,
        ),
        Format(
            "acpc",
            "ACPC log",
            lambda head: any(map(_ACPC.match, head)),
            lambda path, rules: read_acpc(path, rules=rules),
            stacked=False,
        ),
        Format(
            "phh",
            "PHH",
            lambda head: any(map(_PHH.match, head)),
            lambda text, rules: read_phh(text, rakes=rules.rake),
            at_a_site=True,
        ),
        _of_a_site(
            "pokerstars",
            "PokerStars hands",
            lambda head: any(map(STARS.search, head)),
            lambda text, rules: pokerstars.read(text, rules=rules),
        ),
        _of_a_site(
            "ggpoker",
            "GGPoker hands",
            lambda head: any(map(GG.search, head)),
            lambda text, rules: pokerstars.read(text, site="ggpoker", rules=rules),
        ),
        _of_a_site("ohh", "Open Hand History", lambda head: any(map(_OHH.match, head)), read_ohh),
        *(_of_a_site(site.name, f"{site.called} hands", site.is_in, site.read) for site in SITES),
        Format(
            "irc",
            "IRC month",
            lambda head: False,
            lambda path, _: irc.read(path),
            takes_rules=False,
        ),
    )
}

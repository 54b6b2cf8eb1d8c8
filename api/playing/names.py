"""Parse and check names and tags of players; a bot's own name is one folder's in a ledger.

A tag says of a player of a match what his name need not: of which `bot` he is which `version`, and
which `team` made him.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

import msgspec

from dealer.wire.program import BotProgram
from events.match import Tagged
from store.proof.ledger_secrets import SecretFolder

BOTS_FILE = (
    "bots.json"  # in the folder of secrets: where somebody keeps his bots is nobody's business
)


TAGS_MAX = 20  # of a player
_TAG, _VALUE = re.compile(r"[a-z][a-z0-9_-]{0,19}"), re.compile(r"[\w.+-]{1,40}")


class InvalidName(ValueError):
    """Names or tags that cannot be given so."""


def parse_names(pairs: Iterable[str]) -> dict[str, str]:
    """OLD=NEW as a mapping; a name stands there once."""
    names: dict[str, str] = {}
    for pair in pairs:
        was, equals, now = (part.strip() for part in pair.partition("="))
        if not (was and equals and now):
            raise InvalidName(f"{pair[:80]!r} renames nobody: write OLD=NEW, several with commas")
        if names.setdefault(was, now) != now:
            raise InvalidName(f"{was} cannot be called both {names[was]} and {now}")
    return names


def parse_tags(words: Iterable[str]) -> dict[str, dict[str, str]]:
    """PLAYER=TAG:VALUE,TAG:VALUE as a mapping of mappings."""
    tags: dict[str, dict[str, str]] = {}
    for word in words:
        player, equals, pairs = word.partition("=")
        for pair in pairs.split(","):
            tag, colon, value = pair.partition(":")
            if not (player and equals and colon):
                form = "write PLAYER=TAG:VALUE, several tags with commas"
                raise InvalidName(f"{word[:80]!r} tags nobody: {form}")
            if tags.setdefault(player, {}).setdefault(tag, value) != value:
                raise InvalidName(f"{player} cannot be of {tag} {tags[player][tag]} and {value}")
    return tags


def tagged_records(
    tags: Mapping[str, Mapping[str, str]], players: Mapping[str, str] | None = None
) -> tuple[Tagged, ...]:
    """The records of tags; `players` maps the names that can be tagged, else any can."""
    players, records = players or {name: name for name in tags}, []
    for called, pairs in tags.items():
        if called not in players:
            everybody = " and ".join(players)
            raise InvalidName(f"nobody is called {called[:40]} here: there are {everybody}")
        if len(pairs) > TAGS_MAX:
            raise InvalidName(f"{called} has {len(pairs)} tags, and {TAGS_MAX} can be kept")
        for tag, value in pairs.items():
            if not (_TAG.fullmatch(tag) and _VALUE.fullmatch(value)):
                rule = "small letters, digits, _ and -, 20 at most, and a value of ._-+, too, of 40"
                raise InvalidName(f"{f'{tag}:{value}'[:80]!r} cannot be a tag: {rule}")
            records.append(Tagged(players[called], tag, value))
    return tuple(records)


@cache
def filename_pattern(template: str) -> re.Pattern[str]:
    """A pattern of file names from a template like `{a}__{b}__{n}.txt`: {a} and {b} name the
    players A and B, {n} is whatever else differs."""
    parts = re.split(r"\{(\w*)\}", template)
    fields = parts[1::2]
    if sorted(field for field in fields if field != "n") != ["a", "b"]:
        sentence = "names no players: it has {a} and {b} once, and {n}"
        raise InvalidName(f"{template[:80]!r} {sentence}")
    groups = {"a": "(?P<A>.+?)", "b": "(?P<B>.+?)", "n": ".+?"}
    every = zip(parts[::2], [*map(groups.__getitem__, fields), ""], strict=True)
    return re.compile("".join(re.escape(text) + group for text, group in every))


def names_in_filename(file: str, template: str) -> dict[str, str]:
    """The names of the players A and B from a file's own name."""
    names = filename_pattern(template).fullmatch(file)
    if names is None:
        raise InvalidName(f"its name does not fit --players {template}")
    return names.groupdict()


def claim_names(
    private: SecretFolder, programs: Mapping[str, BotProgram], given: Collection[str]
) -> None:
    """Keep in the ledger which folder a bot's name is for.

    A name that comes from a folder's own and that another folder has is refused, for both would be
    one player. A `given` name goes to the folder that it is given to: its owner says who it is.
    """
    kept = private.read(BOTS_FILE)
    claimed = msgspec.json.decode(kept, type=dict[str, str]) if kept else {}
    for letter, program in programs.items():
        folder = str(program.folder)
        if letter not in given and claimed.get(program.name, folder) != folder:
            end = "/".join(program.folder.parts[-2:])
            raise InvalidName(
                f"{program.name} is the bot of another folder in this ledger:"
                f" name the one in {end}, --names {letter}=NAME"
            )
    now = {program.name: str(program.folder) for program in programs.values()}
    if claimed != claimed | now:
        private.write(BOTS_FILE, msgspec.json.encode(claimed | now, order="sorted") + b"\n")

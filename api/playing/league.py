"""Read the file of a league, and pair its bots for the matches still to be played.

Nothing else is remembered. A match is called LEAGUE.ROUND.A.B, and is in the ledger whole or not at
all; so whatever ended a league, it goes on where its matches end.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from api.playing.names import InvalidName, tagged_records
from dealer.wire.program import BotProgram, NoBotFolder, read_program
from events.match import Disclosure

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,19}"
BotName = Annotated[str, Meta(pattern=f"^{_NAME}$")]
_MATCH = re.compile(rf"({_NAME})\.([1-9][0-9]{{0,2}})\.({_NAME})\.({_NAME})")
_BOTS = re.compile(r"^\[bots\][ \t]*(#[^\n]*)?\n", re.MULTILINE)


class InvalidLeague(ValueError):
    """A file that is no league's."""


class League(Struct, frozen=True, forbid_unknown_fields=True, rename={"name": "league"}):
    """The file of a league. Names have no dot in them: a match's name has one between its parts."""

    name: BotName
    bots: Annotated[dict[BotName, str | dict[str, str | int]], Meta(min_length=2, max_length=100)]
    format: Literal["round-robin", "swiss", "gauntlet"] = "round-robin"
    champion: str | None = None
    rounds: Annotated[int, Meta(ge=1, le=999)] = 1
    game: str = "auction-2024-mit"
    set: dict[str, str | int] = {}
    hands: Annotated[int, Meta(ge=1, le=10_000)] = 1_000  # of a match, which waits in memory
    mirror: bool = True
    seed: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    clock: Annotated[float, Meta(gt=0)] = 30.0
    disclosure: Disclosure = "sealed"
    workers: Annotated[int, Meta(ge=1, le=256)] | None = None

    def folder(self, bot: str) -> str:
        """The folder of a bot, as seen from the file."""
        entry = self.bots[bot]
        return entry if isinstance(entry, str) else str(entry["folder"])

    def tags(self, bot: str) -> dict[str, str]:
        """The tags of a bot: all keys of it but its folder."""
        entry = self.bots[bot]
        keys = {} if isinstance(entry, str) else entry
        return {tag: str(value) for tag, value in keys.items() if tag != "folder"}


class Pairing(NamedTuple):
    """Two bots who meet in a round."""

    round: int
    players: tuple[str, str]


Results = Mapping[Pairing, Mapping[str, int]]
"""The matches that were played whole, and what each bot won or lost in it."""


def read_league(path: Path) -> League:
    """The league of a file, or what is wrong with the file."""
    try:
        return parse_league(path.read_text("utf-8"))
    except OSError as why:
        raise InvalidLeague(f"{path} cannot be read: {why.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidLeague(f"{path} is no league: it is not UTF-8") from None
    except InvalidLeague as why:
        raise InvalidLeague(f"{path} is no league: {why}") from None


def parse_league(text: str) -> League:
    """The league that a text says, if it can be played."""
    try:
        league = msgspec.convert(tomllib.loads(text), League)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as why:
        raise InvalidLeague(str(why)[:300]) from None
    if (league.format == "gauntlet") != (league.champion is not None):
        raise InvalidLeague("a gauntlet, and nothing else, has a champion, whom all others play")
    if league.champion is not None and league.champion not in league.bots:
        raise InvalidLeague(f"its champion {league.champion[:40]!r} is none of its bots")
    if league.format == "swiss" and league.rounds >= len(league.bots):
        raise InvalidLeague(
            f"so many rounds of {len(league.bots)} bots are a round-robin: name that"
        )
    for name, entry in league.bots.items():
        if not isinstance(entry, str) and not isinstance(entry.get("folder"), str):
            raise InvalidLeague(f"its bot {name} has no folder")
        try:
            tagged_records({name: league.tags(name)}, {name: name})
        except InvalidName as why:
            raise InvalidLeague(str(why)) from None
    if league.mirror and league.hands % 2:
        raise InvalidLeague(
            f"mirrored, each deck is dealt twice: {league.hands} hands are no pairs"
        )
    return league


def bot_programs(league: League, folder: Path) -> dict[str, BotProgram]:
    """Every bot of the league; their folders are named from that of the file."""
    return {name: read_program(folder / league.folder(name), name) for name in league.bots}


def text_with_bot(text: str, name: str, place: str, tags: Mapping[str, str]) -> str:
    """The text of a league's file with one more bot, everything else as it was."""
    before = parse_league(text)
    if name in before.bots:
        raise InvalidLeague(f"there is a bot {name} in it already, in {before.folder(name)}")
    heads = list(_BOTS.finditer(text))
    if len(heads) != 1:
        raise InvalidLeague(
            "its bots do not stand under one line [bots]: write the new one in by hand"
        )
    at = heads[0].end()
    keys = {"folder": place, **tags}
    pairs = (f"{key} = {msgspec.json.encode(value).decode()}" for key, value in keys.items())
    entry = f"{{{', '.join(pairs)}}}" if tags else msgspec.json.encode(place).decode()
    after = f"{text[:at]}{name} = {entry}\n{text[at:]}"
    if parse_league(after) != replace(before, bots={name: keys if tags else place, **before.bots}):
        raise InvalidLeague("the new bot cannot be written into it: write it in by hand")
    return after


def match_name(league: League, pairing: Pairing) -> str:
    """The name of a pairing's match."""
    return ".".join((league.name, str(pairing.round), *pairing.players))


def pairing_of(match: str) -> tuple[str, Pairing] | None:
    """The league and the pairing that a match of this name is; None if it is of no league."""
    parts = _MATCH.fullmatch(match)
    if parts is None or not parts[3] < parts[4]:
        return None
    return parts[1], Pairing(int(parts[2]), (parts[3], parts[4]))


def playable_pairings(league: League, played: Results) -> tuple[Pairing, ...]:
    """The pairings that can be played now; of a Swiss only those of the next round."""
    if league.format == "swiss":
        rounds = range(1, league.rounds + 1)
        return next((some for one in rounds if (some := _swiss_pairings(league, played, one))), ())
    every = list(combinations(sorted(league.bots), 2))
    if league.champion is not None:
        every = [pair for pair in every if league.champion in pair]
    pairings = (Pairing(one, pair) for one in range(1, league.rounds + 1) for pair in every)
    return tuple(pairing for pairing in pairings if pairing not in played)


def matches_left(league: League, played: Results) -> int:
    """The number of matches still to play; a Swiss knows it before it knows which."""
    if league.format != "swiss":
        return len(playable_pairings(league, played))
    rounds = Counter(one.round for one in played)
    return sum(len(league.bots) // 2 - rounds[one] for one in range(1, league.rounds + 1))


def _swiss_pairings(league: League, played: Results, number: int) -> tuple[Pairing, ...]:
    """The open pairings of a Swiss round: the next in standing who met least often; of an odd
    number the last of those who sat out least sits out."""
    before = {one: nets for one, nets in played.items() if one.round < number}
    here = [one.players for one in played if one.round == number]
    met = Counter(one.players for one in before)
    seen = Counter(player for one in before for player in one.players)
    order = [one.bot for one in standings(league.bots, before)]
    at_table = {player for pair in here for player in pair}
    free = [player for player in order if player not in at_table]
    if len(free) % 2:
        sits = max(free, key=lambda player: (seen[player], order.index(player)))
        free.remove(sits)
    for often in range(number):
        if (pairs := _pairs(free, met, often)) is not None:
            return tuple(Pairing(number, pair) for pair in pairs)
    raise AssertionError("who met in every round before can meet again")


def _pairs(
    free: Sequence[str], met: Counter[tuple[str, str]], often: int
) -> list[tuple[str, str]] | None:
    """All of them in pairs that met no more than so often; None if that cannot be."""
    if not free:
        return []
    first, *others = free
    for other in others:
        pair = (min(first, other), max(first, other))
        if met[pair] <= often:
            rest = _pairs([one for one in others if one != other], met, often)
            if rest is not None:
                return [pair, *rest]
    return None


class BotStanding(Struct, frozen=True):
    """A bot's matches so far, and the chips that he has won in them."""

    bot: str
    matches: int
    won: int
    drawn: int
    lost: int
    chips: int

    @property
    def points(self) -> float:
        """A match; a win is one, a draw half of one. Who has not played yet stands in between."""
        return (self.won + self.drawn / 2) / self.matches if self.matches else 0.5


def standings(bots: Iterable[str], played: Results) -> list[BotStanding]:
    """All of them: by points a match, then by chips, then by name."""
    rows = []
    for bot in bots:
        mine = [nets for pairing, nets in played.items() if bot in pairing.players]
        ahead = [2 * nets[bot] - sum(nets.values()) for nets in mine]  # his chips less his rival's
        won, drawn = sum(lead > 0 for lead in ahead), sum(lead == 0 for lead in ahead)
        chips = sum(nets[bot] for nets in mine)
        rows.append(BotStanding(bot, len(mine), won, drawn, len(mine) - won - drawn, chips))
    return sorted(rows, key=lambda row: (-row.points, -row.chips, row.bot))


def check_bot(name: str, place: Path) -> None:
    """Refuse what could not be a bot of a league."""
    try:
        msgspec.convert(name, BotName)
    except msgspec.ValidationError:
        rule = "letters, digits, _ and -, 20 at most"
        raise InvalidLeague(f"{name[:40]!r} cannot be a bot's name in a league: {rule}") from None
    try:
        read_program(place, name)
    except NoBotFolder as why:
        raise InvalidLeague(str(why)) from None

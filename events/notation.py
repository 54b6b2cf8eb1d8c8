"""The one spoken line of every event, and the event back from its line.

`2 bids 10`, `auction to 2 at 4`, `1 raises 15 to 20, 0 to act`: the language of tests, golden
files, replays and audit reports. Each kind of event has one pattern below, and the same pattern
says and reads, so the two directions cannot drift apart. Free text stands bare if it is a plain
word and in JSON quotes if not.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, cast, get_args

import msgspec

from events import types as t
from events.codec import Unreadable
from events.match import (
    DeckCommitted,
    DeckOpened,
    Drawer,
    Match,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
    Tagged,
)
from events.types import Origin

_PATTERNS: dict[type[t.Event | Match], str] = {
    t.HandStarted: "hand {hand} of {game} {ruleset}, button {button}{dead_small}: {players+stacks}"
    "{played}{assumed}",
    t.StepEntered: "step {step}: {name}",
    t.AntePosted: "{seat} antes {amount}",
    t.BlindPosted: "{seat} posts {kind} {amount} to {to}{posting}",
    t.HoleDealt: "{seat} is dealt {cards}",
    t.BoardDealt: "board {cards}",
    t.CardSwapped: "{seat} risks {old} in slot {slot}, holds {new}{told}",
    t.BountyDrawn: "{seat} has the bounty {rank}",
    t.BettingOpened: "step {step}: {street} betting, {bet} to match, raise by {size}{next}",
    t.Folded: "{seat} folds{origin}{next}",
    t.Checked: "{seat} checks{origin}{next}",
    t.Called: "{seat} calls {amount}{origin}{next}",
    t.Bet: "{seat} bets {amount}{full}{origin}{next}",
    t.Raised: "{seat} raises {amount} to {to}{full}{origin}{next}",
    t.BidPlaced: "{seat} bids {amount}{sealed}{origin}",
    t.Tossed: "{seat} tosses {cards} from slot {slot}{origin}",
    t.AuctionSettled: "auction to {seats} at {price}, bids {bids}{sealed}",
    t.UncalledReturned: "{seat} takes back {amount}",
    t.Announced: "{seat} announces {cards}",
    t.Shown: "{seat} shows {cards}",
    t.Mucked: "{seat} mucks",
    t.RakeTaken: "rake {amount} from pot {pot}",
    t.PotSplit: "pot {pot}: {shares+seats}",
    t.BountySettled: "{seat} {hit} its bounty, {amount} from {payer}",
    t.Claimed: "the source claims {nets}, rake {rake}",
    t.HandVoided: "hand void, {reason}",
    t.HandEnded: "hand over",
    t.TimedOut: "{seat} is out of time{all_in}{next}",
    t.Disconnected: "{seat} disconnects",
    t.Reconnected: "{seat} reconnects",
    t.Faulted: "{seat} replies {raw}, {kind} as {where}",
    MatchStarted: "match {match} of {game} {ruleset}, {dealing} decks{seed}{deals}, {disclosure}"
    "{sealed_bids}: {players}",
    Tagged: "{player} is {tag} {value}",
    DeckCommitted: "{hands} decks committed by {commitment}",
    NonceGiven: "nonce {nonce} from {player}{drawn_by}",
    DeckOpened: "deck {number} opened by {secret}",
    SourceNoted: "source {format} {dialect}, header {header}, footer {footer}",
    MatchEnded: "match over, {reason}: {nets}",
}


def say(event: t.Event | Match) -> str:
    """The event's line."""
    line = _line(type(event))
    return "".join(part if isinstance(part, str) else part.say(event) for part in line.parts)


def say_all(events: Iterable[t.Event]) -> str:
    """A hand as lines."""
    return "".join(say(event) + "\n" for event in events)


def read(line: str) -> t.Event:
    """The event that a line says; a line that says none is refused in one sentence."""
    return cast(t.Event, _read(line, get_args(t.Event)))


def read_record(line: str) -> Match:
    """The match record that a line says."""
    return cast(Match, _read(line, get_args(Match)))


def _read(line: str, kinds: Iterable[type[t.Event | Match]]) -> Any:
    for kind in kinds:
        form = _line(kind)
        if match := form.regex.fullmatch(line):
            fields: dict[str, Any] = {}
            for part, text in zip(form.fields, match.groups(), strict=True):
                part.read(text, fields)
            try:
                return msgspec.convert(fields, kind, strict=False)
            except msgspec.ValidationError as reason:
                raise Unreadable(f"{line!r}: {reason}") from None
    raise Unreadable(f"{line!r} says no event: see docs/events.md for the lines there are")


class _Field(NamedTuple):
    """One field in a line: what it looks like, how to say it, how to read it."""

    regex: str
    say: Callable[[Any], str]
    read: Callable[[str, dict[str, Any]], None]


class _LineFormat(NamedTuple):
    """A pattern taken apart: literal text and fields, and the regex of the whole."""

    parts: tuple[str | _Field, ...]
    regex: re.Pattern[str]

    @property
    def fields(self) -> tuple[_Field, ...]:
        return tuple(part for part in self.parts if isinstance(part, _Field))


@cache
def _line(kind: type[t.Event | Match]) -> _LineFormat:
    parts: list[str | _Field] = []
    regex = ""
    for literal, name in re.findall(r"([^{]*)(?:\{([^}]+)\})?", _PATTERNS[kind]):
        if literal:
            parts.append(literal)
            regex += re.escape(literal)
        if name:
            if "+" in name:
                field = _pairs(*name.split("+"))
            else:
                field = _SPECIAL.get(name) or _word(name)
            parts.append(field)
            regex += f"({field.regex})"
    return _LineFormat(tuple(parts), re.compile(regex))


_BARE = r"(?:[\w./:+-]+|\?\?)"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_WORD = rf"(?:{_BARE}|{_QUOTED})"


def _text(value: Any) -> str:
    text = str(value)
    return text if re.fullmatch(_BARE, text, re.ASCII) else json.dumps(text)


def _unquoted(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


def _word(name: str) -> _Field:
    """A number or a piece of text."""

    def read(text: str, fields: dict[str, Any]) -> None:
        fields[name] = _unquoted(text)

    return _Field(_WORD, lambda event: _text(getattr(event, name)), read)


def _suffix(name: str, texts: dict[Any, str]) -> _Field:
    """A field that is said only where it is not what everybody expects."""
    values = {text: value for value, text in texts.items()}
    regex = "|".join(re.escape(text) for text in texts.values() if text)

    def read(text: str, fields: dict[str, Any]) -> None:
        fields[name] = values[text]

    return _Field(f"(?:{regex})?", lambda event: texts[getattr(event, name)], read)


def _optional(name: str, pattern: str, value_regex: str, unsaid: object) -> _Field:
    """A field that is said unless it has one value: a deck is dealt once, nobody is to act."""
    before, after = pattern.split("{}")
    regex = f"(?:{re.escape(before)}{value_regex}{re.escape(after)})?"

    def say(event: Any) -> str:
        value = getattr(event, name)
        return "" if value == unsaid else f"{before}{_text(value)}{after}"

    def read(text: str, fields: dict[str, Any]) -> None:
        value = text.removeprefix(before).removesuffix(after)
        fields[name] = _unquoted(value) if text else unsaid

    return _Field(regex, say, read)


def _listed(
    name: str, between: str, left: str = "", right: str = "", *, may_miss: bool = False
) -> _Field:
    """Several values in a row; without any, nothing is said of them where they `may_miss`."""
    between_regex = re.escape(between)
    regex = re.escape(left) + rf"(?:{_WORD}(?:{between_regex}{_WORD})*)?" + re.escape(right)
    if may_miss:
        regex = f"(?:{regex})?"

    def say(event: Any) -> str:
        values = getattr(event, name)
        if may_miss and not values:
            return ""
        return left + between.join(map(_text, values)) + right

    def read(text: str, fields: dict[str, Any]) -> None:
        inner = text.removeprefix(left).removesuffix(right)
        fields[name] = tuple(
            _unquoted(w) for w in re.findall(f"({_WORD})(?:{between_regex})?", inner)
        )

    return _Field(regex, say, read)


def _pairs(first: str, second: str) -> _Field:
    """Two rows said together: `ursa 400, lynx 400`, `150 to 1, 150 to 2`."""
    joint = " to " if first == "shares" else " "
    item = rf"({_WORD}){joint}({_WORD})"
    pair_regex = re.sub(r"\((?!\?)", "(?:", item)

    def say(event: Any) -> str:
        rows = zip(getattr(event, first), getattr(event, second), strict=True)
        return ", ".join(f"{_text(a)}{joint}{_text(b)}" for a, b in rows)

    def read(text: str, fields: dict[str, Any]) -> None:
        pairs = re.findall(item, text)
        fields[first] = tuple(_unquoted(a) for a, _ in pairs)
        fields[second] = tuple(_unquoted(b) for _, b in pairs)

    return _Field(rf"(?:{pair_regex}(?:, {pair_regex})*)?", say, read)


_ORIGIN = {value: f" ({value})" for value in get_args(Origin)}

_DRAWERS = {value: f", drawn by the {value}" for value in get_args(Drawer)}

_SPECIAL: dict[str, _Field] = {
    "next": _optional("next", ", {} to act", r"\d+", None),
    "seed": _optional("seed", " of seed {}", _WORD, None),
    "deals": _optional("deals", ", each dealt {} times", r"\d+", 1),
    "played": _optional("played", "; played {}", "[0-9TZ:+-]+", ""),
    "assumed": _listed("assumed", ", ", "; assuming ", may_miss=True),
    "cards": _listed("cards", " ", "[", "]"),
    "seats": _listed("seats", " and "),
    "bids": _listed("bids", " and "),
    "nets": _listed("nets", ", "),
    "players": _listed("players", ", "),
    "origin": _suffix("origin", {**_ORIGIN, "chosen": ""}),
    "posting": _suffix("origin", {**_ORIGIN, "forced": ""}),
    "full": _suffix("full", {True: "", False: ", short"}),
    "sealed": _suffix("sealed", {True: "", False: ", open"}),
    "sealed_bids": _suffix("sealed_bids", {True: "", False: ", open bids"}),
    "told": _suffix("told", {True: ", openly", False: ""}),
    "hit": _suffix("hit", {True: "hits", False: "misses"}),
    "dead_small": _suffix("dead_small", {True: ", no small blind", False: ""}),
    "all_in": _suffix("all_in", {True: " and all-in", False: ""}),
    "drawn_by": _suffix("drawn_by", {None: "", **_DRAWERS}),
}

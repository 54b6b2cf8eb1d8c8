"""A ledger of names that would steer a screen, turn its lines about, or look like our answers."""

import unicodedata
from pathlib import Path

from msgspec.structs import replace

from api.playing.recording import ledger_projections
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events import types as t
from events.ledger import Append, Record
from events.match import MatchEnded, MatchStarted, NonceGiven, SourceNoted
from events.types import Events, HandStarted
from store.ledger import open_ledger

FORGED = "VERIFIED by nobody"
ATTACKS = {
    "colours": f"\x1b[2J\x1b[31m{FORGED}\x1b[0m",
    "a title": f"\x1b]0;{FORGED}\x07",
    "a line": f"\n{FORGED}",
    "a line of Windows": f"\r\n{FORGED}\r\n",
    "back to the margin": f"\r{FORGED}",
    "a step back": f"\b\b\b\b\b\b\b\b{FORGED}",
    "C1": f"\x9b2J\x85{FORGED}\x90",
    "lines of Unicode": f"\u2028{FORGED}\u2029{FORGED}\v{FORGED}\f{FORGED}\x1c{FORGED}",
    "an override": f"\u202e{FORGED[::-1]}",
    "an isolate": f"\u2067{FORGED}\u2066\u202b\u061c\u200f",
    "right to left": "אבג \u05d3 سلام",
    "nothing to see": "\u200b\ufeff\u2060\u00ad\u200d\U000e0041",
    "accents": "a" + "\u0301" * 500,
    "very long": "w" * 3_000,
    "a tab and a formula": f"=1+1\t{FORGED}",
    "marks of rich": f"[bold]{FORGED}[/bold] [link=x]",
    "HTML": f"<b>{FORGED}</b><script>alert(1)</script>\"'",
    "NUL": f"\0\x7f{FORGED}",
}
_SPARED = "\u200c\u200d"


def players(attack: str) -> tuple[str, str]:
    """The two who play its match."""
    return f"a{ATTACKS[attack]}", f"b{ATTACKS[attack]}"


def match(attack: str) -> str:
    """Its match, under a name that a stream can have."""
    return f"m{ATTACKS[attack][:200]}".replace("/", "|")


def made(folder: Path) -> Path:
    """Three hands for each attack: a name of players, match and game, a fault, notes, reasons."""
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    games = [GAMES["auction-2024"], GAMES["swap-2022"], GAMES["urcs-1998"]]
    for place, attack in enumerate(ATTACKS):
        game, text = games[place % len(games)], ATTACKS[attack]
        name, names = match(attack), players(attack)
        ledger.keep_ruleset(fingerprint(game), to_json(game))
        start = MatchStarted(
            name, game.name + text, fingerprint(game), names, "seeded", "open", False, seed=text
        )
        note = SourceNoted("acpc", f"dialect {text}", f"# {text}\n", text)
        records: tuple[Record, ...] = (start, note, NonceGiven(names[0], f"n{place}"))
        ledger.append(Append(name, 0, records, 1_700_000_000_000))
        for number, events in enumerate(play(game, name, 3, "seed", 2), start=1):
            hand = _called(events, names, text if number == 2 else None)
            at = 1_700_000_000_000 + 1_000 * number
            ledger.append(Append(f"{name}/{number}", 0, hand, at))
        ledger.append(Append(name, 3, (MatchEnded((0, 0), text),), 1_700_000_009_000))
    ledger.seal()
    ledger.close()
    lock.release()
    return folder


def _called(events: Events, names: tuple[str, str], fault: str | None) -> Events:
    """A hand of these players; with a fault that keeps what somebody wrote."""
    start, *rest = events
    assert isinstance(start, HandStarted)
    if fault is not None:  # before the first answer of a seat
        acts = (t.Folded, t.Checked, t.Called, t.Bet, t.Raised)
        place, act = next((place, one) for place, one in enumerate(rest) if isinstance(one, acts))
        rest.insert(place, t.Faulted(act.seat, fault, "malformed", "action"))
    return (replace(start, players=names), *rest)


def steering(text: str, lines: str = "\n") -> list[str]:
    """Every character of a text that a screen obeys, or that nobody can see."""
    return [
        one
        for one in text
        if one not in lines
        and one not in _SPARED
        and not one.isprintable()
        and unicodedata.category(one) != "Zs"
    ]


def forged(text: str) -> list[str]:
    """Lines that begin as if they were an answer of ours."""
    return [line for line in text.splitlines() if line.lstrip().startswith(FORGED)]

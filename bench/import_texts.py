"""Texts to import: gamelogs of simulated matches, no-limit hands as PHH and PokerStars tell them.

The PokerStars text is just what its readers ask for: no chat, no rake, every hand shown that is
shown down.
"""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bench.phh import phh
from bench.play import hands
from dealer.play import play
from engine.games import GAMES
from events.cards import Cards
from events.evolve import evolve
from events.state import Hand, opened
from events.types import (
    Bet,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    PotSplit,
    Raised,
    Shown,
    UncalledReturned,
)
from formats.mit.write import write

SEATS = 6
FILE = 250  # hands
PLAYED = 4  # gamelogs that differ in more than names
_STREETS = {3: "FLOP", 4: "TURN", 5: "RIVER"}


def gamelogs(folder: Path, hands: int, rounds: int) -> Path:
    """So many hands in logs of so many rounds; every fourth is of the swap game.

    From the fifth on they are the first four again, under names of their own.
    """
    folder.mkdir()
    played: list[str] = []
    for number in range(-(-hands // rounds)):
        if number < PLAYED:
            game = "swap-2022-mit" if number % 4 == 3 else "auction-2024-mit"
            log = islice(play(GAMES[game], "m", rounds, f"seed {number}"), rounds)
            played.append(write(log))
        text = played[number % PLAYED].replace("random-", f"bot {number}-")
        (folder / f"{number:03}.txt").write_text(text, encoding="utf-8")
    return folder


def one_log(path: Path, hands: int, rounds: int) -> Path:
    """So many hands in one log: a match of so many rounds again and again, on from where it was."""
    assert rounds % 2 == 0, "each time the same player deals first"
    log = write(islice(play(GAMES["auction-2024-mit"], "m", rounds, "long"), rounds))
    header, *texts, final = log.split("\n\n")
    won = [int(net) for net in re.findall(r"\((-?\d+)\)", final)]

    def later(line: str, again: int) -> str:
        """A line with what both have won, the same player named first each time."""
        order = won if line.index("random-0") < line.index("random-1") else won[::-1]
        nets = iter(order)
        return re.sub(r"\((-?\d+)\)", lambda it: f"({int(it[1]) + again * next(nets)})", line)

    with path.open("w", encoding="utf-8") as file:
        file.write(f"{header}\n\n")
        for at in range(hands):
            again, place = divmod(at, rounds)
            first, line, rest = texts[place].partition("\n")
            standing = later(first, again).partition(",")[2]
            file.write(f"Round #{at + 1},{standing}{line}{rest}\n\n")
        first, line, rest = final.partition("\n")
        file.write(f"{later(first, hands // rounds - 1)}{line}{rest}")
    return path


def phh_files(folder: Path, count: int) -> Path:
    """Files of so many tables."""
    texts = [f"[{n % FILE + 1}]\n{phh(hand)}" for n, hand in enumerate(hands(SEATS, count))]
    return _filed(folder, "phhs", texts)


def pokerstars_files(folder: Path, count: int) -> Path:
    """Files of so many hands."""
    texts = [f"{_pokerstars(hand, n)}\n\n" for n, hand in enumerate(hands(SEATS, count), 1)]
    return _filed(folder, "txt", texts)


def _filed(folder: Path, ending: str, texts: Sequence[str]) -> Path:
    folder.mkdir()
    for first in range(0, len(texts), FILE):
        path = folder / f"{first:06}.{ending}"
        path.write_text("\n".join(texts[first : first + FILE]), encoding="utf-8")
    return folder


def _pokerstars(record: Events, number: int) -> str:
    start = record[0]
    assert isinstance(start, HandStarted)
    lines = [
        f"PokerStars Hand #{number}:  Hold'em No Limit ($5/$10 USD) - 2024/01/01 12:00:00 ET",
        f"Table 'Bench' {SEATS}-max Seat #{start.button + 1} is the button",
    ]
    seats = enumerate(zip(start.players, start.stacks, strict=True), 1)
    lines += [f"Seat {seat}: {player} (${stack} in chips)" for seat, (player, stack) in seats]
    hand, won, dealt, showed = opened(start), [0] * SEATS, False, False
    for event in record[1:]:
        if isinstance(event, HoleDealt) and not dealt:
            lines.append("*** HOLE CARDS ***")
            dealt = True
        if isinstance(event, Shown) and not showed:
            lines.append("*** SHOW DOWN ***")
            showed = True
        if isinstance(event, PotSplit):
            for seat, share in zip(event.seats, event.shares, strict=True):
                won[seat] += share
        lines += _said(event, hand)
        hand = evolve(hand, event)
    lines += [
        f"{start.players[s]} collected ${share} from pot" for s, share in enumerate(won) if share
    ]
    lines += ["*** SUMMARY ***", f"Total pot ${sum(won)} | Rake $0"]
    return "\n".join([*lines, *([f"Board [{' '.join(hand.board)}]"] if hand.board else [])])


def _said(event: Event, hand: Hand) -> Sequence[str]:
    """The line of an event; cards of a seat are not told before they are shown."""
    name = hand.start.players[event.seat] if hasattr(event, "seat") else ""
    match event:
        case BlindPosted(amount=amount, kind=kind):
            return (f"{name}: posts {kind} blind ${amount}",)
        case BoardDealt(cards=cards):
            return (_street(hand.board, cards),)
        case Folded():
            return (f"{name}: folds",)
        case Checked():
            return (f"{name}: checks",)
        case Called(amount=amount):
            return (f"{name}: calls ${amount}",)
        case Bet(amount=amount):
            return (f"{name}: bets ${amount}",)
        case Raised(to=to):
            assert hand.round is not None
            return (f"{name}: raises ${to - hand.round.bet} to ${to}",)
        case UncalledReturned(amount=amount):
            return (f"Uncalled bet (${amount}) returned to {name}",)
        case Shown(cards=cards):
            return (f"{name}: shows [{' '.join(cards)}] (a hand)",)
    return ()


def _street(before: Cards, cards: Cards) -> str:
    name = _STREETS[len(before) + len(cards)]
    shown = f" [{' '.join(before)}]" if before else ""
    return f"*** {name} ***{shown} [{' '.join(cards)}]"

"""Faults: a row for each bot's reply that could not be used, with the menu and a suggested cause.

The menu comes from the hand's own rules, the reply from the record, as far as the viewer may read
it. Causes are guesses from the reply.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from analytics.replay.flags import STREETS
from analytics.replay.rules import Rulebook
from engine.game import Game
from engine.hand import turn
from engine.policies import per_chip
from engine.steps import Auction, Betting, Run, TossHole
from engine.turn import ToAct, ToBid, ToToss, Turn
from events.evolve import evolve, replay
from events.notation import say
from events.state import Hand
from events.types import BidPlaced, Called, Checked, Faulted, Folded, Tossed
from store.columns.codec import HEAD, WHO, Row, arrow_table, hand_head
from store.log.streams import Leaf

SCHEMA = pa.schema(
    {
        **HEAD,
        **WHO,
        "step": pa.string(),
        "asked": pa.string(),
        "reply": pa.string(),
        "kind": pa.string(),
        "played": pa.string(),
        "suggested": pa.string(),
        "put_in": pa.float64(),
        "net": pa.float64(),
    }
)
CAUSES = {
    "float amount": "a number with a point in it where whole chips are due",
    "no amount": "the letter of a raise or bid without a whole number behind it",
    "lower case": "the word in small letters",
    "empty line": "nothing at all before the end of the line",
    "reply shifted by one": "an answer to another question: one line too many was sent, or too few",
    "bid while stack is 0": "a bid by who has nothing left to bid",
    "bid above the stack": "a bid larger than what he has left",
    "raise above what can be called": "a raise beyond the largest on the menu",
    "raise below the least": "a raise short of the smallest on the menu",
    "raise where none was possible": "a raise while the menu had none",
    "check with a bet to call": "a check while chips were owed",
    "call or fold with nothing to call": "a call or fold while a check was free",
    "toss of no card": "the number of a card that he does not hold",
    "too slow": "the clock ran out, or one reply took too long",
    "gone": "the connection broke or the program ended",
    "not known": "none of these",
}
_REPLY_BYTES = 200  # bytes of a reply that are told
_ANSWERS = (Checked, Called, Folded, BidPlaced, Tossed)
_WORD = re.compile(r"([A-Z])(-?\d+(?:\.\d+)?)?")


def fault_rows(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """Rows of the faults of one hand in order; none of a void one."""
    end = leaf.hand
    if end is None or end.voided or Faulted not in leaf.by_kind:
        return
    game = rules.of(end.start.ruleset)
    unit = per_chip(game.unit) if game else 1
    events: list[Any] = [one.event for one in leaf.recorded]
    hand = replay(events[:1])
    for place, event in enumerate(events[1:], start=1):
        if isinstance(event, Faulted) and event.seat < len(end.stacks):
            seat = event.seat
            menu = _menu(game, hand, event)
            # A street, the auction, the toss, or the end of the hand.
            step = {0: STREETS[0], 3: STREETS[1], 4: STREETS[2]}.get(len(hand.board), STREETS[3])
            if event.where == "bid":
                step = "auction"
            elif hand.street == "toss":
                step = "toss"
            elif event.where == "acknowledgement":
                step = "end" if hand.over else "toss"
            elif hand.street in STREETS:
                step = hand.street
            answers = (it for it in events[place + 1 :] if isinstance(it, _ANSWERS))
            answer, played = next(answers, None), None
            if answer is not None and answer.seat == seat and answer.origin == "default":
                # The default that stood in for the reply, without whose it is.
                played = say(answer).removeprefix(f"{seat} ").partition(" (")[0]
            yield {
                **hand_head(leaf, end.start),
                "seat": seat,
                "player": end.start.players[seat],
                "step": step,
                "asked": menu_text(menu, event, over=hand.over),
                "reply": None if _is_hidden(event) else printable_reply(event.raw),
                "kind": event.kind,
                "played": played,
                "suggested": suggested_cause(menu, event),
                "put_in": (hand.start.stacks[seat] - hand.stacks[seat]) / unit,
                "net": (end.stacks[seat] - end.start.stacks[seat]) / unit,
            }
        hand = evolve(hand, event)


def fault_table(rows: Sequence[Row]) -> pa.Table:
    """Rows of faults as an Arrow table."""
    return arrow_table(rows, SCHEMA)


def printable_reply(reply: str) -> str:
    """A bot's reply in printable characters, others as escapes, 200 bytes at most."""
    safe = "".join(it if it.isprintable() else f"\\x{ord(it):02x}" for it in reply)
    if len(safe.encode()) <= _REPLY_BYTES:
        return safe
    return safe.encode()[: _REPLY_BYTES - 3].decode(errors="ignore") + "..."


def menu_text(menu: Turn | None, fault: Faulted, *, over: bool = True) -> str | None:
    """The menu in words: `fold, call 2, raise to 4..400`."""
    if fault.where == "acknowledgement":
        return "end of hand" if over else "a toss of the other"
    if isinstance(menu, ToBid):
        return f"bid 0..{menu.bid_max}"
    if isinstance(menu, ToToss):
        return f"toss 0..{menu.slots - 1}"
    if not isinstance(menu, ToAct):
        return None
    words = [word for word, there in (("fold", menu.fold), ("check", menu.check)) if there]
    words += [f"call {menu.call}"] if menu.call else []
    if menu.raise_min is not None:
        words.append(f"raise to {menu.raise_min}..{menu.raise_max}")
    return ", ".join(words)


def suggested_cause(menu: Turn | None, fault: Faulted) -> str | None:
    """The likely cause of a fault; None where the reply may not be read."""
    if fault.kind in _CAUSE_OF_KIND:
        return _CAUSE_OF_KIND[fault.kind]
    if _is_hidden(fault):
        return None
    reply = fault.raw.strip()
    word = _WORD.fullmatch(reply)
    if not reply:
        return "empty line"
    if word is None:
        return "lower case" if _WORD.fullmatch(reply.upper()) else "not known"
    letter, amount = word[1], word[2]
    letters = "D" if isinstance(menu, ToToss) else _REPLY_LETTERS[fault.where]
    if letter not in letters:
        return "reply shifted by one" if letter in "FCKRAD" else "not known"
    if amount and "." in amount:
        return "float amount"
    if letter in "RAD" and amount is None:
        return "no amount"
    match menu, letter:
        case ToBid(bid_max=most), "A":
            return "bid while stack is 0" if most == 0 else "bid above the stack"
        case ToToss(), "D":
            return "toss of no card"
        case ToAct(raise_min=None), "R":
            return "raise where none was possible"
        case ToAct(raise_min=int(least)), "R":
            below = int(amount or 0) < least
            return "raise below the least" if below else "raise above what can be called"
        case ToAct(check=False), "K":
            return "check with a bet to call"
        case ToAct(check=True), "C" | "F":
            return "call or fold with nothing to call"
    return "not known"


_CAUSE_OF_KIND = {"late": "too slow", "disconnected": "gone"}
_REPLY_LETTERS = {"action": "FCKR", "bid": "A", "acknowledgement": "K"}


def _menu(game: Game | None, hand: Hand, fault: Faulted) -> Turn | None:
    """The menu of the seat; None where it was not asked, or the record is not of these rules."""
    if game is None or fault.where == "acknowledgement" or not 0 <= hand.step < len(game.script):
        return None
    step = game.script[hand.step]
    try:
        if not isinstance(step, Auction | Betting | Run | TossHole) or step.done(game, hand):
            return None
        menu = turn(game, hand)
    except (LookupError, StopIteration, ValueError):
        return None
    return menu if isinstance(menu, ToAct | ToBid | ToToss) and menu.seat == fault.seat else None


def _is_hidden(fault: Faulted) -> bool:
    return fault.raw == "hidden"

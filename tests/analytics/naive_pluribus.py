"""Tracker statistics counted straight from PHH texts: a second reader, on purpose a simple one.

Six players with deep stacks, blinds of 50 and 100: whoever acts may raise unless he is all-in for
a call, so no rules are asked. Chips are counted in halves.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

POSITIONS = ("SB", "BB", "UTG", "HJ", "CO", "BTN")


class Said(NamedTuple):
    """One action: who, what (f, cc, cbr), and on which street."""

    seat: int
    verb: str
    street: int
    pays: bool


def counted(hands: Iterable[dict[str, Any]]) -> dict[str, Counter[str]]:
    """`NAME_k` and `NAME_n` for every player."""
    found: dict[str, Counter[str]] = {}
    for hand in hands:
        players = hand["players"]
        mine = [found.setdefault(name, Counter()) for name in players]
        said, folded = _said(hand)
        _before(said, mine)
        _after(said, mine)
        _ended(hand, said, folded, mine)
    return found


def _said(hand: dict[str, Any]) -> tuple[list[Said], set[int]]:
    """The actions, each knowing whether it had a bet to pay; who folded."""
    said: list[Said] = []
    street, bets, folded = 0, [50, 100, 0, 0, 0, 0], set[int]()
    for text in hand["actions"]:
        words = text.split()
        if words[:2] == ["d", "db"]:
            street, bets = street + 1, [0] * 6
            continue
        if words[0] == "d" or words[1] not in ("f", "cc", "cbr"):
            continue
        seat = int(words[0][1:]) - 1
        said.append(Said(seat, words[1], street, bets[seat] < max(bets)))
        if words[1] == "f":
            folded.add(seat)
        else:
            bets[seat] = max(bets) if words[1] == "cc" else int(words[2])
    return said, folded


def _note(row: Counter[str], name: str, done: bool) -> None:
    row[f"{name}_n"] += 1
    row[f"{name}_k"] += done


def _before(said: list[Said], mine: list[Counter[str]]) -> None:
    """Before the flop, action by action."""
    raisers: list[int] = []
    callers, entered, raised, acted = 0, set[int](), set[int](), set[int]()
    for one in said:
        if one.street:
            break
        row, up, seat = mine[one.seat], one.verb == "cbr", one.seat
        if not raisers and not callers:
            _note(row, "rfi", up)
            if POSITIONS[seat] in ("CO", "BTN", "SB"):
                _note(row, "steal", up)
        if len(raisers) == 1:
            _note(row, "three_bet", up)
            if callers:
                _note(row, "squeeze", up)
        if len(raisers) == 2:
            _note(row, "four_bet", up)
            _note(row, "fold_to_3bet", one.verb == "f")
            if seat == raisers[0]:
                _note(row, "fold_to_3bet_opener", one.verb == "f")
        acted.add(seat)
        if up:
            raisers, callers = [*raisers, seat], 0
            raised.add(seat)
        elif one.verb == "cc" and one.pays:
            callers += 1
        if up or (one.verb == "cc" and one.pays):
            entered.add(seat)
    for seat, row in enumerate(mine):
        _note(row, "vpip_all", seat in entered)
        if seat in acted:
            _note(row, "vpip", seat in entered)
            _note(row, "pfr", seat in raised)


def _after(said: list[Said], mine: list[Counter[str]]) -> None:
    """After the flop: the c-bet there, and every action."""
    raisers = [one.seat for one in said if one.street == 0 and one.verb == "cbr"]
    bets, continued = 0, False
    for one in (it for it in said if it.street == 1):
        if not bets and raisers and one.seat == raisers[-1]:
            _note(mine[one.seat], "cbet_flop", one.verb == "cbr")
            continued = one.verb == "cbr"
        elif bets == 1 and continued:
            _note(mine[one.seat], "fold_to_cbet_flop", one.verb == "f")
        bets += one.verb == "cbr"
    for one in (it for it in said if it.street):
        row = mine[one.seat]
        up, call = one.verb == "cbr", one.verb == "cc" and one.pays
        row["af_k"] += up
        row["af_n"] += call
        row["afq_k"] += up
        row["afq_n"] += up or call or one.verb == "f"


def _ended(
    hand: dict[str, Any], said: list[Said], folded: set[int], mine: list[Counter[str]]
) -> None:
    """Who saw the flop, who was there at the end, what it came to."""
    flop = any(text.startswith("d db") for text in hand["actions"])
    early = {one.seat for one in said if one.verb == "f" and one.street == 0}
    showdown = len(folded) < 5
    net = [
        int(2 * (after - before))
        for after, before in zip(hand["finishing_stacks"], hand["starting_stacks"], strict=True)
    ]
    paid = _paid(hand)
    for seat, row in enumerate(mine):
        there, won = showdown and seat not in folded, net[seat] + 2 * paid[seat] > 0
        if flop and seat not in early:
            _note(row, "wtsd", there)
            _note(row, "wwsf", won)
        if there:
            _note(row, "wsd", won)
        row["net_k"] += net[seat]
        row["net_showdown_k" if there else "net_without_k"] += net[seat]


def _paid(hand: dict[str, Any]) -> list[int]:
    """Chips put in that somebody matched."""
    paid, bets = [0] * 6, [50, 100, 0, 0, 0, 0]
    for text in hand["actions"]:
        words = text.split()
        if words[:2] == ["d", "db"]:
            paid = [a + b for a, b in zip(paid, bets, strict=True)]
            bets = [0] * 6
        elif words[0] != "d" and words[1] in ("cc", "cbr"):
            seat = int(words[0][1:]) - 1
            stack = hand["starting_stacks"][seat] - paid[seat]
            bets[seat] = min(stack, max(bets)) if words[1] == "cc" else int(words[2])
    paid = [a + b for a, b in zip(paid, bets, strict=True)]
    most, second = sorted(paid, reverse=True)[:2]
    paid[paid.index(most)] = second
    return paid

"""What players do and are asked, in words: a command from its line, a menu as one line."""

from collections.abc import Iterable, Iterator

from engine import turn as t
from engine.game import Game
from engine.hand import turn
from engine.steps.betting import sentence
from events.state import Hand


def command(text: str) -> t.Command:
    """The command that a line says, in the words of the event it would make."""
    will: t.Will = "default" if text.endswith(" (default)") else "chosen"
    match text.removesuffix(" (default)").replace(",", "").split():
        case [seat, "folds"]:
            return t.Fold(int(seat), will)
        case [seat, "checks"]:
            return t.Check(int(seat), will)
        case [seat, "calls"]:
            return t.Call(int(seat), will)
        case [seat, "bets", to] | [seat, "raises", "to", to]:
            return t.Raise(int(seat), int(to), will)
        case [seat, "straddles"]:
            return t.Straddle(int(seat), will)
        case [seat, "bids", amount]:
            return t.Bid(int(seat), int(amount), True, will)
        case [seat, "bids", amount, "open"]:
            return t.Bid(int(seat), int(amount), False, will)
        case [seat, "shows", *held]:
            return t.Show(int(seat), tuple(held))
        case [seat, "tosses", slot]:
            return t.Toss(int(seat), int(slot))
        case [seat, "tosses", slot, card]:
            return t.Toss(int(seat), int(slot), card)
        case [seat, "mucks"]:
            return t.Muck(int(seat))
        case [seat, "announces", *held]:
            return t.Announce(int(seat), tuple(held))
        case [seat, "is", "out", "of", "time"]:
            return t.TimeOut(int(seat))
        case [seat, "disconnects"]:
            return t.Disconnect(int(seat))
        case [seat, "reconnects"]:
            return t.Reconnect(int(seat))
    raise ValueError(f"{text!r} says no command")


def menu(game: Game, hand: Hand) -> str:
    """What the hand waits for: who may answer what, and why not more."""
    asked = turn(game, hand)
    match asked:
        case t.ToAct(seat=seat):
            why = sentence(game, hand, asked)
            return f"{seat} may {', '.join(_offers(hand, asked))}" + (f"; {why}" if why else "")
        case t.ToBid(seat=seat, bid_max=top):
            return f"{seat} may bid 0..{top}"
        case t.ToToss(seat=seat, slots=slots):
            return f"{seat} may toss slot 0..{slots - 1}"
        case t.ToStraddle(seat=seat, amount=amount):
            return f"{seat} may fold, straddle {amount}"
        case t.ToShow(seat=seat, may_muck=may_muck, announce=announce):
            verb = "announce" if announce else "show"
            return f"{seat} {f'may {verb}, muck' if may_muck else f'must {verb}'}"
        case t.Over():
            return "nobody"
    raise AssertionError(asked)


def signed(nets: Iterable[int]) -> str:
    """What each seat wins or loses: `+38 -38`."""
    return " ".join(f"{net:+d}" if net else "0" for net in nets)


def _offers(hand: Hand, asked: t.ToAct) -> Iterator[str]:
    if asked.fold:
        yield "fold"
    if asked.check:
        yield "check"
    if asked.call:
        yield f"call {asked.call}"
    if asked.raise_min is not None:
        verb = "raise to" if hand.round and hand.round.bet else "bet"
        only = asked.raise_min == asked.raise_max
        yield f"{verb} {asked.raise_min}" + ("" if only else f"..{asked.raise_max}")

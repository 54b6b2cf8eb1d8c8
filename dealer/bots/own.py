"""Bots that somebody else wrote in Python: a class or a function is made a player of ours.

A class is made from the seed, if it takes one, and has `choose(seen)`; a function is that itself.
What it returns is looked at before the rules are asked, for nothing holds it to its types.
"""

import inspect
import operator
import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dealer.bots.built_in import BOTS, Bot
from dealer.bots.seen import Seen
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Fold,
    IllegalCommand,
    Muck,
    Raise,
    Show,
    Straddle,
    Toss,
)
from events.types import FaultKind

Maker = Callable[[str], Bot]
"""Makes the bot of one chair from a seed."""
SPELLED = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)", re.ASCII)
TEXT_MAX = 200  # of an answer that could not be used, in its record

_PLAIN = (Fold, Check, Call, Straddle, Show, Muck)


class NoBot(ValueError):
    """A name or a thing that is no bot."""


class BotFailed(Exception):
    """A bot raised an exception: its match cannot go on."""


class NoAnswer(IllegalCommand):
    """What a bot returned answers nothing that its seat was asked; as text, to be kept."""

    def __init__(self, kind: FaultKind, answer: object) -> None:
        super().__init__(text(answer))
        self.kind = kind


def maker(bot: object) -> Maker:
    """What makes this bot: by its name, `module:Class`, a class with `choose`, or a function."""
    if isinstance(bot, str):
        return BOTS[bot] if bot in BOTS else maker(_imported(bot))
    if inspect.isclass(bot):
        if not callable(getattr(bot, "choose", None)):
            raise NoBot(f"{bot.__name__} is no bot: a class has choose(seen)")
        return lambda seed: Own(bot.__name__, _made(bot, seed).choose)
    if not callable(bot):
        raise NoBot(f"{str(bot)[:80]} is no bot: a class with choose(seen) or a function is one")
    return lambda seed: Own(name(bot), bot)


def name(bot: object) -> str:
    """What a bot is called: its name, that of its class, or of its function."""
    if isinstance(bot, str):
        return bot.rpartition(":")[2]
    title = str(getattr(bot, "__name__", type(bot).__name__))
    return re.sub(r"\W", "", title, flags=re.ASCII) or "function"  # a lambda is <lambda>


class Own:
    """Somebody's bot in a seat: what it raises is said in one sentence, its answers have a form."""

    def __init__(self, called: str, choose: Callable[[Seen], Any]) -> None:
        self._name, self._choose = called, choose

    def choose(self, seen: Seen) -> Command:
        try:
            answer = self._choose(seen)
        except (Exception, SystemExit) as why:
            raise BotFailed(f"{_raised(self._name, why)}, in hand {seen.hand}") from why
        command = formed(answer)
        if getattr(command, "seat", None) != seen.seat:  # nobody answers for another seat
            raise NoAnswer("illegal", answer)
        return command


def formed(answer: object) -> Command:
    """The same answer as a seat may give it: chosen, sealed if a bid, and in whole chips."""
    try:
        if isinstance(answer, Raise):
            return Raise(operator.index(answer.seat), operator.index(answer.to))
        if isinstance(answer, Bid):
            return Bid(operator.index(answer.seat), operator.index(answer.amount))
        if isinstance(answer, Toss):
            return Toss(operator.index(answer.seat), operator.index(answer.slot))
        if isinstance(answer, Announce):
            return Announce(operator.index(answer.seat), tuple(map(str, answer.cards)))
        if isinstance(answer, _PLAIN):
            return type(answer)(operator.index(answer.seat))
    except TypeError:
        raise NoAnswer("malformed", answer) from None
    raise NoAnswer("malformed", answer)


def text(answer: object) -> str:
    """An answer as it is kept beside the default that was played for it."""
    try:
        written = repr(answer)
    except Exception:
        written = type(answer).__name__
    return written.encode("utf-8", "replace").decode()[:TEXT_MAX]


def _made(bot: type[Any], seed: str) -> Any:
    """A bot of this class, from the seed if the class takes one."""
    arguments: tuple[str, ...] = (seed,)
    try:
        inspect.signature(bot).bind(seed)
    except (TypeError, ValueError):  # a class of C does not say what it takes
        arguments = ()
    try:
        return bot(*arguments)
    except (Exception, SystemExit) as why:
        raise BotFailed(f"{_raised(bot.__name__, why)}, when it was made") from why


def _raised(called: str, why: BaseException) -> str:
    first = (str(why).splitlines() or [""])[0][:TEXT_MAX]
    return f"the bot {called} raised {type(why).__name__}{': ' * bool(first)}{first}"


def _imported(spelled: str) -> object:
    """What `module:Class` names; modules in the current folder are found last."""
    match = SPELLED.fullmatch(spelled)
    if match is None:
        raise NoBot(
            f"no bot is called {spelled[:80]}: there are {', '.join(BOTS)}, and module:Class"
        )
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        module = import_module(match[1])
    except (Exception, SystemExit) as why:
        raise NoBot(f"{_raised(spelled, why)}, when {match[1]} was imported") from None
    if not hasattr(module, match[2]):
        raise NoBot(f"there is no {match[2]} in the module {match[1]}")
    return getattr(module, match[2])

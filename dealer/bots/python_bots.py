"""Bots given as Python: a name, `module:Class`, a class or a function becomes a player.

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
from dealer.bots.seat_view import Seen
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

BotMaker = Callable[[str], Bot]
"""Makes the bot of one chair from a seed."""
SPELLED = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)", re.ASCII)
TEXT_MAX = 200  # of an answer that could not be used, in its record

_PLAIN = (Fold, Check, Call, Straddle, Show, Muck)


class UnknownBot(ValueError):
    """The name or object given as a bot is none."""


class BotFailed(Exception):
    """A bot raised an exception: its match cannot go on."""


class UnusableAnswer(IllegalCommand):
    """A bot returned an answer that its seat cannot give; its text goes into the record."""

    def __init__(self, kind: FaultKind, answer: object) -> None:
        super().__init__(answer_text(answer))
        self.kind = kind


def bot_maker(bot: object) -> BotMaker:
    """The maker of a bot given by name, `module:Class`, class with `choose`, or function."""
    if isinstance(bot, str):
        return BOTS[bot] if bot in BOTS else bot_maker(_imported(bot))
    if inspect.isclass(bot):
        if not callable(getattr(bot, "choose", None)):
            raise UnknownBot(f"{bot.__name__} is no bot: a class has choose(seen)")
        return lambda seed: PythonBot(bot.__name__, _made(bot, seed).choose)
    if not callable(bot):
        raise UnknownBot(
            f"{str(bot)[:80]} is no bot: a class with choose(seen) or a function is one"
        )
    return lambda seed: PythonBot(bot_name(bot), bot)


def bot_name(bot: object) -> str:
    """The name of a bot, or of its class or function."""
    if isinstance(bot, str):
        return bot.rpartition(":")[2]
    title = str(getattr(bot, "__name__", type(bot).__name__))
    return re.sub(r"\W", "", title, flags=re.ASCII) or "function"  # a lambda is <lambda>


class PythonBot:
    """A Python bot in a seat: its exceptions become one sentence, its answers are checked."""

    def __init__(self, called: str, choose: Callable[[Seen], Any]) -> None:
        self._name, self._choose = called, choose

    def choose(self, seen: Seen) -> Command:
        try:
            answer = self._choose(seen)
        except (Exception, SystemExit) as why:
            raise BotFailed(f"{_raised(self._name, why)}, in hand {seen.hand}") from why
        command = checked_answer(answer)
        if getattr(command, "seat", None) != seen.seat:  # nobody answers for another seat
            raise UnusableAnswer("illegal", answer)
        return command


def checked_answer(answer: object) -> Command:
    """Check a bot's answer and copy it as a command in whole chips."""
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
        raise UnusableAnswer("malformed", answer) from None
    raise UnusableAnswer("malformed", answer)


def answer_text(answer: object) -> str:
    """The text of an unusable answer, for the record."""
    try:
        written = repr(answer)
    except Exception:
        written = type(answer).__name__
    return written.encode("utf-8", "replace").decode()[:TEXT_MAX]


def _made(bot: type[Any], seed: str) -> Any:
    """Make a bot of this class, from the seed if the class takes one."""
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
    """Import the object that `module:Class` names; the current folder is searched last."""
    match = SPELLED.fullmatch(spelled)
    if match is None:
        raise UnknownBot(
            f"no bot is called {spelled[:80]}: there are {', '.join(BOTS)}, and module:Class"
        )
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        module = import_module(match[1])
    except (Exception, SystemExit) as why:
        raise UnknownBot(f"{_raised(spelled, why)}, when {match[1]} was imported") from None
    if not hasattr(module, match[2]):
        raise UnknownBot(f"there is no {match[2]} in the module {match[1]}")
    return getattr(module, match[2])

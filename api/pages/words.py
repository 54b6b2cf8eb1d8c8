"""How values are written on a page: signs, thin spaces, times; numbers align in their columns."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from api.playing.recording import outcome as in_words
from api.viewpoints.moments import moments

_THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def chips(amount: int | None) -> str:
    """12 345, its thousands apart."""
    if amount is None:
        return "?"
    said = f"{abs(amount):,}".replace(",", _THIN)
    return f"{_MINUS}{said}" if amount < 0 else said


def money(net: int | None) -> str:
    """What was won or lost, with its sign: +1 234, −19, 0."""
    return f"+{chips(net)}" if net is not None and net > 0 else chips(net)


def rate(net: float, digits: int = 2) -> str:
    """What is won or lost in the mean, with its sign: +46.21, −1 000.00."""
    said = f"{abs(net):,.{digits}f}".replace(",", _THIN)
    return said if not round(net, digits) else f"{_MINUS if net < 0 else '+'}{said}"


def percent(share: float, digits: int = 1) -> str:
    """61.3 %"""
    return f"{100 * share:.{digits}f}{_THIN}%"


def when(at: int | str | None) -> Markup:
    """A moment in UTC, said shortly and kept exactly; a ledger counts it in milliseconds."""
    if at is None:
        return Markup("")
    exact = moments([at])[0] if isinstance(at, int) else at
    try:
        moment = datetime.fromisoformat(exact).astimezone(UTC)
    except ValueError:  # a year that only Arrow knows
        return Markup("<time>{}</time>").format(exact)
    said = f"{moment.day}{_THIN}{moment:%b %Y, %H:%M}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, said)


def clock(at: int | str) -> Markup:
    """The time of a day in UTC, to the second, of something that happened just now."""
    exact = moments([at])[0] if isinstance(at, int) else at
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, exact[11:19])


def short(digest: str, digits: int = 12) -> Markup:
    """The beginning of a digest; the whole of it is there for whoever points at it or copies it."""
    return Markup('<code class="hash" title="{}">{}</code>').format(digest, digest[:digits])


def coded(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    return Markup("").join(
        Markup("<code>{}</code>" if at % 2 else "{}").format(part)
        for at, part in enumerate(sentence.split("`"))
    )


def outcome(row: Mapping[str, Any]) -> str:
    """Who won a match, or is ahead in it."""
    return in_words(row["winner"], row["leader"], row["draw"], row["places"])


def many(count: int, one: str, more: str | None = None) -> str:
    """1 hand, 412 hands."""
    return f"{chips(count)} {one if count == 1 else more or one + 's'}"

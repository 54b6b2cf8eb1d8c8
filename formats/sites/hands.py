"""Hands by the names of their players put to the rules; the rake is fitted over a whole file."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from formats.pokerstars.grammar import Unread
from formats.pokerstars.hand import dealt_in, source_hand
from formats.pokerstars.house import Seen, houses_at
from formats.pokerstars.played import Played, Street
from formats.rules import Rules
from formats.source import Skipped, SourceHand

Reading = tuple[int, Played | str, str, str]  # line, a hand or why it is none, its text and site


def source_hands(
    read: Callable[[], Iterable[Reading]], rules: Rules, format: str
) -> Iterator[SourceHand | Skipped]:
    """The hands of a file, which is read twice: who rakes how much, all of them tell together, if
    it is neither set nor known."""
    raked = (_seen(one) for _, one, *_ in read() if isinstance(one, Played) and _pays(one))
    houses = houses_at(raked, rules, format)
    for number, (line, one, text, site) in enumerate(read(), 1):
        if isinstance(one, str):
            yield Skipped(line, one)
            continue
        try:
            hand = source_hand(one, number, line, houses, _stakes(one))
            yield replace(hand, text=text, site=site)
        except Unread as reason:
            yield Skipped(line, str(reason))


def _pays(whole: Played) -> bool:
    """Whether a rake may be taken of each hand, in whole units of the stakes."""
    per = _per(whole)
    amounts = (whole.totals.total, whole.totals.rake)
    return not whole.header.tournament and not any(amount % per for amount in amounts)


def _per(whole: Played) -> int:
    """Hundredths of a unit: cents of money, whole chips."""
    return 1 if whole.header.sign else 100


def _stakes(whole: Played) -> str:
    header = whole.header
    return f"{header.limit} {header.sign}{header.low}/{header.high}"


def _seen(whole: Played) -> tuple[str, Seen]:
    """What a hand shows of the house."""
    per, flop = _per(whole), any(isinstance(line, Street) for line in whole.lines)
    pot, rake = whole.totals.total // per, whole.totals.rake // per
    return _stakes(whole), Seen(len(dealt_in(whole)), flop, pot, rake)

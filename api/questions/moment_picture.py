"""A moment of a hand as a picture: its table, drawn as SVG out of one frame, with its notation.

It holds what the frame holds, and so what its reader may see. It has no script, no style sheet and
no font of its own: it is the same in a browser, in a letter and in a chat. Players are named by
others, so every word is made printable and escaped.
"""

from collections.abc import Iterator
from html import escape
from textwrap import wrap
from typing import Any

from api.printable import printable

WIDE, ROW, TOP = 760, 46, 116  # in its own units
INK, QUIET, PAPER, FELT, SHEET = "#1a1c1e", "#5c6166", "#f7f5ef", "#e3ebe4", "#ffffff"
SUITS = {"s": ("♠", INK), "h": ("♥", "#c01c34"), "d": ("♦", "#1559c0"), "c": ("♣", "#1d7538")}
LETTERS = "Segoe UI, Helvetica, Arial, sans-serif"
LINE = 104  # letters of notation beside each other


def moment_picture(told: dict[str, Any], at: int, said: str, notation: str) -> str:
    """The table after one of a hand's frames; `said` is the event, `notation` the hand so far."""
    frame, seats = told["frames"][at], len(told["players"])
    lines = wrap(notation, LINE)
    foot = TOP + ROW * seats + 34
    high = foot + 18 * len(lines) + 24
    title = f"{told['hand']}, event {at} of {len(told['frames']) - 1}"
    blind = f", big blind {told['big_blind']:,}" if told["big_blind"] else ""
    size = f'viewBox="0 0 {WIDE} {high}" width="{WIDE}" height="{high}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{LETTERS}" role="img">',
        f"<title>{escape(printable(f'{title}: {said}'))}</title>",
        f'<rect width="{WIDE}" height="{high}" fill="{PAPER}"/>',
        _text(24, 34, title, size=17, bold=True),
        _text(WIDE - 24, 34, f"{told['game']}{blind}, as {told['view']}", QUIET, end=True),
        f'<rect x="16" y="50" width="{WIDE - 32}" height="{foot - 74}" rx="14" fill="{FELT}"/>',
        *_cards(32, 60, frame["board"]),
        _text(WIDE - 36, 84, f"pot {frame['pot']:,}", size=17, bold=True, end=True),
    ]
    for seat, name in enumerate(told["players"]):
        parts += _seat(frame["seats"][seat], name, TOP + ROW * seat, seat == told["button"])
    parts.append(_text(24, foot - 2, said, bold=True))
    for number, line in enumerate(lines):
        parts.append(_text(24, foot + 20 + 18 * number, line, QUIET, size=12, mono=True))
    return "".join((*parts, "</svg>\n"))


def _seat(one: dict[str, Any], name: str, y: int, button: bool) -> Iterator[str]:
    """A player: who he is, his cards, his stack, his bet, what his hand is and is worth."""
    is_out = one["standing"] == "folded"
    ink = QUIET if is_out else INK
    if button:
        yield f'<circle cx="40" cy="{y + 18}" r="9" fill="{SHEET}" stroke="{QUIET}"/>'
        yield _text(40, y + 22, "D", QUIET, size=11, middle=True)
    yield _text(58, y + 23, name if len(name) <= 20 else f"{name[:19]}…", ink, bold=not is_out)
    yield from _cards(236, y, one["cards"])
    yield _text(440, y + 23, f"{one['stack']:,}", ink, end=True)
    if one["bet"]:
        yield _text(456, y + 23, f"bet {one['bet']:,}", ink)
    worth = f"{100 * one['odds']['share']:.1f} %" if one["odds"] else ""
    made = "folded" if is_out else one["made"] or ""
    yield _text(WIDE - 36, y + 23, ", ".join(filter(None, (made, worth))), ink, end=True)


def _cards(x: int, y: int, cards: list[Any]) -> Iterator[str]:
    """Cards side by side; of one that is hidden the back, of one that nobody recorded a `?`."""
    for place, card in enumerate(cards):
        left = x + 36 * place
        known = isinstance(card, str)
        fill = SHEET if known else QUIET
        yield f'<rect x="{left}" y="{y}" width="32" height="36" rx="5" fill="{fill}"'
        yield f' stroke="{QUIET}" stroke-opacity="0.5"/>'
        if known:
            suit, ink = SUITS.get(card[1:], ("", QUIET))
            face = f"{card[0]}{suit}"
            yield _text(left + 16, y + 24, face, ink, size=16, bold=True, middle=True)


def _text(
    x: int,
    y: int,
    text: str,
    ink: str = INK,
    *,
    size: int = 14,
    bold: bool = False,
    end: bool = False,
    middle: bool = False,
    mono: bool = False,
) -> str:
    anchor = ' text-anchor="end"' if end else ' text-anchor="middle"' if middle else ""
    weight = ' font-weight="600"' if bold else ""
    family = ' font-family="Consolas, Menlo, monospace"' if mono else ""
    place = f'x="{x}" y="{y}" font-size="{size}" fill="{ink}"'
    return f"<text {place}{anchor}{weight}{family}>{escape(printable(text))}</text>"

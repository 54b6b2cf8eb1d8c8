"""What a match over the wire came to: each bot's part in it, and every reply that was no use."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from api.playing.folded import Unusable
from api.printable import Page, page
from api.report import aligned
from dealer.wire.player import Conduct
from dealer.wire.program import Program
from dealer.wire.sandbox import Means

_SHOWN = 20  # reasons that the text shows of each bot
_WIDTH = 60  # characters of one that it shows


_APART: dict[Means, str] = {  # the best first
    "user+namespaces": "kept apart as another user and by namespaces",
    "namespaces": "kept apart by namespaces",
    "user": "kept apart as another user",
    "none": "not kept apart, and could read what you can, the ledger and its secrets too",
}


class Part(Struct, frozen=True):
    """One bot in one match; mirrored, in both legs together.

    `failed` says why not all that it did was played by what is in its folder: its build failed, it
    never connected, or it was not asked any more.
    """

    player: str
    folder: str
    replies: int
    clock_left: float
    slowest_ms: float
    silent: str | None
    failed: str | None
    notes: tuple[str, ...]
    exit: int | None
    faults: dict[str, int]
    last_lines: tuple[str, ...]
    kept_apart: Means
    not_kept_because: tuple[str, ...]


def part(program: Program, legs: Sequence[Conduct], faults: Iterable[Unusable]) -> Part:
    """What this bot did; of two legs the shorter clock, the longer wait and the later trouble."""
    silent = [leg.silent for leg in legs if leg.silent]
    failed = [why for leg in legs for why in (leg.unbuilt, leg.silent) if why]
    return Part(
        player=program.name,
        folder=str(program.folder),
        replies=sum(leg.replies for leg in legs),
        clock_left=round(min((leg.clock_left for leg in legs), default=0.0), 3),
        slowest_ms=round(max((leg.slowest for leg in legs), default=0.0) * 1_000, 3),
        silent=silent[-1] if silent else None,
        failed="; ".join(dict.fromkeys(failed)) or None,
        notes=tuple(note for leg in legs for note in leg.notes),
        exit=legs[-1].exit if legs else None,
        faults=dict(Counter(one.kind for one in faults if one.player == program.name)),
        last_lines=legs[-1].last_lines if legs else (),
        kept_apart=max((leg.kept_apart for leg in legs), key=[*_APART].index, default="none"),
        not_kept_because=tuple(dict.fromkeys(why for leg in legs for why in leg.not_kept)),
    )


def as_json(parts: Sequence[Part], faults: Sequence[Unusable]) -> dict[str, Any]:
    """The two lists that a document holds of it."""
    told = {"bots": parts, "faults": faults}
    built: dict[str, Any] = msgspec.to_builtins(told)
    return built


def as_text(parts: Sequence[Part], faults: Sequence[Unusable]) -> Page:
    """A line for each bot, then whatever somebody may ask about who was folded."""
    rows = [["", "replies", "unusable", "clock left", "slowest"]]
    for one in parts:
        unusable = sum(one.faults.values())
        clock, slowest = f"{one.clock_left:.3f} s", f"{one.slowest_ms:.1f} ms"
        rows.append([one.player, str(one.replies), str(unusable), clock, slowest])
    lines = [*aligned(rows, numbers=range(1, 5)), "", *_apart(parts)]
    for one in parts:
        lines += _why(one, [fault for fault in faults if fault.player == one.player])
    return page(lines)


def _apart(parts: Sequence[Part]) -> list[str]:
    """A sentence for each means by which bots were kept from the ledger and from each other."""
    lines = []
    for means in dict.fromkeys(one.kept_apart for one in parts):
        names = ", ".join(one.player for one in parts if one.kept_apart == means)
        lines.append(f"{_APART[means]}: {names}")
        if means == "none":
            reasons = dict.fromkeys(why for one in parts for why in one.not_kept_because)
            lines += [f"  {why}" for why in reasons]
    return lines


def _why(one: Part, faults: Sequence[Unusable]) -> list[str]:
    """Why this bot was folded; nothing, if it never was."""
    lines = []
    if one.silent:
        lines.append(f"{one.player} was not asked any more: {one.silent}")
    lines += [f"{one.player}: {note}" for note in one.notes]
    if faults:
        reasons: dict[str, list[Unusable]] = {}
        for fault in faults:
            reasons.setdefault(fault.because, []).append(fault)
        often = sorted(reasons.values(), key=lambda same: -len(same))
        rows = [["times", "first", "asked", "reply", "because", "played"]]
        rows += [[str(len(same)), *_row(same[0])] for same in often[:_SHOWN]]
        table = aligned(rows, numbers=(0,))
        lines += [f"why was {one.player} folded", *(f"  {line}" for line in table)]
        if len(often) > _SHOWN:
            lines.append(f"  and {len(often) - _SHOWN} more reasons: --json tells all")
    if lines and one.last_lines:
        lines.append(f"the last that {one.player} printed")
        lines += [f"  {line}" for line in one.last_lines]
    return ["", *lines] if lines else []


def _row(fault: Unusable) -> list[str]:
    reply = json.dumps(
        fault.reply if len(fault.reply) <= _WIDTH else f"{fault.reply[:_WIDTH]}…",
        ensure_ascii=False,
    )
    played = fault.played or "-"
    return [fault.hand, fault.asked, reply, fault.because, played]

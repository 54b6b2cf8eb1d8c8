"""A very large file, read by several processes: its parts on the way out, one outcome on the way
back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from api.importing.copies import copied, remove
from api.importing.entries import Entry
from api.importing.taken import NAMED_MAX, Outcome, Wishes, format_wished
from formats.cuts import parts
from formats.told import Refused

LARGE = 1 << 22  # bytes: less is not worth the cutting


def parted(
    entry: Entry, wishes: Wishes, place: Path, tick: Callable[[int], None]
) -> tuple[Entry, ...]:
    """The parts of a file, whose copy is at `place`, or itself; what is wrong with it, whoever
    reads it whole will say."""
    if entry.size < LARGE or not entry.path.is_file():
        return (entry,)
    try:
        copy = copied(entry.path, place, small=-1)
        known = format_wished(place, wishes)
        found = parts(place, known.name, wishes.rules, lambda: tick(0))
    except (Refused, OSError):
        remove(place)
        return (entry,)
    cut = (Entry(entry.name, entry.path, one.end - one.begin, one, copy) for one in found)
    return tuple(cut) or (Entry(entry.name, entry.path, entry.size, None, copy),)


def together(
    jobs: Iterable[Sequence[Outcome]], again: Callable[[Entry], Outcome]
) -> Iterator[Outcome]:
    """Outcomes in order, those of a file's parts as one; spools and copies go when the last
    outcome of a job is done."""
    read: list[Outcome] = []  # parts of a file that is not whole yet
    spools = set[Path]()
    for job in jobs:
        for found in job:
            spools.add(Path(found.spool))
            if found.entry.copy and isinstance(found.entry.copy.content, Path):
                spools.add(found.entry.copy.content)
            if found.entry.part is None:
                yield _done(found)
                continue
            read.append(found)
            if found.entry.part.last:
                whole = _joined(read) or again(_whole(read))
                spools.add(Path(whole.spool))
                yield _done(whole)
                read = []
        if not read:
            for path in spools:
                path.unlink(missing_ok=True)
            spools.clear()


def _done(found: Outcome) -> Outcome:
    """The outcome of a file whose copy nobody needs any more."""
    found.entry = replace(found.entry, copy=None)
    return found


def _whole(read: Sequence[Outcome]) -> Entry:
    first = read[0].entry
    size = sum(one.entry.size for one in read)
    return Entry(first.name, first.path, size, None, first.copy)


def _joined(read: Sequence[Outcome]) -> Outcome | None:
    """What one reader of the whole file would have found; None, if a part is not as it was cut."""
    first = read[0]
    whole = Outcome(
        entry=_whole(read),
        digest=first.digest,
        match=first.match,
        format=first.format,
        dialect=first.dialect,
        note=first.note,
        spool=first.spool,
    )
    for one in read:
        part = one.entry.part
        if part is None or one.refused is not None or one.hands != part.hands:
            return None
        _add(whole, one)
    return whole


def _add(whole: Outcome, one: Outcome) -> None:
    """A part more, in the order of the file."""
    whole.hands += one.hands
    whole.events += one.events
    whole.sealed = whole.sealed and one.sealed
    whole.skipped += one.skipped
    whole.chunks += one.chunks
    whole.inferred += [fact for fact in one.inferred if fact not in whole.inferred]
    whole.rulesets |= one.rulesets
    for game, ruleset in one.games.items():
        whole.games.setdefault(game, ruleset)
    for player, net in one.nets.items():
        whole.nets[player] = whole.nets.get(player, 0) + net
    whole.moveless += one.moveless
    for verdict, count in one.verdicts.items():
        whole.verdicts[verdict] = whole.verdicts.get(verdict, 0) + count
    for verdict, numbers in one.named.items():
        named = whole.named.setdefault(verdict, [])
        named += numbers[: NAMED_MAX - len(named)]

"""What was taken in, appended to the ledger: a file whole, or found to be there already.

A call holds a chunk of hands and the notes beside them; a file's first has the beginning of the
match, its last the end. Small files share a call, so a file of one hand does not wait for the disk
alone. A file that was cut off in the middle is gone on with when it comes again.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from api.importing.spool import CHUNK, fetched
from api.importing.taken import Outcome
from api.recording import now_ms
from events.ledger import Append, Record
from events.types import Disclosure, MatchEnded, MatchStarted, SourceNoted
from store.batch import to_payload
from store.ledger import FileLedger

READ = "the file was read"
Done = tuple[Outcome, int]  # a file, and how many of its hands are new


class Writer:
    """Files on their way into a ledger; each is answered when all of it is durable."""

    def __init__(
        self, ledger: FileLedger, names: Mapping[str, str], disclosure: Disclosure
    ) -> None:
        self._ledger = ledger
        self._names = names
        self._disclosure = disclosure
        self._kept: set[str] = set()
        self._payload: list[bytes] = []
        self._hands = 0
        self._done: list[Done] = []

    def write(self, files: Iterable[Outcome]) -> Iterator[Done]:
        """Every file in order, once it is in."""
        for found in files:
            if any(found.match == other.match for other, _ in self._done):
                yield from self._flushed()
            added = 0 if found.refused else self._file(found)
            self._done.append((found, added))
            if self._hands >= CHUNK or not self._hands:
                yield from self._flushed()
        yield from self._flushed()

    def _file(self, found: Outcome) -> int:
        """Its calls; the last waits for other small files. How many of its hands are new."""
        known = [one.event for one in self._ledger.read(found.match)]
        beginning = _beginning(found, self._names, self._disclosure)
        if _is_in(found, known, beginning):
            return 0
        for mark in found.rulesets.keys() - self._kept:
            self._ledger.keep_ruleset(mark, found.rulesets[mark])
            self._kept.add(mark)
        added, version = 0, len(known)
        for chunk in found.chunks:
            if known and self._ledger.read(chunk.first):
                continue
            notes, hands = fetched(Path(found.spool), chunk)
            records = (*(() if version else beginning), *notes)
            self._records(found.match, version, records)
            version += len(records)
            self._payload.append(hands)
            self._hands += chunk.hands
            added += chunk.hands
            if chunk is found.chunks[-1]:
                self._records(found.match, version, (_end(found),))
            else:
                self._flush()
        return added

    def _records(self, match: str, version: int, records: tuple[Record, ...]) -> None:
        if records:
            self._payload.append(to_payload((Append(match, version, records, now_ms()),)))

    def _flush(self) -> None:
        if self._payload:
            self._ledger.append_spelled(b"\n".join(self._payload))
        self._payload, self._hands = [], 0

    def _flushed(self) -> Iterator[Done]:
        self._flush()
        done, self._done = self._done, []
        yield from done


def _is_in(found: Outcome, known: list[Record], beginning: tuple[Record, ...]) -> bool:
    """Whether all of it is there; what is there must be of the same content."""
    if not known:
        return False
    if found.digest not in (getattr(one, "footer", "") for one in known):
        raise OSError(f"there is another match {found.match} in the ledger already")
    if isinstance(known[-1], MatchEnded):
        return True
    if tuple(known[: len(beginning)]) != beginning:
        raise OSError(
            f"{found.match} was begun with other options, and not finished: import it as before"
        )
    return False


def _beginning(
    found: Outcome, names: Mapping[str, str], disclosure: Disclosure
) -> tuple[Record, ...]:
    """The match and where it comes from; of several games the first names it."""
    game, mark = next(iter(found.games.items()))
    start = MatchStarted(
        found.match, game, mark, tuple(found.nets), "recorded", disclosure, found.sealed
    )
    return (start, *_sources(found, names))


def _sources(found: Outcome, names: Mapping[str, str]) -> Iterator[SourceNoted]:
    """The file's own note; then its name and digest, what was inferred, who was renamed."""
    assert found.note is not None
    name = found.note.format
    yield found.note
    yield SourceNoted(name, "file", found.entry.path.name, found.digest)
    if found.inferred:
        yield SourceNoted(name, "inferred", "\n".join(found.inferred), "")
    told = [f"{was}={now}" for was, now in names.items() if now in found.nets]
    if told:
        yield SourceNoted(name, "names", "\n".join(told), "")


def _end(found: Outcome) -> MatchEnded:
    return MatchEnded(tuple(found.nets.values()), READ)

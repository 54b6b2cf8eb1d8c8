"""Monitor a log over HTTP: read every leaf once, and find forks, wrong and repeated leaves.

It reads the C2SP tlog-tiles layout (`checkpoint`, `tile/...`, `tile/entries/...`), so it needs
nothing of the ledger's but its key. What it has seen is in a file of its own: the tree so far, the
name of every record, every checkpoint. It finds a checkpoint that its key did not sign, a tree that
shrank or does not extend the one seen before (a fork), an entry that is not the leaf of the tree, a
leaf that says nonsense, and a record that is there twice.
"""

import http.client
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from events.ledger import is_match
from events.lines import leaf_of
from store.proof.checkpoint import Checkpoint, open_checkpoint
from store.proof.note import Key
from store.proof.tree import EMPTY, WIDTH, Frontier, Refuted, frontier, leaf_hash, node_hash
from store.proof.tree_file import SPAN, Tile, tiles
from store.proof.witness_policy import WitnessPolicy

TIMEOUT_S = 30.0
ANSWER_BYTES_MAX = 32 * 1024 * 1024
_TABLES = """
    CREATE TABLE IF NOT EXISTS log (origin TEXT, size INTEGER, frontier TEXT);
    CREATE TABLE IF NOT EXISTS checkpoints (size INTEGER, note BLOB, UNIQUE (size, note));
    CREATE TABLE IF NOT EXISTS records (stream TEXT PRIMARY KEY, leaf INTEGER, events INTEGER);
    CREATE TABLE IF NOT EXISTS findings (leaf INTEGER, sentence TEXT);
"""


class Unreachable(Exception):
    """The log does not answer, or not as a log does."""


class Finding(Struct, frozen=True):
    """A fault of the log, with the leaf that it is about, if any."""

    leaf: int | None
    sentence: str


NaturalNumber = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class LeafText(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a leaf: its record, and the digest of the record's public lines."""

    first: NaturalNumber
    hand_seq: NaturalNumber
    lines: NaturalNumber
    record_sha256: str
    stream: str
    v: int


class LogReport(Struct, frozen=True):
    """The result of one reading of the log."""

    origin: str
    size: int
    new: int
    findings: tuple[Finding, ...]


HttpGet = Callable[[str], bytes]
EvidenceCheck = Callable[
    [str, bytes], str | None
]  # a hand by its stream and leaf hash: what is wrong


class Monitor:
    """A monitor of one log, with its memory in the SQLite file `state`."""

    def __init__(
        self, get: HttpGet, state: Path, keys: Collection[Key], policy: WitnessPolicy | None
    ) -> None:
        """Trust checkpoints that these keys have signed and that satisfy the policy."""
        self._get = get
        self._keys = tuple(keys)
        self._policy = policy
        self._state = sqlite3.connect(state, isolation_level=None)
        self._state.executescript(_TABLES)

    def close(self) -> None:
        self._state.close()

    def look(self, hand: EvidenceCheck | None = None) -> LogReport:
        """Read the new leaves in one transaction: all or nothing of them is remembered."""
        note = self._get("checkpoint")
        self._state.execute("BEGIN IMMEDIATE")
        try:
            seen = self._read_new(note, hand)
            self._state.execute("COMMIT")
        except BaseException:
            self._state.execute("ROLLBACK")
            raise
        return seen

    def _read_new(self, note: bytes, hand: EvidenceCheck | None) -> LogReport:
        origin, known = self._known_tree()
        try:
            new = self._open_checkpoint(note)
        except Refuted as reason:
            return self._report(origin or "", known.size, 0, (Finding(None, str(reason)),))
        if origin is not None and new.origin != origin:
            refusal = f"the log of {origin} calls itself {new.origin} now"
            return self._report(origin, known.size, 0, (Finding(None, refusal),))
        self._state.execute(
            "INSERT OR IGNORE INTO checkpoints VALUES (?, ?)", (new.size, sqlite3.Binary(note))
        )
        if new.size < known.size:
            refusal = (
                f"the newest checkpoint is of {new.size} leaves, and one of {known.size} was signed"
                " before: the log was set back"
            )
            return self._report(new.origin, known.size, 0, (Finding(None, refusal),))
        self._state.execute("SAVEPOINT leaves")
        grown, found = known, []
        hashes: list[bytes] = []
        for place, leaf in enumerate(self._leaves(known.size, new.size), start=known.size):
            hashes.append(leaf_hash(leaf))
            grown = grown.added(hashes[-1:])
            if sentence := self._leaf_problem(place, leaf):
                found.append(Finding(place, sentence))
        if grown.root() != new.root:
            self._state.execute("ROLLBACK TO leaves")
            return self._report(new.origin, known.size, 0, self._root_findings(known, new))
        if hand is not None:
            rows = self._state.execute(
                "SELECT leaf, stream FROM records WHERE leaf >= ?", (known.size,)
            )
            for place, stream in rows.fetchall():
                if is_match(stream):
                    continue
                if sentence := hand(stream, hashes[place - known.size]):
                    found.append(Finding(place, sentence))
        self._state.execute("DELETE FROM log")
        kept = ",".join(one.hex() for one in grown.hashes)
        self._state.execute("INSERT INTO log VALUES (?, ?, ?)", (new.origin, new.size, kept))
        return self._report(new.origin, new.size, new.size - known.size, tuple(found))

    def _known_tree(self) -> tuple[str | None, Frontier]:
        """The log's name, and its tree as of the last reading."""
        row = self._state.execute("SELECT origin, size, frontier FROM log").fetchone()
        if row is None:
            return None, Frontier()
        return row[0], Frontier(row[1], tuple(map(bytes.fromhex, filter(None, row[2].split(",")))))

    def _open_checkpoint(self, note: bytes) -> Checkpoint:
        if self._policy is not None:
            return self._policy.opened(note, self._keys).checkpoint
        return open_checkpoint(note, self._keys).checkpoint

    def _leaves(self, old: int, new: int) -> Iterator[bytes]:
        """The leaves between two tree sizes, bundle by bundle."""
        for number in range(old // SPAN, -(-new // SPAN) if new > old else 0):
            width = min(SPAN, new - number * SPAN)
            leaves = split_entries(self._get(_tile_path("entries", number, width)), width)
            yield from leaves[max(0, old - number * SPAN) :]

    def _root_findings(self, known: Frontier, new: Checkpoint) -> tuple[Finding, ...]:
        """Findings on why the leaves do not make the signed root: a wrong entry, or a fork."""
        bad = []
        for number in range(known.size // SPAN, -(-new.size // SPAN)):
            width = min(SPAN, new.size - number * SPAN)
            leaves = split_entries(self._get(_tile_path("entries", number, width)), width)
            hashes = self._get(_tile_path("0", number, width))
            for at, leaf in enumerate(leaves):
                place = number * SPAN + at
                is_new = place >= known.size
                if is_new and hashes[at * WIDTH : (at + 1) * WIDTH] != leaf_hash(leaf):
                    bad.append(Finding(place, "the entry is not the leaf that is in the tree"))
        if bad:
            return tuple(bad)
        if self._root_of_tiles(new.size) == new.root:
            why = (
                f"the checkpoint of {new.size} leaves does not extend the one of {known.size}"
                " that was signed before: the log has forked"
            )
        else:
            why = f"the tree that is served is not the one of {new.size} leaves that was signed"
        return (Finding(None, why),)

    def _root_of_tiles(self, size: int) -> bytes:
        """The root of the tiles as they are served now."""
        served: dict[tuple[int, int], bytes] = {}
        for tile in tiles(size):
            data = self._get(tile.path())
            if len(data) != tile.width * WIDTH:
                raise Unreachable(f"{tile.path()} has {len(data)} bytes, not {tile.width * WIDTH}")
            for at in range(tile.width):
                place = tile.number * SPAN + at
                served[8 * tile.level, place] = data[at * WIDTH : (at + 1) * WIDTH]

        def hashes(level: int, index: int) -> bytes:
            if (level, index) not in served:
                below = hashes(level - 1, 2 * index), hashes(level - 1, 2 * index + 1)
                served[level, index] = node_hash(*below)
            return served[level, index]

        return frontier(size, hashes).root() if size else EMPTY

    def _leaf_problem(self, place: int, leaf: bytes) -> str | None:
        """A sentence on what is wrong with a leaf by itself, or beside earlier leaves."""
        try:
            text = msgspec.json.decode(leaf, type=LeafText)
        except ValueError:  # of msgspec, or bytes that are no text
            return "the leaf is not spelled as a leaf is"
        if leaf != leaf_of(text.hand_seq, text.stream, text.first, text.lines, text.record_sha256):
            return "the leaf is not spelled in the one way that it can be"
        if (
            text.v != 1
            or text.hand_seq != place
            or not re.fullmatch("[0-9a-f]{64}", text.record_sha256)
        ):
            return f"the leaf says that it is leaf {text.hand_seq} of version {text.v}"
        query = "SELECT leaf, events FROM records WHERE stream = ?"
        row = self._state.execute(query, (text.stream,)).fetchone()
        before, events = row or (place, 0)
        if row and (text.first != events or not is_match(text.stream)):
            return f"{text.stream} is in the log already, as leaf {before}"
        if text.first != events:
            return (
                f"{text.stream} begins with event {text.first}: what came before is not in the log"
            )
        self._state.execute(
            "INSERT INTO records VALUES (?, ?, ?) ON CONFLICT (stream) DO UPDATE SET events = ?",
            (text.stream, place, text.lines, events + text.lines),
        )
        return None

    def _report(self, origin: str, size: int, new: int, found: tuple[Finding, ...]) -> LogReport:
        """Report the findings, and remember them: every later report names them, too."""
        for one in found:
            row = (one.leaf, one.sentence)
            known = "SELECT 1 FROM findings WHERE leaf IS ? AND sentence = ?"
            if self._state.execute(known, row).fetchone() is None:
                self._state.execute("INSERT INTO findings VALUES (?, ?)", row)
        rows = self._state.execute("SELECT leaf, sentence FROM findings ORDER BY rowid").fetchall()
        return LogReport(origin, size, new, tuple(Finding(*row) for row in rows))


def split_entries(bundle: bytes, count: int) -> list[bytes]:
    """Split a bundle into its entries, each after its length; there must be so many."""
    leaves, at = [], 0
    while at + 2 <= len(bundle):
        end = at + 2 + int.from_bytes(bundle[at : at + 2], "big")
        if end > len(bundle):
            break
        leaves.append(bundle[at + 2 : end])
        at = end
    if at != len(bundle) or len(leaves) != count:
        raise Unreachable(f"a bundle of {len(leaves)} whole entries, where {count} should be")
    return leaves


def http_get(url: str) -> HttpGet:
    """A function that gets a path below an address; `Unreachable` says what went wrong."""

    def get(path: str) -> bytes:
        try:
            with urllib.request.urlopen(f"{url.rstrip('/')}/{path}", timeout=TIMEOUT_S) as answer:
                data: bytes = answer.read(ANSWER_BYTES_MAX + 1)
                if answer.length and len(data) <= ANSWER_BYTES_MAX:
                    raise Unreachable(f"{url}/{path} ended {answer.length} bytes too early")
        except urllib.error.HTTPError as reason:
            with reason:
                raise Unreachable(f"{reason.url} answered {reason.code}") from None
        except (OSError, ValueError) as reason:
            raise Unreachable(f"{url} does not answer: {reason}") from None
        except http.client.HTTPException as reason:
            raise Unreachable(f"{url} does not speak HTTP: {str(reason)[:200]!r}") from None
        if len(data) > ANSWER_BYTES_MAX:
            raise Unreachable(f"{url}/{path} has more than {ANSWER_BYTES_MAX} bytes")
        return data

    return get


def _tile_path(level: str, number: int, width: int) -> str:
    path = Tile(0, number, width).path()
    return path.replace("tile/0/", f"tile/{level}/", 1)

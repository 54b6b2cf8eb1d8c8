"""The manifest: which files are the ledger, and how far they reach; and the rulesets of its hands.

One small file, replaced as a whole by renaming; what it names is there, what it does not name is
nobody's. A digest over its body tells damage from truth.

A hand names its ruleset by fingerprint only. The text is the engine's; the ledger keeps each once,
by its fingerprint, as it stood when hands were dealt under it: so an old hand can be judged by its
own rules when newer ones have taken their name.
"""

import hashlib
from collections.abc import Iterator
from hmac import compare_digest

import msgspec
from msgspec import Struct

from store.folder.disk import Disk, replace_file
from store.folder.frames import Damaged, MarkChain, Marks

PATH = "manifest.json"


class Segment(Struct, frozen=True, rename={"footers": "feet"}):
    """One sealed range of closed streams: dense `hand_seq`, a range of positions, its files.

    `numbers` are the lowest and the highest hand of each match, `records` the matches whose own
    records are here: most questions for a stream are answered without opening a file. `types` are
    the kinds of event that occur: columns of others need not be read. `footers` are the
    digests of the files' footers, which hold those of their row groups; files of older versions
    have none.
    """

    first_seq: int
    last_seq: int
    first_pos: int
    last_pos: int
    events: int
    schema: int
    files: dict[str, str]
    sha256: dict[str, str]
    projections: dict[str, int]
    numbers: dict[str, tuple[int, int]] = {}
    records: tuple[str, ...] = ()
    sizes: dict[str, int] = {}
    types: tuple[str, ...] = ()
    footers: dict[str, str] = {}


class ProducerAnswer(Struct, frozen=True):
    """The last answer to a producer, kept to answer its retry."""

    sequence: int
    streams: tuple[str, ...]
    pos: tuple[int, ...]
    versions: tuple[int, ...]
    hand_seqs: tuple[int | None, ...]


class Manifest(Struct, frozen=True):
    """The ledger at one moment of sealing; the hot log named here holds everything since.

    `log_size` bytes of it were durable when the manifest was written; `retired` files are in no
    use since the time given, but a reader may still have them open. `tree` leaves are durable in
    the files of the tree, and `root` is its head. `begin` is where the marks of the log begin: a
    ledger from before there were marks has none, and no mark over its manifest.
    """

    number: int
    log: str
    log_size: int
    next_pos: int
    next_seq: int
    segments: tuple[Segment, ...] = ()
    matches: dict[str, int] = {}
    producers: dict[str, ProducerAnswer] = {}
    retired: dict[str, int] = {}
    tree: int = 0
    root: str = ""
    begin: str = ""

    def chain(self, marks: Marks | None) -> MarkChain | None:
        """The marks of its log; None if nobody can tell, or there are none."""
        return marks.chain(self.begin, self.log) if marks and self.begin else None


class _ManifestFile(Struct, frozen=True, omit_defaults=True):
    manifest: msgspec.Raw
    sha256: str
    mark: str = ""


_encoder = msgspec.json.Encoder(order="sorted")


def write(disk: Disk, manifest: Manifest, marks: Marks | None = None) -> None:
    """The new manifest takes the place of the old one, durably."""
    assert (marks is None) == (not manifest.begin), "a writer with the key marks all, else none"
    body = _encoder.encode(manifest)
    mark = marks.of_manifest(body) if marks else ""
    sealed = _ManifestFile(msgspec.Raw(body), hashlib.sha256(body).hexdigest(), mark)
    replace_file(disk, PATH, _encoder.encode(sealed))


def read(disk: Disk, marks: Marks | None = None) -> Manifest | None:
    """The manifest, or None in a folder that has never been a ledger; with a key, its mark is
    compared: only a ledger that has not begun to bear marks may be without."""
    return decode_manifest(disk.read(PATH), marks) if PATH in disk.names("") else None


def decode_manifest(data: bytes, marks: Marks | None = None) -> Manifest:
    """The manifest that these bytes of its file hold, its digest and its mark compared."""
    try:
        sealed = msgspec.json.decode(data, type=_ManifestFile)
        if hashlib.sha256(sealed.manifest).hexdigest() != sealed.sha256:
            raise Damaged(f"{PATH} does not have the digest it was written with")
        now = msgspec.json.decode(sealed.manifest, type=Manifest)
    except ValueError as reason:  # of msgspec, or bytes that are no text
        raise Damaged(f"{PATH} cannot be read: {reason}") from None
    if marks and (marks.strict or now.begin or sealed.mark):
        right = marks.of_manifest(bytes(sealed.manifest))
        if not (now.begin and compare_digest(sealed.mark.encode(), right.encode())):
            why = (
                "this ledger's writer did not write it, and nothing is signed"
                if marks.strict
                else "that key is missing: put it back from a copy"
            )
            raise Damaged(f"{PATH} does not bear the mark of private/log.key: {why}")
    return now


RULESETS = "rulesets"  # the folder of their texts


class RulesetHead(Struct):
    """The name, document and unit of a ruleset; `unit` is what its amounts count."""

    name: str
    document: str = ""
    unit: str = "chip"


def keep_ruleset(disk: Disk, fingerprint: str, text: bytes) -> None:
    """Write a ruleset's text, durable on return; one that is kept already is left alone."""
    disk.make_folder(RULESETS)
    disk.sync_folder("")
    path = _ruleset_path(fingerprint)
    if path.removeprefix(f"{RULESETS}/") not in disk.names(RULESETS):
        replace_file(disk, path, text)


def ruleset(disk: Disk, fingerprint: str) -> bytes | None:
    """The text of a ruleset, or None if this ledger never had it."""
    try:
        return disk.read(_ruleset_path(fingerprint))
    except FileNotFoundError:
        return None


def rulesets(disk: Disk) -> Iterator[str]:
    """The fingerprint of each ruleset that is kept; none by a ledger that no hand is in yet."""
    try:
        names = disk.names(RULESETS)
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(".json"):
            yield name.removesuffix(".json")


def unit_of_ruleset(text: bytes | None) -> str | None:
    """The unit of a ruleset's amounts; None if its text is damaged."""
    try:
        return msgspec.json.decode(text or b"", type=RulesetHead).unit
    except msgspec.DecodeError:
        return None


def _ruleset_path(fingerprint: str) -> str:
    return f"{RULESETS}/{fingerprint}.json"

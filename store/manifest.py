"""The manifest: which files are the ledger, and how far they reach.

One small file, replaced as a whole by renaming; what it names is there, what it does not name is
nobody's. A digest over its body tells damage from truth.
"""

import hashlib

import msgspec
from msgspec import Struct

from store.disk import Disk, put
from store.frames import Damaged

PATH = "manifest.json"


class Segment(Struct, frozen=True):
    """One sealed run of closed streams: dense `hand_seq`, a range of positions, its files.

    `numbers` are the lowest and the highest hand of each match, `records` the matches whose own
    records are here: most questions for a stream are answered without opening a file. `types` are
    the kinds of event that occur: columns of others need not be read. `feet` are the digests of the
    files' footers, which hold those of their row groups; files of older versions have none.
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
    feet: dict[str, str] = {}


class Answer(Struct, frozen=True):
    """What a producer was told last, so that it can be told again."""

    sequence: int
    streams: tuple[str, ...]
    pos: tuple[int, ...]
    versions: tuple[int, ...]
    hand_seqs: tuple[int | None, ...]


class Manifest(Struct, frozen=True):
    """The ledger at one moment of sealing; the hot log named here holds everything since.

    `log_size` bytes of it were durable when the manifest was written; `retired` files are in no
    use since the time given, but a reader may still have them open. `tree` leaves are durable in
    the files of the tree.
    """

    number: int
    log: str
    log_size: int
    next_pos: int
    next_seq: int
    segments: tuple[Segment, ...] = ()
    matches: dict[str, int] = {}
    producers: dict[str, Answer] = {}
    retired: dict[str, int] = {}
    tree: int = 0


class _Sealed(Struct, frozen=True):
    manifest: msgspec.Raw
    sha256: str


_encoder = msgspec.json.Encoder(order="sorted")


def write(disk: Disk, manifest: Manifest) -> None:
    """The new manifest takes the place of the old one, durably."""
    body = _encoder.encode(manifest)
    sealed = _Sealed(msgspec.Raw(body), hashlib.sha256(body).hexdigest())
    put(disk, PATH, _encoder.encode(sealed))


def read(disk: Disk) -> Manifest | None:
    """The manifest, or None in a folder that has never been a ledger."""
    if PATH not in disk.names(""):
        return None
    try:
        sealed = msgspec.json.decode(disk.read(PATH), type=_Sealed)
        if hashlib.sha256(sealed.manifest).hexdigest() != sealed.sha256:
            raise Damaged(f"{PATH} does not have the digest it was written with")
        return msgspec.json.decode(sealed.manifest, type=Manifest)
    except ValueError as reason:  # of msgspec, or bytes that are no text
        raise Damaged(f"{PATH} cannot be read: {reason}") from None

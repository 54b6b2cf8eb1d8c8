"""Signed notes, as C2SP signed-note writes them: a text, an empty line, a line per signature.

A key has a name, a kind and 32 public bytes, and from them an id of four bytes. Two kinds are
known: 1 signs the text, 4 is a witness, who signs a checkpoint with the time at which he saw it
(C2SP tlog-cosignature). Signatures of keys that the reader does not know mean nothing, and are
passed over; one of a known key that does not hold spoils the note. Keys and signatures of small
order, or in a second spelling, are refused.

An Ed25519 public key that somebody drew is a point of the prime order L. The library that checks
signatures takes any 32 bytes for a key. Under a point of small order a signature may hold for many
messages, and a point that is spelled in a second way gives a second name to one key; no key that
was drawn is either (RFC 8032, 5.1.3 and 5.1.5).
"""

import base64
import binascii
import secrets
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from store.proof.tree import Refuted

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_CURVE = -121665 * pow(121666, -1, _PRIME) % _PRIME
_ROOT = pow(2, (_PRIME - 1) // 4, _PRIME)  # of -1
_NOTHING = (0, 1, 1, 0)  # the neutral point
NEUTRAL = b"\x01" + bytes(31)

Point = tuple[int, int, int, int]  # x / z, y / z, z and x * y / z


@lru_cache(maxsize=256)
def is_public_key(public: bytes) -> bool:
    """Whether these bytes are a valid Ed25519 key: a point of order L, in its one spelling."""
    point = _point(public)
    if point is None or public == NEUTRAL:
        return False
    total: Point = _NOTHING
    for bit in f"{_ORDER:b}":  # the point so many times
        total = _sum(total, total)
        if bit == "1":
            total = _sum(total, point)
    x, y, z, _ = total
    return x % _PRIME == 0 and (y - z) % _PRIME == 0


def _point(packed: bytes) -> Point | None:
    """The point with this y and this sign of x; none if y is spelled too large, or has no x."""
    number = int.from_bytes(packed, "little")
    y, sign = number & (2**255 - 1), number >> 255
    squared = (y * y - 1) * pow(_CURVE * y * y + 1, -1, _PRIME) % _PRIME
    x = pow(squared, (_PRIME + 3) // 8, _PRIME)
    if x * x % _PRIME != squared:
        x = x * _ROOT % _PRIME
    if len(packed) != 32 or y >= _PRIME or x * x % _PRIME != squared or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else _PRIME - x
    return x, y, 1, x * y % _PRIME


def _sum(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % _PRIME
    c = 2 * one[3] * other[3] * _CURVE % _PRIME
    d = 2 * one[2] * other[2] % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


SIGNS = 1
WITNESSES = 4
SIGNATURES_MAX = 100
BYTES_MAX = 1_000_000
_PRIVATE = "PRIVATE+KEY+"
_TIME_MAX = 2**63 - 1


class Key(Struct, frozen=True):
    """A public key whose signatures are believed, with its name and kind."""

    name: str
    kind: int
    public: bytes

    @classmethod
    def read(cls, text: str) -> "Key":
        """A vkey, in its one spelling."""
        name, kind, public = _key_parts(text, "a public key")
        key = cls(name, kind, public)
        if key.text() != text:
            raise Refuted(f"the public key of {name} is not the one that its id says")
        if not is_public_key(public):
            raise Refuted(f"the public key of {name} is no key that anybody can have drawn")
        return key

    @property
    def id(self) -> bytes:
        """The short id by which a signature names its key; it proves nothing."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def text(self) -> str:
        """The key as one line, a `vkey`."""
        return f"{self.name}+{self.id.hex()}+{to_base64(bytes([self.kind]) + self.public)}"


class Signer:
    """A private signing key: only `spelled` shows it."""

    def __init__(self, name: str, seed: bytes, kind: int = SIGNS) -> None:
        _named(name)
        self._seed = seed
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.key = Key(name, kind, self._private.public_key().public_bytes_raw())

    @classmethod
    def new(cls, name: str, kind: int = SIGNS) -> "Signer":
        """A key that nobody has seen before."""
        return cls(name, secrets.token_bytes(32), kind)

    @classmethod
    def read(cls, spelled: bytes) -> "Signer":
        """The secret line; no sentence about a wrong one shows any of it but the name."""
        text = spelled.decode(errors="replace").removesuffix("\n")
        if not text.startswith(_PRIVATE):
            raise Refuted(f"a secret key is a line that begins with {_PRIVATE}")
        name, kind, seed = _key_parts(text.removeprefix(_PRIVATE), "a secret key")
        signer = cls(name, seed, kind)
        if signer.spelled() != f"{text}\n".encode():
            raise Refuted(f"the secret key of {name} is not the one that its id says")
        return signer

    def __repr__(self) -> str:
        return f"Signer of {self.key.text()}"

    def spelled(self) -> bytes:
        """The secret line, with its newline."""
        kept = to_base64(bytes([self.key.kind]) + self._seed)
        return f"{_PRIVATE}{self.key.name}+{self.key.id.hex()}+{kept}\n".encode()

    def sign(self, text: str) -> "Signature":
        assert self.key.kind == SIGNS
        return Signature(self.key.name, self.key.id, self._private.sign(text.encode()))

    def cosign(self, text: str, at: int) -> "Signature":
        """A witness's signature of a checkpoint that he saw at this time, in seconds."""
        assert self.key.kind == WITNESSES
        signed = at.to_bytes(8, "big") + self._private.sign(_witnessed(text, at))
        return Signature(self.key.name, self.key.id, signed)


class Signature(Struct, frozen=True):
    """A signature line: the name and id of a key, and what it made of the text."""

    name: str
    id: bytes
    signed: bytes

    def line(self) -> str:
        return f"— {self.name} {to_base64(self.id + self.signed)}"


class Note(Struct, frozen=True):
    """A text, which ends in a newline, and signatures that nobody has looked at yet."""

    text: str
    signatures: tuple[Signature, ...]

    def format(self) -> bytes:
        lines = "".join(f"{signature.line()}\n" for signature in self.signatures)
        return f"{self.text}\n{lines}".encode()


class Signed(NamedTuple):
    """A known key whose signature holds; a witness says when, in seconds."""

    key: Key
    at: int | None = None


def sign(text: str, *signers: Signer) -> bytes:
    """The text as a note signed by all of these."""
    _writable(text)
    return Note(text, tuple(signer.sign(text) for signer in signers)).format()


def parse(note: bytes) -> Note:
    """The parts of a note; nothing is said about whether its signatures hold."""
    if len(note) > BYTES_MAX:
        raise Refuted(f"a note of {len(note)} bytes: more than {BYTES_MAX} are not read")
    try:
        everything = note.decode()
    except UnicodeDecodeError as reason:
        raise Refuted(f"a note that is not UTF-8 at byte {reason.start}") from None
    text, gap, below = everything.rpartition("\n\n")
    if not gap:
        raise Refuted("a note without the empty line that stands before its signatures")
    text += "\n"
    _writable(text)
    if not below.endswith("\n"):
        raise Refuted("a note that does not end in a signature line with its newline")
    lines = below.split("\n")[:-1]
    if len(lines) > SIGNATURES_MAX:
        raise Refuted(f"a note with {len(lines)} signatures: at most {SIGNATURES_MAX} are read")
    signatures = []
    for line in lines:
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != "—":
            raise Refuted(f"not a signature line: {line[:80]!r}")
        _named(parts[1])
        data = from_base64(parts[2])
        if data is None or len(data) < 5:
            raise Refuted(f"the signature of {parts[1]} is not four bytes and more in base64")
        signatures.append(Signature(parts[1], data[:4], data[4:]))
    return Note(text, tuple(signatures))


def verify(note: Note, keys: Iterable[Key]) -> tuple[Signed, ...]:
    """Verify a note: the keys that signed it, each once; `Refuted` if one did not, or none did."""
    known: dict[tuple[str, bytes], Key] = {}
    for key in keys:
        if known.setdefault((key.name, key.id), key) != key:
            raise Refuted(
                f"two different keys are {key.name}+{key.id.hex()}: leave one of them out"
            )
    holds: dict[Key, Signed] = {}
    for signature in note.signatures:
        if (one := known.get((signature.name, signature.id))) is not None:
            holds.setdefault(one, _held(one, note.text, signature.signed))
    if not holds:
        signers = ", ".join(f"{one.name}+{one.id.hex()}" for one in note.signatures)
        raise Refuted(f"no known key has signed this: it is signed by {signers}")
    return tuple(holds.values())


def open_note(note: bytes, keys: Iterable[Key]) -> tuple[str, tuple[Signed, ...]]:
    """The text of a note, and who of these keys signed it: at least one, or it is `Refuted`."""
    parsed = parse(note)
    return parsed.text, verify(parsed, keys)


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def from_base64(text: str) -> bytes | None:
    """The bytes, if this is the one way to write them in base64."""
    try:
        data = base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    return data if to_base64(data) == text else None


def _held(key: Key, text: str, signed: bytes) -> Signed:
    """Verify one signature of a known key; one that does not hold spoils the note."""
    at = None
    message = text.encode()
    if key.kind == WITNESSES:
        at, signed = int.from_bytes(signed[:8], "big"), signed[8:]
        message = _witnessed(text, at)
    try:
        if not is_public_key(key.public) or signed[:32] == NEUTRAL:
            raise InvalidSignature
        Ed25519PublicKey.from_public_bytes(key.public).verify(signed, message)
    except InvalidSignature:
        raise Refuted(f"the signature of {key.name}+{key.id.hex()} does not hold") from None
    if at is not None and at > _TIME_MAX:
        raise Refuted(f"{key.name} has signed for a time that does not exist, {at}")
    return Signed(key, at)


def _witnessed(text: str, at: int) -> bytes:
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def _key_parts(text: str, role: str) -> tuple[str, int, bytes]:
    """Name, kind, and the 32 bytes after it."""
    name, _, rest = text.partition("+")
    data = from_base64(rest.partition("+")[2])
    if data is None or len(data) != 33 or data[0] not in (SIGNS, WITNESSES):
        raise Refuted(f"{role} is a name, an id and 33 bytes in base64, with a plus between them")
    _named(name)
    return name, data[0], data[1:]


def _named(name: str) -> None:
    if not name or "+" in name or any(sign.isspace() or _controls(sign) for sign in name):
        raise Refuted(f"{name[:80]!r} cannot be the name of a key: no spaces, no plus, not empty")


def _writable(text: str) -> None:
    if not text.endswith("\n"):
        raise Refuted("the text of a note ends in a newline")
    if any(_controls(sign) and sign != "\n" for sign in text):
        raise Refuted("a note has no control characters but newlines")


def _controls(sign: str) -> bool:
    """Whether this is a control character of ASCII."""
    return sign < " " or sign == "\x7f"

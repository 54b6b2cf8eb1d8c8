"""What an import is called, and by what its hands are known again: digests under a secret of the
ledger.

The same content has the same name in one ledger and another in any other, so nobody without the
secret finds a sealed file by trying. Ledgers of before named by the plain digest, and keep that.
"""

import hmac
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import starmap
from struct import Struct
from typing import Any, NamedTuple

import msgspec

from formats.source import SourceHand
from store.proof.private import Salted

ID = 12  # hex digits of a match's name
_SECRET = b"muckrake/import/secret/v1\x00"
_NAME = b"muckrake/import/name/v1\x00"


class Naming(NamedTuple):
    """The secret that names are made with: another for each owner who may not see everything, so
    that none finds out by importing what others have imported."""

    secret: bytes
    owner: str = ""

    def name(self, sha256: str) -> str:
        """The match of a file with this digest."""
        return hmac.digest(self.secret, _NAME + sha256.encode(), "sha256").hex()[:ID]

    def names(self, sha256: str) -> tuple[str, ...]:
        """All that it may be called in a ledger of any age."""
        return (self.name(sha256),) if self.owner else (self.name(sha256), sha256[:ID])


def naming_of(nonces: Salted | None, owner: str = "") -> Naming:
    """How a ledger names what this owner imports; who may see everything is nobody."""
    secret = b"" if nonces is None else nonces.secret
    return Naming(hmac.digest(secret, _SECRET + owner.encode(), "sha256"), owner)


class HandDigest(NamedTuple):
    """By which a hand is known again: its place and line in the file, eight bytes that it is found
    by, eight of what it says; `numbered` if it is found by the number that its site gave it; and
    what its verdict is (`code_of`), 0 if nobody asked."""

    number: int
    line: int
    found_by: bytes
    says: bytes
    numbered: bool
    verdict: int = 0


class JudgedHands(NamedTuple):
    """Hands of a match by number, each with its verdict as `code_of` has it."""

    numbers: "array[int]"
    codes: bytearray


class Repeat(msgspec.Struct, frozen=True):
    """A hand of a file that is in the ledger, as which, and where it says otherwise than that."""

    number: int
    line: int
    hand: str
    differs: str = ""


class HandDigester:
    """Marks the hands of one file. Without a text of its own a hand is its place in that file."""

    def __init__(self, naming: Naming, format: str, place: str, sha256: str) -> None:
        self._key, self._format = naming.secret, format
        self._place = self._begun(b"placed", f"{format}\n{place}\n")
        self._file = self._begun(b"in a file", f"{sha256}\n")

    def of(self, hand: SourceHand) -> HandDigest:
        """The mark of a hand: by its site's number, else by all that it says and where."""
        if not hand.text:
            return self._whole(self._file, hand.number, hand.line, str(hand.number))
        if not hand.site:
            return self._whole(self._place, hand.number, hand.line, hand.text)
        found_by = self.numbered(hand.site, hand.source_id)
        says = self._begun(b"says", hand.text).digest()[:8]
        return HandDigest(hand.number, hand.line, found_by, says, True)

    def numbered(self, site: str, number: str) -> bytes:
        """What a hand is found by that its site has numbered."""
        return bytes(self._begun(b"numbered", f"{self._format}\n{site}\n{number}").digest()[:8])

    def of_texts(
        self, numbers: Iterable[int], texts: Iterable[str], verdicts: Iterable[int]
    ) -> Iterator[HandDigest]:
        """Marks of hands that their site has not numbered."""
        for number, text, verdict in zip(numbers, texts, verdicts, strict=True):
            yield self._whole(self._place, number, 0, text)._replace(verdict=verdict)

    def _whole(self, begun: Any, number: int, line: int, text: str) -> HandDigest:
        found = begun.copy()
        found.update(text.encode("utf-8", "surrogatepass"))
        digest = found.digest()
        return HandDigest(number, line, digest[:8], digest[8:], False)

    def _begun(self, purpose: bytes, text: str) -> Any:
        found = blake2b(key=self._key, person=purpose, digest_size=16)
        found.update(text.encode("utf-8", "surrogatepass"))
        return found


_DIGEST = Struct("<II8s8s?B")


def packed_digests(digests: Iterable[HandDigest]) -> bytes:
    """Marks as bytes, for another process."""
    return b"".join(starmap(_DIGEST.pack, digests))


def unpacked_digests(spelled: bytes) -> list[HandDigest]:
    """The marks that these bytes spell, in the order of their numbers."""
    return sorted(starmap(HandDigest, _DIGEST.iter_unpack(spelled)))

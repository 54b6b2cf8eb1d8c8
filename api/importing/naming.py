"""What an import is called: a digest of its content under a secret of the ledger.

The same content has the same name in one ledger and another in any other, so nobody without the
secret finds a sealed file by trying. Ledgers of before named by the plain digest, and keep that.
"""

import hmac
from typing import NamedTuple

from store.nonces import Salted

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

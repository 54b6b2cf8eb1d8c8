"""The ledger of the tests of HTTP, for tests of single hands."""

from tests.http.conftest import house, own, site

__all__ = ["HANDS", "house", "own", "site"]

HANDS = ("holdem/3", "open/5", "auction/3", "swap/4", "running/2")

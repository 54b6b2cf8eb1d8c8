"""Open Hand History, the JSON format of hand-history tools."""

from formats.ohh.read import read

__all__ = ["read"]

"""Zips written byte by byte, so that any part of one can say anything."""

import struct
import zlib
from typing import Any

from msgspec import Struct

STORED, DEFLATED = 0, 8


class Part(Struct):
    """A file in a zip: `local` is what it says of itself where that is not what the list says."""

    name: bytes
    text: bytes
    method: int = STORED
    flags: int = 0
    extra: bytes = b""
    comment: bytes = b""
    attributes: int = 0o100644 << 16
    data: bytes | None = None
    size: int | None = None
    crc: int | None = None
    local: dict[str, Any] = {}
    before: bytes = b""
    after: bytes = b""
    at: int | None = None
    disk: int = 0

    def packed(self) -> bytes:
        """What lies in the zip: the text itself, or deflated."""
        if self.data is not None:
            return self.data
        if self.method != DEFLATED:
            return self.text
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(self.text) + packer.flush()

    def said(self) -> dict[str, Any]:
        """The fields that stand in both places."""
        return {
            "flags": self.flags,
            "method": self.method,
            "crc": zlib.crc32(self.text) if self.crc is None else self.crc,
            "packed": len(self.packed()),
            "size": len(self.text) if self.size is None else self.size,
            "name": self.name,
            "extra": self.extra,
        }


def described(part: Part, mark: bytes = b"PK\x07\x08") -> Part:
    """Its size and sum after it, as a program writes them that cannot go back."""
    said = part.said()
    sums = struct.pack("<III", said["crc"], said["packed"], said["size"])
    local = {"crc": 0, "packed": 0, "size": 0}
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return Part(**{**fields, "flags": 8, "local": local, "after": mark + sums})


def zipped(parts: list[Part], *, before: bytes = b"", gap: bytes = b"", **end: Any) -> bytes:
    """The zip of these parts; `end` are fields of its last record that lie."""
    body, listed = before, b""
    for part in parts:
        body += part.before
        at = len(body) if part.at is None else part.at
        body += _local({**part.said(), **part.local}) + part.packed() + part.after
        listed += _listed(part, at)
    body += gap
    told = {"count": len(parts), "size": len(listed), "begin": len(body), "comment": b"", **end}
    here = told.get("here", told["count"])
    last = struct.pack(
        "<IHHHHIIH", 0x06054B50, 0, 0, here, told["count"], told["size"], told["begin"],
        len(told["comment"]),
    )  # fmt: skip
    comment: bytes = told["comment"]
    return body + listed + last + comment


def _local(said: dict[str, Any]) -> bytes:
    head = struct.pack(
        "<IHHHHHIIIHH", 0x04034B50, 20, said["flags"], said["method"], 0, 33, said["crc"],
        said["packed"], said["size"], len(said["name"]), len(said["extra"]),
    )  # fmt: skip
    named: bytes = said["name"] + said["extra"]
    return head + named


def _listed(part: Part, at: int) -> bytes:
    said = part.said()
    head = struct.pack(
        "<IHHHHHHIIIHHHHHII", 0x02014B50, 20 | 3 << 8, 20, said["flags"], said["method"], 0, 33,
        said["crc"], said["packed"], said["size"], len(part.name), len(part.extra),
        len(part.comment), part.disk, 0, part.attributes, at,
    )  # fmt: skip
    return head + part.name + part.extra + part.comment

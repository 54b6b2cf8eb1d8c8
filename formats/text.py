"""Bytes of unknown encoding as lines of text, as often as asked: the border of every reader.

UTF-8 and UTF-16, with or without a mark, and cp1252 where a file is not UTF-8; every line ends
in `\\n`, however the file ends its lines.
"""

import codecs
from collections.abc import Iterator
from io import BytesIO, StringIO, TextIOBase, TextIOWrapper
from pathlib import Path
from typing import BinaryIO

from formats.source import Refused

Text = str | bytes | Path

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 1 << 16
_SMALL = 1 << 18


def lines(text: Text) -> Iterator[str]:
    """The lines, from the start."""
    with opened(text) as stream:
        yield from stream


def opened(text: Text) -> TextIOBase:
    """The text, from the start, to be read in whatever pieces."""
    if isinstance(text, str):
        return StringIO(text.removeprefix("\ufeff"), newline=None)
    encoding = encoding_of(text)
    return TextIOWrapper(_raw(text), encoding, newline=None)


def at_hand(text: Text) -> Text:
    """A small file decoded already: to open it for every reading takes longer than to read it."""
    if isinstance(text, Path) and text.stat().st_size <= _SMALL:
        text = text.read_bytes()
    if isinstance(text, bytes) and len(text) <= _SMALL:
        return text.decode(encoding_of(text))
    return text


def encoding_of(text: Text) -> str:
    """The encoding by which `lines` decodes a text; one that is decoded already was UTF-8 to us."""
    if isinstance(text, str):
        return "utf-8-sig" if text.startswith("\ufeff") else "utf-8"
    with _raw(text) as raw:
        start = raw.read(4)
        marked = (name for mark, name in _MARKS.items() if start.startswith(mark))
        guessed = ["utf-8", "cp1252"]
        if start[1:4:2] == b"\0\0":
            guessed = ["utf-16-le"]
        elif start[0:4:2] == b"\0\0":
            guessed = ["utf-16-be"]
        for encoding in (*marked, *guessed):
            if _decodes(raw, encoding):
                return encoding
        raise Refused(1, "this is no text: neither UTF-8 nor UTF-16 nor cp1252")


def _raw(text: bytes | Path) -> BinaryIO:
    return BytesIO(text) if isinstance(text, bytes) else text.open("rb")


def _decodes(raw: BinaryIO, encoding: str) -> bool:
    raw.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := raw.read(_BLOCK):
            if "\0" in decoder.decode(block):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True

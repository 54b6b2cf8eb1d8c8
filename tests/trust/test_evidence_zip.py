"""A zip says one thing to every reader, or is refused: no byte of it that nobody reads."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from api.evidence.verify import BUNDLE_MAX, FILE_MAX, Refusal, check_bundle, read_bundle, unzipped
from tests.trust.own_bundles import Draft, hands
from tests.trust.raw_zip import DEFLATED, Part, described, zipped

KEY = Part(b"key", b"one\n")
MORE = Part(b"leaf.json", b"{}" * 40, DEFLATED)
FOUND = {"key": b"one\n", "leaf.json": b"{}" * 40}
WHOLE = "this is not a whole zip file: "


def _times(part: Part) -> Part:
    """Info-ZIP's times and owner, as `zip -r` writes them."""
    part.extra = struct.pack("<HHBI", 0x5455, 5, 1, 0) + struct.pack("<HHBBI", 0x7875, 6, 1, 4, 0)
    return part


FINE = {
    "stored and deflated": zipped([KEY, MORE]),
    "times and owners": zipped([_times(Part(b"key", b"one\n")), MORE]),
    "sizes after the files": zipped([described(KEY), described(MORE)]),
    "sizes after the files, without a mark": zipped([described(KEY, b""), described(MORE, b"")]),
    "names in UTF-8, packed hard": zipped([Part(b"key", b"one\n", flags=0x806), MORE]),
    "an empty file, deflated": zipped([KEY, MORE, Part(b"contents", b"", DEFLATED)]),
    "in another order": zipped([MORE, KEY]),
}


@pytest.mark.parametrize("whole", FINE.values(), ids=list(FINE))
def test_what_packers_write_is_read(whole: bytes) -> None:
    found = unzipped(whole)
    assert found == {**FOUND, **({"contents": b""} if "contents" in found else {})}


def _changed(part: Part, **fields: object) -> Part:
    told = {name: getattr(part, name) for name in part.__struct_fields__}
    return Part(**{**told, **fields})


DEFLATE = MORE.packed()
BOMB = zlib.compressobj(9, zlib.DEFLATED, -15)
BOMB_DATA = BOMB.compress(bytes(FILE_MAX + 1)) + BOMB.flush()
STRANGE = {
    "bytes before it": (zipped([KEY], before=b"#!/bin/sh\n"), WHOLE + '"key" does not begin'),
    "bytes before it that its list leaves out": (
        b"MZ" + zipped([KEY]),
        WHOLE + "its end does not say where its list is",
    ),
    "bytes after it": (zipped([KEY]) + b"x", WHOLE + "its last 22 bytes are not the end"),
    "a comment": (zipped([KEY], comment=b"hello"), WHOLE + "its last 22 bytes are not the end"),
    "a second zip after it": (
        zipped([KEY]) + zipped([Part(b"key", b"two\n")]),
        WHOLE + "its end does not say where its list is",
    ),
    "bytes between two files": (
        zipped([KEY, _changed(MORE, before=b"hidden")]),
        WHOLE + '"leaf.json" does not begin where the file before it ends',
    ),
    "bytes between files and list": (
        zipped([KEY], gap=b"hidden"),
        WHOLE + "6 bytes before its list belong to no file",
    ),
    "a file that its list leaves out": (
        zipped([KEY], gap=zipped([MORE])[:90]),
        "bytes before its list belong to no file",
    ),
    "one file under two names": (
        zipped([KEY, _changed(KEY, name=b"leaf.json", at=0)]),
        WHOLE + '"leaf.json" does not begin where the file before it ends',
    ),
    "a list in another order": (
        zipped([_changed(KEY, at=34 + 5), _changed(MORE, at=0)]),
        WHOLE + '"key" does not begin where the file before it ends',
    ),
    "another name at the file": (
        zipped([_changed(KEY, local={"name": b"yek"})]),
        WHOLE + '"key" is not where its list says',
    ),
    "another size at the file": (
        zipped([_changed(KEY, local={"size": 5})]),
        WHOLE + '"key" says of itself what its list does not',
    ),
    "another sum at the file": (
        zipped([_changed(KEY, local={"crc": 5})]),
        WHOLE + '"key" says of itself what its list does not',
    ),
    "another way of packing at the file": (
        zipped([_changed(MORE, local={"method": 0})]),
        WHOLE + '"leaf.json" says of itself what its list does not',
    ),
    "a wrong sum": (
        zipped([_changed(KEY, crc=1)]),
        WHOLE + '"key" has not the sum that its list says',
    ),
    "a wrong sum after the file": (
        zipped([_changed(described(KEY), after=b"PK\x07\x08" + bytes(12))]),
        WHOLE + 'what stands after "key" is not its size and sum',
    ),
    "twice the same name": (zipped([KEY, KEY]), '"key" is in this zip more than once'),
    "encrypted": (zipped([_changed(KEY, flags=1)]), '"key" is encrypted'),
    "strongly encrypted": (
        zipped([_changed(KEY, flags=0x40)]),
        '"key" is packed in a way that is not read: stored or deflated is',
    ),
    "with a hidden list": (
        zipped([_changed(KEY, flags=0x2000)]),
        '"key" is packed in a way that is not read',
    ),
    "imploded": (zipped([_changed(KEY, method=6)]), "is packed in a way that is not read"),
    "deflate64": (zipped([_changed(KEY, method=9)]), "is packed in a way that is not read"),
    "bzip2": (zipped([_changed(KEY, method=12)]), "is packed in a way that is not read"),
    "lzma": (zipped([_changed(KEY, method=14)]), "is packed in a way that is not read"),
    "zstandard": (zipped([_changed(KEY, method=93)]), "is packed in a way that is not read"),
    "zip64": (
        zipped([_changed(KEY, extra=struct.pack("<HHQQ", 1, 16, 4, 4))]),
        '"key" has a field for zip64: that is not read',
    ),
    "zip64 at the file alone": (
        zipped([_changed(KEY, local={"extra": struct.pack("<HHQQ", 1, 16, 4, 4)})]),
        '"key" has a field for zip64: that is not read',
    ),
    "a second name": (
        zipped([_changed(KEY, extra=struct.pack("<HHBI4s", 0x7075, 9, 1, 0, b"evil"))]),
        '"key" has a field for a second name: that is not read',
    ),
    "fields cut short": (
        zipped([_changed(KEY, extra=b"\x55\x54\x09\x00\x01")]),
        WHOLE + 'the fields of "key" are cut short',
    ),
    "a file with a comment": (
        zipped([_changed(KEY, comment=b"hi")]),
        '"key" has a comment or is on another disk: that is not read',
    ),
    "a file on another disk": (
        zipped([_changed(KEY, disk=1)]),
        '"key" has a comment or is on another disk: that is not read',
    ),
    "a link": (zipped([_changed(KEY, attributes=0o120777 << 16)]), '"key" is not a plain file'),
    "a folder": (zipped([_changed(KEY, attributes=0o040755 << 16)]), '"key" is not a plain file'),
    "a path": (zipped([_changed(KEY, name=b"../key")]), '"../key" is no name of a file'),
    "a path of Windows": (zipped([_changed(KEY, name=b"C:\\key")]), "is no name of a file"),
    "a name with a null": (zipped([_changed(KEY, name=b"key\x00")]), "is no name of a file"),
    "a name of a terminal": (zipped([_changed(KEY, name=b"\x1b[2J")]), "is no name of a file"),
    "no name": (zipped([_changed(KEY, name=b"")]), '"" is no name of a file'),
    "more files in its list than it says": (
        zipped([KEY, MORE], count=1),
        WHOLE,
    ),
    "fewer files in its list than it says": (
        zipped([KEY], count=2),
        WHOLE + "its list is not one of 2 files",
    ),
    "an end that counts in two ways": (
        zipped([KEY], here=2),
        WHOLE + "its end does not say where its list is",
    ),
    "65,535 files": (zipped([KEY], count=65535), "65535 files are in this zip"),
    "deflated, and then more": (
        zipped([_changed(MORE, data=DEFLATE + b"x")]),
        WHOLE + '"leaf.json" has not the size that its list says',
    ),
    "deflated, and cut short": (
        zipped([_changed(MORE, data=DEFLATE[:-1])]),
        WHOLE + '"leaf.json" has not the size that its list says',
    ),
    "deflated to more than it says": (
        zipped([_changed(MORE, size=79)]),
        WHOLE + '"leaf.json" has not the size that its list says',
    ),
    "deflated to less than it says": (
        zipped([_changed(MORE, size=81)]),
        WHOLE + '"leaf.json" has not the size that its list says',
    ),
    "not deflated": (
        zipped([_changed(MORE, data=b"\xff" * 20)]),
        WHOLE + '"leaf.json" cannot be unpacked',
    ),
    "stored in fewer bytes": (
        zipped([_changed(KEY, size=9)]),
        WHOLE + '"key" has not the size that its list says',
    ),
    "a bomb": (
        zipped([Part(b"key", bytes(FILE_MAX + 1), DEFLATED)]),
        '"key" would have 8388609 bytes, and may have 8388608',
    ),
    "a bomb that lies": (
        zipped([Part(b"key", b"", DEFLATED, data=BOMB_DATA, size=10, crc=0)]),
        WHOLE + '"key" has not the size that its list says',
    ),
    "nothing": (b"", WHOLE + "its last 22 bytes are not the end of a zip"),
    "an end alone": (zipped([]), "the bundle is not whole"),
}


@pytest.mark.parametrize(("whole", "expected"), STRANGE.values(), ids=list(STRANGE))
def test_a_zip_that_two_programs_could_read_in_two_ways_is_refused(
    whole: bytes, expected: str
) -> None:
    found = check_bundle(lambda: unzipped(whole))
    assert (3, ()) == (found.code, found.proved)
    assert expected in found.problems[0]
    assert found.problems[0].isprintable()


def test_every_byte_of_a_zip_belongs_to_a_file() -> None:
    """Wherever a byte is put in or taken out, the zip is refused."""
    for whole in FINE.values():
        for at in range(len(whole) + 1):
            for other in (whole[:at] + b"\x00" + whole[at:], whole[:at] + whole[at + 1 :]):
                if other != whole:
                    with pytest.raises(Refusal):
                        unzipped(other)


def test_what_is_read_is_what_the_library_reads() -> None:
    for whole in FINE.values():
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            assert unzipped(whole) == {name: archive.read(name) for name in archive.namelist()}


def test_more_than_a_bundle_may_have_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="larger than 33554432 bytes: that is no bundle"):
        unzipped(bytes(BUNDLE_MAX + 1))
    for number in range(33):
        (tmp_path / f"{number}").write_bytes(b"")
    with pytest.raises(Refusal, match="33 files are in this folder: a bundle has at most 32"):
        read_bundle(str(tmp_path))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_bundle_that_was_packed_while_it_was_sent_is_read(method: int) -> None:
    """The library writes sizes after the files where it cannot go back."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    files = Draft(hands("auction-2024")[0], "public").files()
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    assert unzipped(pipe.getvalue()) == files

"""Fetch what others wrote for browsers, as `vendor.toml` pins it: `python -m docs.vendor`.

A `vendor.toml` names packages by name, version, licence and day of release, with the digest of the
package as the npm registry has it, and which of its files are wanted under which name. `npm pack`
fetches; nothing is run, nothing else is kept. A package with another digest is refused.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from base64 import b64encode
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "api/pages/static/vendor", ROOT / "tests/browser/vendor")
LIST = "vendor.toml"


class File(NamedTuple):
    """One file: where it stands in its package, its name here, the digest of its bytes."""

    source: str
    name: str
    integrity: str


class Package(NamedTuple):
    """A package of npm's, and what of it is wanted."""

    name: str
    version: str
    licence: str
    released: date
    use: str
    integrity: str
    files: tuple[File, ...]
    old: str = ""  # why it is kept although it was released more than a year ago


def packages(folder: Path) -> tuple[Package, ...]:
    """What a folder's list pins."""
    told = tomllib.loads((folder / LIST).read_text("utf-8"))
    return tuple(
        Package(**{**one, "files": tuple(File(**file) for file in one["files"])})
        for one in told["package"]
    )


def integrity(data: bytes) -> str:
    """A digest as npm and browsers spell it."""
    return "sha512-" + b64encode(hashlib.sha512(data).digest()).decode()


def wrong(folder: Path) -> Iterator[str]:
    """What in a folder is not what its list says."""
    known = {LIST}
    for package in packages(folder):
        for file in package.files:
            known.add(file.name)
            path = folder / file.name
            if not path.exists():
                yield f"{file.name} is missing"
            elif integrity(path.read_bytes()) != file.integrity:
                yield f"{file.name} is not the one of {package.name} {package.version}"
    for path in sorted(folder.iterdir()):
        if path.name not in known:
            yield f"{path.name} is on no list"


def fetch(folder: Path, package: Package) -> None:
    """The wanted files of a package, put into the folder."""
    with tempfile.TemporaryDirectory() as aside:
        spelled = f"{package.name}@{package.version}"
        command = ["npm", "pack", spelled, "--silent", "--pack-destination", aside]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(aside).iterdir()
        found = integrity(packed.read_bytes())
        if found != package.integrity:
            sys.exit(f"{spelled} is another than {LIST} says: {found}")
        with tarfile.open(packed) as archive:
            for file in package.files:
                member = archive.extractfile(f"package/{file.source}")
                assert member is not None, file.source
                data = member.read()
                if integrity(data) != file.integrity:
                    sys.exit(f"{file.source} of {spelled} is {integrity(data)}")
                (folder / file.name).write_bytes(data)


def main() -> None:
    """Everything that is pinned, fetched again."""
    for folder in FOLDERS:
        for package in packages(folder):
            fetch(folder, package)
            print(f"{package.name} {package.version} into {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

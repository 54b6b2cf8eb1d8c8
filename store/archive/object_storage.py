"""Object storage below a URL: objects by name in a folder of this machine, or in a bucket.

    s3://BUCKET/PREFIX  gs://BUCKET/PREFIX  az://CONTAINER/PREFIX  file:///FOLDER  FOLDER

An object appears as a whole or not at all. One of them, the index, is replaced under a condition:
only if it still is what the writer has read.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from store.folder.disk import RealDisk, lock_file, make_durable_folder

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = ("s3", "gs", "az", "file")
SECONDS = 30  # that one request may take ...
SECONDS_VARIABLE = "MUCKRAKE_ARCHIVE_SECONDS"  # ... unless this says otherwise
_RETRIES = 5
_AT_ONCE = 1 << 20  # bytes that are copied


class StorageError(OSError):
    """Object storage that cannot be reached, or refuses, or answers with an error of its own."""


class InvalidUrl(ValueError):
    """A URL that no archive can have."""


class ObjectStorage(Protocol):
    """Object storage as an archive needs it: objects are read and written by name."""

    url: str

    def get(self, name: str, unless: str = "") -> tuple[bytes, str] | None:
        """An object and its tag, None if there is none; no bytes if `unless` is its tag."""
        ...

    def range(self, name: str, start: int, end: int) -> bytes:
        """Bytes of an object; FileNotFoundError if there is none, fewer bytes at its end."""
        ...

    def size(self, name: str) -> int | None:
        """The size of an object; None if there is none."""
        ...

    def put(self, name: str, data: bytes | Path) -> None:
        """An object of these bytes, or of this file's, in the place of an old one."""
        ...

    def put_if_unchanged(self, name: str, data: bytes, tag: str | None) -> bool:
        """Put an object if it still has this tag, or with None if there still is none."""
        ...


def storage_of(url: str) -> ObjectStorage:
    """The storage below a URL, or in a folder; nothing is asked of it yet."""
    if "://" not in url:
        return FolderStorage(Path(url).absolute())
    try:
        parts = urlsplit(url)
    except ValueError as reason:
        raise InvalidUrl(f"{url} is no URL: {reason}") from None
    if parts.scheme not in SCHEMES:
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise InvalidUrl(f"{url} is no place for an archive: there are {known} and folders")
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or len(parts.path) < 2:
            raise InvalidUrl(f"{url} names no folder of this machine: file:///FOLDER does")
        return FolderStorage(Path(unquote(parts.path)))
    if not parts.netloc or parts.query or parts.fragment:
        raise InvalidUrl(f"{url} names no bucket: it looks like {parts.scheme}://BUCKET/PREFIX")
    return BucketStorage(url.rstrip("/"))


class FolderStorage:
    """Object storage in a folder: each object is a file below it."""

    def __init__(self, root: Path) -> None:
        self.url = root.as_uri()
        self._root = root

    def get(self, name: str, unless: str = "") -> tuple[bytes, str] | None:
        try:
            data = (self._root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        tag = hashlib.sha256(data).hexdigest()
        return (b"" if tag == unless else data), tag

    def range(self, name: str, start: int, end: int) -> bytes:
        return RealDisk(self._root).read(name, start, end)

    def size(self, name: str) -> int | None:
        try:
            return (self._root / name).stat().st_size
        except FileNotFoundError:
            return None

    def put(self, name: str, data: bytes | Path) -> None:
        with self._alone():
            self._put(name, data)

    def put_if_unchanged(self, name: str, data: bytes, tag: str | None) -> bool:
        with self._alone():
            before = self.get(name)
            if (None if before is None else before[1]) != tag:
                return False
            self._put(name, data)
            return True

    def _put(self, name: str, data: bytes | Path) -> None:
        """Write a file aside, sync and rename it; a killed writer's leftover is written over."""
        path = self._root / name
        make_durable_folder(path.parent)
        aside = path.with_name(f"{path.name}.tmp")
        with aside.open("wb") as file:
            if isinstance(data, bytes):
                file.write(data)
            else:
                with data.open("rb") as source:
                    while piece := source.read(_AT_ONCE):
                        file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(path)
        RealDisk(path.parent).sync_folder("")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the operating system's lock on a file of the folder: one writer at a time."""
        make_durable_folder(self._root, 0o700)  # cards of every seat are in it
        with (self._root / "lock").open("ab") as file:
            lock_file(file)
            yield


class BucketStorage:
    """A bucket of S3, Google Cloud Storage or Azure; credentials as these name them in the
    environment."""

    def __init__(self, url: str) -> None:
        from obstore.store import from_url

        self.url = url
        seconds = timedelta(seconds=float(os.environ.get(SECONDS_VARIABLE) or SECONDS))
        checked = {"checksum_algorithm": "sha256"} if url.startswith("s3:") else {}
        self._store: ObjectStore = from_url(  # type: ignore[call-overload]
            url,
            config=checked,
            client_options={
                "timeout": seconds,
                "connect_timeout": seconds / 3,
                "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true",
            },
            retry_config={"max_retries": _RETRIES, "retry_timeout": seconds * 2},
        )
        self._versions: dict[str, str] = {}  # of tags: Google's condition is a generation

    def get(self, name: str, unless: str = "") -> tuple[bytes, str] | None:
        import obstore
        from obstore.exceptions import NotModifiedError

        with self._plainly(f"read {name}"):
            try:
                options = {"if_none_match": unless} if unless else {}
                answer = obstore.get(self._store, name, options=options)  # type: ignore[arg-type]
                tag = answer.meta["e_tag"] or ""
                if version := answer.meta["version"]:
                    self._versions[tag] = version
                return bytes(answer.bytes()), tag
            except NotModifiedError:
                return b"", unless
            except FileNotFoundError:
                return None

    def range(self, name: str, start: int, end: int) -> bytes:
        import obstore
        from obstore.exceptions import BaseError

        with self._plainly(f"read {name}"):
            try:
                return bytes(obstore.get_range(self._store, name, start=start, end=end))
            except BaseError as failure:
                if "416 Range Not Satisfiable" in str(failure):
                    return b""  # there is nothing so far behind
                raise

    def size(self, name: str) -> int | None:
        import obstore

        with self._plainly(f"look at {name}"):
            try:
                return obstore.head(self._store, name)["size"]
            except FileNotFoundError:
                return None

    def put(self, name: str, data: bytes | Path) -> None:
        import obstore

        with self._plainly(f"write {name}"):
            obstore.put(self._store, name, data)

    def put_if_unchanged(self, name: str, data: bytes, tag: str | None) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._plainly(f"write {name}"):
            try:
                mode = "create" if tag is None else self._as_read(tag)
                obstore.put(self._store, name, data, mode=mode)  # type: ignore[arg-type]
                return True
            except (AlreadyExistsError, PreconditionError):
                # a retry may have met what its first try wrote
                now = self.get(name)
                return now is not None and now[0] == data

    def _as_read(self, tag: str) -> dict[str, str]:
        """The condition of a put: the object still is what was read with this tag."""
        version = self._versions.get(tag)
        return {"e_tag": tag, "version": version} if version else {"e_tag": tag}

    @contextmanager
    def _plainly(self, doing: str) -> Iterator[None]:
        """Raise a failure of storage as a `StorageError` in one sentence."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError:
            if doing.startswith("write"):
                raise StorageError(f"{self.url}: there is no such bucket") from None
            name = f"{self.url}/{doing.split()[-1]}"
            raise FileNotFoundError(2, "no such object", name) from None
        except (PermissionDeniedError, UnauthenticatedError):
            raise StorageError(f"{self.url}: there is no permission to {doing}") from None
        except BaseError as failure:
            # without the address of the client and the shapes of its program
            first = str(failure).split("\n\nDebug source")[0].split("\n")[0]
            status = re.search(
                r"status code: (\d{3}[^:]*)|non-2xx status code: (\d{3}[^:]*)", first
            )
            if "builder error" in first:
                reason = "an endpoint without TLS needs AWS_ALLOW_HTTP=true"
            elif status:
                reason = f"the server answered {(status[1] or status[2]).strip()}"
            else:
                reason = re.sub(r"^.*? error: (Error performing \w+ \S+ in \S+, )?", "", first)
                reason = reason[:200].rstrip(" :")
            raise StorageError(f"{self.url}: cannot {doing}: {reason}") from None

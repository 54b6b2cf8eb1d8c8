"""A disk that fails one operation and then works again, as if nothing had been."""

import os

from store.folder.disk import Disk, Output


class FaultyDisk:
    """Another disk with every operation that changes something counted, and one of them failing.

    `points` are those operations in order; the one at place `at` fails with this error, after half
    of its bytes if it is a write and `half` is wanted.
    """

    def __init__(self, disk: Disk, at: int = -1, errno: int = 0, *, half: bool = False) -> None:
        self.disk = disk
        self.points: list[str] = []
        self.half = half
        self._at = at
        self._errno = errno

    @property
    def failed(self) -> bool:
        return 0 <= self._at < len(self.points)

    def point(self, what: str, path: str) -> None:
        """One more operation, unless it is the one to fail."""
        self.points.append(f"{what} {path}")
        if len(self.points) - 1 == self._at:
            raise self.error(path)

    def error(self, path: str) -> OSError:
        return OSError(self._errno, os.strerror(self._errno), path)

    def create(self, path: str) -> Output:
        self.point("create", path)
        return FaultyOutput(self, path, self.disk.create(path))

    def extend(self, path: str, size: int) -> Output:
        self.point("extend", path)
        return FaultyOutput(self, path, self.disk.extend(path, size))

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        return self.disk.read(path, start, end)

    def publish(self, path: str, data: bytes) -> None:
        self.point("publish", path)
        self.disk.publish(path, data)

    def names(self, folder: str) -> list[str]:
        return self.disk.names(folder)

    def rename(self, old: str, new: str) -> None:
        self.point("rename to", new)
        self.disk.rename(old, new)

    def remove(self, path: str) -> None:
        self.point("remove", path)
        self.disk.remove(path)

    def make_folder(self, folder: str) -> None:
        self.point("make", folder)
        self.disk.make_folder(folder)

    def sync_folder(self, folder: str) -> None:
        self.point("sync folder", folder or ".")
        self.disk.sync_folder(folder)


class FaultyOutput:
    """A file being written on it."""

    def __init__(self, disk: FaultyDisk, path: str, output: Output) -> None:
        self._disk = disk
        self._path = path
        self._output = output

    def write(self, data: bytes) -> None:
        try:
            self._disk.point("write", self._path)
        except OSError:
            if self._disk.half:
                self._output.write(data[: len(data) // 2])
            raise
        self._output.write(data)

    def sync(self) -> None:
        self._disk.point("sync", self._path)
        self._output.sync()

    def close(self) -> None:
        self._output.close()

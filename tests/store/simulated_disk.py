"""A disk that keeps only what it promised: for tests of power losses.

What was written and not synced is lost sector by sector, and the file's size is anything between
the old and the new. What was done to a folder and not synced is lost from some point on. A fuse
burns down with every operation: at its end the power goes, before, after, or inside the operation.
A process may also just be killed: then everything is there, and still nothing is promised.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

SECTOR = 512


class PowerLost(BaseException):
    """The machine is gone: no handler of ordinary errors sees this."""


class File:
    """Bytes as processes see them, and as they were when they were last synced."""

    def __init__(self) -> None:
        self.now = bytearray()
        self.kept = b""

    def sync(self) -> None:
        self.kept = bytes(self.now)

    def after_power_loss(self, chance: random.Random) -> None:
        """Every sector is the old one or the new one."""
        low, high = sorted((len(self.kept), len(self.now)))
        size = chance.choice((low, high, chance.randint(low, high)))
        old, new = self.kept.ljust(size, b"\0"), bytes(self.now).ljust(size, b"\0")
        self.now = bytearray(
            b"".join(
                chance.choice((old, new))[at : min(at + SECTOR, size)]
                for at in range(0, size, SECTOR)
            )
        )
        self.sync()


class Change(NamedTuple):
    """One entry of a folder's journal: this name is now that file, or nothing."""

    names: tuple[tuple[str, "Node | None"], ...]


class Folder:
    """Names as processes see them, and those changes since the last sync."""

    def __init__(self) -> None:
        self.now: dict[str, Node] = {}
        self.kept: dict[str, Node] = {}
        self.journal: list[Change] = []

    def change(self, *names: "tuple[str, Node | None]") -> None:
        change = Change(names)
        self.journal.append(change)
        _apply(self.now, change)

    def sync(self) -> None:
        self.kept, self.journal = dict(self.now), []

    def after_power_loss(self, chance: random.Random) -> None:
        """Some of the changes happened, in their order, and the rest did not."""
        for change in self.journal[: chance.randint(0, len(self.journal))]:
            _apply(self.kept, change)
        self.now, self.journal = dict(self.kept), []
        for node in self.now.values():
            node.after_power_loss(chance)


Node = File | Folder


def _apply(names: dict[str, Node], change: Change) -> None:
    for name, node in change.names:
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class SimulatedDisk:
    """The protocol of `store/folder/disk.py`; `deaf` names the one kind of sync that it ignores."""

    def __init__(self, seed: str, deaf: str = "") -> None:
        self.chance = random.Random(seed)
        self.fuse = -1
        self.names_only = False  # the fuse burns with what is done to folders, and nothing else
        self._deaf = deaf
        self._root = Folder()
        self._dead = False
        self._settled = True

    def restart(self, *, power_lost: bool) -> None:
        """The machine is on again, or the process has been started again."""
        if power_lost:
            self._root.after_power_loss(self.chance)
        self._dead, self.fuse = False, -1
        self._settled = "manifest.json" not in self._root.now

    def create(self, path: str) -> "SimulatedOutput":
        folder, name = self._place(path)
        if name in folder.now:
            raise FileExistsError(17, "File exists", path)
        file = File()
        for _ in self.burn():
            folder.change((name, file))
        return SimulatedOutput(self, path, file, f"create {kind(path)}")

    def extend(self, path: str, size: int) -> "SimulatedOutput":
        file = self._file(path)
        for _ in self.burn():
            file.now[:] = file.now[:size].ljust(size, b"\0")
        return SimulatedOutput(self, path, file, f"reopen {kind(path)}")

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        return bytes(self._file(path).now[start:end])

    def publish(self, path: str, data: bytes) -> None:
        folder, name = self._place(path)
        for _ in self.burn():
            if name not in folder.now:
                folder.change((name, File()))
            self._file(path).now[: len(data)] = data

    def names(self, folder: str) -> list[str]:
        return sorted(self._folder(folder).now)

    def rename(self, old: str, new: str) -> None:
        folder, name = self._place(old)
        assert folder is self._place(new)[0], "one folder: nothing else is one change"
        for _ in self.burn(named=True):
            folder.change((name, None), (self._place(new)[1], folder.now[name]))

    def remove(self, path: str) -> None:
        folder, name = self._place(path)
        if name not in folder.now:
            raise FileNotFoundError(2, "No such file or directory", path)
        for _ in self.burn(named=True):
            folder.change((name, None))

    def make_folder(self, folder: str) -> None:
        if folder not in self._root.now:
            for _ in self.burn(named=True):
                self._root.change((folder, Folder()))

    def sync_folder(self, folder: str) -> None:
        for _ in self.burn(named=True):
            if self._hears_folder(folder):
                self._folder(folder).sync()

    def _hears_folder(self, folder: str) -> bool:
        """`settle` is the root's first sync after a start on a ledger: recovery's own."""
        settles, self._settled = not (folder or self._settled), True
        return self._deaf != ("settle" if settles else f"folder {folder}")

    def hears(self, sync: str) -> bool:
        return sync != self._deaf

    def burn(self, *, named: bool = False) -> Iterator[None]:
        """The operation happens in the loop's body, unless the power goes before it."""
        self.alive()
        counts = named or not self.names_only
        self.fuse -= counts
        if self.fuse != 0 or not counts:
            yield
            return
        self._dead = True
        if self.chance.random() < 0.5:
            yield
        raise PowerLost

    def alive(self) -> None:
        if self._dead:
            raise PowerLost

    def _place(self, path: str) -> tuple[Folder, str]:
        folder, _, name = path.rpartition("/")
        return self._folder(folder), name

    def _folder(self, path: str) -> Folder:
        self.alive()
        found = self._root.now.get(path) if path else self._root
        if not isinstance(found, Folder):
            raise FileNotFoundError(2, "No such file or directory", path)
        return found

    def _file(self, path: str) -> File:
        folder, name = self._place(path)
        found = folder.now.get(name)
        if not isinstance(found, File):
            raise FileNotFoundError(2, "No such file or directory", path)
        return found


class SimulatedOutput:
    """A file being written; a power loss inside a write leaves its beginning."""

    def __init__(self, disk: SimulatedDisk, path: str, file: File, opened: str) -> None:
        self.path = path
        self._disk = disk
        self._file = file
        self._opened = opened

    def write(self, data: bytes) -> None:
        try:
            for _ in self._disk.burn():
                self._file.now += data
        except PowerLost:
            cut = self._disk.chance.randint(0, len(data))
            if not self._file.now.endswith(data):
                self._file.now += data[:cut]
            raise

    def sync(self) -> None:
        for _ in self._disk.burn():
            if self._disk.hears(self._opened):
                self._file.sync()
            self._opened = f"write {kind(self.path)}"

    def close(self) -> None:
        pass


def kind(path: str) -> str:
    """What sort of file this is, for ignoring its syncs."""
    folder, _, name = path.removesuffix(".tmp").rpartition("/")
    if folder == "tree" and not name.isdecimal():
        return name
    return {"log": "log", "segments": "segment", "tree": "tree"}.get(folder, name.split(".")[0])

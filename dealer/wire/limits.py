"""How long everything may take, and how much a bot may say and use: nothing goes on for ever."""

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Seconds and bytes, for each bot; `clock` is for a whole match, the rest for one thing.

    The clock, the wait for a reply, a connection or the end, and the size of the log are those of
    the MIT engine, which waits 10 seconds for a build and has no limit on a line. What a bot uses
    is looked at twice a second: whoever uses more is ended, and the report says so.
    """

    clock: float = 30.0
    reply: float = 10.0
    build: float = 60.0
    connect: float = 10.0
    quit: float = 10.0
    log_bytes: int = 524_288
    line_bytes: int = 65_536
    output_bytes: int = 256 << 20
    processes: int = 256
    open_files: int = 1_024
    memory_bytes: int = 4 << 30
    written_bytes: int = 1 << 30


USUAL = Limits()

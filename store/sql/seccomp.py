"""Give up, for good, every call of the system that computing does not need: Linux's seccomp.

What is left reads and writes what is open already, and asks for memory. No file is opened or named,
no socket made, no process or thread started, nothing signalled, no memory made executable. A call
that is not on the list fails with EPERM, in every thread of the process.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import NamedTuple

# Each call's number on x86-64 and on AArch64, which has not all of them.
_CALLS: dict[str, tuple[int, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "poll": (7, None),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}
_MAPPING = {"mmap": (9, 222), "mprotect": (10, 226)}  # of no executable memory
_EXECUTABLE = 4

# Instructions of the filter, and the places of what it looks at (linux/bpf_common.h, seccomp.h).
_LOAD, _IS, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _MACHINE, _THIRD = 0, 4, 32
_ALLOW, _REFUSE, _KILL = 0x7FFF_0000, 0x0005_0000 | errno.EPERM, 0x8000_0000
_NO_NEW_PRIVILEGES, _SET_FILTER, _ALL_THREADS = 38, 1, 1


class SeccompUnavailable(Exception):
    """This system does not let a process give up its calls; the sentence says why."""


class _Machine(NamedTuple):
    """A machine: its column in the table of calls, its mark, its number of seccomp(2)."""

    place: int
    mark: int
    seccomp: int


_MACHINES = {"x86_64": _Machine(0, 0xC000_003E, 317), "aarch64": _Machine(1, 0xC000_00B7, 277)}


def lock() -> None:
    """Give them up, in all threads that there are; there is no way back."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None or sys.maxsize < 2**32:
        here = f"{sys.platform} on {platform.machine()}"
        raise SeccompUnavailable(f"it needs Linux on x86_64 or aarch64, this is {here}")
    # the program that the kernel runs at every call
    steps = [(_LOAD, 0, 0, _MACHINE), (_IS, 1, 0, machine.mark), (_RETURN, 0, 0, _KILL)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    for numbers in _CALLS.values():
        if (number := numbers[machine.place]) is not None:
            steps += [(_IS, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for numbers in _MAPPING.values():
        steps += [
            (_IS, 0, 4, numbers[machine.place]),
            (_LOAD, 0, 0, _THIRD),
            (_HAS, 1, 0, _EXECUTABLE),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _REFUSE),
        ]
    steps.append((_RETURN, 0, 0, _REFUSE))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    size = len(code.raw) // 8

    class Program(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("code", ctypes.c_void_p))

    program = Program(size, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise SeccompUnavailable(f"give up new privileges: {os.strerror(ctypes.get_errno())}")
    call = ctypes.c_long(machine.seccomp)
    if libc.syscall(call, _SET_FILTER, _ALL_THREADS, ctypes.byref(program)):
        raise SeccompUnavailable(f"seccomp: {os.strerror(ctypes.get_errno())}")

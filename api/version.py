"""The version of muckrake, and a digest of its source files, which names cached answers."""

from functools import cache
from pathlib import Path

VERSION = "0.1.0"
ROOT = Path(__file__).resolve().parents[1]
VERDICT_SOURCES = (
    *("events", "odds", "engine", "store", "analytics/batch_audit", "analytics/replay"),
    *("formats", "api/importing/batch_audited.py", "api/importing/worker.py"),  # verdicts, too
    "api/auditing/record.py",
    "api/questions/verdicts.py",
    "api/version.py",
)


@cache
def program_digest(deciding: tuple[str, ...] = VERDICT_SOURCES) -> str:
    """The digest of the files and folders that decide a verdict or another cached answer; a random
    word where there are no source files.

    Tables of equities are a part of the rules, and a page names its style sheet by its digest: so
    every file counts. A process without source files (they may be in an archive) caches nothing
    beyond itself.
    """
    import hashlib  # not for a command's help
    import secrets

    digest = hashlib.sha256()
    for name in deciding:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        files = [one for one in files if one.is_file() and one.suffix != ".pyc"]
        if not any(one.suffix == ".py" for one in files):
            return secrets.token_hex(8)
        for file in files:
            digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]

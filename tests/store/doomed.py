"""A writer that is made to be killed: it appends from several threads and says what is durable."""

import threading
from multiprocessing.connection import Connection
from pathlib import Path

from events.ledger import Append
from store.folder.disk import Lock, RealDisk
from store.folder.frames import Marks
from store.ledger import FileLedger
from store.proof.ledger_secrets import Secrets
from store.proof.note import Signer
from tests.store.small_hands import begun, ended, noted, whole

THREADS = 4
SEAL_HANDS = 25
SECRETS = Secrets(
    bytes(range(32)), Signer("m.local/kill", bytes(32)), marks=Marks(bytes(range(32)))
)


def write_until_killed(folder: Path, first: int, told: Connection) -> None:
    """Hands from number `first` on; every acknowledged append is told as stream and version."""
    lock = Lock(folder, "a writer to be killed")
    ledger = FileLedger(RealDisk(folder), seal_hands=SEAL_HANDS, secrets=SECRETS)
    turn = threading.Lock()

    def say(append: Append) -> None:
        (answer,) = ledger.append(append)
        with turn:
            told.send((answer.stream, answer.version, answer.pos))

    def write(number: int) -> None:
        while True:
            if number % 5:
                say(begun(number))
                say(ended(number))
            else:
                say(whole(number))
            number += THREADS

    def note() -> None:
        version = len(ledger.read("m"))
        while True:
            say(noted(version, "x" * (version % 900)))
            version += 1

    for thread in range(THREADS):
        threading.Thread(target=write, args=(first + thread,), daemon=True).start()
    note()
    lock.release()  # never: but a lock that nobody holds on to is gone

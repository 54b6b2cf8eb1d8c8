"""Verdicts of a large ledger, judged in a thread of their own while the server goes on answering.

Nobody waits for it and nothing depends on it: what is judged is kept hand by hand, and a page says
how many are left. It begins when an auditor asks for it.
"""

import threading

from api.questions.verdicts import Verdicts
from store.reader import Snapshot

STOP_S = 5.0  # that a batch may take to come to its end


class Judging:
    """At most one thread that judges what is left of a ledger."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def going(self) -> bool:
        """Whether somebody judges now."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, snapshot: Snapshot) -> None:
        """All that is left of this ledger, unless it is being judged already."""
        with self._turn:
            if not self.going and not self._stop.is_set():
                self._thread = threading.Thread(target=self._judge, args=(snapshot,), daemon=True)
                self._thread.start()

    def close(self) -> None:
        """What was judged so far stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_S)

    def _judge(self, snapshot: Snapshot) -> None:
        try:
            for _ in self._verdicts.judge(snapshot):
                if self._stop.is_set():
                    return
        except FileNotFoundError:
            return  # compacted meanwhile: whoever asks again goes on, over the new files

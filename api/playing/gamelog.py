"""A match of ours as the gamelog that the MIT engine would have written of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from events.types import Events, Faulted
from formats.mit.note import Noted, noted
from formats.mit.write import write

_NO_TEXT = "�"  # stands in a kept reply for bytes that were no text


def gamelog(records: Sequence[Events]) -> str:
    """The whole log in the newest dialect; a ValueError where none could say what happened.

    Bytes that were no text never became a reply for that engine: it logged an empty one, and the
    exception of its decoder.
    """
    # Where such replies stand: the hand, and which of its malformed replies it was.
    unreadable = {
        (number, nth): "ValueError"
        for number, record in enumerate(records, 1)
        for nth, fault in enumerate(
            [e for e in record if isinstance(e, Faulted) and e.kind == "malformed"], 1
        )
        if _is_no_text(fault)
    }
    if not unreadable:
        return write(records)
    emptied = [
        tuple(
            replace(event, raw="") if isinstance(event, Faulted) and _is_no_text(event) else event
            for event in record
        )
        for record in records
    ]
    told = write(emptied)
    header, _, rest = told.partition("\n")
    dialect = "S3" if header.startswith("6.176 ") else "A3"
    footer = rest[rest.rindex("\nFinal, ") + 1 :].partition("\n")[2]
    note = Noted(dialect, header, f"\n{footer}", exceptions=unreadable)
    return write(emptied, noted(note))


def _is_no_text(fault: Faulted) -> bool:
    return fault.kind == "malformed" and _NO_TEXT in fault.raw

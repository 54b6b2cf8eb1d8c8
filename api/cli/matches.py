"""`muckrake matches`: the matches in the ledger, how long they went on and what they came to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import asking, json_option, ledger_option
from api.cli.output import cell, listed, table
from events.types import MatchEnded, MatchStarted

if TYPE_CHECKING:
    from store.reader import Snapshot

COLUMNS = ("match", "game", "ruleset", "players", "hands", "first", "last", "nets", "status")
OPEN = "not ended"
PLAYED = """
SELECT match, count(*) AS hands, min(first_at) AS first, max(last_at) AS last
FROM hands GROUP BY match ORDER BY min(hand_seq)
"""


@click.command()
@ledger_option
@json_option
def matches(folder: Path, as_document: bool) -> None:
    """List the matches in the ledger, in the order of their first hands."""
    with asking(folder) as views:
        played = {row["match"]: row for row in views.rows(PLAYED)}
        silent = [name for name in views.snapshot.matches() if name not in played]
        rows = [_match(views.snapshot, name, played.get(name)) for name in (*played, *silent)]
    if as_document:
        listed("muckrake.matches/1", "matches", rows)
        return
    table(COLUMNS, [[_told(row[column]) for column in COLUMNS] for row in rows])


def _match(ledger: "Snapshot", name: str, played: dict[str, Any] | None) -> dict[str, Any]:
    """What a match's own records tell, beside its hands; one that was cut off may lack either."""
    records = [one.event for one in ledger.read(name)]
    start = next((one for one in records if isinstance(one, MatchStarted)), None)
    end = next((one for one in reversed(records) if isinstance(one, MatchEnded)), None)
    return {
        "match": name,
        "game": start and start.game,
        "ruleset": start and start.ruleset,
        "players": start and list(start.players),
        "hands": played["hands"] if played else 0,
        "first": played and played["first"],
        "last": played and played["last"],
        "nets": end and list(end.nets),
        "status": end.reason if end else OPEN,
    }


def _told(value: Any) -> str:
    return ", ".join(map(cell, value)) if isinstance(value, list) else cell(value)

"""The ledger behind a command through the eyes that `--as` names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.asking.viewer import NoViewpoint, viewer_of
from api.cli.ledger import reading
from api.cli.output import NotFound, NotPermitted

if TYPE_CHECKING:
    from api.asking.viewed import Viewed


@contextmanager
def viewing(folder: Path, view: str) -> Iterator["Viewed"]:
    """Its views for SQL: a misspelt viewpoint is misuse, nobody's seat is not permitted."""
    try:
        viewer = viewer_of(view)
    except NoViewpoint as reason:
        raise click.UsageError(str(reason)) from None
    with reading(folder) as ledger:
        from api.asking.players import Nonsense
        from api.asking.viewed import Viewed
        from api.exporting.wanted import Absent
        from store.sql.guard import Refused

        viewed = Viewed(ledger, viewer)
        try:
            if not viewed.is_there:
                raise NotPermitted(f"{viewer.player} has no seat in any hand here")
            yield viewed
        except Refused as reason:
            raise click.ClickException(str(reason)) from None
        except Absent as absent:
            raise NotFound(str(absent)) from None
        except Nonsense as reason:
            raise click.UsageError(str(reason)) from None
        finally:
            viewed.close()

"""`--web`: the page of what a command would print, in the browser, until it is stopped."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from api.pages.site import Addresses

Door = Callable[..., Any]
Given = dict[str, Any]
AUDITOR = "auditor"


def web_page(page: "Callable[[Addresses, Given], str]") -> Callable[[Door], Door]:
    """For a command that has a page: where it is, by what was asked; next to the command."""

    def with_page(command: Door) -> Door:
        @wraps(command)
        def asked(*, web: bool, **given: Any) -> Any:
            return opened(page, given) if web else command(**given)

        option = click.option(
            "--web", is_flag=True, help="Its page in the browser, until Ctrl-C, instead of text."
        )
        return option(asked)

    return with_page


def opened(page: "Callable[[Addresses, Given], str]", given: Given) -> None:
    """Serve the ledger at a port that is free, and open this page of it."""
    from api.cli.ledger import check_spelling
    from api.cli.serve import serve
    from api.pages.site import Addresses

    view = given.get("view", AUDITOR)
    check_spelling(view)
    folder: Path = given["folder"]
    address = page(Addresses(None if view == AUDITOR else view), given)
    click.get_current_context().invoke(serve, port=0, opening=True, page=address, folder=folder)

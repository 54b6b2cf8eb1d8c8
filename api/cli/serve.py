"""`muckrake serve`: the API and the pages over HTTP, for as long as nobody stops it.

`--web` of other commands shows the page of what they would print, in the browser.
"""

import os
import re
import sys
import webbrowser
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from api.cli.ledger import Door, json_option, ledger_option, listening, plainly
from api.cli.options import Option
from api.cli.output import document, note, say

if TYPE_CHECKING:
    from api.pages.addresses import Addresses


PORT = 8000
_ORIGIN = re.compile(r"https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[0-9]{1,5})?")


def _allowance(name: str, most: int, what: str) -> Callable[[Door], Door]:
    """A number that may be used up, or 0."""
    return click.option(
        name,
        type=click.IntRange(0),
        default=most,
        show_default=True,
        metavar="N",
        help=f"{what}; 0 counts nothing.",
    )


@click.command()
@listening(PORT)
@click.option(
    "--web",
    "opening",
    cls=Option,
    formerly=["--open"],
    is_flag=True,
    help="Open it in the browser, as the auditor.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that answer; all of them only read.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="The public sees a match that is being played so much later.",
)
@_allowance("--rate", 6_000, "Limits what a caller may spend in a minute at each worker")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    metavar="N",
    help="Connections of one address, and requests of one caller, that a worker answers at once.",
)
@_allowance("--key-jobs", 4, "Jobs of one key that may be at work or wait")
@_allowance("--key-bytes", 4 << 30, "Bytes that one key may send in a day to be imported")
@_allowance("--key-hands", 20_000_000, "Hands that one key may have played or imported in a day")
@click.option(
    "--public-url",
    metavar="URL",
    help="Where a proxy on this machine leads here from; what it says of who came is believed.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="A site whose scripts may read answers; several times for several.",
)
@click.option(
    "--frame-origin",
    "framers",
    multiple=True,
    metavar="SITE",
    help="A site that may show a match's feed or a player's winnings in a frame; several times for"
    " several.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A line for each request, at the end of this file; - is stderr.",
)
@click.option(
    "--bots-dir",
    "bots",
    cls=Option,
    formerly=["--bots"],
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Bots in folders of it may be played by keys that may write.",
)
@click.option("--page", default="/", metavar="PATH", help="Which page --web opens.")
@ledger_option
@json_option
def serve(
    host: str,
    port: int,
    opening: bool,
    workers: int,
    delay: float,
    rate: int,
    at_once: int,
    key_jobs: int,
    key_bytes: int,
    key_hands: int,
    public_url: str | None,
    origins: tuple[str, ...],
    framers: tuple[str, ...],
    log: Path | None,
    bots: Path | None,
    page: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Serve the ledger's API and pages; who plays or imports meanwhile is followed."""
    with plainly():
        import resource  # noqa: F401  # a system without it hears so before an address is said

        from api.http.keys import SCOPES, once_url
        from api.http.layers import LOOPBACK
        from api.http.ledger_service import Settings
        from api.http.limits import Limits
        from api.serving.server import bound, run

        if log is not None and str(log) != "-":
            log.open("a").close()  # a file that cannot be written is refused now
        is_loopback = host in ("127.0.0.1", "::1", "localhost")
        public = () if public_url is None else (_host_of(public_url),)
        settings = Settings(
            folder.absolute(),
            delay_s=delay,
            hosts=(*LOOPBACK, *public) if is_loopback else (),
            allow_origins=origins,
            frame_origins=tuple(map(_origin, framers)),
            limits=Limits(
                rate=rate,
                at_once=at_once,
                key_jobs=key_jobs,
                key_bytes=key_bytes,
                key_hands=key_hands,
            ),
            logs=log is not None,
            fronted=public_url is not None,
            bots=None if bots is None else bots.absolute(),
        )
        sock = bound(host, port)
        base = f"http://{_name(host)}:{sock.getsockname()[1]}"
        once = once_url(settings.folder, public_url or base, tuple(SCOPES), page)
        if as_document:
            document("muckrake.serve/1", address=f"{base}/", login=once)
        else:
            say(f"{base}/  as the public sees it")
            say(f"{once}  as the auditor, once")
        sys.stdout.flush()
        if not is_loopback:
            note(f"muckrake: whoever reaches {host} is answered, without encryption")
        if opening:
            webbrowser.open(once)
        code = run(settings, sock, workers, None if log is None or str(log) == "-" else log)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # answers that nobody waits for any more are not waited for


def _host_of(url: str) -> str:
    """The name that browsers will say."""
    there = urlsplit(url)
    if there.scheme not in ("http", "https") or not there.hostname or there.path not in ("", "/"):
        raise click.UsageError(f"--public-url {url} is none: https://poker.example is one")
    return f"[{there.hostname}]" if ":" in there.hostname else there.hostname


def _origin(url: str) -> str:
    """A site as a browser names it; it is put into a header, where more would say more."""
    if not _ORIGIN.fullmatch(url):
        raise click.UsageError(f"--frame-origin {url} is none: https://club.example is one")
    return url


def _name(host: str) -> str:
    """As it stands in an address."""
    if host in ("0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


Given = dict[str, Any]
AUDITOR = "auditor"


def web_page(page: "Callable[[Addresses, Given], str]") -> Callable[[Door], Door]:
    """For a command that has a page: where it is, by what was asked; next to the command."""

    def with_page(command: Door) -> Door:
        @wraps(command)
        def with_web(*, web: bool, **given: Any) -> Any:
            return opened(page, given) if web else command(**given)

        option = click.option(
            "--web", is_flag=True, help="Its page in the browser, until Ctrl-C, instead of text."
        )
        return option(with_web)

    return with_page


def opened(page: "Callable[[Addresses, Given], str]", given: Given) -> None:
    """Serve the ledger at a port that is free, and open this page of it."""
    from api.cli.ledger import check_spelling
    from api.pages.addresses import Addresses

    view = given.get("view", AUDITOR)
    check_spelling(view)
    folder: Path = given["folder"]
    address = page(Addresses(None if view == AUDITOR else view), given)
    click.get_current_context().invoke(serve, port=0, opening=True, page=address, folder=folder)

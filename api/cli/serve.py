"""`muckrake serve`: the API and the pages over HTTP, for as long as nobody stops it.

`--web` of other commands shows the page of what they would print, in the browser. `muckrake get`
has one request answered by the API in its own process, without a server.
"""

import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import urlencode, urlsplit

import click
import msgspec

from api.cli.ledger import (
    Decorator,
    Function,
    check_viewpoint,
    json_option,
    ledger_errors,
    ledger_option,
    listen_options,
    view_option,
)
from api.cli.options import Option, out_option
from api.cli.output import FORBIDDEN, INTERRUPTED, MISSING, binary_stdout, note, print_json, say

if TYPE_CHECKING:
    from api.pages.addresses import Addresses


PORT = 8000
_ORIGIN = re.compile(r"https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[0-9]{1,5})?")


def _limit_option(name: str, most: int, what: str) -> Decorator:
    """An option for a quota; 0 is allowed."""
    return click.option(
        name,
        type=click.IntRange(0),
        default=most,
        show_default=True,
        metavar="N",
        help=f"{what}; 0 counts nothing.",
    )


@click.command()
@listen_options(PORT)
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
@_limit_option("--rate", 6_000, "Limits what a caller may spend in a minute at each worker")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    metavar="N",
    help="Connections of one address, and requests of one caller, that a worker answers at once.",
)
@_limit_option("--key-jobs", 4, "Jobs of one key that may be at work or wait")
@_limit_option("--key-bytes", 4 << 30, "Bytes that one key may send in a day to be imported")
@_limit_option("--key-hands", 20_000_000, "Hands that one key may have played or imported in a day")
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
    with ledger_errors():
        import resource  # noqa: F401  # a system without it hears so before an address is said

        from api.http.credentials import SCOPES, login_url
        from api.http.ledger_service import Settings
        from api.http.limits import Limits
        from api.http.middleware import LOOPBACK
        from api.serving.server import listening_socket, run_server

        if log is not None and str(log) != "-":
            log.open("a").close()  # a file that cannot be written is refused now
        is_loopback = host in ("127.0.0.1", "::1", "localhost")
        public: tuple[str, ...] = ()
        if public_url is not None:  # the name that browsers will say
            there = urlsplit(public_url)
            is_root = there.scheme in ("http", "https") and there.path in ("", "/")
            if not there.hostname or not is_root:
                raise click.UsageError(
                    f"--public-url {public_url} is none: https://poker.example is one"
                )
            public = (_url_host(there.hostname),)
        for url in framers:  # they are put into a header, where more would say more
            if not _ORIGIN.fullmatch(url):
                raise click.UsageError(f"--frame-origin {url} is none: https://club.example is one")
        settings = Settings(
            folder.absolute(),
            delay_s=delay,
            hosts=(*LOOPBACK, *public) if is_loopback else (),
            allow_origins=origins,
            frame_origins=framers,
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
        sock = listening_socket(host, port)
        name = "localhost" if host in ("0.0.0.0", "::") else _url_host(host)
        base = f"http://{name}:{sock.getsockname()[1]}"
        once = login_url(settings.folder, public_url or base, tuple(SCOPES), page)
        if as_document:
            print_json("muckrake.serve/1", address=f"{base}/", login=once)
        else:
            say(f"{base}/  as the public sees it")
            say(f"{once}  as the auditor, once")
        sys.stdout.flush()
        if not is_loopback:
            note(f"muckrake: whoever reaches {host} is answered, without encryption")
        if opening:
            import webbrowser

            webbrowser.open(once)
        code = run_server(settings, sock, workers, None if log is None or str(log) == "-" else log)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # answers that nobody waits for any more are not waited for


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


OptionValues = dict[str, Any]
AUDITOR = "auditor"


def web_page(page: "Callable[[Addresses, OptionValues], str]") -> Decorator:
    """A decorator that adds --web to a command: `page` gives the address of its page."""

    def with_page(command: Function) -> Function:
        @wraps(command)
        def with_web(*, web: bool, **given: Any) -> Any:
            return open_page(page, given) if web else command(**given)

        option = click.option(
            "--web", is_flag=True, help="Its page in the browser, until Ctrl-C, instead of text."
        )
        return option(with_web)

    return with_page


def open_page(page: "Callable[[Addresses, OptionValues], str]", given: OptionValues) -> None:
    """Serve the ledger at a free port, and open this page in a browser."""
    from api.pages.addresses import Addresses

    view = given.get("view", AUDITOR)
    check_viewpoint(view)
    folder: Path = given["folder"]
    address = page(Addresses(None if view == AUDITOR else view), given)
    click.get_current_context().invoke(serve, port=0, opening=True, page=address, folder=folder)


API_ROOT = "/api/v1/"
EXIT_CODES = {401: FORBIDDEN, 403: FORBIDDEN, 404: MISSING}  # exit codes; of others 2 or 1


@click.command()
@click.argument("path")
@view_option
@click.option(
    "--format", "named", metavar="F", help="json, ndjson, csv, ...: as far as there is such."
)
@out_option("Into this file; else to stdout.", ["--output"])
@ledger_option
@click.option("--json", "as_json", is_flag=True, help="As --format json.")
def get(
    path: str, view: str, named: str | None, out: Path | None, folder: Path, as_json: bool
) -> None:
    """Answer one GET request of the API: `muckrake get matches`, `muckrake get /api/v1/hands`."""
    import asyncio  # here, so that commands with a page, which import this file, start without it

    there = urlsplit(path if path.startswith("/") else API_ROOT + path)
    added = {"as": view} | ({"format": named or "json"} if named or as_json else {})
    query = "&".join(filter(None, (there.query, urlencode(added))))
    try:
        with ledger_errors():
            asyncio.run(_send_request(folder, there.path, query, out))
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None


async def _send_request(folder: Path, path: str, query: str, output: Path | None) -> None:
    """Send a GET request to the application and write the body as it comes, unless refused."""
    from api.http.access import Caller
    from api.http.credentials import SCOPES
    from api.http.ledger_service import LedgerService, Settings
    from api.http.limits import Limits
    from api.serving.app import create_app

    limits = Limits(page_processes=0)  # nobody else waits
    app = create_app(LedgerService(Settings(folder.absolute(), delay_s=0, limits=limits)))
    answer = _ResponseWriter(output)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "server": ("localhost", 80),
        "client": None,
        "state": {"caller": Caller("command line", frozenset(SCOPES))},
    }
    try:
        await app(scope, answer.receive, answer.send)
    finally:
        app.state.service.close()
        answer.close()
    if answer.status >= 400:
        try:
            sentence = str(msgspec.json.decode(answer.problem)["detail"])
        except (msgspec.MsgspecError, LookupError, TypeError):
            sentence = f"the answer has the status {answer.status}"
        note(f"muckrake: {sentence}")
        code = EXIT_CODES.get(answer.status, 2 if answer.status < 500 else 1)
        raise click.exceptions.Exit(code)


class _ResponseWriter:
    """The ASGI client side: collects the application's status and writes its body."""

    def __init__(self, output: Path | None) -> None:
        import asyncio

        self.status = 500
        self.problem = b""
        self._path = output
        self._shown = ExitStack()
        self._out: BinaryIO | None = None
        self._has_begun = False
        self._over = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if not self._has_begun:
            self._has_begun = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.status < 400:
                shown = None if self._path else self._shown.enter_context(binary_stdout())
                self._out = shown or cast(Path, self._path).open("wb")
            return
        body = message.get("body", b"")
        if self._out is None:
            self.problem += body
        else:
            self._out.write(body)
            self._out.flush()
        if not message.get("more_body", False):
            self._over.set()

    def close(self) -> None:
        self._shown.close()
        if self._path and self._out is not None:
            self._out.close()

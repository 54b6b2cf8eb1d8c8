"""`muckrake get`: one request to the API, answered in this process without a server."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlencode, urlsplit

import click
import msgspec

from api.cli.ledger import ledger_option, plainly, view_option
from api.cli.options import out_option
from api.cli.output import FORBIDDEN, INTERRUPTED, MISSING, data, note

ROOT = "/api/v1/"
CODES = {401: FORBIDDEN, 403: FORBIDDEN, 404: MISSING}  # exit codes; of others 2 or 1


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
    there = urlsplit(path if path.startswith("/") else ROOT + path)
    added = {"as": view} | ({"format": named or "json"} if named or as_json else {})
    query = "&".join(filter(None, (there.query, urlencode(added))))
    try:
        with plainly():
            asyncio.run(_answered(folder, there.path, query, out))
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None


async def _answered(folder: Path, path: str, query: str, output: Path | None) -> None:
    """The body goes out as it comes; of a refusal nothing does."""
    from api.http.ask import Caller
    from api.http.keys import SCOPES
    from api.http.ledger_service import LedgerService, Settings
    from api.http.limits import Limits
    from api.serving.app import create_app

    limits = Limits(pages=0)  # nobody else waits
    app = create_app(LedgerService(Settings(folder.absolute(), delay_s=0, limits=limits)))
    answer = _Response(output)
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
        code = CODES.get(answer.status, 2 if answer.status < 500 else 1)
        raise click.exceptions.Exit(code)


class _Response:
    """Where the application's messages go."""

    def __init__(self, output: Path | None) -> None:
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
                shown = None if self._path else self._shown.enter_context(data())
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

"""`muckrake publish`, `muckrake witness` and `muckrake monitor`: ask for cosignatures, give them,
and follow a log to find forks, wrong leaves and repeated records.
"""

import asyncio
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
import msgspec

from api.cli.ledger import (
    json_option,
    ledger_errors,
    ledger_option,
    listen_options,
    no_ledger_option,
    reading,
    refuse_archive,
)
from api.cli.options import Option
from api.cli.output import WRONG, errors_as, note, print_json, repeat_every, say
from store.proof.note import SIGNS, Key
from store.proof.tree import Refuted, leaf_hash

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from api.evidence.cosigning import Publication
    from api.evidence.log_monitor import EvidenceCheck, LogReport, Monitor
    from store.proof.checkpoint import Witness


@click.command()
@click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A C2SP tlog-policy with the addresses of witnesses; kept by the ledger from now on.",
)
@click.option(
    "--watch",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Go on, and look for a newer checkpoint this often, until stopped.",
)
@ledger_option
@json_option
def publish(policy: Path | None, watch: float | None, folder: Path, as_document: bool) -> None:
    """Ask the ledger's witnesses to cosign its newest checkpoint, and publish it if enough do.

    A ledger without witnesses publishes each checkpoint as soon as it is signed.
    """
    refuse_archive(folder)
    with ledger_errors(), reading(folder) as ledger:
        from api.evidence.cosigning import publish_newest
        from store.proof.witness_policy import keep_policy, policy_of, read_policy

        disk = ledger.live.disk
        with errors_as(click.ClickException, Refuted):
            if policy is not None:
                keep_policy(disk, read_policy(policy.read_bytes()))
            if policy_of(disk) is None:
                raise click.ClickException(
                    f"{folder} asks no witness: name some with --policy FILE"
                )
            found = publish_newest(folder)
            _print_publication(found, as_document)
            for _ in repeat_every(watch):
                if (newer := publish_newest(folder)) is not None:
                    _print_publication(found := newer, as_document)
    if found is not None and not found.is_published:
        raise click.exceptions.Exit(1)


def _print_publication(publication: "Publication | None", as_document: bool) -> None:
    """Print one line, and a note for each witness that did not cosign."""
    if publication is None:
        if as_document:
            print_json("muckrake.publish/1", size=None, is_published=None, replies=[])
        else:
            say("nothing to publish: no checkpoint is newer than the one that is published")
        return
    sentence, *refusals = publication.sentences
    if as_document:
        print_json("muckrake.publish/1", **msgspec.to_builtins(publication))
    else:
        say(sentence)
    for refusal in refusals:
        note(refusal)


PORT = 8100
AT_ONCE = 64  # connections of one address
GRACE_S = 5
BODY_S = 20.0
BODY_MAX = 65_536  # bytes of a request: a proof of 63 hashes and a checkpoint with its signatures


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--key",
    "logs",
    cls=Option,
    formerly=["--log"],
    multiple=True,
    required=True,
    metavar="KEY",
    help="The public key of a log, or a file with one a line; several times for several.",
)
@click.option(
    "--name", metavar="NAME", help="The name of a new witness: best the address that it will have."
)
@listen_options(PORT)
@no_ledger_option
@json_option
def witness(
    folder: Path, logs: tuple[str, ...], name: str | None, host: str, port: int, as_document: bool
) -> None:
    """Be a witness: cosign a checkpoint of a log if it grew from the last one cosigned here.

    FOLDER keeps the witness's key and what it has cosigned; never restore an old copy of it.
    """
    keys = [key for word in logs for key in log_keys(word)]
    with ledger_errors():
        from api.http.limits import Limits
        from api.serving.server import LimitedServer, listening_socket
        from store.proof.checkpoint import Witness

        with errors_as(click.ClickException, Refuted):
            server = Witness(folder, keys, name)
        try:
            sock = listening_socket(host, port)
            address = f"http://{host}:{sock.getsockname()[1]}"
            if as_document:
                print_json("muckrake.witness/1", address=address, key=server.key.text())
            else:
                say(f"{address}  cosigns for {', '.join(key.name for key in keys)}")
                say(server.key.text())
            sys.stdout.flush()
            LimitedServer(application(server), Limits(at_once=AT_ONCE), grace_s=GRACE_S).run([sock])
        finally:
            server.close()


def log_keys(word: str) -> list[Key]:
    """Public keys of logs: one from the command line, or those of a file, one a line."""
    path = Path(word)
    try:
        lines = path.read_text().splitlines() if path.is_file() else [word]
        keys = [Key.read(line) for line in lines if line.strip()]
    except (OSError, ValueError) as reason:
        raise click.UsageError(f"{word} is neither a key nor a file of keys: {reason}") from None
    if not keys or any(key.kind != SIGNS for key in keys):
        raise click.UsageError(f"{word} names no key that a log signs with")
    return keys


def application(server: "Witness") -> "Starlette":
    """The web application of a witness: its one route, by C2SP tlog-witness."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    def refused(status: int, why: str) -> Response:
        return Response(f"{why}\n", status, media_type="text/plain; charset=utf-8")

    async def add_checkpoint(request: Request) -> Response:
        body = b""
        try:
            async with asyncio.timeout(BODY_S):
                async for part in request.stream():
                    body += part
                    if len(body) > BODY_MAX:
                        return refused(413, f"a request of more than {BODY_MAX} bytes is not read")
        except TimeoutError:
            return refused(408, f"a request must come within {BODY_S:g} seconds")
        answer = await run_in_threadpool(server.add_checkpoint, body)
        return Response(answer.body, answer.status, {"Content-Type": answer.media})

    return Starlette(routes=[Route("/add-checkpoint", add_checkpoint, methods=["POST"])])


@click.command()
@click.argument("url")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file in which the monitor keeps what it has seen; made if it is not there.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="The log's public key as you know it, or a file with one a line.",
)
@click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A C2SP tlog-policy: each checkpoint must be cosigned as it says.",
)
@click.option(
    "--all",
    "hands",
    cls=Option,
    formerly=["--hands"],
    is_flag=True,
    help="Verify the public evidence of every hand, too.",
)
@click.option(
    "--watch",
    type=click.FloatRange(1, 86_400),
    metavar="SECONDS",
    help="Look again this often, until stopped.",
)
@no_ledger_option
@click.option("--json", "as_document", is_flag=True, help="One document a look.")
def monitor(
    url: str,
    state: Path,
    keys: tuple[str, ...],
    policy: Path | None,
    hands: bool,
    watch: float | None,
    as_document: bool,
) -> None:
    """Read every leaf of the log at URL (https://HOST/api/v1/log), once, and check it.

    Exit code 3 as long as anything was ever found: a repeated record, a wrong leaf, a fork.
    """
    import sqlite3

    from api.evidence.log_monitor import Monitor, Unreachable, http_get
    from store.proof.witness_policy import read_policy

    known = [key for word in keys for key in log_keys(word)]
    with ledger_errors():
        get = http_get(url)
        try:
            witness_policy = None if policy is None else read_policy(policy.read_bytes())
            known = known or (list(witness_policy.logs) if witness_policy else [])
            if not known:
                note("the log is believed about its own key: name it with --key, or a policy")
                lines = get("key").decode(errors="replace").splitlines()
                known = [Key.read(line) for line in lines]
            watcher = Monitor(get, state, known, witness_policy)
            look = _evidence_checker(url, known) if hands else None
            report = _look_at_log(watcher, url, look, as_document)
            for _ in repeat_every(watch):
                try:
                    report = _look_at_log(watcher, url, look, as_document)
                except Unreachable as reason:  # it may come back: who watches goes on
                    note(str(reason))
        except (Refuted, Unreachable) as reason:
            raise click.ClickException(str(reason)) from None
        except sqlite3.Error as reason:
            raise click.ClickException(f"{state} cannot keep what was seen: {reason}") from None
    if report.findings:
        raise click.exceptions.Exit(WRONG)


def _look_at_log(
    watcher: "Monitor", url: str, hand: "EvidenceCheck | None", as_document: bool
) -> "LogReport":
    seen = watcher.look(hand)
    if as_document:
        print_json("muckrake.monitor/1", url=url, **msgspec.to_builtins(seen))
        return seen
    say(f"{seen.origin}  {seen.size:,} leaves, {seen.new:,} of them new")
    for finding in seen.findings:
        place = "" if finding.leaf is None else f"leaf {finding.leaf}: "
        say(f"FOUND  {place}{finding.sentence}")
    return seen


def _evidence_checker(url: str, keys: Collection[Key]) -> "EvidenceCheck":
    """What is wrong with the public evidence of a hand, as the log's own server gives it: it must
    be of the leaf that is in the tree, and signed by a known key."""
    from api.evidence import verify as script
    from api.evidence.log_monitor import http_get

    get = http_get(url.rstrip("/").removesuffix("/log"))
    known = [key for one in keys for key in script.keys_of_argument(one.text())]

    def check(stream: str, leaf: bytes) -> str | None:
        match, _, number = stream.rpartition("/")
        bundle = get(f"hands/{quote(match, safe='')}/{number}/proof?format=zip")
        files = cache(lambda: script.unzipped(bundle))
        if wrong := script.check_bundle(files, known).problems:
            return "; ".join(wrong)
        if leaf_hash(files()["leaf.json"]) != leaf:
            return f"the evidence of {stream} is of another leaf than the one in the tree"
        return None

    return check

"""`muckrake monitor URL`: follow somebody's log, and say what it must not do."""

import sqlite3
from collections.abc import Collection
from functools import cache
from pathlib import Path
from urllib.parse import quote

import click
import msgspec

from api.cli.ledger import no_ledger_option, plainly
from api.cli.options import Option
from api.cli.output import WRONG, document, every, note, say
from api.cli.witness import keys_of
from api.evidence.monitoring import LogReport, LookAt, Monitor, Unreachable, over_http
from store.proof.note import Key
from store.proof.policy import read_policy
from store.proof.tree import Refuted, leaf_hash


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
    known = [key for word in keys for key in keys_of(word)]
    with plainly():
        get = over_http(url)
        try:
            witness_policy = None if policy is None else read_policy(policy.read_bytes())
            known = known or (list(witness_policy.logs) if witness_policy else [])
            if not known:
                note("the log is believed about its own key: name it with --key, or a policy")
                lines = get("key").decode(errors="replace").splitlines()
                known = [Key.read(line) for line in lines]
            watcher = Monitor(get, state, known, witness_policy)
            look = _evidence(url, known) if hands else None
            report = _looked(watcher, url, look, as_document)
            for _ in every(watch):
                try:
                    report = _looked(watcher, url, look, as_document)
                except Unreachable as reason:  # it may come back: who watches goes on
                    note(str(reason))
        except (Refuted, Unreachable) as reason:
            raise click.ClickException(str(reason)) from None
        except sqlite3.Error as reason:
            raise click.ClickException(f"{state} cannot keep what was seen: {reason}") from None
    if report.findings:
        raise click.exceptions.Exit(WRONG)


def _looked(watcher: Monitor, url: str, hand: LookAt | None, as_document: bool) -> LogReport:
    seen = watcher.look(hand)
    if as_document:
        document("muckrake.monitor/1", url=url, **msgspec.to_builtins(seen))
        return seen
    say(f"{seen.origin}  {seen.size:,} leaves, {seen.new:,} of them new")
    for finding in seen.findings:
        place = "" if finding.leaf is None else f"leaf {finding.leaf}: "
        say(f"FOUND  {place}{finding.sentence}")
    return seen


def _evidence(url: str, keys: Collection[Key]) -> LookAt:
    """What is wrong with the public evidence of a hand, as the log's own server gives it: it must
    be of the leaf that is in the tree, and signed by a known key."""
    from api.evidence import verify as script

    get = over_http(url.rstrip("/").removesuffix("/log"))
    known = [key for one in keys for key in script.known_keys(one.text())]

    def check(stream: str, leaf: bytes) -> str | None:
        match, _, number = stream.rpartition("/")
        bundle = get(f"hands/{quote(match, safe='')}/{number}/proof?format=zip")
        files = cache(lambda: script.unpacked(bundle))
        if wrong := script.judged(files, known).problems:
            return "; ".join(wrong)
        if leaf_hash(files()["leaf.json"]) != leaf:
            return f"the evidence of {stream} is of another leaf than the one in the tree"
        return None

    return check

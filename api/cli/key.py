"""`muckrake key create|list|revoke`: who may ask the HTTP API for more than the public.

A key's secret is printed once, by `create`; the ledger keeps only a hash of it.
"""

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from api.cli.ledger import json_option, ledger_errors, ledger_option, refuse_archive, writing
from api.cli.output import NotFound, errors_as, note, print_json, print_table, say
from api.http.credentials import SCOPES, SEAT_SCOPES, Keys, UnknownScope, as_json, checked_scope
from store.folder.disk import Lock, RealDisk
from store.proof.ledger_secrets import SecretFolder

_LIFETIME = re.compile(r"(?P<count>[1-9]\d{0,4})(?P<unit>[hdw])")
_UNIT_S = {"h": 3_600, "d": 86_400, "w": 604_800}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def key() -> None:
    """Keys to the HTTP API: create, list and revoke.

    A running server takes a new key, and refuses a revoked one, at once.
    """


@key.command()
@ledger_option
@json_option
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="SCOPE",
    help=f"A scope of the key; may be given several times: {', '.join((*SCOPES, *SEAT_SCOPES))}.",
)
@click.option("--name", metavar="NAME", default="", help="Whose it is, for the list.")
@click.option(
    "--expires",
    metavar="WHEN",
    help="After so many hours, days or weeks (12h, 30d, 8w), or on a day (2027-01-31); else never.",
)
def create(
    folder: Path, as_document: bool, scopes: tuple[str, ...], name: str, expires: str | None
) -> None:
    """Make a key and print it: nobody can print it a second time."""
    with errors_as(click.UsageError, UnknownScope):
        good_for = tuple(dict.fromkeys(map(checked_scope, scopes)))
    until = None if expires is None else expiry(expires, time.time())
    refuse_archive(folder)
    with ledger_errors():
        key, spelled = _keys(folder).make(good_for, name, until)
    if as_document:
        print_json("muckrake.key-create/1", **as_json(key), key=spelled)
    else:
        say(spelled)
        note(f"key {key.id} for {', '.join(good_for)}: keep it, it is not told again")


@key.command("list")
@ledger_option
@json_option
def list_(folder: Path, as_document: bool) -> None:
    """Every key, without its secret."""
    with ledger_errors():
        keys = [as_json(one) for one in _keys(folder).all()]
    if as_document:
        print_json("muckrake.key-list/1", keys=keys)
        return
    rows = [
        [
            one["id"],
            one["name"],
            " ".join(one["scopes"]),
            one["created"],
            f"{one['expires'] or 'never'}{' (over)' if one['expired'] else ''}",
        ]
        for one in keys
    ]
    print_table(["key", "name", "scopes", "created", "expires"], rows)


@key.command()
@ledger_option
@json_option
@click.argument("id", metavar="KEY")
def revoke(folder: Path, as_document: bool, id: str) -> None:
    """No more of KEY, by its id as `key list` shows it; the key itself will do."""
    id_ = id.split("_")[1] if id.startswith("mr_") else id
    refuse_archive(folder)
    with ledger_errors():
        gone = _keys(folder).revoke(id_)
    if not gone:
        raise NotFound(f"there is no key {id_[:40]}: muckrake key list shows those there are")
    if as_document:
        print_json("muckrake.key-revoke/1", id=id_)
    else:
        note(f"key {id_} is revoked: it opens nothing from now on")


@key.command()
@ledger_option
@json_option
def replace(folder: Path, as_document: bool) -> None:
    """Replace the key that the ledger signs with; the old one signs a statement over the new first.

    Publish the new line and the statement where the old key was published.
    """
    refuse_archive(folder)
    with ledger_errors():
        from store.proof.notary import REPLACED as FOLDER
        from store.proof.notary import replace_signer

        private, disk = SecretFolder(folder), RealDisk(folder)
        if private.signer() is None:
            raise NotFound(f"{folder} has no signing key to replace: a lost one is drawn anew")
        with writing(folder, "key replace"):
            pass  # the old key's last checkpoint
        lock = Lock(folder, "key replace")
        try:
            old = private.signer()
            assert old is not None
            new = replace_signer(disk, private, old)
        finally:
            lock.release()
        with writing(folder, "key replace"):
            pass  # the new key joins the known ones, and signs
    statement = folder / FOLDER
    if as_document:
        about = {"old": old.key.text(), "new": new.key.text(), "statements": str(statement)}
        print_json("muckrake.key-replace/1", **about)
    else:
        say(new.key.text())
        note(f"the statement that {old.key.text()} has signed is the last one in {statement}")


def expiry(expires: str, now: float) -> int:
    """The expiry of a key made now, in seconds since 1970."""
    if parsed := _LIFETIME.fullmatch(expires):
        return int(now) + int(parsed["count"]) * _UNIT_S[parsed["unit"]]
    try:
        day = datetime.strptime(expires, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        sentence = f"{expires} is no time: say 12h, 30d, 8w or a day as 2027-01-31"
        raise click.UsageError(sentence) from None
    if day.timestamp() <= now:
        raise click.UsageError(f"{expires} is over: a key cannot end before it begins")
    return int(day.timestamp())


def _keys(folder: Path) -> Keys:
    if not folder.is_dir():
        raise NotFound(f"there is no ledger in {folder}: muckrake play makes one")
    return Keys(folder)

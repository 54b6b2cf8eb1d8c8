"""`muckrake verify`: check an evidence bundle, or the whole ledger, from its bytes."""

import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta, Struct
from msgspec.structs import asdict

from api.cli.ledger import (
    json_option,
    ledger_name,
    ledger_option,
    reading,
    remembered,
    witness_option,
)
from api.cli.options import quiet_option
from api.cli.output import OWN_KEY, WRONG, errors_as, note, print_struct, progress, say
from api.cli.serve import web_page
from api.printable import PrintableText, printable_lines
from api.questions.json_types import Complaint
from engine.game import fingerprint_of
from store.proof.ledger_secrets import SecretFolder
from store.proof.tree import Refuted

if TYPE_CHECKING:
    from api.evidence.verify import Key
    from store.reader import Snapshot
    from store.verify import Verified

FINDINGS_MAX = 20  # findings that are printed: more is what --json is for
OWN_FOLDERS = (
    "WARNING: nothing says whose key this is but the ledger's own folder, and whoever wrote that"
    " can have signed it anew: say --key and the key you know."
)


class BundleVerified(Struct, frozen=True, tag_field="schema", tag="muckrake.verify/1"):
    """What a bundle proves, and what is wrong with it."""

    file: Annotated[str, Meta(description="the bundle")]
    ok: Annotated[bool, Meta(description="whether nothing is wrong")]
    key_known: Annotated[bool, Meta(description="whether a key that you know has signed")]
    proved: Annotated[tuple[str, ...], Meta(description="a sentence for each thing that holds")]
    wrong: Annotated[list[Complaint], Meta(description="the findings: `where`, `sentence`, `note`")]


class LedgerVerified(Struct, frozen=True, tag_field="schema", tag="muckrake.verify/1"):
    """What was looked at in a ledger, and what is wrong with it."""

    matches: Annotated[int, Meta(description="how many matches")]
    hands: Annotated[int, Meta(description="how many hands")]
    events: Annotated[int, Meta(description="how many events")]
    digests: Annotated[int, Meta(description="leaves whose digest was made again, and is right")]
    leaves: Annotated[int, Meta(description="closed streams")]
    signed: Annotated[int, Meta(description="leaves under the newest checkpoint")]
    unsigned: Annotated[int, Meta(description="leaves that no checkpoint covers yet")]
    commitments: Annotated[int, Meta(description="hidden cards and bids that are as committed")]
    replayed: Annotated[int, Meta(description="hands that could be replayed")]
    balanced: Annotated[int, Meta(description="hands in which no chip was made or lost")]
    size: Annotated[int, Meta(description="the size of the tree")]
    root: Annotated[str, Meta(description="the root of the tree")]
    signed_by: Annotated[tuple[str, ...], Meta(description="the keys of the newest checkpoint")]
    decks: Annotated[int, Meta(description="decks that are as committed before the match")]
    ok: Annotated[bool, Meta(description="whether nothing is wrong")]
    key_known: Annotated[bool, Meta(description="whether a key that you know has signed")]
    wrong: Annotated[
        list[Complaint],
        Meta(description="the findings: `where`, `sentence`, `note` (a remark, nothing wrong)"),
    ]


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="Everything in the ledger.")
@click.option(
    "--key",
    "words",
    multiple=True,
    metavar="KEY",
    help="A public key of the log as you know it, or a file of such keys; else those that your own"
    " file of known keys has of that log.",
)
@click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A C2SP tlog-policy: which logs are believed, and which witnesses must have cosigned.",
)
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --all: a checkpoint that you kept; the ledger must still begin with it.",
)
@ledger_option
@witness_option
@json_option
@quiet_option
@web_page(lambda to, witness_policy: to.verify())
def verify(
    file: Path | None,
    every: bool,
    words: tuple[str, ...],
    policy: Path | None,
    checkpoint: Path | None,
    folder: Path,
    as_document: bool,
) -> None:
    """Check the bytes, digests, proofs and chips of an evidence bundle (FILE, or the folder it was
    unpacked into) or of the ledger; ends with 7 if nobody said which key is the log's."""
    if (file is None) != every:
        raise click.UsageError("name a bundle to verify, or the whole ledger with --all")
    if checkpoint and not every:
        raise click.UsageError("--checkpoint goes with --all: a bundle has one of its own")
    given_keys = tuple(key for word in words for key in _keys_meant(word))
    witness_policy = None
    if policy is not None:
        from api.evidence.verify import BadArguments, policy_in_file

        with errors_as(click.UsageError, BadArguments):
            witness_policy = policy_in_file(str(policy))
        given_keys = given_keys or tuple(witness_policy.logs)
    if file is not None:
        # By the program that lies in every bundle; never the copy in this one.
        from api.evidence import verify as script

        read = cache(lambda: script.read_bundle(str(file)))
        try:
            known = given_keys or _known_keys(script.read_key("key", read()["key"]).name)
        except (script.Refusal, script.UnreadableBundle, LookupError):
            known = given_keys
        verdict = script.check_bundle(read, known, witness_policy)
        problems, proved, code = verdict
        if code == script.UNREAD:
            raise click.ClickException(problems[0])
        own = [script.WARNING] if code == OWN_KEY else []
        if as_document:
            found = [
                Complaint(where=file.name, sentence=problem, note=False) for problem in problems
            ]
            print_struct(BundleVerified(str(file), not problems, bool(known), tuple(proved), found))
        else:
            say(printable_lines((*problems, *proved, *own)))
        if code:
            raise click.exceptions.Exit(code)
    else:
        _verify_ledger(folder, given_keys, policy, checkpoint, as_document)


def known_keys_file() -> Path:
    """The path of the user's file of known keys: one a line, as each log's owner published it."""
    if named := os.environ.get("MUCKRAKE_KNOWN_KEYS"):
        return Path(named)
    return (
        Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "muckrake/known_keys"
    )


def _keys_meant(word: str) -> list["Key"]:
    """The keys of an argument: a key itself, or the keys in a file."""
    from api.evidence.verify import BadArguments, keys_of_argument

    with errors_as(click.UsageError, BadArguments):
        return keys_of_argument(word)


def _known_keys(name: str) -> tuple["Key", ...]:
    """The keys of this log in the user's file of known keys."""
    file = known_keys_file()
    return tuple(key for key in _keys_meant(str(file)) if key.name == name) if file.exists() else ()


def _verify_ledger(
    folder: Path,
    given_keys: tuple["Key", ...],
    policy: Path | None,
    checkpoint: Path | None,
    as_document: bool,
) -> None:
    begun = time.monotonic()
    with reading(folder, warned=False) as ledger:
        from api.evidence.bundle import DeckChecks
        from store.proof.notary import successors
        from store.verify import Verifier

        private = SecretFolder(folder)
        nonces = private.nonces()
        if nonces is None:
            raise click.ClickException(
                f"{private.folder}/nonce.key is not there: without it no digest can be made again"
            )
        older = checkpoint.read_bytes() if checkpoint else None
        besides = private.marks(), remembered(), fingerprint_of
        verifier = Verifier(ledger, nonces, older, *besides)
        deck_checks = DeckChecks(verifier.ledger, private)
        for leaf in progress(verifier.leaves(), "verifying", ledger.next_seq):
            if sentence := deck_checks.problem(leaf):
                verifier.found(leaf.stream, sentence)
        # The key that signs next. Who names the log's key needs none: an auditor's copy is without.
        if not given_keys and (streams := verifier.ledger.next_seq):
            signer = private.signer()
            if signer is None:
                sentence = f"it is missing, and {streams:,} streams have closed"
                verifier.found("private/signing.key", sentence)
            elif signer.key not in verifier.keys:
                sentence = f"its public key {signer.key.text()} is not in keys"
                verifier.found("private/signing.key", sentence)
        if policy is not None and (sentence := _checkpoint_problem(ledger, policy, older)):
            verifier.found("witnesses", sentence)
        found = verifier.verified()
        signers = found.signed_by
        known = given_keys or (_known_keys(signers[0].partition("+")[0]) if signers else ())
        if known and found.leaves:  # signed by one of them, or by a key that one put in its place
            lines = {key.line for key in known}
            if not successors(ledger.live.disk, lines) & {*signers}:
                by = " and ".join(signers) or "nobody"
                sentence = f"its checkpoint is signed by {by}, and not by a key that you know"
                verifier.found("keys", sentence)
                found = verifier.verified()
    own = bool(found.signed_by) and not known
    if as_document:
        content = asdict(found)
        content["wrong"] = [
            Complaint(where=where, sentence=sentence, note=is_note)
            for where, sentence, is_note in found.wrong
        ]
        content |= {"decks": deck_checks.checked, "ok": found.ok, "key_known": bool(known)}
        print_struct(LedgerVerified(**content))
    else:
        say(summary(found, deck_checks.checked))
        if own:
            say(OWN_FOLDERS)
    note(f"{ledger_name(folder)} verified in {time.monotonic() - begun:.1f} s")
    if not found.ok or own:
        raise click.exceptions.Exit(OWN_KEY if found.ok else WRONG)


def _checkpoint_problem(ledger: "Snapshot", policy: Path, kept: bytes | None) -> str | None:
    """Why the kept checkpoint, or else the published one, does not satisfy the policy."""
    from store.proof.notary import public_keys
    from store.proof.witness_policy import last_published, read_policy

    disk = ledger.live.disk
    shown = last_published(disk) if kept is None else None
    note = shown[1] if shown else kept
    try:
        witness_policy = read_policy(policy.read_bytes())
        if note is None:
            return "no checkpoint was ever published"
        witness_policy.opened(note, public_keys(disk))
    except Refuted as reason:
        return str(reason)
    return None


def summary(verified: "Verified", decks: int) -> PrintableText:
    """3 matches, 3,000 hands, 63,118 events; what was checked; every finding on its line."""
    counted = (
        f"digests {verified.digests:,}/{verified.leaves:,}",
        f"signed {verified.signed:,}/{verified.leaves:,}",
        f"commitments {verified.commitments:,}",
        f"replay {verified.replayed:,}/{verified.hands:,}",
        f"chips conserved {verified.balanced:,}/{verified.hands:,}",
        *((f"committed decks {decks:,}",) if decks else ()),
    )
    rows = [
        f"{verified.matches:,} matches, {verified.hands:,} hands, {verified.events:,} events",
        "   ".join(counted),
        f"tree of {verified.size:,} leaves, root {verified.root}",
        *(f"signed by {key}" for key in verified.signed_by),
        *(f"{one.where}  {one.sentence}" for one in verified.wrong[:FINDINGS_MAX]),
    ]
    if len(verified.wrong) > FINDINGS_MAX:
        rows.append(f"and {len(verified.wrong) - FINDINGS_MAX} more: --json names them all")
    return printable_lines(rows)

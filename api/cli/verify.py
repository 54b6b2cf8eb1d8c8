"""`muckrake verify`: a bundle that somebody sent, or the whole ledger, checked from its bytes."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from api.cli.ledger import json_option, ledger_option, reading
from api.cli.output import WRONG, document, note, progress

if TYPE_CHECKING:
    from store.private import Private
    from store.verify import Verified, Verifier

NAMED_MAX = 20  # findings that are printed: more is what --json is for


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--all", "every", is_flag=True, help="Everything in the ledger.")
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --all: a checkpoint that you kept; the ledger must still begin with it.",
)
@ledger_option
@json_option
def verify(
    file: Path | None, every: bool, checkpoint: Path | None, folder: Path, as_document: bool
) -> None:
    """Check the bytes, digests, proofs and chips of an evidence bundle (FILE) or of the ledger."""
    if (file is None) != every:
        raise click.UsageError("name a bundle to verify, or the whole ledger with --all")
    if checkpoint and not every:
        raise click.UsageError("--checkpoint goes with --all: a bundle has one of its own")
    if file is not None:
        _bundle(file, as_document)
    else:
        _whole(folder, checkpoint, as_document)


def _bundle(file: Path, as_document: bool) -> None:
    """By the program that lies in every bundle; never the copy in this one."""
    from api.evidence.bundle import Unfit, read
    from api.evidence.verify import verify as verify_files

    try:
        verdict = verify_files(read(file))
    except FileNotFoundError:
        raise click.ClickException(f"there is no file {file}") from None
    except Unfit as reason:
        proved, problems = [], [str(reason)]
    else:
        proved, problems = list(verdict.proved), list(verdict.problems)
    if as_document:
        found = [{"where": file.name, "sentence": sentence} for sentence in problems]
        document("muckrake.verify/1", file=str(file), ok=not problems, proved=proved, wrong=found)
    else:
        click.echo("\n".join(problems or proved))
    if problems:
        raise click.exceptions.Exit(WRONG)


def _whole(folder: Path, checkpoint: Path | None, as_document: bool) -> None:
    begun = time.monotonic()
    with reading(folder) as ledger:
        from api.evidence.dealt import Dealt
        from store.private import Private
        from store.verify import Verifier

        private = Private(folder)
        nonces = private.nonces()
        if nonces is None:
            raise click.ClickException(
                f"{folder}/private/nonce.key is not there: without it no digest can be made again"
            )
        older = checkpoint.read_bytes() if checkpoint else None
        verifier = Verifier(ledger, nonces, older)
        dealt = Dealt(verifier.ledger, private)
        for leaf in progress(verifier.leaves(), "verifying", ledger.next_seq):
            if sentence := dealt.wrong(leaf):
                verifier.found(leaf.stream, sentence)
        if sentence := _unsignable(private, verifier):
            verifier.found("private/signing.key", sentence)
        found = verifier.verified()
    if as_document:
        told: dict[str, Any] = msgspec.to_builtins(found)
        wrong = [one._asdict() for one in found.wrong]
        document(
            "muckrake.verify/1", **{**told, "decks": dealt.checked, "wrong": wrong, "ok": found.ok}
        )
    else:
        click.echo(summary(found, dealt.checked), nl=False)
    note(f"{folder} verified in {time.monotonic() - begun:.1f} s")
    if not found.ok:
        raise click.exceptions.Exit(WRONG)


def _unsignable(private: "Private", verifier: "Verifier") -> str | None:
    """What is wrong with the key that signs next, where something was to be signed for."""
    if not verifier.ledger.next_seq:
        return None
    signer, known = private.signer(), verifier.keys
    if signer is None:
        return f"it is missing, and {verifier.ledger.next_seq:,} streams have closed"
    if signer.key not in known:
        return f"its public key {signer.key.text()} is not in keys"
    return None


def summary(found: "Verified", decks: int) -> str:
    """3 matches, 3,000 hands, 63,118 events; what was checked; every finding on its line."""
    counted = (
        f"digests {found.digests:,}/{found.leaves:,}",
        f"signed {found.signed:,}/{found.leaves:,}",
        f"commitments {found.commitments:,}",
        f"replay {found.replayed:,}/{found.hands:,}",
        f"chips conserved {found.balanced:,}/{found.hands:,}",
        *((f"committed decks {decks:,}",) if decks else ()),
    )
    rows = [
        f"{found.matches:,} matches, {found.hands:,} hands, {found.events:,} events",
        "   ".join(counted),
        f"tree of {found.size:,} leaves, root {found.root}",
        *(f"signed by {key}" for key in found.signed_by),
        *(f"{one.where}  {one.sentence}" for one in found.wrong[:NAMED_MAX]),
    ]
    if len(found.wrong) > NAMED_MAX:
        rows.append(f"and {len(found.wrong) - NAMED_MAX} more: --json names them all")
    return "".join(f"{row}\n" for row in rows)

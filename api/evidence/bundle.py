"""Make the evidence bundle of one recorded hand for one viewpoint, from a ledger and its secrets.

A bundle is a zip of flat files. The same values make the same bytes: nothing is compressed, no file
has a time. `verify.py` reads and checks it. `DeckChecks` checks in a ledger what a bundle proves of
one hand: that it was dealt from the deck that was committed to.
"""

import io
import stat
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct

from api.auditing.record import RulesetLookup
from api.evidence.verify import CONTENTS
from api.printable import printable_lines
from api.viewpoints.redaction import SEED_WARNING, opened_by, withheld_sentence
from dealer.deck import check_deal
from events.deck import Committed, committed, deck_number, earlier
from events.ledger import is_match
from events.lines import Opening, lines, openings
from events.match import Dealing, DeckCommitted, DeckOpened, Match, MatchStarted, NonceGiven
from events.types import Events, HandStarted
from events.views import Auditor, viewpoint
from store.log.streams import Leaf, split_stream
from store.proof.checkpoint import SignedCheckpoint
from store.proof.ledger_secrets import SecretFolder, salts_of
from store.proof.note import sign, to_base64
from store.proof.tree import Proof, Refuted
from store.proof.witness_policy import last_published, policy_of
from store.reader import Snapshot
from store.receipts import Prover

VERIFY_SCRIPT = Path(__file__).with_name("verify.py")

_canonical = msgspec.json.Encoder(order="sorted").encode


class OpenDeck(Struct, frozen=True):
    """An opened deck: the values that a hand's deck is recomputed from, as docs/deals.md says.

    `secret` is that of deck `number`, this hand's or a later one of the chain that `commitment`
    commits to and that begins with deck `first`; each deck is dealt to `deals` hands.
    """

    commitment: str
    first: int
    number: int
    secret: str
    nonces: tuple[tuple[str, str], ...]
    deals: int = 1


class Announcement(Struct, frozen=True):
    """An append of match records that the hand's proof needs: its leaf, its public lines, and the
    hashes that lead from the leaf to the root of the checkpoint."""

    leaf: bytes
    proof: Proof
    lines: tuple[bytes, ...]


class Evidence(Struct, frozen=True):
    """The content of a hand's bundle.

    `record` are its public lines with a newline between, `leaf` its bytes in the tree, `receipt`
    leads from there to a signed checkpoint, `key` is the public key of the log. The report, as text
    and JSON, names every card and is only for an auditor. `match` are the announcements and
    commitments before the hand, `dealing` tells how its deck was made.
    """

    hand: str
    view: str
    record: bytes
    openings: tuple[Opening, ...]
    leaf: bytes
    receipt: bytes
    ruleset: bytes
    key: str
    report: tuple[str, bytes] | None = None
    deck: OpenDeck | None = None
    match: tuple[Announcement, ...] = ()
    dealing: Dealing | None = None


def bundle_bytes(evidence: Evidence, sign: Callable[[str], bytes]) -> bytes:
    """The bundle as a zip; `sign` makes a note of a text with the log's key."""
    files = bundle_files(evidence)
    files["contents"] = sign(contents_text(files))
    return zip_bytes(files)


def bundle_files(evidence: Evidence) -> dict[str, bytes]:
    """The files of a bundle by name, but for `contents`."""
    seeded = SEED_WARNING.split("\n") if evidence.dealing == "seeded" else ()
    readme = [
        f"This is the evidence of the hand {evidence.hand}, as {evidence.view} may see it.",
        "Run `python3 verify.py --key KEY` in this folder, or take a verify.py that you trust.",
        "KEY is the log's public key as you know it from somewhere else.",
        *seeded,
    ]
    opened = [  # each hidden value with its nonce, in the order of the lines
        {"field": one.field, "line": one.line, "nonce": one.nonce.hex(), "value": one.value}
        for one in sorted(evidence.openings, key=lambda one: (one.line, one.field))
    ]
    files = {
        "README.txt": printable_lines(readme).encode(),
        "checkpoint": evidence.receipt.partition(b"\n\n")[2],
        "events.jsonl": evidence.record + b"\n",
        "key": evidence.key.encode() + b"\n",
        "leaf.json": evidence.leaf,
        "openings.json": _canonical({"openings": opened, "v": 1, "view": evidence.view}),
        "receipt.tlog-proof": evidence.receipt,
        "ruleset.json": evidence.ruleset,
        "verify.py": VERIFY_SCRIPT.read_bytes(),
    }
    if evidence.report is not None:
        assert evidence.view == "auditor", "a report names every card"
        files["report.txt"], files["report.json"] = evidence.report[0].encode(), evidence.report[1]
    if evidence.match:
        # Leaves and lines are canonical JSON already, and stand there as the objects that they are.
        rows = [
            {
                "leaf": msgspec.Raw(one.leaf),
                "lines": [msgspec.Raw(line) for line in one.lines],
                "proof": [to_base64(each) for each in one.proof],
            }
            for one in evidence.match
        ]
        files["match.json"] = _canonical({"records": rows, "v": 1})
    if evidence.deck is not None:
        files["deck.json"] = _canonical({"v": 1, **msgspec.to_builtins(evidence.deck)})
    return files


def contents_text(files: dict[str, bytes]) -> str:
    """The text that the log signs: the digest of every file, sorted by name."""
    rows = [f"{sha256(text).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return "".join((f"{CONTENTS}\n", *rows))


def zip_bytes(files: dict[str, bytes]) -> bytes:
    """The files as an uncompressed zip, so that the bytes depend on no version of zlib."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same wherever it is written
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, text)
    return output.getvalue()


class NoEvidence(ValueError):
    """No evidence can be made of a hand; the sentence says what is missing."""


def make_bundle(
    ledger: Snapshot,
    hand: str,
    view: str,
    report: tuple[str, bytes] | None = None,
    under: tuple[SignedCheckpoint, bytes] | None = None,
) -> bytes:
    """Make the bundle of a closed hand as a zip, signed by the log's key.

    `under` is the checkpoint that proves it, parsed and as it was signed; else the newest one.
    """
    private = SecretFolder(ledger.live.folder)
    nonces, signer = private.nonces(), private.signer()
    if nonces is None or signer is None:
        raise NoEvidence(
            f"{private.folder} holds no secrets: only who has them can open what is hidden"
        )
    under = under or last_published(ledger.live.disk)
    if under is None:
        witnessed = policy_of(ledger.live.disk) is not None
        raise NoEvidence(
            "too few witnesses have cosigned a checkpoint of this ledger yet: muckrake publish"
            if witnessed
            else "nothing was ever signed for in this ledger"
        )
    prover = Prover(ledger, nonces)
    try:
        leaf, receipt = prover.receipt(hand, *under)
    except Refuted as reason:
        raise NoEvidence(str(reason)) from None
    recorded = ledger.read(hand)
    start = recorded[0].event
    assert isinstance(start, HandStarted)
    ruleset = ledger.ruleset(start.ruleset)
    if ruleset is None:
        raise NoEvidence(f"{hand} is of {start.ruleset}, and this ledger does not keep its text")
    salts = salts_of(ledger.live.disk, nonces)
    who, own = viewpoint(view, start.players), salts.of(hand, receipt.index)
    records = tuple(
        one.event for one in ledger.read(split_stream(hand)[0]) if isinstance(one.event, Match)
    )
    auditor = isinstance(who, Auditor)
    if opened_by(records).withheld and not auditor:
        raise NoEvidence(withheld_sentence(split_stream(hand)[0]))
    announced = next((record for record in records if isinstance(record, MatchStarted)), None)
    bundle = Evidence(
        hand=hand,
        view=view,
        record=b"\n".join(lines(recorded, own)),
        openings=openings(recorded, own, who, disclosed=opened_by(records).hands),
        leaf=leaf,
        receipt=receipt.format(),
        ruleset=ruleset,
        key=signer.key.text(),
        report=report if auditor else None,
        deck=_open_deck(records, hand, private if auditor else None),
        match=tuple(
            Announcement(
                *prover.leaf_with_proof(one, under[0]),
                lines(one.recorded, salts.of(one.stream, one.hand_seq)),
            )
            for one in _announcements_for(ledger.records(split_stream(hand)[0]), records, hand)
            if one.hand_seq < under[0].checkpoint.size
        ),
        dealing=None if announced is None else announced.dealing,
    )
    return bundle_bytes(bundle, lambda text: sign(text, signer))


def save_bundle(path: Path, bundle: bytes) -> None:
    """Write the bundle into a file that appears whole or not at all."""
    aside = path.with_name(f"{path.name}.tmp")
    aside.write_bytes(bundle)
    aside.replace(path)


def _announcements_for(
    appended: tuple[Leaf, ...], records: tuple[Match, ...], hand: str
) -> Iterator[Leaf]:
    """Leaves with the match's start, and with deck commitments and nonces that a hand needs."""
    commitment, _, _ = _deck_commitment(records, hand)
    until = committed(records).index(commitment) + 1 if commitment else 0
    seen = 0
    for one in appended:
        kinds = {type(recorded.event) for recorded in one.recorded}
        seen += sum(isinstance(recorded.event, DeckCommitted) for recorded in one.recorded)
        commits = DeckCommitted in kinds and seen <= until
        if MatchStarted in kinds or commits or (NonceGiven in kinds and seen == until > 0):
            yield one


def _deck_commitment(records: tuple[Match, ...], hand: str) -> tuple[Committed | None, int, int]:
    """The commitment over a hand's deck, the number of that deck, and how often it is dealt."""
    deals = next((record.deals for record in records if isinstance(record, MatchStarted)), 1)
    number = split_stream(hand)[1]
    assert number is not None
    number = deck_number(number, deals)
    return next((one for one in committed(records) if one.covers(number)), None), number, deals


def _open_deck(
    records: tuple[Match, ...], hand: str, private: SecretFolder | None
) -> OpenDeck | None:
    """A hand's deck, if the match has opened it; for an auditor from the dealer's secrets, too."""
    commitment, number, deals = _deck_commitment(records, hand)
    if commitment is None:
        return None
    nonces = tuple((nonce.player, nonce.nonce) for nonce in commitment.nonces)
    opened = partial(OpenDeck, commitment.commitment, commitment.first, nonces=nonces, deals=deals)
    for record in records:
        if (
            isinstance(record, DeckOpened)
            and record.number >= number
            and commitment.covers(record.number)
        ):
            return opened(record.number, record.secret)
    for chain in private.chains(split_stream(hand)[0]) if private else ():
        last = bytes.fromhex(chain.secret)
        if earlier(last, chain.hands).hex() == commitment.commitment:
            secret = earlier(last, commitment.first + commitment.hands - 1 - number)
            return opened(number, secret.hex())
    return None


class DeckChecks:
    """Compares dealt cards with recomputed decks, of hands whose deck is opened or secret kept."""

    def __init__(self, ledger: Snapshot, private: SecretFolder) -> None:
        self._ledger = ledger
        self._private = private
        self._rules = RulesetLookup(ledger, None)
        self._records: dict[str, tuple[Match, ...]] = {}
        self.checked = 0

    def problem(self, leaf: Leaf) -> str | None:
        """A sentence on wrong cards of a hand; None if they are right or their deck is unknown."""
        match, _ = split_stream(leaf.stream)
        records = self._match_records(match)
        if is_match(leaf.stream) or not records:
            return None
        record = cast(Events, tuple(recorded.event for recorded in leaf.recorded))
        game = self._rules.of(record) if isinstance(record[0], HandStarted) else None
        if game is None:
            return None
        check = check_deal(game, records, record)
        self.checked += check.verdict == "agree"
        return check.sentence if check.verdict == "differ" else None

    def _match_records(self, match: str) -> tuple[Match, ...]:
        """The records of a match with committed decks, opened where possible; else nothing."""
        if match not in self._records:
            events = tuple(recorded.event for recorded in self._ledger.read(match))
            records = tuple(event for event in events if isinstance(event, Match))
            if commitment := committed(records):
                chains = self._private.chains(match)
                kept = zip(commitment, chains, strict=False)
                records += tuple(DeckOpened(one.last, chain.secret) for one, chain in kept)
            self._records[match] = records if commitment else ()
        return self._records[match]

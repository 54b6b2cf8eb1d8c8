"""Make the evidence of one recorded hand for one reader, out of a ledger and its secrets.

It is a bundle: a zip of flat files, written from given values. The same values make the same bytes:
nothing is compressed, no file has a time. What may be opened to whom is decided before; here it is
only put in its place. `verify.py` reads and checks it. `Dealt` checks in a ledger what a bundle
says of one hand: that it was dealt from the deck that was committed to.
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

from api.evidence.verify import CONTENTS
from api.printable import printable_lines
from api.record_audit import RulesetLookup
from api.viewpoints.redaction import OF_A_SEED, opened_by, withheld_sentence
from dealer.deck import check_deal
from events.deck import Committed, committed, deck_number, earlier
from events.ledger import is_match
from events.lines import Opening, lines, openings
from events.match import Dealing, DeckCommitted, DeckOpened, Match, MatchStarted, NonceGiven
from events.types import Events, HandStarted
from events.views import Auditor, viewpoint
from store.log.streams import Leaf, split
from store.proof.checkpoint import Opened
from store.proof.note import sign, to_base64
from store.proof.policy import policy_of, published
from store.proof.private import Private, salts_of
from store.proof.tree import Proof, Refuted
from store.reader import Snapshot
from store.receipts import Prover

SCRIPT = Path(__file__).with_name("verify.py")

_canonical = msgspec.json.Encoder(order="sorted").encode


class OpenDeck(Struct, frozen=True):
    """What makes a hand's deck, once it is opened: docs/deals.md says how.

    `secret` is that of deck `number`, this hand's or a later one of the chain that was committed
    to with `commitment` and begins with deck `first`; each deck is dealt to `deals` hands.
    """

    commitment: str
    first: int
    number: int
    secret: str
    nonces: tuple[tuple[str, str], ...]
    deals: int = 1


class Announcement(Struct, frozen=True):
    """One append of the match's own records that the hand rests on: its leaf, its public lines, and
    the hashes that lead from it to the root of the checkpoint."""

    leaf: bytes
    proof: Proof
    lines: tuple[bytes, ...]


class Evidence(Struct, frozen=True):
    """All that a bundle says of a hand.

    `record` are its public lines with a newline between, `leaf` the bytes that the tree has of it,
    `receipt` leads from there to a signed checkpoint, `key` is the public key of the log. The
    report names every card: text and JSON, and only for an auditor. `match` is what was announced
    and committed to before the hand, `dealing` how its deck was made.
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


def write(evidence: Evidence, sign: Callable[[str], bytes]) -> bytes:
    """The zip; `sign` makes a note of a text with the log's key."""
    files = texts(evidence)
    files["contents"] = sign(contents(files))
    return packed(files)


def texts(evidence: Evidence) -> dict[str, bytes]:
    """Every file but the contents."""
    seeded = OF_A_SEED.split("\n") if evidence.dealing == "seeded" else ()
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
        "verify.py": SCRIPT.read_bytes(),
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


def contents(files: dict[str, bytes]) -> str:
    """The text that the log signs: the digest of every file, sorted by name."""
    rows = [f"{sha256(text).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return "".join((f"{CONTENTS}\n", *rows))


def packed(files: dict[str, bytes]) -> bytes:
    """The files as a zip: stored as they are, so that no packer's version shows in it."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same wherever it is written
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, text)
    return output.getvalue()


class Unproved(ValueError):
    """Why there can be no evidence of a hand; the sentence says what is lacking."""


def evidence(
    ledger: Snapshot,
    hand: str,
    view: str,
    report: tuple[str, bytes] | None = None,
    under: tuple[Opened, bytes] | None = None,
) -> bytes:
    """The bundle of a hand that has closed, as a zip, signed by the log's key.

    `under` is the checkpoint that proves it, and the same as it was signed; else it is the newest.
    """
    private = Private(ledger.live.folder)
    nonces, signer = private.nonces(), private.signer()
    if nonces is None or signer is None:
        raise Unproved(
            f"{private.folder} holds no secrets: only who has them can open what is hidden"
        )
    under = under or published(ledger.live.disk)
    if under is None:
        witnessed = policy_of(ledger.live.disk) is not None
        raise Unproved(
            "too few witnesses have cosigned a checkpoint of this ledger yet: muckrake publish"
            if witnessed
            else "nothing was ever signed for in this ledger"
        )
    prover = Prover(ledger, nonces)
    try:
        leaf, receipt = prover.receipt(hand, *under)
    except Refuted as reason:
        raise Unproved(str(reason)) from None
    recorded = ledger.read(hand)
    start = recorded[0].event
    assert isinstance(start, HandStarted)
    ruleset = ledger.ruleset(start.ruleset)
    if ruleset is None:
        raise Unproved(f"{hand} is of {start.ruleset}, and this ledger does not keep its text")
    salts = salts_of(ledger.live.disk, nonces)
    who, own = viewpoint(view, start.players), salts.of(hand, receipt.index)
    records = tuple(
        one.event for one in ledger.read(split(hand)[0]) if isinstance(one.event, Match)
    )
    auditor = isinstance(who, Auditor)
    if opened_by(records).withheld and not auditor:
        raise Unproved(withheld_sentence(split(hand)[0]))
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
        deck=_deck(records, hand, private if auditor else None),
        match=tuple(
            Announcement(
                *prover.proved(one, under[0]),
                lines(one.recorded, salts.of(one.stream, one.hand_seq)),
            )
            for one in _rests_on(ledger.records(split(hand)[0]), records, hand)
            if one.hand_seq < under[0].checkpoint.size
        ),
        dealing=None if announced is None else announced.dealing,
    )
    return write(bundle, lambda text: sign(text, signer))


def save(path: Path, bundle: bytes) -> None:
    """The file, whole or not at all."""
    aside = path.with_name(f"{path.name}.tmp")
    aside.write_bytes(bundle)
    aside.replace(path)


def _rests_on(appended: tuple[Leaf, ...], records: tuple[Match, ...], hand: str) -> Iterator[Leaf]:
    """What the match announced, its commitments to decks up to this hand's, and the nonces that
    were given to that one."""
    commitment, _, _ = _commitment(records, hand)
    until = committed(records).index(commitment) + 1 if commitment else 0
    seen = 0
    for one in appended:
        kinds = {type(recorded.event) for recorded in one.recorded}
        seen += sum(isinstance(recorded.event, DeckCommitted) for recorded in one.recorded)
        commits = DeckCommitted in kinds and seen <= until
        if MatchStarted in kinds or commits or (NonceGiven in kinds and seen == until > 0):
            yield one


def _commitment(records: tuple[Match, ...], hand: str) -> tuple[Committed | None, int, int]:
    """The commitment over a hand's deck, the number of that deck, and how often it is dealt."""
    deals = next((record.deals for record in records if isinstance(record, MatchStarted)), 1)
    number = split(hand)[1]
    assert number is not None
    number = deck_number(number, deals)
    return next((one for one in committed(records) if one.covers(number)), None), number, deals


def _deck(records: tuple[Match, ...], hand: str, private: Private | None) -> OpenDeck | None:
    """The deck of a hand, if the match has opened it to everybody; else, for an auditor, out of the
    dealer's own secrets."""
    commitment, number, deals = _commitment(records, hand)
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
    for chain in private.chains(split(hand)[0]) if private else ():
        last = bytes.fromhex(chain.secret)
        if earlier(last, chain.hands).hex() == commitment.commitment:
            secret = earlier(last, commitment.first + commitment.hands - 1 - number)
            return opened(number, secret.hex())
    return None


class Dealt:
    """Decks recomputed for every hand whose deck is opened, or whose secret is kept here."""

    def __init__(self, ledger: Snapshot, private: Private) -> None:
        self._ledger = ledger
        self._private = private
        self._rules = RulesetLookup(ledger, None)
        self._records: dict[str, tuple[Match, ...]] = {}
        self.checked = 0

    def wrong(self, leaf: Leaf) -> str | None:
        """What is wrong with the cards of a hand; None if nothing is, or nothing is known."""
        match, _ = split(leaf.stream)
        records = self._of(match)
        if is_match(leaf.stream) or not records:
            return None
        record = cast(Events, tuple(recorded.event for recorded in leaf.recorded))
        game = self._rules.of(record) if isinstance(record[0], HandStarted) else None
        if game is None:
            return None
        check = check_deal(game, records, record)
        self.checked += check.verdict == "agree"
        return check.sentence if check.verdict == "differ" else None

    def _of(self, match: str) -> tuple[Match, ...]:
        """A committed match's records, its decks opened as far as they can be; else nothing."""
        if match not in self._records:
            events = tuple(recorded.event for recorded in self._ledger.read(match))
            records = tuple(event for event in events if isinstance(event, Match))
            if commitment := committed(records):
                chains = self._private.chains(match)
                kept = zip(commitment, chains, strict=False)
                records += tuple(DeckOpened(one.last, chain.secret) for one, chain in kept)
            self._records[match] = records if commitment else ()
        return self._records[match]

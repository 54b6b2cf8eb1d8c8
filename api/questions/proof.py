"""Proofs of a hand or of a match, for any viewer: receipts, openings, bundles, a check.

Everybody gets the same lines, leaf and receipt, and of the openings those of his own viewpoint. The
tree with its checkpoint, keys and tiles is public and opens nothing: hashes of public lines, in
which what is hidden is committed to. Nothing beyond the newest signed checkpoint is shown.

Who is told of a match later than it is played is told of the tree later, too: its size would say
how many hands there are that he may not know of. For him a checkpoint over what he knows is signed
when he asks. It is one that the log could have signed then: of one log and one time there is but
one root. A ledger with witnesses shows him the newest that they have cosigned of what he knows.
"""

import json
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from api.auditing.hand_report import audit_entry, audit_text
from api.evidence.bundle import DeckChecks, make_bundle
from api.questions.hand import UnknownRuleset, judge_visible, seat_of, view_of
from api.questions.json_types import Before, Complaint, MatchVerified, Proof, Root
from api.viewpoints.hand_selection import Selection, Unfinished, leaves, match_records
from api.viewpoints.ledger_view import UNCLOSED, LedgerView
from api.viewpoints.redaction import RedactedEvents, opened_by
from events.evolve import replay
from events.ledger import is_match
from events.lines import leaf_bytes, lines, openings
from events.views import Auditor, Public, Seated, Viewpoint
from store.log.streams import Leaf
from store.proof import tree_file
from store.proof.checkpoint import Checkpoint, open_checkpoint, sign
from store.proof.ledger_secrets import Salts, SecretFolder, salts_of
from store.proof.notary import public_keys
from store.proof.note import Key, to_base64
from store.proof.tree import Proof as TreeProof
from store.proof.tree import Refuted, check_inclusion, consistency, inclusion, leaf_hash
from store.proof.tree_file import Tile
from store.proof.witness_policy import checkpoints_before, last_published, policy_of
from store.reader import LiveLedger, Snapshot
from store.receipts import Prover
from store.verify import chip_fault, doubled_card

_leaf_hashes: WeakKeyDictionary[LiveLedger, dict[int, bytes]] = WeakKeyDictionary()


UNSIGNED_SENTENCE = "nothing was signed for in this ledger yet: ask again in a second"
UNWITNESSED_SENTENCE = (
    "no checkpoint of this ledger has been cosigned by enough witnesses yet: ask again later"
)


class NotSigned(Exception):
    """No checkpoint was signed that would answer this."""


class NoSecrets(Exception):
    """The folder of secrets is missing: what is not sealed cannot be hashed, nor be opened."""


class TreeGrowth(NamedTuple):
    """The proof that the first tree is the beginning of the second."""

    old: int
    old_root: bytes
    new: int
    new_root: bytes
    proof: TreeProof


class Tree:
    """The log's signed tree at a snapshot of a ledger."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._disk = snapshot.live.disk
        if snapshot.early and not snapshot.next_seq:
            raise NotSigned(UNSIGNED_SENTENCE)
        is_witnessed = policy_of(self._disk) is not None
        known = last_published(
            self._disk, snapshot.next_seq if snapshot.early and is_witnessed else None
        )
        if known is None:
            raise NotSigned(UNWITNESSED_SENTENCE if is_witnessed else UNSIGNED_SENTENCE)
        self.newest, self.note = known
        self._prover: Prover | None = None
        if snapshot.early and self.size > snapshot.next_seq:
            self.note = self._earlier_checkpoint(self.newest.checkpoint.origin, snapshot.next_seq)
            self.newest = open_checkpoint(self.note, self.keys)

    @property
    def size(self) -> int:
        """The number of leaves that were signed for."""
        return self.newest.checkpoint.size

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every key that has signed for this ledger, the newest last."""
        return public_keys(self._disk)

    @property
    def prover(self) -> Prover:
        """The prover of the tree; hashes that were made for one proof are kept for the next."""
        if self._prover is None:
            live = self._snapshot.live
            nonces = SecretFolder(live.folder).nonces()
            if nonces is None:
                raise NoSecrets("the secrets of this ledger are not here: nothing is proved")
            self._prover = Prover(self._snapshot, nonces, _leaf_hashes.setdefault(live, {}))
        return self._prover

    def tile(self, path: str) -> bytes:
        """The bytes of a tile by its C2SP name; `Refuted` if it is none, or beyond the tree."""
        return b"".join(self._hashes(self._tile(f"tile/{path}")))

    def entries(self, path: str) -> bytes:
        """The leaves of a tile of level 0, each after its length in two bytes."""
        tile = self._tile(f"tile/0/{path}")
        leaves = self.prover.leaves(tile.number * tree_file.SPAN, tile.width)
        return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)

    def consistency(self, old: int, new: int) -> TreeGrowth:
        """The proof that a tree of `old` leaves is the beginning of one of `new`."""
        if not 0 <= old <= new <= self.size:
            raise Refuted(f"there is no proof from {old} to {new}: 0 <= from <= to <= {self.size}")
        proof = consistency(old, new, self.prover.hashes)
        return TreeGrowth(old, self.prover.root_at(old), new, self.prover.root_at(new), proof)

    def _earlier_checkpoint(self, origin: str, size: int) -> bytes:
        """The checkpoint of an earlier tree, as a signed note."""
        signer = SecretFolder(self._snapshot.live.folder).signer()
        if signer is None:
            raise NoSecrets("the secrets of this ledger are not here: nothing is signed for")
        return sign(Checkpoint(origin, size, self.prover.root_at(size)), signer)

    def _tile(self, path: str) -> Tile:
        tile = tree_file.read_path(path)
        if tile.width > tree_file.width(tile, self.size):
            raise Refuted(f"{path} is not in a tree of {self.size} leaves")
        return tile

    def _hashes(self, tile: Tile) -> list[bytes]:
        begin, level = tile.number * tree_file.SPAN, tile.level * tree_file.HEIGHT
        return [self.prover.hashes(level, begin + place) for place in range(tile.width)]


LEAVES_MAX = 5_000  # of a match that is verified while somebody waits


def proof(viewed: LedgerView, redacted_hand: RedactedEvents) -> Proof:
    """The proof of a hand: public lines, leaf, receipt, and the openings that this viewer may
    have."""
    _check_over(redacted_hand)
    snapshot, stream = viewed.snapshot, redacted_hand.stream
    tree = Tree(snapshot)
    leaf, receipt = tree.prover.receipt(stream, tree.newest, tree.note)
    recorded, nonces = snapshot.read(stream), _salts(viewed).of(stream, redacted_hand.hand_seq)
    own = [record.event for record in match_records(snapshot, stream.rpartition("/")[0])]
    who: Viewpoint = Auditor()
    if not viewed.viewer.auditor:
        seat = seat_of(viewed.viewer, redacted_hand)
        who = Public() if seat is None else Seated(seat)
    opened = openings(recorded, nonces, who, disclosed=opened_by(own).hands)
    checkpoint = tree.newest.checkpoint
    return {
        "hand": stream,
        "view": view_of(viewed, redacted_hand),
        "index": receipt.index,
        "size": checkpoint.size,
        "root": to_base64(checkpoint.root),
        "keys": [key.text() for key in tree.keys],
        "leaf": leaf.decode(),
        "receipt": receipt.format().decode(),
        "lines": [line.decode() for line in lines(recorded, nonces)],
        "openings": [
            {
                "line": opening.line,
                "field": opening.field,
                "nonce": opening.nonce.hex(),
                "value": opening.value,
            }
            for opening in sorted(opened, key=lambda opening: (opening.line, opening.field))
        ],
    }


def bundle(viewed: LedgerView, redacted_hand: RedactedEvents) -> bytes:
    """The evidence of the hand as a zip, for this viewer; an auditor's has the audit's report."""
    _check_over(redacted_hand)
    report = None
    if viewed.viewer.auditor:
        try:
            record, game, found = judge_visible(viewed.snapshot, redacted_hand)
            document = json.dumps(audit_entry(record, game, found), indent=2, ensure_ascii=False)
            report = audit_text(game, record, found), f"{document}\n".encode()
        except UnknownRuleset:
            pass  # without its rules nothing can be said of its payment, and all else is proved
    tree = Tree(viewed.snapshot)
    under = tree.newest, tree.note
    return make_bundle(
        viewed.snapshot, redacted_hand.stream, view_of(viewed, redacted_hand), report, under
    )


def root_of_match(viewed: LedgerView, match: str, last_seq: int) -> Root:
    """The newest checkpoint, and whether it covers the match's last hand."""
    tree = Tree(viewed.snapshot)
    checkpoint = tree.newest.checkpoint
    # Checkpoints from before the first card; a ledger with witnesses shows none uncosigned.
    disk = viewed.snapshot.live.disk
    known = checkpoints_before(disk, match) if policy_of(disk) is None else ()
    earlier: list[Before] = [
        {"first": first, "checkpoint": note.decode()}
        for first, note in known
        if int(note.split(b"\n")[1]) <= viewed.snapshot.next_seq
    ]
    return {
        "match": match,
        "hand_seq": last_seq,
        "covered": last_seq < checkpoint.size,
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": to_base64(checkpoint.root),
        "keys": [key.text() for key in tree.keys],
        "checkpoint": tree.note.decode(),
        "before": earlier,
    }


OnMark = Callable[[str], bool]


def verify_leaves(
    viewed: LedgerView,
    match: str,
    leaves_max: int | None = None,
    look: OnMark = lambda stream: True,
) -> MatchVerified | None:
    """Make every leaf of a match again, check each against the signed root, and count; None if
    there are too many.

    `look` is called with the stream of each leaf, and ends it all (None) with False. `digests` are
    leaves that are what the tree has, `proved` those that lead to the root that was signed for,
    `decks` hands that were dealt from the decks that were committed to.
    """
    check = _MatchCheck(viewed)
    for count, leaf in enumerate(leaves(viewed.snapshot, Selection(match))):
        if leaves_max is not None and count >= leaves_max:
            return None
        check.add(leaf)
        if not look(leaf.stream):
            return None
    return check.result(match)


class _MatchCheck:
    """One pass over the leaves of a match."""

    def __init__(self, viewed: LedgerView) -> None:
        self._salts = _salts(viewed)
        self._tree = Tree(viewed.snapshot)
        self._dealt = DeckChecks(viewed.snapshot, SecretFolder(viewed.snapshot.live.folder))
        self._known: dict[tuple[int, int], bytes] = {}
        self._wrong: list[Complaint] = []
        self._count = dict.fromkeys(
            ("hands", "leaves", "events", "digests", "proved", "balanced"), 0
        )

    def add(self, leaf: Leaf) -> None:
        """Check one leaf: its digest, its place under the root, its chips and its cards."""
        nonces = self._salts.of(leaf.stream, leaf.hand_seq)
        hashed = leaf_hash(leaf_bytes(leaf.hand_seq, leaf.recorded, nonces))
        self._count["leaves"] += 1
        self._count["events"] += len(leaf.recorded)
        if self._hashes(0, leaf.hand_seq) == hashed:
            self._count["digests"] += 1
        else:
            self._complain(leaf.stream, "its events are not the ones whose digest was signed")
        self._check_inclusion(leaf, hashed)
        if not is_match(leaf.stream):
            self._count["hands"] += 1
            self._check_hand(leaf)
        if sentence := self._dealt.problem(leaf):
            self._complain(leaf.stream, sentence)

    def result(self, match: str) -> MatchVerified:
        """The result of the check."""
        checkpoint, count = self._tree.newest.checkpoint, self._count
        return {
            "match": match,
            "ok": all(one["note"] for one in self._wrong),
            "hands": count["hands"],
            "leaves": count["leaves"],
            "events": count["events"],
            "digests": count["digests"],
            "proved": count["proved"],
            "balanced": count["balanced"],
            "decks": self._dealt.checked,
            "size": checkpoint.size,
            "root": to_base64(checkpoint.root),
            "signed_by": [key.text() for key in self._tree.newest.keys],
            "wrong": self._wrong,
        }

    def _check_inclusion(self, leaf: Leaf, hashed: bytes) -> None:
        """Check a leaf against the root; what closed only just now is not signed for yet."""
        size, head = self._tree.size, self._tree.newest.checkpoint.root
        if leaf.hand_seq >= size:
            sentence = f"it closed after the newest checkpoint, of {size} leaves, was signed"
            self._complain(leaf.stream, sentence, note=True)
            return
        try:
            found = inclusion(leaf.hand_seq, size, self._hashes)
            check_inclusion(hashed, leaf.hand_seq, size, head, found)
            self._count["proved"] += 1
        except Refuted as reason:
            self._complain(leaf.stream, str(reason))

    def _check_hand(self, leaf: Leaf) -> None:
        try:
            hand = replay(recorded.event for recorded in leaf.recorded)  # type: ignore[misc]
        except (LookupError, TypeError, ValueError):
            self._complain(leaf.stream, "its events do not add up to a hand")
            return
        if sentence := chip_fault(hand) or doubled_card(hand):
            self._complain(leaf.stream, sentence)
        else:
            self._count["balanced"] += 1

    def _hashes(self, level: int, index: int) -> bytes:
        """Hashes of the tree, each read once."""
        if (level, index) not in self._known:
            self._known[level, index] = self._tree.prover.hashes(level, index)
        return self._known[level, index]

    def _complain(self, where: str, sentence: str, *, note: bool = False) -> None:
        self._wrong.append({"where": where, "sentence": sentence, "note": note})


def _check_over(redacted_hand: RedactedEvents) -> None:
    if redacted_hand.hand_seq == UNCLOSED:
        raise Unfinished(f"{redacted_hand.stream} is not over: only what has closed is in the tree")


def _salts(viewed: LedgerView) -> Salts:
    """The salts that nonces are derived from; they never leave the server."""
    nonces = SecretFolder(viewed.snapshot.live.folder).nonces()
    if nonces is None:
        raise NoSecrets("the secrets of this ledger are not here: nothing can be opened")
    return salts_of(viewed.snapshot.live.disk, nonces)

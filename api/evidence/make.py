"""The evidence of one recorded hand for one reader, out of a ledger and its secrets."""

from collections.abc import Iterator
from pathlib import Path

from api.evidence.bundle import Announcement, Evidence, OpenDeck, write
from api.seen import is_open, is_withheld, withheld_sentence
from events.deck import Committed, committed, deck_number, earlier
from events.ledger import Recorded
from events.lines import lines, openings
from events.types import DeckCommitted, DeckOpened, HandStarted, Match, MatchStarted, NonceGiven
from events.views import Auditor, viewpoint
from store.log.leaf import Leaf, split
from store.proof.checkpoint import Opened
from store.proof.nonces import salts_of
from store.proof.note import sign
from store.proof.private import Private
from store.proof.published import policy_of, published
from store.proof.tree import Refuted
from store.proofs import Prover
from store.reader import Snapshot


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
    records = _records(ledger.read(split(hand)[0]))
    auditor = isinstance(who, Auditor)
    if is_withheld(records) and not auditor:
        raise Unproved(withheld_sentence(split(hand)[0]))
    announced = next((one for one in records if isinstance(one, MatchStarted)), None)
    told = Evidence(
        hand=hand,
        view=view,
        record=b"\n".join(lines(recorded, own)),
        openings=openings(recorded, own, who, disclosed=is_open(records)),
        leaf=leaf,
        receipt=receipt.format(),
        ruleset=ruleset,
        key=signer.key.text(),
        report=report if auditor else None,
        deck=_opened(records, hand) or (_kept(private, records, hand) if auditor else None),
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
    return write(told, lambda text: sign(text, signer))


def save(path: Path, bundle: bytes) -> None:
    """The file, whole or not at all."""
    aside = path.with_name(f"{path.name}.tmp")
    aside.write_bytes(bundle)
    aside.replace(path)


def _rests_on(appended: tuple[Leaf, ...], records: tuple[Match, ...], hand: str) -> Iterator[Leaf]:
    """What the match announced, its commitments to decks up to this hand's, and the nonces that
    were given to that one."""
    made, _, _ = _made(records, hand)
    until = committed(records).index(made) + 1 if made else 0
    seen = 0
    for one in appended:
        kinds = {type(it.event) for it in one.recorded}
        seen += sum(isinstance(it.event, DeckCommitted) for it in one.recorded)
        commits = DeckCommitted in kinds and seen <= until
        if MatchStarted in kinds or commits or (NonceGiven in kinds and seen == until > 0):
            yield one


def _records(recorded: tuple[Recorded, ...]) -> tuple[Match, ...]:
    return tuple(one.event for one in recorded if isinstance(one.event, Match))


def _opened(records: tuple[Match, ...], hand: str) -> OpenDeck | None:
    """The deck of a hand, if the match has opened it to everybody."""
    made, number, deals = _made(records, hand)
    if made is None:
        return None
    fitting = (one for one in records if isinstance(one, DeckOpened) and made.covers(one.number))
    opened = next((one for one in fitting if one.number >= number), None)
    return None if opened is None else _deck(made, opened.number, opened.secret, deals)


def _kept(private: Private, records: tuple[Match, ...], hand: str) -> OpenDeck | None:
    """The deck of a hand out of the dealer's own secrets: for an auditor."""
    made, number, deals = _made(records, hand)
    for chain in private.chains(split(hand)[0]) if made else ():
        last = bytes.fromhex(chain.secret)
        if made and earlier(last, chain.hands).hex() == made.commitment:
            secret = earlier(last, made.first + made.hands - 1 - number)
            return _deck(made, number, secret.hex(), deals)
    return None


def _made(records: tuple[Match, ...], hand: str) -> tuple[Committed | None, int, int]:
    """The commitment over a hand's deck, the number of that deck, and how often it is dealt."""
    deals = next((one.deals for one in records if isinstance(one, MatchStarted)), 1)
    number = split(hand)[1]
    assert number is not None
    number = deck_number(number, deals)
    return next((one for one in committed(records) if one.covers(number)), None), number, deals


def _deck(made: Committed, number: int, secret: str, deals: int) -> OpenDeck:
    nonces = tuple((one.player, one.nonce) for one in made.nonces)
    return OpenDeck(made.commitment, made.first, number, secret, nonces, deals)

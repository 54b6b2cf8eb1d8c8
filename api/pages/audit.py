"""`/hands/M/N/audit`: the audit of a hand on a page without a script.

How it was paid is taken apart for reading: money in, pots, hands at showdown, readings. Cards are
those that the viewer sees (`RedactedEvents`); all arithmetic is of the record that was
judged for him, in which a hidden card is an unknown one.
"""

from typing import NamedTuple, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.auditing.hand_report import (
    chips_by_round,
    divergence_sentences,
    no_chip_moves,
    owed_sentence,
    verdict_sentence,
)
from api.auditing.pots import hand_strengths, pot_cuts, value_and_five
from api.auditing.record import AuditedHand
from api.evidence import verify as evidence
from api.evidence.bundle import NoEvidence
from api.http.access import Auth
from api.pages.hands import FoundIn, hand_context
from api.pages.site import money_text, page
from api.questions.frames import masked_events
from api.questions.hand import UnknownRuleset, judge_visible
from api.questions.proof import NoSecrets, NotSigned, bundle
from api.viewpoints.hand_selection import Unfinished
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import RedactedEvents
from engine.audit import before_payment
from engine.game import Game
from engine.pots import Pot, dead_chips, layers_of, pots
from engine.seats import contenders, is_alone
from engine.settle import Cut
from engine.verdict import Nets, Report
from events import types as t
from events import views
from events.cards import Card
from events.state import Hand
from odds.rank import describe
from store.proof.tree import Refuted


class ProofCheck(NamedTuple):
    """Sentences that are proved, or problems; or why there is no bundle to check."""

    proved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    lacking: str | None = None


def check_proof(viewed: LedgerView, redacted_hand: RedactedEvents) -> ProofCheck:
    """Make the evidence of this hand for this viewer, and check it as `verify.py` does."""
    try:
        proof_bundle = bundle(viewed, redacted_hand)
    except (NoSecrets, Refuted, NoEvidence, NotSigned) as reason:
        return ProofCheck(lacking=str(reason))
    verdict = evidence.check_bundle(lambda: evidence.unzipped(proof_bundle))
    return ProofCheck(verdict.proved, verdict.problems)


class SeatCards(NamedTuple):
    """A player with what he was dealt, deal by deal, and what was swapped of it."""

    name: str
    held: tuple[tuple[Card | views.Hidden, ...], ...]
    swaps: tuple[views.CardSwappedSeen, ...]


class StakesTable(NamedTuple):
    """What each seat put in, round by round: a row for each seat, and one for all together."""

    rounds: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    together: tuple[int, ...]


class SettledAuction(NamedTuple):
    """An auction that was settled: every bid with its seat, who pays, and how much."""

    bids: tuple[tuple[int, int], ...]
    winners: tuple[int, ...]
    price: int
    sealed: bool


class ShowdownHand(NamedTuple):
    """The hand of a seat at the showdown; without cards where one of them is not known."""

    seat: int
    cards: tuple[str, ...]
    words: str
    place: str


class Share(NamedTuple):
    """What a seat is paid of a pot by the record, what by the rules, and how much of that is odd.

    `due` is None where a card or an event that decides is missing.
    """

    seat: int
    amount: int
    due: int | None
    odd: int

    @property
    def wrong(self) -> bool:
        """Whether the rules pay something else."""
        return self.due not in (None, self.amount)


class PaidPot(NamedTuple):
    """A pot that was paid: its layer, if it is one, who may win it, and who did."""

    number: int
    amount: int
    notes: tuple[str, ...]  # which layer it is, and what of it is no stake of who may win it
    eligible: tuple[int, ...]
    weighed: bool  # by the rules each is paid by what he put in
    shares: tuple[Share, ...]


class PaymentAccount(NamedTuple):
    """What everybody wins or loses by one account, and why; `off` where it is not what is paid."""

    account: str
    nets: tuple[int | None, ...]
    off: tuple[bool, ...]
    ruleset: str
    sentence: str


class ExplainedHand(NamedTuple):
    """The hand of an audit page: seats, board, stakes, auctions, showdown, pots and accounts."""

    seats: tuple[SeatCards, ...]
    board: tuple[tuple[str, ...], ...]
    money: StakesTable
    auctions: tuple[SettledAuction, ...]
    made: tuple[ShowdownHand, ...]
    paid: tuple[PaidPot, ...]
    bounties: tuple[t.BountySettled, ...]
    accounts: tuple[PaymentAccount, ...]


def explain_hand(redacted_hand: RedactedEvents, judged: AuditedHand) -> ExplainedHand:
    """Take a hand apart for its audit page; of a record that cannot be counted, as much as there
    is."""
    record, game, report = judged
    seen = [event.seen for event in redacted_hand.events]
    start = cast(t.HandStarted, record[0])
    money, hand = StakesTable((), (), ()), None
    if report.recorded is not None:
        hand, columns = before_payment(record), chips_by_round(record)
        rows = [[column[seat] for column in columns.values()] for seat in range(len(start.players))]
        sums = [sum(column) for column in columns.values()]
        totals = tuple((*row, sum(row)) for row in rows)
        money = StakesTable(tuple(columns), totals, (*sums, sum(sums)))
    seats = []
    for seat, name in enumerate(cast(t.HandStarted, seen[0]).players):
        dealt = [e for e in seen if isinstance(e, views.HoleDealtSeen) and e.seat == seat]
        swaps = [e for e in seen if isinstance(e, views.CardSwappedSeen) and e.seat == seat]
        changed = tuple(event for event in swaps if event.old != event.new)
        seats.append(SeatCards(name, tuple(event.cards for event in dealt), changed))
    return ExplainedHand(
        seats=tuple(seats),
        board=tuple(event.cards for event in seen if isinstance(event, t.BoardDealt)),
        money=money,
        auctions=_settled_auctions(seen),
        made=_showdown_hands(game, hand) if hand else (),
        paid=_paid_pots(game, record, hand, differs=report.verdict == "differ") if hand else (),
        bounties=tuple(event for event in seen if isinstance(event, t.BountySettled)),
        accounts=_payment_accounts(start, report),
    )


def _settled_auctions(seen: list[views.Seen]) -> tuple[SettledAuction, ...]:
    """Bids as their settlement showed them to all, each with the seat that placed it."""
    auctions = []
    placed: list[int] = []
    for event in seen:
        if isinstance(event, views.BidPlacedSeen):
            placed.append(event.seat)
        if isinstance(event, t.AuctionSettled):
            bids = tuple(zip(placed, event.bids, strict=False))
            auctions.append(SettledAuction(bids, event.seats, event.price, event.sealed))
            placed = []
    return tuple(auctions)


def _showdown_hands(game: Game, hand: Hand) -> tuple[ShowdownHand, ...]:
    """Every hand that was neither folded nor mucked, the best first named as such."""
    every = hand_strengths(game, hand)
    known = [strength for strength in every.values() if strength is not None]
    made_hands = []
    for seat, strength in every.items():
        if strength is None:
            made_hands.append(ShowdownHand(seat, (), "a card of it is not known", ""))
            continue
        best = len(known) == len(every) and strength == max(known)
        place = ("tie" if known.count(strength) > 1 else "best") if best else ""
        value, cards = value_and_five(game, hand, seat)  # the five that count, announced or best
        made_hands.append(
            ShowdownHand(seat, cards, describe(value, game.straights, game.ranking), place)
        )
    return tuple(made_hands)


def _paid_pots(game: Game, record: t.Events, hand: Hand, *, differs: bool) -> tuple[PaidPot, ...]:
    """Every pot as it was recorded, its layer of stakes, and what the rules pay of it."""
    rakes = {event.pot: event.amount for event in record if isinstance(event, t.RakeTaken)}
    splits = [event for event in record if isinstance(event, t.PotSplit)]
    stay = contenders(hand)
    layered: tuple[Pot, ...] = (Pot(hand.pot, stay),)  # where nobody is left to divide with
    if not is_alone(hand):
        try:
            layered = pots(game, hand, stay)
        except (LookupError, ValueError):
            layered = ()
    is_layer = [pot.amount for pot in layered] == [
        sum(split.shares) + rakes.get(split.pot, 0) for split in splits
    ]
    layers = layers_of(game, hand, layered) if is_layer else (None,) * len(splits)
    dead = dead_chips(game, hand)
    right = pot_cuts(game, record) or ()
    paid = []
    for place, split in enumerate(splits):
        rake = rakes.get(split.pot, 0)
        eligible = layered[place].seats if is_layer else split.seats
        notes = []
        if (layer := layers[place]) is not None:
            notes.append(
                f"{money_text(layer.low, game.unit)} to {money_text(layer.high, game.unit)} each"
            )
            if layer.folded:
                notes.append(f"{money_text(layer.folded, game.unit)} of hands that folded")
        if dead and not place:
            notes.append(f"{money_text(dead, game.unit)} dead")
        if rake:
            notes.append(f"rake {money_text(rake, game.unit)}")
        due = right[place] if place < len(right) else None
        shares = _pot_shares(split, due, game.split_unit, differs=differs and bool(right))
        weighed = due is not None and len(set(due.award.weights)) > 1
        whole = sum(split.shares) + rake
        paid.append(PaidPot(split.pot, whole, tuple(notes), eligible, weighed, shares))
    lacking = right[len(splits) :] if differs else ()
    for place, due in enumerate(lacking, len(splits)):  # pots that nobody was paid
        shares = _pot_shares(t.PotSplit(place, (), ()), due, game.split_unit, differs=True)
        paid.append(PaidPot(place, 0, (), due.eligible or due.award.seats, False, shares))
    return tuple(paid)


def _pot_shares(
    pot_split: t.PotSplit, due: Cut | None, unit: int, *, differs: bool
) -> tuple[Share, ...]:
    """The seats that are paid of a pot by the record, and where that differs, by the rules."""
    paid: dict[int, int] = {}
    for seat, share in zip(pot_split.seats, pot_split.shares, strict=True):
        paid[seat] = paid.get(seat, 0) + share
    places = {} if due is None else {seat: at for at, seat in enumerate(due.award.seats)}
    shares = []
    for seat in dict.fromkeys((*paid, *(places if differs else ()))):
        amount, right, odd = paid.get(seat, 0), 0, 0
        if due is not None and seat in places:
            right = due.award.shares[places[seat]]
            even = right - due.odd(places[seat], unit)
            odd = (right if differs else amount) - even
        shares.append(Share(seat, amount, right if differs else None, odd))
    return tuple(shares)


def _payment_accounts(start: t.HandStarted, report: Report) -> tuple[PaymentAccount, ...]:
    """What is recorded, what the ruleset decides, and what every other reading would pay."""
    declared = "declared by the hand" if start.game == report.ruleset else "asked for"
    payments: list[tuple[str, Nets | None, Nets | None, str, str]] = [
        ("recorded", report.recorded, report.decided, "", ""),
        ("decided", report.decided, report.recorded, report.ruleset, declared),
        *(
            (other.entry, other.nets, report.decided, other.ruleset, other.sentence)
            for other in report.readings
        ),
    ]
    nobody = (None,) * len(start.players)
    accounts = []
    for name, nets, other_nets, ruleset, sentence in payments:
        off = (
            [a != b for a, b in zip(nets, other_nets, strict=True)]
            if nets and other_nets
            else nobody
        )
        accounts.append(
            PaymentAccount(name, nets or nobody, tuple(map(bool, off)), ruleset, sentence)
        )
    return tuple(accounts)


router = APIRouter(include_in_schema=False)
HIDDEN_CARD_SENTENCE = "a card that this viewpoint may not see could change who is paid"


@router.get("/hands/{match}/{number}/audit")
def audit(
    request: Request,
    ask: Auth,
    match: str,
    number: str,
    within: FoundIn,
    ruleset: str | None = None,
) -> Response:
    """A hand judged, as a court would write it down; no script is on this page."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = hand_context(request, viewed, redacted_hand, "audit", within)
        try:
            judgement = judge_visible(viewed.snapshot, redacted_hand, ruleset)
        except (Unfinished, UnknownRuleset) as reason:
            return page(request, ask, "audit_none.html", reason=str(reason), **context)
        proof = check_proof(viewed, redacted_hand)
    report, parted = judgement.report, None
    if report.verdict == "unknown" and not redacted_hand.open:
        because = HIDDEN_CARD_SENTENCE
    elif report.verdict == "differ":  # the page has the event beside it
        because = f"the record is not what {report.ruleset} decides{no_chip_moves(report)}"
    else:
        because = verdict_sentence(report, judgement.record).partition(": ")[2]
    if (divergence := report.divergence) is not None:  # the event as it is seen
        recorded, decided = divergence_sentences(tuple(masked_events(redacted_hand)), divergence)
        parted = {"at": divergence.at, "recorded": recorded, "decided": decided}
    context |= {
        "report": report,
        "declared": report.ruleset == context["start"].game,
        "because": because,
        "owed": owed_sentence(context["start"].players, report),
        "moot": chips_in_dispute(report),
        "parting": parted,
        "explained": explain_hand(redacted_hand, judgement),
        "proof": proof,
    }
    return page(request, ask, "audit.html", **context)


def chips_in_dispute(report: Report) -> int:
    """The most that any other reading would give to somebody else."""
    paid = report.decided or ()
    others = (zip(other.nets, paid, strict=True) for other in report.readings)
    return max((sum(max(a - b, 0) for a, b in each) for each in others), default=0)

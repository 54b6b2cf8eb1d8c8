"""`/hands/M/N/audit`: a hand judged, as a court would write it down; no script is on this page.

How it was paid is taken apart for reading: money in, pots, hands at showdown, readings. Cards are
those that the viewer sees (`RedactedEvents`); all arithmetic is of the record that was
judged for him, in which a hidden card is an unknown one.
"""

from typing import NamedTuple, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.audit_pots import hand_strengths, pot_cuts, value_and_cards
from api.audit_report import (
    chips_by_round,
    divergence_sentences,
    no_chip_moves,
    owed_sentence,
    verdict_sentence,
)
from api.evidence import verify as evidence
from api.evidence.bundle import NoEvidence
from api.http.ask import Ask
from api.pages.hands import Within, of_hand
from api.pages.site import amount, page
from api.questions.frames import as_seen
from api.questions.hand import NoRules, judged
from api.questions.proof import NoSecrets, Unsigned, bundle
from api.record_audit import AuditedHand
from api.viewpoints.redaction import RedactedEvents
from api.viewpoints.selection import Unfinished
from api.viewpoints.views import Viewed
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


class Proof(NamedTuple):
    """Sentences that are proved, or problems; or why there is no bundle to check."""

    proved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    lacking: str | None = None


def integrity(viewed: Viewed, redacted_hand: RedactedEvents) -> Proof:
    """The evidence of this hand for this viewer, made and checked as `verify.py` does."""
    try:
        proof_bundle = bundle(viewed, redacted_hand)
    except (NoSecrets, Refuted, NoEvidence, Unsigned) as reason:
        return Proof(lacking=str(reason))
    verdict = evidence.check_bundle(lambda: evidence.unzipped(proof_bundle))
    return Proof(verdict.proved, verdict.problems)


class Seat(NamedTuple):
    """A player with what he was dealt, deal by deal, and what was swapped of it."""

    name: str
    held: tuple[tuple[Card | views.Hidden, ...], ...]
    swaps: tuple[views.CardSwappedSeen, ...]


class Money(NamedTuple):
    """What each seat put in, round by round: a row for each seat, and one for all together."""

    rounds: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    together: tuple[int, ...]


class Bidding(NamedTuple):
    """An auction that was settled: every bid with its seat, who pays, and how much."""

    bids: tuple[tuple[int, int], ...]
    winners: tuple[int, ...]
    price: int
    sealed: bool


class MadeHand(NamedTuple):
    """What a seat holds at the showdown; no cards where one of them is not known."""

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


class Paid(NamedTuple):
    """A pot that was paid: its layer, if it is one, who may win it, and who did."""

    number: int
    amount: int
    notes: tuple[str, ...]  # which layer it is, and what of it is no stake of who may win it
    eligible: tuple[int, ...]
    weighed: bool  # by the rules each is paid by what he put in
    shares: tuple[Share, ...]


class Account(NamedTuple):
    """What everybody wins or loses by one account, and why; `off` where it is not what is paid."""

    account: str
    nets: tuple[int | None, ...]
    off: tuple[bool, ...]
    ruleset: str
    sentence: str


class Explained(NamedTuple):
    """All of it."""

    seats: tuple[Seat, ...]
    board: tuple[tuple[str, ...], ...]
    money: Money
    auctions: tuple[Bidding, ...]
    made: tuple[MadeHand, ...]
    paid: tuple[Paid, ...]
    bounties: tuple[t.BountySettled, ...]
    accounts: tuple[Account, ...]


def explained(redacted_hand: RedactedEvents, judged: AuditedHand) -> Explained:
    """The hand taken apart; of a record that cannot be counted, as much as there is."""
    record, game, report = judged
    seen = [event.seen for event in redacted_hand.events]
    start = cast(t.HandStarted, record[0])
    money, hand = Money((), (), ()), None
    if report.recorded is not None:
        hand, columns = before_payment(record), chips_by_round(record)
        rows = [[column[seat] for column in columns.values()] for seat in range(len(start.players))]
        sums = [sum(column) for column in columns.values()]
        totals = tuple((*row, sum(row)) for row in rows)
        money = Money(tuple(columns), totals, (*sums, sum(sums)))
    seats = []
    for seat, name in enumerate(cast(t.HandStarted, seen[0]).players):
        dealt = [e for e in seen if isinstance(e, views.HoleDealtSeen) and e.seat == seat]
        swaps = [e for e in seen if isinstance(e, views.CardSwappedSeen) and e.seat == seat]
        changed = tuple(event for event in swaps if event.old != event.new)
        seats.append(Seat(name, tuple(event.cards for event in dealt), changed))
    return Explained(
        seats=tuple(seats),
        board=tuple(event.cards for event in seen if isinstance(event, t.BoardDealt)),
        money=money,
        auctions=_auctions(seen),
        made=_made(game, hand) if hand else (),
        paid=_paid(game, record, hand, differs=report.verdict == "differ") if hand else (),
        bounties=tuple(event for event in seen if isinstance(event, t.BountySettled)),
        accounts=_accounts(start, report),
    )


def _auctions(seen: list[views.Seen]) -> tuple[Bidding, ...]:
    """Bids as their settlement showed them to all, each with the seat that placed it."""
    auctions = []
    placed: list[int] = []
    for event in seen:
        if isinstance(event, views.BidPlacedSeen):
            placed.append(event.seat)
        if isinstance(event, t.AuctionSettled):
            bids = tuple(zip(placed, event.bids, strict=False))
            auctions.append(Bidding(bids, event.seats, event.price, event.sealed))
            placed = []
    return tuple(auctions)


def _made(game: Game, hand: Hand) -> tuple[MadeHand, ...]:
    """Every hand that was neither folded nor mucked, the best first named as such."""
    every = hand_strengths(game, hand)
    known = [strength for strength in every.values() if strength is not None]
    made_hands = []
    for seat, strength in every.items():
        if strength is None:
            made_hands.append(MadeHand(seat, (), "a card of it is not known", ""))
            continue
        best = len(known) == len(every) and strength == max(known)
        place = ("tie" if known.count(strength) > 1 else "best") if best else ""
        value, cards = value_and_cards(game, hand, seat)  # the five that count, announced or best
        made_hands.append(
            MadeHand(seat, cards, describe(value, game.straights, game.ranking), place)
        )
    return tuple(made_hands)


def _paid(game: Game, record: t.Events, hand: Hand, *, differs: bool) -> tuple[Paid, ...]:
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
            notes.append(f"{amount(layer.low, game.unit)} to {amount(layer.high, game.unit)} each")
            if layer.folded:
                notes.append(f"{amount(layer.folded, game.unit)} of hands that folded")
        if dead and not place:
            notes.append(f"{amount(dead, game.unit)} dead")
        if rake:
            notes.append(f"rake {amount(rake, game.unit)}")
        due = right[place] if place < len(right) else None
        shares = _shares(split, due, game.split_unit, differs=differs and bool(right))
        weighed = due is not None and len(set(due.award.weights)) > 1
        whole = sum(split.shares) + rake
        paid.append(Paid(split.pot, whole, tuple(notes), eligible, weighed, shares))
    lacking = right[len(splits) :] if differs else ()
    for place, due in enumerate(lacking, len(splits)):  # pots that nobody was paid
        shares = _shares(t.PotSplit(place, (), ()), due, game.split_unit, differs=True)
        paid.append(Paid(place, 0, (), due.eligible or due.award.seats, False, shares))
    return tuple(paid)


def _shares(
    pot_split: t.PotSplit, due: Cut | None, unit: int, *, differs: bool
) -> tuple[Share, ...]:
    """Who is paid of a pot by the record, and where that differs, by the rules."""
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


def _accounts(start: t.HandStarted, report: Report) -> tuple[Account, ...]:
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
        accounts.append(Account(name, nets or nobody, tuple(map(bool, off)), ruleset, sentence))
    return tuple(accounts)


router = APIRouter(include_in_schema=False)
UNSEEN = "a card that this viewpoint may not see could change who is paid"


@router.get("/hands/{match}/{number}/audit")
def audit(
    request: Request,
    ask: Ask,
    match: str,
    number: str,
    within: Within,
    ruleset: str | None = None,
) -> Response:
    """A hand judged, as a court would write it down; no script is on this page."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = of_hand(request, viewed, redacted_hand, "audit", within)
        try:
            judgement = judged(viewed.snapshot, redacted_hand, ruleset)
        except (Unfinished, NoRules) as reason:
            return page(request, ask, "audit_none.html", reason=str(reason), **context)
        proof = integrity(viewed, redacted_hand)
    report, parted = judgement.report, None
    if report.verdict == "unknown" and not redacted_hand.open:
        because = UNSEEN
    elif report.verdict == "differ":  # the page has the event beside it
        because = f"the record is not what {report.ruleset} decides{no_chip_moves(report)}"
    else:
        because = verdict_sentence(report, judgement.record).partition(": ")[2]
    if (divergence := report.divergence) is not None:  # the event as it is seen
        recorded, decided = divergence_sentences(tuple(as_seen(redacted_hand)), divergence)
        parted = {"at": divergence.at, "recorded": recorded, "decided": decided}
    context |= {
        "report": report,
        "declared": report.ruleset == context["start"].game,
        "because": because,
        "owed": owed_sentence(context["start"].players, report),
        "moot": moot(report),
        "parting": parted,
        "explained": explained(redacted_hand, judgement),
        "proof": proof,
    }
    return page(request, ask, "audit.html", **context)


def moot(report: Report) -> int:
    """The most that any other reading would give to somebody else."""
    paid = report.decided or ()
    others = (zip(other.nets, paid, strict=True) for other in report.readings)
    return max((sum(max(a - b, 0) for a, b in each) for each in others), default=0)

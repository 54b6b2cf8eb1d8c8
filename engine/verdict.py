"""The judgement of one hand: what its ruleset pays, and what other readings would have paid."""

from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from engine.assumptions import is_free, rests_on
from engine.audit import Divergence, audit, before_payment, nets_of
from engine.catalogue import meaning
from engine.game import Game, fingerprint
from engine.pots import pots
from engine.seats import contenders, is_alone
from engine.settle import settle
from engine.steps import DealBoard
from engine.turn import IllegalCommand
from events.cards import UNKNOWN
from events.evolve import evolve
from events.state import Hand, Standing
from events.types import (
    Announced,
    BettingOpened,
    BountySettled,
    Claimed,
    Event,
    Events,
    Folded,
    HandEnded,
    HandStarted,
    Mucked,
    PotSplit,
    RakeTaken,
    Shown,
    StepEntered,
    UncalledReturned,
)

Verdict = Literal["agree", "assuming", "contested", "differ", "unknown"]
"""`assuming`: it agrees, if what the record assumes is so."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Nets = tuple[int, ...]


class Reread(Struct, frozen=True):
    """What another reading would have paid for the same cards and contributions."""

    entry: str
    ruleset: str
    sentence: str
    nets: Nets


class Report(Struct, frozen=True):
    """The recorded nets, those that the declared ruleset decides, and every reading that differs.

    `assumed` is what the verdict rests on and no source said. `moves` is of a record that differs:
    how many chips go to others than the ruleset pays; None where that cannot be counted.
    """

    ruleset: str
    verdict: Verdict
    recorded: Nets | None
    decided: Nets | None
    divergence: Divergence | None = None
    readings: tuple[Reread, ...] = ()
    assumed: tuple[str, ...] = ()
    moves: int | None = None


_AFTER_PLAY = (
    StepEntered,
    Announced,
    Claimed,
    Shown,
    Mucked,
    UncalledReturned,
    RakeTaken,
    PotSplit,
    BountySettled,
    HandEnded,
)


def judge(game: Game, record: Events, partner: Game | None = None) -> Report:
    """The verdict on a record under the ruleset it was dealt by."""
    return qualified(_judged(game, record, partner), record)


def qualified(report: Report, record: Events) -> Report:
    """A report qualified by the assumptions that its verdict rests on."""
    assumed = rests_on(record)
    if not assumed:
        return report
    verdict = report.verdict
    if verdict in ("agree", "contested") and any(map(is_free, assumed)):
        verdict = "unknown"
    return replace(report, verdict="assuming" if verdict == "agree" else verdict, assumed=assumed)


def _judged(game: Game, record: Events, partner: Game | None) -> Report:
    """The verdict as if all that the record assumes were so."""
    divergence = audit(game, record)
    if divergence is not None:
        recorded, decided = _forced_sum(game, record)
        if divergence.undecided:
            return Report(game.name, "unknown", recorded, decided, divergence)
        if (folds := _forced_folds(game, record, divergence, recorded)) is not None:
            return folds
        # What would have come after another choice, bid or card nobody knows: so chips that go
        # elsewhere are counted only where record and rules part after the last of them.
        moves = None
        if _is_after_play(divergence) and recorded is not None and decided is not None:
            moves = _difference(recorded, decided)
        return Report(game.name, "differ", recorded, decided, divergence, moves=moves)
    recorded = nets_of(record)
    unpaid = before_payment(record)
    decided = None if unpaid is None else _paid(game, unpaid)
    if unpaid is None:
        return Report(game.name, "agree", recorded, decided)
    # What would be paid if a seat that was forced all-in could not have folded, where that is
    # something else and known.
    stays = _unfolded(unpaid) if game.forced_all_in == "may_fold" else None
    nets = None if stays is None else _paid_whole(game, stays)
    others: tuple[Reread, ...] = ()
    if nets is not None and nets != decided:
        others = (_reread_as(game, "stays_in", nets),)
    if is_alone(unpaid):
        verdict: Verdict = "contested" if others else "agree"
        return Report(game.name, verdict, recorded, decided, None, others)
    others += readings(game, record, unpaid, partner)
    # a card that nobody recorded could change who is paid
    forfeited = unpaid.showing.mucked if game.muck == "forfeits" else ()
    claims = [unpaid.hole[seat] for seat in contenders(unpaid) if seat not in forfeited]
    if any(UNKNOWN in cards for cards in (unpaid.board, *claims)):
        return Report(game.name, "unknown", recorded, decided, None, others)
    return Report(game.name, "contested" if others else "agree", recorded, decided, None, others)


def readings(
    game: Game, record: Events, unpaid: Hand, partner: Game | None = None
) -> tuple[Reread, ...]:
    """Each reading of the game's list, and the partner as a whole, that pays somebody differently.

    The recorded contributions are divided again and the recorded cards compared again; what the
    other reading would have allowed or asked is not replayed.
    """
    decided = _paid(game, unpaid)
    found = []
    for reading in game.readings:
        other = replace(game, **{reading.policy: reading.value})
        hand = unpaid
        if other.uncalled != game.uncalled:  # an uncalled bet may have stayed in the pot (U17)
            hand = before_payment(record, uncalled=other.uncalled == "returned") or unpaid
        nets = _paid(other, hand)
        if nets is not None and nets != decided:
            label = f"{game.name} with {reading.policy} {reading.value}"
            found.append(Reread(reading.entry, label, reading.sentence, nets))
    if partner is not None:  # a rake is a parameter of the table: the same under both
        partner = replace(partner, rake=game.rake, split_unit=game.split_unit)
    nets = None if partner is None else _paid(partner, unpaid)
    if partner is not None and nets is not None and nets != decided:
        found.append(Reread("partner", partner.name, partner.document, nets))
    return tuple(found)


def _paid(game: Game, hand: Hand) -> Nets | None:
    """The nets of each seat when this ruleset pays; None if a missing card could decide."""
    try:
        paid = settle(game, hand)
    except IllegalCommand:
        return None
    for event in paid:
        hand = evolve(hand, event)
    return tuple(b - a for a, b in zip(hand.start.stacks, hand.stacks, strict=True))


def _is_after_play(divergence: Divergence) -> bool:
    """Whether record and rules part after the last choice, bid and card."""
    parted = (divergence.recorded, divergence.decided)
    return all(event is None or isinstance(event, _AFTER_PLAY) for event in parted)


def _difference(recorded: Nets, decided: Nets) -> int:
    """The number of chips that are with other seats under one payment than under the other."""
    more = sum(max(a - b, 0) for a, b in zip(recorded, decided, strict=True))
    less = sum(max(b - a, 0) for a, b in zip(recorded, decided, strict=True))
    return max(more, less)


def _forced_folds(
    game: Game, record: Events, divergence: Divergence, recorded: Nets | None
) -> Report | None:
    """The report on a record whose play differs by nothing but the fold of who was forced all-in.

    By these rules the seat stays in, by the other reading its hand is dead (G8). What goes
    elsewhere is what these rules pay otherwise than the record, or all that the seat could have
    won, if that depends on cards that nobody recorded.
    """
    fold = isinstance(divergence.recorded, Folded | BettingOpened) and recorded is not None
    if not fold or game.forced_all_in == "may_fold":
        return None
    other = replace(game, forced_all_in="may_fold")
    second = audit(other, _by_rules(record, other))
    if second is not None and not _is_after_play(second):
        return None
    try:
        unpaid = before_payment(record)
    except LookupError:  # somebody shows who is not there
        return None
    stays = None if unpaid is None else _unfolded(unpaid)
    if unpaid is None or stays is None or recorded is None:
        return None
    decided = _paid_whole(game, stays)
    if decided is None:
        back = set(contenders(stays)) - set(contenders(unpaid))
        claims = pots(game, stays, contenders(stays))
        moves = sum(pot.amount for pot in claims if back & set(pot.seats))
    else:
        moves = _difference(recorded, decided)
    dead = _paid(other, unpaid)
    others = () if dead is None else (_reread_as(game, "may_fold", dead),)
    return Report(game.name, "differ", recorded, decided, divergence, others, moves=moves)


def _by_rules(record: Events, game: Game) -> Events:
    """The record as dealt by these rules: what was counted, rules off, does not say that somebody
    chose, and announces a step once more where it goes back for somebody's choice."""
    events: list[Event] = [replace(record[0], ruleset=fingerprint(game))]
    announced = set[tuple[type, int]]()
    for event in record[1:]:
        if isinstance(event, StepEntered | BettingOpened):
            if (type(event), event.step) in announced:
                continue
            announced.add((type(event), event.step))
        recorded = getattr(event, "origin", "") == "recorded"
        events.append(replace(event, origin="chosen") if recorded else event)
    return tuple(events)


def _reread_as(game: Game, value: str, nets: Nets) -> Reread:
    label = f"{game.name} with forced_all_in {value}"
    return Reread("G8", label, meaning("forced_all_in", value), nets)


def _unfolded(unpaid: Hand) -> Hand | None:
    """The hand with every seat still in that folded and was all-in by its blinds and antes; None
    if there is none.

    Who has nothing left is never asked, so nobody else folds without chips.
    """
    table = zip(unpaid.standing, unpaid.stacks, strict=True)
    back = [one == "folded" and not left for one, left in table]
    if not any(back):
        return None
    standing: tuple[Standing, ...] = tuple(
        "all_in" if stays else one for one, stays in zip(unpaid.standing, back, strict=True)
    )
    return replace(unpaid, standing=standing)


def _paid_whole(game: Game, hand: Hand) -> Nets | None:
    """The nets of each seat, if the board was dealt to its end."""
    due = max((line.total for line in game.script if isinstance(line, DealBoard)), default=0)
    return _paid(game, hand) if len(hand.board) == due else None


def _forced_sum(game: Game, record: Events) -> tuple[Nets | None, Nets | None]:
    """Recorded and decided nets of a record that the rules refuse; None if uncountable.

    It may hold anything: seats, slots and cards that do not exist, or not enough of them.
    """
    if not record or any(isinstance(e, HandStarted) != (at == 0) for at, e in enumerate(record)):
        return None, None
    recorded = None
    try:
        nets = nets_of(record)
        # what the source claims, where no record can be of it
        claims = (event.nets for event in record if isinstance(event, Claimed))
        recorded = next((claim for claim in claims if len(claim) == len(nets)), nets)
        hand = before_payment(record)
        return recorded, _paid(game, hand) if hand else None
    except (LookupError, ValueError):
        return recorded, None

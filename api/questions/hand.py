"""One hand as a viewer sees it: summary, events as rows, notation, hand history and verdict.

It is read from the ledger's files by its name and made from its `RedactedEvents` alone: no query
stands between, so that it is answered in a few milliseconds however large the ledger is.

It is judged for an auditor by the record, for anybody else by what he sees. What a seat is told is
a judgement of its own sight and of nothing else. A card that it may not see is put to the rules as
one that nobody recorded, so no verdict, sentence or reading can depend on it: where such a card
could change who is paid, the verdict is `unknown`.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast, get_args

import msgspec
from msgspec.structs import replace

from api.auditing.record import UNKNOWN_RULESET, AuditedHand, RulesetLookup, audit_record
from api.exporting.hand_logs import TEXT_FORMATS, CannotExport, ExportRequest
from api.questions.frames import card_json, event_sentences, event_text, hand_start
from api.questions.one_line import events_line, one_line
from api.viewpoints.hand_selection import NotInLedger, Unfinished, match_end, match_start
from api.viewpoints.ledger_view import UNCLOSED, LedgerView
from api.viewpoints.redaction import (
    HIDDEN,
    RedactedEvents,
    masked_event,
    timestamps,
    with_settled_bids,
)
from api.viewpoints.viewer import Viewer
from engine.game import Game
from engine.games import named
from events import types as t
from events.cards import UNKNOWN as UNKNOWN_CARD
from events.cards import Rank
from events.evolve import evolve, replay
from events.ledger import closes
from events.sentences import text
from events.state import Hand
from events.types import Event, Events, HandStarted
from store.log.streams import Leaf, split_stream
from store.reader import Snapshot


class UnfinishedHand(Unfinished):
    """A hand that cannot be judged before it has ended."""


class UnknownRuleset(Exception):
    """The ruleset that a hand names, or that was asked for, is not known here."""


_UNKNOWN_SENTENCE = "no ruleset here has this fingerprint; another may be held against it"


def summary(viewed: LedgerView, redacted_hand: RedactedEvents) -> dict[str, Any]:
    """The summary of a hand: players, cards, results, and the whole of it on one line."""
    match, number = split_stream(redacted_hand.stream)
    hand = visible_state(redacted_hand)
    start = hand_start(redacted_hand)
    times = timestamps([redacted_hand.events[0].stored.at, redacted_hand.events[-1].stored.at])
    closed = redacted_hand.hand_seq != UNCLOSED
    return {
        "hand": redacted_hand.stream,
        "match": match,
        "number": number,
        "hand_seq": redacted_hand.hand_seq if closed else None,
        "game": start and start.game,
        "ruleset": start and start.ruleset,
        "view": view_of(viewed, redacted_hand),
        "seat": seat_of(viewed.viewer, redacted_hand),
        "open": redacted_hand.open,
        "closed": closed,
        "events": len(redacted_hand.events),
        "players": start and list(start.players),
        "button": start and start.button,
        "stacks": start and list(start.stacks),
        "unit": start and viewed.redactor.units.get(start.ruleset),
        "played": (start and start.played) or None,
        **_outcome(redacted_hand, hand),
        "first": times[0],
        "at": times[1],
        "line": one_line(redacted_hand),
    }


def frame_index(document: dict[str, Any], at: int | None) -> int:
    """The index of the frame that is asked for: without a number the last."""
    last = len(document["frames"]) - 1
    place = last if at is None else at
    if not 0 <= place <= last:
        raise NotInLedger(f"{document['hand']} has events 0..{last} to be seen here, not {place}")
    return place


def frame_text(redacted_hand: RedactedEvents, document: dict[str, Any], at: int) -> list[str]:
    """The table after one of the hand's frames as lines of text, and the hand so far in one
    line."""
    frame, last = document["frames"][at], len(document["frames"]) - 1
    blind = f", big blind {document['big_blind']}" if document["big_blind"] else ""
    head = f"{document['hand']}, event {at} of {last}: {document['game']}{blind}"
    lines = [f"{head}, as {document['view']}"]
    for seat, player in enumerate(document["players"]):
        place = frame["seats"][seat]
        button = " (button)" if seat == document["button"] else ""
        bet = f", {place['bet']} bet" if place["bet"] else ""
        cards = " ".join(it if isinstance(it, str) else HIDDEN for it in place["cards"])
        out = "folded" if place["standing"] == "folded" else ""
        odds = f"{100 * place['odds']['share']:.1f} %" if place["odds"] else ""
        about = ", ".join(filter(None, (cards, out or place["made"] or "", odds)))
        lines.append(f"{player}{button} {place['stack']}{bet}" + (f": {about}" if about else ""))
    board = " ".join(frame["board"])
    lines.append(", ".join(filter(None, (board and f"board {board}", f"pot {frame['pot']}"))))
    lines.append(text(event_sentences(redacted_hand)[at]))
    seen = [event.seen for event in redacted_hand.events[: at + 1]]
    return [*lines, events_line(seen)]


def visible_state(redacted_hand: RedactedEvents) -> Hand | None:
    """The state of a hand after all visible events; None, if they do not add up."""
    if hand_start(redacted_hand) is None:
        return None
    try:
        return replay(cast(t.Event, masked_event(event.seen)) for event in redacted_hand.events)
    except (LookupError, TypeError, ValueError):
        return None


def seat_of(viewer: Viewer, redacted_hand: RedactedEvents) -> int | None:
    """The viewer's own seat in this hand, if he has one."""
    start = hand_start(redacted_hand)
    if start is None or not viewer.sits_in(split_stream(redacted_hand.stream)[0]):
        return None
    return start.players.index(viewer.player) if viewer.player in start.players else None


def view_of(viewed: LedgerView, redacted_hand: RedactedEvents) -> str:
    """The viewpoint on this hand: away from his own table a player is the public."""
    at_home = viewed.viewer.auditor or seat_of(viewed.viewer, redacted_hand) is not None
    return viewed.viewer.view if at_home else "public"


def ruleset_of_hand(viewed: LedgerView, redacted_hand: RedactedEvents) -> Game | None:
    """The ruleset that the hand names, if the program or the ledger has it."""
    start = hand_start(redacted_hand)
    return RulesetLookup(viewed.snapshot, None).by_fingerprint(start.ruleset) if start else None


def is_settled(viewed: LedgerView, redacted_hand: RedactedEvents) -> bool:
    """Whether nothing that the viewer sees of this hand can ever change.

    A hand that is over stays as it is. More of it may be seen later, if its match is to be opened
    when it ends.
    """
    if redacted_hand.hand_seq == UNCLOSED:
        return False
    if redacted_hand.open:
        return True
    match = split_stream(redacted_hand.stream)[0]
    announced = match_start(viewed.snapshot, match)
    sealed = announced is not None and announced.disclosure == "sealed"
    return sealed or match_end(viewed.snapshot, match) is not None


def event_rows(redacted_hand: RedactedEvents) -> Iterator[dict[str, Any]]:
    """Each visible event in its envelope: numbered among the visible ones, without its position."""
    match, number = split_stream(redacted_hand.stream)
    place = None if redacted_hand.hand_seq == UNCLOSED else redacted_hand.hand_seq
    envelope = {"hand": redacted_hand.stream, "match": match, "number": number, "hand_seq": place}
    times = timestamps([event.stored.at for event in redacted_hand.events])
    for idx, (one, at) in enumerate(zip(redacted_hand.events, times, strict=True)):
        yield {**msgspec.to_builtins(one.seen), **envelope, "idx": idx, "at": at}


def notation_lines(redacted_hand: RedactedEvents) -> list[str]:
    """The hand in notation, as `muckrake replay` prints it."""
    return [event_text(event, whole=redacted_hand.open) for event in redacted_hand.events]


def hand_history(viewed: LedgerView, redacted_hand: RedactedEvents, kind: str) -> bytes:
    """The hand in another program's format; in PHH a hidden card is one that is not known."""
    if redacted_hand.hand_seq == UNCLOSED:
        raise Unfinished(
            f"{redacted_hand.stream} is not over: only hands that are over are exported"
        )

    def ruleset(record: t.Events) -> Game:
        game = ruleset_of_hand(viewed, redacted_hand)
        if game is None:
            raise CannotExport(f"{redacted_hand.stream}: {UNKNOWN_RULESET}")
        return game

    leaf = Leaf(redacted_hand.hand_seq, viewed.snapshot.read(redacted_hand.stream))
    export = ExportRequest(viewed.snapshot, [leaf], viewed.redactor, ruleset, ".phh", lossy=False)
    return b"".join(TEXT_FORMATS[kind](export))


def _outcome(redacted_hand: RedactedEvents, hand: Hand | None) -> dict[str, Any]:
    """The outcome of a hand so far; nulls where its record does not add up."""
    if hand is None:
        names = ("street", "board", "cards", "pot", "rake", "net", "showdown", "void", "winners")
        return dict.fromkeys(names)
    nets = [left - had for left, had in zip(hand.stacks, hand.start.stacks, strict=True)]
    paid = sum(
        sum(event.seen.shares)
        for event in redacted_hand.events
        if isinstance(event.seen, t.PotSplit)
    )
    over = hand.over or hand.voided
    return {
        "street": hand.street,
        "board": list(hand.board),
        "cards": [[card_json(one) for one in held] for held in hand.hole],
        "pot": (0 if hand.voided else paid + hand.rake) if over else hand.pot,
        "rake": hand.rake,
        "net": nets if over else None,
        "showdown": bool(hand.showing.shown),
        "void": hand.voided,
        "winners": [hand.start.players[s] for s, net in enumerate(nets) if net > 0] if over else [],
    }


def judge_visible(
    snapshot: Snapshot, redacted_hand: RedactedEvents, ruleset: str | None = None
) -> AuditedHand:
    """Judge the visible record of a hand, by its own rules or by those of this name."""
    stored = tuple(event.stored.event for event in redacted_hand.events)
    if not closes(redacted_hand.stream, stored):
        raise UnfinishedHand(f"{redacted_hand.stream} is not over: it cannot be judged yet")
    start = cast(HandStarted, stored[0])
    if ruleset is not None:
        try:
            game = named(ruleset)
        except LookupError as reason:
            raise UnknownRuleset(str(reason)) from None
    elif (marked := RulesetLookup(snapshot, None).by_fingerprint(start.ruleset)) is not None:
        game = marked
    else:
        raise UnknownRuleset(
            f"{start.hand} is of {start.game} {start.ruleset}: {_UNKNOWN_SENTENCE}"
        )
    return audit_record(
        cast(Events, stored) if redacted_hand.open else visible_record(redacted_hand, game), game
    )


def visible_record(redacted_hand: RedactedEvents, game: Game) -> Events:
    """The visible record: cards as they were shown later, else unknown, and bids as settled.

    What stays hidden beside them (why a bid was made, whether a swap was to be shown) is filled in
    as the rules have it: it is not judged.
    """
    events = [cast(Event, recorded.event) for recorded in with_settled_bids(redacted_hand).recorded]
    # Cards of seats that showed them and had none swapped, in the order they were dealt; with what
    # was tossed of them.
    shown = {event.seat: list(event.cards) for event in events if isinstance(event, t.Shown)}
    for event in events:
        if isinstance(event, t.CardSwapped):
            shown.pop(event.seat, None)
        if isinstance(event, t.Tossed) and event.seat in shown:
            shown[event.seat][event.slot : event.slot] = event.cards
    record: list[Event] = []
    hand = None
    for event in events:
        event = _with_cards(event, game, shown)
        if isinstance(event, t.BountyDrawn) and event.rank == HIDDEN:
            start, seat = record[0], event.seat
            event = replace(event, rank=_bounty_rank(seat, events))
            settled = any(isinstance(it, t.BountySettled) and it.seat == seat for it in events)
            if settled and isinstance(start, HandStarted) and 0 <= seat < len(start.players):
                # With another rank he would be paid otherwise.
                player = start.players[seat]
                note = f"bounty of {player}, which is hidden: as the record pays it"
                record[0] = replace(start, assumed=(*start.assumed, note))
        if isinstance(event, t.BidPlaced) and hand is not None:
            if event.amount is None:  # never told: this ruleset reveals no bids
                event = replace(event, amount=0)
            if event.origin == HIDDEN:  # who has nothing left can only bid nothing
                broke = 0 <= event.seat < len(hand.stacks) and not hand.stacks[event.seat]
                event = replace(event, origin="forced" if broke else "chosen")
        record.append(event)
        with suppress(LookupError, TypeError, ValueError):  # the judgement says where
            hand = replay((event,)) if hand is None else evolve(hand, event)
    return tuple(record)


def _with_cards(event: Event, game: Game, shown: dict[int, list[str]]) -> Event:
    match event:
        case t.HoleDealt(seat=seat, cards=cards):
            later = shown.get(seat, [])
            if HIDDEN in cards and len(later) >= len(cards):
                known, shown[seat] = later[: len(cards)], later[len(cards) :]
                return replace(event, cards=tuple(known))
            return replace(event, cards=tuple(map(_unknown_card, cards)))
        case t.CardSwapped(old=old, new=new):
            both_told = game.swap_seen == "both_told"
            return replace(event, old=_unknown_card(old), new=_unknown_card(new), told=both_told)
    return event


def _bounty_rank(seat: int, events: list[Event]) -> Rank:
    """A rank that is hit or missed by the cards that a seat showed, as everybody sees; of cards
    that he did not show, one that only these could hit."""
    cards = [card for event in events if isinstance(event, t.BoardDealt) for card in event.cards]
    shown = [
        card
        for event in events
        if isinstance(event, t.Shown) and event.seat == seat
        for card in event.cards
    ]
    hit = any(
        isinstance(event, t.BountySettled) and event.seat == seat and event.hit for event in events
    )
    held = {card[0] for card in (*cards, *shown)}
    ranks: tuple[Rank, ...] = get_args(Rank)
    return next((rank for rank in ranks if (rank in held) == bool(hit and shown)), ranks[0])


def _unknown_card(card: str) -> str:
    return UNKNOWN_CARD if card == HIDDEN else card

"""What is true of every hand of every ruleset: each law is a function that fails where it is not.

The docstring of a law is the law. `tests/test_laws.py` tries them on hands that Hypothesis draws,
`tests/fuzz.py` on as many as there is time for.
"""

from collections.abc import Callable, Iterator
from typing import cast

import msgspec
from msgspec.structs import replace

from engine.audit import audit
from engine.hand import begin, decide, turn
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Deal,
    Disconnect,
    Draw,
    Fold,
    IllegalCommand,
    Muck,
    Over,
    Raise,
    Reconnect,
    Show,
    Straddle,
    Swap,
    TimeOut,
    ToAct,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    ToStraddle,
    ToSwap,
)
from engine.verdict import judge
from events.cards import DECK, UNKNOWN, Rank
from events.codec import decode, encode
from events.evolve import evolve, replay
from events.notation import read, say
from events.state import Hand, opened
from events.types import (
    CardSwapped,
    Disconnected,
    HandEnded,
    HandStarted,
    HandVoided,
    HoleDealt,
    Reconnected,
    Shown,
)
from tests.hands import CLOCKED, Move, Played, answered, connections, offered


def no_chip_is_made_or_lost(played: Played) -> None:
    """After every event stacks, pot and rake hold what was brought, and none is ever negative, but
    for the stack of who pays a bounty, when all pots are paid."""
    brought = sum(played.hand.start.stacks)
    for hand in positions(played):
        assert brought == sum(hand.stacks) + hand.pot + hand.rake
        assert not hand.payers or not hand.pot
        owned = [stack for seat, stack in enumerate(hand.stacks) if seat not in hand.payers]
        assert min(owned, default=0) >= 0
        assert min(*hand.paid, *hand.dead, hand.pot, hand.rake) >= 0
    assert played.hand.pot == 0


def no_card_is_in_two_places(played: Played) -> None:
    """Board, hole cards and discards never hold a card twice."""
    for hand in positions(played):
        held = (*hand.board, *hand.discards, *(card for hole in hand.hole for card in hole))
        known = [card for card in held if card != UNKNOWN]
        assert len(known) == len(set(known))


def replay_equals_the_live_hand(played: Played) -> None:
    """After every answer, folding the events gives the hand that `step` gave."""
    hand = played.opened
    for move in played.moves:
        assert move.before == hand
        for event in move.events:
            hand = evolve(hand, event)
        assert move.after == hand
    assert played.hand == replay(played.record)


def audit_agrees_with_its_own_record(played: Played) -> None:
    """What the rules decided once they decide again; judging agrees, or a reading differs."""
    assert audit(played.game, played.record) is None
    report = judge(played.game, played.record)
    assert report.verdict in ("agree", "contested")
    assert report.recorded == tuple(
        now - was for was, now in zip(played.hand.start.stacks, played.hand.stacks, strict=True)
    )


def every_prefix_can_be_voided(played: Played) -> None:
    """A hand cut short by a crash may be voided wherever it waits: everything goes back."""
    for move in played.moves[:: max(1, len(played.moves) // 3)]:
        record = (*played.record[: move.at], HandVoided("recovery"))
        assert audit(played.game, record) is None
        assert replay(record).stacks == move.before.start.stacks


def a_seat_may_drop_out_at_any_question(played: Played) -> None:
    """Before every kind of question a connection may be lost; nothing else changes by it."""
    for move in {type(move.asked): move for move in played.moves}.values():
        gone = Disconnected(len(move.before.stacks) - 1)
        if not any(isinstance(event, Disconnected | Reconnected) for event in played.record):
            record = (*played.record[: move.at], gone, *played.record[move.at :])
            assert audit(played.game, record) is None
            assert replay(record).stacks == played.hand.stacks


def a_card_that_nobody_saw_need_not_be_recorded(played: Played) -> None:
    """Seats that never showed may hold cards unknown: the record stands, and pays the same.

    A bounty is hit or missed by cards that nobody showed: without them it cannot be decided.
    """
    seen = {event.seat for event in played.record if isinstance(event, Shown | CardSwapped)}
    record = tuple(
        replace(event, cards=(UNKNOWN,) * len(event.cards))
        if isinstance(event, HoleDealt) and event.seat not in seen
        else event
        for event in played.record
    )
    found = audit(played.game, record)
    assert found is None or (found.undecided and played.game.bounty != "none")
    assert replay(record).stacks == played.hand.stacks


def what_is_offered_is_accepted(played: Played) -> None:
    """Every answer that a turn offers is taken, to the last consequence."""
    for move in played.moves:
        pack = _unused(move.before)
        menu = offered(played.game, move.before, move.asked, pack)
        for command in (*menu, *connections(move.before)):
            answered(played.game, move.before, command)


def what_is_not_offered_is_refused(played: Played) -> None:
    """Every answer beside the menu is refused in a sentence, and changes nothing."""
    for move in played.moves:
        spelled = msgspec.to_builtins(move.before)
        for command in beside(played, move):
            assert _refusal(played, move.before, command), f"{move.asked} took {command}"
        assert spelled == msgspec.to_builtins(move.before)


def a_hand_ends_once(played: Played) -> None:
    """Somebody is asked until `HandEnded`, which is the last event; then nothing is possible."""
    if played.hand.voided:
        assert isinstance(played.record[-1], HandVoided)
        return
    assert isinstance(played.record[-1], HandEnded)
    assert 1 == sum(isinstance(event, HandEnded) for event in played.record)
    for move in played.moves:
        assert not isinstance(move.asked, Over)
        assert move.after.over == isinstance(turn(played.game, move.after), Over)
        assert move.after.over == isinstance(move.events[-1], HandEnded)
    for command in (Check(0), Fold(0), Deal(()), Disconnect(0), TimeOut(0)):
        assert _refusal(played, played.hand, command), f"{command} after the end"


def whose_turn_it_is_stands_in_the_events(played: Played) -> None:
    """`next` names who is asked, never one who has folded; a raise goes beyond the bet."""
    for move in played.moves:
        now, asked = move.before.round, move.asked
        if isinstance(asked, ToAct):
            assert now is not None
            assert now.next == asked.seat
            assert move.before.standing[asked.seat] != "folded"
            if asked.raise_min is not None and asked.raise_max is not None:
                assert now.bet < asked.raise_min <= asked.raise_max


def events_survive_bytes_and_lines(played: Played) -> None:
    """Every event comes back from its canonical bytes and from its spoken line."""
    for event in played.record:
        assert event == decode(encode(event))
        assert event == read(say(event))


def the_same_start_begins_alike(played: Played) -> None:
    """Nothing but its arguments goes into a hand."""
    start = played.record[0]
    assert isinstance(start, HandStarted)
    again = begin(played.game, start.hand, start.button, start.players, start.stacks)
    twice = begin(played.game, start.hand, start.button, start.players, start.stacks)
    assert again == twice


LAWS: tuple[Callable[[Played], None], ...] = (
    no_chip_is_made_or_lost,
    no_card_is_in_two_places,
    replay_equals_the_live_hand,
    audit_agrees_with_its_own_record,
    every_prefix_can_be_voided,
    a_seat_may_drop_out_at_any_question,
    a_card_that_nobody_saw_need_not_be_recorded,
    what_is_offered_is_accepted,
    what_is_not_offered_is_refused,
    a_hand_ends_once,
    whose_turn_it_is_stands_in_the_events,
    events_survive_bytes_and_lines,
    the_same_start_begins_alike,
)


def positions(played: Played) -> Iterator[Hand]:
    """The hand after every single event."""
    start = played.record[0]
    assert isinstance(start, HandStarted)
    hand = opened(start)
    yield hand
    for event in played.record[1:]:
        hand = evolve(hand, event)
        yield hand


def beside(played: Played, move: Move) -> Iterator[Command]:
    """Answers around the menu: one chip beyond a limit, the wrong seat, the wrong kind."""
    asked, hand, game = move.asked, move.before, played.game
    seats = len(hand.stacks)
    free = _unused(hand)
    other = (getattr(asked, "seat", 0) + 1) % seats
    seat = getattr(asked, "seat", 0)
    for stranger in (-1, seats):
        yield Disconnect(stranger)
        yield Reconnect(stranger)
    for gone in range(seats):
        yield Disconnect(gone) if gone in hand.absent else Reconnect(gone)
    if isinstance(asked, ToAct):
        yield from _beside_act(asked)
    elif not isinstance(asked, ToStraddle):
        yield Fold(seat)
    if not isinstance(asked, ToAct):
        yield from (Check(seat), Call(seat), Raise(seat, 2), Raise(seat, hand.stacks[seat]))
    if isinstance(asked, ToBid):
        yield Bid(seat, -1)
        if game.bid_max == "stack":
            yield Bid(seat, asked.bid_max + 1)
        if game.bids == "sealed":
            yield Bid(seat, 0, sealed=False)
    else:
        yield Bid(seat, 0)
    if isinstance(asked, ToDeal):
        yield from _beside_deal(hand, asked, free)
    else:
        yield Deal(free[:1])
        yield Deal(free[:3])
    if isinstance(asked, ToSwap):
        yield Swap((None,) * (len(asked.at_risk) + 1))
        yield Swap((free[0],) * len(asked.at_risk))
        yield Swap((hand.hole[0][0], *(None,) * (len(asked.at_risk) - 1)))
    else:
        yield Swap((None,))
    if isinstance(asked, ToDraw):
        yield from (Draw(("2",)), Draw(cast(tuple[Rank, ...], ("2", "1"))))
    else:
        yield Draw(("2", "3"))
    if isinstance(asked, ToShow):
        yield from _beside_show(hand, asked, free)
    else:
        yield from (Show(seat), Muck(seat), Announce(seat, free[:5]))
    if not isinstance(asked, ToStraddle):
        yield Straddle(seat)
    if not isinstance(asked, ToAct | ToStraddle) or game.time_out not in CLOCKED:
        yield TimeOut(seat)
    for wrong in (other, seats, -1):  # the right answer of the wrong seat
        for command in offered(game, hand, asked, free):
            if hasattr(command, "seat") and getattr(asked, "seat", wrong) != wrong:
                yield replace(command, seat=wrong)


def _beside_act(asked: ToAct) -> Iterator[Command]:
    seat, low, high = asked.seat, asked.raise_min, asked.raise_max
    if not asked.fold:
        yield Fold(seat)
    yield Call(seat) if asked.check else Check(seat)
    if low is None or high is None:
        yield from (Raise(seat, to) for to in (0, 1, 2, 10, 20, 400, 1000))
    else:
        yield from (Raise(seat, to) for to in (0, -1, low - 1, high + 1))


def _beside_deal(hand: Hand, asked: ToDeal, free: tuple[str, ...]) -> Iterator[Command]:
    yield Deal(())
    yield Deal(free[: asked.count - 1])
    yield Deal(free[: asked.count + 1])
    yield Deal((*free[: asked.count - 1], "Xx"))
    if asked.count > 1:
        yield Deal((free[0],) * asked.count)
    for held in (*hand.hole, hand.board, hand.discards):
        if held:
            yield Deal((*free[: asked.count - 1], held[0]))


def _beside_show(hand: Hand, asked: ToShow, free: tuple[str, ...]) -> Iterator[Command]:
    seat = asked.seat
    if not asked.may_muck:
        yield Muck(seat)
    if asked.announce:
        yield Announce(seat, (*hand.hole[seat], *free)[:5])
        yield Announce(seat, (*hand.hole[seat], *hand.board)[:4])
        yield Announce(seat, (hand.board[0], *hand.hole[seat], *hand.board)[:5])
    else:
        yield Show(seat, hand.hole[seat][:1])
        yield Show(seat, free[: len(hand.hole[seat])])


def _refusal(played: Played, hand: Hand, command: Command) -> str:
    """The sentence that refuses a command; empty if it is taken."""
    try:
        decide(played.game, hand, command)
    except IllegalCommand as refusal:
        return str(refusal)
    return ""


def _unused(hand: Hand) -> tuple[str, ...]:
    """The rest of the deck."""
    held = {*hand.board, *hand.discards, *(card for hole in hand.hole for card in hole)}
    return tuple(card for card in DECK if card not in held)

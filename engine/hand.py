"""Begin a hand, ask whose turn it is, and turn an answer into events.

The script walks: a step that is done is left, the next one entered, until somebody must answer
or the hand is over. Rules decide here and in the steps; `evolve` only counts what they decided.
"""

from engine.game import Game, fingerprint
from engine.seats import is_alone
from engine.settle import settle
from engine.steps.betting import folded_all_in
from engine.steps.forced import posted
from engine.turn import Command, Disconnect, Fold, IllegalCommand, Over, Post, Reconnect, Turn
from events.evolve import evolved, round_of
from events.state import Hand, opened
from events.types import Disconnected, Event, Events, HandEnded, HandStarted, Reconnected

_CONNECTIONS = (Disconnect, Reconnect)  # made once, for every answer asks


def begin(
    game: Game,
    hand_id: str,
    button: int,
    players: tuple[str, ...],
    stacks: tuple[int, ...],
    posts: tuple[Post, ...] = (),
    dead_small: bool = False,
) -> tuple[Events, Hand]:
    """The events that open a hand, up to the first question, and the hand they make."""
    _seatable(game, button, players, stacks)
    if dead_small and not any(getattr(step, "small", 0) for step in game.script):
        raise IllegalCommand(f"{game.name} has no small blind that could be left out")
    rules = fingerprint(game)
    start = HandStarted(hand_id, game.name, rules, button, players, stacks, dead_small)
    events: list[Event] = [start]
    hand = opened(start)
    hand = _fold(events, hand, game.script[0].enter(game, hand, 0))
    for post in posts:
        hand = _fold(events, hand, (_post(game, hand, post),))
    if not game.script[0].done(game, hand):
        return tuple(events), hand
    return _walk(game, hand, events, 0)


def turn(game: Game, hand: Hand) -> Turn:
    """The turn that the hand waits for."""
    return Over() if hand.over else game.script[hand.step].turn(game, hand)


def to_act(hand: Hand) -> int | None:
    """The seat that a betting round waits for, else None; `turn` says what it may do."""
    return None if hand.round is None else hand.round.next


def decide(game: Game, hand: Hand, command: Command) -> Events:
    """The events that an answer makes; an illegal one is refused and changes nothing."""
    if hand.over:
        raise IllegalCommand("the hand is over: nothing more can happen in it")
    if isinstance(command, _CONNECTIONS):
        return (_connection(hand, command),)
    if type(command) is Fold and (folded := folded_all_in(game, hand, command)):
        return (folded,)
    return game.script[hand.step].decide(game, hand, command)


def step(game: Game, hand: Hand, command: Command) -> tuple[Events, Hand]:
    """An answer and all that follows from it, up to the next question or the end."""
    new = decide(game, hand, command)
    hand = evolved(hand, new)
    at = hand.step
    is_over = type(command) is Fold and is_alone(hand)  # also between rounds (G8)
    if not is_over and not game.script[at].done(game, hand):  # most answers lead to a question
        return new, hand
    return _walk(game, hand, list(new), at)


def _walk(game: Game, hand: Hand, events: list[Event], at: int) -> tuple[Events, Hand]:
    """Walk the script from a finished step to the next question, or to the end of the hand."""
    script = game.script
    while True:
        if left := script[at].leave(game, hand):
            hand = _fold(events, hand, left)
        at += 1
        if at == len(script):
            break
        if is_alone(hand):  # the last contender wins unseen (G17)
            hand = _fold(events, hand, settle(game, hand))
            break
        if entered := script[at].enter(game, hand, at):
            hand = _fold(events, hand, entered)
        if not script[at].done(game, hand):
            return tuple(events), hand
    hand = _fold(events, hand, (HandEnded(),))
    return tuple(events), hand


def _fold(events: list[Event], hand: Hand, new: Events) -> Hand:
    events += new
    return evolved(hand, new)


def _seatable(game: Game, button: int, players: tuple[str, ...], stacks: tuple[int, ...]) -> None:
    """A hand needs seats the game can deal to, each with a name and at least one chip."""
    seats = len(stacks)
    if not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise IllegalCommand(f"{game.name} seats {allowed} players, not {seats}")
    if len(players) != seats:
        raise IllegalCommand(f"{seats} stacks need {seats} players, not {len(players)}")
    if not 0 <= button < seats:
        raise IllegalCommand(f"the button is at one of the seats 0..{seats - 1}, not at {button}")
    for seat, stack in enumerate(stacks):
        if stack < 1:
            raise IllegalCommand(f"seat {seat} brings {stack} chips: a seat needs at least one")


def _post(game: Game, hand: Hand, post: Post) -> Event:
    """A newcomer's big blind, live (M2), and what he missed, dead (M3); no ante stops them."""
    seat = post.seat
    if not 0 <= seat < len(hand.stacks):
        raise IllegalCommand(f"seat {seat} may not post: there are {len(hand.stacks)} seats")
    if hand.dead[seat] if post.kind == "dead" else round_of(hand).bets[seat]:
        raise IllegalCommand(f"seat {seat} may not post: it has put in its blind already")
    if not hand.stacks[seat]:
        raise IllegalCommand(f"seat {seat} may not post: it has nothing left")
    small, big = (max(getattr(step, of, 0) for step in game.script) for of in ("small", "big"))
    if not big:
        raise IllegalCommand(f"seat {seat} may not post: {game.name} has no big blind")
    amount = big if post.amount is None else post.amount
    allowed = (small, big, hand.stacks[seat]) if post.kind == "dead" else (big,)
    if amount not in allowed:
        raise IllegalCommand(f"seat {seat} may post the blind of {big}, not {amount}")
    return posted(game, seat, amount, hand.stacks[seat], post.kind)


def _connection(hand: Hand, command: Disconnect | Reconnect) -> Event:
    """A seat that is there can leave, and one that is gone can come back."""
    seat = command.seat
    if not 0 <= seat < len(hand.stacks):
        raise IllegalCommand(f"there is no seat {seat}: the seats are 0..{len(hand.stacks) - 1}")
    leaves, is_gone = isinstance(command, Disconnect), seat in hand.absent
    if leaves == is_gone:
        how = "disconnected already" if is_gone else "not disconnected"
        raise IllegalCommand(f"seat {seat} is {how}")
    return Disconnected(seat) if leaves else Reconnected(seat)

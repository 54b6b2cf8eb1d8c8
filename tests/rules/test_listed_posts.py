"""What a foreign file lists for each position: dead antes, blinds, straddles, posts."""

from msgspec.structs import replace

from engine.audit import audit
from engine.game import Game
from engine.games import RULESETS
from engine.games.site import script
from engine.hand import begin, step
from engine.steps import Posts
from engine.turn import Call, Check, Command, Deal, Fold
from events import types as t
from events.cards import cards
from events.types import Events


def listed(posts: Posts) -> Game:
    seats = len(posts.antes)
    steps = (posts, *script(0, 0, 2, 2)[1:])
    return replace(RULESETS["phh-nt"], script=steps, seats_min=seats, seats_max=seats, muck="never")


def forced(posts: Posts, *stacks: int) -> list[tuple[int, int, str]]:
    """Seat 0 sits left of the button."""
    button = len(stacks) - 1
    names = tuple("abcdef"[: len(stacks)])
    events, _ = begin(listed(posts), "h", button, names, stacks)
    posted = [e for e in events if isinstance(e, t.AntePosted | t.BlindPosted)]
    return [(e.seat, e.amount, getattr(e, "kind", "ante")) for e in posted]


def test_blinds_come_smallest_first_then_straddles_then_posts() -> None:
    posts = Posts((0, 0, 0, 0), (1, 2, 4, -2), dead=True)
    said = [(0, 1, "small"), (1, 2, "big"), (2, 4, "straddle"), (3, 2, "post")]
    assert said == forced(posts, 9, 9, 9, 9)
    assert (1, 2) == (posts.small, posts.big)


def test_of_two_players_the_button_posts_the_smaller() -> None:
    assert [(1, 1, "small"), (0, 2, "big")] == forced(Posts((0, 0), (2, 1), dead=True), 9, 9)


def test_a_lone_blind_is_a_big_one() -> None:
    posts = Posts((0, 0, 0), (0, 2, 0), dead=True)
    assert [(1, 2, "big")] == forced(posts, 9, 9, 9)
    assert (0, 2) == (posts.small, posts.big)


def test_antes_are_dead_or_a_stake_and_cut_by_the_stack() -> None:
    antes = (0, 3, 0)
    dead = forced(Posts(antes, (1, 2, 0), dead=True), 9, 4, 9)
    assert [(1, 3, "dead"), (0, 1, "small"), (1, 1, "big")] == dead
    stake = forced(Posts(antes, (1, 2, 0), dead=False), 9, 4, 9)
    assert [(1, 3, "ante"), (0, 1, "small"), (1, 1, "big")] == stake


def test_a_big_blind_with_nothing_left_is_owed_all_the_same() -> None:
    posted = forced(Posts((0, 3, 0), (1, 2, 0), dead=True), 9, 2, 9)
    assert [(1, 2, "dead"), (0, 1, "small"), (1, 0, "big")] == posted


def played(posts: Posts, stacks: tuple[int, ...], *commands: Command) -> Events:
    game = listed(posts)
    events, hand = begin(game, "h", len(stacks) - 1, tuple("abcdef"[: len(stacks)]), stacks)
    record = list(events)
    for command in commands:
        events, hand = step(game, hand, command)
        record.extend(events)
    assert hand.over
    assert audit(game, tuple(record)) is None
    return tuple(record)


def test_nothing_of_a_dead_ante_goes_back() -> None:
    record = played(
        Posts((0, 3, 0), (1, 2, 0), dead=True),
        (9, 9, 9),
        Deal(cards("Ac Kc Qc Ad Kd Qd")),
        Fold(2),
        Call(0),
        Check(1),
        Deal(cards("2h 3h 4h")),
        Check(0),
        Check(1),
        Deal(cards("9s")),
        Check(0),
        Check(1),
        Deal(cards("Ts")),
        Check(0),
        Check(1),
    )
    assert t.PotSplit(0, (0,), (7,)) in record
    assert not [event for event in record if isinstance(event, t.UncalledReturned)]


def test_who_is_all_in_for_a_dead_ante_alone_may_win_the_antes() -> None:
    """It put nothing into any layer of stakes, so the antes are a pot before them (G6)."""
    record = played(
        Posts((3, 3, 3), (1, 2, 0), dead=True),
        (9, 9, 3),
        Deal(cards("Kc Qc Ac Kd Qd Ad")),
        Call(0),
        Check(1),
        Deal(cards("2h 3h 4h")),
        Check(0),
        Check(1),
        Deal(cards("9s")),
        Check(0),
        Check(1),
        Deal(cards("Ts")),
        Check(0),
        Check(1),
    )
    assert t.PotSplit(0, (2,), (9,)) in record
    assert t.PotSplit(1, (0,), (4,)) in record

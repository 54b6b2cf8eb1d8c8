"""Lines of gamelogs read many at a time say what each says by itself."""

import re
from itertools import product

import pytest

from events.cards import DECK
from formats.mit import lines as say
from formats.mit.grammar import BIDS, NO_AUCTION, Patterns
from formats.mit.lines import LineTable

STREETS = {"Flop": (say.FLOP, 3), "Turn": (say.TURN, 4), "River": (say.RIVER, 5)}
VERBS = {
    "folds": say.FOLD,
    "checks": say.CHECK,
    "calls": say.CALL,
    "bets": say.BET,
    "raises to": say.RAISE,
    "bids": say.BID,
}
SWELL = {say.BET, say.RAISE, say.BID}  # an amount follows
HELD = {"hand": say.HAND, "won": say.WON, "shows": say.SHOWS}
Row = tuple[str, int, int, int, int, tuple[int, ...]]
STRANGE: Row = (say.UNKNOWN_LINE, 0, 0, 0, 0, (-1,) * 5)


def alone(names: Patterns, line: str) -> Row:
    """What one line says, by the patterns of the grammar, each for itself."""
    seat = names.both.index
    if (found := names.round.fullmatch(line)) and found[2] != found[4]:
        return told(say.ROUND, seat(found[2]), int(found[1]), int(found[3]), int(found[5]))
    if found := names.blind.fullmatch(line):
        return told(say.POST, seat(found[1]), int(found[2]))
    if (found := names.dealt.fullmatch(line)) and found[2].count(" ") == 1:
        return told(say.DEALT, seat(found[1]), cards=found[2])
    if found := BIDS.fullmatch(line):
        return told(say.BIDS_NOTED, 0, int(found[1]), int(found[2]))
    if line == NO_AUCTION:
        return told(say.NO_BIDS_NOTED, 0)
    return within(names, line)


def within(names: Patterns, line: str) -> Row:
    seat, found = names.both.index, names.line.fullmatch(line)
    if found is None:
        return STRANGE
    kind, log = found.lastgroup or "", [it for it in found.groups() if it is not None][1:]
    if kind in HELD:
        return told(HELD[kind], seat(log[0]), cards=log[1])
    if kind == "act" and (VERBS[log[1]] in SWELL) == (len(log) == 3):
        return told(VERBS[log[1]], seat(log[0]), int(log[2]) if len(log) == 3 else 0)
    if kind == "award":
        return told(say.AWARD, seat(log[0]), int(len(log) == 3), int(log[-1]))
    if kind == "street" and log[2] != log[4]:
        letter, count = STREETS[log[0]]
        if len(log[1].split()) == count:
            return told(letter, seat(log[2]), int(log[3]), int(log[5]), cards=log[1])
    return STRANGE


def told(letter: str, seat: int, *numbers: int, cards: str = "") -> Row:
    one, two, three = (
        max(-say.NUMBER_MAX, min(it, say.NUMBER_MAX)) for it in (*numbers, 0, 0, 0)[:3]
    )
    places = [DECK.index(card) for card in cards.split()]
    return letter, seat, one, two, three, (*places, *(-1,) * (5 - len(places)))


def lines_of(one: str, other: str) -> list[str]:
    """Every kind of line, and what is nearly one."""
    boards = ("Js Kc 2d", "Js Kc 2d 8s", "Js Kc 2d 8s Qs", "Js Kc", "Js Kc 2d 8s Qs As", "Js Kx 2d")
    sizes = ("0", "7", "4294967296", "07", "-3", "1" * 15, "1" * 16)
    found = ["", "Round", NO_AUCTION, f"{NO_AUCTION} ", "Players submitted bids of 4 and 10"]
    found += [f"Players submitted bids of {it} and 4" for it in sizes]
    for who, whom in product((one, other, "nobody"), repeat=2):
        for size in sizes:
            found += [f"Round #{size}, {who} ({size}), {whom} (4)"]
            found += [f"Flop [Js Kc 2d], {who} ({size}), {whom} (26)"]
        for street, board in product((*STREETS, "Lake"), boards):
            found += [f"{street} [{board}], {who} (2), {whom} (26)"]
    for who in (one, other, "nobody"):
        for size in sizes:
            found += [f"{who} {verb} {size}" for verb in (*VERBS, "posts the blind of", "mucks")]
            found += [f"{who} awarded {size}", f"{who} (swapped) awarded {size}"]
        found += [
            f"{who} {verb}" for verb in (*VERBS, "awarded", "disconnected", "ran out of time")
        ]
        for cards in ("As", "As Kd", "As Kd 2c", "As Kd 2c 2d", "Ax Kd"):
            found += [f"{who} {log} [{cards}]" for log in ("dealt", "shows", "holds")]
            found += [f"{who}'s hand: [{cards}]"]
            found += [f"{who} won the auction and was dealt [{cards}]"]
        found += [f"{who} attempted illegal RaiseAction with amount 7"]
        found += [f"{who} response misformatted: {it}" for it in ("", "R", "x]", "checks 7")]
    return found


@pytest.mark.parametrize(
    "both",
    [
        ("bot 0-0", "bot 0-1"),
        ("a", "aa"),
        ("a", "a bids"),
        ("Flop [Js Kc 2d], a", "a"),
        ("[x](y)", "x) (7), z"),
        ("é\\d.*", "7"),
    ],
)
def test_lines_read_together_say_what_each_says_alone(both: tuple[str, str]) -> None:
    names = Patterns(*both)
    lines = list(dict.fromkeys(lines_of(*both)))
    known = LineTable(names)
    half = known.codes(lines[::2])  # some are known, some are new
    codes = known.codes(lines + lines[::-1])
    assert half.tolist() == codes[: len(lines) : 2].tolist()
    assert len(lines) == len(known)
    log = known.log(codes)
    columns = (log.seat, log.first, log.second, log.third, log.cards)
    rows = zip(known.letters(codes).decode(), *(it.tolist() for it in columns), strict=True)
    for line, (letter, *numbers, cards) in zip(lines + lines[::-1], rows, strict=True):
        if letter != say.UNKNOWN_LINE:  # of a strange line nobody asks more
            assert alone(names, line) == (letter, *numbers, tuple(cards)), line
        else:
            assert STRANGE == alone(names, line), line


def test_a_reply_that_quotes_a_line_is_no_line_of_an_undisturbed_hand() -> None:
    """Where a name ends as a bad reply begins, a reply may be read as another kind of line: one
    that stands elsewhere in a hand, so the hand is as disturbed as it is."""
    names = Patterns("a", "a response misformatted: b")
    known = LineTable(names)
    usual = ["Round #1, a (0), {0} (0)", "a posts the blind of 1", "{0} posts the blind of 2"]
    usual += ["a dealt [As Kd]", "{0} dealt [2c 2d]", "a folds", "a awarded -1", "{0} awarded 1"]
    lines = [line.format(names.both[1]) for line in usual]
    for place in range(5, 8):
        there = [*lines[:place], "a response misformatted: b dealt [7s 7h]", *lines[place:]]
        assert not re.fullmatch(say.UNDISTURBED, known.letters(known.codes(there)).decode())
    assert re.fullmatch(say.UNDISTURBED, known.letters(known.codes(lines)).decode())

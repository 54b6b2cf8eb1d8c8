"""Read the hands of a PokerStars text one by one; one that cannot be read is left out.

A hand is in whole units of its money: seats, cards, choices, sums.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from itertools import chain, islice
from math import gcd

from msgspec.structs import replace

from engine.games.imported import POKERSTARS_NL
from events.cards import UNKNOWN, Cards
from formats.fitted_rake import MONEY_SIGNS, HouseRake, HouseRakes, RakeSample, fitted_rakes
from formats.pokerstars.chips import contributions, game_as_paid, matching_forced_bets, payment
from formats.pokerstars.grammar import (
    ActionLine,
    CardsLine,
    PostLine,
    Totals,
    Unreadable,
    totals,
)
from formats.pokerstars.parsed_hand import ParsedHand, PlayerLine, Street, parse_hand
from formats.pokerstars.text import SUMMARY, HandLines, hand_lines
from formats.rakes import (
    CURRENCIES,
    LIMITS,
    NAME_MAX,
    ListedRake,
    RakeKey,
    UnlistedRake,
    look_up_rake,
)
from formats.source import (
    AS_READ,
    Act,
    Board,
    Holds,
    ImportRules,
    Item,
    Mucks,
    Refused,
    Shows,
    Skipped,
    SourceFile,
    SourceHand,
    Text,
)

CHIPS_MAX = 10**12
KEPT = 2_000  # hands: in a text of fewer they are looked for once
_NOTHING = "no PokerStars hand begins in this text"

_MOVING = (PostLine, ActionLine)
_CASH_UNITS = {"€": "euro cent", "£": "penny"}
_CHIP_UNITS = {100: "chip", 50: "half chip"}
_CENT = 100  # hundredths of a chip, where the stakes have no sign
_STAKES = re.compile(r": +(?:\{[^}]*\} +)?(?!Tournament )(.*?\([^)]*\))")
_SAT_OUT = ("sitting out", "out of hand")


def read(
    text: Text,
    houses: HouseRakes | None = None,
    site: str = "pokerstars",
    rules: ImportRules = AS_READ,
) -> SourceFile:
    """The text looked through once, then given out hand by hand; refused if it is damaged, or if
    no hand begins in it.

    A part of a text has the houses of the whole; a rake that was set is that of every stake.
    GGPoker writes as PokerStars does; whatever the format is called, a hand is put to the rules of
    the site that its first line names.
    """
    pieces = hand_lines(text)
    kept = tuple(islice(pieces, KEPT))
    every = (block for block in chain(kept, pieces) if isinstance(block, HandLines))
    first = next(every, None)
    if first is None:
        for block in kept:
            if isinstance(block, Skipped):  # a hand of another site
                raise Refused(block.line, block.reason)
        raise Refused(1, _NOTHING)
    surveyed = survey(chain((first,), every), rules, site)  # which also finds all damage
    houses = surveyed if houses is None else houses
    hands = _hands(kept if len(kept) < KEPT else hand_lines(text), houses)
    return SourceFile(format=site, hands=hands)


def house_rakes(text: Text, rules: ImportRules) -> HouseRakes:
    """The houses of this text, and how much rake each takes."""
    return survey(
        (block for block in hand_lines(text) if isinstance(block, HandLines)), rules, "pokerstars"
    )


def _hands(
    pieces: Iterable[HandLines | Skipped], houses: HouseRakes
) -> Iterator[SourceHand | Skipped]:
    for number, block in enumerate(pieces, 1):
        if isinstance(block, Skipped):
            yield block
            continue
        try:
            reading = parse_hand(block.lines)
            hand = source_hand(reading, number, block.line, houses, stakes_of(block))
            text = "\n".join(block.lines).rstrip()
            yield replace(hand, text=text, site=reading.header.site)
        except Unreadable as reason:
            yield Skipped(block.line, str(reason))


def survey(blocks: Iterable[HandLines], rules: ImportRules, site: str) -> HouseRakes:
    """The houses of a text, which is looked through to its end whatever is asked."""
    return fitted_rakes(filter(None, map(_rake_sample, blocks)), rules, site)


def stakes_of(block: HandLines) -> str:
    """Game and stakes of the header; of a tournament, which pays no rake by the hand, nothing."""
    match = _STAKES.search(block.lines[0])
    return match[1] if match else ""


def _rake_sample(block: HandLines) -> tuple[str, RakeSample] | None:
    """The sums of a hand for money, as its summary prints them."""
    stakes, sums = stakes_of(block), None
    for line in block.lines:
        if sums is None and line.startswith("Total pot "):
            with suppress(Unreadable):
                sums = totals(line.strip())
    if not stakes or sums is None:
        return None
    per = 1 if any(sign in stakes for sign in MONEY_SIGNS) else _CENT
    if sums.total % per or sums.rake % per:
        return None
    flop = any(line.startswith("*** FLOP") for line in block.lines)
    # The seats of the summary, if it names those who folded; else those who do not sit out.
    summed = block.lines.index(SUMMARY) if SUMMARY in block.lines else 0
    ended = [line for line in block.lines[summed:] if line.startswith("Seat ")]
    seats = len(ended)
    if not summed or not any(" folded " in line for line in ended):
        chairs = (line for line in block.lines if line.startswith("Seat ") and " in chips" in line)
        seats = sum(not any(out in line for out in _SAT_OUT) for line in chairs)
    return stakes, RakeSample(seats, flop, sums.total // per, sums.rake // per)


def source_hand(
    hand: ParsedHand, number: int, line: int, houses: HouseRakes, stakes: str
) -> SourceHand:
    """The hand in whole units of its money, or `Unreadable` with the reason why not."""
    # So many hundredths has the unit: a cent of cash; a chip, or the part of one that occurs.
    if hand.header.sign:
        grain, unit = 1, _CASH_UNITS.get(hand.header.sign, "cent")
    else:
        grain = gcd(100, *_amounts(hand))
        grain = grain if grain in _CHIP_UNITS else 1
        unit = _CHIP_UNITS.get(grain, "hundredth of a chip")
    names = dealt_in(hand)
    house = _house_rake(houses, stakes, hand, len(names))
    hand = _in_units(hand, grain)
    stacks = tuple(chair.stack for chair in hand.chairs if chair.name in names)
    if not 2 <= len(names) <= POKERSTARS_NL.seats_max:
        raise Unreadable(f"{len(names)} players are dealt in")
    if 0 in stacks:
        raise Unreadable(f"{names[stacks.index(0)]} plays without chips")
    seats = {name: seat for seat, name in enumerate(names)}
    forced = matching_forced_bets(hand, seats, stacks, unit)
    money = contributions(hand, seats, stacks, forced)
    paid = payment(hand, seats, money)
    if grain == 50 and isinstance(house, HouseRake) and house.rake.percent:
        house = None
    game, assumed = game_as_paid(hand, forced.game, money, paid, house)
    if _folded_all_in(hand):
        game = replace(game, forced_all_in="may_fold")
        assumed = (*assumed, "absent: who sits out folds, also all-in by blind or ante")
    return SourceHand(
        game=game,
        number=number,
        line=line,
        source_id=hand.header.source_id,
        button=forced.button,
        players=names,
        stacks=stacks,
        items=_items(hand, seats),
        posts=forced.posts,
        dead_small=forced.dead_small,
        paid=paid.paid,
        nets=paid.nets,
        rake=hand.totals.rake,
        inferred=(
            *forced.inferred,
            *(house.noted(assumed) if isinstance(house, UnlistedRake) else ()),
        ),
        assumed=(*forced.assumed, *assumed),
        played=hand.header.played,
    )


def _house_rake(
    houses: HouseRakes, stakes: str, hand: ParsedHand, seats: int
) -> HouseRake | ListedRake | UnlistedRake | None:
    """The house of this hand, of so many dealt in; a tournament takes no rake by the hand."""
    header = hand.header
    if header.tournament:
        return None
    if houses.source == "fitted":
        return houses.by_stakes.get(stakes)
    if hand.totals.fees:
        return UnlistedRake("fees beside the rake are taken of this pot, which no row tells")
    flop = next((at for at, line in enumerate(hand.lines) if isinstance(line, Street)), None)
    before = [line.what for line in hand.lines[:flop] if isinstance(line, PlayerLine)]
    raises = sum(isinstance(deed, ActionLine) and deed.verb == "raises" for deed in before)
    question = RakeKey(
        site=header.room[:NAME_MAX],
        currency=header.currency or CURRENCIES.get(header.sign, ""),
        limit=LIMITS[header.limit],
        stakes=(header.low, header.high),
        table="cap" if header.capped else "fast" if header.fast else "regular",
        players=seats,
        day=date.fromisoformat(header.played[:10]) if header.played else None,
        flop=flop is not None,
        reraised=raises > 1,
    )
    return look_up_rake(question, houses.source)


def _folded_all_in(hand: ParsedHand) -> bool:
    """Whether somebody folds who is said to sit out, and whose blinds and antes took all he had.

    That is the site's own answer, by which others win what he could have: no rules of ours say so.
    """
    left = {chair.name: chair.stack for chair in hand.chairs if chair.out}
    for line in hand.lines:
        if isinstance(line, PlayerLine) and line.name in left:
            match line.what:
                case PostLine(amount=amount):
                    left[line.name] -= amount
                case ActionLine(verb="folds"):
                    if not left[line.name]:
                        return True
                case _:
                    del left[line.name]
    return False


def _items(hand: ParsedHand, seats: dict[str, int]) -> tuple[Item, ...]:
    """Cards that are known from anywhere in the text come first, then everything in order."""
    held: dict[str, Cards] = {}
    for name, known in hand.known:
        if len(known) > 2:
            raise Unreadable(f"{name} holds {len(known)} cards")
        if name not in held or not _all_known(held[name]):
            held[name] = (*known, UNKNOWN, UNKNOWN)[:2]
        elif not {*known, UNKNOWN} <= {*held[name], UNKNOWN}:
            raise Unreadable(f"{name} holds {' '.join(held[name])}, and then {' '.join(known)}")
    items: list[Item] = [Holds(seats[name], hole) for name, hole in held.items()]
    for line in hand.lines:
        match line:
            case PlayerLine(name=name, what=ActionLine(verb="folds"), late=late):
                items.append(Act(seats[name], "fold", default=late))
            case PlayerLine(name=name, what=ActionLine(verb="checks"), late=late):
                items.append(Act(seats[name], "check", default=late))
            case PlayerLine(name=name, what=ActionLine(verb="calls", amount=amount)):
                items.append(Act(seats[name], "call", amount=amount))
            case PlayerLine(name=name, what=ActionLine(amount=amount)):
                items.append(Act(seats[name], "raise", to=amount))
            case Street(cards=cards):
                items.append(Board(cards))
            case PlayerLine(name=name, what=CardsLine(cards=None)):
                items.append(Mucks(seats[name]))
            case PlayerLine(name=name, what=CardsLine(cards=cards)) if cards and _all_known(cards):
                items.append(Shows(seats[name], cards))
    return tuple(items)


def _all_known(cards: Cards) -> bool:
    return len(cards) == 2 and UNKNOWN not in cards


# Units and seats.


def _amounts(hand: ParsedHand) -> Iterable[int]:
    yield from (chair.stack for chair in hand.chairs)
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, _MOVING):
            yield line.what.amount
            if isinstance(line.what, ActionLine):
                yield line.what.over
    yield from (amount for _, amount in hand.back)
    yield from (take.amount for _, take in hand.takes)
    yield from (hand.header.low, hand.header.high)
    yield from (hand.totals.total, hand.totals.rake, *hand.totals.parts)


def _in_units(hand: ParsedHand, grain: int) -> ParsedHand:
    """The hand with every amount divided by the grain."""
    if max(_amounts(hand)) // grain > CHIPS_MAX:
        raise Unreadable("an amount is larger than any table has held")
    if grain == 1:
        return hand
    header, totals = hand.header, hand.totals
    lines: list[PlayerLine | Street] = []
    for line in hand.lines:
        if isinstance(line, PlayerLine) and isinstance(line.what, _MOVING):
            deed = replace(line.what, amount=line.what.amount // grain)
            if isinstance(deed, ActionLine):
                deed = replace(deed, over=deed.over // grain)
            line = replace(line, what=deed)
        lines.append(line)
    return replace(
        hand,
        header=replace(header, low=header.low // grain, high=header.high // grain),
        chairs=tuple(replace(chair, stack=chair.stack // grain) for chair in hand.chairs),
        lines=tuple(lines),
        back=tuple((name, amount // grain) for name, amount in hand.back),
        takes=tuple(
            (name, replace(take, amount=take.amount // grain)) for name, take in hand.takes
        ),
        totals=Totals(
            totals.total // grain,
            tuple(part // grain for part in totals.parts),
            totals.rake // grain,
        ),
    )


def dealt_in(hand: ParsedHand) -> tuple[str, ...]:
    """Players who post, act, hold cards or are paid, in the order of seats; others sit out."""
    present = {line.name for line in hand.lines if isinstance(line, PlayerLine)}
    present.update(name for name, _ in (*hand.known, *hand.takes))
    return tuple(chair.name for chair in hand.chairs if chair.name in present)

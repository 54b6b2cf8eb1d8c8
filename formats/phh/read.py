"""Read a PHH file: one hand of a `.phh`, or the tables of a `.phhs` one by one.

The rules of a hand are stakes that its fields name, and habits that only its record shows.
Positions are counted from the left of the button, so the button is the last seat. The order of
forced bets is the trap: between two players they are written small blind first, but it is the
last player who posts the small one.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any, TypeVar

from msgspec.structs import replace

from engine.audit import audit
from engine.game import Game
from engine.games.imported import PHH_FT, PHH_NT
from engine.games.site import script
from engine.policies import Rake, per_chip
from engine.steps import Blinds, Posts
from events.match import SourceNoted
from formats.fitted_rake import capped_rates
from formats.hand_records import hand_record
from formats.phh.actions import BettingState, ParsedActions, parse_actions, state_after_blinds
from formats.phh.documents import documents, is_header, is_many, table_texts
from formats.phh.fields import (
    FIELDS_OF_EVENTS,
    ChipUnit,
    Document,
    MalformedField,
    amounts,
    boolean,
    canonical_text,
    chip_unit,
    hand_identity,
    is_unknown,
    known_amounts,
    least_bets,
    numbering_place,
    played_at,
    player_names,
    stack_changes,
    text_list,
    toml_value,
)
from formats.rakes import (
    CURRENCIES,
    NAME_MAX,
    ListedRake,
    RakeFrom,
    RakeKey,
    UnlistedRake,
    look_up_rake,
)
from formats.source import (
    Act,
    Board,
    Mucks,
    Refused,
    Shows,
    Skipped,
    SourceFile,
    SourceHand,
    Text,
    decoded_if_small,
    lines,
)

AnySourceHand = TypeVar("AnySourceHand", bound=SourceHand)

VARIANTS = {
    "FT": "fixed-limit hold'em",
    "NT": "no-limit hold'em",
    "NS": "no-limit short-deck hold'em",
    "PO": "pot-limit Omaha hold'em",
    "FO/8": "fixed-limit Omaha hold'em high/low-split eight or better",
    "F7S": "fixed-limit seven card stud",
    "F7S/8": "fixed-limit seven card stud high/low-split eight or better",
    "FR": "fixed-limit razz",
    "N2L1D": "no-limit deuce-to-seven lowball single draw",
    "F2L3D": "fixed-limit deuce-to-seven lowball triple draw",
    "FB": "fixed-limit badugi",
}


class PhhHand(SourceHand, frozen=True, kw_only=True):
    """A hand with what no event carries: other fields in the note's header, commentary below."""

    note: SourceNoted


def read(
    text: Text, game: Game | None = None, unit: ChipUnit | None = None, rakes: RakeFrom = "fitted"
) -> SourceFile:
    """The file taken apart; under the rules of `game`, if one is named, else those of PHH.

    A part of a file counts in the `unit` of the whole.
    """
    text = decoded_if_small(text)
    many = is_many(lines(text))
    if unit is None:
        unit = unit_of(text) if game is None else ChipUnit(game.unit, per_chip(game.unit))
    hands = _hands(text, many, unit, game, rakes)
    if many:
        return SourceFile(format="phh", dialect="phhs", hands=hands)
    hand = next(hands, None)
    if not isinstance(hand, PhhHand):
        raise Refused(*(hand.line, hand.reason) if hand else (1, "there is no hand in the file"))
    return SourceFile(
        format="phh",
        dialect="phh",
        players=hand.players,
        note=SourceNoted("phh", "phh", hand.note.header, hand.note.footer),
        inferred=hand.inferred,
        hands=(hand,),
    )


def unit_of(text: Text) -> ChipUnit:
    """The unit in which every amount of the file is a whole number."""
    return chip_unit(table_texts(lines(text)))


def _hands(
    text: Text, many: bool, unit: ChipUnit, game: Game | None, rakes: RakeFrom
) -> Iterator[PhhHand | Skipped]:
    for number, (line, fields) in enumerate(documents(lines(text), many), 1):
        if not fields:
            continue
        try:
            yield source_hand(fields, number, line, unit, game, rakes)
        except MalformedField as wrong:
            raise Refused(_line_of(wrong, text, line), str(wrong)) from None


def _line_of(wrong: MalformedField, text: Text, begun: int) -> int:
    """The line of the action or the field that the sentence names; else of its hand."""
    field = next((word for word in str(wrong).split() if word in FIELDS_OF_EVENTS), "")
    pattern = re.escape(wrong.near) if wrong.near else rf"\s*[\"']?{field}[\"']?\s*="
    find = re.compile(pattern).search if wrong.near else re.compile(pattern).match
    for number, line in enumerate(lines(text), 1):
        if number > begun and is_header(line):
            break
        if number >= begun and find(line):
            return number
    return begun


def by_seat(row: tuple[int, ...]) -> tuple[int, ...]:
    """Forced bets in the order of seats: of two players, the written order is the other way."""
    return row[::-1] if len(row) == 2 else row


def forced_bets(
    stacks: tuple[int, ...], antes: tuple[int, ...], blinds: tuple[int, ...], trimmed: bool
) -> Blinds | Posts:
    """Two blinds and an even ante, or whatever else the positions owe."""
    small, big = sorted(blinds[:2])
    ordered = blinds[:2] == ((big, small) if len(blinds) == 2 else (small, big))
    plain = small > 0 and ordered and not any(blinds[2:])
    even = len(set(antes)) == 1 and (trimmed or antes[0] <= min(stacks))
    if plain and even:
        return Blinds(small, big, antes[0])
    return Posts(antes, blinds, not trimmed)


@lru_cache(4096)
def game_of(base: Game | None, code: str, forced: Blinds | Posts, low: int, high: int) -> Game:
    """The corpus ruleset of that code at the stakes of the hand."""
    game = base or (PHH_FT if code == "FT" else PHH_NT)
    sizing = "fixed" if code == "FT" else "no_limit"
    if game.sizing != sizing:
        raise MalformedField(f"variant {code} is {sizing}: {game.name} plays {game.sizing}")
    return replace(game, script=(forced, *script(0, 0, low, high)[1:]))


@lru_cache(4096)
def _changed(game: Game, *changes: tuple[str, Any]) -> Game:
    return replace(game, **dict(changes))


def game_as_shown(
    game: Game, base: Game | None, money: ChipUnit, actions: ParsedActions, seats: int
) -> Game:
    """Unit, odd chips and the order of showing are what the file shows of them."""
    changes: list[tuple[str, Any]] = []
    if isinstance(game.script[0], Posts):
        changes += [("seats_min", seats), ("seats_max", seats)]
    if base is None:
        changes += [("unit", money.unit), ("odd_chips", money.odd_chips)]
        if actions.face_up:
            changes.append(("all_in_face_up", True))
        # Whether the last to bet or raise showed first, though another sits left of the button
        stay = actions.book.contenders()
        if bool(actions.shown) and actions.shown[0] == actions.book.aggressor != stay[0]:
            changes.append(("show_first", "last_aggressor"))
    return _changed(game, *changes) if changes else game


def is_split(hand: SourceHand, book: BettingState) -> bool:
    """Whether several seats got something back."""
    if hand.nets is None:
        return False
    back = (net + paid for net, paid in zip(hand.nets, book.paid, strict=True))
    return sum(won > 0 for won in back) > 1


def with_shown_split(hand: AnySourceHand) -> AnySourceHand:
    """Odd chips go as the result shows: one each, or as some programs do, all to the first."""
    if _decided_by_rules(hand):
        return hand
    game = _changed(hand.game, ("odd_chips", "first_left_all"))
    other = replace(hand, game=game, assumed=(*hand.assumed, "odd-chips all to the first"))
    return other if _decided_by_rules(other) else hand


def with_shown_rake(hand: AnySourceHand, shortfall: int) -> AnySourceHand:
    """The house may have stopped at a cap: then it took more of the first pots than that part."""
    if not shortfall or _decided_by_rules(hand):
        return hand
    flop = any(isinstance(item, Board) for item in hand.items)
    for rule in capped_rates(shortfall, no_flop=not flop):
        other = replace(hand, game=replace(hand.game, rake=rule))
        if _decided_by_rules(other):
            return other
    return hand


def _decided_by_rules(hand: SourceHand) -> bool:
    """Whether the rules decide this hand as its source has it."""
    try:
        return audit(hand.game, hand_record(hand, "")) is None
    except ValueError:  # no record at all: `hand_record` will say why
        return False


def site_rake(
    fields: Document,
    money: ChipUnit,
    blinds: tuple[int, ...],
    actions: ParsedActions,
    source: RakeFrom,
) -> ListedRake | UnlistedRake:
    """The rake of the hand by the table of known rakes, which are counted in cents."""
    if money.per != 100:
        return UnlistedRake(f"amounts are in {money.unit}s, and rakes are counted in cents")
    day = played_at(fields)[:10]
    items = actions.items
    flop = next((at for at, item in enumerate(items) if isinstance(item, Board)), None)
    raises = sum(isinstance(item, Act) and item.verb == "raise" for item in items[:flop])
    low, high = (
        least_bets(fields, money) if fields["variant"] == "FT" else sorted(map(abs, blinds[:2]))
    )
    symbol = CURRENCIES.get(str(fields.get("currency_symbol")), "")
    question = RakeKey(
        site=str(fields.get("venue", ""))[:NAME_MAX],
        currency=str(fields.get("currency", symbol))[:NAME_MAX],
        limit="fixed" if fields["variant"] == "FT" else "no",
        stakes=(low, high),
        players=len(blinds),
        day=date.fromisoformat(day) if day else None,
        flop=flop is not None,
        reraised=raises > 1,
    )
    return look_up_rake(question, source)


def missing_rake(rake: int, book: BettingState) -> Rake:
    """The part of the pot that is missing at the end; by which rule, one hand cannot tell."""
    *_, matched, most = sorted(book.paid)
    return Rake(percent=rake, of=sum(book.paid) - (most - matched), no_flop_no_drop=False)


def source_hand(
    fields: Document,
    number: int,
    line: int,
    money: ChipUnit,
    base: Game | None,
    rakes: RakeFrom = "fitted",
) -> PhhHand | Skipped:
    """The hand of these fields, or why it is left out; `MalformedField` if a field is wrong."""
    code = fields.get("variant")
    if code not in ("NT", "FT"):
        if code is None:
            raise MalformedField("the field variant is missing")
        if not isinstance(code, str) or code not in VARIANTS:
            raise MalformedField(f"variant is {code!r}: no code of the specification")
        game = f"variant {code} is {VARIANTS[code]}"
        return Skipped(line, f"{game}: only NT and FT, Texas hold'em, are read")
    stacks = amounts(fields, "starting_stacks", money, None)
    if stacks is None:
        return Skipped(line, "a stack is unknown (inf) and no bet tells how much it must be")
    seats = len(stacks)
    if not 2 <= seats <= 23:
        return Skipped(line, f"{seats} players: a hand has 2 to 23")
    if min(stacks) <= 0:
        raise MalformedField("starting_stacks must all be more than 0")
    antes = by_seat(known_amounts(fields, "antes", seats, money))
    blinds = by_seat(known_amounts(fields, "blinds_or_straddles", seats, money))
    if min(antes) < 0:
        raise MalformedField("antes must not be less than 0")
    trimmed = boolean(fields, "ante_trimming_status")
    actions = parse_actions(
        text_list(fields, "actions"), state_after_blinds(stacks, antes, blinds), money
    )
    mucked = fields.get("_mucked")
    if isinstance(mucked, list):  # our own: a hand thrown away after an all-in is shown before
        items = tuple(
            Mucks(item.seat) if isinstance(item, Shows) and item.seat + 1 in mucked else item
            for item in actions.items
        )
        actions = replace(actions, items=items, face_up=False)
    if actions.book.board > 5:
        return Skipped(line, f"{actions.book.board} cards on the board: it was run more than once")
    if not actions.book.is_complete():
        return Skipped(line, "the actions stop in the middle of the hand")
    house = None if rakes == "fitted" else site_rake(fields, money, blinds, actions, rakes)
    forced = forced_bets(stacks, antes, blinds, trimmed)
    return _source_hand(fields, number, line, money, base, actions, stacks, forced, house)


def _source_hand(
    fields: Document,
    number: int,
    line: int,
    money: ChipUnit,
    base: Game | None,
    actions: ParsedActions,
    stacks: tuple[int, ...],
    forced: Blinds | Posts,
    house: ListedRake | UnlistedRake | None,
) -> PhhHand | Skipped:
    shortfall = 0
    assumed = [
        f"stack {stacks[seat]} of seat {seat}"
        for seat, value in enumerate(fields["starting_stacks"])
        if is_unknown(value)
    ]
    nets = stack_changes(fields, stacks, money)
    rake = None if nets is None or sum(nets) > 0 else -sum(nets)
    low, high = least_bets(fields, money)
    game = game_of(base, fields["variant"], forced, low, high)
    game = game_as_shown(game, base, money, actions, len(stacks))
    if nets is not None and isinstance(house, ListedRake):
        assumed.append(house.assumed)
        game = replace(game, rake=house.rake)
    elif rake and game.rake is None:
        why = f": {house.reason}" if isinstance(house, UnlistedRake) else ""
        shortfall = rake
        assumed.append(f"shortfall {shortfall} is the house's{why}")
        game = replace(game, rake=missing_rake(rake, actions.book))
    if game.show_first == "last_aggressor" and base is None:
        assumed.append("showing from the last to bet or raise")
    players = player_names(fields, len(stacks))
    inferred = ["players"] if players is None else []
    inferred += ["mucks"] if actions.thrown else []
    if isinstance(house, UnlistedRake):
        inferred += house.noted(assumed)
    # Fields that no event carries, and the commentary of the actions, ready to be written.
    header = "".join(
        f"{toml_value(name, key=True)} = {toml_value(value)}\n"
        for name, value in fields.items()
        if name not in FIELDS_OF_EVENTS
    )
    footer = toml_value(list(actions.commentary)) if any(actions.commentary) else ""
    hand = PhhHand(
        game=game,
        number=number,
        line=line,
        source_id=hand_identity(fields),
        played=played_at(fields),
        button=len(stacks) - 1,
        players=players or tuple(f"p{seat + 1}" for seat in range(len(stacks))),
        stacks=stacks,
        items=actions.items,
        nets=nets,
        rake=rake,
        inferred=tuple(inferred),
        assumed=tuple(assumed),
        note=SourceNoted("phh", "phh", header, footer),
        text=canonical_text(fields, number),
        site=numbering_place(fields),
    )
    if not is_split(hand, actions.book):
        return hand
    return with_shown_rake(hand if base is not None else with_shown_split(hand), shortfall)

"""The audit report of one hand, for viewers of the whole record: as text, and as JSON values."""

import textwrap
from collections.abc import Sequence
from itertools import chain
from typing import Any

from api.auditing.pots import (
    hand_strengths,
    pots_as_json,
    pots_as_lines,
    showdown_as_json,
    value_and_five,
)
from api.auditing.record import start_of
from api.printable import PrintableText, aligned_lines, printable_lines
from engine.assumptions import is_free
from engine.audit import Divergence, before_payment
from engine.game import Game
from engine.verdict import Nets, Report
from events.notation import say
from events.sentences import Fragment, Sentence, name_at, of_event, text, with_names
from events.state import Hand
from events.types import (
    AntePosted,
    AuctionSettled,
    Bet,
    BettingOpened,
    BidPlaced,
    BlindPosted,
    BoardDealt,
    BountySettled,
    Called,
    Events,
    HandStarted,
    HoleDealt,
    PotSplit,
    Raised,
    RakeTaken,
    UncalledReturned,
)
from odds.rank import describe

_WIDTH = 96
_TITLE = 12  # columns that a section's title takes


def audit_entry(record: Events, game: Game, report: Report) -> dict[str, Any]:
    """A hand's entry in `muckrake.audit/1`: nets by seat, `at` where the record is wrong."""
    pots, showdown = pots_as_json(game, record), showdown_as_json(game, record)
    return _entry_without_pots(record, report) | {"pots": pots, "showdown": showdown}


def short_audit_entry(record: Events, game: Game, report: Report) -> dict[str, Any]:
    """A hand's entry in a list of many hands: without pots and cards if the hand agrees."""
    if report.verdict in ("agree", "assuming"):
        return _entry_without_pots(record, report)
    return audit_entry(record, game, report)


def _entry_without_pots(record: Events, report: Report) -> dict[str, Any]:
    """A hand's entry without pots and cards."""
    return {
        "hand": start_of(record).hand,
        "ruleset": report.ruleset,
        "verdict": report.verdict,
        "assumed": report.assumed,
        "moves": report.moves,
        "at": None if report.divergence is None else report.divergence.at,
        "recorded": report.recorded,
        "decided": report.decided,
        "readings": [
            {
                "entry": other.entry,
                "ruleset": other.ruleset,
                "sentence": other.sentence,
                "nets": other.nets,
            }
            for other in report.readings
        ],
        "pots": None,
        "showdown": None,
    }


def audit_text(game: Game, record: Events, report: Report) -> PrintableText:
    """The report as text: chips put in, hands shown, pots paid, and what each reading would pay."""
    start = start_of(record)
    verdict = _section("verdict", [verdict_sentence(report, record)])
    if report.recorded is None:  # a record that cannot even be counted
        return printable_lines([_title(start), "", *verdict])
    hand = before_payment(record)
    dealt = [event for event in record if isinstance(event, HoleDealt)]
    cards = [  # as they came: 5d 6h + Th
        [name, " + ".join(" ".join(event.cards) for event in dealt if event.seat == seat)]
        for seat, name in enumerate(start.players)
    ]
    columns = chips_by_round(record)
    paid = [
        (name, [column[seat] for column in columns.values()])
        for seat, name in enumerate(start.players)
    ]
    paid.append(("together", [sum(column) for column in columns.values()]))
    money = [[name, *map(str, (*amounts, sum(amounts)))] for name, amounts in paid]
    money.insert(0, ["", *columns, "total"])
    declared = "declared" if start.game == report.ruleset else "not declared"
    award = [
        ["", *start.players, ""],
        ["recorded", *_nets(start, report.recorded), ""],
        ["decided", *_nets(start, report.decided), f"{report.ruleset} ({declared})"],
        *([one.entry, *_nets(start, one.nets), one.ruleset] for one in report.readings),
    ]
    parts = [
        _section("board", [" | ".join(_boards(record))] if any(_boards(record)) else []),
        _section("cards", aligned_lines(cards)),
        _section("money in", aligned_lines(money, range(1, len(money[0])))),
        _section("auction", _auction(record)),
        _section("showdown", _showdown(game, hand) if hand else []),
        _section("pots", _pots(record)),
        _section("layers", aligned_lines(pots_as_lines(game, record, start.players))),
        _section("award", aligned_lines(award, range(1, len(start.players) + 1))),
        _section("readings", _readings(report)),
        _section(
            "assumed", aligned_lines([[one] for one in report.assumed]) if report.assumed else []
        ),
        verdict,
    ]
    return printable_lines([_title(start), "", *chain.from_iterable(parts)])


def chips_by_round(record: Events) -> dict[str, list[int]]:
    """Chips that each seat put in, by round or auction; forced bets join the round they open."""
    columns: dict[str, list[int]] = {}
    seats = len(start_of(record).stacks)

    def put(street: str, seat: int, amount: int) -> None:
        columns.setdefault(street, [0] * seats)[seat] += amount

    for event in record:
        match event:
            case AntePosted() | BlindPosted():
                put("forced", event.seat, event.amount)
            case BettingOpened(street=street):
                columns[street] = columns.pop("forced", [0] * seats)
            case Called() | Bet() | Raised():
                put(_current_round(columns), event.seat, event.amount)
            case BoardDealt() if "forced" in columns:  # nobody could answer: no round was opened
                columns["blinds"] = columns.pop("forced")
            case UncalledReturned():
                put(_current_round(columns), event.seat, -event.amount)
            case AuctionSettled():
                for seat in range(seats):
                    put("auction", seat, event.price if seat in event.seats else 0)
            case _:
                pass
    return columns


def _current_round(columns: dict[str, list[int]]) -> str:
    """The round that is being bet; `before` where a wrong record has none."""
    return next(reversed(columns), "before")


def _title(start: HandStarted) -> str:
    """scrim-17/412   auction-2024   2 players, button ursa, 400 each"""
    brought = set(start.stacks)
    stacks = (
        f"{start.stacks[0]} each"
        if len(brought) == 1
        else "stacks " + ", ".join(map(str, start.stacks))
    )
    table = f"{len(start.stacks)} players, button {name_at(start.players, start.button)}, {stacks}"
    return f"{start.hand}   {start.game}   {table}"


def _section(title: str, lines: list[str]) -> list[str]:
    """A section: its title beside its lines; empty without lines."""
    first = f" {title}".ljust(_TITLE)
    return [
        ((" " * _TITLE if number else first) + line).rstrip() for number, line in enumerate(lines)
    ]


def _boards(record: Events) -> list[str]:
    return [" ".join(event.cards) for event in record if isinstance(event, BoardDealt)]


def _auction(record: Events) -> list[str]:
    """ursa bid 52, lynx bid 37: ursa pays 37"""
    start = start_of(record)
    lines, bids = [], []
    for event in record:
        if isinstance(event, BidPlaced):
            why = "" if event.origin == "chosen" else f" ({event.origin})"
            bids.append(f"{name_at(start.players, event.seat)} bid {event.amount}{why}")
    for event in record:
        if isinstance(event, AuctionSettled):
            winners = " and ".join(name_at(start.players, seat) for seat in event.seats)
            verb = "pays" if len(event.seats) == 1 else "each pay"
            lines.append(f"{', '.join(bids)}: {winners} {verb} {event.price}")
            if not event.sealed:
                lines.append("open bids: the first bid was visible to the second bidder")
    return lines


def _showdown(game: Game, hand: Hand) -> list[str]:
    """Each hand that was not folded or mucked, in words, with the five cards that make it."""
    every = hand_strengths(game, hand)
    known = [strength for strength in every.values() if strength is not None]
    if not known:
        return []
    rows = []
    for seat, strength in every.items():
        best = "" if strength != max(known) else "tie" if known.count(strength) > 1 else "best"
        words, five = "a card was never recorded", ""
        if strength is not None:
            value, cards = value_and_five(game, hand, seat)
            words, five = describe(value, game.straights, game.ranking), " ".join(cards)
        rows.append([name_at(hand.start.players, seat), words, five, best])
    return aligned_lines(rows)


def _pots(record: Events) -> list[str]:
    names = start_of(record).players
    lines = []
    for event in record:
        if isinstance(event, RakeTaken):
            lines.append(f"pot {event.pot}: rake {event.amount}")
        if isinstance(event, PotSplit):
            each = zip(event.seats, event.shares, strict=True)
            paid = ", ".join(f"{share} to {name_at(names, seat)}" for seat, share in each)
            lines.append(f"pot {event.pot}: {paid}")
        if isinstance(event, BountySettled):
            who, payer = (name_at(names, seat) for seat in (event.seat, event.payer))
            owed = f"{event.amount} from {payer} to {who}" if event.hit else f"{who} misses it"
            lines.append(f"bounty: {owed}")
    return lines


def _nets(start: HandStarted, nets: Nets | None) -> list[str]:
    return ["?"] * len(start.players) if nets is None else [f"{n:+d}" if n else "0" for n in nets]


def _readings(report: Report) -> list[str]:
    """Each other reading with the sentence that it rests on."""
    width = max((len(other.entry) for other in report.readings), default=0)
    rows = []
    for other in report.readings:
        wrapped = textwrap.wrap(other.sentence, _WIDTH - _TITLE - width - 2)
        rows += [["" if number else other.entry, part] for number, part in enumerate(wrapped)]
    return aligned_lines(rows)


def verdict_sentence(report: Report, record: Events) -> str:
    """The verdict in one sentence, its name first."""
    name = report.ruleset
    match report.verdict:
        case "agree":
            return f"AGREE: the record is what {name} pays, and no reading of it pays differently"
        case "assuming":
            assumed = _assumed(report)
            return f"AGREE, ASSUMING: the record is what {name} pays, if it is so: {assumed}"
        case "contested":
            return f"CONTESTED: the record is what {name} pays; another reading pays differently"
        case "unknown" if any(map(is_free, report.assumed)):
            return f"UNKNOWN: any other payment would fit as well as this one: {_assumed(report)}"
        case "unknown":
            return "UNKNOWN: a card that nobody recorded could change who is paid"
        case "differ":
            assert report.divergence is not None
            recorded, decided = map(text, divergence_sentences(record, report.divergence))
            ruled = decided if report.divergence.refusal else f"{name} decides {decided}"
            where = f"event {report.divergence.at}, {recorded}: {ruled}"
            due = text(owed_sentence(start_of(record).players, report))
            return f"DIFFER: {where}{due and '; '}{due}{no_chip_moves(report)}"


def _assumed(report: Report) -> str:
    return "; ".join(report.assumed)


def no_chip_moves(report: Report) -> str:
    """A clause for a record that differs although each seat has the chips it should have."""
    return "; no chip goes elsewhere by it" if report.moves == 0 else ""


def divergence_sentences(record: Events, divergence: Divergence) -> tuple[Sentence, Sentence]:
    """Sentences for the recorded event at the divergence, and for what the rules decide there.

    Two events that differ in what no sentence says (who is next) are given in the notation.
    """
    event = record[divergence.at] if divergence.at < len(record) else None
    recorded, decided = (
        (Fragment("nothing more"),) if one is None else of_event(record, divergence.at, one)
        for one in (event, divergence.decided)
    )
    if divergence.refusal is not None:
        return recorded, with_names(divergence.refusal, start_of(record).players)
    if recorded == decided and event is not None and divergence.decided is not None:
        return (Fragment(say(event)),), (Fragment(say(divergence.decided)),)
    return recorded, decided


def owed_sentence(players: Sequence[str], report: Report) -> Sentence:
    """The chips that each player is due or owes: `Bill should have 500 more, Ann 500 less`."""
    if report.verdict != "differ" or report.recorded is None or report.decided is None:
        return ()
    due = {s: b - a for s, (a, b) in enumerate(zip(report.recorded, report.decided, strict=True))}
    parts: list[Fragment] = []
    for seat in sorted((seat for seat in due if due[seat]), key=lambda seat: -due[seat]):
        verb = " should have " if not parts else " "
        parts += [Fragment(", " if parts else "", player=players[seat])]
        parts += [
            Fragment(verb, chips=abs(due[seat])),
            Fragment(" more" if due[seat] > 0 else " less"),
        ]
    return tuple(parts)

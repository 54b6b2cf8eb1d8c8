"""Read a file of Open Hand History: its hands one by one, or why one is left out.

Its JSON objects stand one after the other, on a line each or on many, with nothing or blank lines
between them; some programs put them into an array. Only one is kept, so a file may have any length.

An action's amount is what it put in, in hundredths; what nobody called is never said to go back.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

import msgspec

from events.cards import Cards
from formats.ohh.history import ZERO, Action, CardTexts, Document, OhhHand, Round
from formats.pokerstars import grammar
from formats.pokerstars.grammar import (
    ActionLine,
    Chair,
    Header,
    Limit,
    Posting,
    PostLine,
    Unreadable,
)
from formats.pokerstars.parsed_hand import ParsedHand, PlayerLine
from formats.rakes import SIGNS
from formats.sites.reader import HandBuilder, Reading, source_hands
from formats.source import AS_READ, ImportRules, Refused, SourceFile, Text, lines
from formats.timestamps import utc_timestamp

_PLACE = re.compile(r" - at `\$\.?(.*)`$")
SITE = "ohh"
_DEALT = ("Flop", "Turn", "River")
_CHIPS = ("", "chips", "play", "play money", "xxx")
_LIMITS: dict[str, Limit] = {"NL": "nl", "PL": "pl", "FL": "fl"}
_POSTS: dict[str, Posting] = {
    "Post Ante": "the ante",
    "Post SB": "small blind",
    "Post BB": "big blind",
    "Post Dead": "small blind",
    "Post Extra Blind": "big blind",
    "Straddle": "straddle",
}
_MOVING = {*_POSTS, "Bet", "Raise", "Call"}
_NO_BET = {"Sits Down", "Stands Up", "Added Chips"}  # chips that come now play in the next hand
_ERROR = Decimal("0.000001")  # of a number that a program counted in binary fractions
_MOST = Decimal(10) ** 15


def parse_hand(hand: OhhHand) -> ParsedHand:
    """Parse the whole hand; `Unreadable` says why not."""
    names = {player.id: player.name for player in hand.players}
    if len(names) < len(hand.players):
        raise Unreadable("two players have one id")
    chairs = tuple(
        Chair(
            player.seat,
            player.name,
            _cents(player.starting_stack, f"the stack of {player.name[:40]}"),
            bool(player.is_sitting_out),
        )
        for player in hand.players
    )
    builder = HandBuilder(_header(hand), hand.dealer_seat, chairs)
    for street in _rounds(hand):
        if street.street in _DEALT:
            builder.deal(_cards(street.cards))
        for action in street.actions or ():
            _act(builder, _name(names, action.player_id, street.street), action)
    pots = sorted(hand.pots, key=lambda pot: pot.number)
    if [pot.number for pot in pots] != list(range(len(pots))):
        listed = ", ".join(str(pot.number) for pot in pots)
        sentence = "the main pot is 0, the next ones follow"
        raise Unreadable(f"the pots are numbered {listed[:40]}: {sentence}")
    _check_forced(hand, builder)
    for pot in pots:
        for win in pot.player_wins or ():
            if win.cashout_amount or win.cashout_fee:
                raise Unreadable("a hand was cashed out: what its cards won is not said")
            if win.bonus_amount:
                raise Unreadable("a bonus was paid that no player put in")
            name = _name(names, win.player_id, "pots")
            if win.win_amount:
                builder.collect(name, _cents(win.win_amount, f"what {name[:40]} wins"), pot.number)
    total = sum(_cents(pot.amount, "a pot") for pot in pots)
    fees = sum(_cents(pot.jackpot, "a jackpot") for pot in pots if pot.jackpot)
    rake = 0
    for pot in pots:  # each is what it paid and what the house took
        taken = sum(_cents(part, "a rake") for part in (pot.rake, pot.jackpot) if part)
        paid = sum(_cents(win.win_amount, "what is won") for win in pot.player_wins or ())
        amount = _cents(pot.amount, "a pot")
        if paid + taken != amount:
            raise Unreadable(f"pot {pot.number} is {amount}, and pays {paid} and a rake of {taken}")
        rake += taken
    return builder.parsed_hand(builder.totals(total, rake, fees))


def _header(hand: OhhHand) -> Header:
    """Hold'em for money or chips; every other game is refused by its name."""
    if hand.game_type != "Holdem":
        raise Unreadable(f"{hand.game_type[:40]} is not hold'em of a kind we have rules for")
    if "Run_It_Twice" in (hand.flags or ()):
        raise Unreadable("the board was dealt more than once")
    code = hand.currency.strip()
    tournament = bool(hand.tournament or hand.tournament_info)
    if not tournament and code.upper() not in SIGNS and code.lower() not in _CHIPS:
        raise Unreadable(f"amounts in {code[:20]}: dollars, euros, pounds and chips are read")
    low = _cents(hand.big_blind_amount, "big_blind_amount")
    limit = _LIMITS[hand.bet_limit.bet_type]
    if limit != "fl":
        low, high = _cents(hand.small_blind_amount, "small_blind_amount"), low
    else:
        high = 2 * low
    return Header(
        source_id=hand.game_number,
        limit=limit,
        low=low,
        high=high,
        sign="" if tournament else SIGNS.get(code.upper(), ""),
        currency="" if tournament else code.upper(),
        tournament=tournament,
        capped=bool(hand.bet_limit.bet_cap),
        site=SITE,
        played=utc_timestamp(hand.start_date_utc),
        room=hand.site_name,
        fast="Fast" in (hand.flags or ()),
    )


def _name(names: dict[int, str], player: int, where: str) -> str:
    if player not in names:
        raise Unreadable(f"player {player} of the {where.lower()} is nobody at the table")
    return names[player]


def _rounds(hand: OhhHand) -> Iterator[Round]:
    """The streets in their order, each once; hands that are all-in may be shown before the last."""
    order = ["Preflop", *_DEALT]
    last = -1
    for street in hand.rounds:
        if street.street in order:
            name, at = street.street.lower(), order.index(street.street)
            if at == last:
                raise Unreadable(f"the board was dealt more than once: the {name} is twice")
            if at < last:
                raise Unreadable(f"the {name} comes after the {order[last].lower()}")
            last = at
        yield street


def _act(builder: HandBuilder, name: str, action: Action) -> None:
    verb, cards = action.action, _cards(action.cards)
    if verb in ("Add to Pot", "Added To Pot"):
        raise Unreadable("chips are added to the pot that no player puts in")
    if cards:
        builder.add_known_cards(name, cards)
    if verb in _NO_BET:
        return
    amount = _cents(action.amount or ZERO, f"what {name[:40]} puts in")
    if amount and verb not in _MOVING:
        raise Unreadable(f"{name[:40]} puts in {amount} by {verb}")
    if verb in _POSTS:
        live = 0 if verb in ("Post Ante", "Post Dead") else amount
        builder.post(name, PostLine(_POSTS[verb], amount), live)
        return
    match verb:
        case "Fold":
            builder.act(name, ActionLine("folds"))
        case "Check":
            builder.act(name, ActionLine("checks"))
        case "Call":
            builder.act(name, ActionLine("calls", amount))
        case "Bet" | "Raise":
            builder.add(name, amount)
        case "Shows Cards" | "Mucks Cards":
            builder.show_or_muck(name, cards if verb == "Shows Cards" else None)


def _cards(written: CardTexts) -> Cards:
    """Cards; those that nobody saw are left out."""
    return grammar.cards(" ".join(card for card in written or () if card))


def _check_forced(hand: OhhHand, builder: HandBuilder) -> None:
    """Refuse other blinds and antes than the hand names, if who posts them has so much left."""
    header, left = builder.header, {chair.name: chair.stack for chair in builder.chairs}
    ante = _cents(hand.ante_amount, "ante_amount")
    low, high = (header.low // 2, header.low) if header.limit == "fl" else (header.low, header.high)
    due = {"the ante": ante, "small blind": low, "big blind": high}
    posted = [
        (line.name, line.what)
        for line in builder.lines
        if isinstance(line, PlayerLine) and isinstance(line.what, PostLine)
    ]
    for name, post in posted:
        owed = due.get(post.what, 0)
        if owed and post.amount != owed and post.amount < left[name]:
            raise Unreadable(
                f"{name[:40]} posts {post.what} {post.amount}, which is said to be {owed}"
            )
        left[name] -= post.amount
    if ante and not any(post.what == "the ante" for _, post in posted):
        raise Unreadable(f"ante_amount is {ante}, and nobody posts one")


def _cents(amount: Decimal, name: str) -> int:
    """Hundredths; a number that is none but for an error of binary counting is rounded."""
    if not amount.is_finite() or abs(amount) > _MOST:
        raise Unreadable(f"{name} is more than any table has held")
    cents = amount * 100
    rounded = cents.to_integral_value()
    if abs(cents - rounded) > _ERROR:
        raise Unreadable(f"{name} is {amount}: no whole number of hundredths")
    if rounded < 0:
        raise Unreadable(f"{name} is {amount}: less than nothing")
    return int(rounded)


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}]')
_BETWEEN = " \t\r\n,[]"
LENGTH_MAX = 1 << 22


def read(text: Text, rules: ImportRules = AS_READ) -> SourceFile:
    """The file taken apart; refused if its JSON is damaged."""
    return SourceFile(format="ohh", hands=source_hands(lambda: _readings(text), rules, "ohh"))


def _readings(text: Text) -> Iterator[Reading]:
    for line, written in _objects(text):
        try:
            history = parse_document(written).ohh
            yield line, parse_hand(history), written, history.site_name
        except msgspec.DecodeError as wrong:
            why = str(wrong)
            raise Refused(line, f"this is not JSON: {why[:1].lower()}{why[1:]}") from None
        except (Unreadable, ValueError) as reason:
            yield line, str(reason), "", ""


def _objects(text: Text) -> Iterator[tuple[int, str]]:
    """Every object as text; anything else between them is refused."""
    begun, depth, kept, length = 0, 0, list[str](), 0
    for number, line in enumerate(lines(text), 1):
        cut = 0
        for sign in _BRACKETS.finditer(line):
            if sign[0] == "{":
                if not depth:
                    _check_between(number, line[cut : sign.start()])
                    begun, cut = number, sign.start()
                depth += 1
            elif sign[0] == "}" and depth:
                depth -= 1
                if not depth:
                    kept.append(line[cut : sign.end()])
                    yield begun, "".join(kept)
                    kept, length, cut = [], 0, sign.end()
        if depth:
            kept.append(line[cut:])
            length += len(line)
            if length > LENGTH_MAX:
                raise Refused(begun, f"an object of more than {LENGTH_MAX} characters")
        else:
            _check_between(number, line[cut:])
    if depth:
        raise Refused(begun, "the file ends in the middle of this object")


def _check_between(number: int, between: str) -> None:
    """Only blanks, and the commas and brackets of an array, may stand between two objects."""
    if rest := between.strip(_BETWEEN):
        raise Refused(number, f"this is no JSON object: {rest[:60]!r}")


def parse_document(text: str) -> Document:
    """The object that this text spells; a ValueError says where it is not of this shape."""
    try:
        return msgspec.json.decode(text, type=Document)
    except msgspec.ValidationError as wrong:
        why = str(wrong)
        place = _PLACE.search(why)
        reason = why[: place.start()] if place else why
        reason = reason[:1].lower() + reason[1:].replace("`", "")
        raise ValueError(f"{place[1] if place and place[1] else 'the object'}: {reason}") from None

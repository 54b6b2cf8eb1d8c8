"""`facts`: one row a player and hand; of every tendency, whether there was an opportunity and what
became of it.

A flag is null where there was no opportunity, else true or false; percentages are never stored.
An opportunity is what the menu of the hand's own ruleset offered, so the ledger cannot make these
facts alone: it is handed this projection. Where nobody has that ruleset, flags that need its menu
are null. Counts of actions leave forced and default ones out. Voided hands have no rows.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import pyarrow as pa

from analytics.facts_acts import STREETS, Act, Row, story
from analytics.facts_money import money
from analytics.facts_names import COUNTS, FLAGS
from analytics.facts_packed import pack
from analytics.facts_postflop import postflop
from analytics.facts_preflop import preflop
from analytics.facts_seats import dealt_in, positions
from analytics.facts_seen import seen
from engine.game import Game, fingerprint, fingerprint_of, from_json
from engine.games import RULESETS
from engine.steps import Betting, Straddle
from events.types import BlindPosted
from store.leaf import Leaf, split
from store.projection import Projection

WHO: dict[str, pa.DataType] = {
    "hand_seq": pa.int64(),
    "match": pa.string(),
    "number": pa.int64(),
    "game": pa.string(),
    "seat": pa.int32(),
    "player": pa.string(),
    "players": pa.int32(),
    "position": pa.string(),
}
MONEY: dict[str, pa.DataType] = {
    "stack": pa.int64(),
    "big_blind": pa.int64(),
    "big_bet": pa.int64(),
    "per_chip": pa.int64(),
    "put_in": pa.int64(),
    "collected": pa.int64(),
    "net": pa.int64(),
    "won": pa.bool_(),
}
SEEN: dict[str, pa.DataType] = {
    "saw_flop": pa.bool_(),
    "saw_turn": pa.bool_(),
    "saw_river": pa.bool_(),
    "showdown": pa.bool_(),
    "cards": pa.string(),
    "shown": pa.string(),
}
SCHEMA = pa.schema(
    [
        *WHO.items(),
        *MONEY.items(),
        *SEEN.items(),
        *((name, pa.bool_()) for name in FLAGS),
        *((name, pa.int32()) for name in COUNTS),
        ("ways", pa.int64()),
        ("acts", pa.int64()),
    ]
)
VERSION = 1

Text = Callable[[str], bytes | None]
Rules = Callable[[str], Game | None]


def facts(kept: Text) -> Projection:
    """The projection, for a ledger that keeps the texts of rulesets which `kept` reads."""
    return Projection("facts", VERSION, partial(_build, kept))


def _build(kept: Text, leaves: Sequence[Leaf]) -> pa.Table:
    """A module's own function, so that another process can be asked to build."""

    @cache
    def rules(mark: str) -> Game | None:
        if mark in _own():
            return _own()[mark]
        text = kept(mark)
        if text is None or fingerprint_of(text) != mark:
            return None
        return from_json(text)

    rows = [row for leaf in leaves for row in rows_of(leaf, rules)]
    columns = [pa.array([row.get(one.name) for row in rows], one.type) for one in SCHEMA]
    return pa.table(columns, schema=SCHEMA)


def rows_of(leaf: Leaf, rules: Rules) -> Iterator[Row]:
    """The rows of one hand, in seat order; none for what is void or does not add up."""
    hand = leaf.hand
    if hand is None or hand.voided:
        return
    game = rules(hand.start.ruleset)
    seats = dealt_in(hand)
    events = [one.event for one in leaf.recorded]
    at = positions(hand, events)  # type: ignore[arg-type]
    told = story(leaf, hand.start, game)
    rows: dict[int, Row] = {seat: dict.fromkeys(COUNTS, 0) for seat in seats}
    _count(told.acts, rows)
    before = preflop([act for act in told.acts if act.street == 0], at, rows)
    postflop([act for act in told.acts if act.street], before, rows)
    money(leaf, hand, rows)
    seen(leaf, hand, told, rows)
    big, bet = stakes(leaf, game)
    per_chip = None if game is None else units(game)
    match, number = split(leaf.stream)
    for seat in seats:
        row = rows[seat]
        row |= {"hand_seq": leaf.hand_seq, "match": match, "number": number, "seat": seat}
        row |= {"game": hand.start.game, "player": hand.start.players[seat]}
        row |= {"players": len(seats), "position": at[seat]}
        row |= {"big_blind": big, "big_bet": bet, "per_chip": per_chip}
        pack(row)
        yield row


def stakes(leaf: Leaf, game: Game | None) -> tuple[int | None, int | None]:
    """The big blind (or straddle), and in a limit game the big bet."""
    if game is None:
        posts = (one.event for one in leaf.recorded)
        return max((it.to for it in posts if isinstance(it, BlindPosted)), default=None), None
    big = max(getattr(one, "big", 0) or 0 for one in game.script)
    straddles = [one.amount for one in game.script if isinstance(one, Straddle)]
    sizes = [one.size for one in game.script if isinstance(one, Betting)]
    limit = game.sizing == "fixed" and sizes
    return (big or max(straddles, default=0)) or None, max(sizes) if limit else None


def units(game: Game) -> int:
    """How many of a hand's units make a chip, so that hands of several units can be added up."""
    if game.unit.startswith("1/"):
        return int(game.unit.split()[0].removeprefix("1/"))
    return {"half chip": 2, "cent": 100}.get(game.unit, 1)


def _count(done: Sequence[Act], rows: dict[int, Row]) -> None:
    """How often each seat chose each action on each street."""
    for act in done:
        row = rows.get(act.seat)
        if row is not None and act.counts:
            kind = "raise" if act.raises and act.street == 0 else act.kind
            name = f"{STREETS[act.street]}_{kind}s"
            row[name] = int(row[name] or 0) + 1


@cache
def _own() -> dict[str, Game]:
    """The program's rulesets by their fingerprints."""
    return {fingerprint(game): game for game in RULESETS.values()}

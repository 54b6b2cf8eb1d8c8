"""How often each player did something in each hand, out of how often he could: the counts of pages.

Each count is asked by the SQL file that counts it on a page, a hand a part. So a filter finds the
hands behind every `k of n` (`did=NAME`, `could=NAME`), and no count is defined a second time.
"""

from collections.abc import Collection
from typing import NamedTuple

from analytics.auctions import bidding
from analytics.auctions.bidding import MEASURES as BIDS
from analytics.opponents.measures import LOOKS, to_one
from analytics.replay.flags import AFTER, FLAGS, STREETS
from analytics.sql.chosen import quoted, text_of
from analytics.statistics.catalogue import STATISTICS
from analytics.swaps.luck import MEASURES as SWAPS
from analytics.swaps.luck import of_luck

_A_HAND = "{{'hand_seq': hand_seq, 'seat': seat}}"  # the part of a row
_OF_AUCTIONS = ("bids_placed", "bids_outcomes", "bids_after")  # those that value no card
_UNSEEN = ("bluff", "slow_play")  # by equities, which no ledger keeps
_SLOTS = (0, 1)
OF_CHECKS = "after_check"  # looks that begin so are about a rival's checks


class Chance(NamedTuple):
    """One count: its file, the columns that begin with `column`, and whether it has a k.

    `rows` is the SELECT that the file reads, `unknown` the seats of whom it is not known. `once`:
    no hand counts twice.
    """

    file: str
    column: str
    rows: str
    unknown: str | None = None
    done: bool = True
    once: bool = False


_FACTS = f"SELECT *, {_A_HAND} AS part FROM facts WHERE {{span}}"
_AUCTIONS = f"""SELECT * REPLACE ({_A_HAND} AS part)
    FROM ({bidding.chosen(None, None)}) WHERE {{span}}"""
_RISKS = f"""SELECT * REPLACE ({_A_HAND} AS part), NULL::DOUBLE AS before, NULL::DOUBLE AS after
    FROM ({of_luck("swaps_behaviour", None, None)}) WHERE {{span}}"""
# Of a rival's cards a count asks only whether one rival was left to have them.
_ACTS = f"""SELECT *, NULL::DOUBLE AS equity, {_A_HAND} AS part FROM (
    WITH chosen AS (
        SELECT d.*, {{ours}} AS ours, coalesce(f.per_chip, 1) AS per_chip,
            coalesce(f.showdown, FALSE) AS showdown
        FROM (
            SELECT *, match || '/' || number AS hand, CASE WHEN rivals = 1 THEN 2 END AS rival_cards
            FROM decisions WHERE {{span}}
        ) AS d
        LEFT JOIN (SELECT * FROM facts WHERE {{span}}) AS f
            ON d.hand_seq = f.hand_seq AND d.seat = f.seat
    ) SELECT * FROM ({{acts}}))"""
_NO_BID = "SELECT hand_seq, seat FROM auctions WHERE {span} AND (bid IS NULL OR outcome IS NULL)"
_NO_ACT = "SELECT hand_seq, seat FROM decisions WHERE {span} AND action = 'bid' AND amount IS NULL"
_NO_SWAP = "SELECT hand_seq, seat FROM risks WHERE {span} AND changed IS NULL"


def _chances() -> dict[str, Chance]:
    """Every count that hands can be asked for, by its name."""
    chances = {}
    for statistic in STATISTICS.values():
        done = statistic.kind in ("share", "ratio")
        once = statistic.counted in FLAGS or statistic.file not in ("leading", "aggression")
        chances[statistic.name] = Chance(
            statistic.file, statistic.counted, _FACTS, done=done, once=once
        )
    for measure in BIDS.values():
        if measure.file in _OF_AUCTIONS:
            chances[measure.name] = Chance(
                measure.file, measure.name, _AUCTIONS, _NO_BID, measure.kind == "share"
            )
    for measure in SWAPS.values():
        if measure.file == "swaps_behaviour" or measure.name == "swap":
            chances[measure.name] = Chance(measure.file, measure.name, _RISKS, _NO_SWAP)
    for street in AFTER:
        for slot in _SLOTS:
            rows = f"{_RISKS} AND street = '{street}' AND slot = {slot}"
            chances[swap_of(street, slot)] = Chance("swaps_luck", "swap", rows, _NO_SWAP)
    for look in LOOKS:
        if look not in _UNSEEN:
            chances[look] = Chance("opponent_looks", look, _ACTS, _NO_ACT)
    for street in STREETS:
        look = f"fold_{street}"
        chances[to_one(look)] = Chance("opponent_pays", look, _ACTS, _NO_ACT)
    return chances


def swap_of(street: str, slot: int) -> str:
    """What the swaps of one card on one street are called; its slot counts from 0."""
    return f"swap_{street}_{slot + 1}"


CHANCES = _chances()
DID = tuple(name for name, one in CHANCES.items() if one.done)
COULD = tuple(CHANCES)


def is_count(text: str, names: Collection[str]) -> bool:
    """Whether a text names a count; of what follows a check, whose check may be said."""
    name, against, rival = text.partition(":")
    return name in names and (not against or (bool(rival) and name.startswith(OF_CHECKS)))


def chance(text: str) -> tuple[Chance, str]:
    """A count, and the rival whose checks it is about: `after_check:lynx`; of anybody's, none."""
    name, _, rival = text.partition(":")
    return CHANCES[name], rival


def counts(name: str, span: str) -> str:
    """The SELECT of `hand_seq`, `seat`, `k` and `n` in the hands of a span."""
    count, rival = chance(name)
    ours = f"d.player = {quoted(rival)}" if rival else "TRUE"
    rows = count.rows.format(span=span, acts=f"\n{text_of('opponent_acts')}", ours=ours)
    sql = f"WITH chosen AS ({rows}) SELECT * FROM (\n{text_of(count.file)})"
    if count.rows is _ACTS:
        numbers, named = (
            "sum(done) AS k, count(*) AS n",
            f"WHERE look = '{count.column}' GROUP BY ALL",
        )
    else:
        done = f"{count.column}_k" if count.done else "NULL"
        numbers, named = f"{done} AS k, {count.column}_n AS n", ""
    return f"SELECT part.hand_seq, part.seat, {numbers} FROM ({sql}) {named}"


def counted(name: str, end: str, span: str) -> str:
    """SQL for whether a count has the hand of a row of `players` in its k or n, as `end` says."""
    unknown = chance(name)[0].unknown
    hidden = unknown and f"WHEN (hand_seq, seat) IN ({unknown.format(span=span)}) THEN NULL "
    return (
        "CASE WHEN (hand_seq, seat) IN "
        f"(SELECT hand_seq, seat FROM ({counts(name, span)}) WHERE {end} > 0) THEN true "
        f"{hidden or ''}WHEN hand_seq IN (SELECT hand_seq FROM facts WHERE {span}) THEN false END"
    )

"""Which hands an answer is about, as far as its viewer is told of them: how many, and their digest.

How many there are says whether a process of its own makes it; an answer that was kept is sent as
long as the digest is the same. The digest is made of what the viewer is told, so what is kept tells
nobody of anything else: of each match its hands that he is told of, how much is announced about it,
and whether its hands are open to all. Records only grow, and hands never change: where these are
the same, all of them are.

A player's answer is about his own hands, unless it sets them beside everybody's. Filters may leave
fewer hands to count, and never make the digest narrower: a page says what else there is of him.

The first page, a match and a list of hands are light, unless hands must be judged before, or how
hands are spread is counted. Only of the latter is more kept than the verdicts: a match that is
verified is so at that moment, and who plays now is another matter than which hands there are.
"""

import re
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote
from weakref import WeakKeyDictionary

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from analytics.sql.chosen import quoted
from api.http.limits import Limits
from api.playing.league import pairing_of
from api.questions.filters import WrongFilter, parsed
from api.questions.filters_sql import asks_verdicts
from api.questions.judging import due, lacking
from api.questions.question import API
from api.viewpoints.views import Viewed

_HEAVY = re.compile(
    r"(?:/embed|/api/v1)?/players(?:/(?P<player>[^/]+)(?:/(?P<what>[a-z]+))?)?"
    r"|(?:/api/v1)?/ratings|(?:/api/v1)?/leagues(?:/(?P<league>[^/]+)(?:/[^/]+/[^/]+)?)?"
)
_LIGHT = re.compile(
    r"/|(?P<hands>(?:/api/v1)?/hands)|(?:/api/v1)?/matches/(?P<match>[^/]+)(?P<verify>/verify)?"
    r"|(?P<tested>(?:/api/v1)?/fairness)"
)
VALUED = frozenset({"bids", "swaps", "results", "opponent"})  # cards are, one by one
OF_EVERYBODY = frozenset({"compare"})  # everybody's
ELSEWHERE = ("by_tag", "as_of", "before")  # parameters that name what may be no hand of his
OWN = """
SELECT match, count(*) AS hands, bit_xor(hash(hand_seq)) AS which
FROM {table} GROUP BY match ORDER BY match
"""


class AnswerScope(NamedTuple):
    """What an answer is about: a player's hands, a league's, or everybody's (`whole`)."""

    player: str | None
    league: str | None
    match: str | None  # of which alone hands are counted
    whole: bool
    valued: bool
    data: bool  # for a program, not a page
    light: bool = False  # but for hands that are judged first, many of them if `may_judge`
    may_judge: bool = False
    spread: bool = False  # how hands are is counted, whatever they are
    verified: bool = False
    tested: bool = False  # whether its decks were dealt by chance

    def is_heavy(self, own: "OwnHands", limits: Limits) -> bool:
        """Whether so many are too many to be answered for by the server itself."""
        if own.judged >= limits.heavy_judged:
            return True
        if self.light:
            return own.verified or (self.spread and own.hands >= limits.heavy_spread)
        counted = limits.heavy_data if self.data else limits.heavy_counted
        return own.hands >= (limits.heavy_valued if self.valued else counted)


class OwnHands(NamedTuple):
    """How many hands an answer is about, the digest of what its viewer is told of them, how many
    must be judged first, and whether a match is verified, for who may ask for that, or is tested.
    Without a digest it is not kept."""

    hands: int
    digest: str
    judged: int = 0
    verified: bool = False


def about(path: str, query: str) -> AnswerScope | None:
    """What the answer at an address is about, as it was sent; None if it is never heavy."""
    match = _HEAVY.fullmatch(path)
    if match is None:
        return _about_light(path, query)
    values = {name: values[-1] for name, values in parse_qs(query).items()}
    player, league = (None if it is None else unquote(it) for it in match.group("player", "league"))
    tab = match["what"] or ""
    data = path.startswith(API)
    page_of_all = not (tab or data or values.get("split"))
    whole = (
        (player is None and league is None)
        or page_of_all
        or tab in OF_EVERYBODY
        or "field" in values
        or any(values.get(name) for name in ELSEWHERE)
    )
    valued = tab in VALUED or "luck" in values
    return AnswerScope(player, league, values.get("match"), whole and league is None, valued, data)


def _about_light(path: str, query: str) -> AnswerScope | None:
    """The first page, a match, hands."""
    parts = _LIGHT.fullmatch(path)
    if parts is None:
        return None
    values = {name: values[-1] for name, values in parse_qs(query).items()}
    data, match = path.startswith(API), parts["match"]
    if data and match is not None and not parts["verify"]:
        return None
    judge, spread = _is_yes(values.get("judge")), False
    verified = parts["verify"] or (match and _is_yes(values.get("verify")))
    if parts["hands"]:
        try:
            judge = asks_verdicts(parsed(values.get("q", "")))
        except WrongFilter:
            return None
        spread = _is_yes(values.get("facets")) if data else values.get("counts") == "now"
    return AnswerScope(
        player=None,
        league=None,
        match=match and unquote(match),
        whole=True,
        valued=False,
        data=data,
        light=True,
        may_judge=judge,
        spread=spread,
        verified=bool(verified),
        tested=bool(parts["tested"]),
    )


def _is_yes(word: str | None) -> bool:
    """As a route reads it."""
    return word is not None and word.lower() in ("1", "on", "t", "true", "y", "yes")


KNOWN_MAX = 1_000  # answers about one snapshot
EVERYBODYS = AnswerScope(None, None, None, whole=True, valued=False, data=False)
_known: WeakKeyDictionary[Viewed, dict[AnswerScope, OwnHands]] = WeakKeyDictionary()


def own_hands(viewed: Viewed, of: AnswerScope) -> OwnHands:
    """What was found before about the same snapshot, or is now."""
    if of.light:
        judged = len(due(viewed, on_demand=of.may_judge, match=of.match))
        if not of.spread:
            return OwnHands(0, "", judged, of.tested or (of.verified and viewed.viewer.auditor))
        hands, digest, *_ = own_hands(viewed, EVERYBODYS)
        return OwnHands(hands, f"{digest}-{len(lacking(viewed)) - judged}", judged)
    known = _known.setdefault(viewed, {})
    own = known.get(of) or _looked_up(viewed, of)
    if len(known) >= KNOWN_MAX:
        known.clear()
    known[of] = own
    return own


def _looked_up(viewed: Viewed, of: AnswerScope) -> OwnHands:
    """By one look at the table of hands, or of players."""
    table = "hands"
    if not of.whole and of.player is not None:
        table = f"players WHERE player = {quoted(of.player)}"
    rows = viewed.rows(OWN.format(table=table))
    announced = viewed.snapshot.matches()
    if of.league is not None:
        rows = [row for row in rows if _is_of(row["match"], of.league)]
        announced = {name: it for name, it in announced.items() if _is_of(name, of.league)}
    elif not of.whole:
        announced = {row["match"]: announced.get(row["match"], 0) for row in rows}
    tags = viewed.tags
    if of.league is not None:
        tags = tags.filter(pc.is_in(tags["match"], pa.array([*announced], pa.string())))
    elif of.player is not None and not of.whole:
        tags = tags.filter(pc.equal(tags["player"], of.player))
    parts: list[Any] = [
        sorted(viewed.units),
        sorted(viewed.query.rulesets()),
        [[*row.values()] for row in rows],
        sorted(announced.items()),
        sorted(viewed.opened & announced.keys()),
        tags.to_pylist(),
    ]
    counted = sum(row["hands"] for row in rows if of.match in (None, "", row["match"]))
    return OwnHands(counted, sha256(msgspec.msgpack.encode(parts)).hexdigest())


def _is_of(match: str, league: str) -> bool:
    named = pairing_of(match)
    return named is not None and named[0] == league
